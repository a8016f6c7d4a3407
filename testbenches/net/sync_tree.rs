//! The barrier tree, of `sync_node`s, in lock step with its model.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use verilated::{Input as _, Port as _};

use crate::switch;

rules!(
    /// No cell is released before all members have arrived.
    Early
    /// The release comes in its cycle.
    Latency
    /// Members that have arrived wait, and no other cell does.
    Waits
    /// Edges left out at rest change nothing.
    Gating
);

/// The inputs of a cycle, by group and cell.
#[derive(Clone, Debug)]
struct In {
    member: Vec<Vec<bool>>,
    arrive: Vec<Vec<bool>>,
}

/// The outputs of a cycle; the lists have the order of the ports' bits.
#[derive(Debug, PartialEq)]
struct Out {
    waiting: Vec<bool>,
    release: Vec<bool>,
    busy: bool,
}

fn set(dut: &impl SyncTreePorts, inputs: &In) {
    let groups = inputs.member.len();
    for (g, (member, arrive)) in inputs.member.iter().zip(&inputs.arrive).enumerate() {
        for (cell, (member, arrive)) in member.iter().zip(arrive).enumerate() {
            dut.member_i().set_bits(cell * groups + g, 1, (*member).into());
            dut.arrive_i().set_bits(cell * groups + g, 1, (*arrive).into());
        }
    }
}

fn seen(dut: &impl SyncTreePorts) -> Out {
    let bits = 0..dut.waiting_o().width();
    Out {
        waiting: bits.clone().map(|at| dut.waiting_o().bit(at)).collect(),
        release: bits.map(|at| dut.release_o().bit(at)).collect(),
        busy: dut.busy_o().is_set(),
    }
}

/// A barrier tree under test.
struct Tree {
    dut: Dut<In, Out>,
    cells: usize,
    groups: usize,
    /// Cycles from the last arrival to the release.
    latency: u64,
}

fn tree<U: SyncTreeUnit + 'static>(groups: usize, radix: usize) -> Tree {
    let dut = Dut::of::<U>(set, seen);
    let cells = dut.width("member_i") / groups;
    Tree {
        dut,
        cells,
        groups,
        latency: 2 * u64::from(levels(cells, radix)) + 2,
    }
}

/// Levels of a tree whose nodes have `radix` children.
pub fn levels(cells: usize, radix: usize) -> u32 {
    let mut levels = 1..;
    levels
        .find(|levels| radix.pow(*levels) >= cells)
        .expect("a radix of 2 at least")
}

/// One group of a barrier, by cell.
#[derive(Clone)]
struct Group {
    member: Vec<bool>,
    waits: Vec<bool>,
    released: Vec<bool>,
    /// The cycle of the release, once all have arrived.
    opens: Option<u64>,
}

impl Group {
    fn new(member: Vec<bool>) -> Group {
        let none = vec![false; member.len()];
        Group {
            member,
            waits: none.clone(),
            released: none,
            opens: None,
        }
    }

    /// The edge that ends a cycle.
    fn step(&mut self, cycle: u64, arrive: &[bool], latency: u64) {
        let waited = self.waits.clone();
        self.released.fill(false);
        if self.opens == Some(cycle + 1) {
            self.released = std::mem::replace(&mut self.waits, vec![false; waited.len()]);
            self.opens = None;
        }
        for (cell, arrives) in arrive.iter().enumerate() {
            self.waits[cell] |= *arrives && self.member[cell] && !waited[cell];
        }
        if self.opens.is_none() && self.waits.contains(&true) && self.waits == self.member {
            self.opens = Some(cycle + latency);
        }
    }

    fn at_rest(&self) -> bool {
        !self.waits.contains(&true) && !self.released.contains(&true)
    }
}

