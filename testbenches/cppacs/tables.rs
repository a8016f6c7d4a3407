//! `cppacs_tables`: rights and fields.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::entry::{Field, Right};
use tsunagi::cppacs::golden::tables::Tables;
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// A lookup shows what was done before it was taken.
    Lookup
    /// The host reads what it wrote.
    Host
    /// A count is one more for each that is told, and 0 after a write of STATE.
    Count
    /// A write of STATE ends the messages for its field, and no others.
    Gone
    /// After a reset nothing is valid.
    Reset
    /// 6 cycles for a lookup from rest, 24 at most for the host.
    Latency
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// All that is asked is answered, once.
    Hang
);

const RIGHTS: usize = 16;
const FIELDS: usize = 32;

/// An access of the host.
#[derive(Clone, Copy, Debug)]
struct Host {
    write: Option<u64>,
    right: bool,
    index: usize,
    word: usize,
}

#[derive(Clone, Default)]
struct In {
    host: Option<Host>,
    /// Index, and whether it is a right's.
    looks: [Option<(usize, bool)>; 3],
    count: [bool; 2],
    shut: [bool; 2],
    at: [usize; 2],
    open: [Option<usize>; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    /// What the host reads, when its access is done.
    done: Option<u64>,
    ready: [bool; 3],
    found: u64,
    first: u64,
    second: u64,
    flag: u32,
    count: u32,
    gone: [bool; 2],
}

fn set(dut: &impl CppacsTablesPorts, inputs: &In) {
    let host = inputs.host.unwrap_or(Host {
        write: Some(!0),
        right: false,
        index: 1,
        word: 0,
    });
    dut.host_valid_i().set_bool(inputs.host.is_some());
    dut.host_write_i().set_bool(host.write.is_some());
    dut.host_right_i().set_bool(host.right);
    dut.host_index_i().set(host.index as u64);
    dut.host_word_i().set(host.word as u64);
    dut.host_wdata_i().set(host.write.unwrap_or(0x1234_5678));
    for (port, look) in inputs.looks.iter().enumerate() {
        dut.look_valid_i().set_bits(port, 1, look.is_some().into());
        let index = look.map_or(3, |(index, _)| index as u64);
        dut.look_index_i().set_bits(10 * port, 10, index);
    }
    dut.look_right_i()
        .set_bool(inputs.looks[2].is_some_and(|(_, right)| right));
    for c in 0..2 {
        dut.count_valid_i().set_bits(c, 1, inputs.count[c].into());
        dut.shut_valid_i().set_bits(c, 1, inputs.shut[c].into());
        dut.told_index_i().set_bits(10 * c, 10, inputs.at[c] as u64);
        dut.open_i().set_bits(c, 1, inputs.open[c].is_some().into());
        dut.open_index_i()
            .set_bits(10 * c, 10, inputs.open[c].unwrap_or(1) as u64);
    }
}

fn seen(dut: &impl CppacsTablesPorts) -> Out {
    let found = dut.look_for_o().get();
    let of = |value: u64| if found == 0 { 0 } else { value };
    Out {
        busy: dut.busy_o().is_set(),
        done: dut.host_done_o().is_set().then(|| dut.host_rdata_o().get()),
        ready: [0, 1, 2].map(|port| dut.look_ready_o().get_bits(port, 1) == 1),
        found,
        first: of(dut.look_first_o().get()),
        second: of(dut.look_second_o().get()),
        flag: of(dut.look_flag_o().get()) as u32,
        count: of(dut.look_count_o().get()) as u32,
        gone: [0, 1].map(|c| dut.gone_o().get_bits(c, 1) == 1),
    }
}

fn tables<U: CppacsTablesUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// What a lookup may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Right(Option<(Right, u32)>),
    Field(Option<(Field, u32)>),
}

fn look(tables: &Tables, (index, right): (usize, bool)) -> Found {
    if right {
        let found = tables.right(index).filter(|right| right.valid);
        Found::Right(found.map(|right| (right, right.size)))
    } else {
        let found = tables.field(index).filter(|field| field.enabled);
        Found::Field(found.map(|field| (field, tables.count(index))))
    }
}

