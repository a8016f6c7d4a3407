//! `cppacs_words`: small accesses of memory.

use support::this_test;
use testbenches::mem::{Server, set_word};
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::words::{BusError, Job, Op, perform};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

rules!(
    /// A job's words, its error and what it leaves in memory are the model's.
    Jobs
    /// One job at a time, each done once.
    Serial
    /// A job that waits is passed over by each other client at most once.
    Fair
    /// A job is done with its last response, not before.
    Response
    /// 2 cycles from job to memory command.
    Latency
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All jobs are done.
    Hang
);

const CLIENTS: usize = 5;
const BYTES: u32 = 256;

#[derive(Clone, Default)]
struct In {
    jobs: [Option<Job>; CLIENTS],
    data: [u32; CLIENTS],
    memory: MemPortsOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: u64,
    take: u64,
    data_valid: u64,
    /// The word that was read, and its error; while one is there.
    data: Option<(u32, bool)>,
    done: u64,
    done_err: Option<bool>,
    memory: MemPortsIn,
}

fn set(dut: &impl CppacsWordsPorts, inputs: &In) {
    for (client, job) in inputs.jobs.iter().enumerate() {
        dut.job_valid_i().set_bits(client, 1, job.is_some().into());
        let (op, addr, words) = job
            .as_ref()
            .map_or((2, 0x40, 2), |job| (job.op as u64, job.addr, job.words));
        dut.job_op_i().set_bits(2 * client, 2, op);
        dut.job_addr_i().set_bits(32 * client, 32, addr.into());
        dut.job_words_i().set_bits(5 * client, 5, words.into());
        dut.data_i().set_bits(32 * client, 32, inputs.data[client].into());
    }
    let mem = &inputs.memory;
    dut.rd_cmd_ready_i().set_bool(mem.rd_cmd_ready);
    dut.rd_data_valid_i().set_bool(mem.rd_data_valid);
    set_word(dut.rd_data_data_i(), mem.rd_data_data);
    dut.rd_data_last_i().set_bool(mem.rd_data_last);
    dut.rd_data_err_i().set_bool(mem.rd_data_err);
    dut.wr_cmd_ready_i().set_bool(mem.wr_cmd_ready);
    dut.wr_data_ready_i().set_bool(mem.wr_data_ready);
    dut.wr_rsp_valid_i().set_bool(mem.wr_rsp_valid);
    dut.wr_rsp_err_i().set_bool(mem.wr_rsp_err);
}

fn seen(dut: &impl CppacsWordsPorts) -> Out {
    let (data_valid, done) = (dut.data_valid_o().get(), dut.done_valid_o().get());
    Out {
        busy: dut.busy_o().is_set(),
        ready: dut.job_ready_o().get(),
        take: dut.data_take_o().get(),
        data_valid,
        data: (data_valid != 0).then(|| (dut.data_o().get() as u32, dut.data_err_o().is_set())),
        done,
        done_err: (done != 0).then(|| dut.done_err_o().is_set()),
        memory: MemPortsIn {
            rd_cmd_valid: dut.rd_cmd_valid_o().is_set(),
            rd_cmd_addr: dut.rd_cmd_addr_o().get() as u32,
            rd_cmd_len: dut.rd_cmd_len_o().get() as u8,
            rd_data_ready: dut.rd_data_ready_o().is_set(),
            wr_cmd_valid: dut.wr_cmd_valid_o().is_set(),
            wr_cmd_addr: dut.wr_cmd_addr_o().get() as u32,
            wr_cmd_len: dut.wr_cmd_len_o().get() as u8,
            wr_data_valid: dut.wr_data_valid_o().is_set(),
            wr_data_data: dut.wr_data_data_o().get(),
            wr_data_strb: dut.wr_data_strb_o().get() as u8,
            wr_data_last: dut.wr_data_last_o().is_set(),
            wr_rsp_ready: dut.wr_rsp_ready_o().is_set(),
        },
    }
}

fn words<U: CppacsWordsUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A client: its jobs, and how far the present one is.
struct Client {
    jobs: Vec<Job>,
    pacer: Pacer,
    offers: bool,
    begun: bool,
    taken: usize,
    words: Vec<u32>,
    /// Clients that were served while this one waited.
    passed: u64,
}

