//! Cutting and refusals. Round trips of any values are in `tests/cenju3/golden/packet.rs`.

use crate::cenju3::golden::packet::*;

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
