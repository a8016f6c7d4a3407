//! `dimmnet1_nic`: a card as a whole. One card is its own peer, or two are each other's.

use std::slice;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::firmware::COMMAND_BYTES;
use tsunagi::dimmnet1::golden::packet::{
    Base, Header, Packet, PageEntry, Place, Reason, Region, Rights, Slot, cut, header_entry, put, word,
};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::rtl::Dimmnet1Nic;
use tsunagi::{Addr, Cycle};

use crate::rig::{Event, Nic, Rig, Setup, What, nic};
use crate::tx::words;

rules!(
    /// Bytes are where packets carried them, and nowhere else; each packet is counted, each answer comes.
    Carries
    /// A bad packet changes nothing, is counted with its reason, and is answered with it.
    Refuses
    /// The processor, the host or the watchdog ends a stop.
    Stops
    /// The matcher sends packets where their cells say, and leaves the others to the processor.
    Matches
    /// Each access of the host is answered, in order; bad ones are refused and counted.
    Host
    /// Left-out edges change nothing.
    Gating
    /// From a store to the link, and from the link to LLCM.
    Latency
    /// A word per cycle.
    Rate
    /// An offer holds until it is taken.
    Protocol
    /// What is under way ends.
    Hang
);

const STAMP: u16 = 0x2a5;
/// Regions: memory for all, LLCM, memory to be read only.
const MAIN: u16 = 1;
const ON_CARD: u16 = 2;
const FIXED: u16 = 3;
const PAGE: u32 = SIZE_PAGE;
const PAGES: u32 = 16;
/// The first virtual page of `MAIN`.
const FIRST: u32 = 0x40;
/// In both regions: where data come from, and where they go to.
const HALF: u32 = PAGES / 2 * PAGE;
const LLCM_HALF: u32 = SIZE_LLCM / 2;
/// Pages of AOTF: the beginning of the far LLCM, without answers and with.
const QUIET: u32 = 5;
const ASKING: u32 = 63;
/// The slots that they and all others use.
const SLOT_AOTF: u8 = 3;
const SLOT_BOTF: u8 = 4;
const SLOT_RDMA: u8 = 9;

/// Physical address of a byte of `MAIN`.
fn physical(offset: u32) -> Addr {
    let page = offset / PAGE;
    Addr((3 + page * 7 % PAGES) * PAGE + offset % PAGE)
}

/// The node that a card sends to.
fn far(rig: &Rig, card: usize) -> usize {
    (card + 1) % rig.cards.len()
}

fn store_all(rig: &mut Rig, card: usize, base: u32, words: &[u64]) {
    for (at, word) in (base..).step_by(8).zip(words) {
        rig.store(card, at, *word);
    }
}

fn regions() -> [Region; 3] {
    let main = Region {
        pgid: STAMP,
        region: MAIN,
        base: Base::Page(FIRST),
        rights: Rights::READ_WRITE,
        bytes: (PAGES * PAGE).into(),
    };
    [
        main,
        Region {
            region: ON_CARD,
            base: Base::Llcm(0),
            rights: Rights::ALL,
            bytes: SIZE_LLCM.into(),
            ..main
        },
        Region {
            region: FIXED,
            rights: Rights {
                read: true,
                ..Rights::default()
            },
            ..main
        },
    ]
}

/// The entry of a page of AOTF to the node `dst`.
fn page_entry(dst: u16, flags: u64, slot: u8) -> [u64; 3] {
    header_entry(&Header {
        kind: TYPE_OTF,
        flags,
        dst,
        pgid: STAMP,
        tag: slot.into(),
        place: Place::new(ON_CARD, 0),
        ..Header::default()
    })
}

/// Names, tables and header TLB of each card; its receiver runs.
fn program(rig: &mut Rig) -> Result<(), Fault> {
    for card in 0..rig.cards.len() {
        let dst = far(rig, card) as u16;
        rig.store(card, NODE, card as u64);
        rig.store(card, PGID, STAMP.into());
        for region in regions() {
            store_all(rig, card, RVATLB, &region.encode());
        }
        for page in 0..PAGES {
            map(rig, card, page);
        }
        store_all(rig, card, HEADER_TLB + 32 * QUIET, &page_entry(dst, 0, 0));
        let asks = page_entry(dst, HDR_W0_ACK_REQ_MASK, SLOT_AOTF);
        store_all(rig, card, HEADER_TLB + 32 * ASKING, &asks);
        rig.store(card, CONTROL, CONTROL_RECEIVE_MASK);
    }
    rig.settle(100)
}

/// Puts a page of `MAIN` in the PATLB.
fn map(rig: &mut Rig, card: usize, page: u32) {
    let entry = PageEntry {
        pgid: STAMP,
        page: FIRST + page,
        frame: physical(page * PAGE).0 / PAGE,
    };
    store_all(rig, card, PATLB, &entry.encode());
}

fn start<'a>(run: &Run<'a>, nic: &Nic, setup: Setup) -> Result<Rig<'a>, Fault> {
    let mut rig = Rig::new(run, nic, setup)?;
    program(&mut rig)?;
    Ok(rig)
}

/// What the regions of a card should hold, and the next bytes that nobody has written yet.
struct Shadow {
    main: Vec<u8>,
    llcm: Vec<u8>,
    free: u32,
    llcm_free: u32,
    /// Packets that it should accept.
    packets: u64,
}

impl Shadow {
    /// Random bytes in both regions.
    fn fill(rig: &mut Rig, card: usize, rng: &mut Rng) -> Result<Shadow, Fault> {
        let mut main = vec![0; (PAGES * PAGE) as usize];
        let mut llcm = vec![0; SIZE_LLCM as usize];
        rng.fill(&mut main);
        rng.fill(&mut llcm);
        for (page, bytes) in (0..).zip(main.chunks(PAGE as usize)) {
            assert!(
                rig.cards[card].memory.write(physical(page * PAGE), bytes),
                "memory has all pages"
            );
        }
        for (at, bytes) in (LLCM..).step_by(8).zip(llcm.chunks(8)) {
            rig.store(card, at, word(bytes));
        }
        rig.settle(1_000)?;
        Ok(Shadow {
            main,
            llcm,
            free: HALF,
            llcm_free: LLCM_HALF,
            packets: 0,
        })
    }

    /// Room for so many bytes of `MAIN` or LLCM, with a gap before it.
    fn room(&mut self, region: u16, bytes: u32, in_page: bool, rng: &mut Rng) -> Option<u32> {
        let (free, end) = match region {
            MAIN => (&mut self.free, PAGES * PAGE),
            _ => (&mut self.llcm_free, SIZE_LLCM),
        };
        let mut at = *free + 8 * rng.below(3) as u32;
        if in_page && at % PAGE + bytes > PAGE {
            at = at.next_multiple_of(PAGE);
        }
        let next = (at + bytes).next_multiple_of(8);
        (next <= end).then(|| {
            *free = next;
            at
        })
    }

    fn bytes(&mut self, region: u16) -> &mut [u8] {
        if region == MAIN { &mut self.main } else { &mut self.llcm }
    }

    fn write(&mut self, region: u16, at: u32, data: &[u8]) {
        self.bytes(region)[at as usize..][..data.len()].copy_from_slice(data);
    }