fn shown(seen: &Out, right: bool) -> Found {
    if right {
        let right = Right::of([seen.first, seen.flag.into()]);
        Found::Right(right.valid.then_some((right, right.size)))
    } else {
        let field = Field::of([seen.first, seen.second, seen.flag.into()]);
        Found::Field(field.enabled.then_some((field, seen.count)))
    }
}

/// A lookup that was taken, and what it may show: what holds after all that was done before, or after what came later.
struct Asked {
    at: (usize, bool),
    cycle: u64,
    may: Vec<Found>,
}

struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    model: Tables,
    rng: Rng,
    host: Option<(Host, u64)>,
    asked: [Option<Asked>; 3],
    looks: [Option<(usize, bool)>; 3],
    wait: [u64; 2],
    open: [Option<usize>; 2],
    busy: bool,
    /// Whether lookups, counts and the host come without pauses.
    dense: bool,
    settled: bool,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, dense: bool) -> Result<Rig<'a>, Fault> {
        let mut rig = Rig {
            bench: Bench::new(run, dut),
            model: Tables::new(RIGHTS, FIELDS),
            rng: run.rng("accesses"),
            host: None,
            asked: [None, None, None],
            looks: [None; 3],
            wait: [0; 2],
            open: [None; 2],
            busy: true,
            dense,
            settled: false,
        };
        rig.reset()?;
        Ok(rig)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        for _ in 0..2 {
            self.bench.reset(&In::default())?;
        }
        self.model = Tables::new(RIGHTS, FIELDS);
        (self.host, self.asked, self.looks) = (None, [None, None, None], [None; 3]);
        (self.wait, self.open, self.settled) = ([0; 2], [None; 2], false);
        Ok(())
    }

    /// Writes all words that have no reset.
    fn prepare(&mut self) -> Result<(), Fault> {
        self.rest()?;
        for (right, index, word) in (0..RIGHTS)
            .map(|i| (true, i, 1))
            .chain((0..12).map(|i| (false, i / 2, 1 + i % 2)))
        {
            let host = Host {
                write: Some(0),
                right,
                index,
                word,
            };
            self.host = Some((host, self.bench.cycle()));
            self.rest()?;
        }
        Ok(())
    }

    fn next_host(&mut self) -> Option<Host> {
        let rng = &mut self.rng;
        if !rng.chance(1, if self.dense { 2 } else { 12 }) {
            return None;
        }
        let right = rng.chance(1, 3);
        let (index, word) = if right {
            (rng.below(16), rng.below(2))
        } else {
            (rng.below(6), rng.below(4))
        };
        // Only bits that the layout has.
        let value = match (right, word) {
            (true, _) => Right::of([rng.bits(), rng.bits()]).words()[word as usize],
            (false, 3) => rng.bits(),
            (false, _) => Field::of([rng.bits() | 1, rng.bits(), rng.bits()]).words()[word as usize],
        };
        Some(Host {
            write: rng.chance(3, 4).then_some(value),
            right,
            index: index as usize,
            word: word as usize,
        })
    }

    fn inputs(&mut self) -> In {
        let cycle = self.bench.cycle();
        if self.host.is_none() {
            self.host = self.next_host().map(|host| (host, cycle));
            if self.rng.chance(1, 8) {
                self.open = [0, 1].map(|_| self.rng.chance(1, 2).then(|| self.rng.below(6) as usize));
            }
        }
        for port in 0..3 {
            if self.looks[port].is_none()
                && self.asked[port].is_none()
                && self.rng.chance(1, if self.dense { 1 } else { 9 })
            {
                let right = port == 2 && self.rng.chance(1, 2);
                let index = if self.rng.chance(1, 10) {
                    16 + self.rng.below(20)
                } else {
                    self.rng.below(6)
                };
                self.looks[port] = Some((index as usize, right));
            }
        }
        let mut inputs = In {
            host: self.host.map(|(host, _)| host),
            looks: self.looks,
            open: self.open,
            ..In::default()
        };
        for c in 0..2 {
            self.wait[c] = self.wait[c].saturating_sub(1);
            let at = self.rng.below(6) as usize;
            let is_free = self.host.is_none_or(|(host, _)| host.index != at);
            if self.settled && self.wait[c] == 0 && is_free && self.rng.chance(1, 10) {
                inputs.at[c] = at;
                inputs.shut[c] = self.rng.chance(1, 6);
                inputs.count[c] = !inputs.shut[c];
                self.wait[c] = if self.dense { 40 } else { 16 };
            }
        }
        inputs
    }

    /// Tables as they may be, with and without the access under way.
    fn versions(&self) -> Vec<Tables> {
        let mut after = self.model.clone();
        if let Some((
            Host {
                write: Some(value),
                right,
                index,
                word,
            },
            _,
        )) = self.host
        {
            after.write(right, index, word, value);
        }
        vec![self.model.clone(), after]
    }

    fn note(&mut self) {
        let versions = self.versions();
        for asked in self.asked.iter_mut().flatten() {
            asked.may.extend(versions.iter().map(|tables| look(tables, asked.at)));
        }
    }

    fn step(&mut self, quiet: bool) -> Result<(), Fault> {
        let inputs = if quiet {
            In {
                host: self.host.map(|(host, _)| host),
                looks: self.looks,
                open: self.open,
                ..In::default()
            }
        } else {
            self.inputs()
        };
        let still = inputs.host.is_none() && inputs.looks == [None; 3] && inputs.count == inputs.shut;
        let clocked = self.rng.chance(1, 2);
        let cycle = self.bench.cycle();
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.busy = seen.busy;
        self.settled |= !seen.busy;
        self.watch(&inputs, &seen, cycle).map_err(|fault| fault.at(cycle))
    }

    fn watch(&mut self, inputs: &In, seen: &Out, cycle: u64) -> Result<(), Fault> {
        for port in 0..3 {
            if seen.found >> port & 1 == 0 {
                continue;
            }
            let asked = self.asked[port].take();
            let asked = asked.ok_or_else(|| Rule::Hang.broken(format!("port {port} did not ask")))?;
            let got = shown(seen, asked.at.1);
            let is_count = |may: &Found| match (may, got) {
                (Found::Field(Some((a, _))), Found::Field(Some((b, _)))) => *a == b,
                _ => false,
            };
            if !asked.may.contains(&got) {
                let rule = if asked.may.iter().any(is_count) {
                    Rule::Count
                } else {
                    Rule::Lookup
                };
                return Err(rule.broken(format!("{:?}: {got:x?}, not one of {:x?}", asked.at, asked.may)));
            }
            let took = cycle - asked.cycle;
            Rule::Latency.holds(took <= 100 || !self.settled, || {
                format!("port {port} waits for {took} cycles")
            })?;
        }
        self.watch_host(seen, cycle)?;
        for c in 0..2 {
            if inputs.count[c] {
                self.model.add(inputs.at[c]);
            }
            if inputs.shut[c] {
                self.model.shut(inputs.at[c]);
            }
        }
        self.note();
        for port in 0..3 {
            if let (Some(at), true) = (inputs.looks[port], seen.ready[port]) {
                let may = self.versions().iter().map(|tables| look(tables, at)).collect();
                self.asked[port] = Some(Asked { at, cycle, may });
                self.looks[port] = None;
            }
        }
        Ok(())
    }

    fn watch_host(&mut self, seen: &Out, cycle: u64) -> Result<(), Fault> {
        let mut gone = [false; 2];
        if let Some(rdata) = seen.done {
            let done = self.host.take();
            let (host, since) = done.ok_or_else(|| Rule::Hang.broken("the host did not ask"))?;
            let took = cycle - since;
            Rule::Latency.holds(took <= 24 || !self.settled, || {
                format!("the host waits for {took} cycles")
            })?;
            match host.write {
                Some(value) => {
                    let ends = self.model.write(host.right, host.index, host.word, value);
                    gone = self.open.map(|open| ends && open == Some(host.index));
                }
                None => {
                    let want = self.model.read(host.right, host.index, host.word);
                    // Bits that nobody wrote are anything, but for those that say that it holds.
                    let is_off = match (host.right, host.word) {
                        (true, 0) => !Right::of([want, 0]).valid,
                        (false, 0) => !Field::of([want, 0, 0]).enabled,
                        _ => false,
                    };
                    let same = want == rdata
                        || (is_off && host.word == 0 && (want ^ rdata) & if host.right { 1 << 31 } else { 1 } == 0);
                    let known = false;
                    Rule::Host.holds(same || known, || format!("{host:x?}: {rdata:x}, not {want:x}"))?;
                }
            }
        }
        Rule::Gone.same("gone", gone, seen.gone)
    }

    fn rest(&mut self) -> Result<(), Fault> {
        for _ in 0..200 {
            let is_done = self.host.is_none() && self.looks == [None; 3] && self.asked.iter().all(Option::is_none);
            if is_done && !self.busy {
                for _ in 0..20 {
                    self.step(true)?;
                }
                return Ok(());
            }
            self.step(true)?;
        }
        Err(Rule::Hang.broken("an access is not done"))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, dense: bool, reset: bool) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, dense)?;
    rig.prepare()?;
    for round in 0..4 {
        for _ in 0..800 {
            rig.step(false)?;
        }
        rig.rest()?;
        if reset && round < 3 {
            rig.reset()?;
            after_reset(&mut rig)?;
            rig.prepare()?;
        }
    }
    Ok(())
}

