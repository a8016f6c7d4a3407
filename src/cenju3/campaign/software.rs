//! Software of a node: its programs, its service of the Receiver, and what it does about a reset.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use thiserror::Error;

use super::{Command, DMA_HEADERS, LOOK, MSG_BODIES, MSG_HEADERS, QUEUES, Rings};
use crate::campaign::{Deed, Sleeper, Victim};
use crate::cenju3::golden::packet::{Kind, PacketHeader, ParcelHeader, Status, get};
use crate::cenju3::params::Config;
use crate::cenju3::regs::*;
use crate::cenju3::window::REGISTERS;
use crate::harness::exec::{Host, RegError};
use crate::harness::faults::Fault;
use crate::harness::sync::Lock;
use crate::{Addr, Picos};

/// A parcel that was queued.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// In the ring, since the last reset.
    pub index: u8,
    /// Resets of the NIC before.
    pub life: u32,
    pub at: Picos,
    pub bytes: [u8; PARCEL_HEADER_BYTES as usize],
    pub parcel: Result<ParcelHeader, Status>,
}

/// A packet that software took from a header ring.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub header: [u8; PACKET_HEADER_BYTES as usize],
    /// What its slot or its destination held then.
    pub body: Vec<u8>,
}

/// What software of a node has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// By queue, in order.
    pub queued: [Vec<Queued>; 2],
    /// By ring: messages, DMA.
    pub taken: [Vec<Taken>; 2],
    /// Life, queue, ring index and status of a refused parcel.
    pub refused: Vec<(u32, usize, u8, u32)>,
    /// Offsets without a register at which an access was not refused.
    pub poked: Vec<u32>,
    /// Causes, all that were ever pending.
    pub causes: u32,
    /// Causes that packets taken at the last look asked for, and that were not seen yet.
    pub owed: u32,
    /// The cause of an arrival was seen since the look that took the last packet with one.
    pub arrived: bool,
    /// A packet was taken, and its cause did not come.
    pub silent: Option<u32>,
    /// A header ring with a packet at which the Receiver halts, and did not.
    pub unhalted: Option<usize>,
    pub drops: u32,
}

/// Software of one node, its programs and its service of the Receiver.
pub(super) struct Software {
    pub host: Host,
    pub rings: Rings,
    pub seen: RefCell<Seen>,
    pub sleeper: Sleeper,
    pub config: Config,
    /// Resets of the NIC; whether it is initialized since; when that was done.
    pub life: Cell<u32>,
    /// Resets that have not ended.
    pub resets: Cell<u32>,
    pub up: Cell<bool>,
    pub up_since: Cell<Picos>,
    /// `R_CTRL`; what it has had on ever since the last look; that look has restarted the Receiver.
    pub control: Cell<u32>,
    pub held: Cell<u32>,
    pub restarted: Cell<bool>,
    /// Packets that may have come before `R_CTRL` was last changed.
    pub unsure: Cell<u32>,
    /// By queue: the number of the parcel with index 0.
    pub first: Cell<[usize; 2]>,
    pub gets: Cell<[u32; 2]>,
    pub body_gets: Cell<[u32; 2]>,
    pub service: Lock,
}

impl Software {
    /// Waits until the NIC is initialized. Gives its life.
    pub async fn life(&self) -> u32 {
        while !self.up.get() {
            self.host.delay(LOOK).await;
        }
        self.life.get()
    }

    async fn read(&self, life: u32, offset: u32) -> Result<u32, Stop> {
        let value = self.host.reg_read(REGISTERS + u64::from(offset)).await;
        if self.life.get() == life {
            Ok(value?)
        } else {
            Err(Stop::Reset)
        }
    }

    async fn write(&self, life: u32, offset: u32, value: u32) -> Result<(), Stop> {
        if self.life.get() != life {
            return Err(Stop::Reset);
        }
        let done = self.host.reg_write(REGISTERS + u64::from(offset), value).await;
        if self.life.get() == life {
            Ok(done?)
        } else {
            Err(Stop::Reset)
        }
    }

