//! The NIA alone against its golden model: rounds of kicks, of worms from elsewhere, and of what is refused, all at
//! once. At the end of a round memory, tables and registers are the model's.
//!
//! What nothing orders is kept apart: each channel has fields of its own, nothing that is read is written in the same
//! round, and in a round one process refuses TCWs on one channel, and one receiver refuses worms.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use support::this_test;
use testbenches::rtl::CppacsNia;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, pass};
use tsunagi::Addr;
use tsunagi::cppacs::golden::entry::{Field, Process, Right, node_word};
use tsunagi::cppacs::golden::message::{Header, Kind, Request};
use tsunagi::cppacs::golden::nia::Nia;
use tsunagi::cppacs::golden::runs::Stride;
use tsunagi::cppacs::golden::tcw::Tcw;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Pacer;
use tsunagi::net::hyper::{Channel, Grid, Place};

use super::{In, Out, Rig, Rule, SIZE, Word, nia};

const GRID: Grid = Grid { x: 2, y: 2, z: 2 };
const HERE: Place = Place { x: 1, y: 0, z: 1 };
/// Words of each channel that the NIA takes, and that the exchanger takes from it.
const ROOM: [usize; 2] = [32, 16];
/// Processes with an area.
const USERS: [u32; 2] = [1, 4];
const TCWS: u32 = 16;
const AREA_BYTES: u32 = 0x1_0000;
const FIELD_BYTES: u32 = 0x1000;
const FLAGS_AT: u32 = 0x8000;
/// The kernel's ring; fields of the data channel, of which each process owns one; of short messages and atomics; of
/// GET; and one that is never enabled.
const RING_FIELD: u32 = 0;
const DATA_FIELDS: [u32; 2] = [2, 3];
const ACK_FIELD: u32 = 4;
const GET_FIELD: u32 = 5;
const NO_FIELD: u32 = 6;
/// Logarithms of a slot's bytes and of the slots.
const SLOT: (u32, u32) = (7, 2);
/// A right that another process has, and one that is not there.
const FOREIGN: u32 = 30;
const NO_RIGHT: u32 = 31;

fn area_at(process: u32) -> u32 {
    0x2_0000 * (1 + process)
}

fn tcws_at(process: u32) -> u32 {
    0x1000 * (1 + process)
}

fn field_at(field: u32) -> u32 {
    0xe_0000 + FIELD_BYTES * field
}

/// The network at the NIA's link: it sends worms, takes others, and tells the model of both.
struct Network {
    model: Nia,
    /// By channel: worms to be sent, and words of the first one that are sent.
    worms: [VecDeque<Vec<u32>>; 2],
    sent: [usize; 2],
    credits: [usize; 2],
    /// Words of the worm that leaves the NIA, and words whose credits are still here.
    leaving: [Vec<u32>; 2],
    held: [usize; 2],
    sends: Pacer,
    returns: Pacer,
    turn: usize,
}

impl Network {
    /// See [`super::Far`].
    fn step(&mut self, link: Option<Word>, credit: u32) -> Result<(Option<Word>, u32), Fault> {
        for channel in 0..2 {
            self.credits[channel] += (credit >> channel & 1) as usize;
            Rule::Worm.holds(self.credits[channel] <= ROOM[0], || {
                format!("{} credits of channel {channel}", self.credits[channel])
            })?;
        }
        if let Some((is_ack, data, last)) = link {
            let channel = usize::from(is_ack);
            self.held[channel] += 1;
            Rule::Worm.holds(self.held[channel] <= ROOM[1], || {
                format!("channel {channel} sends without a credit")
            })?;
            self.leaving[channel].push(data);
            if last {
                let worm = std::mem::take(&mut self.leaving[channel]);
                let left = self.model.left(Channel::ALL[channel], &worm);
                left.map_err(|error| Rule::Worm.broken(error.to_string()))?;
            }
        }
        let mut back = 0;
        if self.returns.step() {
            for (channel, held) in self.held.iter_mut().enumerate().filter(|(_, held)| **held > 0) {
                *held -= 1;
                back |= 1 << channel;
            }
        }
        let word = if self.sends.step() { self.send() } else { None };
        Ok((word, back))
    }

