//! AXI4 and AXI4-Lite of a unit's ports: a master for its slave, a memory for its master.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use verilated::{Input, Pin, Port, Verilated};

use super::names::{NoPort, Way, find, maybe, number};
use super::{Agent, burst, read_beat, set_burst, set_read_beat, set_write_beat, set_write_end, write_beat, write_end};
use crate::axi::{
    AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, ReadBeat, Resp, Rules, WriteBeat, WriteEnd,
};
use crate::memory::Memory;
use crate::seed::{Rng, Seed};
use crate::stream::Gaps;
use crate::{Addr, Cycle, Picos};

/// An access that was answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the access at {addr} was answered with {resp:?}")]
pub struct AxiError {
    pub addr: Addr,
    pub resp: Resp,
}

/// A port, or what stands for one that the unit lacks, as AXI4-Lite lacks IDs and lengths.
enum Place {
    Pin(Pin),
    Lacks(u64),
}

impl Port for Place {
    fn width(&self) -> usize {
        match self {
            Place::Pin(pin) => pin.width(),
            Place::Lacks(_) => 64,
        }
    }

    fn get_bits(&self, lo: usize, width: usize) -> u64 {
        match self {
            Place::Pin(pin) => pin.get_bits(lo, width),
            Place::Lacks(value) => value >> lo,
        }
    }
}

impl Input for Place {
    fn set_bits(&self, lo: usize, width: usize, value: u64) {
        if let Place::Pin(pin) = self {
            pin.set_bits(lo, width, value);
        }
    }
}

/// The ports of an address channel.
struct Address {
    valid: Pin,
    ready: Pin,
    id: Place,
    addr: Pin,
    len: Place,
    size: Place,
    burst: Place,
    lock: Place,
    cache: Place,
    prot: Place,
}

/// The ports of all five channels.
struct Pins {
    prefix: String,
    /// Bytes of a word.
    bus: u32,
    /// No bursts.
    lite: bool,
    aw: Address,
    ar: Address,
    w: [Pin; 2],
    data: Pin,
    strb: Place,
    w_last: Place,
    b: [Pin; 2],
    b_id: Place,
    b_resp: Place,
    r: [Pin; 2],
    r_id: Place,
    r_data: Pin,
    r_resp: Place,
    r_last: Place,
}

impl Pins {
    /// `way`: that of the master's signals.
    fn new(unit: &dyn Verilated, prefix: &str, way: Way) -> Result<Pins, NoPort> {
        let or = |signal: &str, way, other| maybe(unit, prefix, signal, way).map_or(Place::Lacks(other), Place::Pin);
        let handshake = |channel: &str, way: Way| {
            let valid = find(unit, prefix, &format!("{channel}valid"), way)?;
            Ok::<_, NoPort>([valid, find(unit, prefix, &format!("{channel}ready"), way.other())?])
        };
        let data = number(unit, prefix, "wdata", way)?;
        let bus = (data.width() / 8).max(1) as u32;
        let address = |channel: &str| {
            let or = |signal: &str, other| or(&format!("{channel}{signal}"), way, other);
            let [valid, ready] = handshake(channel, way)?;
            Ok::<_, NoPort>(Address {
                valid,
                ready,
                id: or("id", 0),
                addr: number(unit, prefix, &format!("{channel}addr"), way)?,
                len: or("len", 0),
                size: or("size", bus.ilog2().into()),
                burst: or("burst", 1),
                lock: or("lock", 0),
                cache: or("cache", Burst::UNCACHED.into()),
                prot: or("prot", 0),
            })
        };
        let (aw, ar) = (address("aw")?, address("ar")?);
        Ok(Pins {
            prefix: prefix.to_owned(),
            bus,
            lite: matches!(aw.len, Place::Lacks(_)),
            aw,
            ar,
            w: handshake("w", way)?,
            data,
            strb: or("wstrb", way, u64::MAX >> (64 - bus)),
            w_last: or("wlast", way, 1),
            b: handshake("b", way.other())?,
            b_id: or("bid", way.other(), 0),
            b_resp: or("bresp", way.other(), 0),
            r: handshake("r", way.other())?,
            r_id: or("rid", way.other(), 0),
            r_data: number(unit, prefix, "rdata", way.other())?,
            r_resp: or("rresp", way.other(), 0),
            r_last: or("rlast", way.other(), 1),
        })
    }

