//! DMA splitter: every byte of a parcel in exactly one packet, flags on the last, one packet per cycle.

use support::this_test;
use testbenches::pipe::{Drive, Script, Seen, Subject};
use testbenches::rtl::*;
use testbenches::{Cases, Dut, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// The packets of each parcel, in order.
    Content
    /// Without gaps, the last packet leaves in its cycle.
    Rate
);

#[derive(Clone, Debug)]
struct Parcel {
    src: u32,
    dst: u32,
    bytes: u32,
    flags: u8,
    user: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Packet {
    src: u32,
    dst: u32,
    bytes: u32,
    first: bool,
    last: bool,
    flags: u8,
    user: u8,
    seq: u8,
}

const JUNK: Parcel = Parcel {
    src: 0xdead,
    dst: 0xbeef,
    bytes: 3,
    flags: 1,
    user: 0,
};

fn set(dut: &impl DmaSplitterPorts, (offered, wants): &Drive<Parcel>) {
    let parcel = offered.as_ref().unwrap_or(&JUNK);
    dut.in_valid_i().set_bool(offered.is_some());
    dut.in_src_i().set(parcel.src.into());
    dut.in_dst_i().set(parcel.dst.into());
    dut.in_bytes_i().set(parcel.bytes.into());
    dut.in_flags_i().set(parcel.flags.into());
    dut.in_user_i().set(parcel.user.into());
    dut.out_ready_i().set_bool(*wants);
}

fn seen(dut: &impl DmaSplitterPorts) -> Seen<Packet> {
    Seen {
        ready: dut.in_ready_o().is_set(),
        offered: dut.out_valid_o().is_set().then(|| Packet {
            src: dut.out_src_o().get() as u32,
            dst: dut.out_dst_o().get() as u32,
            bytes: dut.out_bytes_o().get() as u32,
            first: dut.out_first_o().is_set(),
            last: dut.out_last_o().is_set(),
            flags: dut.out_flags_o().get() as u8,
            user: dut.out_user_o().get() as u8,
            seq: dut.out_seq_o().get() as u8,
        }),
        level: None,
    }
}

/// Bytes of a packet and of the longest parcel (the machine's, or the length field's), and the highest flags.
#[derive(Clone, Copy)]
struct Size {
    packet: u32,
    longest: u32,
    flags: u8,
}

/// A unit under test.
struct Cutter {
    subject: Subject<Script<Parcel, Packet>>,
    size: Size,
}

/// Packets of 512 bytes with 8 bits of packet number and 2 flags.
fn p512<U: DmaSplitterUnit + 'static>() -> Cutter {
    Cutter {
        subject: Subject::new(Dut::of::<U>(set, seen), Script::new(cut::<512, 256>)),
        size: Size {
            packet: 512,
            longest: 128 << 10,
            flags: 3,
        },
    }
}

/// Packets of 16 bytes with 4 bits of packet number and 1 flag.
fn p16<U: DmaSplitterUnit + 'static>() -> Cutter {
    Cutter {
        subject: Subject::new(Dut::of::<U>(set, seen), Script::new(cut::<16, 16>)),
        size: Size {
            packet: 16,
            longest: 2047,
            flags: 1,
        },
    }
}

/// Lengths around the packet size, and one parcel of the longest.
fn parcel(size: Size, rng: &mut Rng, index: usize) -> Parcel {
    let packet = size.packet;
    let bytes = match rng.below(6) {
        0 => rng.between(1, 4) as u32,
        1 => packet * rng.between(1, 3) as u32,
        2 => packet * rng.between(1, 3) as u32 + 1,
        3 => packet * rng.between(1, 3) as u32 - 1,
        _ => rng.between(1, u64::from(packet) * 5) as u32,
    };
    Parcel {
        bytes: if index == 100 { size.longest } else { bytes },
        flags: rng.below(u64::from(size.flags) + 1) as u8,
        src: rng.bits() as u32,
        dst: rng.bits() as u32,
        user: rng.bits() as u8,
    }
}

fn cut<const PACKET: u32, const SEQS: u32>(parcels: &[Parcel]) -> Vec<Packet> {
    let packets = |parcel: &Parcel| {
        let count = parcel.bytes.div_ceil(PACKET);
        let packet = |k: u32| {
            let (at, last) = (k * PACKET, k + 1 == count);
            Packet {
                src: parcel.src.wrapping_add(at),
                dst: parcel.dst.wrapping_add(at),
                bytes: (parcel.bytes - at).min(PACKET),
                first: k == 0,
                last,
                flags: if last { parcel.flags } else { 0 },
                user: parcel.user,
                seq: (k % SEQS) as u8,
            }
        };
        (0..count).map(packet).collect::<Vec<_>>()
    };
    parcels.iter().flat_map(packets).collect()
}

fn content(cutter: &Cutter, cases: &mut Cases) {
    let word = |rng: &mut Rng, index| parcel(cutter.size, rng, index);
    cutter.subject.gaps(cases, word);
    cutter.subject.resets(cases, word);
}

/// One packet per cycle, the first a cycle after its parcel.
fn rate(cutter: &Cutter, cases: &mut Cases) {
    let packets = |parcel: &Parcel| u64::from(parcel.bytes.div_ceil(cutter.size.packet));
    cutter.subject.rate(
        cases,
        |rng, index| parcel(cutter.size, rng, index),
        |parcels| parcels.iter().map(packets).sum::<u64>() + 1,
    );
}

fn checks(cutter: &Cutter, cases: &mut Cases) {
    content(cutter, cases);
    rate(cutter, cases);
}

#[test]
fn every_byte_in_one_packet() {
    pass(this_test!(), |cases| {
        content(&p512::<Splitter>(), cases);
        content(&p16::<SplitterP16>(), cases);
    });
}

#[test]
fn one_packet_per_cycle() {
    pass(this_test!(), |cases| rate(&p512::<Splitter>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&p512::<TwinSplitterFlags>(), cases)),
            (Rate, &[], &|cases| checks(&p512::<TwinSplitterBubble>(), cases)),
        ],
    );
}
