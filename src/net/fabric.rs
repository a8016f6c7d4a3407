//! A network composed of verilated switches, cycle exact, in which a switch with nothing to do costs nothing.
//!
//! Every output of a switch is a function of its flip-flops, so at a clock edge all switches see what stood on the
//! links before it, in whatever order they are evaluated: what a switch shows after the edge goes into the links of the
//! next.
//!
//! What is done for each switch and edge has few branches: under load which ports carry a word is chance, and a branch
//! on it costs more than what it saves.

use crate::net::topology::{Hop, Omega, SwitchAt};

/// One word on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flit {
    pub word: u64,
    pub last: bool,
}

/// A switch as the fabric drives it. Bit `i` of a mask is port `i`.
pub trait SwitchUnit {
    /// Ports a side, at most 32.
    const RADIX: usize;

    fn set_reset(&mut self, reset: bool);

    /// Some edges under reset.
    fn reset(&mut self) {
        self.set_reset(true);
        for _ in 0..2 {
            self.edge(&[0; 32], 0, 0, 0);
        }
        self.set_reset(false);
    }

    /// One clock edge, with `words[i]` on input `i`.
    fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32);

    fn in_ready(&self) -> u32;

    fn out_valid(&self) -> u32;

    fn out_last(&self) -> u32;

    /// Anything where nothing is valid.
    fn out_word(&self, output: usize) -> u64;

    /// False: further edges change nothing while no input is valid.
    fn busy(&self) -> bool;

    /// Packets drained because they name no output.
    fn unroutable(&self) -> u64;
}

/// What a link carried since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Words that crossed it, one a cycle at most.
    pub words: u64,
    /// Cycles in which a word stood on it and was not taken.
    pub stalls: u64,
}

/// Where a switch's output goes.
#[derive(Clone, Copy)]
enum Target {
    /// An input of a switch, by `unit * radix + input`.
    Switch(usize),
    Port(usize),
    /// Ports that are not live lie behind it: packets are counted as unroutable.
    Nowhere,
}

/// Where a switch's input comes from.
#[derive(Clone, Copy)]
enum Source {
    Switch {
        unit: usize,
        output: usize,
    },
    /// A port, live or not.
    Port,
}

/// What stands on the inputs of one switch.
#[derive(Clone, Copy, Default)]
struct Offer {
    valid: u32,
    last: u32,
}

/// What stands on all links for one clock edge, and who has to see it.
struct Side {
    /// By `unit * radix + input`.
    words: Vec<u64>,
    offers: Vec<Offer>,
    /// Units to evaluate, one bit each.
    active: Vec<u64>,
}

impl Side {
    fn new(units: usize, radix: usize) -> Side {
        Side {
            words: vec![0; units * radix],
            offers: vec![Offer::default(); units],
            active: vec![0; units.div_ceil(64)],
        }
    }

    fn wake(&mut self, unit: usize) {
        self.active[unit / 64] |= 1 << (unit % 64);
    }

    /// What stands on input `at` = `unit * radix + input`: `valid` and `last` are 0 or 1.
    #[inline(always)]
    fn put(&mut self, radix: usize, at: usize, word: u64, valid: u32, last: u32) {
        let (unit, input) = (at / radix, at % radix);
        self.words[at] = word;
        let offer = &mut self.offers[unit];
        offer.valid |= valid << input;
        offer.last |= (valid & last) << input;
        self.active[unit / 64] |= u64::from(valid) << (unit % 64);
    }
}

/// The network. Between edges: [`inject`](Fabric::inject) what each sender shows, [`accept`](Fabric::accept) what each
/// receiver can take, look at [`ready`](Fabric::ready) and [`output`](Fabric::output); then [`edge`](Fabric::edge).
pub struct Fabric<S> {
    shape: Omega,
    live: usize,
    units: Vec<S>,
    places: Vec<SwitchAt>,
    now: Side,
    next: Side,
    /// By unit: its inputs' ready, its outputs' ready.
    in_ready: Vec<u32>,
    out_ready: Vec<u32>,
    /// Units whose in_ready changed at this edge.
    changed: Vec<(usize, u32)>,
    /// By `unit * radix + port`.
    targets: Vec<Target>,
    sources: Vec<Source>,
    links: Vec<LinkStats>,
    /// By unit: its outputs that lead nowhere, and the words that left there.
    nowhere: Vec<u32>,
    lost: Vec<u64>,
    /// By live port: the input it leads to, by `unit * radix + input`; unit and output that lead to it.
    entries: Vec<usize>,
    exits: Vec<(usize, usize)>,
    outputs: Vec<Option<Flit>>,
    shown: Vec<usize>,
    exit_links: Vec<LinkStats>,
    /// Packets that left at outputs that lead nowhere.
    lost_packets: u64,
    cycles: u64,
}

