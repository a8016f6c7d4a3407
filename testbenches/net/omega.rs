//! The omega network as one RTL top against the same network composed of verilated crossbars, cycle by cycle. The composed one
//! clocks only what has something to do, so this also shows that gating changes nothing.

use testbenches::rtl::{OmegaR2S1W64, OmegaR3S2W16, OmegaR4S2W16};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::fabric::{Fabric, Flit, SwitchUnit};
use tsunagi::net::topology::Omega;
use tsunagi::net::units;
use verilated::{Context, Unit, Verilated};

use crate::bench::{CrossbarN2W64, CrossbarN3W16D2, Switch};

/// An omega top by its ports, whatever their widths.
trait Top: Verilated + Unit {
    fn drive(&self, offers: &[Option<Flit>], ready: &[bool]);
    fn clock(&self, reset: bool);
    fn ready(&self, port: usize) -> bool;
    fn output(&self, port: usize) -> Option<Flit>;
    fn busy(&self) -> bool;
    fn unroutable(&self) -> u64;
}

macro_rules! top {
    ($unit:ty, $width:literal) => {
        impl Top for $unit {
            fn drive(&self, offers: &[Option<Flit>], ready: &[bool]) {
                for (port, offer) in offers.iter().enumerate() {
                    let flit = offer.unwrap_or_default();
                    self.in_valid_i.set_bits(port, 1, offer.is_some().into());
                    self.in_last_i.set_bits(port, 1, flit.last.into());
                    self.in_data_i.set_bits(port * $width, $width, flit.word);
                    self.out_ready_i.set_bits(port, 1, ready[port].into());
                }
            }

            fn clock(&self, reset: bool) {
                self.rst_i.set_bool(reset);
                self.clk_i.set(0);
                self.eval();
                self.clk_i.set(1);
                self.eval();
            }

            fn ready(&self, port: usize) -> bool {
                self.in_ready_o.bit(port)
            }

            fn output(&self, port: usize) -> Option<Flit> {
                self.out_valid_o.bit(port).then(|| Flit {
                    word: self.out_data_o.get_bits(port * $width, $width),
                    last: self.out_last_o.bit(port),
                })
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }

            fn unroutable(&self) -> u64 {
                self.unroutable_o.get().into()
            }
        }
    };
}

top!(OmegaR4S2W16, 16);
top!(OmegaR3S2W16, 16);
top!(OmegaR2S1W64, 64);

/// Random packets, with silences long enough for the composed network to come to rest.
struct Talker {
    rng: Rng,
    pacer: Pacer,
    left: u64,
    offer: Option<Flit>,
}

impl Talker {
    fn offer(&mut self, width: usize, silent: bool) -> Option<Flit> {
        let go = self.pacer.step();
        if self.offer.is_none() && go {
            if self.left == 0 && !silent {
                self.left = if self.rng.chance(1, 2) {
                    1
                } else {
                    self.rng.between(2, 12)
                };
            }
            if self.left > 0 {
                self.left -= 1;
                let word = self.rng.bits() >> (64 - width);
                self.offer = Some(Flit {
                    word,
                    last: self.left == 0,
                });
            }
        }
        self.offer
    }
}

