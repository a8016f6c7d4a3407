//! The protocol, watched from outside: both sides of an AXI4 interface must keep it in every cycle.

use std::collections::VecDeque;
use std::fmt;

use super::{Burst, FromMaster, FromSlave, ReadBeat, Resp, WriteBeat, WriteEnd};
use crate::stream::Monitor;

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Once valid, a word stays as it is until it is taken.
    Hold,
    /// A burst is one that the specification allows; 4 KB above all.
    Legal,
    /// WLAST with the last beat of a write, and with no other.
    WriteLast,
    /// Strobes only for bytes that the beat may touch.
    Lanes,
    /// A write is answered once, after its address and its last beat, with its ID.
    WriteEnd,
    /// Data of a read only after its address, with its ID; those of one ID in order.
    ReadData,
    /// RLAST with the last beat of a read, and with no other.
    ReadLast,
    /// EXOKAY only for an exclusive access.
    Exclusive,
    /// Nothing is valid in reset.
    Reset,
}

impl Rule {
    pub const ALL: [Rule; 9] = [
        Rule::Hold,
        Rule::Legal,
        Rule::WriteLast,
        Rule::Lanes,
        Rule::WriteEnd,
        Rule::ReadData,
        Rule::ReadLast,
        Rule::Exclusive,
        Rule::Reset,
    ];
}

/// A rule was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Broken {
    pub rule: Rule,
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

#[derive(Clone, Copy, Debug)]
struct Read {
    burst: Burst,
    beats: u32,
}

/// One for each channel.
#[derive(Clone, Debug, Default)]
struct Holds {
    aw: Monitor<Burst>,
    w: Monitor<WriteBeat>,
    b: Monitor<WriteEnd>,
    ar: Monitor<Burst>,
    r: Monitor<ReadBeat>,
}

/// Watches one interface. Each cycle is shown to it once, as it is before the edge.
#[derive(Clone, Debug)]
pub struct Rules {
    bus: u32,
    without: Vec<Rule>,
    holds: Holds,
    /// Writes whose data are not all there, with the beats that are; and beats that came before their address.
    addresses: VecDeque<Burst>,
    data: VecDeque<WriteBeat>,
    /// Writes to be answered.
    landed: Vec<Burst>,
    reads: Vec<Read>,
}