    /// The next word of the channel whose turn it is, or of the other one.
    fn send(&mut self) -> Option<Word> {
        self.turn ^= 1;
        let channel = [self.turn, 1 - self.turn]
            .into_iter()
            .find(|&channel| self.credits[channel] > 0 && !self.worms[channel].is_empty())?;
        let worm = &self.worms[channel][0];
        let (data, last) = (worm[self.sent[channel]], self.sent[channel] + 1 == worm.len());
        self.credits[channel] -= 1;
        self.sent[channel] += 1;
        if last {
            self.sent[channel] = 0;
            let worm = self.worms[channel].pop_front().expect("a worm");
            self.model.came(Channel::ALL[channel], &worm);
        }
        Some((channel == 1, data, last))
    }

    fn is_done(&self) -> bool {
        self.worms.iter().all(VecDeque::is_empty) && self.held == [0; 2] && self.credits == [ROOM[0]; 2]
    }
}

/// What a round refuses: TCWs of a process on a channel, worms of a channel.
#[derive(Clone, Copy)]
struct Refuses {
    process: u32,
    sender: u32,
    receiver: usize,
}

struct Lockstep<'a> {
    rig: Rig<'a>,
    network: Rc<RefCell<Network>>,
    rng: Rng,
    /// By field.
    keys: [u32; 8],
}

