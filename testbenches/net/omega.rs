//! The omega network as one RTL top and the same network composed of verilated crossbars, cycle by cycle, both against
//! the golden network. The composed one clocks only switches with something to do, so gating changes nothing.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::net::fabric::{Fabric, Flit, SwitchUnit};
use tsunagi::net::switch::GoldenSwitch;
use tsunagi::net::topology::{Omega, SwitchAt};
use tsunagi::net::units;
use tsunagi::rtl::Crossbar4;
use verilated::{Context, Input as _};

use crate::switch::{self, In, Out, Peers, Traffic, in_header, seen_flits, set_flits};

rules!(
    /// The network as one top and composed of switches do the same. The twins of the crossbar show the other rules of
    /// switches.
    Agree
    /// Both networks count the packets that name no output.
    Unroutable
    /// `busy_o` is low when nothing is inside.
    Rest
);

fn set(dut: &impl OmegaPorts, inputs: &In) {
    set_flits(
        inputs,
        dut.in_valid_i(),
        dut.in_data_i(),
        dut.in_last_i(),
        dut.out_ready_i(),
    );
}

fn seen(dut: &impl OmegaPorts) -> Out {
    seen_flits(
        dut.in_ready_o(),
        dut.out_valid_o(),
        dut.out_data_o(),
        dut.out_last_o(),
        dut.busy_o(),
        dut.unroutable_o(),
    )
}

/// A network composed of switches of any radix.
trait Composed {
    fn seen(&self) -> Out;
    fn step(&mut self, inputs: &In);
}

impl<S: SwitchUnit> Composed for Fabric<S> {
    fn seen(&self) -> Out {
        let ports = self.live();
        Out {
            ready: (0..ports).map(|port| self.ready(port)).collect(),
            flits: (0..ports).map(|port| self.output(port)).collect(),
            sources: vec![None; ports],
            busy: self.busy(),
            unroutable: self.unroutable(),
        }
    }

    fn step(&mut self, inputs: &In) {
        for (port, (flit, ready)) in inputs.flits.iter().zip(&inputs.ready).enumerate() {
            self.accept(port, *ready);
            flit.iter().for_each(|flit| self.inject(port, *flit));
        }
        self.edge();
    }
}

fn composed<S: SwitchUnit + CrossbarUnit + 'static>(shape: Omega, context: &Context) -> Box<dyn Composed> {
    let switch = |at: SwitchAt, digit: usize| {
        let mut switch = S::named(context, &units::name(at));
        switch.digit_i().set(digit as u64);
        switch.reset();
        switch
    };
    Box::new(Fabric::new(shape, shape.ports(), switch))
}

/// A network under test: the one top, and the same network composed of switches.
pub struct Network {
    top: Dut<In, Out>,
    composed: fn(Omega, &Context) -> Box<dyn Composed>,
    pub shape: Omega,
    /// Bits of a word.
    width: usize,
}

fn network<T: OmegaUnit + 'static, S: SwitchUnit + CrossbarUnit + 'static>() -> Network {
    Network {
        top: Dut::of::<T>(set, seen),
        composed: composed::<S>,
        shape: Omega::new(T::RADIX, T::STAGES),
        width: T::W,
    }
}

pub fn radix_4() -> Network {
    network::<OmegaR4S2W16, Crossbar4>()
}

/// Of three stages.
fn radix_2<T: OmegaUnit + 'static>() -> Network {
    network::<T, CrossbarN2W16D3>()
}

/// Radix 3 has digits that name no output, and so packets that are lost.
pub fn radix_3<T: OmegaUnit + 'static>() -> Network {
    network::<T, CrossbarN3W16D2>()
}

/// Both networks and the golden one, which checks that each packet comes whole and in order to the port it names.
struct Rig<'a> {
    network: &'a Network,
    context: Context,
    top: Bench<'a, In, Out>,
    composed: Box<dyn Composed>,
    peers: Peers,
    /// Cycles in which the composed network was at rest.
    rests: u64,
}

