//! The registers that the firmware sees, and the processor that runs it.

use std::cell::Cell;

use tsunagi::dimmnet1::firmware::contract::{Engine, Fill, Go, Outcome, Stop};
use tsunagi::dimmnet1::firmware::{LLCM_PAGE, Tables, image_of};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::r3000::asm::{Image, Source};
use tsunagi::r3000::golden::{Bus, BusError, Cpu};
use tsunagi::r3000::timing::Timing;

/// Instructions of the longest stop: that of a transfer that never ends.
const STEPS: u64 = 300_000;
/// Cycles from an access to its answer: of a register, and of LLCM.
const REGISTER: u64 = 1;
const MEMORY: u64 = 2;

/// A transfer that RX_GO DMA began.
#[derive(Clone, Copy)]
struct Transfer {
    /// Looks at RX_STOP until it ends.
    looks: u64,
    reason: u32,
}

/// The card, as far as the firmware sees it.
pub struct Board {
    pub llcm: Vec<u8>,
    /// Under which load of a register the bus fails; counts down.
    pub bus_fails: Cell<Option<u32>>,
    pub calls: u32,
    poll: bool,
    /// The stop, until it ends.
    stop: Option<Stop>,
    header: [u64; 6],
    transfer: Option<Transfer>,
    done: Option<u32>,
    /// How the next transfer ends; none: it does not.
    pub ends: Option<u32>,
    /// Where the next transfer must begin.
    dma: u64,
    rva: [u64; 3],
    pa: [u64; 2],
    build: [u64; 4],
    rng: Rng,
    go: Option<Outcome>,
    early: Option<Fill>,
    packets: Vec<Vec<u64>>,
    /// What no firmware may do.
    wrong: Option<String>,
    /// The latest access was LLCM's.
    slow: bool,
}

impl Board {
    fn new(poll: bool, rng: Rng) -> Board {
        Board {
            llcm: vec![0; SIZE__LLCM as usize],
            bus_fails: Cell::new(None),
            calls: 0,
            poll,
            stop: None,
            header: [0; 6],
            transfer: None,
            done: None,
            ends: Some(0),
            dma: 0,
            rva: [0; 3],
            pa: [0; 2],
            build: [0; 4],
            rng,
            go: None,
            early: None,
            packets: Vec::new(),
            wrong: None,
            slow: false,
        }
    }

    fn rx_stop(&mut self) -> u64 {
        if let Some(Transfer { looks, reason }) = self.transfer {
            match looks {
                0 => (self.transfer, self.done) = (None, Some(reason)),
                _ => self.transfer = Some(Transfer { looks: looks - 1, reason }),
            }
        }
        let mut word = (self.header[0] & HDR__W0_TYPE_MASK) << RX_STOP_TYPE_SHIFT;
        if let Some(reason) = self.done {
            word |= RX_STOP_DONE_MASK | u64::from(reason) << RX_STOP_DONE_REASON_SHIFT;
        }
        word | match self.stop {
            Some(stop) if stop.who == Engine::Rdma => {
                RX_STOP_RDMA_MASK | u64::from(stop.cause) << RX_STOP_RDMA_CAUSE_SHIFT
            }
            Some(stop) => RX_STOP_STOPPED_MASK | u64::from(stop.cause) << RX_STOP_CAUSE_SHIFT,
            None => 0,
        }
    }