    /// What the unit drives as a master. Addresses have 32 bits here.
    fn master(&self) -> Result<FromMaster, String> {
        let address = |at: &Address| {
            let ports: [&dyn Port; 9] = [
                &at.valid, &at.id, &at.addr, &at.len, &at.size, &at.burst, &at.lock, &at.cache, &at.prot,
            ];
            let asked = burst(ports);
            match asked.is_some() && at.addr.get() > u32::MAX.into() {
                true => Err(format!("address {:#x} is beyond 32 bits", at.addr.get())),
                false => Ok(asked),
            }
        };
        Ok(FromMaster {
            aw: address(&self.aw)?,
            w: write_beat([&self.w[0], &self.data, &self.strb, &self.w_last]),
            b_ready: self.b[1].is_set(),
            ar: address(&self.ar)?,
            r_ready: self.r[1].is_set(),
        })
    }

    /// Drives what a master does.
    fn set_master(&self, from: &FromMaster) {
        for (at, burst) in [(&self.aw, from.aw), (&self.ar, from.ar)] {
            let ports: [&dyn Input; 9] = [
                &at.valid, &at.id, &at.addr, &at.len, &at.size, &at.burst, &at.lock, &at.cache, &at.prot,
            ];
            set_burst(ports, burst, 0);
        }
        set_write_beat([&self.w[0], &self.data, &self.strb], from.w);
        self.w_last.set_bool(from.w.is_none_or(|beat| beat.last));
        self.b[1].set_bool(from.b_ready);
        self.r[1].set_bool(from.r_ready);
    }

    /// What the unit drives as a slave.
    fn slave(&self) -> FromSlave {
        let end = write_end([&self.b[0], &self.b_resp]);
        let beat = read_beat([&self.r[0], &self.r_data, &self.r_resp]);
        FromSlave {
            aw_ready: self.aw.ready.is_set(),
            w_ready: self.w[1].is_set(),
            b: end.map(|end| WriteEnd {
                id: self.b_id.get() as u32,
                ..end
            }),
            ar_ready: self.ar.ready.is_set(),
            r: beat.map(|beat| ReadBeat {
                id: self.r_id.get() as u32,
                last: self.r_last.is_set(),
                ..beat
            }),
        }
    }

    /// Drives what a slave does.
    fn set_slave(&self, from: &FromSlave) {
        self.aw.ready.set_bool(from.aw_ready);
        self.w[1].set_bool(from.w_ready);
        set_write_end([&self.b[0], &self.b_id, &self.b_resp], from.b);
        self.ar.ready.set_bool(from.ar_ready);
        set_read_beat(
            [&self.r[0], &self.r_id, &self.r_data, &self.r_resp, &self.r_last],
            from.r,
        );
    }
}

/// An access under way: its answers come in order, for all have one ID.
struct Job {
    ticket: u64,
    /// Beats of a read, bursts of a write.
    left: usize,
    words: Vec<u64>,
    resp: Resp,
}

struct Accesses {
    master: AxiMaster,
    bus: u32,
    lite: bool,
    tickets: u64,
    reads: VecDeque<Job>,
    writes: VecDeque<Job>,
    /// By ticket.
    done: BTreeMap<u64, Job>,
}

impl Accesses {
    /// Whole words that have these bytes, as bursts of at most 256 that stay within 4 KB.
    fn bursts(&self, addr: Addr, bytes: usize) -> Vec<Burst> {
        let (bus, mut at) = (u64::from(self.bus), u64::from(addr.0));
        let end = at + bytes as u64;
        assert!(end <= 1 << 32, "addresses have 32 bits");
        at = at / bus * bus;
        let mut bursts = Vec::new();
        while at < end {
            let most = if self.lite {
                bus
            } else {
                (256 * bus).min(4096 - at % 4096)
            };
            let beats = (end - at).min(most).div_ceil(bus);
            bursts.push(Burst::words(at as u32, beats as u32, self.bus));
            at += beats * bus;
        }
        bursts
    }

    fn ticket(&mut self, left: usize) -> Job {
        self.tickets += 1;
        Job {
            ticket: self.tickets,
            left,
            words: Vec::new(),
            resp: Resp::Okay,
        }
    }
}

