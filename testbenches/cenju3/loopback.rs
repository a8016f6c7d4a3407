//! The whole NIC, its outgoing link tied to its incoming one.

use tsunagi::Addr;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::regs::*;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use verilated::Context;

use crate::rig::{Nic, Rig, SLOW, Setup};

pub const QUEUE0: u32 = 0x0000;
pub const QUEUE1: u32 = 0x2000;
pub const MESSAGES: u32 = 0x4000;
pub const DMAS: u32 = 0x5000;
pub const BODIES: u32 = 0x8000;
pub const SOURCE: u32 = 0x4_0000;
pub const DEST: u32 = 0x8_0000;

/// Buffers in place, everything enabled, nothing halts.
pub fn start<N: Nic>(context: Context, setup: Setup) -> Rig<N> {
    let mut rig = Rig::<N>::new(context, setup);
    program(&mut rig);
    rig
}

/// What the kernel sets up.
pub fn program<N: Nic>(rig: &mut Rig<N>) {
    for (offset, value) in [
        (NODE_ID, 5),
        (SQ0_BASE, QUEUE0),
        (SQ1_BASE, QUEUE1),
        (MHB_BASE, MESSAGES),
        (MHB_SIZE, 64),
        (DHB_BASE, DMAS),
        (DHB_SIZE, 512),
        (MBB0_BASE, BODIES),
        (MBB0_SIZE, 32),
        (MBB1_BASE, BODIES + 0x4000),
        (MBB1_SIZE, 32),
        (R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK),
    ] {
        rig.write(offset, value);
    }
}

pub fn dma(bytes: u32) -> ParcelHeader {
    ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 5,
        bytes,
        body: Addr(SOURCE),
        dest: Addr(DEST),
        soft: [1, 2],
    }
}

pub fn send<N: Nic>(setup: Setup, bytes: u32) -> Rig<N> {
    let mut rig = start::<N>(Context::new(), setup);
    let body: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8 | 1).collect();
    assert!(rig.memory.write(Addr(SOURCE), &body));
    assert!(rig.memory.write(Addr(QUEUE0), &dma(bytes).encode()));
    rig.write(SQ0_PUT, 1);
    rig.run("end interrupt", 5_000, |rig| rig.dut.irq());
    assert_eq!(
        rig.memory.read(Addr(DEST), bytes as usize + 1).unwrap()[..bytes as usize],
        body[..]
    );
    assert_eq!(rig.memory.read(Addr(DEST + bytes), 1).unwrap(), [0]);
    let packets = bytes.div_ceil(512);
    assert_eq!(rig.read(DHB_PUT), packets);
    assert_eq!(rig.read(SQ0_GET), 1);
    assert_eq!(rig.read(S_STAT) >> 16, 1);
    assert_eq!(rig.read(R_STAT), R_STAT_END_MASK);
    rig
}

#[test]
fn a_parcel_arrives() {
    for bytes in [1, 2, 3, 4, 31, 32, 33, 511, 512, 513, 2000] {
        send::<Cenju3Nic>(Setup::default(), bytes);
        send::<Cenju3NicWide>(Setup::default(), bytes);
        send::<Cenju3Nic>(
            Setup {
                timing: SLOW,
                ..Setup::default()
            },
            bytes,
        );
    }
}

#[test]
fn a_parcel_of_128_kb_arrives() {
    let rig = send::<Cenju3Nic>(Setup::default(), PARCEL_BODY_MAX);
    assert_eq!(rig.sent.iter().filter(|flit| flit.last).count(), 256);
}
