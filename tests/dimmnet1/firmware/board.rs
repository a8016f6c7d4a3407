//! The registers that the firmware sees, and the processor that runs it.

use tsunagi::dimmnet1::firmware::contract::{Engine, Fill, Go, Outcome, Stop};
use tsunagi::dimmnet1::firmware::{CELL_POINTER, CELL_SYSTEM, Tables, image_of};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::r3000::asm::{Image, Source};
use tsunagi::r3000::golden::{Bus, BusError, Cpu};
use tsunagi::r3000::timing::Timing;

/// Instructions of the longest stop: that of a transfer that never ends.
const STEPS: u64 = 50_000;
/// Cycles of `dimmnet1_bus` from an access to its answer, and for a load from LLCM.
const ANSWER: u64 = 1;
const LLCM_LOAD: u64 = 3;

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
    /// So many loads answer; the next one fails.
    pub loads: Option<u64>,
    /// A pointer that the host posts behind so many accesses of LLCM: as soon as the cell here lets it.
    pub post: Option<(u64, usize, u64)>,
    /// Words that called the host.
    pub calls: Vec<u32>,
    /// How the next transfer ends; none: it does not.
    pub ends: Option<u32>,
    /// Looks at RX_STOP until a transfer ends; none: a random number.
    pub looks: Option<u64>,
    /// A stop that begins behind so many looks at RX_STOP.
    pub later: Option<(u64, Stop)>,
    poll: bool,
    stops: [Option<Stop>; 2],
    /// How the stops ended, in order.
    ended: Vec<Outcome>,
    header: [u64; 6],
    transfer: Option<Transfer>,
    done: Option<u32>,
    /// RX_DMA, and the registers that take several words.
    dma: [u64; 1],
    rva: [u64; 3],
    pa: [u64; 2],
    build: [u64; 4],
    /// An entry that a TLB took in this stop.
    fill: Option<Fill>,
    rng: Rng,
    /// What no firmware may do.
    wrong: Option<String>,
    /// Cycles of the latest access.
    answer: u64,
}

