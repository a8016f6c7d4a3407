//! The memory ports of a unit that only reads or only writes, as values of [`tsunagi::harness::memory`], and the memory
//! behind the ports.

use tsunagi::Cycle;
pub use tsunagi::harness::bench::set_word;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::stream::{Monitor, Pacer, ProtocolError};

use crate::{Fault, Run};

/// The outputs of a unit that reads memory through `mem_…`.
#[macro_export]
macro_rules! read_ports {
    ($unit:expr) => {
        ::tsunagi::harness::memory::MemPortsIn {
            rd_cmd_valid: ::verilated::Port::is_set($unit.mem_cmd_valid_o()),
            rd_cmd_addr: ::verilated::Port::get($unit.mem_cmd_addr_o()) as u32,
            rd_cmd_len: ::verilated::Port::get($unit.mem_cmd_len_o()) as u8,
            rd_data_ready: ::verilated::Port::is_set($unit.mem_data_ready_o()),
            ..Default::default()
        }
    };
}

/// Drives the inputs of a unit that reads memory through `mem_…`, as the memory does.
#[macro_export]
macro_rules! set_read_ports {
    ($unit:expr, $mem:expr) => {{
        let mem: &::tsunagi::harness::memory::MemPortsOut = $mem;
        ::verilated::Input::set_bool($unit.mem_cmd_ready_i(), mem.rd_cmd_ready);
        ::verilated::Input::set_bool($unit.mem_data_valid_i(), mem.rd_data_valid);
        $crate::mem::set_word($unit.mem_data_data_i(), mem.rd_data_data);
        ::verilated::Input::set_bool($unit.mem_data_last_i(), mem.rd_data_last);
        ::verilated::Input::set_bool($unit.mem_data_err_i(), mem.rd_data_err);
    }};
}

/// The outputs of a unit that writes memory through `mem_…`.
#[macro_export]
macro_rules! write_ports {
    ($unit:expr) => {
        ::tsunagi::harness::memory::MemPortsIn {
            wr_cmd_valid: ::verilated::Port::is_set($unit.mem_cmd_valid_o()),
            wr_cmd_addr: ::verilated::Port::get($unit.mem_cmd_addr_o()) as u32,
            wr_cmd_len: ::verilated::Port::get($unit.mem_cmd_len_o()) as u8,
            wr_data_valid: ::verilated::Port::is_set($unit.mem_data_valid_o()),
            wr_data_data: ::verilated::Port::get($unit.mem_data_data_o()),
            wr_data_strb: ::verilated::Port::get($unit.mem_data_strb_o()) as u8,
            wr_data_last: ::verilated::Port::is_set($unit.mem_data_last_o()),
            wr_rsp_ready: ::verilated::Port::is_set($unit.mem_rsp_ready_o()),
            ..Default::default()
        }
    };
}

/// Drives the inputs of a unit that writes memory through `mem_…`, as the memory does.
#[macro_export]
macro_rules! set_write_ports {
    ($unit:expr, $mem:expr) => {{
        let mem: &::tsunagi::harness::memory::MemPortsOut = $mem;
        ::verilated::Input::set_bool($unit.mem_cmd_ready_i(), mem.wr_cmd_ready);
        ::verilated::Input::set_bool($unit.mem_data_ready_i(), mem.wr_data_ready);
        ::verilated::Input::set_bool($unit.mem_rsp_valid_i(), mem.wr_rsp_valid);
        ::verilated::Input::set_bool($unit.mem_rsp_err_i(), mem.wr_rsp_err);
    }};
}

/// The outputs of two units, or of two parts of one: `read` reads and `write` writes.
pub fn both(read: MemPortsIn, write: MemPortsIn) -> MemPortsIn {
    MemPortsIn {
        rd_cmd_valid: read.rd_cmd_valid,
        rd_cmd_addr: read.rd_cmd_addr,
        rd_cmd_len: read.rd_cmd_len,
        rd_data_ready: read.rd_data_ready,
        ..write
    }
}

/// Watches a unit's offers to its memory.
#[derive(Default)]
pub struct Offers {
    /// Read and write commands: {address, beats - 1}.
    commands: [Monitor<(u32, u8)>; 2],
    data: Monitor<(u64, u8, bool)>,
}

impl Offers {
    /// A cycle, as it is before the edge.
    ///
    /// # Errors
    /// The unit withdraws or changes a command or data.
    pub fn step(&mut self, unit: &MemPortsIn, memory: &MemPortsOut) -> Result<(), ProtocolError> {
        let read = unit.rd_cmd_valid.then_some((unit.rd_cmd_addr, unit.rd_cmd_len));
        self.commands[0].step(read.as_ref(), memory.rd_cmd_ready)?;
        let write = unit.wr_cmd_valid.then_some((unit.wr_cmd_addr, unit.wr_cmd_len));
        self.commands[1].step(write.as_ref(), memory.wr_cmd_ready)?;
        let beat = (unit.wr_data_data, unit.wr_data_strb, unit.wr_data_last);
        let beat = unit.wr_data_valid.then_some(beat);
        self.data.step(beat.as_ref(), memory.wr_data_ready)
    }

    /// A reset of the unit: it may withdraw its offers.
    pub fn reset(&mut self) {
        self.commands.iter_mut().for_each(Monitor::reset);
        self.data.reset();
    }
}

/// Memory behind the ports of a unit: it serves the unit, pauses, and watches the unit's offers.
pub struct Server {
    agent: MemoryAgent,
    accepts: [Pacer; 2],
    ports: MemPortsOut,
    offers: Offers,
}

impl Server {
    /// For a bus of `beat_bytes` = 4 or 8 bytes. With pauses each direction takes no command at times, and each command
    /// and word waits up to 6 cycles more.
    pub fn new(run: &Run, timing: MemoryTiming, beat_bytes: u32, pauses: bool) -> Server {
        let jitter = Cycle(if pauses { 6 } else { 0 });
        Server {
            agent: MemoryAgent::new(timing, beat_bytes).with_jitter(run.rng("memory").bits(), jitter, jitter),
            accepts: ["memory reads", "memory writes"].map(|name| run.pacer(pauses, name)),
            ports: MemPortsOut::default(),
            offers: Offers::default(),
        }
    }

    /// Its outputs in this cycle; once per cycle, before the edge.
    pub fn ports(&mut self) -> MemPortsOut {
        self.ports = *self.agent.ports();
        self.ports.rd_cmd_ready &= self.accepts[0].step();
        self.ports.wr_cmd_ready &= self.accepts[1].step();
        self.ports
    }

    /// The edge that ends cycle `now`.
    ///
    /// # Errors
    /// `Protocol`: the unit withdraws or changes a command or data.
    pub fn step(&mut self, now: u64, memory: &mut Memory, unit: &MemPortsIn) -> Result<(), Fault> {
        let ports = &self.ports;
        self.offers.step(unit, ports)?;
        let taken = MemPortsIn {
            rd_cmd_valid: unit.rd_cmd_valid && ports.rd_cmd_ready,
            wr_cmd_valid: unit.wr_cmd_valid && ports.wr_cmd_ready,
            ..*unit
        };
        self.agent.step(Cycle(now), memory, &taken, |_| {});
        Ok(())
    }

    /// A reset of the unit: nothing is in flight.
    pub fn reset(&mut self) {
        self.agent.reset();
        self.offers.reset();
    }
}
