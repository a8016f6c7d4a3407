//! E8 and E9: the effect of each rate and delay of the receive side on the not pipelined curve of Fig. 11.

use super::depends::{all, but, stopped};
use super::lab::{AtEnd, Lab};
use super::throughput::{stream, transfer};
use crate::repro::row::Spec;
use crate::repro::{Curve, OVER_SIZES, Plot, THROUGHPUT, greatest, least};

/// A curve with some parameters set; it depends on the others.
struct Sweep {
    curve: Curve,
    depends: Vec<&'static str>,
}

fn sweep(lab: &Lab<'_>, name: &str, changes: &[(&str, f64)]) -> Sweep {
    let set: Vec<&str> = changes.iter().map(|c| c.0).collect();
    Sweep {
        curve: lab.curve(name, &lab.with(changes), "steady_rate", |bytes| {
            stream(bytes, AtEnd::InvalidateStopped)
        }),
        depends: but(&stopped(), &set),
    }
}

/// The change from one curve to another, by size.
fn change(from: &Sweep, to: &Sweep) -> Sweep {
    let pairs = from.curve.points.iter().zip(&to.curve.points);
    Sweep {
        curve: Curve {
            name: "change".into(),
            points: pairs.map(|(a, b)| (a.0, b.1 - a.1)).collect(),
        },
        depends: all(&[&from.depends, &to.depends]),
    }
}