impl Board {
    fn new(poll: bool, rng: Rng) -> Board {
        Board {
            llcm: vec![0; SIZE_LLCM as usize],
            loads: None,
            post: None,
            calls: Vec::new(),
            ends: Some(0),
            looks: None,
            later: None,
            poll,
            stops: [None; 2],
            ended: Vec::new(),
            header: [0; 6],
            transfer: None,
            done: None,
            dma: [0],
            rva: [0; 3],
            pa: [0; 2],
            build: [0; 4],
            fill: None,
            rng,
            wrong: None,
            answer: ANSWER,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stops.iter().any(Option::is_some)
    }

    fn begin(&mut self, stop: Stop) {
        self.stops[stop.who as usize] = Some(stop);
        if stop.who == Engine::Receiver {
            self.header = stop.header;
        }
    }

    fn rx_stop(&mut self) -> u64 {
        if let Some(Transfer { looks, reason }) = self.transfer {
            match looks {
                0 => (self.transfer, self.done) = (None, Some(reason)),
                _ => {
                    self.transfer = Some(Transfer {
                        looks: looks - 1,
                        reason,
                    })
                }
            }
        }
        if let Some((looks, stop)) = self.later.take() {
            match looks {
                0 => self.begin(stop),
                _ => self.later = Some((looks - 1, stop)),
            }
        }
        let mut word = (self.header[0] & HDR_W0_TYPE_MASK) << RX_STOP_TYPE_SHIFT;
        if let Some(reason) = self.done {
            word |= RX_STOP_DONE_MASK | u64::from(reason) << RX_STOP_DONE_REASON_SHIFT;
        }
        let [receiver, rdma] = self.stops.map(|stop| stop.map(|stop| u64::from(stop.cause)));
        let receiver = receiver.map_or(0, |cause| RX_STOP_STOPPED_MASK | cause << RX_STOP_CAUSE_SHIFT);
        let rdma = rdma.map_or(0, |cause| RX_STOP_RDMA_MASK | cause << RX_STOP_RDMA_CAUSE_SHIFT);
        let more = self.stops[0].is_some_and(|stop| stop.more);
        word | receiver | rdma | u64::from(more) << RX_STOP_MORE_SHIFT
    }

    fn host_before(&mut self, at: u32) {
        if at >= LLCM {
            self.host();
        }
    }

    /// What the host does before an access of LLCM.
    pub fn host(&mut self) {
        let Some((accesses, at, pointer)) = self.post else {
            return;
        };
        let half = |word: u32| &self.llcm[at + word as usize..][..4];
        if accesses > 0 {
            self.post = Some((accesses - 1, at, pointer));
        } else if half(CELL_POINTER + 4) == half(CELL_SYSTEM) {
            self.llcm[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
            self.post = None;
        }
    }

    fn wrong(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    fn end_stop(&mut self, who: Engine, half: u32) {
        if self.stops[who as usize].take().is_none() {
            return self.wrong(format!("{who:?} is not stopped, and must go: {half:#x}"));
        }
        let reason = (u64::from(half) & RX_GO_REASON_MASK) >> RX_GO_REASON_SHIFT;
        let go = match (u64::from(half) & RX_GO_WHAT_MASK) as u32 {
            GO_CONTINUE => Go::Continue,
            GO_DROP => Go::Drop,
            GO_NACK => Go::Nack(reason as u32),
            GO_PART => Go::Part((half >> RX_GO_BYTES_SHIFT) as u16),
            _ => Go::Dma(self.dma[0]),
        };
        if matches!(go, Go::Dma(_)) {
            self.done = None;
            let looks = self.looks.unwrap_or_else(|| self.rng.below(5));
            self.transfer = self.ends.map(|reason| Transfer { looks, reason });
        }
        let continues = matches!(go, Go::Continue | Go::Part(_)) && who == Engine::Receiver;
        self.ended.push(Outcome {
            header: continues.then_some(self.header),
            fill: self.fill.take(),
            ..go.into()
        });
        if who == Engine::Receiver {
            // The next packet's header may stand here at once.
            self.header = self.header.map(|_| self.rng.bits());
        }
    }

    fn store_word(&mut self, at: u32, data: u32) {
        let (base, words): (u32, &mut [u64]) = match at {
            RX_HEADER..RX_STOP if self.stops[0].is_none() => {
                return self.wrong("store to the header of no stop".into());
            }
            RX_HEADER..RX_STOP => (RX_HEADER, &mut self.header),
            RVATLB..PATLB => (RVATLB, &mut self.rva),
            PATLB..TLB_FLUSH => (PATLB, &mut self.pa),
            RX_DMA => (RX_DMA, &mut self.dma),
            BUILD..BUILD_GO => (BUILD, &mut self.build),
            RX_GO => return self.end_stop(Engine::Receiver, data),
            RDMA_GO => return self.end_stop(Engine::Rdma, data),
            BUILD_GO => return self.send(data),
            CALL => return self.calls.push(data),
            _ => return self.wrong(format!("store to {at:#x}")),
        };
        let shift = at % 8 * 8;
        if let Some(word) = words.get_mut((at - base) as usize / 8) {
            *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(data) << shift;
        }
        // The low half of the last word stores the entry.
        let fill = match at {
            _ if at == RVATLB + RVA_BOUND => Fill::Region(self.rva),
            _ if at == PATLB + PA_FRAME => Fill::Page(self.pa),
            _ => return,
        };
        if self.fill.replace(fill).is_some() || !self.is_stopped() {
            self.wrong("an entry too many, or too late".into());
        }
    }

    fn send(&mut self, how: u32) {
        if self.transfer.is_some() {
            self.wrong("an answer before the data are visible".into());
        }
        let words = if how & 1 != 0 { 4 } else { 3 };
        match self.ended.last_mut() {
            Some(outcome) => outcome.packets.push(self.build[..words].to_vec()),
            None => self.wrong("a packet of no stop".into()),
        }
    }

    fn load_word(&mut self, at: u32) -> Result<u32, BusError> {
        let key = |stop: Option<Stop>| stop.map_or(0, |stop| stop.key);
        let word = match at {
            RX_HEADER..RX_STOP => self.header[(at - RX_HEADER) as usize / 8],
            RX_STOP => self.rx_stop(),
            CONTROL => CONTROL_RUN_MASK | if self.poll { CONTROL_POLL_MASK } else { 0 },
            RX_PAGE..RDMA_KEY => key(self.stops[0]),
            RDMA_KEY..RDMA_GO => key(self.stops[1]),
            _ => return Err(BusError),
        };
        Ok((word >> (at % 8 * 8)) as u32)
    }
}

impl Bus for Board {
    fn load(&mut self, addr: u32, _: u8) -> Result<u32, BusError> {
        if self.loads == Some(0) {
            self.loads = None;
            return Err(BusError);
        }
        self.loads = self.loads.map(|loads| loads - 1);
        let at = addr & 0x7fff_ffff;
        self.answer = if at >= LLCM { LLCM_LOAD } else { ANSWER };
        self.host_before(at);
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
        self.answer = ANSWER;
        self.host_before(at);
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
    pub board: Board,
    pub image: Image,
    rest: u32,
}

impl Bench {
    /// A bench whose firmware waits for its first stop.
    pub fn new(sources: &[Source], tables: &Tables, poll: bool, rng: Rng) -> Result<Bench, String> {
        let image = image_of(sources, tables).map_err(|error| error.to_string())?;
        let mut sram = image.words.clone();
        sram.resize(SIZE_SRAM as usize / 4, 0);
        let rest = image.symbols[if poll { "poll" } else { "idle" }];
        let mut bench = Bench {
            cpu: Cpu::new(sram),
            timing: Timing::new(0),
            board: Board::new(poll, rng),
            image,
            rest,
        };
        bench.run(0)?;
        Ok(bench)
    }

    /// Runs until the firmware waits; the interrupt line falls `linger` instructions after the last stop has ended.
    /// Gives the cycle in which the bus saw the end of each stop.
    fn run(&mut self, linger: u64) -> Result<Vec<u64>, String> {
        let mut ends = Vec::new();
        let mut high = linger;
        for _ in 0..STEPS {
            let is_stopped = self.board.is_stopped();
            if !is_stopped {
                high = high.saturating_sub(1);
            }
            let irq = !self.board.poll && (is_stopped || high > 0);
            let is_awake = !self.board.poll && !self.cpu.interrupts(true);
            if !is_stopped && !irq && !is_awake && self.cpu.pc == self.rest {
                return Ok(ends);
            }
            let executes = if self.cpu.interrupts(irq) {
                Some(self.timing.arrives())
            } else {
                self.timing.executes(self.cpu.need())
            };
            let e = executes.ok_or("the processor sleeps, but nothing is done")?;
            let before = self.board.ended.len();
            let retired = self.cpu.step(&mut self.board, irq);
            self.timing.retires(e, &retired, |seen| seen + self.board.answer);
            if self.board.ended.len() > before {
                ends.push(e + 1);
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

    /// Begins the stops, and runs until the firmware waits again. Gives how all stops ended, in order.
    pub fn serve(&mut self, stops: &[Stop], linger: u64) -> Result<(Vec<Outcome>, Cycles), String> {
        stops.iter().for_each(|stop| self.board.begin(*stop));
        let start = self.timing.arrives();
        let ends = self.run(linger)?;
        let go = ends.first().ok_or("the stop did not end")? - start;
        let rest = self.timing.arrives() - start;
        Ok((std::mem::take(&mut self.board.ended), Cycles { go, rest }))
    }
}