impl<'a> Rig<'a> {
    fn new(network: &'a Network, run: &Run<'a>, gaps: Gaps) -> Rig<'a> {
        let (shape, context) = (network.shape, run.context());
        let size = (shape.ports(), network.width);
        let mut rig = Rig {
            network,
            top: Bench::new(run, &network.top),
            composed: (network.composed)(shape, &context),
            context,
            peers: Peers::new(GoldenSwitch::network(shape), size, gaps, &|name| run.rng(name)),
            rests: 0,
        };
        rig.reset();
        rig
    }

    /// Resets both networks, and forgets the words inside. Words not taken are offered again.
    fn reset(&mut self) {
        let shape = self.network.shape;
        for _ in 0..4 {
            self.top.through(&In::idle(shape.ports()), true);
        }
        self.composed = (self.network.composed)(shape, &self.context);
        self.peers.golden = GoldenSwitch::network(shape);
        self.peers.sources.iter_mut().for_each(Source::reset);
        self.peers.sinks.iter_mut().for_each(Sink::reset);
    }

    fn send(&mut self, traffic: &Traffic, rng: &dyn Fn(&str) -> Rng) {
        let shape = self.network.shape;
        self.peers.send(traffic, (0, shape.stages() * shape.digit_bits()), rng);
    }

    fn cycle(&mut self) -> Result<Out, Fault> {
        let cycle = self.top.cycle();
        let inputs = self.peers.inputs();
        let top = self.top.through(&inputs, false);
        let composed = self.composed.seen();
        let same = (&top.ready, &top.flits) == (&composed.ready, &composed.flits);
        Rule::Agree.holds(same, || format!("cycle {cycle}: {top:x?} and {composed:x?} differ"))?;
        self.peers.step(&top).map_err(|fault| fault.at(cycle))?;
        self.rests += u64::from(!composed.busy);
        self.composed.step(&inputs);
        Ok(top)
    }

    /// Until all words came, and both networks are at rest.
    fn finish(&mut self) -> Result<(), Fault> {
        let (limit, mut quiet) = (self.top.cycle() + 2000 + 4 * self.peers.left() as u64, 0);
        while quiet < 60 {
            self.cycle()?;
            let counted = (self.top.seen().unroutable, self.composed.seen().unroutable);
            Rule::Unroutable.holds(counted.0 == counted.1, || format!("{counted:?} packets unroutable"))?;
            let (done, left) = (self.peers.finish(counted.0), self.peers.left());
            quiet = if done.is_ok() && left == 0 { quiet + 1 } else { 0 };
            switch::Rule::Hang.holds(self.top.cycle() <= limit, || {
                format!("{left} words not taken after {limit} cycles: {done:?}")
            })?;
        }
        let busy = self.top.seen().busy || self.composed.seen().busy;
        Rule::Rest.holds(!busy, || "still busy".into())
    }
}

/// A list of packets, perhaps after a reset in the midst of the same list.
pub fn carries(network: &Network, run: &Run, gaps: Gaps, traffic: &Traffic, reset: Option<u64>) -> Result<(), Fault> {
    let mut rig = Rig::new(network, run, gaps);
    if let Some(at) = reset {
        rig.send(traffic, &|name| run.rng(&format!("first {name}")));
        (0..at).try_for_each(|_| rig.cycle().map(drop))?;
        rig.reset();
        rig.peers.sources.iter_mut().for_each(Source::stop);
        rig.finish()?;
    }
    rig.send(traffic, &|name| run.rng(name));
    rig.finish()
}

/// Bursts of random packets with silences in which the composed network comes to rest, and a reset in the midst of the
/// third.
fn bursts(network: &Network, run: &Run, gaps: Gaps) -> Result<(), Fault> {
    let mut rig = Rig::new(network, run, gaps);
    let traffic = Traffic::Random {
        packets: 30,
        longest: 12,
    };
    for burst in 0..5 {
        rig.send(&traffic, &|name| run.rng(&format!("burst {burst} {name}")));
        if burst == 2 {
            (0..40).try_for_each(|_| rig.cycle().map(drop))?;
            rig.reset();
        }
        rig.finish()?;
    }
    Rule::Rest.holds(rig.rests >= 200, || format!("at rest in {} cycles", rig.rests))?;
    let arrived = rig.peers.arrived;
    switch::Rule::Hang.holds(arrived >= 300, || format!("{arrived} words came"))?;
    let lost = rig.top.seen().unroutable;
    Rule::Unroutable.holds((lost == 0) == network.shape.radix().is_power_of_two(), || {
        format!("{lost} packets unroutable")
    })
}