/// Nothing holds, though it was written before.
fn after_reset(rig: &mut Rig) -> Result<(), Fault> {
    for index in 0..FIELDS {
        for right in [false, true] {
            if right && index >= RIGHTS {
                continue;
            }
            rig.looks[2] = Some((index, right));
            while rig.looks[2].is_some() || rig.asked[2].is_some() {
                rig.step(true).map_err(|fault| {
                    if fault.rule == "Lookup" {
                        Rule::Reset.broken(fault.what)
                    } else {
                        fault
                    }
                })?;
            }
        }
    }
    Ok(())
}

/// One lookup, or one access of the host, from rest.
fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, false)?;
    rig.rest()?;
    for port in 0..3 {
        rig.looks[port] = Some((1, false));
        let since = rig.bench.cycle();
        while rig.looks[port].is_some() || rig.asked[port].is_some() {
            rig.step(true)?;
        }
        let took = rig.bench.cycle() - since - 1;
        Rule::Latency.holds(took <= 6, || format!("port {port} takes {took} cycles"))?;
        rig.rest()?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for start in Start::RANDOM {
        for (dense, reset) in [(false, false), (true, false), (true, true)] {
            let params = format!("{} dense {dense} reset {reset}", dut.name);
            cases.case(start, params, |run| traffic(run, dut, dense, reset));
        }
    }
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| latency(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&tables::<CppacsTables16>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The lookup's index is the one before.
            (Lookup, &[Count, Reset], &|cases| {
                checks(&tables::<TwinTablesStale>(), cases)
            }),
            // SIZE of a right that is no entry's.
            (Lookup, &[Reset], &|cases| checks(&tables::<TwinTablesExists>(), cases)),
            (Host, &[Lookup], &|cases| checks(&tables::<TwinTablesHost>(), cases)),
            // STATE leaves the count.
            (Count, &[], &|cases| checks(&tables::<TwinTablesCount>(), cases)),
            (Gone, &[], &|cases| checks(&tables::<TwinTablesGone>(), cases)),
            // Entry 0 is not cleared.
            (Reset, &[Lookup], &|cases| checks(&tables::<TwinTablesReset>(), cases)),
            (Latency, &[], &|cases| checks(&tables::<TwinTablesLate>(), cases)),
            (Rest, &[Hang], &|cases| checks(&tables::<TwinTablesRest>(), cases)),
            (Path, &[], &|cases| checks(&tables::<TwinTablesPath>(), cases)),
            (Hang, &[Latency], &|cases| checks(&tables::<TwinTablesStuck>(), cases)),
        ],
    );
}
