//! Golden model of `rtl/net/cut_through.sv`, cycle by cycle: packets of two words that go on as soon as there is room.

use std::collections::VecDeque;

/// A packet that comes, in the cycle of its word 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub channel: usize,
    /// None: nowhere.
    pub output: Option<usize>,
    /// The channel beyond.
    pub beyond: usize,
    /// As they leave.
    pub words: [u64; 2],
}

/// A word on the link of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Where it came from.
    pub input: usize,
    pub channel: usize,
    pub word: u64,
    pub last: bool,
}

/// Which packet of an input goes next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// The first of this channel.
    Channel(usize),
    /// None yet: word 1 of another leaves.
    Ending,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct CutThrough {
    channels: usize,
    /// For each input and channel.
    places: usize,
    held: Vec<Vec<VecDeque<Arrival>>>,
    /// Channels of each input, the least recently served first.
    turns: Vec<Vec<usize>>,
    /// Inputs by output, the least recently served first.
    order: Vec<Vec<usize>>,
    /// On the links: input, packet, and whether it is word 1.
    links: Vec<Option<(usize, Arrival, bool)>>,
    /// Packets that had no way or no room.
    pub drained: u16,
}

impl CutThrough {
    /// After a reset lower numbers go first.
    pub fn new(ports: usize, channels: usize, places: usize) -> CutThrough {
        CutThrough {
            channels,
            places,
            held: vec![vec![VecDeque::new(); channels]; ports],
            turns: vec![(0..channels).collect(); ports],
            order: vec![(0..ports).collect(); ports],
            links: vec![None; ports],
            drained: 0,
        }
    }

    /// This input has channel 0 alone.
    pub fn single(mut self, input: usize) -> CutThrough {
        self.held[input].truncate(1);
        self.turns[input].truncate(1);
        self
    }

    /// Room for a packet; a channel that does not exist has none.
    pub fn has_room(&self, input: usize, channel: usize) -> bool {
        self.held[input]
            .get(channel)
            .is_some_and(|held| held.len() < self.places)
    }

    /// What an output's link carries.
    pub fn leaving(&self, output: usize) -> Option<Leaving> {
        let leaving = |(input, packet, last): (usize, Arrival, bool)| Leaving {
            input,
            channel: packet.beyond,
            word: packet.words[usize::from(last)],
            last,
        };
        self.links[output].map(leaving)
    }

    /// Does a packet with this word 0 wait inside?
    pub fn holds(&self, word: u64) -> bool {
        self.held
            .iter()
            .flatten()
            .flatten()
            .any(|packet| packet.words[0] == word)
    }

    /// Nothing is inside.
    pub fn is_empty(&self) -> bool {
        let links = self.links.iter().all(Option::is_none);
        links && self.held.iter().flatten().all(VecDeque::is_empty)
    }

    /// A cycle: what begins to come to each input, and the channels with room beyond each output.
    pub fn step(&mut self, arrivals: &[Option<Arrival>], room: impl Fn(usize, usize) -> bool) {
        for (input, packet) in arrivals.iter().enumerate() {
            let Some(packet) = *packet else { continue };
            let good = packet.output.is_some() && packet.beyond < self.channels;
            if good && self.has_room(input, packet.channel) {
                self.held[input][packet.channel].push_back(packet);
            } else {
                self.drained = self.drained.saturating_add(1);
            }
        }
        let goes: Vec<_> = (0..self.held.len()).map(|input| self.goes(input, &room)).collect();
        for output in 0..self.links.len() {
            let first = self.order[output].iter().find_map(|&input| {
                let (outputs, choice) = &goes[input];
                outputs.contains(&output).then_some((input, *choice))
            });
            self.links[output] = match (self.links[output], first) {
                (Some((input, packet, false)), _) => Some((input, packet, true)),
                (_, Some((input, Choice::Channel(channel)))) => {
                    to_end(&mut self.order[output], input);
                    to_end(&mut self.turns[input], channel);
                    let packet = self.held[input][channel].pop_front().expect("it was chosen");
                    Some((input, packet, false))
                }
                _ => None,
            };
        }
    }

    /// The outputs for which an input stands, and what it has for them.
    fn goes(&self, input: usize, room: impl Fn(usize, usize) -> bool) -> (Vec<usize>, Choice) {
        let first = |output: usize| matches!(self.links[output], Some((_, _, false)));
        let could = |channel: &usize| {
            let packet = self.held[input][*channel].front()?;
            let output = packet.output?;
            (!first(output) && room(output, packet.beyond)).then_some((output, *channel))
        };
        let mut could = self.turns[input].iter().filter_map(could);
        let ending = self
            .links
            .iter()
            .flatten()
            .any(|(from, _, last)| *from == input && !last);
        if ending {
            return (could.map(|(output, _)| output).collect(), Choice::Ending);
        }
        could.next().map_or((Vec::new(), Choice::Ending), |(output, channel)| {
            (vec![output], Choice::Channel(channel))
        })
    }
}

/// This one was served.
fn to_end(order: &mut [usize], served: usize) {
    let at = order.iter().position(|one| *one == served).expect("it is one of them");
    order[at..].rotate_left(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(output: usize, word: u64) -> Option<Arrival> {
        Some(Arrival {
            channel: 0,
            output: Some(output),
            beyond: 1,
            words: [word, word + 1],
        })
    }

    #[test]
    fn a_packet_goes_on_at_once_and_whole() {
        let mut switch = CutThrough::new(2, 2, 1);
        switch.step(&[to(1, 5), None], |_, _| true);
        let leaving = |word, last| Leaving {
            input: 0,
            channel: 1,
            word,
            last,
        };
        assert_eq!(switch.leaving(1), Some(leaving(5, false)));
        // Room beyond counts for what begins only.
        switch.step(&[None, to(1, 8)], |_, _| false);
        assert_eq!(switch.leaving(1), Some(leaving(6, true)));
        assert!(!switch.has_room(1, 0) && switch.has_room(0, 0));
        switch.step(&[None, None], |_, channel| channel == 0);
        assert_eq!(switch.leaving(1), None);
        assert!(!switch.is_empty());
    }

    #[test]
    fn inputs_share_an_output() {
        let mut switch = CutThrough::new(3, 1, 2);
        let mut served = Vec::new();
        let arrival = |word| to(2, word).map(|packet| Arrival { beyond: 0, ..packet });
        for cycle in 0..24 {
            let arrivals: Vec<_> = (0..3)
                .map(|input| arrival(input).filter(|_| cycle % 2 == 0 && switch.has_room(input as usize, 0)))
                .collect();
            switch.step(&arrivals, |_, _| true);
            served.extend(switch.leaving(2).filter(|word| word.last).map(|word| word.input));
        }
        assert_eq!(served, [0, 1, 2].repeat(4)[..served.len()]);
        assert!(served.len() >= 11, "a packet in two cycles");
    }

    #[test]
    fn what_has_no_way_is_counted() {
        let mut switch = CutThrough::new(1, 1, 1);
        let nowhere = Arrival {
            channel: 0,
            output: None,
            beyond: 0,
            words: [0; 2],
        };
        let beyond = Arrival {
            beyond: 1,
            output: Some(0),
            ..nowhere
        };
        let channel = Arrival {
            channel: 3,
            output: Some(0),
            ..nowhere
        };
        for packet in [nowhere, beyond, channel] {
            switch.step(&[Some(packet)], |_, _| true);
        }
        assert_eq!((switch.drained, switch.is_empty()), (3, true));
    }
}