fn agree(network: &Network, starts: &[Start], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let params = format!("{} gaps {gaps:?}", network.top.name);
        cases.from_each(starts, params, |run| bursts(network, run, gaps));
    }
}

/// A top just reset.
fn fresh<'a>(network: &Network, run: &Run<'a>) -> Bench<'a, In, Out> {
    let mut bench = Bench::new(run, &network.top);
    for _ in 0..4 {
        bench.through(&In::idle(network.shape.ports()), true);
    }
    bench
}

/// The sum of its crossbars' counts of packets that name no output stays at its highest value, which none of them has
/// reached.
fn counts(network: &Network, cases: &mut Cases) {
    cases.case(Start::Zero, network.top.name, |run| {
        let mut bench = fresh(network, run);
        let nowhere = Flit { word: 0xf, last: true };
        let inputs = In {
            flits: vec![Some(nowhere); 9],
            ready: vec![true; 9],
            ..In::default()
        };
        for (cycles, least, most) in [(0xffff / 9, 0xf000, 0xfffe), (5_000, 0xffff, 0xffff)] {
            (0..cycles).for_each(|_| drop(bench.through(&inputs, false)));
            let count = bench.seen().unroutable;
            Rule::Unroutable.holds((least..=most).contains(&count), || {
                format!("{count} packets, and {least} to {most} are lost")
            })?;
        }
        Ok(())
    });
}

#[test]
fn radix_4_two_stages_agree() {
    pass(this_test!(), |cases| agree(&radix_4(), &Start::RANDOM, cases));
}

#[test]
fn radix_2_three_stages_agree() {
    pass(this_test!(), |cases| {
        agree(&radix_2::<OmegaR2S3W16>(), &Start::RANDOM, cases)
    });
}

#[test]
fn radix_3_two_stages_agree() {
    pass(this_test!(), |cases| {
        agree(&radix_3::<OmegaR3S2W16>(), &Start::RANDOM, cases)
    });
}

/// One switch is the smallest network.
#[test]
fn one_switch_agrees() {
    let network = network::<OmegaR2S1W64, CrossbarN2W64>();
    pass(this_test!(), |cases| agree(&network, &Start::RANDOM, cases));
}

/// The network fills up while no output is emptied, takes no more, and loses nothing.
#[test]
fn a_full_network_holds_and_loses_nothing() {
    let network = radix_4();
    pass(this_test!(), |cases| {
        cases.case(Start::Random1, "", |run| {
            let mut rig = Rig::new(&network, run, Gaps::None);
            rig.peers.sinks.fill_with(|| Sink::new(Pacer::stopped()));
            let traffic = Traffic::Random {
                packets: 100,
                longest: 12,
            };
            rig.send(&traffic, &|name| run.rng(name));
            (0..1000).try_for_each(|_| rig.cycle().map(drop))?;
            let full = rig.peers.left();
            (0..200).try_for_each(|_| rig.cycle().map(drop))?;
            let left = rig.peers.left();
            switch::Rule::Hang.holds(full != 0 && left == full, || {
                format!("full with {full} words left, then {left}")
            })?;
            rig.peers.sinks.fill_with(|| Sink::new(Pacer::steady()));
            rig.finish()
        });
    });
}

#[test]
fn a_full_count_stays() {
    pass(this_test!(), |cases| counts(&radix_3::<OmegaR3S2W16>(), cases));
}

/// All inputs have one-word packets for outputs drawn uniformly. Without queues a column of 4x4 switches with an offer
/// of p words a cycle and port passes 1 - (1 - p/4)^4: 0.684 of the first and 0.528 of both. With one queue an input,
/// columns that did not hinder each other would pass the rate of one switch, 0.655.
#[test]
fn saturation_is_between_the_theories_of_banyan_networks() {
    const CYCLES: u64 = 20_000;
    let network = radix_4();
    pass(this_test!(), |cases| {
        cases.case(Start::Zero, "", |run| {
            let mut bench = fresh(&network, run);
            let mut rng = Seed(1).stream("saturation");
            let mut inputs = In::idle(16);
            inputs.ready.fill(true);
            let mut words = 0;
            for _ in 0..CYCLES {
                for flit in &mut inputs.flits {
                    flit.get_or_insert_with(|| Flit {
                        word: network.shape.tag(rng.below(16) as usize),
                        last: true,
                    });
                }
                let seen = bench.through(&inputs, false);
                words += seen.flits.iter().flatten().count();
                for (flit, ready) in inputs.flits.iter_mut().zip(seen.ready) {
                    *flit = flit.filter(|_| !ready);
                }
            }
            let rate = words as f64 / (16 * CYCLES) as f64;
            println!("omega 16x16 of 4x4: {rate:.3} words a cycle and port");
            switch::Rule::Rate.holds((0.528..0.655).contains(&rate), || format!("{rate}"))
        });
    });
}

