//! Golden model of `emx_switch`: three inputs, three outputs, three virtual channels.
//!
//! It is told which packet left by which output, and says whether that was legal and what left.

use std::collections::VecDeque;

use thiserror::Error;

use super::route::{Path, channel_beyond};
use crate::emx::packet::Packet;
use crate::emx::regs::SIZE_CHANNELS;

/// Inputs and outputs: two links and the PE.
pub const PORTS: usize = 3;
/// The PE's port.
pub const PE: usize = 2;

const CHANNELS: usize = SIZE_CHANNELS as usize;

/// What no sound switch and no sound neighbour does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SwitchError {
    #[error("a packet came to input {input}, channel {channel}, where there is no room")]
    NoRoom { input: usize, channel: usize },
    #[error("a packet left from input {input}, channel {channel}, where there is none")]
    Nothing { input: usize, channel: usize },
    #[error("a packet of input {input} left by output {output}, its own is {own:?}")]
    Output {
        input: usize,
        output: usize,
        own: Option<usize>,
    },
}

/// Where a packet goes from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub output: usize,
    /// The channel beyond.
    pub channel: usize,
    /// As it leaves.
    pub packet: Packet,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    column: u32,
    /// Places for each input and channel.
    places: usize,
    held: [[VecDeque<Packet>; CHANNELS]; PORTS],
    /// Forged packets that had no way.
    pub drained: u16,
}

impl Switch {
    /// Empty; `places` is packets of each input and channel.
    pub fn new(column: u32, places: u32) -> Switch {
        Switch {
            column,
            places: places as usize,
            held: Default::default(),
            drained: 0,
        }
    }

    /// Where a packet goes; none: nowhere, it is drained.
    pub fn way(&self, packet: &Packet, channel: usize) -> Option<Way> {
        let path = Path(packet.pe);
        if path == Path::HERE {
            return Some(Way {
                output: PE,
                channel: 0,
                packet: *packet,
            });
        }
        let (output, rest) = path.next()?;
        let channel = channel_beyond(self.column, channel as u32)? as usize;
        Some(Way {
            output: output as usize,
            channel,
            packet: Packet { pe: rest.0, ..*packet },
        })
    }

    /// Room for a packet.
    pub fn has_room(&self, input: usize, channel: usize) -> bool {
        self.held[input][channel].len() < self.places
    }

    /// A whole packet came.
    ///
    /// # Errors
    /// There was no room.
    pub fn arrives(&mut self, input: usize, channel: usize, packet: Packet) -> Result<(), SwitchError> {
        if self.way(&packet, channel).is_none() {
            self.drained = self.drained.saturating_add(1);
            return Ok(());
        }
        if !self.has_room(input, channel) {
            return Err(SwitchError::NoRoom { input, channel });
        }
        self.held[input][channel].push_back(packet);
        Ok(())
    }

    /// The first packet of this input and channel left by `output`.
    ///
    /// # Errors
    /// It did not stand there, or had to go elsewhere.
    pub fn leaves(&mut self, input: usize, channel: usize, output: usize) -> Result<Way, SwitchError> {
        let packet = self.held[input][channel].pop_front();
        let packet = packet.ok_or(SwitchError::Nothing { input, channel })?;
        let way = self.way(&packet, channel);
        let own = way.map(|way| way.output);
        way.filter(|way| way.output == output)
            .ok_or(SwitchError::Output { input, output, own })
    }

    /// What may leave: input, channel and way of each packet.
    pub fn offers(&self) -> impl Iterator<Item = (usize, usize, Way)> {
        let places = (0..PORTS).flat_map(|input| (0..CHANNELS).map(move |channel| (input, channel)));
        places.filter_map(|(input, channel)| {
            let way = self.way(self.held[input][channel].front()?, channel)?;
            Some((input, channel, way))
        })
    }

    /// Holds it no packet?
    pub fn is_empty(&self) -> bool {
        self.held.iter().flatten().all(VecDeque::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(path: u16) -> Packet {
        Packet {
            pe: path,
            ..Packet::default()
        }
    }

    #[test]
    fn a_packet_goes_its_way_alone() {
        let mut switch = Switch::new(4, 1);
        switch.arrives(0, 1, on(0b101)).unwrap();
        assert!(!switch.has_room(0, 1) && switch.has_room(0, 0));
        let refused = SwitchError::NoRoom { input: 0, channel: 1 };
        assert_eq!(switch.clone().arrives(0, 1, on(1)), Err(refused));
        let wrong = switch.clone().leaves(0, 1, 0);
        let own = Some(1);
        assert_eq!(
            wrong,
            Err(SwitchError::Output {
                input: 0,
                output: 0,
                own
            })
        );
        let way = switch.leaves(0, 1, 1).unwrap();
        assert_eq!((way.output, way.channel, way.packet.pe), (1, 2, 0b10));
        assert!(switch.is_empty());
        assert_eq!(
            switch.leaves(0, 1, 1),
            Err(SwitchError::Nothing { input: 0, channel: 1 })
        );
    }

    #[test]
    fn forged_paths_are_drained() {
        let mut switch = Switch::new(4, 1);
        switch.arrives(1, 0, on(0)).unwrap();
        switch.arrives(1, 2, on(0b10)).unwrap();
        assert_eq!((switch.drained, switch.is_empty()), (2, true));
    }
}