impl<'a> Lockstep<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, pauses: bool) -> Result<Lockstep<'a>, Fault> {
        let mut rig = Rig::new(run, dut, 1)?;
        let mut rng = run.rng("program");
        let mut bytes = vec![0; SIZE as usize];
        rng.fill(&mut bytes);
        let mut memory = Memory::new(SIZE as usize);
        assert!(memory.write(Addr(0), &bytes) && rig.nodes[0].memory.write(Addr(0), &bytes));
        let network = Network {
            model: Nia::new(memory, 512, 512, 4, 128),
            worms: Default::default(),
            sent: [0; 2],
            credits: [ROOM[0]; 2],
            leaving: Default::default(),
            held: [0; 2],
            sends: run.pacer(pauses, "words"),
            returns: run.pacer(pauses, "credits"),
            turn: 0,
        };
        let network = Rc::new(RefCell::new(network));
        let far = network.clone();
        rig.far = Box::new(move |link, credit| far.borrow_mut().step(link, credit));
        let mut lockstep = Lockstep {
            rig,
            network,
            rng,
            keys: [0; 8],
        };
        lockstep.set_up()?;
        Ok(lockstep)
    }

    /// The host writes a register or a table, of the model too.
    fn write(&mut self, addr: u32, data: u64) -> Result<(), Fault> {
        let told = self.network.borrow_mut().model.host(addr, Some(data));
        assert!(told.is_ok(), "a legal access");
        self.rig.write(0, addr, data)
    }

    /// The host writes memory, the model's too.
    fn put(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.network.borrow_mut().model.memory.write(Addr(at), &bytes));
        self.rig.put(0, at, words);
    }

    fn set_up(&mut self) -> Result<(), Fault> {
        self.write(NODE, node_word(GRID, HERE))?;
        for process in USERS {
            let [area, tcws] = Process {
                area: area_at(process),
                area_bytes: AREA_BYTES,
                tcws: tcws_at(process),
                tcw_count: TCWS,
            }
            .words();
            self.write(AREA + 16 * process, area)?;
            self.write(AREA + 16 * process + 8, tcws)?;
            for at in 0..8 {
                self.right(
                    8 * USERS.iter().position(|&user| user == process).expect("a user") as u32 + at,
                    process,
                )?;
            }
        }
        self.right(FOREIGN, 7)?;
        self.write(CONTROL, CONTROL_SEND_MASK)
    }

    /// Right `number`: for one node, or every fourth for all nodes of some axes.
    fn right(&mut self, number: u32, owner: u32) -> Result<(), Fault> {
        let mask = if number % 4 == 3 {
            1 + self.rng.below(7) as u32
        } else {
            0
        };
        let [place, limit] = Right {
            place: GRID.place(self.rng.below(8) as u32),
            mask,
            field: self.rng.below(512) as u32,
            owner,
            valid: true,
            key: self.rng.bits() as u32,
            size: 0x8000,
        }
        .words();
        self.write(RIGHTS + 16 * number + 8, limit)?;
        self.write(RIGHTS + 16 * number, place)
    }

    /// All fields anew, with other keys; the kernel takes all messages of its ring.
    fn fields(&mut self) -> Result<(), Fault> {
        for field in [
            RING_FIELD,
            DATA_FIELDS[0],
            DATA_FIELDS[1],
            ACK_FIELD,
            GET_FIELD,
            NO_FIELD,
        ] {
            self.keys[field as usize] = self.rng.bits() as u32;
            let [state, extent, flag] = Field {
                enabled: field != NO_FIELD,
                write: field != GET_FIELD,
                read: field == GET_FIELD,
                atomic: field == ACK_FIELD,
                flagged: self.rng.chance(3, 4),
                owner: USERS[(field % 2) as usize],
                key: self.keys[field as usize],
                base: field_at(field),
                size: FIELD_BYTES,
                flag: FLAGS_AT + 8 * field,
            }
            .words();
            let at = FIELDS + 32 * field;
            self.write(at + 8, extent)?;
            self.write(at + 16, flag)?;
            self.write(at, state)?;
        }
        let (slot_log, slots_log) = SLOT;
        let ring = u64::from(slot_log) << RING_SLOT_LOG_SHIFT | u64::from(slots_log) << RING_SLOTS_LOG_SHIFT;
        self.write(RING, ring)
    }

    /// A multiple of 8 below this one.
    fn eights(&mut self, below: u32) -> u32 {
        8 * self.rng.below(u64::from(below / 8)) as u32
    }

    /// A TCW that a process may send.
    fn tcw(&mut self, user: usize, channel: u32, number: u32) -> Tcw {
        let is_ack = channel == 1;
        let kind = match self.rng.below(6) {
            0 if is_ack => Kind::Get,
            1 if is_ack => Kind::Swap,
            2 if is_ack => Kind::Cswap,
            _ => Kind::Write,
        };
        let length = match (kind, is_ack) {
            (Kind::Swap | Kind::Cswap, _) => 8,
            (Kind::Write, true) => 8 + self.eights(32),
            (Kind::Write, false) => 8 + self.eights(2400),
            _ => 8 + self.eights(0x400),
        };
        // Acknowledge worms go to one node.
        let right = 8 * user as u32 + if is_ack { self.rng.below(3) } else { self.rng.below(8) } as u32;
        let element = 8 + self.eights(200);
        Tcw {
            valid: true,
            right,
            kind: kind as u32,
            channel,
            notify: self.rng.chance(1, 2),
            flagged: self.rng.chance(2, 3),
            strided: !is_ack && self.rng.chance(1, 3),
            source: 0x100 + self.eights(0x1000),
            length,
            offset: self.eights(0x4000),
            send_flag: 8 * number,
            element,
            source_step: element + self.eights(64),
            step: self.eights(0x1000),
            reply_field: DATA_FIELDS[1 - user],
            reply_offset: self.eights(0x800),
            operand: self.rng.bits(),
            compare: self.rng.bits(),
        }
    }

    /// A TCW that is not sent, or not to its end.
    fn broken(&mut self, tcw: Tcw) -> Tcw {
        match self.rng.below(10) {
            0 => Tcw { valid: false, ..tcw },
            1 => Tcw { right: NO_RIGHT, ..tcw },
            2 => Tcw { right: FOREIGN, ..tcw },
            3 => Tcw { kind: 1, ..tcw },
            4 => Tcw { length: 12, ..tcw },
            5 => Tcw { offset: 0x7ffc, ..tcw },
            6 => Tcw { offset: 0x8000, ..tcw },
            7 => Tcw {
                kind: Kind::Write as u32,
                strided: false,
                source: AREA_BYTES,
                ..tcw
            },
            8 => Tcw {
                channel: 1 - tcw.channel,
                ..tcw
            },
            // The second element leaves the area.
            _ if tcw.channel == 0 => Tcw {
                strided: true,
                length: 2000,
                element: 1200,
                source_step: AREA_BYTES,
                ..tcw
            },
            _ => Tcw {
                send_flag: AREA_BYTES,
                flagged: true,
                ..tcw
            },
        }
    }

    /// Kicks of both processes on both channels, each of a TCW of its own.
    fn kicks(&mut self, refuses: Refuses) -> Result<(), Fault> {
        for at in 0..3 {
            for (user, process) in USERS.into_iter().enumerate() {
                for channel in 0..2 {
                    let number = 4 * channel + at;
                    let mut tcw = self.tcw(user, channel, number);
                    if (process, channel) == (refuses.process, refuses.sender) && self.rng.chance(1, 2) {
                        tcw = self.broken(tcw);
                    }
                    self.put(tcws_at(process) + SIZE_TCW * number, &tcw.words());
                    let kick = u64::from(number) | u64::from(channel) << KICK_CHANNEL_SHIFT;
                    self.write(KICK + SIZE_PAGE * process, kick)?;
                }
            }
        }
        Ok(())
    }

    /// A worm from another node that a receiver takes.
    fn worm(&mut self, channel: usize) -> (Header, Vec<u32>) {
        let is_ack = channel == 1;
        let kind = match self.rng.below(6) {
            0 if is_ack => Kind::Get,
            1 if is_ack => Kind::Swap,
            2 if is_ack => Kind::Cswap,
            0 => Kind::Reply,
            _ => Kind::Write,
        };
        let field = match kind {
            Kind::Get => GET_FIELD,
            _ if is_ack => ACK_FIELD,
            _ => DATA_FIELDS[self.rng.below(2) as usize],
        };
        let length = match (is_ack, kind) {
            (true, Kind::Write) => 8 + self.eights(32),
            (true, _) => SIZE_ACK,
            (false, _) => 8 + self.eights(0x300),
        };
        let element = 8 + self.eights(120);
        let stride = (!is_ack && self.rng.chance(1, 3)).then(|| Stride {
            element,
            left: 8 + self.eights(element),
            step: element + self.eights(24),
        });
        let header = Header {
            to: HERE,
            mask: if is_ack { 0 } else { self.rng.below(8) as u32 },
            channel: Channel::ALL[channel],
            kind,
            last: self.rng.chance(3, 4),
            notify: !is_ack && self.rng.chance(1, 4),
            src: GRID.place(self.rng.below(8) as u32),
            field,
            key: self.keys[field as usize],
            offset: 0x80 + self.eights(0x400),
            length,
            worm: 0,
            stride,
        };
        let payload = if kind.is_request() {
            let length = if kind == Kind::Get { 8 + self.eights(0x200) } else { 8 };
            let request = Request {
                field: self.rng.below(512) as u32,
                key: self.rng.bits() as u32,
                offset: self.eights(0x1_0000),
                length,
                operand: self.rng.bits(),
                compare: self.rng.bits(),
            };
            request.words().to_vec()
        } else {
            (0..length / 4).map(|_| self.rng.bits() as u32).collect()
        };
        (header, payload)
    }

    /// A worm that its receiver refuses.
    fn bad_worm(&mut self, header: Header, payload: &[u32]) -> Vec<u32> {
        let of = |header: Header| header.worm(payload);
        let mut worm = of(header);
        let last = worm.len() - 1;
        match self.rng.below(9) {
            0 => {
                return of(Header {
                    key: !header.key,
                    ..header
                });
            }
            1 => {
                return of(Header {
                    field: NO_FIELD,
                    key: self.keys[NO_FIELD as usize],
                    ..header
                });
            }
            2 => {
                let to = Place { y: 1, ..HERE };
                return of(Header { to, mask: 0, ..header });
            }
            3 => {
                let offset = FIELD_BYTES;
                return of(Header { offset, ..header });
            }
            4 => worm[last] = worm[last].wrapping_add(1),
            5 => worm[last] = !worm[last],
            6 => worm.truncate(last),
            7 => worm.push(worm[last]),
            _ => worm[0] |= MSG_F0_KIND_MASK,
        }
        worm
    }

    /// Worms of both channels, and a few messages to the kernel's ring.
    fn worms(&mut self, refuses: Refuses) {
        for channel in 0..2 {
            for _ in 0..6 {
                let (header, payload) = self.worm(channel);
                let is_bad = channel == refuses.receiver && self.rng.chance(1, 3);
                let worm = if is_bad {
                    self.bad_worm(header, &payload)
                } else {
                    header.worm(&payload)
                };
                self.network.borrow_mut().worms[channel].push_back(worm);
            }
        }
        // One more than there is room for.
        let messages = (1 << SLOT.1) + u32::from(refuses.receiver == 0);
        for _ in 0..messages {
            let (mut header, mut payload) = self.worm(0);
            payload.truncate(1 << SLOT.0 >> 2);
            let length = 4 * payload.len() as u32;
            let (field, kind) = (RING_FIELD, Kind::Write);
            let key = self.keys[RING_FIELD as usize];
            header = Header {
                field,
                kind,
                key,
                length,
                last: true,
                stride: None,
                ..header
            };
            self.network.borrow_mut().worms[0].push_back(header.worm(&payload));
        }
    }

    /// Until nothing moves.
    fn rest(&mut self) -> Result<(), Fault> {
        for _ in 0..40_000 {
            self.rig.step()?;
            if !self.rig.busy && self.network.borrow().is_done() {
                let rests = self.network.borrow_mut().model.rests();
                return rests.map_err(|error| Rule::Worm.broken(error.to_string()));
            }
        }
        Err(Rule::Rest.broken("it is busy without end"))
    }

    /// Memory, tables and registers are the model's.
    fn compare(&mut self) -> Result<(), Fault> {
        let all = (Addr(0), SIZE as usize);
        let differs = {
            let network = self.network.borrow();
            let got = self.rig.nodes[0].memory.read(all.0, all.1).expect("all of it");
            let want = network.model.memory.read(all.0, all.1).expect("all of it");
            got.iter().zip(want).position(|(got, want)| got != want)
        };
        Rule::Data.holds(differs.is_none(), || {
            format!("memory differs at {:x}", differs.unwrap_or(0))
        })?;
        let mut addresses = vec![STATUS, CAUSE, NOTIFIED, SEND_FIRST, RECEIVE_FIRST, HOST_ERRORS];
        addresses.extend((0..16).flat_map(|code| [SEND_REFUSALS + 8 * code, RECEIVE_REFUSALS + 8 * code]));
        // How long words waited is no golden model's to say.
        addresses.extend((0..COUNT_STALLS).map(|code| COUNTS + 8 * code));
        addresses.extend(USERS.map(|process| KICKS + SIZE_PAGE * process));
        addresses.extend((0..8).map(|field| FIELDS + 32 * field));
        for addr in addresses {
            let want = self.network.borrow_mut().model.host(addr, None).expect("a register");
            let got = self.rig.read(0, addr)?;
            Rule::Counts.same(format!("{addr:x}"), want, got)?;
        }
        self.write(CAUSE, !0)
    }
}

pub fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for pauses in [false, true] {
        let name = format!("{} lock step, pauses {pauses}", dut.name);
        cases.case(Start::Random1, name, |run| {
            let mut lockstep = Lockstep::new(run, dut, pauses)?;
            for _ in 0..12 {
                let rng = &mut lockstep.rng;
                let refuses = Refuses {
                    process: USERS[rng.below(2) as usize],
                    sender: rng.below(2) as u32,
                    receiver: rng.below(2) as usize,
                };
                lockstep.fields()?;
                lockstep.worms(refuses);
                lockstep.kicks(refuses)?;
                lockstep.rest()?;
                lockstep.compare()?;
            }
            Ok(())
        });
    }
}

#[test]
fn the_nia_does_what_its_model_does() {
    pass(this_test!(), |cases| checks(&nia::<CppacsNia>(), cases));
}
