//! What the lanes of a wave say of Cenju-3.

use super::golden::packet::{Route, get};
use super::names::REGISTERS as REGISTER_NAMES;
use super::regs::*;
use super::window::REGISTERS;
use crate::harness::lane::Terms;

pub const TERMS: Terms = Terms {
    registers: REGISTER_NAMES.values,
    links: &[""],
    packet,
    causes,
};

/// The route flit has kind and destination, the first three words of the header have the length.
fn packet(words: &[u64]) -> Option<String> {
    let &[route, .., body] = words.get(..4)? else {
        return None;
    };
    let Ok(Route { dst, kind, .. }) = Route::decode(route as u16) else {
        return Some("with a bad head".into());
    };
    let bytes = get(PACKET_BODY_BYTES_MASK, body as u32);
    Some(format!("{kind:?} {bytes} B to PE {dst}"))
}

/// What R_STAT tells the kernel.
fn causes(addr: u64, value: u64) -> String {
    const CAUSES: [(u32, &str); 8] = [
        (R_STAT_ARRIVAL_MASK, "arrival"),
        (R_STAT_END_MASK, "end"),
        (R_STAT_OVERFLOW_MASK, "overflow"),
        (R_STAT_BAD_HEADER_MASK, "bad header"),
        (R_STAT_BUS_ERROR_MASK, "bus error"),
        (R_STAT_TRUNCATED_MASK, "truncated"),
        (R_STAT_OVERLONG_MASK, "overlong"),
        (R_STAT_SEND_ERROR_MASK, "send error"),
    ];
    if addr != REGISTERS + u64::from(R_STAT) {
        return String::new();
    }
    let told = CAUSES.iter().filter(|(mask, _)| value as u32 & mask != 0);
    told.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cenju3::golden::packet::{Kind, PacketHeader, to_flits};

    #[test]
    fn a_packet_is_named_by_its_kind_length_and_destination() {
        let route = Route {
            dst: 5,
            priority: false,
            kind: Kind::Dma,
            arr: false,
            end: true,
        };
        let header = PacketHeader {
            kind: Kind::Dma,
            arr: false,
            end: true,
            last: true,
            priority: false,
            src: 3,
            seq: 7,
            bytes: 512,
            index: 1,
            queue: 1,
            dest: 0x40,
            soft1: 0,
        };
        let mut words = vec![u64::from(route.encode())];
        words.extend(to_flits(&header.encode()).map(u64::from));
        assert_eq!((packet(&[]), packet(&words[..3])), (None, None));
        assert_eq!(packet(&words[..4]).as_deref(), Some("Dma 512 B to PE 5"));
        assert_eq!(packet(&[0xffff, 0, 0, 0]).as_deref(), Some("with a bad head"));
    }

    #[test]
    fn causes_are_those_of_the_status() {
        let told = |value: u32| causes(R_STAT.into(), value.into());
        assert_eq!(
            told(R_STAT_ARRIVAL_MASK | R_STAT_END_MASK | R_STAT_HALTED_MASK),
            "arrival, end"
        );
        assert_eq!(
            (told(0), causes(S_STAT.into(), u64::MAX)),
            (String::new(), String::new())
        );
    }
}
