//! Golden model of `emx_switch`: which way a packet goes. How it goes is [`CutThrough`](crate::net::cut_through)'s.

use super::route::{Path, channel_beyond};
use crate::emx::packet::Packet;

/// Inputs and outputs: two links and the PE.
pub const PORTS: usize = 3;
/// The PE's port.
pub const PE: usize = 2;

/// Where a packet goes from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub output: usize,
    /// The channel beyond.
    pub channel: usize,
    /// As it leaves.
    pub packet: Packet,
}

/// Where a switch of this column sends a packet of a channel; none: nowhere, only forged paths lead there.
pub fn way(column: u32, packet: &Packet, channel: usize) -> Option<Way> {
    let path = Path(packet.pe);
    if path == Path::HERE {
        return Some(Way {
            output: PE,
            channel: 0,
            packet: *packet,
        });
    }
    let (output, rest) = path.next()?;
    Some(Way {
        output: output as usize,
        channel: channel_beyond(column, channel as u32)? as usize,
        packet: Packet { pe: rest.0, ..*packet },
    })
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
    fn a_packet_goes_by_the_lowest_bit_of_its_path() {
        let of =
            |column, path, channel| way(column, &on(path), channel).map(|way| (way.output, way.channel, way.packet));
        assert_eq!(of(3, 0b101, 1), Some((1, 1, on(0b10))));
        assert_eq!(of(4, 0b110, 1), Some((0, 2, on(0b11))));
        assert_eq!(of(4, 1, 2), Some((PE, 0, on(1))));
    }

    #[test]
    fn forged_paths_lead_nowhere() {
        assert_eq!(way(2, &on(0), 0), None);
        assert_eq!(way(4, &on(0b10), 2), None);
    }
}
