//! `emx_memory`: who has the port, and what stands in memory, in lock step with the golden model.

use std::collections::BTreeSet;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::golden::memory::{Arbiter, Client, Map, Memory};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use crate::rig::{Access, config};

rules!(
    /// The port goes to the client of the model.
    Grant
    /// A read gives what was written last, in the next cycle.
    Read
    /// A fetch gives the instruction.
    Fetch
    /// A presence bit follows its own writes and those of the host, and no others.
    Presence
    /// The copy of word 0 follows it.
    Link
    /// A host that waits is busy.
    Busy
);

const CLIENTS: usize = 5;

/// Host's place in the vectors.
const HOST: usize = Client::Host as usize;

#[derive(Clone, Default)]
struct In {
    requests: [Option<Access>; CLIENTS],
    urgent: bool,
    presence: u32,
    /// A new presence bit there.
    present: Option<bool>,
    /// With a write of the host.
    host_present: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; CLIENTS],
    read: u64,
    fetch: u32,
    present: bool,
    link: u32,
}

fn set(dut: &impl EmxMemoryPorts, inputs: &In) {
    for (client, request) in inputs.requests.into_iter().enumerate() {
        let access = request.unwrap_or(Access {
            addr: 0x1234,
            write: Some(0x55_dead_beef),
        });
        dut.req_valid_i().set_bits(client, 1, request.is_some().into());
        dut.req_write_i().set_bits(client, 1, access.write.is_some().into());
        dut.req_addr_i().set_bits(22 * client, 22, access.addr.into());
        dut.req_wdata_i()
            .set_bits(39 * client, 39, access.write.unwrap_or(0x2a_bad0_bad0));
    }
    dut.urgent_i().set_bool(inputs.urgent);
    dut.pres_addr_i().set(inputs.presence.into());
    dut.pres_write_i().set_bool(inputs.present.is_some());
    dut.pres_value_i().set_bool(inputs.present.unwrap_or(true));
    dut.host_present_i().set_bool(inputs.host_present);
}

fn seen(dut: &impl EmxMemoryPorts) -> Out {
    let mut ready = [false; CLIENTS];
    for (client, ready) in ready.iter_mut().enumerate() {
        *ready = dut.req_ready_o().bit(client);
    }
    Out {
        busy: dut.busy_o().is_set(),
        ready,
        read: dut.rdata_o().get(),
        fetch: dut.fetch_data_o().get() as u32,
        present: dut.pres_o().is_set(),
        link: dut.link_o().get() as u32,
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    config: Config,
}

fn unit<U: EmxMemoryUnit + 'static>() -> Unit {
    let mut config = config(U::ADDR_W, 4, 1);
    (config.input_first, config.code_port) = (U::INPUT_FIRST, U::CODE_PORT);
    config.host_wait = U::HOST_WAIT as u32;
    Unit {
        dut: Dut::of::<U>(set, seen),
        config,
    }
}

struct Model {
    memory: Memory,
    arbiter: Arbiter,
    code_port: bool,
    /// Due in this cycle.
    read: Option<u64>,
    fetch: Option<u32>,
    present: Option<bool>,
    link: Option<u32>,
    waits: bool,
    served: [u64; CLIENTS],
    contended: u64,
}

impl Model {
    fn new(unit: &Unit) -> Model {
        Model {
            memory: Memory::new(Map::of(&unit.config)),
            arbiter: Arbiter::new(&unit.config),
            code_port: unit.config.code_port,
            read: None,
            fetch: None,
            present: None,
            link: None,
            waits: false,
            served: [0; CLIENTS],
            contended: 0,
        }
    }

    /// Who asks for the port.
    fn requests(&self, inputs: &In) -> [bool; CLIENTS] {
        let mut requests = inputs.requests.map(|request| request.is_some());
        requests[Client::Fetch as usize] &= !self.code_port;
        requests
    }

    fn step(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Busy.same("the host waits", self.waits, seen.busy)?;
        if let Some(word) = self.read {
            Rule::Read.same("word", word, seen.read)?;
        }
        if let Some(word) = self.fetch {
            Rule::Fetch.same("instruction", word, seen.fetch)?;
        }
        if let Some(present) = self.present {
            Rule::Presence.same("presence bit", present, seen.present)?;
        }
        if let Some(link) = self.link {
            Rule::Link.same("link", link, seen.link)?;
        }
        let requests = self.requests(inputs);
        let granted = self
            .arbiter
            .grant(requests, inputs.urgent)
            .map(|client| client as usize);
        let mut ready = [false; CLIENTS];
        granted.into_iter().for_each(|client| ready[client] = true);
        ready[Client::Fetch as usize] |= self.code_port;
        Rule::Grant.same("ready", ready, seen.ready)?;
        self.edge(inputs, granted);
        self.waits = requests[HOST] && granted != Some(HOST);
        self.contended += u64::from(requests.iter().filter(|request| **request).count() > 2);
        Ok(())
    }