impl<S: SwitchUnit> Fabric<S> {
    /// The part of `shape` that connects its first `live` ports. `make` gives each switch, after reset, set to route by
    /// the digit it is told.
    pub fn new(shape: Omega, live: usize, mut make: impl FnMut(SwitchAt, usize) -> S) -> Fabric<S> {
        let radix = shape.radix();
        assert!(
            radix == S::RADIX && radix <= 32,
            "switches of radix {} in a network of radix {radix}",
            S::RADIX
        );
        let places = shape.reachable(live);
        let index = |at: SwitchAt| places.binary_search(&at).ok();
        let count = places.len();
        let mut targets = vec![Target::Nowhere; count * radix];
        let mut sources = vec![Source::Port; count * radix];
        let mut exits = vec![(0, 0); live];
        for (unit, at) in places.iter().enumerate() {
            for output in 0..radix {
                let target = match shape.hop(*at, output) {
                    Hop::Port(port) if port < live => {
                        exits[port] = (unit, output);
                        Target::Port(port)
                    }
                    Hop::Port(_) => Target::Nowhere,
                    Hop::Switch(next, input) => match index(next) {
                        Some(next) => {
                            sources[next * radix + input] = Source::Switch { unit, output };
                            Target::Switch(next * radix + input)
                        }
                        None => Target::Nowhere,
                    },
                };
                targets[unit * radix + output] = target;
            }
        }
        let entry = |port| {
            let (at, input) = shape.entry(port);
            index(at).expect("a live port's switch is reachable") * radix + input
        };
        let units: Vec<S> = places
            .iter()
            .map(|at| make(*at, shape.digit_of_stage(at.stage)))
            .collect();
        let mut fabric = Fabric {
            shape,
            live,
            now: Side::new(count, radix),
            next: Side::new(count, radix),
            in_ready: vec![0; count],
            out_ready: vec![0; count],
            changed: Vec::with_capacity(count),
            targets,
            sources,
            links: vec![LinkStats::default(); count * radix],
            nowhere: vec![0; count],
            lost: vec![0; count],
            entries: (0..live).map(entry).collect(),
            exits,
            outputs: vec![None; live],
            shown: Vec::with_capacity(live),
            exit_links: vec![LinkStats::default(); live],
            lost_packets: 0,
            cycles: 0,
            units,
            places,
        };
        for (at, target) in fabric.targets.iter().enumerate() {
            if matches!(target, Target::Nowhere) {
                fabric.out_ready[at / radix] |= 1 << (at % radix);
                fabric.nowhere[at / radix] |= 1 << (at % radix);
            }
        }
        for unit in 0..count {
            fabric.spread_ready(unit, fabric.units[unit].in_ready());
            fabric.now.wake(unit);
        }
        fabric
    }

    pub fn shape(&self) -> Omega {
        self.shape
    }

    /// Ports in use, numbered from 0.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Clock edges so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Whether the network takes what stands on input `port` at the coming edge.
    pub fn ready(&self, port: usize) -> bool {
        let at = self.entries[port];
        self.in_ready[at / S::RADIX] >> (at % S::RADIX) & 1 == 1
    }

    /// Puts a word on input `port` for the coming edge. A word not taken ([`ready`](Fabric::ready) is false) must be
    /// put there again for the next.
    pub fn inject(&mut self, port: usize, flit: Flit) {
        self.now
            .put(S::RADIX, self.entries[port], flit.word, 1, u32::from(flit.last));
    }

    /// What the network shows at output `port`.
    pub fn output(&self, port: usize) -> Option<Flit> {
        self.outputs[port]
    }

    /// Whether what stands on output `port` is taken at an edge; stays so until said otherwise, and is false at first.
    pub fn accept(&mut self, port: usize, ready: bool) {
        let (unit, output) = self.exits[port];
        set_bit(&mut self.out_ready[unit], output, ready);
    }

    /// Live ports at which the network shows a word, each once, in no particular order that depends on anything but the
    /// run.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// False: edges change nothing until something is injected.
    pub fn busy(&self) -> bool {
        self.now.active.iter().any(|word| *word != 0)
    }

    /// No switch is left out at the coming edge.
    pub fn wake_all(&mut self) {
        (0..self.units.len()).for_each(|unit| self.now.wake(unit));
    }

