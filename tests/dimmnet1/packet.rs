//! Headers, forms, cutting and table entries.

use proptest::prelude::*;
use tsunagi::dimmnet1::golden::packet::*;
use tsunagi::dimmnet1::regs::*;

fn any_header() -> impl Strategy<Value = Header> {
    let ids = (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>());
    let place = (any::<u16>(), 0_u64..1 << 48);
    (
        any::<u8>(),
        0_u64..64,
        ids,
        0_u32..1 << 16,
        any::<u32>(),
        place,
        any::<[u64; 3]>(),
    )
        .prop_map(
            |(kind, flags, (src, dst, pgid, tag), length, seq, (region, offset), soft)| Header {
                kind: kind.into(),
                flags: flags << 8,
                src,
                dst,
                length,
                pgid,
                tag,
                seq,
                place: Place { region, offset },
                soft,
            },
        )
}

proptest! {
    #[test]
    fn a_header_is_its_words(header in any_header()) {
        prop_assert_eq!(Header::decode(&header.encode()), header);
    }

    #[test]
    fn pieces_are_the_whole_and_cross_no_page(
        bytes in 0_u32..20_000,
        most in prop_oneof![Just(SIZE_BOTF), Just(SIZE_PACKET), (1_u32..600).prop_map(|n| n * 8)],
        offsets in prop::collection::vec((0_u64..1 << 20).prop_map(|n| n * 8), 0..3),
    ) {
        let pieces: Vec<Piece> = cut(bytes, most, &offsets).collect();
        let mut at = 0;
        for piece in &pieces {
            prop_assert!(piece.at == at && piece.bytes > 0 && piece.bytes <= most && at % 8 == 0);
            for offset in &offsets {
                let first = offset + u64::from(piece.at);
                let last = first + u64::from(piece.bytes) - 1;
                prop_assert_eq!(first / u64::from(SIZE_PAGE), last / u64::from(SIZE_PAGE));
            }
            at += piece.bytes;
        }
        prop_assert_eq!(at, bytes);
    }

    #[test]
    fn a_packet_has_its_data(data in prop::collection::vec(any::<u8>(), 1..600)) {
        let header = Header { kind: TYPE_PUSH, length: data.len() as u32, ..Header::default() };
        let packet = Packet::new(&header, &data);
        prop_assert!(packet.is_whole());
        prop_assert_eq!(packet.words.len(), 6 + data.len().div_ceil(8));
        prop_assert_eq!(packet.data(), data);
    }

    #[test]
    fn entries_are_their_words(
        pgid: u16, region: u16, page in 0_u32..1 << 28, frame in 0_u32..1 << 20,
        rights in any::<[bool; 3]>(), in_llcm: bool, bytes in 0_u64..=1 << 32,
    ) {
        let [read, write, otf] = rights;
        let base = if in_llcm { Base::Llcm(page & 0x3ff8) } else { Base::Page(page) };
        let rights = Rights { read, write, otf: otf && in_llcm };
        let entry = Region { pgid, region, base, rights, bytes };
        prop_assert_eq!(Region::decode(entry.encode()), Some(entry));
        let entry = PageEntry { pgid, page, frame };
        prop_assert_eq!(PageEntry::decode(entry.encode()), Some(entry));
    }

    #[test]
    fn an_answer_goes_back(header in any_header(), code in 0_u32..12, seq: u32) {
        let refused = Reason::of(code);
        let answer = header.answer(refused, seq);
        prop_assert_eq!((answer.dst, answer.tag, answer.length), (header.src, header.tag, 0));
        prop_assert_eq!(answer.kind, if refused.is_some() { TYPE_NACK } else { TYPE_ACK });
        prop_assert_eq!(Status::of(answer.place.word()), Status { refused, seq });
        prop_assert_eq!(answer.check_form(), Ok(()));
        prop_assert_eq!(answer.packet_words(), 3);
    }
}

#[test]
fn forms_that_a_receiver_refuses() {
    let header = |kind, flags, length, offset| Header {
        kind,
        flags,
        length,
        place: Place::new(0, offset),
        ..Header::default()
    };
    let short = HDR_W0_OTF_MASK;
    let legal = [
        header(TYPE_PUSH, 0, 4096, 0),
        header(TYPE_PUSH, short, 8, 8),
        header(TYPE_PULL, short, 4096, 4096),
        header(TYPE_OTF, short, 3, 5),
        header(TYPE_ACK, short, 0, 3),
        header(TYPE_BARRIER, short, 0, 8),
        header(TYPE_INDIRECT, 0, 4096, 8),
        // Across a page: the translation refuses it.
        header(TYPE_PUSH, 0, 16, 4088),
    ];
    let refused = [
        header(TYPE_PUSH, 0, 0, 0),
        header(TYPE_PUSH, 0, 4097, 0),
        header(TYPE_PUSH, 0, 8, 4),
        header(TYPE_INDIRECT, 0, 8, 4),
        header(TYPE_PUSH, short, 9, 0),
        header(TYPE_PULL, 0, 8, 0),
        header(TYPE_PULL, short, 8, 4),
        header(TYPE_PULL_REPLY, 0, 0, 0),
        header(TYPE_OTF, short, 4, 5),
        header(TYPE_OTF, short, 0, 0),
        header(TYPE_OTF, 0, 8, 0),
        header(TYPE_NACK, short, 1, 0),
        header(TYPE_INDIRECT, 0, 0, 0),
    ];
    for header in legal {
        assert_eq!(header.check_form(), Ok(()), "{header:?}");
    }
    for header in refused {
        assert_eq!(header.check_form(), Err(Reason::Length), "{header:?}");
    }
}

#[test]
fn every_reason_has_its_code() {
    for code in 1..16 {
        assert_eq!(Reason::of(code).map(Reason::code), Some(code));
    }
    assert_eq!(Reason::of(REASON_NONE), None);
}

#[test]
fn a_slot_is_its_word() {
    let slot = Slot {
        open: 3,
        nacks: 2,
        reason: Some(Reason::Overflow),
        seq: 0x0abc_def0,
    };
    assert_eq!(Slot::of(slot.word()), slot);
}