    /// # Errors
    /// `Carries`: a byte of the card is another.
    fn check(&self, rig: &mut Rig, card: usize) -> Result<(), Fault> {
        for (page, want) in (0..).zip(self.main.chunks(PAGE as usize)) {
            let got = rig.cards[card].memory.read(physical(page * PAGE), PAGE as usize);
            let got = got.expect("memory has all pages");
            let differs = got.iter().zip(want).position(|(got, want)| got != want);
            Rule::Carries.holds(differs.is_none(), || {
                let at = differs.unwrap_or(0);
                let (got, want) = (got[at], want[at]);
                format!("card {card}, MAIN, page {page}, byte {at:#x}: {got:#x}, not {want:#x}")
            })?;
        }
        for (at, want) in (0..).step_by(8).zip(self.llcm.chunks(8)) {
            rig.reads(Rule::Carries, card, LLCM + at, word(want))?;
        }
        Ok(())
    }
}

/// Random traffic of a card.
struct Traffic<'a, 'b> {
    rig: &'a mut Rig<'b>,
    shadows: Vec<Shadow>,
    rng: Rng,
}

impl<'a, 'b> Traffic<'a, 'b> {
    fn new(rig: &'a mut Rig<'b>, mut rng: Rng) -> Result<Traffic<'a, 'b>, Fault> {
        let shadows: Result<_, _> = (0..rig.cards.len())
            .map(|card| Shadow::fill(rig, card, &mut rng))
            .collect();
        Ok(Traffic {
            shadows: shadows?,
            rig,
            rng,
        })
    }

    /// A store to a page of AOTF: 1 to 8 bytes in any lanes.
    fn aotf(&mut self, card: usize) {
        let far = far(self.rig, card);
        let rng = &mut self.rng;
        let (at, asks) = (8 * rng.below(LLCM_HALF as u64 / 16) as u32, rng.chance(1, 4));
        let length = rng.between(1, 8) as u32;
        let lane = rng.below(u64::from(9 - length)) as u32;
        let data = rng.bits();
        let page = if asks { ASKING } else { QUIET };
        let strobes = (0xff_u32 >> (8 - length) << lane) as u8;
        self.rig.store_part(card, AOTF + page * PAGE + at, data, strobes);
        let bytes = &data.to_le_bytes()[lane as usize..][..length as usize];
        let to = &mut self.shadows[far];
        to.write(ON_CARD, at + lane, bytes);
        to.packets += 1;
    }

    /// Both windows, one behind the other.
    fn botf(&mut self, card: usize) -> Result<(), Fault> {
        const BUSY: u64 = WINDOWS_BUSY0_MASK | WINDOWS_BUSY1_MASK;
        let far = far(self.rig, card);
        for window in 0..2 {
            let rng = &mut self.rng;
            let length = rng.between(1, SIZE_BOTF.into()) as u32;
            let region = if rng.chance(1, 4) { ON_CARD } else { MAIN };
            let Some(at) = self.shadows[far].room(region, length, true, rng) else {
                break;
            };
            let mut data = vec![0; length as usize];
            rng.fill(&mut data);
            let header = Header {
                kind: TYPE_PUSH,
                flags: [HDR_W0_ACK_REQ_MASK, HDR_W0_ACK_REQ_MASK | HDR_W0_F_SEQ_MASK, 0][rng.below(3) as usize],
                dst: far as u16,
                length,
                tag: SLOT_BOTF.into(),
                place: Place::new(region, at.into()),
                ..Header::default()
            };
            let packet = Packet::new(&header, &data);
            store_all(self.rig, card, WINDOW0 + window * SIZE_WINDOW, &packet.words);
            self.rig.store(card, KICK0 + 8 * window, 0);
            let to = &mut self.shadows[far];
            to.write(region, at, &data);
            to.packets += 1;
        }
        self.rig.poll(card, WINDOWS, BUSY)
    }

    /// A descriptor of RDMA, PUSH or PULL, of memory or LLCM at either end.
    fn rdma(&mut self, card: usize) -> Result<(), Fault> {
        let far = far(self.rig, card);
        let rng = &mut self.rng;
        let pulls = rng.chance(1, 2);
        let (source, target) = if pulls { (far, card) } else { (card, far) };
        let region = |rng: &mut Rng| if rng.chance(1, 4) { ON_CARD } else { MAIN };
        let (from, to) = (region(rng), region(rng));
        let most = if from == MAIN && to == MAIN && rng.chance(1, 2) {
            9_000
        } else {
            700
        };
        let bytes = rng.between(1, most) as u32;
        let Some(at) = self.shadows[target].room(to, bytes, false, rng) else {
            return Ok(());
        };
        // Stores to pages of AOTF change the first quarter of LLCM.
        let (first, end) = if from == MAIN {
            (0, HALF)
        } else {
            (LLCM_HALF / 2, LLCM_HALF)
        };
        let start = first + 8 * rng.below(u64::from(end - first - bytes) / 8) as u32;
        let asks = rng.chance(1, 2);
        let data = self.shadows[source].bytes(from)[start as usize..][..bytes as usize].to_vec();
        self.shadows[target].write(to, at, &data);
        let pieces = cut(bytes, SIZE_PACKET, &[start.into(), at.into()]).count() as u64;
        // A PULL counts at both ends.
        self.shadows[target].packets += pieces;
        if pulls {
            self.shadows[source].packets += pieces;
        }
        let (local, remote) = if pulls {
            ((to, at), (from, start))
        } else {
            ((from, start), (to, at))
        };
        let what = Header {
            kind: if pulls { TYPE_PULL } else { TYPE_PUSH },
            flags: if asks || pulls { HDR_W0_ACK_REQ_MASK } else { 0 },
            dst: far as u16,
            ..Header::default()
        };
        let place = |(region, at): (u16, u32)| Place::new(region, at.into()).word();
        let length = put(RDMA_LENGTH_BYTES_MASK, bytes.into()) | put(RDMA_LENGTH_SLOT_MASK, SLOT_RDMA.into());
        self.rig.poll(card, RDMA, RDMA_FULL_MASK)?;
        let words = [what.encode()[0], place(local), place(remote), length];
        store_all(self.rig, card, RDMA_WHAT, &words);
        Ok(())
    }

    /// So many random operations of each card.
    fn go(&mut self, operations: usize) -> Result<(), Fault> {
        for _ in 0..operations {
            for card in 0..self.rig.cards.len() {
                match self.rng.below(8) {
                    0..5 => self.aotf(card),
                    5 | 6 => self.botf(card)?,
                    _ => self.rdma(card)?,
                }
            }
        }
        Ok(())
    }

    /// All packets have come, all answers are back, and all bytes are where they should be.
    fn check(self) -> Result<(), Fault> {
        let Traffic { rig, shadows, .. } = self;
        rig.settle(5_000)?;
        for (card, shadow) in shadows.iter().enumerate() {
            for slot in [SLOT_AOTF, SLOT_BOTF, SLOT_RDMA] {
                rig.reads(Rule::Carries, card, SLOTS + 8 * u32::from(slot), 0)?;
            }
            counts(rig, Rule::Carries, card, &[(0, shadow.packets)])?;
            rig.reads(Rule::Carries, card, RDMA, 0)?;
            for errors in [STRAYS, AOTF_LOST, HOST_ERRORS, CPU_ERRORS, STATUS] {
                rig.reads(Rule::Carries, card, errors, 0)?;
            }
            shadow.check(rig, card)?;
        }
        Ok(())
    }
}

/// These counters of the receiver have these values, and the others none.
fn counts(rig: &mut Rig, rule: Rule, card: usize, want: &[(u32, u64)]) -> Result<(), Fault> {
    for code in 0..=REASON_CREDIT {
        let of = want.iter().find(|(of, _)| *of == code);
        rig.reads(rule, card, COUNTS + 8 * code, of.map_or(0, |(_, count)| *count))?;
    }
    Ok(())
}

/// A memory that is slow in both directions.
const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(11),
    write_latency: Cycle(17),
    overhead: Cycle(2),
    shared_bus: true,
    byte_time: 0,
};

