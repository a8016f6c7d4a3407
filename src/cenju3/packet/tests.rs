//! Round trips, cutting, and what is refused.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::harness::seed::Seed;

fn any_kind() -> impl Strategy<Value = Kind> {
    proptest::sample::select(&Kind::ALL[..])
}

prop_compose! {
    /// A parcel the Sender takes.
    fn any_parcel()(
        kind in any_kind(), arr: bool, end: bool, dst: u8, len in 1..=PARCEL_BODY_MAX, short in 1..=PACKET_BODY_MAX,
        body in 0..1024u32, dest in 0..1u32 << 20, soft: [u32; 2],
    ) -> ParcelHeader {
        let bytes = if kind == Kind::Dma { len } else { short };
        ParcelHeader { kind, arr, end, dst, bytes, body: Addr(body * ALIGN_BYTES), dest: Addr(dest * ALIGN_BYTES), soft }
    }
}

fn packets(parcel: ParcelHeader) -> Vec<PacketPlan> {
    split(parcel, 9, 1, 77).collect()
}

#[test]
fn a_full_parcel_is_256_packets_and_only_the_last_ends_it() {
    let parcel = ParcelHeader {
        kind: Kind::Dma,
        arr: true,
        end: true,
        dst: 3,
        bytes: PARCEL_BODY_MAX,
        body: Addr(0x4000),
        dest: Addr(0x8000),
        soft: [1, 2],
    };
    let packets = packets(parcel);
    assert_eq!(packets.len(), 256);
    for (k, p) in packets.iter().enumerate() {
        let last = k == 255;
        assert_eq!(
            (p.header.last, p.header.end, p.header.arr, p.route.end, p.route.arr),
            (last, last, last, last, last)
        );
        assert_eq!(
            (p.header.bytes, p.header.dest, p.body.0),
            (512, 0x8000 + 512 * k as u32, 0x4000 + 512 * k as u32)
        );
    }
}

#[test]
fn a_packet_is_nine_flits_and_its_body() {
    let parcel = ParcelHeader {
        kind: Kind::Msg1,
        arr: false,
        end: true,
        dst: 5,
        bytes: 3,
        body: Addr(0),
        dest: Addr(0),
        soft: [0x1122_3344, 0x5566_7788],
    };
    let flits = packets(parcel)[0].with_body(&[0xaa, 0xbb, 0xcc]).flits();
    let expected = [
        0x1205, // route: END, kind 1, PE 5
        0x0601, 0x0009, // kind 1, END and last; from PE 9, packet 0
        0x0003, 0x014d, // 3 bytes; queue 1, index 77
        0x3344, 0x1122, 0x7788, 0x5566, // software words
        0xbbaa, 0x00cc,
    ];
    assert_eq!(flits, expected);
}

#[test]
fn illegal_parcels_are_refused_with_their_status() {
    let good = ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 0,
        bytes: 513,
        body: Addr(32),
        dest: Addr(64),
        soft: [0; 2],
    };
    assert_eq!(good.check(), Ok(()));
    assert_eq!(ParcelHeader { bytes: 0, ..good }.check(), Err(Status::ZeroLength));
    assert_eq!(
        ParcelHeader {
            bytes: PARCEL_BODY_MAX + 1,
            ..good
        }
        .check(),
        Err(Status::TooLong)
    );
    assert_eq!(
        ParcelHeader {
            kind: Kind::Msg0,
            ..good
        }
        .check(),
        Err(Status::MessageTooLong)
    );
    assert_eq!(
        ParcelHeader {
            body: Addr(33),
            dest: Addr(1),
            ..good
        }
        .check(),
        Err(Status::BodyMisaligned)
    );
    assert_eq!(
        ParcelHeader { dest: Addr(80), ..good }.check(),
        Err(Status::DestMisaligned)
    );
    assert_eq!(
        ParcelHeader {
            kind: Kind::Msg0,
            bytes: 1,
            dest: Addr(1),
            ..good
        }
        .check(),
        Ok(()),
        "a message has no destination"
    );
    let mut bytes = good.encode();
    bytes[0] = 3;
    assert_eq!(ParcelHeader::decode(&bytes), Err(Status::BadKind));
}

#[test]
fn illegal_packets_are_refused_with_the_reason() {
    let parcel = ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 0,
        bytes: 7,
        body: Addr(32),
        dest: Addr(64),
        soft: [0; 2],
    };
    let good = packets(parcel)[0].with_body(&[1; 7]).flits();
    let with = |at: usize, flit: u16| {
        let mut flits = good.clone();
        flits[at] = flit;
        Packet::from_flits(&flits)
    };
    assert!(Packet::from_flits(&good).is_ok());
    assert_eq!(Packet::from_flits(&good[..8]), Err(FormatError::Short { flits: 8 }));
    assert_eq!(with(0, 0x0600), Err(FormatError::Kind { code: 3 }));
    assert_eq!(with(0, 0x8400), Err(FormatError::Reserved { flit: 0x8400 }));
    assert_eq!(with(1, 0x0010), Err(FormatError::Kind { code: 16 }));
    assert_eq!(with(3, 0), Err(FormatError::Length { bytes: 0 }));
    assert_eq!(with(3, 513), Err(FormatError::Length { bytes: 513 }));
    assert_eq!(with(5, 65), Err(FormatError::Dest { dest: Addr(65) }));
    assert_eq!(
        Packet::from_flits(&good[..12]),
        Err(FormatError::Truncated { flits: 3, bytes: 7 })
    );
    assert_eq!(
        Packet::from_flits(&[&good[..], &[0]].concat()),
        Err(FormatError::Overlong { flits: 5, bytes: 7 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(Seed::get().0), ..ProptestConfig::with_source_file(file!()) })]

    #[test]
    fn parcel_headers_come_back(parcel in any_parcel()) {
        prop_assert_eq!(ParcelHeader::decode(&parcel.encode()), Ok(parcel));
    }

    #[test]
    fn packets_come_back(parcel in any_parcel(), src: u8, queue in 0..2u8, index: u8, seed: u8) {
        for plan in split(parcel, src, queue, index).take(2) {
            let body: Vec<u8> = (0..plan.header.bytes).map(|i| (i as u8).wrapping_mul(seed)).collect();
            let packet = plan.with_body(&body);
            let flits = packet.flits();
            prop_assert_eq!(flits.len(), HEAD_FLITS + body_flits(plan.header.bytes));
            prop_assert_eq!(Packet::from_flits(&flits), Ok(packet));
        }
    }

    #[test]
    fn any_header_bytes_decode_or_say_why(mut bytes: [u8; 16]) {
        bytes[0] &= 3;
        bytes[5] &= 3;
        bytes[8] &= 0x30;
        if let Ok(header) = PacketHeader::decode(&bytes) {
            prop_assert_eq!(PacketHeader::decode(&header.encode()), Ok(header));
        }
    }

    #[test]
    fn split_covers_every_byte_once(parcel in any_parcel()) {
        let mut at = 0;
        let all = packets(parcel);
        for (k, p) in all.iter().enumerate() {
            prop_assert_eq!(p.body, parcel.body.offset(at));
            prop_assert!((1..=PACKET_BODY_MAX).contains(&p.header.bytes));
            if parcel.kind == Kind::Dma {
                prop_assert_eq!(p.header.dest, parcel.dest.0 + at);
            }
            let last = k + 1 == all.len();
            prop_assert_eq!((p.header.last, p.header.end), (last, last && parcel.end));
            prop_assert_eq!(p.header.seq, k as u8);
            at += p.header.bytes;
        }
        prop_assert_eq!(at, parcel.bytes);
    }
}
