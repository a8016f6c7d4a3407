//! E2, E3, E11: the parts of the latency of one word.

use super::depends::{PATH, QUEUE, all, but, line as line_depends, packet, word};
use super::lab::{Lab, What, quantity};
use crate::repro::row::Spec;
use crate::repro::{Breakdown, Item};

const PING_PONG: What = What::PingPong { rounds: 4 };

/// One item of Fig. 7: the quantity, the parameters it depends on, and one that must move it.
struct Step {
    name: &'static str,
    depends_on: fn() -> Vec<&'static str>,
    moves_with: (&'static str, f64),
}

fn pointer_write() -> Vec<&'static str> {
    all(&[&["io_period"], &QUEUE])
}

fn network() -> Vec<&'static str> {
    all(&[&["net_period", "io_period"], &PATH])
}

const STEPS: [Step; 6] = [
    Step {
        name: "pointer_write",
        depends_on: pointer_write,
        moves_with: ("io_period", 47.0),
    },
    Step {
        name: "header_read",
        depends_on: packet,
        moves_with: ("mem_read_latency", 34.0),
    },
    Step {
        name: "body_read",
        depends_on: packet,
        moves_with: ("mem_read_latency", 34.0),
    },
    Step {
        name: "sync",
        depends_on: network,
        moves_with: ("stages", 2.0),
    },
    Step {
        name: "switch",
        depends_on: network,
        moves_with: ("stages", 2.0),
    },
    Step {
        name: "header_write",
        depends_on: packet,
        moves_with: ("mem_write_latency", 30.0),
    },
];

/// Fig. 7. Sender start to the packet header in the receiver's memory.
pub fn e2(lab: &mut Lab<'_>) {
    let config = lab.config().clone();
    let m = lab.measure(&config, What::OneWord);
    let mut items = Vec::new();
    for step in STEPS {
        let (ours, title) = (m.get(step.name), quantity(step.name).what);
        items.push(Item {
            name: title,
            paper: 1.0,
            is_stated: true,
            ours_us: ours,
        });
        let (name, value) = step.moves_with;
        let spec = Spec::new(format!("fig7.{}", step.name), title, "us")
            .paper(1.0)
            .within(0.8, 1.3);
        lab.row(spec.depends(&(step.depends_on)()).moves_with(name, value), ours);
    }
    let total = m.get("total");
    let listed: f64 = items.iter().map(|i| i.ours_us).sum();
    items.push(Item {
        name: "not listed (7 us less the six): start of the Sender, length of the packet",
        paper: 1.0,
        is_stated: false,
        ours_us: total - listed,
    });
    lab.row(
        Spec::new("fig7.total", quantity("total").what, "us")
            .paper(7.0)
            .within(6.5, 7.5)
            .depends(&packet())
            .moves_with("mem_read_latency", 34.0),
        total,
    );
    lab.row(
        Spec::new("fig7.irq", quantity("irq").what, "us")
            .paper(5.0)
            .within(4.5, 5.5)
            .depends(&packet())
            .depends(&["irq_recognition"])
            .moves_with("io_period", 47.0),
        m.get("irq"),
    );
    lab.outcome.breakdowns.push(Breakdown {
        title: "Fig. 7: the 7 us of the hardware".into(),
        items,
    });
    lab.trace("The path of one packet: one word from PE 0 to PE 1", &m, true);
}

