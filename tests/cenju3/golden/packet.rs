//! Headers and packets of any content come back from their bits as they were, and any parcel is cut into its bytes.

use proptest::prelude::*;
use support::property::holds;
use support::this_test;
use tsunagi::Addr;
use tsunagi::cenju3::golden::packet::{HEAD_FLITS, Kind, Packet, PacketHeader, ParcelHeader, body_flits, split};
use tsunagi::cenju3::regs::*;

const REGRESSIONS: &str = "tests/cenju3/regressions/packet.txt";

prop_compose! {
    /// A parcel the Sender takes.
    fn any_parcel()(
        kind in proptest::sample::select(&Kind::ALL[..]), arr: bool, end: bool, dst: u8, len in 1..=PARCEL_BODY_MAX,
        short in 1..=PACKET_BODY_MAX, body in 0..1024u32, dest in 0..1u32 << 20, soft: [u32; 2],
    ) -> ParcelHeader {
        let bytes = if kind == Kind::Dma { len } else { short };
        let [body, dest] = [body, dest].map(|place| Addr(place * ALIGN_BYTES));
        ParcelHeader { kind, arr, end, dst, bytes, body, dest, soft }
    }
}

/// Both are the same, or what differs.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want {
        Ok(())
    } else {
        Err(format!("{what}: got {got:x?}, not {want:x?}"))
    }
}

#[test]
fn parcel_headers_come_back() {
    holds(this_test!(), REGRESSIONS, 256, any_parcel(), |_, parcel, _| {
        same("parcel header", ParcelHeader::decode(&parcel.encode()), Ok(*parcel))
    });
}

#[test]
fn packets_come_back() {
    let strategy = (any_parcel(), any::<u8>(), 0..2u8, any::<u8>());
    holds(
        this_test!(),
        REGRESSIONS,
        256,
        strategy,
        |case, &(parcel, src, queue, index), _| {
            for plan in split(parcel, src, queue, index).take(2) {
                let mut body = vec![0; plan.header.bytes as usize];
                case.rng("body").fill(&mut body);
                let packet = plan.with_body(&body);
                let flits = packet.flits();
                same("flits", flits.len(), HEAD_FLITS + body_flits(plan.header.bytes))?;
                same("packet", Packet::from_flits(&flits), Ok(packet))?;
            }
            Ok::<(), String>(())
        },
    );
}

#[test]
fn any_header_bytes_decode_or_say_why() {
    holds(this_test!(), REGRESSIONS, 256, any::<[u8; 16]>(), |_, bytes, _| {
        let mut bytes = *bytes;
        bytes[0] &= 3;
        bytes[5] &= 3;
        bytes[8] &= 0x30;
        match PacketHeader::decode(&bytes) {
            Ok(header) => same("header", PacketHeader::decode(&header.encode()), Ok(header)),
            Err(_) => Ok(()),
        }
    });
}

#[test]
fn split_covers_every_byte_once() {
    holds(this_test!(), REGRESSIONS, 256, any_parcel(), |_, parcel, _| {
        let mut at = 0;
        let all: Vec<_> = split(*parcel, 9, 1, 77).collect();
        for (k, p) in all.iter().enumerate() {
            let last = k + 1 == all.len();
            same("body", p.body, parcel.body.offset(at))?;
            same("bytes in range", (1..=PACKET_BODY_MAX).contains(&p.header.bytes), true)?;
            if parcel.kind == Kind::Dma {
                same("destination", p.header.dest, parcel.dest.0 + at)?;
            }
            same("flags", (p.header.last, p.header.end), (last, last && parcel.end))?;
            same("number", p.header.seq, k as u8)?;
            at += p.header.bytes;
        }
        same("bytes", at, parcel.bytes)
    });
}
