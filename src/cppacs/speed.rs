//! How fast machines of RTL are simulated: the network alone, and 128 nodes under traffic from all to all.

use std::time::Duration;

use super::golden::entry::{Field, Process, Right, node_word};
use super::golden::tcw::Tcw;
use super::params::Config;
use super::regs::*;
use super::rtl;
use crate::harness::exec::{Host, RegError, Sim};
use crate::harness::memory::Memory;
use crate::harness::wave::Probe;
use crate::machine::{MachineError, WholeRun};
use crate::net::bench::{NetworkRun, cpu_time};
use crate::net::hyper::Grid;
use crate::{Addr, NodeId, Picos};

/// 128 nodes.
pub const GRID: Grid = Grid { x: 4, y: 4, z: 8 };
/// Bytes from each node to each other one.
const BYTES: u32 = 256;
const BOUND: Picos = Picos::from_ns(100_000_000);
/// The user's process, its field and its key.
const USER: u32 = 1;
const FIELD: u32 = 1;
const KEY: u32 = 0x600d_600d;
/// Memory: TCWs, the field's flag, what is sent, what comes.
const TCWS_AT: u32 = 0x1000;
const FLAG_AT: u32 = 0x800;
const AREA_AT: u32 = 0x1_0000;
const COMES_AT: u32 = 0x1000;

/// A machine of this grid with as much memory as the traffic needs.
fn config(Grid { x, y, z }: Grid) -> Config {
    let mem_bytes = 0x10_0000;
    Config {
        x,
        y,
        z,
        mem_bytes,
        ..Config::paper()
    }
}

/// What node `from` sends to node `to`.
fn data(from: u32, to: u32) -> Vec<u8> {
    let word = |at: u32| (from << 20 | to << 8 | at).wrapping_mul(0x9e37_79b1);
    (0..BYTES / 4).flat_map(|at| word(at).to_le_bytes()).collect()
}

/// Sets up a node: a field that all may write, a right for each node's, and a TCW for each.
async fn set_up(host: Host, grid: Grid) -> Result<(), RegError> {
    let (node, nodes) = (u32::from(host.node().0), grid.nodes());
    let set = async |offset: u32, value: u64| host.store(offset.into(), 8, value).await;
    set(NODE, node_word(grid, grid.place(node))).await?;
    let process = Process {
        area: AREA_AT,
        area_bytes: COMES_AT + 2 * nodes * BYTES,
        tcws: TCWS_AT,
        tcw_count: nodes,
    };
    let [area, tcws] = process.words();
    set(AREA + 16 * USER, area).await?;
    set(TCWS + 16 * USER, tcws).await?;
    let field = Field {
        enabled: true,
        write: true,
        flagged: true,
        owner: USER,
        key: KEY,
        base: AREA_AT + COMES_AT,
        size: nodes * BYTES,
        flag: FLAG_AT,
        ..Field::default()
    };
    let [state, extent, flag] = field.words();
    set(FIELDS + 32 * FIELD + FIELD_EXTENT, extent).await?;
    set(FIELDS + 32 * FIELD + FIELD_FLAG, flag).await?;
    set(FIELDS + 32 * FIELD + FIELD_STATE, state).await?;
    for to in 0..nodes {
        let right = Right {
            place: grid.place(to),
            mask: 0,
            field: FIELD,
            owner: USER,
            valid: true,
            key: KEY,
            size: field.size,
        };
        let [place, limit] = right.words();
        set(RIGHTS + 16 * to + RIGHT_LIMIT, limit).await?;
        set(RIGHTS + 16 * to + RIGHT_PLACE, place).await?;
        let source = COMES_AT + (nodes + to) * BYTES;
        let tcw = Tcw {
            valid: true,
            right: to,
            length: BYTES,
            source,
            offset: node * BYTES,
            ..Tcw::default()
        };
        let words: Vec<u8> = tcw.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        host.write(Addr(TCWS_AT + SIZE_TCW * to), &words);
        host.write(Addr(AREA_AT + source), &data(node, to));
    }
    set(CONTROL, CONTROL_SEND_MASK).await
}

/// A node sends to all others, the next one first, and waits for what all others send.
async fn exchange(host: Host, nodes: u32) -> Result<(), RegError> {
    let node = u32::from(host.node().0);
    let page = u64::from(KICK + SIZE_PAGE * USER);
    let mut room = 0;
    for step in 1..nodes {
        while room == 0 {
            let kicks = host.load(page + u64::from(KICKS - KICK), 8).await?;
            room = (kicks & KICKS_ROOM_MASK) >> KICKS_ROOM_SHIFT;
        }
        room -= 1;
        host.store(page, 8, u64::from((node + step) % nodes)).await?;
    }
    let count = |memory: &Memory| {
        let bytes = memory.read(Addr(FLAG_AT + RFLAG_COUNT), 4).expect("the flag");
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    };
    host.watch("what all others send", move |memory| count(memory) == nodes - 1)
        .await;
    Ok(())
}

/// All nodes of the RTL send to all, at once: cycles and CPU time of that.
///
/// # Errors
/// The machine hangs or refuses something.
///
/// # Panics
/// What came is not what was sent.
pub fn all_to_all(grid: Grid) -> Result<WholeRun, MachineError> {
    let (config, nodes) = (config(grid), grid.nodes());
    let machine = rtl::build(&config, &Probe::default()).map_err(MachineError::usage)?;
    let mut sim = Sim::new(machine);
    let hosts: Vec<Host> = (0..nodes as u16).map(|node| sim.host(NodeId(node))).collect();
    for host in &hosts {
        host.spawn_checked("set-up", set_up(host.clone(), grid));
    }
    let run = |sim: &mut Sim<_>| sim.run(sim.now() + BOUND).map_err(MachineError::failure);
    run(&mut sim)?;
    for host in &hosts {
        host.spawn_checked("exchange", exchange(host.clone(), nodes));
    }
    let (start, begin) = (sim.now(), cpu_time());
    run(&mut sim)?;
    let cpu = cpu_time() - begin;
    for host in &hosts {
        let to = u32::from(host.node().0);
        for from in (0..nodes).filter(|from| *from != to) {
            let came = host.read(Addr(AREA_AT + COMES_AT + from * BYTES), BYTES);
            assert_eq!(came, data(from, to), "from node {from} to node {to}");
        }
    }
    let cycles = (sim.now() - start).0 / config.clock_period.0;
    Ok(WholeRun { cycles, cpu })
}

/// The network of 128 nodes alone: each sends worms of so many words to the nodes behind it, one after the other.
pub fn network(words: u32) -> NetworkRun {
    let begin = cpu_time();
    let nodes = GRID.nodes();
    let steps: Vec<Vec<_>> = (1..nodes)
        .step_by(4)
        .map(|shift| {
            (0..nodes)
                .map(|node| Some(GRID.place((node + shift) % nodes)))
                .collect()
        })
        .collect();
    let cycles = rtl::cycles(&config(GRID), &steps, words).expect("a grid that was built");
    let per_port = (steps.len() as f64) / cycles as f64;
    let cpu: Duration = cpu_time() - begin;
    NetworkRun {
        cycles,
        offered: per_port,
        accepted: per_port,
        cpu,
    }
}