/// The front job has one answer more; gives it when it has all.
fn answered(jobs: &mut VecDeque<Job>, word: Option<u64>, resp: Resp) -> Option<Job> {
    let job = jobs.front_mut().expect("the rules allow an answer to an access only");
    job.words.extend(word);
    job.resp = job.resp.max(resp);
    job.left -= 1;
    if job.left == 0 { jobs.pop_front() } else { None }
}

/// Reads and writes through a unit's slave; see [`Bench::axi_master`](super::Bench::axi_master). Clones use the same
/// ports.
#[derive(Clone)]
pub struct AxiBus {
    state: Rc<RefCell<Accesses>>,
}

impl AxiBus {
    pub(super) fn new(unit: &dyn Verilated, prefix: &str) -> Result<(AxiBus, BusAgent), NoPort> {
        let pins = Pins::new(unit, prefix, Way::Input)?;
        let state = Rc::new(RefCell::new(Accesses {
            master: AxiMaster::new(Gaps::None, |name| Seed(0).stream(name)),
            bus: pins.bus,
            lite: pins.lite,
            tickets: 0,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            done: BTreeMap::new(),
        }));
        let agent = BusAgent {
            rules: Rules::new(pins.bus),
            pins,
            from: FromMaster::default(),
            state: state.clone(),
        };
        Ok((AxiBus { state }, agent))
    }

    /// From now on the channels pause like this; `rng` gives a stream of chance by name.
    pub fn pace(&self, gaps: Gaps, rng: impl Fn(&str) -> Rng) {
        self.state.borrow_mut().master.set_gaps(gaps, rng);
    }

    /// Reads bytes, as whole words.
    ///
    /// # Errors
    /// The unit answers with an error.
    ///
    /// # Panics
    /// No bytes, or bytes beyond 32 bits of address.
    pub async fn read(&self, addr: Addr, bytes: usize) -> Result<Vec<u8>, AxiError> {
        let ticket = {
            let state = &mut *self.state.borrow_mut();
            let bursts = state.bursts(addr, bytes);
            assert!(!bursts.is_empty(), "an access has bytes");
            let job = state.ticket(bursts.iter().map(|burst| burst.beats() as usize).sum());
            let ticket = job.ticket;
            state.reads.push_back(job);
            bursts.into_iter().for_each(|burst| state.master.read(burst));
            ticket
        };
        let job = self.answer(ticket).await;
        let bus = self.state.borrow().bus as usize;
        let words = job
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes().into_iter().take(bus));
        match job.resp {
            Resp::Okay | Resp::ExOkay => Ok(words.skip(addr.0 as usize % bus).take(bytes).collect()),
            resp => Err(AxiError { addr, resp }),
        }
    }

    /// Writes bytes; strobes name them in their words. Done when all is answered.
    ///
    /// # Errors
    /// The unit answers with an error.
    ///
    /// # Panics
    /// As of [`read`](AxiBus::read).
    pub async fn write(&self, addr: Addr, data: &[u8]) -> Result<(), AxiError> {
        let ticket = {
            let state = &mut *self.state.borrow_mut();
            let bursts = state.bursts(addr, data.len());
            assert!(!bursts.is_empty(), "an access has bytes");
            let job = state.ticket(bursts.len());
            let ticket = job.ticket;
            state.writes.push_back(job);
            let (first, bus) = (u64::from(addr.0), u64::from(state.bus));
            for burst in bursts {
                let beats = (0..burst.beats()).map(|index| {
                    let word = u64::from(burst.addr) + u64::from(index) * bus;
                    let (mut bytes, mut strb) = ([0; 8], 0);
                    for lane in 0..bus {
                        let at = (word + lane).checked_sub(first);
                        if let Some(byte) = at.and_then(|at| data.get(at as usize)) {
                            bytes[lane as usize] = *byte;
                            strb |= 1 << lane;
                        }
                    }
                    WriteBeat {
                        data: u64::from_le_bytes(bytes),
                        strb,
                        last: index + 1 == burst.beats(),
                    }
                });
                state.master.write(burst, beats);
            }
            ticket
        };
        match self.answer(ticket).await.resp {
            Resp::Okay | Resp::ExOkay => Ok(()),
            resp => Err(AxiError { addr, resp }),
        }
    }

    async fn answer(&self, ticket: u64) -> Job {
        poll_fn(|_| match self.state.borrow_mut().done.remove(&ticket) {
            Some(job) => Poll::Ready(job),
            None => Poll::Pending,
        })
        .await
    }
}