    /// Initializes the NIC. Parcels of the life before are not sent again.
    pub async fn boot(self: Rc<Self>) -> Result<(), Stop> {
        let life = self.life.get();
        let Rings { headers, bodies } = self.rings;
        let queued = self.seen.borrow().queued.each_ref().map(Vec::len);
        self.first.set(queued);
        self.gets.set([0; 2]);
        self.body_gets.set([0; 2]);
        self.seen.borrow_mut().owed = 0;
        self.seen.borrow_mut().arrived = false;
        let base = |queue: usize| QUEUES[queue] + queued[queue] as u32 * PARCEL_HEADER_BYTES;
        for (offset, value) in [
            (NODE_ID, self.host.node().0.into()),
            (SQ0_BASE, base(0)),
            (SQ1_BASE, base(1)),
            (MHB_BASE, MSG_HEADERS),
            (MHB_SIZE, headers[0]),
            (DHB_BASE, DMA_HEADERS),
            (DHB_SIZE, headers[1]),
            (MBB0_BASE, MSG_BODIES[0]),
            (MBB0_SIZE, bodies[0]),
            (MBB1_BASE, MSG_BODIES[1]),
            (MBB1_SIZE, bodies[1]),
        ] {
            self.write(life, offset, value).await?;
        }
        // Only while the links are idle.
        if life == 0 {
            self.write(life, S_GAP, self.config.s_gap).await?;
            self.write(life, R_THRESH, self.config.r_thresh).await?;
        }
        self.write(life, R_CTRL, self.control.get()).await?;
        self.held.set(self.control.get());
        self.restarted.set(false);
        self.unsure.set(0);
        self.up.set(true);
        self.up_since.set(self.host.now());
        Ok(())
    }

    pub async fn program(self: Rc<Self>, commands: Vec<Command>) -> Result<(), Stop> {
        for command in commands {
            self.sleeper.awake(&self.host).await;
            let life = self.life().await;
            match command {
                Command::Pause(span) => self.host.delay(span).await,
                Command::Start { queue } => self.start(life, queue).await?,
                Command::Halt(halts) => self.halt(halts).await?,
                Command::Parcel { queue, mut parcel } => {
                    // No two packets of a run have the same header.
                    parcel.soft[1] |= life << 24;
                    self.queue(queue, parcel.encode());
                }
                Command::Raw { queue, words } => {
                    let bytes = words.map(u32::to_le_bytes);
                    self.queue(queue, bytes.as_flattened().try_into().expect("eight words"));
                }
                Command::Poke { offset, value } => {
                    let at = REGISTERS + u64::from(offset);
                    let written = self.host.reg_write(at, value).await.is_ok();
                    if self.host.reg_read(at).await.is_ok() || written {
                        self.seen.borrow_mut().poked.push(offset);
                    }
                }
            }
        }
        for queue in 0..2 {
            let life = self.life().await;
            self.start(life, queue).await?;
        }
        Ok(())
    }

    /// Writes a parcel header into a queue, if there is place.
    fn queue(&self, queue: usize, bytes: [u8; PARCEL_HEADER_BYTES as usize]) {
        let queued = &mut self.seen.borrow_mut().queued[queue];
        let (number, index) = (queued.len(), queued.len() - self.first.get()[queue]);
        // One entry stays free, and no entry is used twice.
        if number < 255 {
            let at = QUEUES[queue] + number as u32 * PARCEL_HEADER_BYTES;
            self.host.write(Addr(at), &bytes);
            queued.push(Queued {
                index: index as u8,
                life: self.life.get(),
                at: self.host.now(),
                bytes,
                parcel: ParcelHeader::decode(&bytes),
            });
        }
    }

    /// Tells the Sender of all that was queued. A reset meanwhile makes that void.
    async fn start(&self, life: u32, queue: usize) -> Result<(), Stop> {
        let put = self.seen.borrow().queued[queue].len() - self.first.get()[queue];
        match self.write(life, [SQ0_PUT, SQ1_PUT][queue], put as u32).await {
            Err(Stop::Reset) => Ok(()),
            done => done,
        }
    }

    /// The Receiver halts at these events from now on, and at no others.
    async fn halt(&self, halts: u32) -> Result<(), Stop> {
        let _alone = self.service.hold().await;
        let life = self.life().await;
        self.control.set(CONTROL | halts);
        self.held.set(self.held.get() & self.control.get());
        self.unsure.set(AHEAD);
        match self.write(life, R_CTRL, self.control.get()).await {
            Err(Stop::Reset) => Ok(()),
            done => done,
        }
    }

    /// Serves interrupts for ever.
    pub async fn serve_interrupts(self: Rc<Self>) -> Result<(), Stop> {
        loop {
            self.host.irq().await;
            self.sleeper.awake(&self.host).await;
            self.serve().await?;
        }
    }

    /// Serves once. A reset meanwhile makes that void.
    pub async fn serve(&self) -> Result<(), Stop> {
        let _alone = self.service.hold().await;
        let life = self.life().await;
        match self.serve_in(life).await {
            Err(Stop::Reset) => Ok(()),
            done => done,
        }
    }