/// Fig. 8. One word by `CJrmwrite` between two user programs.
pub fn e3(lab: &mut Lab<'_>) {
    let config = lab.config().clone();
    let m = lab.measure(&config, PING_PONG);
    // Totals within half of the last digit that the paper prints; their parts meet at instants that it does not define.
    let row = |name: &str, paper: f64, within: (f64, f64)| {
        Spec::new(format!("fig8.{name}"), quantity(name).what, "us")
            .paper(paper)
            .within(within.0, within.1)
    };
    lab.row(
        row("syscall", 5.0, (4.5, 5.5))
            .depends(&["syscall", "user_level"])
            .moves_with("syscall", 7.0),
        m.get("syscall"),
    );
    lab.row(
        Spec::new("sec5.2.syscall", "the same: a context switch", "us")
            .paper_range(5.0, 8.0)
            .depends(&["syscall", "user_level"])
            .moves_with("syscall", 7.0),
        m.get("syscall"),
    );
    lab.row(
        row("round_trip", 65.0, (64.5, 65.5))
            .depends(&word())
            .moves_with("mem_read_latency", 60.0),
        m.get("round_trip"),
    );
    lab.row(
        row("one_way", 33.0, (32.5, 33.5))
            .depends(&word())
            .moves_with("mem_read_latency", 60.0),
        m.get("one_way"),
    );
    lab.row(
        row("kernel_to_start", 8.0, (7.0, 9.0))
            .depends(&word())
            .moves_with("io_period", 1000.0),
        m.get("kernel_to_start"),
    );
    lab.row(
        row("start_to_kernel", 12.0, (11.0, 13.0))
            .depends(&word())
            .moves_with("mem_read_latency", 60.0),
        m.get("start_to_kernel"),
    );
    lab.row(
        row("receive_kernel", 8.0, (7.0, 9.0))
            .depends(&["receive_kernel", "handler", "ext_access", "io_period"])
            .moves_with("io_period", 1000.0),
        m.get("receive_kernel"),
    );
    let items = [
        ("syscall", 5.0),
        ("kernel_to_start", 8.0),
        ("start_to_kernel", 12.0),
        ("receive_kernel", 8.0),
    ];
    let items = items.map(|(name, paper)| Item {
        name: quantity(name).what,
        paper,
        is_stated: true,
        ours_us: m.get(name),
    });
    lab.outcome.breakdowns.push(Breakdown {
        title: "Fig. 8: the 33 us of CJrmwrite".into(),
        items: items.into(),
    });
}

/// Section 7.1. The same word with user-level access: no system call, no checks.
pub fn e11(lab: &mut Lab<'_>) {
    let (by_call, by_user) = (lab.config().clone(), lab.with(&[("user_level", 1.0)]));
    let call = lab.measure(&by_call, PING_PONG).get("one_way");
    let user = lab.measure(&by_user, PING_PONG).get("one_way");
    lab.row(
        Spec::new("sec7.1.saved", "saved by user-level access", "us")
            .paper(9.0)
            .within(8.0, 10.0)
            .depends(&word())
            // The clock period of which the 9 us are no multiple.
            .moves_with("io_period", 700.0),
        call - user,
    );
    lab.row(
        Spec::new("sec7.1.one_way", "one word, one way, by user-level access", "us")
            .by_formula(23.0, 25.0, "33 - 9 us, within 1 us")
            .depends(&but(&word(), &["syscall", "check_translate", "user_level"]))
            .moves_with("mem_read_latency", 60.0),
        user,
    );
    // Cenju-3/DE leaves out the checks. Its user-level access is one DMA of a line, at the end of which nothing
    // interrupts: the receiving program polls.
    let unchecked = lab
        .measure(&lab.with(&[("check_translate", 0.0)]), PING_PONG)
        .get("one_way");
    let line = lab.measure(&lab.config().clone(), What::Line).get("one_way");
    let spec = |name: &str, what: &str, paper: f64| {
        Spec::new(format!("sec7.1.{name}"), what, "us")
            .paper(paper)
            .within(paper * 0.9, paper * 1.1)
            .moves_with("mem_read_latency", 60.0)
    };
    lab.row(
        spec("de_call", "as Cenju-3/DE: one way by system call, without checks", 27.0)
            .depends(&but(&word(), &["check_translate"])),
        unchecked,
    );
    lab.row(
        spec("de_user", "as Cenju-3/DE: a line by user-level access, polled", 11.5).depends(&line_depends()),
        line,
    );
}