impl Client {
    fn new(jobs: Vec<Job>, pacer: Pacer) -> Client {
        Client {
            jobs,
            pacer,
            offers: false,
            begun: false,
            taken: 0,
            words: Vec::new(),
            passed: 0,
        }
    }

    fn offer(&mut self) -> (Option<Job>, u32) {
        self.offers |= !self.begun && !self.jobs.is_empty() && self.pacer.step();
        let job = self.jobs.first().filter(|_| self.offers).cloned();
        let data = self.jobs.first().and_then(|job| job.data.get(self.taken).copied());
        (job, data.unwrap_or(0xdead_beef))
    }
}

fn job(rng: &mut Rng, memory: &Memory) -> Job {
    let op = [Op::Read, Op::Write, Op::Swap, Op::Cswap][rng.below(4) as usize];
    let words = if matches!(op, Op::Swap | Op::Cswap) {
        2
    } else {
        rng.between(1, 16) as u32
    };
    let addr = 8 * rng.below(u64::from(BYTES / 8 - 8)) as u32;
    let count = match op {
        Op::Read => 0,
        Op::Write => words,
        Op::Swap => 2,
        Op::Cswap => 4,
    };
    let mut data: Vec<u32> = (0..count).map(|_| rng.bits() as u32).collect();
    if op == Op::Cswap && rng.chance(2, 3) {
        // What stands there at first, or one bit of it is another.
        let old = memory.read(Addr(addr), 8).expect("it is inside");
        data[0] = u32::from_le_bytes(old[..4].try_into().expect("4 bytes"));
        data[1] = u32::from_le_bytes(old[4..].try_into().expect("4 bytes"));
        data[rng.below(2) as usize] ^= (1u64 << rng.below(64)) as u32;
    }
    Job { op, addr, words, data }
}

/// The unit with its clients and two memories: its own, and the model's.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    server: Server,
    memories: [Memory; 2],
    clients: Vec<Client>,
    open: Option<usize>,
    responded: bool,
    gate: Rng,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, count: usize) -> Result<Rig<'a>, Fault> {
        let mut rng = run.rng("jobs");
        let mut memory = [Memory::new(BYTES as usize), Memory::new(BYTES as usize)];
        for memory in &mut memory {
            memory.poison(0..BYTES);
            memory.inject_fault(128..132);
        }
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        let timing = MemoryTiming {
            read_latency: Cycle(5),
            write_latency: Cycle(9),
            ..MemoryTiming::IDEAL
        };
        let client = |number: usize| {
            let jobs = (0..count).map(|_| job(&mut rng, &memory[0])).collect();
            Client::new(jobs, run.pacer(gaps.at_source(), &format!("client {number}")))
        };
        Ok(Rig {
            bench,
            server: Server::new(run, timing, 4, gaps.at_sink()),
            clients: (0..CLIENTS).map(client).collect(),
            memories: memory,
            open: None,
            responded: false,
            gate: run.rng("gate"),
        })
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let offers: Vec<(Option<Job>, u32)> = self.clients.iter_mut().map(Client::offer).collect();
        let inputs = In {
            jobs: std::array::from_fn(|client| offers[client].0.clone()),
            data: std::array::from_fn(|client| offers[client].1),
            memory: self.server.ports(),
        };
        let still = inputs.jobs.iter().all(Option::is_none);
        let clocked = self.gate.chance(1, 2);
        let cycle = self.bench.cycle();
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.watch(&inputs, &seen).map_err(|fault| fault.at(cycle))?;
        self.server.step(cycle, &mut self.memories[0], &seen.memory)?;
        Ok(seen)
    }

    fn watch(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        for client in 0..CLIENTS {
            let is = |bits: u64| bits >> client & 1 == 1;
            if is(seen.ready) {
                let sound = self.open.is_none() && inputs.jobs[client].is_some();
                Rule::Serial.holds(sound, || format!("client {client} begins, {:?} is open", self.open))?;
                (self.open, self.responded) = (Some(client), false);
                self.served(client)?;
            }
            if is(seen.take) {
                Rule::Serial.holds(self.open == Some(client), || format!("data of client {client}"))?;
                self.clients[client].taken += 1;
            }
            if let (true, Some((word, _))) = (is(seen.data_valid), seen.data) {
                Rule::Serial.holds(self.open == Some(client), || format!("data for client {client}"))?;
                self.clients[client].words.push(word);
            }
            if is(seen.done) {
                Rule::Serial.holds(self.open == Some(client), || format!("client {client} is done"))?;
                self.done(client, seen.done_err == Some(true))?;
            }
        }
        let mem = &inputs.memory;
        self.responded |= mem.wr_rsp_valid && seen.memory.wr_rsp_ready;
        Ok(())
    }

    fn served(&mut self, who: usize) -> Result<(), Fault> {
        for (number, client) in self.clients.iter_mut().enumerate() {
            if number == who {
                (client.offers, client.begun, client.passed) = (false, true, 0);
            } else if client.offers {
                Rule::Fair.holds(client.passed >> who & 1 == 0, || {
                    format!("client {number} is passed over")
                })?;
                client.passed |= 1 << who;
            }
        }
        Ok(())
    }

    fn done(&mut self, who: usize, err: bool) -> Result<(), Fault> {
        let client = &mut self.clients[who];
        let job = client.jobs.remove(0);
        let got = if err {
            Err(BusError)
        } else {
            Ok(std::mem::take(&mut client.words))
        };
        client.words.clear();
        let want = perform(&mut self.memories[1], &job);
        Rule::Jobs.same(format!("{job:x?}"), want, got)?;
        if job.op == Op::Write {
            Rule::Response.holds(self.responded, || format!("{job:x?} has no response"))?;
        }
        (client.begun, client.taken) = (false, 0);
        self.open = None;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..60_000 {
            if self.clients.iter().all(|client| client.jobs.is_empty()) {
                for _ in 0..20 {
                    self.step()?;
                }
                let [unit, model] = &self.memories;
                let all = |memory: &Memory| memory.read(Addr(0), BYTES as usize).map(<[u8]>::to_vec);
                return Rule::Jobs.same("memory", all(model), all(unit));
            }
            self.step()?;
        }
        Err(Rule::Hang.broken("jobs are not done"))
    }
}

fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, Gaps::None, 0)?;
    let mut rng = run.rng("latency");
    for number in 0..20 {
        let job = job(&mut rng, &rig.memories[0]);
        rig.clients[number % CLIENTS].jobs.push(job);
        rig.step()?;
        rig.step()?;
        let seen = rig.step()?.memory;
        Rule::Latency.holds(seen.rd_cmd_valid || seen.wr_cmd_valid, || {
            "no command after 2 cycles".into()
        })?;
        rig.finish()?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let params = format!("{} {gaps:?}", dut.name);
        cases.case(Start::Random1, params, |run| Rig::new(run, dut, gaps, 60)?.finish());
        cases.case(Start::Random2, format!("{} {gaps:?} reset", dut.name), |run| {
            let mut rig = Rig::new(run, dut, gaps, 30)?;
            for _ in 0..run.rng("reset").between(20, 400) {
                rig.step()?;
            }
            let mut again = Rig::new(run, dut, gaps, 30)?;
            rig.bench.reset(&In::default())?;
            std::mem::swap(&mut rig.bench, &mut again.bench);
            again.finish()
        });
    }
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| latency(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&words::<CppacsWords>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // CSWAP writes always.
            (Jobs, &[Hang], &|cases| checks(&words::<TwinWordsCswap>(), cases)),
            // The high words count alone.
            (Jobs, &[], &|cases| checks(&words::<TwinWordsLow>(), cases)),
            (Serial, &[Jobs, Hang, Fair], &|cases| {
                checks(&words::<TwinWordsTwice>(), cases)
            }),
            (Fair, &[], &|cases| checks(&words::<TwinWordsFair>(), cases)),
            // Done before the response.
            (Response, &[Jobs, Hang, Serial, Rest, Protocol], &|cases| {
                checks(&words::<TwinWordsEarly>(), cases)
            }),
            (Latency, &[], &|cases| checks(&words::<TwinWordsLate>(), cases)),
            (Rest, &[Serial], &|cases| checks(&words::<TwinWordsRest>(), cases)),
            (Path, &[], &|cases| checks(&words::<TwinWordsPath>(), cases)),
            (Protocol, &[Jobs, Hang, Response], &|cases| {
                checks(&words::<TwinWordsOver>(), cases)
            }),
            (Hang, &[Latency], &|cases| checks(&words::<TwinWordsStuck>(), cases)),
        ],
    );
}