    /// One edge of the network's clock.
    pub fn edge(&mut self) {
        self.cycles += 1;
        for port in self.shown.drain(..) {
            let (unit, output) = self.exits[port];
            count(&mut self.exit_links[port], self.out_ready[unit] >> output & 1 == 1);
            self.outputs[port] = None;
        }
        for block in 0..self.now.active.len() {
            let mut left = std::mem::take(&mut self.now.active[block]);
            while left != 0 {
                self.step(block * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        while let Some((unit, ready)) = self.changed.pop() {
            self.spread_ready(unit, ready);
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// The edge at one switch.
    #[inline]
    fn step(&mut self, unit: usize) {
        let offer = std::mem::take(&mut self.now.offers[unit]);
        let base = unit * S::RADIX;
        let ready = self.in_ready[unit];
        for (input, link) in self.links[base..base + S::RADIX].iter_mut().enumerate() {
            link.words += u64::from((offer.valid & ready) >> input & 1);
            link.stalls += u64::from((offer.valid & !ready) >> input & 1);
        }
        let switch = &mut self.units[unit];
        let lost = switch.out_valid() & self.nowhere[unit];
        if lost != 0 {
            self.lost[unit] += u64::from(lost.count_ones());
            self.lost_packets += u64::from((lost & switch.out_last()).count_ones());
        }
        switch.edge(
            &self.now.words[base..base + S::RADIX],
            offer.valid,
            offer.last,
            self.out_ready[unit],
        );
        if switch.in_ready() != ready {
            self.changed.push((unit, switch.in_ready()));
        }
        if switch.busy() {
            self.next.wake(unit);
        }
        let (valid, last) = (switch.out_valid(), switch.out_last());
        for (output, target) in self.targets[base..base + S::RADIX].iter().enumerate() {
            let (valid, last) = (valid >> output & 1, last >> output & 1);
            match *target {
                Target::Switch(at) => self.next.put(S::RADIX, at, switch.out_word(output), valid, last),
                Target::Port(port) if valid == 1 => {
                    self.outputs[port] = Some(Flit {
                        word: switch.out_word(output),
                        last: last == 1,
                    });
                    self.shown.push(port);
                }
                Target::Port(_) | Target::Nowhere => {}
            }
        }
    }

    /// Tells the switches before `unit` what it can take from now on.
    fn spread_ready(&mut self, unit: usize, ready: u32) {
        for input in bits(ready ^ self.in_ready[unit]) {
            if let Source::Switch { unit: from, output } = self.sources[unit * S::RADIX + input] {
                set_bit(&mut self.out_ready[from], output, ready >> input & 1 == 1);
            }
        }
        self.in_ready[unit] = ready;
    }

    /// Packets that reached no live port: drained by a switch, or addressed to a port that is not live.
    pub fn unroutable(&self) -> u64 {
        self.lost_packets + self.units.iter().map(S::unroutable).sum::<u64>()
    }

    /// The switches in use, by stage and row.
    pub fn switches(&self) -> &[SwitchAt] {
        &self.places
    }

    /// The switches in use, in the order of [`switches`](Fabric::switches).
    pub fn units(&self) -> &[S] {
        &self.units
    }

    /// What the link into `input` of a switch in use carried.
    pub fn link(&self, at: SwitchAt, input: usize) -> Option<LinkStats> {
        self.index(at).map(|unit| self.links[unit * S::RADIX + input])
    }

    /// What the link out of the network at live port `port` carried.
    pub fn exit_link(&self, port: usize) -> LinkStats {
        self.exit_links[port]
    }

    /// Words inside a switch in use: what it took and has not sent (what it drained as unroutable counts as inside).
    pub fn held(&self, at: SwitchAt) -> Option<u64> {
        self.index(at).map(|unit| {
            let base = unit * S::RADIX;
            let taken: u64 = self.links[base..base + S::RADIX].iter().map(|link| link.words).sum();
            let sent = self.targets[base..base + S::RADIX].iter().map(|target| match *target {
                Target::Switch(at) => self.links[at].words,
                Target::Port(port) => self.exit_links[port].words,
                Target::Nowhere => 0,
            });
            taken - sent.sum::<u64>() - self.lost[unit]
        })
    }

    fn index(&self, at: SwitchAt) -> Option<usize> {
        self.places.binary_search(&at).ok()
    }
}

fn count(link: &mut LinkStats, taken: bool) {
    link.words += u64::from(taken);
    link.stalls += u64::from(!taken);
}

fn set_bit(mask: &mut u32, bit: usize, value: bool) {
    *mask = *mask & !(1 << bit) | u32::from(value) << bit;
}

/// The set bits of a mask, lowest first.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.checked_sub(1)?;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::switch::GoldenSwitch;
    use std::collections::VecDeque;

    /// A switch in the plainest form: a queue an input, a register an output, the lowest input first.
    struct Plain {
        digit: usize,
        inputs: [VecDeque<Flit>; 4],
        owners: [Option<usize>; 4],
        outputs: [Option<Flit>; 4],
    }

    impl Plain {
        fn new(digit: usize) -> Plain {
            Plain {
                digit,
                inputs: Default::default(),
                owners: [None; 4],
                outputs: [None; 4],
            }
        }
    }

    impl SwitchUnit for Plain {
        const RADIX: usize = 4;

        fn set_reset(&mut self, _reset: bool) {
            *self = Plain::new(self.digit);
        }

        fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32) {
            let taken = in_valid & self.in_ready();
            for o in 0..4 {
                if self.outputs[o].is_some() && out_ready >> o & 1 == 0 {
                    continue;
                }
                let wants = |q: &VecDeque<Flit>| {
                    q.front()
                        .is_some_and(|f| (f.word >> (2 * self.digit) & 3) as usize == o)
                };
                let from = self.owners[o].or_else(|| self.inputs.iter().position(wants));
                self.outputs[o] = from.and_then(|i| self.inputs[i].pop_front());
                self.owners[o] = match self.outputs[o] {
                    Some(flit) => from.filter(|_| !flit.last),
                    None => self.owners[o],
                };
            }
            for i in bits(taken) {
                self.inputs[i].push_back(Flit {
                    word: words[i],
                    last: in_last >> i & 1 == 1,
                });
            }
        }

        fn in_ready(&self) -> u32 {
            (0..4).map(|i| u32::from(self.inputs[i].len() < 2) << i).sum()
        }

        fn out_valid(&self) -> u32 {
            (0..4).map(|o| u32::from(self.outputs[o].is_some()) << o).sum()
        }

        fn out_last(&self) -> u32 {
            (0..4)
                .map(|o| u32::from(self.outputs[o].is_some_and(|f| f.last)) << o)
                .sum()
        }

        fn out_word(&self, output: usize) -> u64 {
            self.outputs[output].map_or(0, |flit| flit.word)
        }

        fn busy(&self) -> bool {
            self.out_valid() != 0 || self.inputs.iter().any(|q| !q.is_empty())
        }

        fn unroutable(&self) -> u64 {
            0
        }
    }

    /// All pairs of 20 live ports of 64 at once, with outputs that stall: everything arrives where it should, in order.
    #[test]
    fn everything_arrives() {
        const LIVE: usize = 20;
        let mut fabric = Fabric::new(Omega::new(4, 3), LIVE, |_, digit| Plain::new(digit));
        let mut sent = [0; LIVE];
        let mut got = [[0; LIVE]; LIVE];
        let mut words = 0;
        while words < LIVE * LIVE {
            for port in 0..LIVE {
                fabric.accept(port, !(fabric.cycles() as usize + port).is_multiple_of(3));
                if sent[port] < LIVE {
                    let to = (port + sent[port]) % LIVE;
                    fabric.inject(
                        port,
                        Flit {
                            word: (to | port << 8) as u64,
                            last: true,
                        },
                    );
                    sent[port] += usize::from(fabric.ready(port));
                }
                if let Some(flit) = fabric.output(port)
                    && !(fabric.cycles() as usize + port).is_multiple_of(3)
                {
                    assert_eq!(flit.word as usize & 0xFF, port);
                    got[flit.word as usize >> 8][port] += 1;
                    words += 1;
                }
            }
            fabric.edge();
            assert!(fabric.cycles() < 1000, "{words} words arrived");
        }
        assert_eq!(got, [[1; LIVE]; LIVE]);
        fabric.edge();
        assert!(!fabric.busy());
        assert_eq!(fabric.unroutable(), 0);
        assert!(fabric.switches().iter().all(|at| fabric.held(*at) == Some(0)));
        assert_eq!(
            (0..LIVE).map(|port| fabric.exit_link(port).words).sum::<u64>(),
            (LIVE * LIVE) as u64
        );
    }

    /// A packet for a port that is not live is counted, also where its path leaves the switches in use.
    #[test]
    fn packets_to_dead_ports_are_counted() {
        let mut fabric = Fabric::new(Omega::new(4, 3), 3, |_, digit| Plain::new(digit));
        for to in [63, 3, 16] {
            fabric.inject(0, Flit { word: to, last: true });
            assert!(fabric.ready(0));
            for _ in 0..20 {
                fabric.edge();
            }
        }
        assert!(!fabric.busy());
        assert_eq!(fabric.unroutable(), 3);
    }

    /// The plain switch itself obeys the contract, so the tests above mean something.
    #[test]
    fn plain_switch_is_a_switch() {
        let mut switch = Plain::new(0);
        let mut golden = GoldenSwitch::new(4, 0, 3);
        for word in [0x12, 0x23, 0x32] {
            golden.took(1, word, true);
            switch.edge(&[0, word, 0, 0], 2, 2, 0xF);
            for o in bits(switch.out_valid()) {
                golden.sent(o, 1, switch.out_word(o), true).unwrap();
            }
        }
        switch.edge(&[0; 4], 0, 0, 0xF);
        for o in bits(switch.out_valid()) {
            golden.sent(o, 1, switch.out_word(o), true).unwrap();
        }
        golden.finish(0).unwrap();
    }
}
