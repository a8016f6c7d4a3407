//! Golden model of `emx_output`: packets of the thread and answers of the input buffer, in the order taken.

use std::collections::VecDeque;

use crate::emx::packet::Packet;

/// The output buffer.
#[derive(Clone, Debug)]
pub struct Output {
    depth: usize,
    packets: VecDeque<Packet>,
}

impl Output {
    /// With depth 0 the thread hands its packet to the network itself: one place, taken while it does.
    pub fn new(depth: u32) -> Output {
        Output {
            depth: depth.max(1) as usize,
            packets: VecDeque::new(),
        }
    }

    /// May a packet be put in?
    pub fn has_room(&self) -> bool {
        self.packets.len() < self.depth
    }

    /// The same beside an answer that has its place already.
    pub fn has_more_room(&self) -> bool {
        self.packets.len() + 1 < self.depth
    }

    /// # Panics
    /// It has no room.
    pub fn put(&mut self, packet: Packet) {
        assert!(self.has_room(), "a packet for a full output buffer");
        self.packets.push_back(packet);
    }

    /// The packet that leaves next.
    pub fn next(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// It went into the network.
    pub fn take(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_order() {
        let mut output = Output::new(2);
        let packet = |data| Packet {
            data,
            ..Packet::default()
        };
        assert!(output.has_more_room());
        output.put(packet(1));
        assert!(output.has_room() && !output.has_more_room());
        output.put(packet(2));
        assert!(!output.has_room());
        assert_eq!(output.take().map(|p| p.data), Some(1));
        assert_eq!(output.next().map(|p| p.data), Some(2));
        assert!(Output::new(0).has_room());
    }
}