/// A curve's name as part of a row's id.
fn slug(name: &str) -> String {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

fn peak(sweep: &Sweep) -> f64 {
    sweep.curve.at(sweep.curve.argmax())
}

/// The rate that the authors fitted, on a network and a Sender that are faster.
fn receiver_alone(lab: &mut Lab<'_>) {
    let fast = lab.with(&[("net_period", 20.0), ("s_gap", 0.0), ("sync_idle", 0.0)]);
    let alone = lab.measure(&fast, transfer(32 * 1024)).get("steady_rate");
    lab.row(
        Spec::new(
            "fig12.receiver",
            "the Receiver's own rate, behind a fast network",
            "MB/s",
        )
        .paper(48.0)
        .within(47.5, 48.5)
        .depends(&[
            "packet_bytes",
            "header_bytes",
            "io_period",
            "bus_bytes",
            "burst_beats",
            "mem_overhead",
        ]),
        alone,
    );
}

/// Fig. 12. Rates of network, Receiver and invalidation, varied one by one. The network's clock sets its rate; the
/// cycles that the bus is taken after each burst set the Receiver's.
pub fn e8(lab: &mut Lab<'_>) {
    let base = sweep(lab, "as fitted (36, 48, 200)", &[]);
    let slow_net = sweep(lab, "network 30", &[("net_period", 60.0)]);
    let fast_net = sweep(lab, "network 42", &[("net_period", 43.0)]);
    let slow_receiver = sweep(lab, "Receiver 38", &[("mem_overhead", 12.0)]);
    let fast_receiver = sweep(lab, "Receiver 59", &[("mem_overhead", 5.0)]);
    let slow_inval = sweep(lab, "invalidation 100", &[("postinval_rate", 100.0)]);
    let fast_inval = sweep(lab, "invalidation 300", &[("postinval_rate", 300.0)]);
    receiver_alone(lab);
    let net = change(&slow_net, &fast_net);
    let receiver = change(&slow_receiver, &fast_receiver);
    let inval = change(&slow_inval, &fast_inval);
    let mut row = |name: &str, what: &str, low: f64, high: f64, of: &Sweep, ours: f64| {
        let spec = Spec::new(format!("fig12.{name}"), what, "MB/s")
            .within(low, high)
            .says()
            .depends(&of.depends);
        lab.row(spec, ours);
    };
    let any = f64::INFINITY;
    row(
        "network_large",
        "network 30 to 42: gain at 128 KB",
        4.0,
        any,
        &net,
        net.curve.at(128.0),
    );
    row(
        "network_small",
        "network 30 to 42: change at 1 KB",
        -1.0,
        1.0,
        &net,
        net.curve.at(1.0),
    );
    row(
        "receiver_small",
        "Receiver 38 to 59: gain at 1 KB",
        4.0,
        any,
        &receiver,
        receiver.curve.at(1.0),
    );
    row(
        "receiver_peak",
        "Receiver 38 to 59: gain of the peak",
        1.0,
        any,
        &receiver,
        peak(&fast_receiver) - peak(&slow_receiver),
    );
    row(
        "receiver_large",
        "Receiver 38 to 59: change at 128 KB",
        -0.5,
        0.5,
        &receiver,
        receiver.curve.at(128.0),
    );
    let everywhere = least(inval.curve.points.iter().map(|p| p.1));
    row(
        "invalidation_all",
        "invalidation 100 to 300: least gain over all sizes",
        0.5,
        any,
        &inval,
        everywhere,
    );
    let sweeps = [
        base,
        slow_net,
        fast_net,
        slow_receiver,
        fast_receiver,
        slow_inval,
        fast_inval,
    ];
    for Sweep { curve, depends } in &sweeps {
        lab.point_rows(&format!("fig12.{}", slug(&curve.name)), curve, depends);
    }
    let title = "Fig. 12: varied rates of network, Receiver and invalidation".into();
    lab.outcome.plots.push(Plot {
        id: "fig12",
        title,
        axes: THROUGHPUT,
        scales: OVER_SIZES,
        curves: sweeps.map(|s| s.curve).into(),
        marks: Vec::new(),
    });
}

/// Throughput in MB/s of transfers of `bytes` that fit the FIFO, by the authors' rates: 36 of the network, 48 of the
/// Receiver, 200 of invalidation. The Receiver is stopped for `delay` us before it stores. The points of Fig. 13 are
/// lost, so its curves are compared with this formula.
fn by_formula(bytes: f64, delay: f64) -> f64 {
    bytes / (delay + bytes / 200.0 + bytes / 48.0).max(bytes / 36.0)
}

const FORMULA: &str = "bytes / max(delay + bytes / 200 + bytes / 48, bytes / 36), within 5 %";

/// Fig. 13. Varied delay from the end of the store to the start of invalidation: 0, the paper's 9 us, 20 us.
pub fn e9(lab: &mut Lab<'_>) {
    let delays = [
        (
            "no delay",
            &[("irq_recognition", 0.0), ("handler", 0.0), ("ext_access", 0.0)][..],
        ),
        ("9 us", &[]),
        ("20 us", &[("irq_recognition", 16.0)]),
    ];
    let sweeps = delays.map(|(name, changes)| sweep(lab, name, changes));
    let loss = change(&sweeps[2], &sweeps[0]);
    let spec =
        |name: &str, what: &str, of: &Sweep| Spec::new(format!("fig13.{name}"), what, "MB/s").depends(&of.depends);
    for ((name, what, delay), of) in [
        ("no_delay", "1 KB without delay", 0.0),
        ("delay_9us", "1 KB with 9 us", 9.0),
        ("delay_20us", "1 KB with 20 us", 20.0),
    ]
    .into_iter()
    .zip(&sweeps)
    {
        let spec = spec(name, what, of).near(by_formula(1024.0, delay), 0.05, FORMULA);
        lab.row(spec, of.curve.at(1.0));
    }
    // Near the peak the FIFO hides part of the delay, so the row looks at sizes away from it.
    let sizes = [1.0, 4.0, 16.0, 128.0];
    let falls = greatest(sizes.windows(2).map(|w| loss.curve.at(w[1]) - loss.curve.at(w[0])));
    let small = spec(
        "small_most",
        "loss of 20 us: greatest step from 1 to 4 to 16 to 128 KB",
        &loss,
    );
    lab.row(small.within(f64::NEG_INFINITY, -0.5).says(), falls);
    let large = spec("large_least", "loss of 20 us at 128 KB", &loss);
    lab.row(large.within(-0.2, 0.2).says(), loss.curve.at(128.0));
    for Sweep { curve, depends } in &sweeps {
        lab.point_rows(&format!("fig13.{}", slug(&curve.name)), curve, depends);
    }
    let title = "Fig. 13: delay from the end of the store to the start of invalidation".into();
    lab.outcome.plots.push(Plot {
        id: "fig13",
        title,
        axes: THROUGHPUT,
        scales: OVER_SIZES,
        curves: sweeps.map(|s| s.curve).into(),
        marks: Vec::new(),
    });
}