pub(super) struct BusAgent {
    pins: Pins,
    rules: Rules,
    from: FromMaster,
    state: Rc<RefCell<Accesses>>,
}

impl Agent for BusAgent {
    fn side(&self) -> &str {
        &self.pins.prefix
    }

    fn edge(&mut self, _: Picos) -> Result<(), String> {
        let slave = self.pins.slave();
        self.rules
            .step(&self.from, &slave)
            .map_err(|broken| broken.to_string())?;
        let state = &mut *self.state.borrow_mut();
        let taken = state.master.step(&slave);
        let read = taken
            .r
            .and_then(|beat| answered(&mut state.reads, Some(beat.data), beat.resp));
        let written = taken.b.and_then(|end| answered(&mut state.writes, None, end.resp));
        state
            .done
            .extend(read.into_iter().chain(written).map(|job| (job.ticket, job)));
        Ok(())
    }

    fn reset(&mut self) {
        self.rules.forget();
        self.state.borrow_mut().master.reset();
    }

    fn drive(&mut self, in_reset: bool) {
        self.from = match in_reset {
            true => FromMaster::default(),
            false => self.state.borrow_mut().master.drive(),
        };
        self.pins.set_master(&self.from);
    }
}

struct Ram {
    memory: Memory,
    model: AxiMemory,
}

/// A memory behind a unit's master; see [`Bench::axi_ram`](super::Bench::axi_ram). Clones have the same memory.
#[derive(Clone)]
pub struct AxiRam {
    bus: u32,
    state: Rc<RefCell<Ram>>,
}

impl AxiRam {
    pub(super) fn new(unit: &dyn Verilated, prefix: &str, bytes: usize) -> Result<(AxiRam, RamAgent), NoPort> {
        let pins = Pins::new(unit, prefix, Way::Output)?;
        let bus = pins.bus;
        let state = Rc::new(RefCell::new(Ram {
            memory: Memory::new(bytes),
            model: AxiMemory::new(bus, AxiTiming::IDEAL, |name| Seed(0).stream(name)),
        }));
        let agent = RamAgent {
            rules: Rules::new(bus),
            pins,
            cycle: 0,
            state: state.clone(),
        };
        Ok((AxiRam { bus, state }, agent))
    }

    /// Answers like this; `rng` gives a stream of chance by name.
    ///
    /// # Panics
    /// An access is under way.
    pub fn timing(&self, timing: AxiTiming, rng: impl Fn(&str) -> Rng) {
        let mut state = self.state.borrow_mut();
        assert!(state.model.is_idle(), "an access is under way");
        state.model = AxiMemory::new(self.bus, timing, rng);
    }

    /// Reads and writes the memory in no time.
    pub fn memory<T>(&self, f: impl FnOnce(&mut Memory) -> T) -> T {
        f(&mut self.state.borrow_mut().memory)
    }
}

pub(super) struct RamAgent {
    pins: Pins,
    rules: Rules,
    cycle: u64,
    state: Rc<RefCell<Ram>>,
}

impl Agent for RamAgent {
    fn side(&self) -> &str {
        &self.pins.prefix
    }

    fn edge(&mut self, _: Picos) -> Result<(), String> {
        let from = self.pins.master()?;
        let Ram { memory, model } = &mut *self.state.borrow_mut();
        self.rules
            .step(&from, model.ports())
            .map_err(|broken| broken.to_string())?;
        model.step(Cycle(self.cycle), memory, &from, |_| ());
        self.cycle += 1;
        Ok(())
    }

    fn reset(&mut self) {
        self.rules.forget();
        self.state.borrow_mut().model.reset();
    }

    fn drive(&mut self, in_reset: bool) {
        match in_reset {
            true => self.pins.set_slave(&FromSlave::default()),
            false => self.pins.set_slave(self.state.borrow().model.ports()),
        }
    }
}
