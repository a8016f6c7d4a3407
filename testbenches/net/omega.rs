//! The omega network as one RTL top against the same network composed of verilated crossbars, cycle by cycle, and both against
//! the golden network. The composed one clocks only what has something to do, so this also shows that gating changes nothing.

use std::marker::PhantomData;

use testbenches::rtl::{
    OmegaR2S1W64, OmegaR3S2W16, OmegaR4S2W16, TwinOmegaBusy, TwinOmegaCount, TwinOmegaShuffle, TwinOmegaWraps,
};
use tsunagi::harness::seed::{Case, Recorder, Rng, Seed};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::net::fabric::{Fabric, Flit, SwitchUnit};
use tsunagi::net::switch::GoldenSwitch;
use tsunagi::net::topology::Omega;
use tsunagi::net::units;
use tsunagi::rtl::Crossbar4;
use verilated::{Context, Unit, Verilated};

use crate::bench::{Check, CrossbarN2W64, CrossbarN3W16D2, Fault, PERIOD, Switch, Traffic};
use crate::crossbar::rates;

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
                self.junk();
                self.eval();
                self.clk_i.set(1);
                self.junk();
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
top!(TwinOmegaWraps, 16);

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
pub struct Radix3<T = OmegaR3S2W16>(PhantomData<T>);
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

impl<T: Top> Network for Radix3<T> {
    type Top = T;
    type Switch = CrossbarN3W16D2;
    const WIDTH: usize = 16;

    fn shape() -> Omega {
        Omega::new(3, 2)
    }

    fn switch(context: &Context, digit: usize) -> CrossbarN3W16D2 {
        let mut unit = CrossbarN3W16D2::named(context);
        unit.set_digit(digit);
        unit.reset();
        unit
    }
}

impl Network for OneSwitch {
    type Top = OmegaR2S1W64;
    type Switch = CrossbarN2W64;
    const WIDTH: usize = 64;

    fn shape() -> Omega {
        Omega::new(2, 1)
    }

    fn switch(context: &Context, _: usize) -> CrossbarN2W64 {
        let mut unit = CrossbarN2W64::named(context);
        unit.reset();
        unit
    }
}

/// Both networks and the golden one, which tells that every packet comes whole and in order to the port it names.
struct Bench<'a, N: Network> {
    context: Context,
    top: N::Top,
    fabric: Fabric<N::Switch>,
    golden: GoldenSwitch,
    sources: Vec<Source<Flit>>,
    sinks: Vec<Sink<Flit>>,
    recorder: Recorder<'a>,
    cycle: u64,
    /// Words that came, and cycles in which the composed network was at rest.
    arrived: u64,
    rests: u64,
}