const PERIODS: [[u64; 2]; 3] = [[20_000, 16_000], [37_003, 10_007], [10_007, 37_003]];

/// Random traffic arrives.
pub fn carries(nic: &Nic, cases: &mut Cases) {
    for (cards, periods, gaps) in [
        (1, PERIODS[0], Gaps::None),
        (2, PERIODS[0], Gaps::Both),
        (2, PERIODS[1], Gaps::Source),
        (1, PERIODS[2], Gaps::Sink),
    ] {
        cases.case(
            Start::Random1,
            format!("{} {cards} {periods:?} {gaps:?}", nic.dut.name),
            |run| {
                let timing = if gaps == Gaps::None { MemoryTiming::IDEAL } else { SLOW };
                let setup = Setup {
                    cards,
                    periods,
                    timing,
                    ..Setup::default()
                };
                let mut rig = start(run, nic, setup)?;
                rig.pause(run, gaps);
                let mut traffic = Traffic::new(&mut rig, run.rng("traffic"))?;
                traffic.go(40)?;
                traffic.check()
            },
        );
    }
}

#[test]
fn random_traffic_arrives() {
    pass(this_test!(), |cases| {
        carries(&nic::<Dimmnet1Nic>(), cases);
        carries(&nic::<Dimmnet1NicRandom>(), cases);
    });
}

/// A card whose link ends in the bench, which plays node 1.
const OPEN: Setup = Setup {
    cards: 1,
    periods: PERIODS[0],
    timing: MemoryTiming::IDEAL,
    linked: false,
    gated: false,
};
const PEER: u16 = 1;

/// A PUSH of the peer to the beginning of the upper half of `MAIN` that asks for an answer.
fn push(length: u32) -> Header {
    Header {
        kind: TYPE_PUSH,
        flags: HDR_W0_ACK_REQ_MASK,
        src: PEER,
        length,
        pgid: STAMP,
        tag: 0x5432,
        seq: 0x89ab_cdef,
        place: Place::new(MAIN, HALF.into()),
        ..Header::default()
    }
}

/// The answer to it of card 0, as it comes to the peer.
fn answer(header: &Header, refused: Option<Reason>, seq: u32) -> Vec<u64> {
    header.answer(refused, seq).encode()[..3].to_vec()
}

fn offer(rig: &mut Rig, packet: &Packet) {
    let words = words(slice::from_ref(&packet.words));
    words.into_iter().for_each(|word| rig.cards[0].to.push(word));
}

/// Offers a packet and waits until it is done with.
fn send(rig: &mut Rig, packet: &Packet) -> Result<(), Fault> {
    offer(rig, packet);
    rig.settle(1_000)
}

/// What the card has sent, in the order in which it should.
fn sent(rig: &mut Rig, rule: Rule, want: &[Vec<u64>]) -> Result<(), Fault> {
    let got = rig.take_sent(0);
    rule.same("packets sent", want, &got)
}

/// The bytes of `MAIN` from here on.
fn has(rig: &Rig, rule: Rule, offset: u32, want: &[u8]) -> Result<(), Fault> {
    let got = rig.cards[0].memory.read(physical(offset), want.len());
    rule.same(format!("MAIN at {offset:#x}"), Some(want), got)
}

/// Where packets go of which LENGTH is wrong: what comes of their data is written.
const SCRATCH: u32 = (PAGES - 1) * PAGE;

/// Packets with these 64 bytes that a card without a processor must refuse, and why.
fn bad_packets(data: &[u8]) -> Vec<(Packet, Reason)> {
    let header = push(64);
    let otf = Header {
        kind: TYPE_OTF,
        flags: HDR_W0_ACK_REQ_MASK | HDR_W0_OTF_MASK,
        length: 4,
        place: Place::new(ON_CARD, 8),
        ..header
    };
    let of = |change: &dyn Fn(&mut Header), from: &Header| {
        let mut header = *from;
        change(&mut header);
        header
    };
    let long = |change: &dyn Fn(&mut Header)| Packet::new(&of(change, &header), data);
    let short = |change: &dyn Fn(&mut Header)| Packet::new(&of(change, &otf), &data[..8]);
    let at = |region, offset: u32| Place::new(region, offset.into());
    let scratch = of(&|header| header.place = at(MAIN, SCRATCH), &header);
    let odd = |length: u32, words: usize| {
        let mut packet = Packet::new(&of(&|header| header.length = length, &scratch), data);
        packet.words.resize(words, 7);
        packet
    };
    vec![
        (long(&|header| header.pgid ^= 0x400), Reason::Unserved),
        (long(&|header| header.place.region = 9), Reason::Unserved),
        (long(&|header| header.place.region = FIXED), Reason::Rights),
        (long(&|header| header.place = at(MAIN, PAGES * PAGE)), Reason::Range),
        (long(&|header| header.place = at(ON_CARD, SIZE_LLCM)), Reason::Range),
        (long(&|header| header.place.offset += 4), Reason::Length),
        (
            long(&|header| header.place.offset += u64::from(PAGE) - 56),
            Reason::Range,
        ),
        (long(&|header| header.length = 0), Reason::Length),
        (odd(65, 14), Reason::Length),
        (odd(64, 13), Reason::Length),
        (odd(64, 15), Reason::Length),
        (odd(64, 6), Reason::Length),
        (odd(64, 4), Reason::Length),
        (long(&|header| header.kind = 7), Reason::Type),
        (long(&|header| header.kind = TYPE_OTF), Reason::Length),
        (long(&|header| header.kind = TYPE_SOFT), Reason::Unserved),
        (short(&|header| header.place = at(MAIN, HALF)), Reason::Rights),
        (short(&|header| header.place = at(ON_CARD, SIZE_LLCM)), Reason::Range),
        (short(&|header| header.place.offset += 5), Reason::Length),
        (short(&|header| header.kind = TYPE_INDIRECT), Reason::Unserved),
        (short(&|header| header.kind = TYPE_CLOSED), Reason::Type),
    ]
}

/// Each bad packet is answered and counted; a good one behind it arrives.
pub fn refuses(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} refuses", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let mut rng = run.rng("packets");
        let mut shadow = Shadow::fill(&mut rig, 0, &mut rng)?;
        let mut data = [0; 64];
        rng.fill(&mut data);
        shadow.write(MAIN, SCRATCH, &data);
        let mut want = [0; 16];
        for (packet, reason) in bad_packets(&data) {
            let header = packet.header();
            send(&mut rig, &packet)?;
            sent(&mut rig, Rule::Refuses, &[answer(&header, Some(reason), header.seq)])?;
            want[reason.code() as usize] += 1;
        }
        let want: Vec<(u32, u64)> = (0..).zip(want).collect();
        counts(&mut rig, Rule::Refuses, 0, &want)?;
        rig.reads(Rule::Refuses, 0, STATUS, STATUS_REFUSED_MASK)?;
        shadow
            .check(&mut rig, 0)
            .map_err(|fault| Rule::Refuses.broken(fault.what))?;
        let header = push(9);
        send(&mut rig, &Packet::new(&header, b"in a line"))?;
        sent(&mut rig, Rule::Refuses, &[answer(&header, None, header.seq)])?;
        has(&rig, Rule::Refuses, HALF, b"in a line")
    });
}

