//! Golden wormhole switch: told what its ports committed and which input won, it says whether that was allowed.
//!
//! The contract, not the gates: a packet leaves whole, unmixed, in its input's order, by the output that its first word
//! names; an output serves its inputs fairly; a packet that names no output is counted. When it leaves is not the model's
//! business.

use std::collections::VecDeque;

use thiserror::Error;

use super::topology::Omega;

/// A word that a switch committed against its contract.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SwitchError {
    #[error("output {output}: word {got:#x} said to be from input {source_port}, which has nothing for this output")]
    Nothing {
        output: usize,
        source_port: usize,
        got: u64,
    },
    #[error(
        "output {output}: from input {source_port} expected {expected:#x} last={expected_last}, got {got:#x} last={got_last}"
    )]
    Word {
        output: usize,
        source_port: usize,
        expected: u64,
        expected_last: bool,
        got: u64,
        got_last: bool,
    },
    #[error("output {output}: a word of input {source_port} inside a packet of input {owner}")]
    Mixed {
        output: usize,
        source_port: usize,
        owner: usize,
    },
    #[error("output {output}: input {source_port} was passed over by {packets} packets, allowed are {bound}")]
    Unfair {
        output: usize,
        source_port: usize,
        packets: u64,
        bound: u64,
    },
    #[error("{words} words are still inside, the first from input {source_port} for output {output}")]
    Left {
        words: usize,
        source_port: usize,
        output: usize,
    },
    #[error("{counted} packets counted as unroutable, {expected} were")]
    Unroutable { counted: u64, expected: u64 },
}

/// A word on its way, with the number of packets its output had finished when it could first compete.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    word: u64,
    last: bool,
    since: u64,
}

#[derive(Clone, Debug)]
struct Input {
    /// Output of the packet being taken in, `None` between packets.
    taking: Option<Option<usize>>,
    /// Words of this input inside the switch.
    inside: usize,
}

#[derive(Clone, Debug, Default)]
struct Output {
    /// Input of the packet being sent.
    owner: Option<usize>,
    /// Packets sent.
    finished: u64,
}

/// One switch.
#[derive(Clone, Debug)]
pub struct GoldenSwitch {
    radix: usize,
    shift: usize,
    /// The output that each value of the digit names.
    routes: Vec<Option<usize>>,
    bound: u64,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Words from input `i` to output `o`, at `i * radix + o`.
    queues: Vec<VecDeque<Waiting>>,
    unroutable: u64,
}

impl GoldenSwitch {
    /// A switch of `radix` ports that routes by digit `digit` of a packet's first word. A packet at the head of its input
    /// may be passed over by `bound` packets of other inputs, those that the output had already chosen included.
    pub fn new(radix: usize, digit: usize, bound: u64) -> GoldenSwitch {
        let values = radix.next_power_of_two();
        let routes = (0..values).map(|value| (value < radix).then_some(value)).collect();
        let bits = values.trailing_zeros() as usize;
        GoldenSwitch::routed(radix, digit * bits, routes, bound)
    }

    /// A whole network as one switch of all its ports, of which nothing is said on fairness.
    pub fn network(shape: Omega) -> GoldenSwitch {
        let mut routes = vec![None; 1 << (shape.stages() * shape.digit_bits())];
        for port in 0..shape.ports() {
            routes[shape.tag(port) as usize] = Some(port);
        }
        GoldenSwitch::routed(shape.ports(), 0, routes, u64::MAX)
    }

    /// `routes` has a power of two of entries.
    fn routed(radix: usize, shift: usize, routes: Vec<Option<usize>>, bound: u64) -> GoldenSwitch {
        GoldenSwitch {
            radix,
            shift,
            routes,
            bound,
            inputs: vec![
                Input {
                    taking: None,
                    inside: 0
                };
                radix
            ],
            outputs: vec![Output::default(); radix],
            queues: vec![VecDeque::new(); radix * radix],
            unroutable: 0,
        }
    }

    /// Input `input` took a word.
    pub fn took(&mut self, input: usize, word: u64, last: bool) {
        let named = (word >> self.shift) as usize & (self.routes.len() - 1);
        let output = self.inputs[input].taking.unwrap_or(self.routes[named]);
        self.inputs[input].taking = (!last).then_some(output);
        match output {
            Some(output) => {
                let since = self.outputs[output].finished;
                self.queues[input * self.radix + output].push_back(Waiting { word, last, since });
                self.inputs[input].inside += 1;
            }
            None => self.unroutable += u64::from(last),
        }
    }