    /// Takes what was published, clears causes, resumes and restarts.
    async fn serve_in(&self, life: u32) -> Result<(), Stop> {
        let stat = self.read(life, R_STAT).await?;
        let causes = stat & CAUSES;
        {
            let mut seen = self.seen.borrow_mut();
            seen.causes |= causes;
            let missing = seen.owed & !causes;
            seen.silent = seen.silent.or((missing != 0).then_some(missing));
            seen.owed = 0;
            seen.arrived |= causes & R_STAT_ARRIVAL_MASK != 0;
        }
        self.write(life, R_STAT, causes).await?;
        if causes & R_STAT_SEND_ERROR_MASK != 0 {
            self.resume(life).await?;
        }
        for ring in 0..2 {
            let put = self.read(life, [MHB_PUT, DHB_PUT][ring]).await?;
            self.take(life, ring, put, causes).await?;
        }
        let restarts = stat & R_STAT_HALTED_MASK != 0;
        if restarts {
            self.write(life, R_CTRL, self.control.get() | R_CTRL_RESTART_MASK)
                .await?;
        }
        self.restarted.set(restarts);
        self.held.set(self.control.get());
        let drops = self.read(life, R_DROP).await?;
        self.seen.borrow_mut().drops = drops;
        Ok(())
    }

    async fn resume(&self, life: u32) -> Result<(), Stop> {
        let stat = self.read(life, S_STAT).await?;
        for (queue, halted, error, resume) in [
            (0, S_STAT_HALTED0_MASK, S_STAT_ERROR0_MASK, S_CTRL_RESUME0_MASK),
            (1, S_STAT_HALTED1_MASK, S_STAT_ERROR1_MASK, S_CTRL_RESUME1_MASK),
        ] {
            if stat & halted != 0 {
                let index = self.read(life, [SQ0_GET, SQ1_GET][queue]).await? as u8;
                let status = get(error, stat);
                self.seen.borrow_mut().refused.push((life, queue, index, status));
                self.write(life, S_CTRL, resume).await?;
            }
        }
        Ok(())
    }

    /// Takes the entries of a header ring up to `put`, and the slots of their bodies.
    async fn take(&self, life: u32, ring: usize, put: u32, causes: u32) -> Result<(), Stop> {
        let (mut gets, mut body_gets) = (self.gets.get(), self.body_gets.get());
        if gets[ring] == put {
            return Ok(());
        }
        let (mut arrivals, mut passed) = (false, Passed::default());
        while gets[ring] != put {
            let base = [MSG_HEADERS, DMA_HEADERS][ring];
            let header = self
                .host
                .read(Addr(base + gets[ring] * PACKET_HEADER_BYTES), PACKET_HEADER_BYTES);
            let header: [u8; PACKET_HEADER_BYTES as usize] = header.try_into().expect("a header's bytes");
            let mut body = Vec::new();
            if let Ok(PacketHeader {
                kind,
                arr,
                end,
                bytes,
                dest,
                ..
            }) = PacketHeader::decode(&header)
            {
                let at = match kind.buffer() {
                    Some(buffer) => {
                        let slot = body_gets[buffer];
                        body_gets[buffer] = (slot + 1) % self.rings.bodies[buffer];
                        MSG_BODIES[buffer] + slot * BODY_SLOT_BYTES
                    }
                    None => dest,
                };
                body = self.host.read(Addr(at), bytes);
                // The Receiver decides with a packet's header.
                let known = self.unsure.get() == 0;
                passed.add(if known { self.held.get() } else { 0 }, kind, arr, end);
                self.unsure.set(self.unsure.get().saturating_sub(1));
                let mut seen = self.seen.borrow_mut();
                if end {
                    seen.owed |= R_STAT_END_MASK & !causes;
                }
                if arr {
                    seen.owed |= if seen.arrived { 0 } else { R_STAT_ARRIVAL_MASK };
                    arrivals = true;
                }
            }
            self.seen.borrow_mut().taken[ring].push(Taken { header, body });
            gets[ring] = (gets[ring] + 1) % self.rings.headers[ring];
        }
        if arrivals {
            self.seen.borrow_mut().arrived = causes & R_STAT_ARRIVAL_MASK != 0;
        }
        let goes_on = passed.halts() && self.read(life, R_STAT).await? & R_STAT_HALTED_MASK == 0;
        if goes_on || passed.most() > 1 + u32::from(self.restarted.get()) {
            self.seen.borrow_mut().unhalted = Some(ring);
        }
        self.gets.set(gets);
        self.body_gets.set(body_gets);
        self.write(life, [MHB_GET, DHB_GET][ring], gets[ring]).await?;
        if ring == 0 {
            self.write(life, MBB0_GET, body_gets[0]).await?;
            self.write(life, MBB1_GET, body_gets[1]).await?;
        }
        Ok(())
    }

