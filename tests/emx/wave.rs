//! Waves of the machine of PEs: they change nothing, and show what the events say.

use support::machine_wave::{Link, Shown, Texts, last_before, texts};
use support::wave_reader::changes;
use tsunagi::emx::host::Emx;
use tsunagi::emx::library::{Program, Run, layout};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::{SIZE_COLUMNS, TELL};
use tsunagi::emx::rtl;
use tsunagi::harness::backend::{Event, EventKind};
use tsunagi::harness::lane::Way;
use tsunagi::harness::wave::{Probe, WaveRequest};
use tsunagi::repro::row::BackendKind;
use tsunagi::{NodeId, Picos};

/// A block goes from PE 0 of a loop to PE 1, and through all the others back. All packets take first outputs, which
/// lead to first inputs.
fn run(probe: &Probe) -> Vec<Event> {
    let config = Config {
        row_bits: 0,
        used: 2,
        ..Config::paper()
    };
    let mut emx = Emx::probed(&config, BackendKind::Rtl, probe).expect("the RTL is built");
    emx.machine.record();
    let (program, count, words) = (Program::RingBlock, 2, 3);
    emx.run(&Run { program, count, words }).expect("it ends");
    // A few edges more: what is on links comes.
    emx.read(0, layout::BLOCKS, 1).expect("there is memory");
    let first_word = emx.machine.first_word().expect("PE 0 sends");
    let events = emx.machine.events();
    let leaves = |event: &&rtl::Event| event.pe == 0 && matches!(event.kind, rtl::EventKind::Link(_));
    let first = events.iter().find(leaves).expect("PE 0 sends");
    let begin = first.cycle - first_word;
    let at = |cycle: u64| config.clock_period * (cycle - begin);
    events.iter().flat_map(|event| told(event, at)).collect()
}

/// An event as all machines tell it. A packet's last word is on the link until the next edge.
fn told(event: &rtl::Event, at: impl Fn(u64) -> Picos) -> Vec<Event> {
    let (pe, now) = (event.pe as u16, at(event.cycle));
    let note = |pe, at, kind| Event {
        at,
        node: NodeId(pe),
        kind,
    };
    match event.kind {
        rtl::EventKind::Retire { pc } => vec![note(pe, now, EventKind::Retire { pc, trapped: false })],
        rtl::EventKind::Tell { value } => vec![note(pe, now, EventKind::RegWrite { offset: TELL, value })],
        rtl::EventKind::Link(link) => {
            let next = (pe + 1) % SIZE_COLUMNS as u16;
            let (end, flits, head) = (at(event.cycle + 1), 2, link.word as u16);
            if link.last {
                vec![
                    note(pe, end, EventKind::TxLast { flits }),
                    note(next, end, EventKind::RxLast { flits }),
                ]
            } else {
                vec![
                    note(pe, now, EventKind::TxFirst { head }),
                    note(next, now, EventKind::RxFirst { head }),
                ]
            }
        }
    }
}

/// A lane of links between PEs, each of which has packets of one sender alone.
const fn link(lane: &'static str, node: u16, way: Way, sender: u16, end: &'static str) -> Link {
    Link {
        lane,
        node: NodeId(node),
        way,
        sender: NodeId(sender),
        end,
    }
}

const LINKS: [Link; 4] = [
    link("lanes.pe_0.link_out_0", 0, Way::Out, 0, "to PE 1"),
    link("lanes.pe_1.link_in_0", 1, Way::In, 0, "to PE 1"),
    link("lanes.pe_3.link_out_0", 3, Way::Out, 1, "to PE 0"),
    link("lanes.pe_0.link_in_0", 0, Way::In, 1, "to PE 0"),
];

#[test]
fn a_wave_changes_no_event_and_shows_what_the_events_say_in_both_formats() {
    let shown = Shown {
        run,
        high: [
            (
                NodeId(0),
                |kind| matches!(kind, EventKind::Retire { .. }),
                "pe_0.ret_valid_o",
            ),
            (
                NodeId(1),
                |kind| matches!(kind, EventKind::RegWrite { .. }),
                "pe_1.tell_valid_o",
            ),
        ],
        links: &LINKS,
        clocks: ["pe_0.clk_i", "pe_4.clk_i"],
        grids: &[("clk_i", (80_000, 0))],
    };
    shown.check();
}

/// The first instruction of PE 0 that the lane of its threads does not show as it is done.
fn missed(lane: &[(u64, String)], events: &[Event]) -> Option<Event> {
    let is_missed = |event: &&Event| match event.kind {
        EventKind::Retire { pc, .. } if event.node == NodeId(0) => {
            last_before(lane, event.at + Picos(1)) != format!("runs {pc:#x}")
        }
        _ => false,
    };
    events.iter().find(is_missed).copied()
}

#[test]
fn the_thread_that_runs_is_shown_and_a_lane_of_another_time_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.fst");
    let request = WaveRequest {
        path: path.clone(),
        from: Picos::ZERO,
        to: None,
    };
    let events = run(&Probe::new(request).with_lanes());
    let (thread, told) = ("lanes.pe_0.thread", "lanes.pe_0.told");
    let found = changes(&path, |name| name == thread || name == told);
    let lane = texts(&found[thread]);
    assert_eq!(missed(&lane, &events), None, "{lane:?}");
    assert!(lane.iter().any(|(_, text)| text.is_empty()), "PE 0 waits for the block");
    let late: Texts = lane.iter().map(|(at, text)| (at + 80_000, text.clone())).collect();
    assert!(missed(&late, &events).is_some());
    assert!(texts(&found[told]).iter().any(|(_, text)| text.starts_with("0x")));
}
