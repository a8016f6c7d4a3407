//! The whole NIC, its outgoing link tied to its incoming one.

use support::this_test;
use testbenches::{Cases, Fault, Rule as _, Run, Start, pass};
use tsunagi::Addr;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::regs::*;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};

use crate::SLOW;
use crate::nic::Rule;
use crate::rig::{Nic, Rig, Setup, nic};

pub const QUEUE0: u32 = 0x0000;
pub const QUEUE1: u32 = 0x2000;
pub const MESSAGES: u32 = 0x4000;
pub const DMAS: u32 = 0x5000;
pub const BODIES: u32 = 0x8000;
pub const SOURCE: u32 = 0x4_0000;
pub const DEST: u32 = 0x8_0000;

/// Buffers in place, everything enabled, nothing halts.
///
/// # Errors
/// The NIC does not come so far.
pub fn start<'a>(run: &Run<'a>, nic: &Nic, setup: Setup) -> Result<Rig<'a>, Fault> {
    let mut rig = Rig::new(run, nic, setup)?;
    program(&mut rig)?;
    Ok(rig)
}

/// Writes the registers as the kernel does.
///
/// # Errors
/// A write is refused or not answered.
pub fn program(rig: &mut Rig) -> Result<(), Fault> {
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
        rig.write(offset, value)?;
    }
    Ok(())
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

/// Sends a parcel from [`SOURCE`] to [`DEST`].
///
/// # Errors
/// It does not arrive as it should.
pub fn send<'a>(run: &Run<'a>, nic: &Nic, setup: Setup, bytes: u32) -> Result<Rig<'a>, Fault> {
    let mut rig = start(run, nic, setup)?;
    let body: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 251) as u8 | 1).collect();
    rig.put(SOURCE, &body);
    rig.put(QUEUE0, &dma(bytes).encode());
    rig.write(SQ0_PUT, 1)?;
    rig.run("end interrupt", 5_000, |rig| rig.seen.irq)?;
    // Memory behind the body stays as it was.
    rig.has(DEST, &[&body[..], &[0]].concat())?;
    Rule::Traffic.same("DHB_PUT", bytes.div_ceil(512), rig.read(DHB_PUT)?)?;
    Rule::Traffic.same("SQ0_GET", 1, rig.read(SQ0_GET)?)?;
    Rule::Traffic.same("parcels sent", 1, rig.read(S_STAT)? >> S_STAT_SENT_SHIFT)?;
    Rule::Traffic.same("R_STAT", R_STAT_END_MASK, rig.read(R_STAT)?)?;
    Ok(rig)
}

/// A parcel of each of these lengths arrives.
pub fn arrive(nic: &Nic, setup: Setup, lengths: &[u32], cases: &mut Cases) {
    for &bytes in lengths {
        let params = format!("{} {bytes} {}", nic.dut.name, setup.timing.read_latency.0);
        cases.case(Start::Zero, params, |run| send(run, nic, setup, bytes).map(drop));
    }
}

/// Lengths around those of a word, a burst and a packet.
pub const LENGTHS: [u32; 11] = [1, 2, 3, 4, 31, 32, 33, 511, 512, 513, 2000];

#[test]
fn a_parcel_arrives() {
    pass(this_test!(), |cases| {
        let slow = Setup {
            timing: SLOW,
            ..Setup::default()
        };
        arrive(&nic::<Cenju3Nic>(), Setup::default(), &LENGTHS, cases);
        arrive(&nic::<Cenju3NicWide>(), Setup::default(), &LENGTHS, cases);
        arrive(&nic::<Cenju3Nic>(), slow, &LENGTHS, cases);
    });
}

#[test]
fn a_parcel_of_128_kb_arrives() {
    pass(this_test!(), |cases| {
        cases.case(Start::Zero, "", |run| {
            let rig = send(run, &nic::<Cenju3Nic>(), Setup::default(), PARCEL_BODY_MAX)?;
            let packets = rig.sent.iter().filter(|flit| flit.last).count();
            Rule::Traffic.same("packets", 256, packets)
        });
    });
}
