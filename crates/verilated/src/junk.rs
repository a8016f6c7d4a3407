//! Junk on inputs without meaning: it exposes a unit that reads them.

use crate::{PortInfo, UnitInfo};

/// A stream into a unit: its valid port, and the ports with its words.
pub(crate) struct Stream {
    valid: &'static PortInfo,
    words: Vec<&'static PortInfo>,
}

/// The streams into a unit, by the names of its ports: `a_valid_i` belongs to `a_data_i`, `a_last_i`, …; in AXI,
/// `s_axis_tvalid` belongs to `s_axis_tdata`. An input belongs to the stream with which it shares most of its name.
pub(crate) fn streams(unit: &UnitInfo) -> Vec<Stream> {
    let inputs = || unit.ports.iter().filter(|port| !port.output);
    let valids = || inputs().filter_map(|port| Some((prefix(port.name)?, port)));
    let stream = |(own, valid): (&str, &'static PortInfo)| {
        let is_own = |name: &str| {
            let longest = valids().map(|(other, _)| other).filter(|other| name.starts_with(other));
            longest.max_by_key(|other| other.len()) == Some(own)
        };
        let words = inputs().filter(|port| is_own(port.name) && !unit.clocks.contains(&port.name));
        let words = words.filter(|port| !is_control(port.name));
        Stream {
            valid,
            words: words.collect(),
        }
    };
    valids().map(stream).collect()
}

/// The prefix of the names of a stream's ports.
fn prefix(valid: &str) -> Option<&str> {
    let stem = valid.strip_suffix("_i").unwrap_or(valid);
    stem.strip_suffix("valid").filter(|prefix| !prefix.is_empty())
}

/// Whether a port belongs to a handshake, `a_valid_i` or `s_axi_awready`, or is a reset: `rst_i`, `io_rst_i`.
fn is_control(name: &str) -> bool {
    let stem = name.strip_suffix("_i").unwrap_or(name);
    stem.ends_with("valid") || stem.ends_with("ready") || stem.split('_').next_back() == Some("rst")
}

impl Stream {
    /// Random bits where words do not count. A port of as many equal parts as there are valid bits has one part per
    /// bit; all bits share any other port.
    pub(crate) fn spoil(&self, root: *mut u8, chance: &mut impl FnMut() -> u64) {
        // SAFETY: the offsets are the model's own; no reference into the ports is ever kept.
        let bytes = |port: &PortInfo| unsafe { std::slice::from_raw_parts_mut(root.add(port.offset), port.bytes) };
        let valid = bytes(self.valid);
        for port in &self.words {
            let lanes = match self.valid.width {
                lanes if port.width.is_multiple_of(lanes) => lanes,
                _ if valid.iter().all(|byte| *byte == 0) => 1,
                _ => continue,
            };
            let width = port.width / lanes;
            for lane in (0..lanes).filter(|lane| valid[lane / 8] >> (lane % 8) & 1 == 0) {
                fill(bytes(port), lane * width, width, chance);
            }
        }
    }
}

/// Random bits from bit `at` on, `width` of them.
fn fill(bytes: &mut [u8], mut at: usize, width: usize, chance: &mut impl FnMut() -> u64) {
    let (end, mut bits, mut left) = (at + width, 0, 0);
    while at < end {
        if left < 8 {
            (bits, left) = (chance(), 64);
        }
        let some = (8 - at % 8).min(end - at);
        let mask = (0xff >> (8 - some) << (at % 8)) as u8;
        let byte = &mut bytes[at / 8];
        *byte = *byte & !mask | bits as u8 & mask;
        (at, bits, left) = (at + some, bits >> 8, left - 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bits_that_are_meant_change() {
        for (at, width) in [(0, 1), (3, 5), (5, 6), (0, 64), (7, 50)] {
            let mut seen = 0u128;
            for seed in 1..100u64 {
                let mut chance = || seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut bytes = [0; 16];
                fill(&mut bytes, at, width, &mut chance);
                seen |= u128::from_le_bytes(bytes);
            }
            assert_eq!(seen, ((1 << width) - 1) << at, "{at} {width}");
        }
    }

    #[test]
    fn streams_are_reported_by_name() {
        assert_eq!(prefix("in_valid_i"), Some("in_"));
        assert_eq!(prefix("s_axi_awvalid"), Some("s_axi_aw"));
        assert_eq!((prefix("valid_i"), prefix("in_data_i")), (None, None));
        let controls = ["in_valid_i", "s_axi_awready", "rst_i", "io_rst_i"];
        assert!(controls.into_iter().all(is_control));
        let words = ["in_data_i", "s_axi_awburst", "first_i", "s_axis_tlast"];
        assert!(!words.into_iter().any(is_control));
    }
}