    fn wrong(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    fn end_stop(&mut self, who: Engine, half: u32) {
        if self.stop.is_none_or(|stop| stop.who != who) {
            return self.wrong(format!("{who:?} is not stopped, and must go: {half:#x}"));
        }
        let reason = (u64::from(half) & RX_GO_REASON_MASK) >> RX_GO_REASON_SHIFT;
        let go = match (u64::from(half) & RX_GO_WHAT_MASK) as u32 {
            GO__CONTINUE => Go::Continue,
            GO__DROP => Go::Drop,
            GO__NACK => Go::Nack(reason as u32),
            _ => Go::Dma(self.dma),
        };
        if matches!(go, Go::Dma(_)) {
            self.done = None;
            let looks = self.rng.below(5);
            self.transfer = self.ends.map(|reason| Transfer { looks, reason });
        }
        let continues = go == Go::Continue && who == Engine::Receiver;
        let go = Outcome {
            header: continues.then_some(self.header),
            fill: self.early.take(),
            ..go.into()
        };
        self.go = Some(go);
        self.stop = None;
        // The next packet's header may stand here at once.
        for word in &mut self.header {
            *word = self.rng.bits();
        }
    }

    fn store_register(&mut self, at: u32, data: u32) {
        let words: &mut [u64] = match at {
            RX_HEADER..RX_STOP => &mut self.header,
            RVATLB..PATLB => &mut self.rva,
            PATLB..TLB_FLUSH => &mut self.pa,
            BUILD..BUILD_GO => &mut self.build,
            _ => std::slice::from_mut(&mut self.dma),
        };
        let base = match at {
            RX_HEADER..RX_STOP => RX_HEADER,
            RVATLB..PATLB => RVATLB,
            PATLB..TLB_FLUSH => PATLB,
            BUILD..BUILD_GO => BUILD,
            _ => RX_DMA,
        };
        let (word, shift) = ((at - base) as usize / 8, at % 8 * 8);
        let Some(word) = words.get_mut(word) else {
            return self.wrong(format!("store to {at:#x}"));
        };
        *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(data) << shift;
    }

    fn store_word(&mut self, at: u32, data: u32) {
        match at {
            RX_HEADER..RX_STOP if self.stop.is_none() => self.wrong("store to the header of no stop".into()),
            RX_HEADER..RX_STOP | RX_DMA | BUILD..BUILD_GO => self.store_register(at, data),
            RVATLB..TLB_FLUSH => {
                self.store_register(at, data);
                // The low half of the last word stores the entry.
                let stored = match at - RVATLB {
                    RVA__BOUND => Some(Fill::Region(self.rva)),
                    _ if at == PATLB + PA__FRAME => Some(Fill::Page(self.pa)),
                    _ => None,
                };
                if stored.is_some() && (self.early.is_some() || self.stop.is_none()) {
                    self.wrong("an entry too many, or too late".into());
                }
                self.early = stored.or(self.early);
            }
            RX_GO => self.end_stop(Engine::Receiver, data),
            RDMA_GO => self.end_stop(Engine::Rdma, data),
            BUILD_GO => {
                if self.transfer.is_some() {
                    self.wrong("an answer before the data are visible".into());
                }
                let words = if data & 1 != 0 { 4 } else { 3 };
                self.packets.push(self.build[..words].to_vec());
            }
            CALL => self.calls += 1,
            _ => self.wrong(format!("store to {at:#x}")),
        }
    }

    fn load_word(&mut self, at: u32) -> Result<u32, BusError> {
        let word = match at {
            RX_HEADER..RX_STOP => self.header[(at - RX_HEADER) as usize / 8],
            RX_STOP => self.rx_stop(),
            CONTROL => CONTROL_RUN_MASK | if self.poll { CONTROL_POLL_MASK } else { 0 },
            RX_PAGE..RDMA_GO => self.stop.map_or(0, |stop| stop.key),
            _ => return Err(BusError),
        };
        Ok((word >> (at % 8 * 8)) as u32)
    }
}

impl Bus for Board {
    fn load(&mut self, addr: u32, _: u8) -> Result<u32, BusError> {
        if let Some(loads) = self.bus_fails.get() {
            self.bus_fails.set(loads.checked_sub(1));
            if loads == 0 {
                return Err(BusError);
            }
        }
        let at = addr & 0x7fff_ffff;
        self.slow = at >= LLCM;
        match at.checked_sub(LLCM).map(|byte| byte as usize) {
            Some(byte) => {
                let bytes = self.llcm.get(byte..byte + 4).ok_or(BusError)?;
                Ok(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
            }
            None => self.load_word(at),
        }
    }

    fn store(&mut self, addr: u32, enables: u8, data: u32) -> Result<(), BusError> {
        let at = addr & 0x7fff_ffff;
        self.slow = at >= LLCM;
        if enables != 15 {
            self.wrong(format!("store to {at:#x} with bytes {enables:#x}"));
        }
        match at.checked_sub(LLCM).map(|byte| byte as usize) {
            Some(byte) => match self.llcm.get_mut(byte..byte + 4) {
                Some(bytes) => bytes.copy_from_slice(&data.to_le_bytes()),
                None => self.wrong(format!("store to {at:#x}")),
            },
            None => self.store_word(at, data),
        }
        Ok(())
    }
}

/// What a stop took: cycles from the interrupt, or from the stop in a polling loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Until the bus sees the store that ends the stop.
    pub go: u64,
    /// Until the processor waits again.
    pub rest: u64,
}

/// The processor with its firmware, on a board.
pub struct Bench {
    cpu: Cpu,
    timing: Timing,
    now: u64,
    pub board: Board,
    pub image: Image,
    rest: u32,
}

impl Bench {
    /// A bench whose firmware waits for its first stop.
    pub fn new(sources: &[Source], tables: &Tables, poll: bool, rng: Rng) -> Result<Bench, String> {
        let image = image_of(sources, tables).map_err(|error| error.to_string())?;
        let mut sram = image.words.clone();
        sram.resize(SIZE__SRAM as usize / 4, 0);
        let rest = image.symbols[if poll { "poll" } else { "idle" }];
        let mut bench = Bench {
            cpu: Cpu::new(sram),
            timing: Timing::new(0),
            now: 0,
            board: Board::new(poll, rng),
            image,
            rest,
        };
        bench.run(0)?;
        Ok(bench)
    }