/// Memory refuses, at the receiver and at the RDMA engine.
pub fn memory_errors(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} memory", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let mut rng = run.rng("bytes");
        Shadow::fill(&mut rig, 0, &mut rng)?;
        let (bad, read) = (physical(HALF + 16).0, physical(PAGE).0);
        rig.cards[0].memory.inject_fault(bad..bad + 8);
        rig.cards[0].memory.inject_fault(read..read + 8);
        let header = push(64);
        send(&mut rig, &Packet::new(&header, &[7; 64]))?;
        sent(
            &mut rig,
            Rule::Refuses,
            &[answer(&header, Some(Reason::Bus), header.seq)],
        )?;
        // A descriptor that reads a bad page behind a good one.
        descriptor(
            &mut rig,
            TYPE_PUSH,
            Place::new(MAIN, 8),
            Place::new(MAIN, HALF.into()),
            2 * PAGE,
        );
        rig.settle(1_000)?;
        let error = put(RDMA_ERROR_MASK, REASON_BUS.into());
        rig.reads(Rule::Refuses, 0, RDMA, error)?;
        let first = rig.take_sent(0).remove(0);
        Rule::Refuses.same("words of the good packet", 6 + 511, first.len())?;
        counts(&mut rig, Rule::Refuses, 0, &[(REASON_BUS, 1)])
    });
}

/// Begins a descriptor to the peer without answers.
fn descriptor(rig: &mut Rig, kind: u32, local: Place, remote: Place, bytes: u32) {
    let what = Header {
        kind,
        dst: PEER,
        ..Header::default()
    };
    let length = put(RDMA_LENGTH_BYTES_MASK, bytes.into()) | put(RDMA_LENGTH_SLOT_MASK, SLOT_RDMA.into());
    store_all(
        rig,
        0,
        RDMA_WHAT,
        &[what.encode()[0], local.word(), remote.word(), length],
    );
}

#[test]
fn bad_packets_and_memory_errors_are_answered() {
    pass(this_test!(), |cases| {
        refuses(&nic::<Dimmnet1Nic>(), cases);
        memory_errors(&nic::<Dimmnet1Nic>(), cases);
    });
}

/// Numbered packets: each once, in order; a gap and an old one change nothing. Answers to slots: the right ones count.
fn numbers(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} numbers", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let mut numbered = push(8);
        numbered.flags |= HDR_W0_F_SEQ_MASK;
        let sequence = Some(Reason::Sequence);
        // The number, and the answer.
        let steps = [
            (0, None, 0),
            (1, None, 1),
            (3, sequence, 2),
            (1, None, 1),
            (2, None, 2),
            (3, None, 3),
            (u32::MAX, None, u32::MAX),
            (4, None, 4),
        ];
        let mut written = 0;
        for (step, (seq, refused, told)) in (1_u64..).zip(steps) {
            numbered.seq = seq;
            let data = (step << 32 | u64::from(seq)).to_le_bytes();
            send(&mut rig, &Packet::new(&numbered, &data))?;
            sent(&mut rig, Rule::Carries, &[answer(&numbered, refused, told)])?;
            if !matches!(step, 3 | 4 | 7) {
                written = step << 32 | u64::from(seq);
            }
            has(&rig, Rule::Carries, HALF, &written.to_le_bytes())?;
        }
        counts(&mut rig, Rule::Carries, 0, &[(0, 5), (REASON_SEQUENCE, 3)])
    });
    cases.case(Start::Random1, format!("{} slots", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let slot = SLOTS + 8 * u32::from(SLOT_AOTF);
        for _ in 0..3 {
            rig.store(0, AOTF + ASKING * PAGE, 1);
        }
        rig.settle(100)?;
        rig.reads(
            Rule::Carries,
            0,
            slot,
            Slot {
                open: 3,
                ..Slot::default()
            }
            .word(),
        )?;
        let packets = rig.take_sent(0);
        let mut tag = 0;
        for packet in &packets {
            tag = Header::decode(packet).tag;
        }
        let from = |src, tag| Header { src, tag, ..push(0) };
        // Of another node and of another generation: strays.
        for wrong in [from(2, tag), from(0, tag ^ 0x10)] {
            let back = Header {
                src: wrong.src,
                ..wrong.answer(None, 0)
            };
            send(&mut rig, &Packet::new(&back, &[]))?;
        }
        rig.reads(Rule::Carries, 0, STRAYS, 2)?;
        let good = from(0, tag);
        for refused in [None, Some(Reason::Overflow), Some(Reason::Bus)] {
            let back = Header {
                src: 0,
                ..good.answer(refused, 0x1234_5678)
            };
            send(&mut rig, &Packet::new(&back, &[]))?;
        }
        let want = Slot {
            open: 0,
            nacks: 2,
            reason: Some(Reason::Overflow),
            seq: 0x234_5678,
        };
        rig.reads(Rule::Carries, 0, slot, want.word())?;
        rig.store(0, slot, 0);
        rig.reads(Rule::Carries, 0, slot, 0)
    });
}

/// The reply to a PULL of the peer.
fn reply(pull: &Header, to: Place, data: &[u8]) -> Vec<u64> {
    let reply = Header {
        kind: TYPE_PULL_REPLY,
        flags: 0,
        src: 0,
        dst: PEER,
        seq: 0,
        place: to,
        soft: [0; 3],
        ..*pull
    };
    Packet::new(&reply, data).words
}

/// The RDMA engine answers requests of the peer; the builder sends short packets, and makes requests for its own card.
fn requests(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} requests", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let shadow = Shadow::fill(&mut rig, 0, &mut run.rng("bytes"))?;
        let to = Place::new(7, 0x1_2345_6000);
        let pull = Header {
            kind: TYPE_PULL,
            flags: HDR_W0_OTF_MASK | HDR_W0_ACK_REQ_MASK,
            place: Place::new(FIXED, 0x108),
            ..push(40)
        };
        let packet = |pull: &Header| Packet::new(pull, &to.word().to_le_bytes());
        let want = reply(&pull, to, &shadow.main[0x108..][..40]);
        send(&mut rig, &packet(&pull))?;
        sent(&mut rig, Rule::Carries, slice::from_ref(&want))?;
        let at = |region, offset: u32| Header {
            place: Place::new(region, offset.into()),
            ..pull
        };
        for (bad, reason) in [
            (at(9, 0), Reason::Unserved),
            (at(FIXED, PAGES * PAGE - 32), Reason::Range),
            (at(MAIN, PAGE - 32), Reason::Range),
            (at(MAIN, 4), Reason::Length),
        ] {
            send(&mut rig, &packet(&bad))?;
            sent(&mut rig, Rule::Refuses, &[answer(&bad, Some(reason), bad.seq)])?;
        }
        // The builder's: a barrier with a word of data and without, and a request for the own engine.
        let barrier = Header {
            kind: TYPE_BARRIER,
            flags: HDR_W0_OTF_MASK,
            dst: PEER,
            src: 0,
            ..push(8)
        };
        for (data, words) in [(1, 4), (0, 3)] {
            let built = Packet::new(&barrier, &[0xa5; 8]);
            store_all(&mut rig, 0, BUILD, &built.words);
            rig.store(0, BUILD_GO, data);
            rig.settle(10)?;
            sent(&mut rig, Rule::Carries, &[built.words[..words].to_vec()])?;
        }
        store_all(&mut rig, 0, BUILD, &packet(&pull).words);
        rig.store(0, BUILD_GO, BUILD_GO_DATA_MASK);
        rig.settle(10)?;
        sent(&mut rig, Rule::Carries, &[want])?;
        // Nobody answers a packet to a group.
        let group = Header {
            flags: HDR_W0_ACK_REQ_MASK | HDR_W0_MULTICAST_MASK,
            ..push(16)
        };
        send(&mut rig, &Packet::new(&group, b"written, unsaid."))?;
        sent(&mut rig, Rule::Carries, &[])?;
        has(&rig, Rule::Carries, HALF, b"written, unsaid.")?;
        counts(&mut rig, Rule::Carries, 0, &[(0, 5), (REASON_LENGTH, 1)])
    });
}

