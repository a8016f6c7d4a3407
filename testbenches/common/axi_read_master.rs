//! Bridge from a stream of reads to AXI4, on the bench of `axi_master.rs`.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Dut, Fault, Rule as _, Run, Start, m_axi_ar, pass, set_m_axi_r};
use tsunagi::Addr;
use tsunagi::harness::axi::FromMaster;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::stream::{Sink, Source};
use verilated::{Input as _, Port as _};

use crate::axi_master::{Bridge, Bridged, Command, In, LIMIT, Out, Plan, Rule, TAIL, Times, Word, under_hardship};

fn set(dut: &impl AxiReadMasterPorts, inputs: &In) {
    let (addr, len) = Command::words(inputs.cmd);
    dut.mem_cmd_valid_i().set_bool(inputs.cmd.is_some());
    dut.mem_cmd_addr_i().set(addr);
    dut.mem_cmd_len_i().set(len);
    dut.mem_data_ready_i().set_bool(inputs.ready);
    set_m_axi_r!(dut, &inputs.axi);
}

fn seen(dut: &impl AxiReadMasterPorts) -> Out {
    Out {
        cmd_ready: dut.mem_cmd_ready_o().is_set(),
        word: dut.mem_data_valid_o().is_set().then(|| Word {
            data: dut.mem_data_data_o().get(),
            strb: 0,
            last: dut.mem_data_last_o().is_set(),
            err: dut.mem_data_err_o().is_set(),
        }),
        busy: dut.busy_o().is_set(),
        axi: FromMaster {
            ar: m_axi_ar!(dut),
            r_ready: dut.m_axi_rready().is_set(),
            ..FromMaster::default()
        },
        ..Out::default()
    }
}

pub fn read_bridge<U: AxiReadMasterUnit + 'static>(outstanding: usize) -> Bridge {
    let dut = Dut::of::<U>(set, seen);
    let word = dut.width("mem_data_data_o") as u32 / 8;
    Bridge {
        dut,
        word,
        outstanding,
        exercise,
    }
}

/// The words of a read. Data of a word with an error mean nothing, here 0.
fn words(memory: &Memory, command: Command, word: u32) -> Vec<Word> {
    let one = |i| {
        let addr = Addr(command.addr + i * word);
        let err = !memory.bus_ok(addr, word);
        let mut bytes = [0; 8];
        if !err {
            bytes[..word as usize].copy_from_slice(memory.read(addr, word as usize).expect("it is in the memory"));
        }
        Word {
            data: u64::from_le_bytes(bytes),
            strb: 0,
            last: i + 1 == command.beats,
            err,
        }
    };
    (0..command.beats).map(one).collect()
}

fn exercise(run: &Run, bridge: &Bridge, plan: &Plan) -> Result<Times, Fault> {
    let gaps = plan.hardship.gaps;
    let mut bridged = Bridged::new(run, bridge, plan);
    let mut source = Source::new(plan.commands.iter().copied(), run.pacer(gaps.at_source(), "source"));
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "sink"));
    let mut due: VecDeque<Word> = VecDeque::new();
    let (mut idle, mut times) = (0, Times::default());
    for cycle in 0..LIMIT {
        let inputs = In {
            cmd: source.offer().copied(),
            ready: sink.ready(),
            axi: bridged.axi(),
            ..In::default()
        };
        let (seen, _) = bridged.cycle(plan.resets(cycle), &inputs)?;
        if plan.resets(cycle) {
            due.clear();
            source.reset();
            sink.reset();
            continue;
        }
        if let Some(word) = sink.step(seen.word).map_err(|error| Fault::from(error).at(cycle))? {
            let want = due.pop_front();
            let data = if word.err { 0 } else { word.data };
            let right = want == Some(Word { data, ..word });
            let what = || format!("cycle {cycle}: got {word:x?}, not {want:x?}");
            Rule::Content.holds(right, what)?;
            times.data_out.get_or_insert(cycle);
            times.last = cycle;
        }
        if seen.axi.ar.is_some() {
            times.address.get_or_insert(cycle);
        }
        if inputs.axi.r.is_some() && seen.axi.r_ready {
            times.data_in.get_or_insert(cycle);
        }
        if let Some(command) = source.step(seen.cmd_ready) {
            times.command.get_or_insert(cycle);
            bridged.expect(command);
            due.extend(words(&bridged.memory, command, bridge.word));
        }
        let done = source.is_empty() && due.is_empty() && bridged.is_idle();
        idle = if done { idle + 1 } else { 0 };
        if idle > TAIL {
            return Ok(times);
        }
    }
    let (commands, words, report) = (source.len(), due.len(), bridged.report());
    Err(Rule::Hang.broken(format!("{commands} commands, {words} words left; {report}")))
}

#[test]
fn under_every_hardship() {
    pass(this_test!(), |cases| {
        under_hardship(&read_bridge::<AxiRead>(4), cases);
        under_hardship(&read_bridge::<AxiReadO1>(1), cases);
        under_hardship(&read_bridge::<AxiRead64>(3), cases);
    });
}

/// From taken to offered, as the header of the RTL says.
#[test]
fn latencies() {
    pass(this_test!(), |cases| {
        cases.case(Start::Zero, "one word", |run| {
            let commands = [Command { addr: 64, beats: 1 }];
            let times = exercise(run, &read_bridge::<AxiRead>(4), &Plan::easy(&commands))?;
            let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
            assert_eq!(between(times.command, times.address), Some(2));
            assert_eq!(between(times.data_in, times.data_out), Some(1));
            Ok(())
        });
    });
}
