//! Omega networks of any radix and stage count: wiring, routing, and which switches a smaller machine needs.
//!
//! Positions at a boundary between columns are numbers of `stages` digits of base `radix`. Before each column a perfect
//! shuffle moves the top digit to the bottom; then switch `row` owns positions `row * radix ..`, and a packet leaves at
//! the output that its destination's digit `stages - 1 - stage` names. Textbook wiring; the paper names only 4x4
//! switches.

/// A network's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omega {
    radix: usize,
    stages: usize,
}

/// A switch by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchAt {
    pub stage: usize,
    pub row: usize,
}

/// Where a switch's output leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// To this input of a switch of the next column.
    Switch(SwitchAt, usize),
    /// Out of the network, at this port.
    Port(usize),
}

/// One switch of a path, with the input and the output the path uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub switch: SwitchAt,
    pub input: usize,
    pub output: usize,
}

impl Omega {
    /// `stages` columns of `radix` x `radix` switches; `radix` at least 2, `stages` at least 1.
    pub fn new(radix: usize, stages: usize) -> Omega {
        assert!(
            radix >= 2 && stages >= 1,
            "an omega network has radix >= 2 and stages >= 1"
        );
        Omega { radix, stages }
    }

    pub fn radix(self) -> usize {
        self.radix
    }

    pub fn stages(self) -> usize {
        self.stages
    }

    pub fn ports(self) -> usize {
        self.radix.pow(self.stages as u32)
    }

    /// Switches in one column.
    pub fn rows(self) -> usize {
        self.ports() / self.radix
    }

    /// Bits that one digit takes in a packet's first word.
    pub fn digit_bits(self) -> usize {
        self.radix.next_power_of_two().trailing_zeros() as usize
    }

    /// The digit that the switches of `stage` route by; 0 is the lowest.
    pub fn digit_of_stage(self, stage: usize) -> usize {
        self.stages - 1 - stage
    }

    /// Digit `digit` of a port number.
    pub fn digit(self, port: usize, digit: usize) -> usize {
        port / self.radix.pow(digit as u32) % self.radix
    }

    /// The low bits of a first word that lead to `port`; the port number itself where the radix is a power of two.
    pub fn tag(self, port: usize) -> u64 {
        (0..self.stages)
            .map(|d| (self.digit(port, d) as u64) << (d * self.digit_bits()))
            .sum()
    }

    fn shuffle(self, position: usize) -> usize {
        position * self.radix % self.ports() + position / self.rows()
    }

    /// The switch and input that network input `port` enters.
    pub fn entry(self, port: usize) -> (SwitchAt, usize) {
        self.input_at(0, port)
    }

    fn input_at(self, stage: usize, position: usize) -> (SwitchAt, usize) {
        let at = self.shuffle(position);
        (
            SwitchAt {
                stage,
                row: at / self.radix,
            },
            at % self.radix,
        )
    }

    /// Where `output` of a switch leads.
    pub fn hop(self, switch: SwitchAt, output: usize) -> Hop {
        let position = switch.row * self.radix + output;
        if switch.stage + 1 == self.stages {
            return Hop::Port(position);
        }
        let (next, input) = self.input_at(switch.stage + 1, position);
        Hop::Switch(next, input)
    }

    /// The only path from input port `from` to output port `to`.
    pub fn path(self, from: usize, to: usize) -> Vec<Step> {
        let (mut switch, mut input) = self.entry(from);
        let mut steps = Vec::with_capacity(self.stages);
        loop {
            let output = self.digit(to, self.digit_of_stage(switch.stage));
            steps.push(Step { switch, input, output });
            match self.hop(switch, output) {
                Hop::Switch(next, at) => (switch, input) = (next, at),
                Hop::Port(_) => return steps,
            }
        }
    }

    /// The switches on any path between the first `live` ports, by stage and row.
    pub fn reachable(self, live: usize) -> Vec<SwitchAt> {
        assert!(live <= self.ports(), "{live} live ports of {}", self.ports());
        let mut used = vec![false; self.stages * self.rows()];
        for (from, to) in (0..live).flat_map(|from| (0..live).map(move |to| (from, to))) {
            for step in self.path(from, to) {
                used[step.switch.stage * self.rows() + step.switch.row] = true;
            }
        }
        let at = |i: usize| SwitchAt {
            stage: i / self.rows(),
            row: i % self.rows(),
        };
        used.iter()
            .enumerate()
            .filter(|(_, used)| **used)
            .map(|(i, _)| at(i))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SHAPES: [(usize, usize); 6] = [(2, 1), (2, 3), (3, 2), (4, 2), (4, 4), (8, 2)];

    #[test]
    fn every_path_ends_at_its_destination() {
        for (radix, stages) in SHAPES {
            let net = Omega::new(radix, stages);
            for (from, to) in (0..net.ports()).flat_map(|f| (0..net.ports()).map(move |t| (f, t))) {
                let path = net.path(from, to);
                assert_eq!(path.len(), stages);
                let last = path[stages - 1];
                assert_eq!(
                    net.hop(last.switch, last.output),
                    Hop::Port(to),
                    "{radix}^{stages}: {from} to {to}"
                );
            }
        }
    }

    /// Each link is entered from one place only, so nothing is wired twice and nothing is left open.
    #[test]
    fn every_input_has_one_source() {
        for (radix, stages) in SHAPES {
            let net = Omega::new(radix, stages);
            let mut seen: BTreeSet<(SwitchAt, usize)> = (0..net.ports()).map(|p| net.entry(p)).collect();
            for stage in 0..stages - 1 {
                for (row, output) in (0..net.rows()).flat_map(|r| (0..radix).map(move |o| (r, o))) {
                    let Hop::Switch(next, input) = net.hop(SwitchAt { stage, row }, output) else {
                        panic!()
                    };
                    assert!(seen.insert((next, input)));
                }
            }
            assert_eq!(seen.len(), stages * net.ports());
        }
    }

    /// No routing deadlock: what holds a link waits only for links of later columns.
    #[test]
    fn channel_dependencies_have_no_cycle() {
        let net = Omega::new(4, 4);
        for (from, to) in (0..net.ports()).flat_map(|f| (0..net.ports()).map(move |t| (f, t))) {
            assert!(
                net.path(from, to)
                    .windows(2)
                    .all(|pair| pair[0].switch.stage < pair[1].switch.stage)
            );
        }
    }

    /// A radix of two, by another rule: the network of the XOR-free textbook picture, position after s shuffles and
    /// digits.
    #[test]
    fn path_agrees_with_bit_arithmetic() {
        let net = Omega::new(2, 5);
        for (from, to) in (0..32).flat_map(|f| (0..32).map(move |t| (f, t))) {
            for (s, step) in net.path(from, to).into_iter().enumerate() {
                let both = from << 5 | to;
                let position = both >> (4 - s) & 31;
                assert_eq!((step.switch.row, step.output), (position >> 1, position & 1));
            }
        }
    }

    #[test]
    fn a_small_machine_needs_few_switches() {
        let net = Omega::new(4, 4);
        assert_eq!(net.reachable(256).len(), 256);
        assert_eq!(net.reachable(1).len(), 4);
        let two = net.reachable(2);
        assert!(two.len() < 16, "{} switches for two ports", two.len());
        assert_eq!(Omega::new(3, 2).tag(5), 0b01_10);
    }
}