fn agree<T: Top, S: SwitchUnit>(test: &'static str, shape: Omega, width: usize, make: impl Fn(&Context, usize) -> S) {
    let ports = shape.ports();
    for gaps in Gaps::ALL {
        let case = Case::new("net", test, format!("gaps {gaps:?}"));
        case.run(|_| -> Result<(), String> {
            let context = case.context();
            let top = T::named(&context, "omega");
            top.drive(&vec![None; ports], &vec![false; ports]);
            (0..4).for_each(|_| top.clock(true));
            let mut fabric = Fabric::new(shape, ports, |_, digit| make(&context, digit));
            let mut talkers: Vec<Talker> = (0..ports)
                .map(|port| Talker {
                    rng: case.rng(&format!("words {port}")),
                    pacer: Pacer::new(gaps.at_source(), case.rng(&format!("source {port}"))),
                    left: 0,
                    offer: None,
                })
                .collect();
            let mut listeners: Vec<Pacer> = (0..ports)
                .map(|port| Pacer::new(gaps.at_sink(), case.rng(&format!("sink {port}"))))
                .collect();
            let (mut arrived, mut rests) = (0, 0);
            for cycle in 0..6000 {
                let silent = cycle % 1000 >= 500;
                let offers: Vec<_> = talkers.iter_mut().map(|t| t.offer(width, silent)).collect();
                let ready: Vec<_> = listeners.iter_mut().map(Pacer::step).collect();
                for port in 0..ports {
                    let same = (top.ready(port), top.output(port)) == (fabric.ready(port), fabric.output(port));
                    if !same {
                        return Err(format!(
                            "cycle {cycle}, port {port}: {:?} and {:?}",
                            (top.ready(port), top.output(port)),
                            (fabric.ready(port), fabric.output(port))
                        ));
                    }
                    arrived += u64::from(ready[port] && fabric.output(port).is_some());
                    if fabric.ready(port) {
                        talkers[port].offer = None;
                    }
                    fabric.accept(port, ready[port]);
                    if let Some(flit) = offers[port] {
                        fabric.inject(port, flit);
                    }
                }
                rests += u64::from(!fabric.busy());
                top.drive(&offers, &ready);
                top.clock(false);
                fabric.edge();
            }
            let counted = (top.unroutable(), fabric.unroutable());
            if counted.0 != counted.1 || (counted.0 > 0) == shape.radix().is_power_of_two() {
                return Err(format!("{counted:?} packets unroutable"));
            }
            if top.busy() || fabric.busy() || arrived < 1000 || rests < 500 {
                return Err(format!("{arrived} words arrived, at rest in {rests} cycles"));
            }
            Ok(())
        });
    }
}

#[test]
fn radix_4_two_stages_agree() {
    agree::<OmegaR4S2W16, _>(
        "omega::radix_4_two_stages_agree",
        Omega::new(4, 2),
        16,
        |context, digit| units::crossbar(context, Default::default(), digit),
    );
}

/// Radix 3 has digits that name no output: packets are lost only where both networks count them.
#[test]
fn radix_3_two_stages_agree() {
    agree::<OmegaR3S2W16, _>(
        "omega::radix_3_two_stages_agree",
        Omega::new(3, 2),
        16,
        |context, digit| {
            let mut unit = CrossbarN3W16D2::named(context);
            unit.set_digit(digit);
            unit.reset();
            unit
        },
    );
}

/// One switch is the smallest network.
#[test]
fn one_switch_agrees() {
    agree::<OmegaR2S1W64, _>("omega::one_switch_agrees", Omega::new(2, 1), 64, |context, _| {
        let mut unit = CrossbarN2W64::named(context);
        unit.reset();
        unit
    });
}

/// Every pair of the 16 ports: a packet arrives where its tag says, unchanged.
#[test]
fn every_pair_is_connected() {
    let top = OmegaR4S2W16::named(&Context::new(), "omega");
    top.drive(&[None; 16], &[true; 16]);
    (0..4).for_each(|_| top.clock(true));
    for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
        let flit = Flit {
            word: Omega::new(4, 2).tag(to) | (from as u64) << 8,
            last: true,
        };
        let mut offers = [None; 16];
        offers[from] = Some(flit);
        top.drive(&offers, &[true; 16]);
        top.clock(false);
        top.drive(&[None; 16], &[true; 16]);
        // Two crossbars of four cycles, transfer to transfer.
        (0..7).for_each(|_| top.clock(false));
        for port in 0..16 {
            assert_eq!(
                top.output(port),
                (port == to).then_some(flit),
                "{from} to {to}, at {port}"
            );
        }
        top.clock(false);
    }
}