impl<'a, N: Network> Bench<'a, N> {
    fn new(case: &Case, gaps: Gaps, probe: &'a Probe) -> Bench<'a, N> {
        let context = case.context();
        let top = N::Top::named(&context, "omega");
        let pacer = |pauses, name: String| Pacer::new(pauses, case.rng(&name));
        let ports = N::shape().ports();
        let mut bench = Bench {
            recorder: Recorder::new(probe, &[&top]),
            fabric: composed::<N>(&context),
            context,
            top,
            golden: GoldenSwitch::network(N::shape()),
            sources: (0..ports)
                .map(|port| Source::new([], pacer(gaps.at_source(), format!("source {port}"))))
                .collect(),
            sinks: (0..ports)
                .map(|port| Sink::new(pacer(gaps.at_sink(), format!("sink {port}"))))
                .collect(),
            cycle: 0,
            arrived: 0,
            rests: 0,
        };
        bench.reset();
        bench
    }

    /// Both networks are reset, and what is inside is forgotten; words not taken are offered again.
    fn reset(&mut self) {
        let ports = N::shape().ports();
        self.top.drive(&vec![None; ports], &vec![false; ports]);
        (0..4).for_each(|_| self.top.clock(true));
        self.fabric = composed::<N>(&self.context);
        self.golden = GoldenSwitch::network(N::shape());
        self.sources.iter_mut().for_each(Source::reset);
        self.sinks.iter_mut().for_each(Sink::reset);
    }

    /// Gives every source more to send.
    fn send(&mut self, traffic: &Traffic, rng: impl Fn(&str) -> Rng) {
        let way = (0, N::shape().stages() * N::shape().digit_bits());
        for (port, source) in self.sources.iter_mut().enumerate() {
            let flits = traffic.flits(port, N::WIDTH, way, &mut rng(&format!("words {port}")));
            flits.into_iter().for_each(|flit| source.push(flit));
        }
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        self.cycle += 1;
        let fault = |fault: Fault| fault.at(self.cycle);
        let ready: Vec<_> = self.sinks.iter_mut().map(Sink::ready).collect();
        let offers: Vec<_> = self.sources.iter_mut().map(|source| source.offer().copied()).collect();
        for (port, sink) in self.sinks.iter_mut().enumerate() {
            let top = (self.top.ready(port), self.top.output(port));
            let composed = (self.fabric.ready(port), self.fabric.output(port));
            let same = Check::Agree.holds(top == composed, || {
                format!("port {port}: {top:x?} and {composed:x?} differ")
            });
            same.map_err(fault)?;
            if let Some(flit) = sink.step(top.1).map_err(|e| fault(e.into()))? {
                self.arrived += 1;
                let source = (flit.word >> (N::WIDTH - 4)) as usize;
                let sent = self.golden.sent(port, source, flit.word, flit.last);
                sent.map_err(|e| fault(e.into()))?;
            }
            self.fabric.accept(port, ready[port]);
            if let Some(flit) = offers[port] {
                self.fabric.inject(port, flit);
            }
        }
        for (port, source) in self.sources.iter_mut().enumerate() {
            if let Some(flit) = source.step(self.top.ready(port)) {
                self.golden.took(port, flit.word, flit.last);
            }
        }
        self.rests += u64::from(!self.fabric.busy());
        self.top.drive(&offers, &ready);
        self.top.clock(false);
        self.fabric.edge();
        self.context.set_time(self.cycle * PERIOD);
        self.recorder.tick_up(&[&self.top], PERIOD);
        Ok(())
    }

    /// Until all that was sent came, and both are at rest.
    fn finish(&mut self) -> Result<(), Fault> {
        let words: usize = self.sources.iter().map(Source::len).sum();
        let (limit, mut quiet) = (self.cycle + 2000 + 4 * words as u64, 0);
        while quiet < 60 {
            self.cycle()?;
            let counted = (self.top.unroutable(), self.fabric.unroutable());
            Check::Unroutable.holds(counted.0 == counted.1, || format!("{counted:?} packets unroutable"))?;
            let done = self.golden.finish(counted.0);
            let left = self.sources.iter().map(Source::len).sum::<usize>();
            quiet = if done.is_ok() && left == 0 { quiet + 1 } else { 0 };
            Check::Hang.holds(self.cycle <= limit, || {
                format!("{left} words not taken after {limit} cycles: {done:?}")
            })?;
        }
        Check::Rest.holds(!self.top.busy() && !self.fabric.busy(), || "still busy".into())
    }
}

fn composed<N: Network>(context: &Context) -> Fabric<N::Switch> {
    let shape = N::shape();
    Fabric::new(shape, shape.ports(), |_, digit| N::switch(context, digit))
}

/// A list of packets, into the middle of it a reset, and the rest.
pub fn carries<N: Network>(
    case: &Case,
    gaps: Gaps,
    traffic: &Traffic,
    reset: Option<u64>,
    probe: &Probe,
) -> Result<(), Fault> {
    let mut bench = Bench::<N>::new(case, gaps, probe);
    if let Some(at) = reset {
        bench.send(traffic, |name| case.rng(&format!("first {name}")));
        (0..at).try_for_each(|_| bench.cycle())?;
        bench.reset();
        bench.sources.iter_mut().for_each(Source::stop);
        bench.finish()?;
    }
    bench.send(traffic, |name| case.rng(name));
    bench.finish()
}

/// Bursts of random packets with silences in which the composed network comes to rest, and a reset in the middle of the third.
pub fn agrees<N: Network>(case: &Case, gaps: Gaps, probe: &Probe) -> Result<(), Fault> {
    let mut bench = Bench::<N>::new(case, gaps, probe);
    let traffic = Traffic::Random {
        packets: 30,
        longest: 12,
    };
    for burst in 0..5 {
        bench.send(&traffic, |name| case.rng(&format!("burst {burst} {name}")));
        if burst == 2 {
            (0..40).try_for_each(|_| bench.cycle())?;
            bench.reset();
        }
        bench.finish()?;
    }
    Check::Rest.holds(bench.rests >= 200, || format!("at rest in {} cycles", bench.rests))?;
    Check::Hang.holds(bench.arrived >= 300, || format!("{} words came", bench.arrived))?;
    let lost = bench.top.unroutable();
    Check::Unroutable.holds((lost == 0) == N::shape().radix().is_power_of_two(), || {
        format!("{lost} packets unroutable")
    })
}

fn agree<N: Network>(test: &'static str) {
    for (gaps, start) in Gaps::ALL.into_iter().flat_map(|gaps| [(gaps, 1), (gaps, 2)]) {
        let case = Case::new("net", test, format!("gaps {gaps:?} start {start}"));
        case.run(|probe| agrees::<N>(&case, gaps, probe));
    }
}

#[test]
fn radix_4_two_stages_agree() {
    agree::<Radix4>("omega::radix_4_two_stages_agree");
}

#[test]
fn radix_3_two_stages_agree() {
    agree::<Radix3>("omega::radix_3_two_stages_agree");
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
        Check::Hang.holds(full != 0 && left(&bench) == full, || {
            format!("full with {full} words left, then {}", left(&bench))
        })?;
        bench.sinks.fill_with(|| Sink::new(Pacer::steady()));
        bench.finish()
    });
}

