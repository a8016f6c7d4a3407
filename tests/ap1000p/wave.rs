//! Waves of the composed machine: they change nothing, and show what the events say.

use support::machine_wave::{Link, Shown};
use tsunagi::ap1000p::host::Ap1000pSim;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::rtl;
use tsunagi::harness::backend::{Backend, Event, EventKind};
use tsunagi::harness::lane::Way;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

/// 300 words by PUT from one cell to the other.
fn run(probe: &Probe) -> Vec<Event> {
    let config = Config {
        columns: 2,
        rows: 1,
        ..Config::paper()
    };
    let machine = rtl::build(&config, probe).expect("the RTL is built");
    let mut sim = Ap1000pSim::new(machine, config).expect("it boots");
    sim.backend_mut().record(true);
    let flag = Addr(4);
    sim.spawn_checked(NodeId(0), async move |cell| {
        cell.put(NodeId(1), Addr(0x100), 300, Addr(0x100), Some(flag), None)
            .await
    });
    sim.spawn_checked(NodeId(1), async move |cell| cell.wait_flag(flag, 1).await);
    sim.run(Picos::from_us(1000.0)).expect("it ends");
    sim.backend_mut().take_events()
}

#[test]
fn a_wave_changes_no_event_and_shows_what_the_events_say_in_both_formats() {
    let shown = Shown {
        run,
        high: [
            (
                NodeId(0),
                |kind| matches!(kind, EventKind::TxFirst { .. }),
                "cell0.tx_valid_o",
            ),
            (
                NodeId(1),
                |kind| matches!(kind, EventKind::MemWritten { .. }),
                "cell1.mem_wr_rsp_valid_i",
            ),
        ],
        links: &[
            Link {
                lane: "lanes.cell0.link_out_requests",
                node: NodeId(0),
                way: Way::Out,
                sender: NodeId(0),
                end: "PUT 1200 B to 1,0",
            },
            Link {
                lane: "lanes.cell1.link_in_requests",
                node: NodeId(1),
                way: Way::In,
                sender: NodeId(0),
                end: "PUT 1200 B to 1,0",
            },
        ],
        clocks: ["cell0.clk_i", "router1x0.clk_i"],
        grids: &[("clk_i", (20_000, 0))],
    };
    shown.check();
}
