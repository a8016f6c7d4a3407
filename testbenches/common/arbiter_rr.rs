//! Round-robin arbiter: from each grant, the model tells whether it was legal, held and fair.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::stream::Gaps;
use verilated::{Input as _, Port as _};

rules!(
    /// At most one grant, and only to a request.
    Legal
    /// A grant stands until it is told to advance.
    Hold
    /// The search starts after the last granted index, so no request is passed over N times.
    Fair
    /// A request is granted when no grant stands.
    Busy
);

#[derive(Clone, Copy)]
struct In {
    req: u8,
    advance: bool,
}

/// A unit under test, with its number of clients.
pub struct Arbiter {
    dut: Dut<In, u8>,
    n: usize,
}

pub fn arbiter<U: ArbiterRrUnit + 'static>() -> Arbiter {
    let dut = Dut::of::<U>(
        |dut, inputs: &In| {
            dut.req_i().set(inputs.req.into());
            dut.advance_i().set_bool(inputs.advance);
        },
        |dut| dut.grant_o().get() as u8,
    );
    Arbiter { dut, n: U::N }
}

/// The grant, and the index where the search for the next one starts.
struct Model {
    grant: u8,
    start: usize,
    n: usize,
}

impl Model {
    /// An edge: the inputs before it, the grant after it.
    fn step(&mut self, rst: bool, In { req, advance }: In, grant: u8) -> Result<(), Fault> {
        if rst {
            (self.grant, self.start) = (0, 0);
            return Rule::Legal.holds(grant == 0, || format!("grant {grant:b} after reset"));
        }
        if self.grant != 0 && !advance {
            return Rule::Hold.holds(grant == self.grant, || {
                format!("grant {:b} became {grant:b}", self.grant)
            });
        }
        let legal = grant.count_ones() <= 1 && grant & !req == 0;
        Rule::Legal.holds(legal, || format!("grant {grant:b} for requests {req:b}"))?;
        Rule::Busy.holds(grant != 0 || req == 0, || format!("no grant for requests {req:b}"))?;
        let mut search = (0..self.n).map(|i| (self.start + i) % self.n);
        let first = search.find(|i| req >> i & 1 == 1);
        let want = first.map_or(0, |i| 1 << i);
        Rule::Fair.holds(grant == want, || {
            format!("grant {grant:b} for requests {req:b} from index {} on", self.start)
        })?;
        self.start = first.map_or(self.start, |i| i + 1);
        self.grant = grant;
        Ok(())
    }
}

/// `gaps.at_source()`: requests come at times, else in each cycle. `gaps.at_sink()`: a grant stands for a while, else
/// for one cycle.
fn exercise(run: &Run, arbiter: &Arbiter, gaps: Gaps) -> Result<(), Fault> {
    let mut bench = Bench::new(run, &arbiter.dut);
    let mut rng = run.rng("requests");
    let mut model = Model {
        grant: 0,
        start: 0,
        n: arbiter.n,
    };
    let mut req = 0u8;
    for cycle in 0..2000 {
        let rst = cycle < 2 || rng.chance(1, 200);
        let advance = !gaps.at_sink() || rng.chance(1, 3);
        // Requests stand until granted. Their rate changes now and then.
        let eager = if gaps.at_source() { 1 + cycle / 100 % 4 } else { 8 };
        req |= (0..arbiter.n).fold(0, |bits, i| bits | u8::from(rng.chance(eager, 8)) << i);
        let inputs = In { req, advance };
        bench.registered(&inputs, rst)?;
        let grant = bench.seen();
        model.step(rst, inputs, grant).map_err(|fault| fault.at(cycle))?;
        req &= !grant;
    }
    Ok(())
}

/// All checks.
pub fn checks(arbiter: &Arbiter, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.from_each(&Start::ALL, format!("{} {gaps:?}", arbiter.dut.name), |run| {
            exercise(run, arbiter, gaps)
        });
    }
}

#[test]
fn legal_held_and_fair() {
    pass(this_test!(), |cases| {
        checks(&arbiter::<ArbiterN1>(), cases);
        checks(&arbiter::<ArbiterN2>(), cases);
        checks(&arbiter::<ArbiterN3>(), cases);
        checks(&arbiter::<ArbiterN4>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Legal, &[], &|cases| checks(&arbiter::<TwinArbiterLegal>(), cases)),
            (Hold, &[], &|cases| checks(&arbiter::<TwinArbiterHold>(), cases)),
            (Fair, &[], &|cases| checks(&arbiter::<TwinArbiterFair>(), cases)),
            // A search without a request forgets the last granted index.
            (Fair, &[], &|cases| checks(&arbiter::<TwinArbiterForgets>(), cases)),
            (Busy, &[], &|cases| checks(&arbiter::<TwinArbiterBusy>(), cases)),
        ],
    );
}
