//! The DMA splitter: every byte of a parcel in exactly one packet, flags on the last, one packet per cycle.

use testbenches::rtl::*;
use tsunagi::harness::seed::Rng;

use crate::bench::{Each, Ports, gap_cases, must_pass, ports, rate_case, reset_cases};
use crate::models::{Expand, Rule, Script};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    src: u32,
    dst: u32,
    bytes: u32,
    flags: u8,
    user: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    src: u32,
    dst: u32,
    bytes: u32,
    first: bool,
    last: bool,
    flags: u8,
    user: u8,
    seq: u8,
}

ports!(Splitter SplitterP16 TwinSplitterFlags TwinSplitterBubble: Parcel => Packet,
    put |dut, parcel| {
        dut.in_src_i.set(parcel.src);
        dut.in_dst_i.set(parcel.dst);
        dut.in_bytes_i.set(parcel.bytes as _);
        dut.in_flags_i.set(parcel.flags);
        dut.in_user_i.set(parcel.user)
    },
    junk Parcel { src: 0xdead, dst: 0xbeef, bytes: 3, flags: 1, user: 0 },
    get |dut| Packet {
        src: dut.out_src_o.get(),
        dst: dut.out_dst_o.get(),
        bytes: u32::from(dut.out_bytes_o.get()),
        first: dut.out_first_o.is_set(),
        last: dut.out_last_o.is_set(),
        flags: dut.out_flags_o.get(),
        user: dut.out_user_o.get(),
        seq: dut.out_seq_o.get(),
    },
    level |_dut| None);

/// Lengths around the packet size, and up to the longest.
fn parcel(packet: u32, longest: u32, flags: u8) -> impl Fn(&mut Rng, usize) -> Parcel {
    move |rng, index| {
        let bytes = match rng.below(6) {
            0 => rng.between(1, 4) as u32,
            1 => packet * rng.between(1, 3) as u32,
            2 => packet * rng.between(1, 3) as u32 + 1,
            3 => packet * rng.between(1, 3) as u32 - 1,
            _ => rng.between(1, u64::from(packet) * 5) as u32,
        };
        let bytes = if index == 100 { longest } else { bytes };
        let flags = rng.below(u64::from(flags) + 1) as u8;
        Parcel {
            src: rng.bits() as u32,
            dst: rng.bits() as u32,
            bytes,
            flags,
            user: rng.bits() as u8,
        }
    }
}

fn cut<const PACKET: u32, const SEQS: u32>() -> Expand<Parcel, Packet> {
    Box::new(|parcel| {
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
        (0..count).map(packet).collect()
    })
}

/// The longest parcel of each unit: of the machine, and of what its length field holds.
const LONGEST: u32 = 128 << 10;
const LONGEST16: u32 = 2047;

/// The checks of a splitter into packets of 512 bytes, of parcels with flags up to this.
pub fn checks<U: Ports<In = Parcel, Out = Packet>>(flags: u8, without: &[Rule], each: Each) {
    let model = || Script::new(cut::<512, 256>, without);
    let word = parcel(512, LONGEST, flags);
    gap_cases::<U, _>("splitter::splitter", |_| {}, model, &word, each);
    reset_cases::<U, _>("splitter::splitter", |_| {}, model, &word, each);
    let packets = |parcels: &[Parcel]| parcels.iter().map(|p| u64::from(p.bytes.div_ceil(512))).sum::<u64>() + 1;
    rate_case::<U, _>("splitter::splitter", model, &word, packets, without, each);
}

#[test]
fn splitter() {
    checks::<Splitter>(3, &[], &mut must_pass);
    let word = parcel(16, LONGEST16, 1);
    let model = || Script::new(cut::<16, 16>, &[]);
    gap_cases::<SplitterP16, _>("splitter::splitter", |_| {}, model, &word, &mut must_pass);
    reset_cases::<SplitterP16, _>("splitter::splitter", |_| {}, model, &word, &mut must_pass);
}