/// The outputs agree with the model's groups.
fn check(groups: &[Group], seen: &Out) -> Result<(), Fault> {
    for (at, (waits, released)) in seen.waiting.iter().zip(&seen.release).enumerate() {
        let (cell, g) = (at / groups.len(), at % groups.len());
        let who = || format!("cell {cell} of group {g}");
        let group = &groups[g];
        let due = group.released[cell];
        Rule::Early.holds(due || !released, || format!("{} is released too early", who()))?;
        Rule::Latency.holds(*released || !due, || format!("{} is not released in its cycle", who()))?;
        Rule::Waits.holds(*waits == group.waits[cell], || format!("{} waits: {waits}", who()))?;
    }
    Ok(())
}

/// Barriers of all groups, with other members each time; a reset in their midst.
fn exercise(run: &Run, tree: &Tree, cycles: u64) -> Result<(), Fault> {
    let mut pair = Pair::new(run, &tree.dut);
    let mut rng = run.rng("cells");
    let mut groups = vec![Group::new(vec![false; tree.cells]); tree.groups];
    let reset = rng.between(cycles / 4, cycles / 2);
    let (mut opened, mut eager) = (0, 2);
    for cycle in 0..cycles {
        let mut asks = false;
        if rng.chance(1, 100) {
            eager = [1, 2, 8, 60][rng.below(4) as usize];
        }
        let busy = pair.seen().busy;
        let mut arrive = vec![vec![false; tree.cells]; tree.groups];
        for (group, arrive) in groups.iter_mut().zip(&mut arrive) {
            if group.at_rest() && !busy && (rng.chance(1, 20) || cycle == 0) {
                let many = rng.below(5);
                group.member.fill_with(|| rng.chance(many, 4));
                asks = true;
            }
            for (cell, arrives) in arrive.iter_mut().enumerate() {
                // Other cells try as well, and cells that wait already.
                let strange = group.waits[cell] || !group.member[cell];
                let likely = if strange { 40 * tree.cells as u64 } else { eager };
                *arrives = rng.chance(1, likely);
                asks |= *arrives;
            }
        }
        let member = groups.iter().map(|group| group.member.clone()).collect();
        let inputs = In { member, arrive };
        if cycle < 3 || cycle == reset {
            pair.reset(&inputs);
            groups
                .iter_mut()
                .for_each(|group| *group = Group::new(group.member.clone()));
            continue;
        }
        let seen = pair.step(&inputs, asks)?;
        check(&groups, &seen).map_err(|fault| fault.at(cycle))?;
        for (group, arrive) in groups.iter_mut().zip(&inputs.arrive) {
            group.step(cycle, arrive, tree.latency);
            opened += u64::from(group.released.contains(&true));
        }
    }
    switch::Rule::Hang.holds(opened > cycles / 200, || format!("only {opened} barriers opened"))?;
    switch::Rule::Rest.holds(pair.skipped() > 0, || "never at rest".into())
}

/// Barriers of so many runs, each from another random state.
fn barriers(tree: &Tree, runs: u64, cycles: u64, cases: &mut Cases) {
    for number in 0..runs {
        let params = format!("{} {number}", tree.dut.name);
        cases.case(Start::Random1, params, |run| exercise(run, tree, cycles));
    }
}

#[test]
fn barriers_open_for_all() {
    pass(this_test!(), |cases| {
        barriers(&tree::<SyncTree16>(2, 4), 4, 20_000, cases);
        barriers(&tree::<SyncTree1>(2, 4), 4, 5_000, cases);
        barriers(&tree::<SyncTree11>(3, 2), 4, 20_000, cases);
        barriers(&tree::<SyncTree256>(2, 4), 1, 5_000, cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |tree: &Tree, cases: &mut Cases| barriers(tree, 3, 5_000, cases);
    each_is_caught(
        this_test!(),
        &[
            (Early, &[], &|cases| checks(&tree::<TwinSyncEarly>(2, 4), cases)),
            // A barrier that waits for a stranger waits for ever.
            (Latency, &[], &|cases| checks(&tree::<TwinSyncMask>(2, 4), cases)),
            (Waits, &[], &|cases| checks(&tree::<TwinSyncStranger>(2, 4), cases)),
            (Gating, &[], &|cases| checks(&tree::<TwinSyncRests>(2, 4), cases)),
        ],
    );
}