impl Rules {
    /// For a bus of `bus` bytes.
    pub fn new(bus: u32) -> Rules {
        Rules {
            bus,
            without: Vec::new(),
            holds: Holds::default(),
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            landed: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Does not check these rules.
    pub fn without(mut self, rules: &[Rule]) -> Rules {
        self.without.extend(rules);
        self
    }

    /// Reads whose address was taken and whose last beat was not.
    pub fn open_reads(&self) -> usize {
        self.reads.len()
    }

    /// Writes whose address was taken and whose answer was not.
    pub fn open_writes(&self) -> usize {
        self.addresses.len() + self.landed.len()
    }

    /// Everything was answered.
    pub fn is_idle(&self) -> bool {
        self.open_reads() == 0 && self.open_writes() == 0 && self.data.is_empty()
    }

    /// One cycle out of reset.
    ///
    /// # Errors
    /// The first rule that was broken.
    pub fn step(&mut self, master: &FromMaster, slave: &FromSlave) -> Result<(), Broken> {
        let mut broken = Vec::new();
        let mut rule = |rule, holds: bool, what: &dyn Fn() -> String| {
            if !holds {
                broken.push(Broken { rule, what: what() });
            }
        };
        let Holds { aw, w, b, ar, r } = &mut self.holds;
        for held in [
            aw.step(master.aw.as_ref(), slave.aw_ready),
            w.step(master.w.as_ref(), slave.w_ready),
            b.step(slave.b.as_ref(), master.b_ready),
            ar.step(master.ar.as_ref(), slave.ar_ready),
            r.step(slave.r.as_ref(), master.r_ready),
        ] {
            rule(Rule::Hold, held.is_ok(), &|| format!("{}", held.as_ref().unwrap_err()));
        }
        for burst in master.aw.iter().chain(&master.ar) {
            let fault = burst.fault(self.bus);
            rule(Rule::Legal, fault.is_none(), &|| {
                format!("{burst:x?}: {}", fault.unwrap_or_default())
            });
        }

        // Answers, to what was taken in earlier cycles.
        if let Some(end) = slave.b {
            let of = self.landed.iter().position(|burst| burst.id == end.id);
            rule(Rule::WriteEnd, of.is_some(), &|| {
                format!("{end:x?}, but no write of this ID is complete")
            });
            let exclusive = of.is_none_or(|at| self.landed[at].lock);
            rule(Rule::Exclusive, end.resp != Resp::ExOkay || exclusive, &|| {
                format!("{end:x?}")
            });
            if let Some(at) = of.filter(|_| master.b_ready) {
                self.landed.remove(at);
            }
        }
        if let Some(beat) = slave.r {
            let of = self.reads.iter().position(|read| read.burst.id == beat.id);
            rule(Rule::ReadData, of.is_some(), &|| {
                format!("{beat:x?}, but no read of this ID is open")
            });
            if let Some(at) = of {
                let Read { burst, beats } = self.reads[at];
                let last = beats + 1 == burst.beats();
                rule(Rule::ReadLast, beat.last == last, &|| {
                    format!("beat {beats} of {burst:x?} has RLAST {}", beat.last)
                });
                rule(Rule::Exclusive, beat.resp != Resp::ExOkay || burst.lock, &|| {
                    format!("{beat:x?}")
                });
                if master.r_ready {
                    self.reads[at].beats += 1;
                    if last {
                        self.reads.remove(at);
                    }
                }
            }
        }

        if let Some(burst) = master.ar.filter(|_| slave.ar_ready) {
            self.reads.push(Read { burst, beats: 0 });
        }
        self.addresses.extend(master.aw.filter(|_| slave.aw_ready));
        self.data.extend(master.w.filter(|_| slave.w_ready));
        // Data are looked at with their address, however late it is.
        while let Some(burst) = self.addresses.front()
            && self.data.len() >= burst.beats() as usize
        {
            for (i, beat) in self.data.drain(..burst.beats() as usize).enumerate() {
                let place = burst.place(i as u32, self.bus);
                rule(Rule::WriteLast, beat.last == (i + 1 == burst.beats() as usize), &|| {
                    format!("beat {i} of {burst:x?} has WLAST {}", beat.last)
                });
                rule(Rule::Lanes, beat.strb & !place.lanes == 0, &|| {
                    format!(
                        "beat {i} of {burst:x?} has strobes {:08b}, its lanes are {:08b}",
                        beat.strb, place.lanes
                    )
                });
            }
            self.landed.push(*burst);
            self.addresses.pop_front();
        }
        match broken.into_iter().find(|broken| !self.without.contains(&broken.rule)) {
            Some(broken) => Err(broken),
            None => Ok(()),
        }
    }

    /// The interface was reset.
    pub fn forget(&mut self) {
        let without = std::mem::take(&mut self.without);
        *self = Rules::new(self.bus).without(&without);
    }

    /// One cycle in reset, from the second on: everything is forgotten.
    ///
    /// # Errors
    /// Something is valid.
    pub fn reset(&mut self, master: &FromMaster, slave: &FromSlave) -> Result<(), Broken> {
        self.forget();
        let quiet =
            master.aw.is_none() && master.w.is_none() && master.ar.is_none() && slave.b.is_none() && slave.r.is_none();
        if quiet || self.without.contains(&Rule::Reset) {
            return Ok(());
        }
        Err(Broken {
            rule: Rule::Reset,
            what: format!("{master:x?} {slave:x?}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    const ADDRESS: Burst = Burst {
        id: 3,
        addr: 0x104,
        len: 1,
        size: 2,
        kind: Kind::Incr,
        lock: false,
        cache: Burst::UNCACHED,
        prot: 0,
    };
    const FIRST: WriteBeat = WriteBeat {
        data: 1,
        strb: 0xf,
        last: false,
    };
    const LAST: WriteBeat = WriteBeat {
        data: 2,
        strb: 0x1,
        last: true,
    };
    const END: WriteEnd = WriteEnd {
        id: 3,
        resp: Resp::Okay,
    };
    const READ: ReadBeat = ReadBeat {
        id: 3,
        data: 7,
        resp: Resp::Okay,
        last: false,
    };

    fn master(aw: Option<Burst>, w: Option<WriteBeat>, ar: Option<Burst>) -> FromMaster {
        FromMaster {
            aw,
            w,
            ar,
            b_ready: true,
            r_ready: true,
        }
    }

    fn slave(b: Option<WriteEnd>, r: Option<ReadBeat>) -> FromSlave {
        FromSlave {
            aw_ready: true,
            w_ready: true,
            ar_ready: true,
            b,
            r,
        }
    }

    /// What is said of these cycles.
    fn verdict(cycles: &[(FromMaster, FromSlave)]) -> Option<Rule> {
        let mut rules = Rules::new(4);
        let found = cycles
            .iter()
            .find_map(|(master, slave)| rules.step(master, slave).err());
        assert!(found.is_some() || rules.is_idle(), "something is left open");
        found.map(|broken| broken.rule)
    }

    fn write(aw: Burst, beats: [WriteBeat; 2], end: WriteEnd) -> Option<Rule> {
        let quiet = slave(None, None);
        verdict(&[
            (master(None, Some(beats[0]), None), quiet),
            (master(Some(aw), Some(beats[1]), None), quiet),
            (master(None, None, None), slave(Some(end), None)),
        ])
    }

    fn read(ar: Burst, beats: [ReadBeat; 2]) -> Option<Rule> {
        verdict(&[
            (master(None, None, Some(ar)), slave(None, None)),
            (master(None, None, None), slave(None, Some(beats[0]))),
            (master(None, None, None), slave(None, Some(beats[1]))),
        ])
    }

    #[test]
    fn each_broken_rule_of_a_write_is_named() {
        assert_eq!(write(ADDRESS, [FIRST, LAST], END), None);
        let with = |address| write(address, [FIRST, LAST], END);
        assert_eq!(with(Burst { addr: 0xffc, ..ADDRESS }), Some(Rule::Legal));
        assert_eq!(
            with(Burst {
                kind: Kind::Reserved,
                ..ADDRESS
            }),
            Some(Rule::Legal)
        );
        assert_eq!(with(Burst { addr: 0x105, ..ADDRESS }), Some(Rule::Lanes));
        assert_eq!(with(Burst { size: 1, ..ADDRESS }), Some(Rule::Lanes));
        assert_eq!(write(ADDRESS, [LAST, LAST], END), Some(Rule::WriteLast));
        assert_eq!(write(ADDRESS, [FIRST, FIRST], END), Some(Rule::WriteLast));
        assert_eq!(
            write(ADDRESS, [FIRST, LAST], WriteEnd { id: 2, ..END }),
            Some(Rule::WriteEnd)
        );
        let exclusive = WriteEnd {
            resp: Resp::ExOkay,
            ..END
        };
        assert_eq!(write(ADDRESS, [FIRST, LAST], exclusive), Some(Rule::Exclusive));
        assert_eq!(write(Burst { lock: true, ..ADDRESS }, [FIRST, LAST], exclusive), None);
    }

    #[test]
    fn an_answer_before_its_write_is_complete_is_named() {
        let early = [
            (master(Some(ADDRESS), Some(FIRST), None), slave(None, None)),
            (master(None, Some(LAST), None), slave(Some(END), None)),
        ];
        assert_eq!(verdict(&early), Some(Rule::WriteEnd));
        let before_its_address = [
            (master(None, Some(FIRST), None), slave(None, None)),
            (master(None, Some(LAST), None), slave(None, None)),
            (master(Some(ADDRESS), None, None), slave(Some(END), None)),
        ];
        assert_eq!(verdict(&before_its_address), Some(Rule::WriteEnd));
    }

    #[test]
    fn each_broken_rule_of_a_read_is_named() {
        let last = ReadBeat { last: true, ..READ };
        assert_eq!(read(ADDRESS, [READ, last]), None);
        assert_eq!(read(ADDRESS, [last, last]), Some(Rule::ReadLast));
        assert_eq!(read(ADDRESS, [READ, READ]), Some(Rule::ReadLast));
        assert_eq!(read(ADDRESS, [ReadBeat { id: 0, ..READ }, last]), Some(Rule::ReadData));
        assert_eq!(read(Burst { len: 0, ..ADDRESS }, [last, last]), Some(Rule::ReadData));
        let exclusive = ReadBeat {
            resp: Resp::ExOkay,
            ..READ
        };
        assert_eq!(read(ADDRESS, [exclusive, last]), Some(Rule::Exclusive));
        let same_cycle = [(master(None, None, Some(ADDRESS)), slave(None, Some(READ)))];
        assert_eq!(verdict(&same_cycle), Some(Rule::ReadData));
    }

    #[test]
    fn a_word_that_does_not_hold_is_named_on_every_channel() {
        let stalled = FromSlave::default();
        let offers = master(Some(ADDRESS), Some(LAST), Some(ADDRESS));
        for withdrawn in [
            master(None, Some(LAST), Some(ADDRESS)),
            master(Some(ADDRESS), Some(FIRST), Some(ADDRESS)),
            master(Some(ADDRESS), Some(LAST), Some(Burst { len: 0, ..ADDRESS })),
        ] {
            assert_eq!(verdict(&[(offers, stalled), (withdrawn, stalled)]), Some(Rule::Hold));
        }
        let deaf = FromMaster::default();
        let asked = master(Some(ADDRESS), Some(FIRST), Some(ADDRESS));
        let rest = master(None, Some(LAST), None);
        let answers = slave(Some(END), Some(READ));
        for changed in [slave(None, Some(READ)), slave(Some(END), None)] {
            let cycles = [
                (asked, slave(None, None)),
                (rest, slave(None, None)),
                (deaf, answers),
                (deaf, changed),
            ];
            assert_eq!(verdict(&cycles), Some(Rule::Hold));
        }
    }

    #[test]
    fn something_valid_in_reset_is_named_and_the_past_forgotten() {
        let mut rules = Rules::new(4);
        assert_eq!(
            rules.step(&master(Some(ADDRESS), None, Some(ADDRESS)), &slave(None, None)),
            Ok(())
        );
        assert_eq!((rules.open_reads(), rules.open_writes()), (1, 1));
        assert_eq!(rules.reset(&FromMaster::default(), &FromSlave::default()), Ok(()));
        assert!(rules.is_idle());
        for (master, slave) in [
            (master(Some(ADDRESS), None, None), slave(None, None)),
            (master(None, Some(LAST), None), slave(None, None)),
            (master(None, None, Some(ADDRESS)), slave(None, None)),
            (master(None, None, None), slave(Some(END), None)),
            (master(None, None, None), slave(None, Some(READ))),
        ] {
            assert_eq!(rules.reset(&master, &slave).unwrap_err().rule, Rule::Reset);
        }
    }
}
