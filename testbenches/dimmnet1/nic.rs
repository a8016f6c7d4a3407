//! `dimmnet1_nic`: a card as a whole. One card is its own peer, or two are each other's.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::Addr;
use tsunagi::dimmnet1::golden::packet::{
    Base, Header, Packet, PageEntry, Place, Reason, Region, Rights, Slot, cut, header_entry, put, word,
};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;

use crate::rig::{Event, Nic, Rig, Setup, What, nic};
use crate::tx::words;

rules!(
    /// Bytes are where packets carried them, and nowhere else; each packet is counted, each answer comes.
    Carries
    /// A bad packet changes nothing, is counted with its reason, and is answered with it.
    Refuses
    /// The processor, the host or the watchdog ends a stop.
    Stops
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
const PAGE: u32 = SIZE__PAGE;
const PAGES: u32 = 16;
/// The first virtual page of `MAIN`.
const FIRST: u32 = 0x40;
/// In both regions: where data come from, and where they go to.
const HALF: u32 = PAGES / 2 * PAGE;
const LLCM_HALF: u32 = SIZE__LLCM / 2;
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
            bytes: SIZE__LLCM.into(),
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
        kind: TYPE__OTF,
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
        let asks = page_entry(dst, HDR__W0_ACK_REQ_MASK, SLOT_AOTF);
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
        let mut llcm = vec![0; SIZE__LLCM as usize];
        rng.fill(&mut main);
        rng.fill(&mut llcm);
        for (page, bytes) in (0..).zip(main.chunks(PAGE as usize)) {
            assert!(rig.cards[card].memory.write(physical(page * PAGE), bytes), "memory has all pages");
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
            _ => (&mut self.llcm_free, SIZE__LLCM),
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
            let length = rng.between(1, SIZE__BOTF.into()) as u32;
            let region = if rng.chance(1, 4) { ON_CARD } else { MAIN };
            let Some(at) = self.shadows[far].room(region, length, true, rng) else {
                break;
            };
            let mut data = vec![0; length as usize];
            rng.fill(&mut data);
            let header = Header {
                kind: TYPE__PUSH,
                flags: [HDR__W0_ACK_REQ_MASK, HDR__W0_ACK_REQ_MASK | HDR__W0_F_SEQ_MASK, 0][rng.below(3) as usize],
                dst: far as u16,
                length,
                tag: SLOT_BOTF.into(),
                place: Place::new(region, at.into()),
                ..Header::default()
            };
            let packet = Packet::new(&header, &data);
            store_all(self.rig, card, WINDOW0 + window * SIZE__WINDOW, &packet.words);
            self.rig.store(card, KICK0 + 8 * window, 0);
            let to = &mut self.shadows[far];
            to.write(region, at, &data);
            to.packets += 1;
        }
        while self.rig.load(card, WINDOWS)? & BUSY != 0 {}
        Ok(())
    }

    /// A descriptor of RDMA, PUSH or PULL, of memory or LLCM at either end.
    fn rdma(&mut self, card: usize) -> Result<(), Fault> {
        let far = far(self.rig, card);
        let rng = &mut self.rng;
        let pulls = rng.chance(1, 2);
        let (source, target) = if pulls { (far, card) } else { (card, far) };
        let region = |rng: &mut Rng| if rng.chance(1, 4) { ON_CARD } else { MAIN };
        let (from, to) = (region(rng), region(rng));
        let most = if from == MAIN && to == MAIN && rng.chance(1, 2) { 9_000 } else { 700 };
        let bytes = rng.between(1, most) as u32;
        let Some(at) = self.shadows[target].room(to, bytes, false, rng) else {
            return Ok(());
        };
        // Stores to pages of AOTF change the first quarter of LLCM.
        let (first, end) = if from == MAIN { (0, HALF) } else { (LLCM_HALF / 2, LLCM_HALF) };
        let start = first + 8 * rng.below(u64::from(end - first - bytes) / 8) as u32;
        let asks = rng.chance(1, 2);
        let data = self.shadows[source].bytes(from)[start as usize..][..bytes as usize].to_vec();
        self.shadows[target].write(to, at, &data);
        let pieces = cut(bytes, SIZE__PACKET, &[start.into(), at.into()]).count() as u64;
        // A PULL counts at both ends.
        self.shadows[target].packets += pieces;
        if pulls {
            self.shadows[source].packets += pieces;
        }
        let (local, remote) = if pulls { ((to, at), (from, start)) } else { ((from, start), (to, at)) };
        let what = Header {
            kind: if pulls { TYPE__PULL } else { TYPE__PUSH },
            flags: if asks || pulls { HDR__W0_ACK_REQ_MASK } else { 0 },
            dst: far as u16,
            ..Header::default()
        };
        let place = |(region, at): (u16, u32)| Place::new(region, at.into()).word();
        let length = put(RDMA_LENGTH_BYTES_MASK, bytes.into()) | put(RDMA_LENGTH_SLOT_MASK, SLOT_RDMA.into());
        while self.rig.load(card, RDMA)? & RDMA_FULL_MASK != 0 {}
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
    for code in 0..=REASON__CREDIT {
        let of = want.iter().find(|(of, _)| *of == code);
        rig.reads(rule, card, COUNTS + 8 * code, of.map_or(0, |(_, count)| *count))?;
    }
    Ok(())
}

/// A memory that is slow in both directions.
const SLOW: MemoryTiming = MemoryTiming {
    read_latency: tsunagi::Cycle(11),
    write_latency: tsunagi::Cycle(17),
    overhead: tsunagi::Cycle(2),
    shared_bus: true,
    byte_time: 0,
};

const PERIODS: [[u64; 2]; 3] = [[20_000, 16_000], [37_003, 10_007], [10_007, 37_003]];

/// Random traffic arrives.
fn carries(nic: &Nic, cases: &mut Cases) {
    for (cards, periods, gaps) in [
        (1, PERIODS[0], Gaps::None),
        (2, PERIODS[0], Gaps::Both),
        (2, PERIODS[1], Gaps::Source),
        (1, PERIODS[2], Gaps::Sink),
    ] {
        cases.case(Start::Random1, format!("{} {cards} {periods:?} {gaps:?}", nic.name), |run| {
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
        });
    }
}

#[test]
fn random_traffic_arrives() {
    pass(this_test!(), |cases| carries(&nic::<Dimmnet1Nic>(), cases));
}