/// The sum of its crossbars' counts of packets that name no output stays at its highest value, which none of them has reached.
pub fn counts<T: Top>() -> Result<(), Fault> {
    let top = T::named(&Context::new(), "omega");
    let nowhere = Flit { word: 0xf, last: true };
    let drive = |cycles: u64, reset: bool| {
        top.drive(&[(!reset).then_some(nowhere); 9], &[true; 9]);
        (0..cycles).for_each(|_| top.clock(reset));
    };
    drive(4, true);
    let lost = |least: u64, most: u64| {
        let count = top.unroutable();
        Check::Unroutable.holds((least..=most).contains(&count), || {
            format!("{count} packets, and {least} to {most} are lost")
        })
    };
    drive(0xffff / 9, false);
    lost(0xf000, 0xfffe)?;
    drive(5_000, false);
    lost(0xffff, 0xffff)
}

#[test]
fn a_full_count_stays() {
    counts::<OmegaR3S2W16>().unwrap();
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
            *offer = Some(offer.unwrap_or_else(|| Flit {
                word: Omega::new(4, 2).tag(rng.below(16) as usize),
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

/// As for its crossbars: what the header says of long packets at saturation.
#[test]
fn the_header_says_what_long_packets_cost() {
    let two = rates("omega.sv", "16 ports", [1, 4, 16].map(|length| saturated(2, length)));
    let three = rates("omega.sv", "64", [1, 4, 16].map(|length| saturated(3, length)));
    assert_eq!([two, three].concat(), "");
}

/// Words a cycle and port of so many columns of 4x4 crossbars, when all inputs have packets of so many words for ports drawn uniformly.
fn saturated(columns: usize, length: u64) -> f64 {
    const CYCLES: u64 = 20_000;
    let (context, shape) = (Context::new(), Omega::new(4, columns));
    let mut fabric = Fabric::new(shape, shape.ports(), |at, digit| units::crossbar(&context, at, digit));
    let mut rng = Seed(1).stream("saturation");
    // The word that is offered, and how many of its packet follow it.
    let mut offers = vec![(0, 0); shape.ports()];
    let mut words = 0;
    for (port, offer) in offers.iter_mut().enumerate() {
        fabric.accept(port, true);
        *offer = (shape.tag(rng.below(shape.ports() as u64) as usize), length - 1);
    }
    for _ in 0..CYCLES {
        for (port, offer) in offers.iter_mut().enumerate() {
            words += u64::from(fabric.output(port).is_some());
            let (word, left) = *offer;
            fabric.inject(port, Flit { word, last: left == 0 });
            if fabric.ready(port) {
                *offer = match left {
                    0 => (shape.tag(rng.below(shape.ports() as u64) as usize), length - 1),
                    _ => (word, left - 1),
                };
            }
        }
        fabric.edge();
    }
    words as f64 / (shape.ports() as u64 * CYCLES) as f64
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