    /// Serves once, and looks at what is left. The NIC is not reset meanwhile.
    pub async fn look(self: Rc<Self>) -> Result<Look, Stop> {
        self.sleeper.awake(&self.host).await;
        self.serve().await?;
        let life = self.life().await;
        let sends = self.read(life, S_STAT).await?;
        let gets = [self.read(life, SQ0_GET).await?, self.read(life, SQ1_GET).await?];
        let seen = self.seen.borrow();
        Ok(Look {
            sends,
            gets,
            taken: seen.taken.each_ref().map(Vec::len),
            refused: seen.refused.len(),
            drops: seen.drops,
        })
    }
}

/// A node at an instant: equal ones have nothing between them that was sent or taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// `S_STAT`.
    pub sends: u32,
    /// By queue, `SQn_GET`.
    gets: [u32; 2],
    /// By ring, packets that software took, ever.
    taken: [usize; 2],
    refused: usize,
    drops: u32,
}

impl Look {
    /// Nothing is left to send.
    pub fn is_empty(&self) -> bool {
        let mask = S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK | S_STAT_BUSY_MASK;
        self.sends & mask == S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK
    }
}

impl Victim for Software {
    fn host(&self) -> &Host {
        &self.host
    }

    fn sleeper(&self) -> &Sleeper {
        &self.sleeper
    }

    fn begins(self: Rc<Self>, fault: &Fault) -> Deed {
        if matches!(fault, Fault::NicResets(_)) {
            self.life.set(self.life.get() + 1);
            self.resets.set(self.resets.get() + 1);
            self.up.set(false);
        }
        Box::pin(async {})
    }

    fn ends(self: Rc<Self>, fault: &Fault) -> Deed {
        let reset = matches!(fault, Fault::NicResets(_));
        Box::pin(async move {
            if !reset {
                return;
            }
            self.resets.set(self.resets.get() - 1);
            let life = self.life.get();
            // Behind the last of some that overlap.
            while self.resets.get() == 0 && self.life.get() == life && self.clone().boot().await.is_err() {
                self.host.delay(LOOK).await;
            }
        })
    }
}

/// Packets of a ring that software takes at once, as far as the Receiver halts at them. Each needs its own restart.
#[derive(Default)]
struct Passed {
    /// Their arrival halts: a restart comes before they are published.
    arrivals: u32,
    /// Groups that an end which halts divides.
    groups: u32,
    is_open: bool,
}

impl Passed {
    /// A packet was published where `R_CTRL` had this on.
    fn add(&mut self, control: u32, kind: Kind, arr: bool, end: bool) {
        let at_end = match kind {
            Kind::Dma => R_CTRL_HALT_END_DMA_MASK,
            Kind::Msg0 | Kind::Msg1 => R_CTRL_HALT_END_MSG_MASK,
        };
        self.groups += u32::from(!self.is_open);
        self.is_open = !(end && control & at_end != 0);
        self.arrivals += u32::from(arr && control & R_CTRL_HALT_ARRIVAL_MASK != 0);
    }

    /// The last one halts, until software restarts the Receiver.
    fn halts(&self) -> bool {
        self.groups > 0 && !self.is_open
    }

    fn most(&self) -> u32 {
        self.arrivals.max(self.groups)
    }
}

/// Why a program of software gives up.
#[derive(Debug, Error)]
pub(super) enum Stop {
    #[error(transparent)]
    Register(#[from] RegError),
    #[error("the NIC was reset")]
    Reset,
}

/// Packets of which the Receiver has read the header, at most.
const AHEAD: u32 = 4;

/// Interrupts for everything.
pub(super) const CONTROL: u32 =
    R_CTRL_RUN_MASK | R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK | R_CTRL_IE_ERROR_MASK | R_CTRL_IE_SEND_MASK;
pub(super) const LOSSES: u32 =
    R_STAT_BAD_HEADER_MASK | R_STAT_BUS_ERROR_MASK | R_STAT_TRUNCATED_MASK | R_STAT_OVERLONG_MASK;
pub(super) const CAUSES: u32 =
    R_STAT_ARRIVAL_MASK | R_STAT_END_MASK | R_STAT_OVERFLOW_MASK | LOSSES | R_STAT_SEND_ERROR_MASK;
