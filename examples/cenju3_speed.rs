//! How fast the verilated machine runs: two PEs, four stages, parcels of 128 KB back to back. Prints network cycles per
//! second of CPU.

use std::time::Instant;

use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::regs::*;
use tsunagi::cenju3::rtl::{Machine, NET, of_nics};
use tsunagi::harness::backend::{Backend, HostReq};
use tsunagi::rtl::Cenju3Nic;
use tsunagi::{Addr, NodeId};

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
const PARCELS: u32 = 50;

fn main() {
    let config = Config::paper();
    let mut machine = of_nics::<Cenju3Nic>(&config).expect("the RTL is built");
    let write = |machine: &mut Machine<_>, node, offset: u32, value| {
        machine.host_start(node, HostReq::write(offset.into(), value));
        while machine.host_take(node).is_none() {
            let next = machine.next_event().expect("an access is answered");
            machine.advance(next);
        }
    };
    let setup = [
        (NODE_ID, 1),
        (DHB_BASE, 0x8000),
        (DHB_SIZE, 65_536),
        (R_CTRL, R_CTRL_RUN_MASK),
    ];
    for (offset, value) in setup {
        write(&mut machine, RECEIVER, offset, value);
    }
    write(&mut machine, SENDER, S_GAP, config.s_gap);
    let parcel = ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: false,
        dst: 1,
        bytes: 128 << 10,
        body: Addr(0x10_0000),
        dest: Addr(0x20_0000),
        soft: [0; 2],
    };
    for at in 0..PARCELS {
        let written = machine
            .memory(SENDER)
            .write(Addr(at * PARCEL_HEADER_BYTES), &parcel.encode());
        assert!(written, "the queue lies in memory");
    }
    let (start, cycles, from) = (Instant::now(), machine.edges(NET), machine.now());
    write(&mut machine, SENDER, SQ0_PUT, PARCELS);
    while let Some(next) = machine.next_event() {
        machine.advance(next);
    }
    let seconds = start.elapsed().as_secs_f64();
    let cycles = machine.edges(NET) - cycles;
    let span = machine.now() - from;
    let rate = span.rate_mb_s(u64::from(PARCELS) << 17);
    println!(
        "{cycles} network cycles in {seconds:.2} s: {:.0} cycles/s; {rate:.2} MB/s on the machine",
        cycles as f64 / seconds
    );
}