#[test]
fn numbers_and_slots_count() {
    pass(this_test!(), |cases| numbers(&nic::<Dimmnet1Nic>(), cases));
}

#[test]
fn requests_are_answered_and_built() {
    pass(this_test!(), |cases| requests(&nic::<Dimmnet1Nic>(), cases));
}

/// The times of events of this kind, ps.
fn times(events: &[Event], is: impl Fn(&What) -> bool) -> Vec<u64> {
    let found = events.iter().filter(|(_, what)| is(what));
    found.map(|(at, _)| *at).collect()
}

/// Core cycles between two times of a rig with the machine's clocks.
fn cycles(from: u64, to: u64) -> f64 {
    (to as f64 - from as f64) / OPEN.periods[0] as f64
}

/// At most so many core cycles from the edge that takes a store to the edge that takes the packet's first word, and
/// from the edge that takes the last word to the edge that takes the first load that finds it.
const TO_LINK: f64 = 8.0;
const TO_LLCM: f64 = 8.0;

/// From a store to the link, and from the link to LLCM, in core cycles. The clocks are 50 and 62.5 MHz.
fn latencies(nic: &Nic, cases: &mut Cases) {
    for phase in 0..4 {
        cases.case(Start::Random1, format!("{} latency {phase}", nic.dut.name), |run| {
            let mut rig = start(run, nic, OPEN)?;
            rig.cards[0].events.clear();
            rig.store(0, AOTF + QUIET * PAGE, 1);
            rig.settle(10)?;
            let events = &rig.cards[0].events;
            let store = times(events, |what| matches!(what, What::Accepted(_)))[0];
            let link = times(events, |what| matches!(what, What::Sent(_)))[0];
            let took = cycles(store, link);
            Rule::Latency.holds(took <= TO_LINK, || format!("store to link: {took} cycles"))?;
            rig.cards[0].events.clear();
            let otf = Header {
                kind: TYPE_OTF,
                flags: HDR_W0_OTF_MASK,
                place: Place::new(ON_CARD, 0),
                ..push(8)
            };
            offer(&mut rig, &Packet::new(&otf, &[0x5a; 8]));
            for _ in 0..40 {
                rig.cards[0].request_load(LLCM);
            }
            rig.settle(10)?;
            let events = &rig.cards[0].events;
            let link = times(events, |what| matches!(what, What::Received((_, true))))[0];
            let loads = times(events, |what| matches!(what, What::Accepted(_)));
            let answers = events.iter().filter_map(|(_, what)| match what {
                What::Answered((word, _)) => Some(*word),
                _ => None,
            });
            let seen = answers.zip(loads).find(|(word, _)| *word == 0x5a5a_5a5a_5a5a_5a5a);
            let seen = seen.ok_or_else(|| Rule::Latency.broken("the word is not in LLCM after 40 loads"))?;
            let took = cycles(link, seen.1);
            Rule::Latency.holds(took <= TO_LLCM, || format!("link to LLCM: {took} cycles"))
        });
    }
}

/// Words per core cycle: both windows kicked again and again, and packets of 4 KB on their way to memory.
pub fn rates(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} BOTF rate", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        let header = Header {
            flags: 0,
            ..push(SIZE_BOTF)
        };
        let packet = Packet::new(&header, &[3; SIZE_BOTF as usize]);
        for window in 0..2 {
            store_all(&mut rig, 0, WINDOW0 + window * SIZE_WINDOW, &packet.words);
            rig.store(0, KICK0 + 8 * window, 0);
        }
        for kick in 0..8 {
            let window = kick % 2;
            rig.poll(0, WINDOWS, WINDOWS_BUSY0_MASK << window)?;
            rig.store(0, KICK0 + 8 * window, 0);
        }
        rig.settle(100)?;
        let sent = times(&rig.cards[0].events, |what| matches!(what, What::Sent(_)));
        Rule::Rate.same("words of ten packets", 640, sent.len())?;
        let took = cycles(sent[0], sent[639]);
        Rule::Rate.holds(took <= 640.5, || format!("640 words of BOTF in {took} cycles"))
    });
    cases.case(Start::Random1, format!("{} receiver rate", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        for page in 0..6 {
            let header = Header {
                flags: 0,
                place: Place::new(MAIN, (HALF + page * PAGE).into()),
                ..push(PAGE)
            };
            offer(&mut rig, &Packet::new(&header, &[5; PAGE as usize]));
        }
        rig.cards[0].events.clear();
        rig.settle(100)?;
        let came = times(&rig.cards[0].events, |what| matches!(what, What::Received(_)));
        let written = times(&rig.cards[0].events, |what| {
            matches!(what, What::Memory(EventKind::MemWritten { .. }))
        });
        let last = *written.last().ok_or_else(|| Rule::Rate.broken("nothing is written"))?;
        let took = cycles(came[0], last);
        let words = 6.0 * (6.0 + 512.0);
        Rule::Rate.holds(took <= words + 30.0, || format!("{words} words in {took} cycles"))
    });
}

#[test]
fn latencies_and_rates_are_kept() {
    pass(this_test!(), |cases| {
        latencies(&nic::<Dimmnet1Nic>(), cases);
        rates(&nic::<Dimmnet1Nic>(), cases);
    });
}

/// Two equal sets of cards, of which one leaves out edges, do the same at the same times.
pub fn gating(nic: &Nic, cases: &mut Cases) {
    for (cards, periods) in [(1, PERIODS[0]), (2, PERIODS[1]), (2, PERIODS[2])] {
        cases.case(
            Start::Random1,
            format!("{} gating {cards} {periods:?}", nic.dut.name),
            |run| {
                let setup = Setup {
                    cards,
                    periods,
                    timing: SLOW,
                    ..Setup::default()
                };
                let (want, _) = rests(run, nic, setup)?;
                let gated = rests(run, nic, Setup { gated: true, ..setup });
                // Whatever goes wrong with them goes right without left-out edges.
                let (got, skipped) = gated.map_err(|fault| Rule::Gating.broken(fault.to_string()))?;
                Rule::Gating.holds(skipped > 100, || format!("only {skipped} edges are left out"))?;
                for (number, (want, got)) in want.iter().zip(&got).enumerate() {
                    Rule::Gating.same(format!("event {number}"), want, got)?;
                }
                Rule::Gating.same("number of events", want.len(), got.len())
            },
        );
    }
}

/// Random traffic with rests. Gives the events of all cards, and how many edges were left out.
fn rests(run: &Run, nic: &Nic, setup: Setup) -> Result<(Vec<Event>, u64), Fault> {
    let mut rig = start(run, nic, setup)?;
    let mut traffic = Traffic::new(&mut rig, run.rng("traffic"))?;
    let mut waits = run.rng("waits");
    for _ in 0..25 {
        traffic.go(1)?;
        traffic.rig.pass(waits.below(12))?;
    }
    traffic.check()?;
    let skipped = rig.cards.iter().map(|card| card.skipped).sum();
    let events = rig.cards.into_iter().flat_map(|card| card.events);
    Ok((events.collect(), skipped))
}

#[test]
fn leaving_out_edges_changes_nothing() {
    pass(this_test!(), |cases| gating(&nic::<Dimmnet1Nic>(), cases));
}

/// A reset in mid-flight leaves nothing behind.
pub fn resets(nic: &Nic, cases: &mut Cases) {
    for round in 0..6 {
        cases.case(Start::Random1, format!("{} reset {round}", nic.dut.name), |run| {
            let setup = Setup {
                cards: 2,
                timing: SLOW,
                ..Setup::default()
            };
            let mut rig = start(run, nic, setup)?;
            rig.pause(run, Gaps::ALL[round % 4]);
            let mut rng = run.rng("reset");
            Traffic::new(&mut rig, run.rng("before"))?.go(rng.between(1, 20) as usize)?;
            rig.pass(rng.below(20))?;
            rig.reset()?;
            program(&mut rig)?;
            let mut traffic = Traffic::new(&mut rig, run.rng("after"))?;
            traffic.go(15)?;
            traffic.check()
        });
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| resets(&nic::<Dimmnet1NicRandom>(), cases));
}

