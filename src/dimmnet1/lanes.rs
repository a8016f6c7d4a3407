//! What the lanes of a wave say of DIMMnet-1.

use super::golden::packet::Header;
use super::names::{REGISTERS, TYPES};
use crate::harness::lane::Terms;

pub const TERMS: Terms = Terms {
    registers: REGISTERS.values,
    links: &[""],
    packet,
    ..Terms::PLAIN
};

/// Word 0 has type, length and destination.
fn packet(words: &[u64]) -> Option<String> {
    let Header { kind, length, dst, .. } = Header::decode(words.get(..1)?);
    let mut types = TYPES.values.iter();
    let name = types.find(|(code, _)| *code == u64::from(kind)).map(|(_, name)| *name);
    let name = name.map_or_else(|| format!("type {kind}"), str::to_owned);
    Some(format!("{name} {length} B to PE {dst}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimmnet1::golden::packet::{Packet, Place};
    use crate::dimmnet1::regs::TYPE_PUSH;

    #[test]
    fn a_packet_is_named_by_its_type_length_and_destination() {
        let header = |kind| Header {
            kind,
            flags: 0,
            src: 1,
            dst: 2,
            length: 64,
            pgid: 3,
            tag: 4,
            seq: 5,
            place: Place::of(0),
            soft: [0; 3],
        };
        let told = |kind| packet(&Packet::new(&header(kind), &[0; 64]).words);
        assert_eq!(told(TYPE_PUSH).as_deref(), Some("PUSH 64 B to PE 2"));
        assert_eq!(told(31).as_deref(), Some("type 31 64 B to PE 2"));
        assert_eq!(packet(&[]), None);
    }
}
