//! Clients of one side of the MMU: each gets its own answer, and its turn.

use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Somebody's request is passed on in the cycle, as it is, and he and nobody else is told when it is taken.
    Pass,
    /// What was offered and not taken stays.
    Protocol,
    /// The answer goes to whose request was taken last, and waits for him.
    AddressSpace,
    /// While one waits, no other is taken twice.
    Turn,
}

const RULES: [Rule; 4] = [Rule::Pass, Rule::Protocol, Rule::AddressSpace, Rule::Turn];

/// The most clients of a unit here.
const MOST: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    requests: [Option<u64>; MOST],
    /// Clients that would take an answer.
    takes: u8,
    mmu_ready: bool,
    answer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: u8,
    answered: u8,
    request: Option<u64>,
    answer_ready: bool,
}

trait Asks: Ports<In = In, Out = Out> {
    const CLIENTS: usize;
    /// Bits of a request.
    const BITS: usize;
}

macro_rules! ports {
    ($($unit:ident: $clients:expr, $bits:expr;)+) => {$(
        impl Asks for $unit {
            const CLIENTS: usize = $clients;
            const BITS: usize = $bits;
        }

        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                let requests = &inputs.requests[..Self::CLIENTS];
                let valid = |(c, request): (usize, &Option<u64>)| u8::from(request.is_some()) << c;
                self.req_valid_i.set(requests.iter().enumerate().map(valid).sum());
                for (c, request) in requests.iter().enumerate() {
                    self.req_i.set_bits(c * Self::BITS, Self::BITS, request.unwrap_or(0x55));
                }
                self.rsp_ready_i.set(inputs.takes);
                self.mmu_ready_i.set_bool(inputs.mmu_ready);
                self.mmu_rsp_valid_i.set_bool(inputs.answer);
            }

            fn seen(&self) -> Out {
                Out {
                    ready: self.req_ready_o.get(),
                    answered: self.rsp_valid_o.get(),
                    request: self.mmu_valid_o.is_set().then(|| self.mmu_req_o.get_bits(0, Self::BITS)),
                    answer_ready: self.mmu_rsp_ready_o.is_set(),
                }
            }
        }
    )+};
}

ports!(
    Ap1000pMmuMux: 3, 46;
    Ap1000pMmuMuxOne: 1, 8;
    Ap1000pMmuMuxFive: 5, 8;
    TwinMmuMuxAll: 3, 46;
    TwinMmuMuxMixed: 3, 46;
    TwinMmuMuxChanges: 3, 46;
    TwinMmuMuxOwner: 3, 46;
    TwinMmuMuxAnyone: 3, 46;
    TwinMmuMuxUnfair: 3, 46;
);

/// A request that says whose it is.
fn any_request(rng: &mut Rng, client: usize, bits: usize) -> u64 {
    let low = bits - 3;
    (client as u64) << low | rng.bits() >> (64 - low)
}

/// Clients that ask at random, and one that answers one at a time, with resets.
fn follows<U: Asks>(case: &Case, start: &str, probe: &Probe) -> Result<(), String> {
    let mut rig = Rig::<U>::new(case, start, probe);
    let mut rng = case.rng("events");
    let mut inputs = In::default();
    // The offer that was not taken, whose request is being answered, and how often each was passed over by each other.
    let (mut offered, mut owner): (Option<u64>, Option<usize>) = (None, None);
    let mut passed = [[0; MOST]; MOST];
    let mut answered = [0; MOST];
    rig.through(&inputs, true);
    for phase in 0..60 {
        let (asks, takes, works) = (rng.between(1, 8), rng.between(1, 8), rng.between(1, 8));
        for _ in 0..100 {
            let now = rig.cycle;
            for (c, request) in inputs.requests.iter_mut().enumerate().take(U::CLIENTS) {
                if request.is_none() && rng.chance(if phase % 4 == 0 { 8 } else { asks }, 8) {
                    *request = Some(any_request(&mut rng, c, U::BITS));
                }
            }
            inputs.takes = (0..U::CLIENTS).map(|c| u8::from(rng.chance(takes, 8)) << c).sum();
            inputs.mmu_ready = owner.is_none() && rng.chance(works, 8);
            inputs.answer = owner.is_some() && (inputs.answer || rng.chance(works, 8));
            let rst = rng.chance(1, 300);
            let seen = rig.through(&inputs, rst);
            let told = || format!("cycle {now}: {inputs:x?} gives {seen:x?}");
            let whose = |request| inputs.requests.iter().position(|&own| own == Some(request));
            let from = seen.request.and_then(whose);
            let asked = inputs.requests.iter().any(Option::is_some);
            let taken = from.filter(|_| inputs.mmu_ready);
            let bit = |client: Option<usize>| client.map_or(0, |c| 1 << c);
            let kept = asked == seen.request.is_some() && asked == from.is_some() && seen.ready == bit(taken);
            holds(Rule::Pass, kept, told)?;
            holds(Rule::Protocol, offered.is_none() || offered == seen.request, told)?;
            let answer = owner.filter(|_| inputs.answer);
            let ready = answer.is_none_or(|c| seen.answer_ready == (inputs.takes >> c & 1 == 1));
            holds(Rule::AddressSpace, seen.answered == bit(answer) && ready, told)?;
            for c in (0..U::CLIENTS).filter(|&c| inputs.requests[c].is_some()) {
                match taken {
                    Some(other) if other != c => {
                        passed[c][other] += 1;
                        holds(Rule::Turn, passed[c][other] < 2, || format!("{c} waits: {}", told()))?;
                    }
                    Some(_) => passed[c] = [0; MOST],
                    None => {}
                }
            }
            offered = seen.request.filter(|_| taken.is_none());
            if let Some(c) = taken {
                (inputs.requests[c], owner) = (None, Some(c));
            } else if answer.is_some() && seen.answer_ready {
                answered[owner.expect("it was answered")] += 1;
                (owner, inputs.answer) = (None, false);
            }
            if rst {
                (offered, owner, passed) = (None, None, Default::default());
                inputs = In::default();
            }
        }
    }
    let least = answered[..U::CLIENTS].iter().min();
    assert!(least.is_some_and(|&least| least > 50), "answers: {answered:?}");
    Ok(())
}

#[test]
fn each_gets_its_own_answer_in_turn() {
    for start in STARTS {
        let case = Case::new("ap1000p", "mc::mmu_mux::each_gets_its_own_answer_in_turn", start);
        case.run(|probe| follows::<Ap1000pMmuMux>(&case, start, probe));
        case.run(|probe| follows::<Ap1000pMmuMuxOne>(&case, start, probe));
        case.run(|probe| follows::<Ap1000pMmuMuxFive>(&case, start, probe));
    }
}

fn checks<U: Asks>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "mc::mmu_mux::each_twin_is_caught", "");
    vec![follows::<U>(&case, STARTS[0], &Probe::default())]
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Pass", &checks::<TwinMmuMuxAll>),
        ("Pass", &checks::<TwinMmuMuxMixed>),
        ("Protocol", &checks::<TwinMmuMuxChanges>),
        ("AddressSpace", &checks::<TwinMmuMuxOwner>),
        ("AddressSpace", &checks::<TwinMmuMuxAnyone>),
        ("Turn", &checks::<TwinMmuMuxUnfair>),
    ];
    each_is_caught(&RULES, twins);
}