/// Programs of the processor, by word of its SRAM. They refuse each stop with OVERFLOW.
const REFUSE: u32 = GO_NACK | REASON_OVERFLOW << RX_GO_REASON_SHIFT;

/// `1: j 1b`.
const LOOPS: &[(u32, u32)] = &[(0, 0x0800_0000), (1, 0)];
/// It polls RX_STOP, and leaves half of the header's first word at the beginning of LLCM.
const POLLS: &[(u32, u32)] = &[
    (0, 0x3c08_8000),           // lui   $t0, 0x8000
    (1, 0x3c0b_8001),           // lui   $t3, 0x8001
    (2, 0x8d09_0000 | RX_STOP), // lw    $t1, RX_STOP($t0)
    (3, 0),
    (4, 0x3129_0001),             // andi  $t1, $t1, 1
    (5, 0x1120_fffc),             // beqz  $t1, 2
    (6, 0x240a_0000 | REFUSE),    // li    $t2, REFUSE
    (7, 0x8d0c_0000 | RX_HEADER), // lw    $t4, RX_HEADER($t0)
    (8, 0),
    (9, 0xad6c_0000),          // sw    $t4, 0($t3)
    (10, 0xad0a_0000 | RX_GO), // sw    $t2, RX_GO($t0)
    (11, 0x0800_0002),         // j     2
    (12, 0),
];
/// It waits for an interrupt.
const WAITS: &[(u32, u32)] = &[
    (0, 0x3c08_8000), // lui   $t0, 0x8000
    (1, 0x341a_0401), // li    $k0, 0x401
    (2, 0x409a_6000), // mtc0  $k0, $status
    (3, 0x1000_ffff), // b     .
    (4, 0),
    (32, 0x240a_0000 | REFUSE),  // li    $t2, REFUSE
    (33, 0xad0a_0000 | RX_GO),   // sw    $t2, RX_GO($t0)
    (34, 0x8d09_0000 | RX_STOP), // lw    $t1, RX_STOP($t0)
    (35, 0x401a_7000),           // mfc0  $k0, $epc
    (36, 0),
    (37, 0x0340_0008), // jr    $k0
    (38, 0x4200_0010), // rfe
];

/// The processor runs this program, with these further flags of CONTROL.
fn runs(rig: &mut Rig, program: &[(u32, u32)], flags: u64) -> Result<(), Fault> {
    rig.store(0, CONTROL, CONTROL_RECEIVE_MASK);
    for pair in 0..32 {
        let word = |at| {
            program
                .iter()
                .find(|(to, _)| *to == at)
                .map_or(0, |(_, word)| u64::from(*word))
        };
        rig.store(0, SRAM + 8 * pair, word(2 * pair + 1) << 32 | word(2 * pair));
    }
    rig.store(0, CONTROL, CONTROL_RECEIVE_MASK | CONTROL_RUN_MASK | flags);
    rig.reads(Rule::Host, 0, CONTROL, CONTROL_RECEIVE_MASK | CONTROL_RUN_MASK | flags)
}

/// A packet for the processor.
fn indirect(length: u32) -> Header {
    Header {
        kind: TYPE_INDIRECT,
        soft: [1, 2, 3],
        ..push(length)
    }
}

/// The card is stopped for this cause, by this type.
fn stopped(rig: &mut Rig, cause: u32, kind: u32) -> Result<(), Fault> {
    rig.pass(3)?;
    let want = RX_STOP_STOPPED_MASK | put(RX_STOP_CAUSE_MASK, cause.into()) | put(RX_STOP_TYPE_MASK, kind.into());
    let got = rig.load(0, RX_STOP)? & (RX_STOP_STOPPED_MASK | RX_STOP_CAUSE_MASK | RX_STOP_TYPE_MASK);
    Rule::Stops.same("RX_STOP", want, got)
}

/// The host ends a stop, and these packets are sent.
fn go(rig: &mut Rig, what: u32, reason: u32, want: &[Vec<u64>]) -> Result<(), Fault> {
    rig.store(0, RX_GO, u64::from(what) | put(RX_GO_REASON_MASK, reason.into()));
    rig.pass(5)?;
    sent(rig, Rule::Stops, want)
}

/// Programs, the host and the watchdog end stops. These bits of CONTROL are set, too.
pub fn stops(nic: &Nic, gated: bool, control: u64, cases: &mut Cases) {
    let setup = Setup { gated, ..OPEN };
    for (name, program, flags) in [("polls", POLLS, CONTROL_POLL_MASK), ("waits", WAITS, 0)] {
        cases.case(Start::Random1, format!("{} {name} {gated}", nic.dut.name), |run| {
            let mut rig = start(run, nic, setup)?;
            runs(&mut rig, program, flags | control)?;
            rig.pass(5)?;
            for round in 1..4 {
                let header = indirect(8 * round);
                offer(&mut rig, &Packet::new(&header, &[9; 32][..8 * round as usize]));
                rig.pass(5)?;
                let want = answer(&header, Some(Reason::Overflow), header.seq);
                sent(&mut rig, Rule::Stops, &[want])?;
                if flags != 0 {
                    let low = header.encode()[0] as u32;
                    Rule::Stops.same("W0 in LLCM", low, rig.load(0, LLCM)? as u32)?;
                }
            }
            counts(&mut rig, Rule::Stops, 0, &[(REASON_OVERFLOW, 3)])
        });
    }
    // One of them runs, the other waits for an interrupt that does not come.
    for (name, program) in [("loops", LOOPS), ("waits", WAITS)] {
        cases.case(
            Start::Random1,
            format!("{} {name} too long {gated}", nic.dut.name),
            |run| {
                let mut rig = start(run, nic, setup)?;
                watchdog(&mut rig, program)
            },
        );
    }
    cases.case(
        Start::Random1,
        format!("{} host's stops {gated}", nic.dut.name),
        |run| {
            let mut rig = start(run, nic, setup)?;
            runs(&mut rig, LOOPS, CONTROL_POLL_MASK)?;
            host_stops(&mut rig)?;
            translations(&mut rig)
        },
    );
}

/// A program that does nothing about a stop: the watchdog ends it.
fn watchdog(rig: &mut Rig, program: &[(u32, u32)]) -> Result<(), Fault> {
    rig.store(0, WATCHDOG, 300);
    rig.store(0, MASK, STATUS_FIRED_MASK);
    runs(rig, program, CONTROL_POLL_MASK)?;
    let header = indirect(100);
    offer(rig, &Packet::new(&header, &[9; 100]));
    stopped(rig, STOP_TYPE, TYPE_INDIRECT)?;
    for (at, word) in (RX_HEADER..).step_by(8).zip(header.encode()) {
        rig.reads(Rule::Stops, 0, at, word)?;
    }
    Rule::Stops.holds(!rig.cards[0].seen.irq, || "an interrupt before its time".into())?;
    rig.pass(7)?;
    let want = answer(&header, Some(Reason::Timeout), header.seq);
    sent(rig, Rule::Stops, &[want])?;
    Rule::Stops.holds(rig.cards[0].seen.irq, || "no interrupt of the watchdog".into())?;
    rig.reads(Rule::Stops, 0, STATUS, STATUS_FIRED_MASK | STATUS_REFUSED_MASK)?;
    rig.reads(Rule::Stops, 0, CONTROL, CONTROL_RECEIVE_MASK | CONTROL_POLL_MASK)?;
    rig.store(0, STATUS, STATUS_FIRED_MASK);
    rig.settle(10)?;
    Rule::Stops.holds(!rig.cards[0].seen.irq, || "the interrupt stays".into())
}

