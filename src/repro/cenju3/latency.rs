//! E2, E3, E11: where the microseconds of one word go.

use super::lab::{Lab, What};
use crate::repro::row::Spec;
use crate::repro::{Breakdown, Item};

/// What the way of a packet through the hardware depends on.
const HARDWARE: [&str; 11] = [
    "ext_access",
    "io_period",
    "net_period",
    "stages",
    "sync_cycles",
    "switch_cycles",
    "header_bytes",
    "mem_read_latency",
    "mem_write_latency",
    "mem_overhead",
    "burst_beats",
];
const KERNELS: [&str; 6] = [
    "syscall",
    "check_translate",
    "kernel_send",
    "irq_recognition",
    "receive_kernel",
    "copy_rate",
];
const PING_PONG: What = What::PingPong { rounds: 4 };

/// One item of Fig. 7: its name in rows and in the breakdown, what it depends on, and what moves it.
struct Step {
    name: &'static str,
    title: &'static str,
    depends_on: &'static [&'static str],
    moves_with: (&'static str, f64),
}

const STEPS: [Step; 6] = [
    Step {
        name: "pointer_write",
        title: "Header Queue Pointer written",
        depends_on: &["ext_access", "io_period"],
        moves_with: ("io_period", 47.0),
    },
    Step {
        name: "header_read",
        title: "parcel header read",
        depends_on: &[
            "mem_read_latency",
            "mem_overhead",
            "io_period",
            "bus_bytes",
            "burst_beats",
        ],
        moves_with: ("mem_read_latency", 34.0),
    },
    Step {
        name: "body_read",
        title: "parcel body read",
        depends_on: &[
            "mem_read_latency",
            "mem_overhead",
            "io_period",
            "bus_bytes",
            "burst_beats",
            "net_period",
        ],
        moves_with: ("mem_read_latency", 34.0),
    },
    Step {
        name: "sync",
        title: "network synchronisation",
        depends_on: &["sync_cycles", "stages", "net_period"],
        moves_with: ("stages", 2.0),
    },
    Step {
        name: "switch",
        title: "network switching",
        depends_on: &["switch_cycles", "stages", "net_period"],
        moves_with: ("stages", 2.0),
    },
    Step {
        name: "header_write",
        title: "packet header written",
        depends_on: &[
            "mem_write_latency",
            "mem_overhead",
            "io_period",
            "bus_bytes",
            "burst_beats",
            "net_period",
        ],
        moves_with: ("mem_write_latency", 30.0),
    },
];

/// Fig. 7. Sender start to the packet header in the receiver's memory.
pub fn e2(lab: &mut Lab<'_>) {
    let config = lab.config();
    let m = lab.measure(&config, What::OneWord);
    let mut items = Vec::new();
    for step in STEPS {
        let ours = m.get(step.name);
        items.push(Item {
            name: step.title,
            paper: 1.0,
            ours_us: ours,
        });
        let (name, value) = step.moves_with;
        let spec = Spec::new(format!("fig7.{}", step.name), step.title, "us")
            .paper(1.0)
            .within(0.8, 1.3);
        lab.row(spec.depends(step.depends_on).moves_with(name, value), ours);
    }
    let total = m.get("total");
    let listed: f64 = items.iter().map(|i| i.ours_us).sum();
    items.push(Item {
        name: "not listed: the Sender's start, the packet's own length",
        paper: 1.0,
        ours_us: total - listed,
    });
    lab.row(
        Spec::new("fig7.total", "Sender start to packet header in memory", "us")
            .paper(7.0)
            .within(6.5, 7.5)
            .depends(&HARDWARE)
            .moves_with("mem_read_latency", 34.0),
        total,
    );
    lab.row(
        Spec::new("fig7.recognised", "Sender start to interrupt recognised", "us")
            .paper(12.0)
            .within(11.0, 13.0)
            .depends(&HARDWARE)
            .depends(&["irq_recognition"])
            .moves_with("mem_read_latency", 34.0),
        m.get("recognised"),
    );
    lab.outcome.breakdowns.push(Breakdown {
        title: "Fig. 7: where the 7 us of the hardware go".into(),
        items,
    });
    lab.trace("The way of one packet: one word from PE 0 to PE 1", &m);
}

/// Fig. 8. One word by `CJrmwrite` between two user programs.
pub fn e3(lab: &mut Lab<'_>) {
    let config = lab.config();
    let m = lab.measure(&config, PING_PONG);
    let row = |name: &str, what: &str, paper: f64, within: (f64, f64)| {
        Spec::new(format!("fig8.{name}"), what, "us")
            .paper(paper)
            .within(within.0, within.1)
    };
    lab.row(
        row("round_trip", "one word to and fro", 65.0, (64.0, 68.0))
            .depends(&KERNELS)
            .depends(&HARDWARE)
            .moves_with("mem_read_latency", 60.0),
        m.get("round_trip"),
    );
    lab.row(
        row("one_way", "one word one way", 33.0, (32.0, 34.0))
            .depends(&KERNELS)
            .depends(&HARDWARE)
            .moves_with("mem_read_latency", 60.0),
        m.get("one_way"),
    );
    let cpu: [&'static str; 5] = ["syscall", "check_translate", "kernel_send", "ext_access", "io_period"];
    lab.row(
        row("call_to_start", "user call to Sender start (5 + 8)", 13.0, (12.0, 14.0))
            .depends(&cpu)
            .moves_with("io_period", 1000.0),
        m.get("call_to_start"),
    );
    lab.row(
        row(
            "start_to_kernel",
            "Sender start to interrupt recognised",
            12.0,
            (11.0, 13.0),
        )
        .depends(&HARDWARE)
        .depends(&["irq_recognition"])
        .moves_with("mem_read_latency", 60.0),
        m.get("start_to_kernel"),
    );
    lab.row(
        row(
            "receive_kernel",
            "interrupt recognised to data at the user",
            8.0,
            (7.0, 9.0),
        )
        .depends(&["receive_kernel", "copy_rate", "ext_access", "io_period"])
        .moves_with("io_period", 1000.0),
        m.get("receive_kernel"),
    );
    let item = |name, paper, value: &str| Item {
        name,
        paper,
        ours_us: m.get(value),
    };
    let items = vec![
        item("system call", 5.0, "syscall"),
        item("kernel to Sender start", 8.0, "kernel_to_start"),
        item("Sender start to interrupt recognised", 12.0, "start_to_kernel"),
        item("receiving kernel", 8.0, "receive_kernel"),
    ];
    lab.outcome.breakdowns.push(Breakdown {
        title: "Fig. 8: where the 33 us of CJrmwrite go".into(),
        items,
    });
}

/// Section 7.1. The same word with user-level access: no system call, no checks.
pub fn e11(lab: &mut Lab<'_>) {
    let (by_call, by_user) = (lab.config(), lab.with(&[("user_level", 1.0)]));
    let call = lab.measure(&by_call, PING_PONG).get("one_way");
    let user = lab.measure(&by_user, PING_PONG).get("one_way");
    lab.row(
        Spec::new("sec7.1.saved", "saved by user-level access", "us")
            .paper(9.0)
            .within(8.0, 10.0)
            .depends(&["syscall", "check_translate", "user_level", "io_period"])
            // Of which the 9 us are no multiple.
            .moves_with("io_period", 700.0),
        call - user,
    );
    lab.row(
        Spec::new("sec7.1.one_way", "one word one way by user-level access", "us")
            .within(23.0, 25.0)
            .depends(&KERNELS)
            .depends(&HARDWARE)
            .depends(&["user_level"])
            .moves_with("mem_read_latency", 60.0),
        user,
    );
}
