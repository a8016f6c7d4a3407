//! The omega network as one RTL top against the same network composed of verilated crossbars, cycle by cycle, and both against
//! the golden network. The composed one clocks only what has something to do, so this also shows that gating changes nothing.

use testbenches::rtl::{OmegaR2S1W64, OmegaR3S2W16, OmegaR4S2W16};
use tsunagi::harness::seed::{Case, Rng, Seed};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::fabric::{Fabric, Flit, SwitchUnit};
use tsunagi::net::switch::GoldenSwitch;
use tsunagi::net::topology::Omega;
use tsunagi::net::units;
use tsunagi::rtl::Crossbar4;
use verilated::{Context, Unit, Verilated};

use crate::bench::{Check, CrossbarN2W64, CrossbarN3W16D2, Fault, Switch};

/// An omega top by its ports, whatever their widths.
pub trait Top: Verilated + Unit {
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
top!(TwinOmegaShuffle, 16);
top!(TwinOmegaCount, 16);
top!(TwinOmegaBusy, 16);

/// A network to be tested: the one top, and the same network composed of switches.
pub trait Network {
    type Top: Top;
    type Switch: SwitchUnit;
    const WIDTH: usize;
    fn shape() -> Omega;
    fn switch(context: &Context, digit: usize) -> Self::Switch;
}

pub struct Radix4;
/// Radix 3 has digits that name no output: packets are lost only where both networks count them.
pub struct Radix3;
/// One switch is the smallest network.
pub struct OneSwitch;

impl Network for Radix4 {
    type Top = OmegaR4S2W16;
    type Switch = Crossbar4;
    const WIDTH: usize = 16;

    fn shape() -> Omega {
        Omega::new(4, 2)
    }

    fn switch(context: &Context, digit: usize) -> Crossbar4 {
        units::crossbar(context, Default::default(), digit)
    }
}

/// The network as one top and composed of switches do the same in every cycle, under one gap pattern.
pub fn agrees<T: Top, S: SwitchUnit>(
    case: &Case,
    gaps: Gaps,
    shape: Omega,
    width: usize,
    make: impl Fn(&Context, usize) -> S,
) -> Result<(), Fault> {
    let ports = shape.ports();
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
            Check::Agree.holds(same, || {
                format!(
                    "cycle {cycle}, port {port}: {:?} and {:?}",
                    (top.ready(port), top.output(port)),
                    (fabric.ready(port), fabric.output(port))
                )
            })?;
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
    let some = !shape.radix().is_power_of_two();
    Check::Unroutable.holds(counted.0 == counted.1 && (counted.0 > 0) == some, || {
        format!("{counted:?} packets unroutable")
    })?;
    let rested = !top.busy() && !fabric.busy() && rests >= 500;
    Check::Rest.holds(rested, || format!("at rest in {rests} cycles, and not at the end"))?;
    Check::Hang.holds(arrived >= 1000, || format!("{arrived} words arrived"))
}

fn agree<T: Top, S: SwitchUnit>(test: &'static str, shape: Omega, width: usize, make: impl Fn(&Context, usize) -> S) {
    for gaps in Gaps::ALL {
        let case = Case::new("net", test, format!("gaps {gaps:?}"));
        case.run(|_| agrees::<T, S>(&case, gaps, shape, width, &make));
    }
}

#[test]
fn radix_4_two_stages_agree() {
    agree::<Radix4>("omega::radix_4_two_stages_agree");
}

/// A crossbar of the composed network of radix 3.
pub fn crossbar_3(context: &Context, digit: usize) -> CrossbarN3W16D2 {
    let mut unit = CrossbarN3W16D2::named(context);
    unit.set_digit(digit);
    unit.reset();
    unit
}

/// Radix 3 has digits that name no output: packets are lost only where both networks count them.
#[test]
fn radix_3_two_stages_agree() {
    agree::<OmegaR3S2W16, _>("omega::radix_3_two_stages_agree", Omega::new(3, 2), 16, crossbar_3);
}

#[test]
fn one_switch_agrees() {
    agree::<OneSwitch>("omega::one_switch_agrees");
}

/// Nobody empties the outputs: the network fills up, takes nothing more, and loses nothing.
#[test]
fn a_full_network_holds_and_loses_nothing() {
    let case = Case::new("net", "omega::a_full_network_holds_and_loses_nothing", "");
    case.run(|probe| {
        let mut bench = Bench::<Radix4>::new(&case, Gaps::None, probe);
        bench.sinks.fill_with(|| Sink::new(Pacer::stopped()));
        let traffic = Traffic::Random {
            packets: 100,
            longest: 12,
        };
        bench.send(&traffic, |name| case.rng(name));
        (0..1000).try_for_each(|_| bench.cycle())?;
        let left = |bench: &Bench<Radix4>| bench.sources.iter().map(Source::len).sum::<usize>();
        let full = left(&bench);
        (0..200).try_for_each(|_| bench.cycle())?;
        if full == 0 || left(&bench) != full {
            return Err(format!("full with {full} words left, then {}", left(&bench)));
        }
        bench.sinks.fill_with(|| Sink::new(Pacer::steady()));
        bench.finish()
    });
}

/// All inputs have one-word packets for outputs drawn uniformly. Without queues a column of 4x4 switches that is offered p words a
/// cycle and port passes 1 - (1 - p/4)^4: 0.684 of the first and 0.528 of both. With one queue an input, columns that did not
/// hinder each other would pass what one switch does, 0.655.
#[test]
fn saturation_is_between_the_theories_of_banyan_networks() {
    let top = OmegaR4S2W16::named(&Context::new(), "omega");
    top.drive(&[None; 16], &[true; 16]);
    (0..4).for_each(|_| top.clock(true));
    let mut rng = Seed(1).stream("saturation");
    let mut offers = [None; 16];
    let mut words = 0;
    const CYCLES: u64 = 20_000;
    for _ in 0..CYCLES {
        for (port, offer) in offers.iter_mut().enumerate() {
            words += u64::from(top.output(port).is_some());
            let word = || Omega::new(4, 2).tag(rng.below(16) as usize);
            *offer = Some(offer.unwrap_or_else(|| Flit {
                word: word(),
                last: true,
            }));
        }
        let ready: Vec<bool> = (0..16).map(|port| top.ready(port)).collect();
        top.drive(&offers, &[true; 16]);
        top.clock(false);
        for (offer, ready) in offers.iter_mut().zip(ready) {
            *offer = offer.filter(|_| !ready);
        }
    }
    let rate = words as f64 / (16 * CYCLES) as f64;
    println!("omega 16x16 of 4x4: {rate:.3} words a cycle and port");
    assert!((0.528..0.655).contains(&rate), "{rate}");
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
