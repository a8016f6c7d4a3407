//! Junk on inputs without meaning: it exposes a unit that reads them.

use crate::{PortInfo, UnitInfo};

/// A stream into a unit: its valid port, and the ports with its words.
pub(crate) struct Stream {
    valid: &'static PortInfo,
    words: Vec<Word>,
}

/// A port with a stream's words. If it is as many equal parts as there are valid bits, each part has its own.
struct Word {
    port: &'static PortInfo,
    parts: usize,
    /// Bits of a part.
    width: usize,
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
        let words = words.filter(|port| !is_control(port.name)).map(|port| {
            let parted = port.width.is_multiple_of(valid.width);
            let parts = if parted { valid.width } else { 1 };
            let width = port.width / parts;
            Word { port, parts, width }
        });
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
    /// Random bits where words do not count. A port without parts counts with any valid bit.
    pub(crate) fn spoil(&self, root: *mut u8, chance: &mut impl FnMut() -> u64) {
        // SAFETY: the offsets are the model's own; no reference into the ports is ever kept.
        let bytes = |port: &PortInfo| unsafe { std::slice::from_raw_parts_mut(root.add(port.offset), port.bytes) };
        let valid = bytes(self.valid);
        for &Word { port, parts, width } in &self.words {
            for part in 0..parts {
                let counts = if parts == self.valid.width {
                    valid[part / 8] >> (part % 8) & 1 != 0
                } else {
                    valid.iter().any(|byte| *byte != 0)
                };
                if !counts {
                    fill(bytes(port), part * width, width, chance);
                }
            }
        }
    }
}

/// Random bits from bit `at` on, `width` of them.
fn fill(bytes: &mut [u8], at: usize, width: usize, chance: &mut impl FnMut() -> u64) {
    let end = at + width - 1;
    let (first, last) = (at / 8, end / 8);
    let below = bytes[first] & !(0xff << (at % 8));
    let above = bytes[last] & !(0xff >> (7 - end % 8));
    for some in bytes[first..=last].chunks_mut(8) {
        some.copy_from_slice(&chance().to_le_bytes()[..some.len()]);
    }
    bytes[first] = bytes[first] & 0xff << (at % 8) | below;
    bytes[last] = bytes[last] & 0xff >> (7 - end % 8) | above;
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