/// Stops by a type that the host ends in each way.
fn host_stops(rig: &mut Rig) -> Result<(), Fault> {
    let header = indirect(24);
    let packet = |byte| Packet::new(&header, &[byte; 24]);
    let place = physical(HALF);
    offer(rig, &packet(1));
    stopped(rig, STOP_TYPE, TYPE_INDIRECT)?;
    let moved = Place::new(MAIN, (HALF + 64).into());
    rig.store(0, RX_HEADER + 16, moved.word());
    go(rig, GO_CONTINUE, 0, &[answer(&header, None, header.seq)])?;
    has(rig, Rule::Stops, HALF + 64, &[1; 24])?;
    offer(rig, &packet(2));
    stopped(rig, STOP_TYPE, TYPE_INDIRECT)?;
    go(rig, GO_DROP, 0, &[])?;
    offer(rig, &packet(3));
    stopped(rig, STOP_TYPE, TYPE_INDIRECT)?;
    let refused = answer(&header, Some(Reason::Firmware), header.seq);
    go(rig, GO_NACK, REASON_FIRMWARE, &[refused])?;
    offer(rig, &packet(4));
    stopped(rig, STOP_TYPE, TYPE_INDIRECT)?;
    rig.store(0, RX_DMA, place.0.into());
    go(rig, GO_DMA, 0, &[])?;
    let done = rig.load(0, RX_STOP)? & (RX_STOP_DONE_MASK | RX_STOP_DONE_REASON_MASK);
    Rule::Stops.same("RX_STOP after DMA", RX_STOP_DONE_MASK, done)?;
    has(rig, Rule::Stops, HALF, &[4; 24])?;
    has(rig, Rule::Stops, HALF + 64, &[1; 24])?;
    counts(rig, Rule::Stops, 0, &[(0, 3), (REASON_FIRMWARE, 1)])
}

/// Translations that are missing, at the receiver and at the RDMA engine.
fn translations(rig: &mut Rig) -> Result<(), Fault> {
    let (last, header) = (PAGES - 1, push(8));
    let place = Place::new(MAIN, (last * PAGE).into());
    rig.store(0, TLB_FLUSH, 1);
    store_all(rig, 0, RVATLB, &regions()[0].encode());
    rig.settle_hosts(10)?;
    let header = Header { place, ..header };
    offer(rig, &Packet::new(&header, &[6; 8]));
    stopped(rig, STOP_PATLB, TYPE_PUSH)?;
    rig.reads(Rule::Stops, 0, RX_PAGE, PageEntry::key(STAMP, FIRST + last))?;
    map(rig, 0, last);
    go(rig, GO_CONTINUE, 0, &[answer(&header, None, header.seq)])?;
    has(rig, Rule::Stops, last * PAGE, &[6; 8])?;
    for (what, error) in [(GO_CONTINUE, 0), (GO_NACK, REASON_FIRMWARE)] {
        rig.store(0, TLB_FLUSH, 1);
        descriptor(rig, TYPE_PUSH, place, Place::default(), 8);
        rig.pass(3)?;
        rig.reads(Rule::Stops, 0, RDMA_KEY, Region::key(STAMP, MAIN))?;
        let stop = rig.load(0, RX_STOP)? & (RX_STOP_RDMA_MASK | RX_STOP_RDMA_CAUSE_MASK);
        let want = RX_STOP_RDMA_MASK | put(RX_STOP_RDMA_CAUSE_MASK, STOP_RVATLB.into());
        Rule::Stops.same("RX_STOP", want, stop)?;
        store_all(rig, 0, RVATLB, &regions()[0].encode());
        map(rig, 0, last);
        rig.store(0, RDMA_GO, u64::from(what) | put(RDMA_GO_REASON_MASK, error.into()));
        rig.pass(5)?;
        rig.reads(Rule::Stops, 0, RDMA, put(RDMA_ERROR_MASK, error.into()))?;
        let packets = rig.take_sent(0);
        Rule::Stops.same("packets of RDMA", usize::from(error == 0), packets.len())?;
        for packet in packets {
            Rule::Stops.same("data of RDMA", [6; 8].to_vec(), Packet { words: packet }.data())?;
        }
    }
    Ok(())
}

/// The processor tells what it retires.
fn retires(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} retires", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        runs(&mut rig, LOOPS, CONTROL_POLL_MASK)?;
        rig.pass(1)?;
        let retired = rig.cards[0].events.iter().filter_map(|(_, what)| match what {
            What::Retired(retired) => Some(*retired),
            _ => None,
        });
        let retired: Vec<_> = retired.take(4).collect();
        Rule::Stops.same("retired", vec![(0, false), (4, false), (0, false), (4, false)], retired)
    });
}

#[test]
fn stops_end() {
    pass(this_test!(), |cases| {
        retires(&nic::<Dimmnet1Nic>(), cases);
        stops(&nic::<Dimmnet1Nic>(), false, 0, cases);
        stops(&nic::<Dimmnet1Nic>(), true, 0, cases);
    });
}

/// A card without a matcher leaves all to its processor, whatever CONTROL.MATCH says.
fn plain(nic: &Nic, cases: &mut Cases) {
    stops(nic, false, CONTROL_MATCH_MASK, cases);
    carries(nic, cases);
}

#[test]
fn without_a_matcher_all_is_left_to_the_processor() {
    pass(this_test!(), |cases| plain(&nic::<Dimmnet1NicPlain>(), cases));
}

/// Accesses of the host that are refused, stores that are lost, and packets that wait.
pub fn host(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} host", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        rig.store(0, MASK, STATUS_HOST_MASK);
        for (addr, strobes) in [
            (STATUS + 0x100, 0xff),
            (TIME, 0xff),
            (PGID, 0x7f),
            (KICK0, 1),
            (0x3000, 0xff),
        ] {
            rig.store_part(0, addr, 0, strobes);
        }
        for addr in [HEADER_TLB, AOTF, 0x3000, 0x80_0000] {
            let (_, refused) = rig.answer(0, addr)?;
            Rule::Host.holds(refused, || format!("a load of {addr:#x} is answered"))?;
        }
        rig.reads(Rule::Host, 0, HOST_ERRORS, 9)?;
        rig.reads(Rule::Host, 0, PGID, STAMP.into())?;
        Rule::Host.holds(rig.cards[0].seen.irq, || "no interrupt of a bad access".into())?;
        rig.store(0, LLCM + 64, u64::MAX);
        rig.store_part(0, LLCM + 64, 0x0102_0304_0506_0708, 0x18);
        rig.reads(Rule::Host, 0, LLCM + 64, 0xffff_ff04_05ff_ffff)
    });
    cases.case(Start::Random1, format!("{} full", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        rig.store(0, PATIENCE, 20);
        rig.settle(10)?;
        rig.cards[0].hold(true);
        for byte in 0..64 {
            rig.store(0, AOTF + QUIET * PAGE + 8 * byte, byte.into());
        }
        rig.settle_hosts(100)?;
        let lost = rig.load(0, AOTF_LOST)? as usize;
        rig.cards[0].hold(false);
        rig.settle(100)?;
        let packets = rig.take_sent(0);
        Rule::Host.holds(lost > 0, || "no store is lost though the link stands".into())?;
        Rule::Host.same("stores sent and lost", 64, packets.len() + lost)?;
        let kept = packets.iter().enumerate().all(|(at, packet)| packet[3] == at as u64);
        Rule::Host.holds(kept, || "other stores than the last are lost".into())?;
        rig.store(0, CONTROL, 0);
        rig.settle_hosts(10)?;
        let header = push(8);
        send(&mut rig, &Packet::new(&header, &[8; 8]))?;
        sent(&mut rig, Rule::Host, &[])?;
        rig.store(0, CONTROL, CONTROL_RECEIVE_MASK);
        rig.settle(10)?;
        sent(&mut rig, Rule::Host, &[answer(&header, None, header.seq)])
    });
}