    /// Runs until the firmware waits; the interrupt line falls `linger` instructions after the stop has ended.
    fn run(&mut self, linger: u64) -> Result<u64, String> {
        let mut go = 0;
        let mut high = linger;
        for _ in 0..STEPS {
            if self.board.stop.is_none() {
                high = high.saturating_sub(1);
            }
            let irq = !self.board.poll && high > 0;
            let is_waiting = self.board.stop.is_none() && !irq && self.cpu.pc == self.rest;
            if is_waiting && (self.board.poll || self.cpu.interrupts(true)) {
                return Ok(go);
            }
            let executes = if self.cpu.interrupts(irq) {
                Some(self.timing.arrives())
            } else {
                self.timing.executes(self.cpu.need())
            };
            let e = executes.ok_or("the processor sleeps, but nothing is done")?;
            let before = self.board.stop.is_some();
            let retired = self.cpu.step(&mut self.board, irq);
            let answer = if self.board.slow { MEMORY } else { REGISTER };
            self.now = self.timing.retires(e, &retired, |seen| seen + answer);
            if before && self.board.stop.is_none() {
                go = e + 1;
            }
            if let Some(wrong) = self.board.wrong.take() {
                return Err(format!("at {}: {wrong}", self.line(retired.pc)));
            }
        }
        Err(format!("no end; now at {}", self.line(self.cpu.pc)))
    }

    fn line(&self, pc: u32) -> String {
        let place = self.image.places.get(pc as usize / 4).copied().flatten();
        place.map_or(format!("{pc:#x}"), |place| {
            format!("{}:{}", self.image.sources[place.source].name, place.line)
        })
    }

    /// Stops the receiver or the RDMA engine, and runs until the firmware waits again.
    pub fn serve(&mut self, stop: Stop, linger: u64) -> Result<(Outcome, Cycles), String> {
        self.board.stop = Some(stop);
        self.board.header = stop.header;
        let start = self.timing.arrives();
        let go = self.run(linger.max(1))?;
        let mut outcome = self.board.go.take().ok_or("the stop did not end")?;
        outcome.packets = std::mem::take(&mut self.board.packets);
        let rest = self.timing.arrives();
        Ok((outcome, Cycles { go: go - start, rest: rest - start }))
    }
}

/// The physical address of a byte of LLCM.
pub fn physical_llcm(byte: u64) -> u64 {
    (u64::from(LLCM_PAGE) << 12) + byte
}
