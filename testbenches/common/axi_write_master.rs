//! Bridge from streams of writes to AXI4, on the bench of `axi_master.rs`.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::set_word;
use testbenches::rtl::*;
use testbenches::{Dut, Fault, Rule as _, Run, Start, m_axi_aw, m_axi_w, pass, set_m_axi_b};
use tsunagi::Addr;
use tsunagi::harness::axi::FromMaster;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Sink, Source};
use verilated::{Input as _, Port as _};

use crate::axi_master::{Bridge, Bridged, Command, In, LIMIT, Out, Plan, Rule, TAIL, Times, Word, under_hardship};
use crate::dma::SIZE;

fn set(dut: &impl AxiWriteMasterPorts, inputs: &In) {
    let (addr, len) = Command::words(inputs.cmd);
    dut.mem_cmd_valid_i().set_bool(inputs.cmd.is_some());
    dut.mem_cmd_addr_i().set(addr);
    dut.mem_cmd_len_i().set(len);
    dut.mem_data_valid_i().set_bool(inputs.word.is_some());
    set_word(dut.mem_data_data_i(), inputs.word.map_or(0xdead, |word| word.data));
    dut.mem_data_strb_i()
        .set(inputs.word.map_or(5, |word| word.strb.into()));
    dut.mem_data_last_i().set_bool(inputs.word.is_none_or(|word| word.last));
    dut.mem_rsp_ready_i().set_bool(inputs.ready);
    set_m_axi_b!(dut, &inputs.axi);
}

fn seen(dut: &impl AxiWriteMasterPorts) -> Out {
    Out {
        cmd_ready: dut.mem_cmd_ready_o().is_set(),
        word_ready: dut.mem_data_ready_o().is_set(),
        err: dut.mem_rsp_valid_o().is_set().then(|| dut.mem_rsp_err_o().is_set()),
        busy: dut.busy_o().is_set(),
        axi: FromMaster {
            aw: m_axi_aw!(dut),
            w: m_axi_w!(dut),
            b_ready: dut.m_axi_bready().is_set(),
            ..FromMaster::default()
        },
        ..Out::default()
    }
}

pub fn write_bridge<U: AxiWriteMasterUnit + 'static>() -> Bridge {
    let dut = Dut::of::<U>(set, seen);
    let word = dut.width("mem_data_data_i") as u32 / 8;
    Bridge {
        dut,
        word,
        outstanding: U::OUTSTANDING,
        exercise,
    }
}

/// Random words for a write, some of their bytes not enabled.
fn data(rng: &mut Rng, beats: u32, word: u32) -> Vec<Word> {
    let all = (0xff_u32 >> (8 - word)) as u8;
    let one = |i| Word {
        data: rng.bits() >> (64 - 8 * word),
        strb: if rng.chance(1, 4) { rng.bits() as u8 & all } else { all },
        last: i + 1 == beats,
        err: false,
    };
    (0..beats).map(one).collect()
}

/// The golden memory, and the responses that are due.
struct Due {
    golden: Memory,
    /// Whether each has an error, and the number of bursts that must be in memory before it.
    responses: VecDeque<(bool, usize)>,
    /// Bursts of the commands so far, and those of them in memory.
    announced: usize,
    written: usize,
}

impl Due {
    /// Everything open is given up. Any part of it may be in memory.
    fn reset(memory: &Memory) -> Due {
        Due {
            golden: memory.clone(),
            responses: VecDeque::new(),
            announced: 0,
            written: 0,
        }
    }

    /// A command for this number of bursts, with words of `word` bytes. A beat is written if the bus takes all of it.
    fn command(&mut self, command: Command, bursts: usize, words: &[Word], word: u32) {
        let mut refused = false;
        for (addr, beat) in (command.addr..).step_by(word as usize).map(Addr).zip(words) {
            let lanes = (0..word).filter(|lane| beat.strb >> lane & 1 == 1);
            let (Some(first), Some(last)) = (lanes.clone().min(), lanes.clone().max()) else {
                continue;
            };
            if !self.golden.bus_ok(addr.offset(first), last - first + 1) {
                refused = true;
                continue;
            }
            for lane in lanes {
                let byte = beat.data.to_le_bytes()[lane as usize];
                assert!(self.golden.write(addr.offset(lane), &[byte]), "it is in the memory");
            }
        }
        self.announced += bursts;
        self.responses.push_back((refused, self.announced));
    }

    fn response(&mut self, err: bool) -> Result<(), Fault> {
        let due = self.responses.pop_front();
        let (want, needs) = due.map_or((None, 0), |(want, needs)| (Some(want), needs));
        Rule::Response.holds(want == Some(err), || format!("error {err}, not {want:?}"))?;
        // An earlier edge took the AXI responses for which this one stands.
        Rule::Early.holds(self.written >= needs, || {
            format!("with {} of {needs} bursts", self.written)
        })
    }