#[test]
fn the_host_gets_its_answers() {
    pass(this_test!(), |cases| host(&nic::<Dimmnet1Nic>(), cases));
}

/// Two receive commands: two blocks of 8 bytes, 24 apart, at `to`, and one of 16 bytes at `last`.
fn chain(at: u32, to: Place, last: Place) -> [u64; 6] {
    let shape = |length: u64, count: u64, stride: u64| {
        put(CHAIN_SHAPE_LENGTH_MASK, length)
            | put(CHAIN_SHAPE_COUNT_MASK, count)
            | put(CHAIN_SHAPE_KIND_MASK, CHAIN_KIND_WRITE.into())
            | put(CHAIN_SHAPE_STRIDE_MASK, stride)
    };
    let next = u64::from(at + COMMAND_BYTES);
    [
        to.word(),
        shape(8, 2, 24),
        next,
        last.word(),
        shape(16, 1, 0),
        CHAIN_NEXT_OFFSET_MASK,
    ]
}

/// With CONTROL.MATCH and no processor: indirect writes, messages until the system buffer is full, a chain, what is
/// refused.
pub fn matches(nic: &Nic, cases: &mut Cases) {
    const POINTER: u32 = 0x100;
    const CELL: u32 = LLCM_HALF - 16;
    const AREA: u32 = 0x1800;
    const SYSTEM: u32 = HALF + PAGE;
    const COMMAND: u32 = 0x140;
    const BLOCKS: u32 = HALF + 0x200;
    let main = |offset: u32| Place::new(MAIN, offset.into());
    for gated in [false, true] {
        cases.case(Start::Random1, format!("{} matches {gated}", nic.dut.name), |run| {
            let mut rig = start(run, nic, Setup { gated, ..OPEN })?;
            rig.store(0, CONTROL, CONTROL_RECEIVE_MASK | CONTROL_MATCH_MASK);
            rig.store(0, LLCM + POINTER, main(HALF).word());
            let system = main(SYSTEM).word();
            let free_and_limit = |free: u32| u64::from(SYSTEM + 24) << 32 | u64::from(free);
            let on_card = |offset: u32| Place::new(ON_CARD, offset.into());
            let cell = [on_card(AREA).word(), free_and_limit(SYSTEM), system >> 32];
            store_all(&mut rig, 0, LLCM + CELL, &cell);
            let commands = chain(COMMAND, main(BLOCKS), on_card(AREA + 64));
            store_all(&mut rig, 0, LLCM + COMMAND, &commands);
            rig.settle(100)?;
            let mut sends = |kind, place, length: u32, refused| {
                // Those of 8 bytes are short.
                let short = if length == 8 { HDR_W0_OTF_MASK } else { 0 };
                let header = Header {
                    kind,
                    place,
                    flags: HDR_W0_ACK_REQ_MASK | short,
                    ..indirect(length)
                };
                send(&mut rig, &Packet::new(&header, &vec![length as u8; length as usize]))?;
                sent(&mut rig, Rule::Matches, &[answer(&header, refused, header.seq)])
            };
            let [pointer, cell] = [POINTER, CELL].map(on_card);
            sends(TYPE_INDIRECT, pointer, 40, None)?;
            sends(TYPE_MESSAGE, cell, 32, None)?;
            sends(TYPE_MESSAGE, cell, 11, None)?;
            sends(TYPE_MESSAGE, cell, 16, Some(Reason::Overflow))?;
            sends(TYPE_INDIRECT, pointer, 8, None)?;
            sends(TYPE_INDIRECT, main(0), 8, Some(Reason::Rights))?;
            sends(TYPE_MESSAGE, on_card(SIZE_LLCM - 16), 8, Some(Reason::Range))?;
            sends(TYPE_INDIRECT, Place::new(99, 0), 8, Some(Reason::Unserved))?;
            sends(TYPE_BARRIER, cell, 8, Some(Reason::Unserved))?;
            sends(TYPE_CHAIN, on_card(COMMAND), 32, None)?;
            sends(TYPE_CHAIN, on_card(COMMAND), 40, Some(Reason::Range))?;
            has(&rig, Rule::Matches, HALF, &[[8; 8].as_slice(), &[40; 32]].concat())?;
            has(&rig, Rule::Matches, SYSTEM, &[11; 11])?;
            for word in 0..4 {
                rig.reads(Rule::Matches, 0, LLCM + AREA + 8 * word, u64::from_le_bytes([32; 8]))?;
            }
            for block in [0, 24] {
                has(&rig, Rule::Matches, BLOCKS + block, &[40; 8])?;
            }
            for word in 8..10 {
                rig.reads(Rule::Matches, 0, LLCM + AREA + 8 * word, u64::from_le_bytes([40; 8]))?;
            }
            rig.reads(Rule::Matches, 0, LLCM + CELL, system)?;
            rig.reads(Rule::Matches, 0, LLCM + CELL + 8, free_and_limit(u32::MAX))?;
            let refused = [(0, 5), (REASON_OVERFLOW, 1), (REASON_RIGHTS, 1), (REASON_RANGE, 2)];
            counts(
                &mut rig,
                Rule::Matches,
                0,
                &[&refused[..], &[(REASON_UNSERVED, 2)]].concat(),
            )
        });
    }
}

#[test]
fn packets_are_matched() {
    pass(this_test!(), |cases| matches(&nic::<Dimmnet1Nic>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // An OTF write changes its whole word.
            (Carries, &[], &|cases| carries(&nic::<TwinCardLanes>(), cases)),
            // Each packet counts as accepted.
            (Refuses, &[], &|cases| refuses(&nic::<TwinCardOutcome>(), cases)),
            // What the processor gives as its reason does not reach the receiver.
            (Stops, &[], &|cases| stops(&nic::<TwinCardReason>(), false, 0, cases)),
            // A cell may be in memory.
            (Matches, &[Hang], &|cases| matches(&nic::<TwinCardCell>(), cases)),
            // A store of the host to LLCM changes its whole word.
            (Host, &[], &|cases| host(&nic::<TwinCardStrobes>(), cases)),
            // At rest, an access of the host wakes the card one edge too late.
            (Gating, &[], &|cases| gating(&nic::<TwinCardAwake>(), cases)),
            // An OTF write waits for the host's accesses to LLCM.
            (Latency, &[], &|cases| latencies(&nic::<TwinCardStarved>(), cases)),
            // One burst at a time awaits its end.
            (Rate, &[], &|cases| rates(&nic::<TwinCardOutstanding>(), cases)),
            // A word is given up when the link does not take it.
            (Protocol, &[Carries, Hang], &|cases| {
                carries(&nic::<TwinCardLink>(), cases)
            }),
            // Where no matcher is built in, one ends each stop, or stores all the time.
            (Stops, &[], &|cases| plain(&nic::<TwinCardPlainGoes>(), cases)),
            (Hang, &[Stops, Carries], &|cases| {
                plain(&nic::<TwinCardPlainStores>(), cases)
            }),
            // Answers do not reach the slots.
            (Carries, &[Hang], &|cases| carries(&nic::<TwinCardAnswers>(), cases)),
        ],
    );
}