    fn edge(&mut self, inputs: &In, granted: Option<usize>) {
        let fetch = inputs.requests[Client::Fetch as usize];
        let fetched = granted == Some(Client::Fetch as usize) || self.code_port;
        self.fetch = fetch.filter(|_| fetched).map(|fetch| self.memory.data(fetch.addr));
        let access = granted.and_then(|client| inputs.requests[client]);
        let is_host = granted == Some(HOST);
        let looks = access.filter(|_| is_host).map_or(inputs.presence, |access| access.addr);
        self.present = Some(self.memory.is_present(looks));
        if let Some(present) = inputs.present.filter(|_| !is_host) {
            self.memory.set_present(looks, present);
        }
        self.read = None;
        let Some(Access { addr, write }) = access else { return };
        match write {
            None => self.read = Some(self.memory.word(addr)),
            Some(word) => {
                self.memory.write(addr, word);
                if is_host {
                    self.memory.set_present(addr, inputs.host_present);
                }
            }
        }
        if write.is_some() && addr == 0 {
            self.link = Some(self.memory.data(0));
        }
        granted.into_iter().for_each(|client| self.served[client] += 1);
    }
}

/// Addresses of a case: few, so that clients meet, and both ends of memory.
fn addresses(rng: &mut Rng, words: u32) -> Vec<u32> {
    let mut addresses = BTreeSet::from([0, words - 1]);
    while addresses.len() < 12 {
        addresses.insert(rng.below(words.into()) as u32);
    }
    addresses.into_iter().collect()
}

fn exercise(run: &Run, unit: &Unit, gaps: Gaps) -> Result<(), Fault> {
    let mut bench = Bench::new(run, &unit.dut);
    let mut rng = run.rng("events");
    let mut model = Model::new(unit);
    let addresses = addresses(&mut rng, model.memory.map.words);
    let mut pacers = ["data", "fetch", "matching", "input", "host"].map(|name| run.pacer(gaps.at_source(), name));
    let mut requests = [None; CLIENTS];
    let mut busy = 0;
    // At first the host writes all words.
    let mut first: Vec<u32> = addresses.clone();
    for cycle in 0..3000 {
        if cycle % 50 == 0 {
            busy = rng.below(5);
        }
        let loading = !first.is_empty();
        for (client, request) in requests.iter_mut().enumerate() {
            let asks = Pacer::step(&mut pacers[client]) && rng.chance(busy, 5) && !loading;
            if request.is_none() && asks {
                let addr = addresses[rng.below(addresses.len() as u64) as usize];
                let write = client != Client::Fetch as usize && rng.chance(1, 2);
                let write = write.then(|| rng.bits() & (MEM_DATA_MASK | MEM_TAG_MASK));
                *request = Some(Access { addr, write });
            }
        }
        if let (None, Some(addr)) = (requests[HOST], first.last()) {
            let write = Some(rng.bits() & (MEM_DATA_MASK | MEM_TAG_MASK));
            requests[HOST] = Some(Access { addr: *addr, write });
        }
        let urgent = rng.chance(1, 3);
        let mut inputs = In {
            requests,
            urgent,
            presence: addresses[rng.below(addresses.len() as u64) as usize],
            present: None,
            host_present: rng.chance(1, 2),
        };
        let granted = model.arbiter.clone().grant(model.requests(&inputs), urgent);
        if granted == Some(Client::Matching) {
            inputs.present = rng.chance(1, 2).then(|| rng.chance(1, 2));
        }
        if cycle < 2 || rng.chance(1, 500) {
            // A reset leaves memory as it is.
            inputs.requests = [None; CLIENTS];
            inputs.present = None;
            bench.through(&inputs, true);
            model.arbiter = Arbiter::new(&unit.config);
            (model.read, model.fetch, model.present, model.waits) = (None, None, None, false);
            continue;
        }
        let seen = bench.through(&inputs, false);
        model.step(&inputs, &seen).map_err(|fault| fault.at(cycle))?;
        if loading {
            model.present = None;
            if seen.ready[HOST] {
                first.pop();
            }
        }
        for (request, ready) in requests.iter_mut().zip(seen.ready) {
            request.take_if(|_| ready);
        }
    }
    let least = model
        .served
        .iter()
        .enumerate()
        .filter(|(client, _)| *client != 1 || !unit.config.code_port);
    let least = least.map(|(_, served)| *served).min().unwrap_or_default();
    assert!(least > 10 && model.contended > 100, "{:?} served", model.served);
    Ok(())
}

fn checks(unit: &Unit, cases: &mut Cases) {
    for gaps in [Gaps::None, Gaps::Source] {
        let params = format!("{} {gaps:?}", unit.dut.name);
        cases.from_each(&From::ALL, params, |run| exercise(run, unit, gaps));
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxMemoryR>(), cases);
        checks(&unit::<EmxMemoryY>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The input buffer goes first although nothing is urgent.
            (Grant, &[], &|cases| checks(&unit::<TwinMemoryFirst>(), cases)),
            // The host waits for ever.
            (Grant, &[], &|cases| checks(&unit::<TwinMemoryHost>(), cases)),
            // A write leaves no tag.
            (Read, &[Link], &|cases| checks(&unit::<TwinMemoryTag>(), cases)),
            // A fetch sees the word of the other port.
            (Fetch, &[], &|cases| checks(&unit::<TwinMemoryFetch>(), cases)),
            // A fetch of a word that is written gives the one before.
            (Fetch, &[], &|cases| checks(&unit::<TwinMemoryCollides>(), cases)),
            // A read of the host changes the presence bit.
            (Presence, &[], &|cases| checks(&unit::<TwinMemoryPresence>(), cases)),
            // A read of word 0 gives a link.
            (Link, &[], &|cases| checks(&unit::<TwinMemoryLink>(), cases)),
            (Busy, &[], &|cases| checks(&unit::<TwinMemoryRest>(), cases)),
        ],
    );
}