/// The header gives the rates of long packets at saturation, as those of the crossbars do.
#[test]
fn the_header_says_what_long_packets_cost() {
    pass(this_test!(), |cases| {
        for (columns, ports) in [(2, "16 ports"), (3, "64")] {
            cases.case(Start::Zero, ports, |run| {
                let rates = [1, 4, 16].map(|length| saturated(&run.context(), columns, length));
                in_header("omega.sv", ports, rates)
            });
        }
    });
}

/// Words a cycle and port of these columns of 4x4 crossbars, when all inputs have packets of `length` words for ports
/// drawn uniformly.
fn saturated(context: &Context, columns: usize, length: u64) -> f64 {
    const CYCLES: u64 = 20_000;
    let shape = Omega::new(4, columns);
    let mut fabric = Fabric::new(shape, shape.ports(), |at, digit| units::crossbar(context, at, digit));
    let mut rng = Seed(1).stream("saturation");
    let mut packet = || (shape.tag(rng.below(shape.ports() as u64) as usize), length - 1);
    // The word on offer, and the number of words of its packet that follow it.
    let mut offers: Vec<(u64, u64)> = (0..shape.ports()).map(|_| packet()).collect();
    (0..shape.ports()).for_each(|port| fabric.accept(port, true));
    let mut words = 0;
    for _ in 0..CYCLES {
        for (port, offer) in offers.iter_mut().enumerate() {
            words += u64::from(fabric.output(port).is_some());
            let (word, left) = *offer;
            fabric.inject(port, Flit { word, last: left == 0 });
            if fabric.ready(port) {
                *offer = left.checked_sub(1).map_or_else(&mut packet, |left| (word, left));
            }
        }
        fabric.edge();
    }
    words as f64 / (shape.ports() as u64 * CYCLES) as f64
}

/// Every pair of the 16 ports: a packet arrives where its tag says, unchanged.
#[test]
fn every_pair_is_connected() {
    let network = radix_4();
    pass(this_test!(), |cases| {
        cases.case(Start::Zero, "", |run| {
            let mut bench = fresh(&network, run);
            let mut quiet = In::idle(16);
            quiet.ready.fill(true);
            for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
                let flit = Flit {
                    word: network.shape.tag(to) | (from as u64) << 8,
                    last: true,
                };
                let mut inputs = quiet.clone();
                inputs.flits[from] = Some(flit);
                bench.through(&inputs, false);
                // Two crossbars of four cycles, transfer to transfer.
                (0..7).for_each(|_| drop(bench.through(&quiet, false)));
                let mut due = vec![None; 16];
                due[to] = Some(flit);
                let seen = bench.through(&quiet, false).flits;
                switch::Rule::Word.holds(seen == due, || format!("{from} to {to}: {seen:x?}, not {due:x?}"))?;
            }
            Ok(())
        });
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |network: &Network, cases: &mut Cases| agree(network, &[Start::Random1], cases);
    each_is_caught(
        this_test!(),
        &[
            (Agree, &[], &|cases| checks(&radix_3::<TwinOmegaShuffle>(), cases)),
            // The stages behind the first choose by wrong digits.
            (Agree, &[], &|cases| checks(&radix_2::<TwinOmegaDigit>(), cases)),
            (Unroutable, &[], &|cases| checks(&radix_3::<TwinOmegaCount>(), cases)),
            // Only a full count is wrong.
            (Unroutable, &[], &|cases| counts(&radix_3::<TwinOmegaWraps>(), cases)),
            (Rest, &[], &|cases| checks(&radix_3::<TwinOmegaBusy>(), cases)),
        ],
    );
}
