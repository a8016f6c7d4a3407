//! Clients of one side of the MMU: each gets its own response, and its turn.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// A client's request passes in the same cycle, unchanged. That client alone sees it taken.
    Pass
    /// An offer holds until it is taken.
    Protocol
    /// A response goes to the client of the last request taken, and waits for it.
    Owner
    /// While a client waits, each other one passes it over once at most.
    Turn
);

/// The most clients of a unit here.
const MOST: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
struct In {
    requests: [Option<u64>; MOST],
    /// Bit c: client c is ready for a response.
    takes: u8,
    mmu_ready: bool,
    responds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    /// Bit c: client c's request is taken.
    ready: u8,
    /// Bit c: client c has the response.
    responded: u8,
    request: Option<u64>,
    response_ready: bool,
}

fn set(dut: &impl Ap1000pMmuMuxPorts, inputs: &In) {
    let (clients, bits) = (dut.req_valid_i().width(), dut.mmu_req_o().width());
    for (client, request) in inputs.requests.iter().enumerate().take(clients) {
        dut.req_valid_i().set_bits(client, 1, request.is_some().into());
        dut.req_i().set_bits(client * bits, bits, request.unwrap_or(0x55));
    }
    dut.rsp_ready_i().set(inputs.takes.into());
    dut.mmu_ready_i().set_bool(inputs.mmu_ready);
    dut.mmu_rsp_valid_i().set_bool(inputs.responds);
}

fn seen(dut: &impl Ap1000pMmuMuxPorts) -> Out {
    Out {
        ready: dut.req_ready_o().get() as u8,
        responded: dut.rsp_valid_o().get() as u8,
        request: dut.mmu_valid_o().is_set().then(|| dut.mmu_req_o().get()),
        response_ready: dut.mmu_rsp_ready_o().is_set(),
    }
}

fn mux<U: Ap1000pMmuMuxUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A request whose upper three bits are its client's number.
fn any_request(rng: &mut Rng, client: usize, bits: usize) -> u64 {
    let low = bits - 3;
    (client as u64) << low | rng.bits() >> (64 - low)
}

/// Requests under way.
#[derive(Default)]
struct Requests {
    /// The offer that was not taken.
    offered: Option<u64>,
    /// The client that awaits a response.
    owner: Option<usize>,
    /// How often each client was passed over by each other since its request.
    passed: [[u32; MOST]; MOST],
}

impl Requests {
    /// Checks a cycle, and moves on; the client that has received its response.
    fn step(&mut self, inputs: &mut In, seen: &Out) -> Result<Option<usize>, Fault> {
        let In { requests, takes, .. } = *inputs;
        let what = || format!("{requests:x?}, takes {takes:b}: {seen:x?}");
        let client = |request| requests.iter().position(|&own| own == Some(request));
        let from = seen.request.and_then(client);
        let any = requests.iter().any(Option::is_some);
        let taken = from.filter(|_| inputs.mmu_ready);
        let bit = |client: Option<usize>| client.map_or(0, |c| 1 << c);
        let kept = any == seen.request.is_some() && any == from.is_some() && seen.ready == bit(taken);
        Rule::Pass.holds(kept, what)?;
        Rule::Protocol.holds(self.offered.is_none() || self.offered == seen.request, what)?;
        let responded = self.owner.filter(|_| inputs.responds);
        let ready = responded.is_none_or(|c| seen.response_ready == (takes >> c & 1 == 1));
        Rule::Owner.holds(seen.responded == bit(responded) && ready, what)?;
        for c in (0..MOST).filter(|&c| requests[c].is_some()) {
            match taken {
                Some(other) if other != c => {
                    self.passed[c][other] += 1;
                    Rule::Turn.holds(self.passed[c][other] < 2, || format!("{c} waits: {}", what()))?;
                }
                Some(_) => self.passed[c] = [0; MOST],
                None => {}
            }
        }
        self.offered = seen.request.filter(|_| taken.is_none());
        let done = responded.filter(|_| seen.response_ready);
        if let Some(c) = taken {
            (inputs.requests[c], self.owner) = (None, Some(c));
        } else if done.is_some() {
            (self.owner, inputs.responds) = (None, false);
        }
        Ok(done)
    }
}

/// Clients that ask at random, and an MMU that answers one request at a time, with resets.
fn ask(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let (clients, bits) = (dut.width("req_valid_i"), dut.width("mmu_req_o"));
    let mut bench = Bench::new(run, dut);
    let mut rng = run.rng("events");
    let mut inputs = In::default();
    let mut due = Requests::default();
    let mut responses = [0; MOST];
    bench.through(&inputs, true);
    for phase in 0..60 {
        let (asks, takes, works) = (rng.between(1, 8), rng.between(1, 8), rng.between(1, 8));
        for _ in 0..100 {
            let now = bench.cycle();
            for (c, request) in inputs.requests.iter_mut().enumerate().take(clients) {
                if request.is_none() && rng.chance(if phase % 4 == 0 { 8 } else { asks }, 8) {
                    *request = Some(any_request(&mut rng, c, bits));
                }
            }
            inputs.takes = (0..clients).map(|c| u8::from(rng.chance(takes, 8)) << c).sum();
            inputs.mmu_ready = due.owner.is_none() && rng.chance(works, 8);
            inputs.responds = due.owner.is_some() && (inputs.responds || rng.chance(works, 8));
            let rst = rng.chance(1, 300);
            let seen = bench.through(&inputs, rst);
            let done = due.step(&mut inputs, &seen).map_err(|fault| fault.at(now))?;
            if let Some(client) = done {
                responses[client] += 1;
            }
            if rst {
                (due, inputs) = (Requests::default(), In::default());
            }
        }
    }
    let least = responses[..clients].iter().min();
    assert!(least.is_some_and(|&least| least > 50), "responses: {responses:?}");
    Ok(())
}

fn follows(dut: &Dut<In, Out>, starts: &[Start], cases: &mut Cases) {
    cases.from_each(starts, dut.name, |run| ask(run, dut));
}

#[test]
fn each_gets_its_own_response_in_turn() {
    pass(this_test!(), |cases| {
        for dut in [
            mux::<Ap1000pMmuMux>(),
            mux::<Ap1000pMmuMuxOne>(),
            mux::<Ap1000pMmuMuxFive>(),
        ] {
            follows(&dut, &Start::RANDOM, cases);
        }
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |dut: Dut<In, Out>, cases: &mut Cases| follows(&dut, &[Start::Random1], cases);
    each_is_caught(
        this_test!(),
        &[
            // All clients that may be next see their requests taken.
            (Pass, &[], &|cases| checks(mux::<TwinMmuMuxAll>(), cases)),
            // Their requests are mixed.
            (Pass, &[], &|cases| checks(mux::<TwinMmuMuxMixed>(), cases)),
            // An offer gives way to another one.
            (Protocol, &[], &|cases| checks(mux::<TwinMmuMuxChanges>(), cases)),
            // The response goes to the last client that offered.
            (Owner, &[], &|cases| checks(mux::<TwinMmuMuxOwner>(), cases)),
            // A response waits for no certain client.
            (Owner, &[], &|cases| checks(mux::<TwinMmuMuxAnyone>(), cases)),
            // The first client goes first.
            (Turn, &[], &|cases| checks(mux::<TwinMmuMuxUnfair>(), cases)),
        ],
    );
}