    /// Output `output` sent a word that it took from input `source`.
    pub fn sent(&mut self, output: usize, source: usize, word: u64, last: bool) -> Result<(), SwitchError> {
        let source_port = source;
        if let Some(owner) = self.outputs[output].owner
            && owner != source
        {
            return Err(SwitchError::Mixed {
                output,
                source_port,
                owner,
            });
        }
        let waiting = (source < self.radix)
            .then(|| self.queues[source * self.radix + output].pop_front())
            .flatten();
        let Some(expected) = waiting else {
            return Err(SwitchError::Nothing {
                output,
                source_port,
                got: word,
            });
        };
        if (word, last) != (expected.word, expected.last) {
            return Err(SwitchError::Word {
                output,
                source_port,
                expected: expected.word,
                expected_last: expected.last,
                got: word,
                got_last: last,
            });
        }
        let to = &mut self.outputs[output];
        let packets = to.finished - expected.since;
        if to.owner.is_none() && packets > self.bound {
            return Err(SwitchError::Unfair {
                output,
                source_port,
                packets,
                bound: self.bound,
            });
        }
        to.owner = (!last).then_some(source);
        to.finished += u64::from(last);
        self.inputs[source].inside -= 1;
        // Words behind this one can compete only from now on.
        for (o, to) in self.outputs.iter().enumerate() {
            if let Some(next) = self.queues[source * self.radix + o].front_mut() {
                next.since = to.finished;
            }
        }
        Ok(())
    }

    /// Packets taken so far that name no output.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// At the end of a run: nothing is inside, and the switch counted what it could not route.
    pub fn finish(&self, counted: u64) -> Result<(), SwitchError> {
        if let Some(at) = self.queues.iter().position(|q| !q.is_empty()) {
            let words = self.inputs.iter().map(|i| i.inside).sum();
            return Err(SwitchError::Left {
                words,
                source_port: at / self.radix,
                output: at % self.radix,
            });
        }
        if counted != self.unroutable {
            return Err(SwitchError::Unroutable {
                counted,
                expected: self.unroutable,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orderly_switch_passes() {
        let mut golden = GoldenSwitch::new(2, 0, 1);
        golden.took(0, 0x11, false);
        golden.took(1, 0x21, true);
        golden.took(0, 0x10, true);
        assert_eq!(golden.sent(1, 0, 0x11, false), Ok(()));
        assert_eq!(golden.sent(1, 0, 0x10, true), Ok(()));
        assert_eq!(golden.sent(1, 1, 0x21, true), Ok(()));
        assert_eq!(golden.finish(0), Ok(()));
    }

    #[test]
    fn a_network_routes_by_whole_tags() {
        let shape = Omega::new(3, 2);
        let mut golden = GoldenSwitch::network(shape);
        golden.took(8, 0xF0 | shape.tag(5), true);
        golden.took(8, 0xF0 | 0b11_00, true);
        assert_eq!(golden.sent(5, 8, 0xF0 | shape.tag(5), true), Ok(()));
        assert_eq!(golden.finish(1), Ok(()));
    }

    #[test]
    fn each_fault_has_its_name() {
        let mut golden = GoldenSwitch::new(3, 0, 1);
        golden.took(0, 0x11, false);
        golden.took(1, 0x21, true);
        golden.took(2, 0x33, true);
        let fresh = golden.clone();
        assert!(matches!(
            golden.sent(2, 0, 0x11, false),
            Err(SwitchError::Nothing { .. })
        ));
        assert!(matches!(golden.sent(1, 1, 0x25, true), Err(SwitchError::Word { .. })));
        let mut golden = fresh.clone();
        assert_eq!(golden.sent(1, 0, 0x11, false), Ok(()));
        assert!(matches!(
            golden.sent(1, 1, 0x21, true),
            Err(SwitchError::Mixed { owner: 0, .. })
        ));
        let mut golden = fresh.clone();
        for _ in 0..2 {
            golden.took(2, 0x1, true);
            assert_eq!(golden.sent(1, 2, 0x1, true), Ok(()));
        }
        assert!(matches!(
            golden.sent(1, 1, 0x21, true),
            Err(SwitchError::Unfair { packets: 2, .. })
        ));
        assert!(matches!(fresh.finish(1), Err(SwitchError::Left { words: 2, .. })));
        let mut golden = GoldenSwitch::new(3, 0, 1);
        golden.took(2, 0x33, true);
        assert!(matches!(
            golden.finish(0),
            Err(SwitchError::Unroutable {
                counted: 0,
                expected: 1
            })
        ));
    }
}