    /// Whether the memory is as it should be, at the end.
    fn compare(&self, memory: &Memory) -> Result<(), Fault> {
        let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
        let (got, want) = (all(memory), all(&self.golden));
        let wrong = got.iter().zip(&want).position(|(got, want)| got != want);
        Rule::Memory.holds(wrong.is_none(), || {
            let at = wrong.unwrap_or(0);
            format!("at {at:#x} there is {:#04x}, not {:#04x}", got[at], want[at])
        })
    }
}

/// Notes the first cycles of what is offered and answered.
fn note(times: &mut Times, cycle: u64, inputs: &In, seen: &Out) {
    if seen.axi.aw.is_some() {
        times.address.get_or_insert(cycle);
    }
    if seen.axi.w.is_some() {
        times.data_out.get_or_insert(cycle);
        times.last = cycle;
    }
    if inputs.axi.b.is_some() && seen.axi.b_ready {
        times.answer_in.get_or_insert(cycle);
    }
    if seen.err.is_some() {
        times.answer_out.get_or_insert(cycle);
    }
}

fn exercise(run: &Run, bridge: &Bridge, plan: &Plan) -> Result<Times, Fault> {
    let gaps = plan.hardship.gaps;
    let mut bridged = Bridged::new(run, bridge, plan);
    let mut due = Due::reset(&bridged.memory);
    let mut contents = run.rng("data");
    let mut cmds = Source::new(plan.commands.iter().copied(), run.pacer(gaps.at_source(), "commands"));
    // Data follow their command.
    let words = || Source::new([], run.pacer(gaps.at_source(), "data"));
    let mut data_in = words();
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "responses"));
    let (mut idle, mut times) = (0, Times::default());
    for cycle in 0..LIMIT {
        let inputs = In {
            cmd: cmds.offer().copied(),
            word: data_in.offer().copied(),
            ready: sink.ready(),
            axi: bridged.axi(),
        };
        let (seen, events) = bridged.cycle(plan.resets(cycle), &inputs)?;
        if plan.resets(cycle) {
            (data_in, due) = (words(), Due::reset(&bridged.memory));
            cmds.reset();
            sink.reset();
            continue;
        }
        let is_written = |event: &&EventKind| matches!(event, EventKind::MemWritten { .. });
        due.written += events.iter().filter(is_written).count();
        note(&mut times, cycle, &inputs, &seen);
        let at = |fault: Fault| fault.at(cycle);
        if let Some(err) = sink.step(seen.err).map_err(|error| at(error.into()))? {
            due.response(err).map_err(at)?;
        }
        if data_in.step(seen.word_ready).is_some() {
            times.data_in.get_or_insert(cycle);
        }
        if let Some(command) = cmds.step(seen.cmd_ready) {
            times.command.get_or_insert(cycle);
            let words = data(&mut contents, command.beats, bridge.word);
            due.command(command, bridged.expect(command), &words, bridge.word);
            words.into_iter().for_each(|word| data_in.push(word));
        }
        let done = cmds.is_empty() && data_in.is_empty() && due.responses.is_empty() && bridged.is_idle();
        idle = if done { idle + 1 } else { 0 };
        if idle > TAIL {
            due.compare(&bridged.memory)?;
            return Ok(times);
        }
    }
    let (commands, words, responses) = (cmds.len(), data_in.len(), due.responses.len());
    let report = bridged.report();
    Err(Rule::Hang.broken(format!(
        "{commands} commands, {words} words, {responses} responses left; {report}"
    )))
}

#[test]
fn under_every_hardship() {
    pass(this_test!(), |cases| {
        under_hardship(&write_bridge::<AxiWrite>(), cases);
        under_hardship(&write_bridge::<AxiWriteO1>(), cases);
        under_hardship(&write_bridge::<AxiWrite64>(), cases);
    });
}

/// From taken to offered, as the header of the RTL says.
#[test]
fn latencies() {
    pass(this_test!(), |cases| {
        cases.case(Start::Zero, "one word", |run| {
            let commands = [Command { addr: 64, beats: 1 }];
            let times = exercise(run, &write_bridge::<AxiWrite>(), &Plan::easy(&commands))?;
            let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
            assert_eq!(between(times.command, times.address), Some(2));
            assert_eq!(between(times.command, times.data_out), Some(3));
            assert_eq!(between(times.data_in, times.data_out), Some(1));
            assert_eq!(between(times.answer_in, times.answer_out), Some(1));
            Ok(())
        });
    });
}
