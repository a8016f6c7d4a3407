//! The golden model, and the RTL machine where it does the same: whole scenarios with equal memories, causes and
//! counters at the end.

mod cregs;
mod faults;
mod queues;
mod rig;
mod ring;
mod timing;
mod transfers;

use tsunagi::ap1000p::host::layout::DEMAND;
use tsunagi::ap1000p::host::{self, Ap1000pSim, Combine};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::regs::*;
use tsunagi::{Addr, NodeId, Picos};

use self::rig::*;

/// What software finds at the end, of a cell.
#[derive(PartialEq, Eq)]
struct End {
    memory: Vec<u8>,
    registers: Vec<(u32, u32)>,
    cregs: Vec<Option<u32>>,
}

/// Runs a scenario on the model and on the RTL, and holds what is left in all cells against each other.
fn both(columns: u32, rows: u32, scenario: impl Fn(&mut dyn Rig)) {
    let config = config(columns, rows);
    let cells = config.cells();
    let [golden, hardware] = [&mut model(&config) as &mut dyn Rig, &mut rtl(&config) as &mut dyn Rig].map(|rig| {
        scenario(rig);
        (0..cells).map(|cell| end(rig, cell)).collect::<Vec<_>>()
    });
    for (cell, (golden, hardware)) in golden.iter().zip(&hardware).enumerate() {
        assert_eq!(golden.registers, hardware.registers, "cell {cell}: registers");
        assert_eq!(golden.cregs, hardware.cregs, "cell {cell}: communication registers");
        let differs = golden.memory.iter().zip(&hardware.memory).position(|(a, b)| a != b);
        assert_eq!(differs, None, "cell {cell}: first byte of memory that differs");
    }
}

fn end(rig: &mut dyn Rig, cell: usize) -> End {
    rig.settle();
    let offsets = [
        CELL,
        SIZE,
        CONTEXT,
        RANGE,
        CONTEXT_TABLE,
        SPILL_REGION,
        MODE,
        STATUS,
        CAUSE,
        ENABLE,
        FAULTS,
        ACKS,
        STRAY_COUNT,
        REFUSED_COUNT,
        BROKEN_COUNT,
        BROKEN_WHAT,
        OPEN,
        HELD,
        RING0_WRITE,
        RING0_MODE,
        RING0_READ,
        RING1_WRITE,
        RING1_MODE,
        RING1_READ,
        RING2_WRITE,
        RING2_MODE,
        RING2_READ,
        ID,
    ];
    let registers = offsets.map(|offset| (offset, rig.read(cell, offset))).to_vec();
    // Registers that are empty are faults, not waits.
    rig.write(cell, MODE, MODE_FAULT_HOST_MASK);
    let cregs = (0..128)
        .map(|register| rig.creg(cell, register, None).expect("answered"))
        .collect();
    End {
        memory: rig
            .memory(cell)
            .read(Addr(0), SPILL as usize)
            .expect("in memory")
            .to_vec(),
        registers,
        cregs,
    }
}

/// The host software runs on the model: pages on demand, a lock, reductions and barriers, on up to 256 cells.
#[test]
fn host_programs() {
    for (columns, rows) in [(4, 4), (16, 16)] {
        let config = config(columns, rows);
        let cells = config.cells() as u32;
        let mut sim = Ap1000pSim::new(ModelMachine::new(&config), config).expect("boots");
        let (home, counter) = (NodeId(1), Addr(0x5_0000));
        sim.spawn_all(move |cell| async move {
            let id = cell.id();
            cell.set_words(Addr(0x1_0ff0), &[u32::from(id.0); 2000]);
            let transfer = host::Transfer {
                words: 2000,
                source: Addr(DEMAND + 0x1_0ff0),
                dest: Addr(DEMAND + 0x2_0100),
                dest_flag: Some(Addr(FLAG)),
                ..host::Transfer::default()
            };
            let next = NodeId((id.0 + 1) % cells as u16);
            cell.put_stride(next, &transfer).await.unwrap();
            cell.wait_flag(Addr(FLAG), 1).await.unwrap();
            let sum = cell.reduce(Combine::Sum, u32::from(id.0)).await.unwrap();
            assert_eq!(sum, cells * (cells - 1) / 2);
            if id.0 < 16 {
                cell.lock(home, Addr(0x5_0004)).await.unwrap();
                let (here, put) = (Addr(0x100), Addr(0x104));
                let flag = Addr(FLAG + 4);
                cell.get(home, counter, 1, here, Some(flag), None).await.unwrap();
                cell.wait_flag(flag, 1).await.unwrap();
                cell.set_word(put, cell.word(here) + 1);
                let transfer = host::Transfer {
                    words: 1,
                    source: put,
                    dest: counter,
                    ..host::Transfer::default()
                };
                cell.ack_put(home, &transfer).await.unwrap();
                cell.unlock(home, Addr(0x5_0004)).await.unwrap();
            }
            cell.barrier().await.unwrap();
            cell.barrier_by_flags().await.unwrap();
        });
        sim.run(Picos::from_us(200_000.0)).unwrap();
        assert_eq!(sim.take_faults(), []);
        assert_eq!(sim.cell(home).word(counter), 16);
        for number in 0..cells {
            let from = (number + cells - 1) % cells;
            let words = sim.cell(NodeId(number as u16)).words(Addr(0x2_0100), 2000);
            assert_eq!(words, [from; 2000]);
        }
    }
}
