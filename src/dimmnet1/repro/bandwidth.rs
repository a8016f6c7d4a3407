//! X2 and X4: bandwidth of a blocking send over the size of the message.

use super::depends;
use super::lab::{Lab, Way, What};
use crate::dimmnet1::names::REGISTERS;
use crate::dimmnet1::params::Config;
use crate::repro::row::Spec;
use crate::repro::{Curve, Mark, OVER_SIZES, Plot, Trace, greatest, least};

/// Bytes of a packet of BOTF.
const PIECE: u32 = 464;
/// The numbers that the report states, MB/s.
const SOFT: f64 = 22.0;
const CONTINUED: f64 = 52.0;
const KB: f64 = 1024.0;
/// Up to this size a message is short. The report gives no number.
const SMALL: f64 = 256.0;
/// From this size on a curve is at its end.
const LARGE: f64 = 4096.0;
const AXES: [&str; 2] = ["message size, B", "MB/s"];

/// Sizes in bytes: 8 B to 64 KB, and both sides of each step of 464 B in Fig. 3.
fn sizes() -> Vec<f64> {
    let mut sizes = vec![8, 16, 32, 64, 128, 256];
    sizes.extend((1..=10).flat_map(|packets| [PIECE * packets, PIECE * packets + 8]));
    sizes.extend([8 << 10, 16 << 10, 32 << 10, 64 << 10]);
    sizes.into_iter().map(f64::from).collect()
}

/// One curve of Fig. 2.
struct Measured {
    curve: Curve,
    depends: Vec<&'static str>,
}

/// A curve by name, its way, what is set for it, and what it depends on.
type Drawn = (
    &'static str,
    Way,
    &'static [(&'static str, f64)],
    fn() -> Vec<&'static str>,
);

const DRAWN: [Drawn; 7] = [
    ("BOTF", Way::Botf, &[], depends::botf),
    ("RDMA", Way::Rdma, &[], depends::rdma),
    (
        "MP by soft indirect, f_seq off",
        Way::Soft,
        &[("f_seq", 0.0)],
        depends::served,
    ),
    (
        "MP by soft indirect, f_seq on",
        Way::Soft,
        &[("f_seq", 1.0)],
        depends::served,
    ),
    ("RVATLB miss-continue", Way::Region, &[], depends::served),
    ("PATLB miss-continue", Way::Page, &[], depends::served),
    (
        "PATLB miss-continue (non-intr)",
        Way::Page,
        &[("poll", 1.0)],
        depends::served,
    ),
];

/// The names of the curves in rows.
const IDS: [&str; 7] = ["botf", "rdma", "soft", "soft_seq", "rvatlb", "patlb", "patlb_polled"];

fn point(config: &Config, way: Way, bytes: f64) -> (Config, What) {
    let (bytes, count) = (bytes as u32, 1);
    (config.clone(), What::Send { way, bytes, count })
}

/// Fig. 2 and Fig. 3.
pub fn x2(lab: &mut Lab<'_>) {
    let xs = sizes();
    let measured = DRAWN.map(|(name, way, changes, depends)| {
        let config = lab.with(changes);
        let curve = lab.curve_on(lab.backend(), name, &xs, "bandwidth", |x| point(&config, way, x));
        let depends = depends();
        Measured { curve, depends }
    });
    reported(lab, &measured);
    order(lab, &measured);
    stairs(lab, &measured);
    for (id, of) in IDS.iter().zip(&measured) {
        lab.point_rows(&format!("fig2.{id}"), &of.curve, ("B", "MB/s"), &of.depends);
    }
    for ((id, (_, way, changes, _)), of) in IDS.iter().zip(DRAWN).zip(&measured) {
        let (config, row) = (lab.with(changes), format!("fig2.{id}_model"));
        lab.agrees(&row, &of.curve, "bandwidth", |x| point(&config, way, x), &of.depends);
    }
    let marks = || {
        vec![
            Mark::Level {
                y: SOFT,
                from: 0.0,
                says: "22, all in software",
            },
            Mark::Level {
                y: CONTINUED,
                from: 4096.0,
                says: "52, continued by hardware",
            },
        ]
    };
    let zoomed = |curve: &Curve| Curve {
        name: curve.name.clone(),
        points: curve
            .points
            .iter()
            .copied()
            .filter(|point| point.0 <= 11.0 * f64::from(PIECE))
            .collect(),
    };
    let plot = |id, title: &str, curves| Plot {
        id,
        title: title.into(),
        axes: AXES,
        scales: OVER_SIZES,
        curves,
        marks: marks(),
    };
    let all = measured.iter().map(|of| of.curve.clone()).collect();
    lab.outcome
        .plots
        .push(plot("fig2", "Fig. 2: bandwidth of a blocking send", all));
    let zoom = measured[2..].iter().map(|of| zoomed(&of.curve)).collect();
    lab.outcome.plots.push(plot("fig3", "Fig. 3: the same, enlarged", zoom));
    let (config, what) = point(lab.config(), Way::Botf, 64.0);
    let record = lab.measure(&config, what).record;
    lab.outcome.traces.push(Trace {
        node: "node",
        registers: REGISTERS.values,
        ..Trace::of("BOTF of 64 B from node 0 to node 1, and its answer", record)
    });
}

/// The greatest value from a size on.
fn plateau(curve: &Curve, from: f64) -> f64 {
    greatest(curve.points.iter().filter(|point| point.0 >= from).map(|point| point.1))
}

/// The two numbers of the report, beside ours. Nothing is fitted to them, so no tolerance of ours is set on them.
fn reported(lab: &mut Lab<'_>, measured: &[Measured; 7]) {
    let served = depends::served();
    let soft = plateau(&measured[2].curve, 0.0).max(plateau(&measured[3].curve, 0.0));
    let continued = greatest(measured[4..].iter().map(|of| plateau(&of.curve, LARGE)));
    lab.row(
        Spec::new("fig2.soft_never_above", "all in software, greatest at any size", "MB/s")
            .paper(SOFT)
            .depends(&served),
        soft,
    );
    lab.row(
        Spec::new(
            "fig2.continued",
            "continued by hardware, the best of three from 4 KB up",
            "MB/s",
        )
        .paper(CONTINUED)
        .depends(&served),
        continued,
    );
    // Both with sequence numbers, as the library sends.
    lab.row(
        Spec::new("fig2.gain", "continued by hardware over all in software, f_seq on", "")
            .within(2.0, f64::INFINITY)
            .says()
            .depends(&served),
        continued / plateau(&measured[3].curve, 0.0),
    );
    let flat = |of: &Measured| plateau(&of.curve, LARGE) / of.curve.at(LARGE.max(8.0 * KB));
    lab.row(
        Spec::new("fig2.soft_flat", "all in software: greatest from 4 KB up over 8 KB", "")
            .within(1.0, 1.1)
            .says()
            .depends(&served),
        flat(&measured[2]).max(flat(&measured[3])),
    );
    lab.row(
        Spec::new("fig2.direct", "BOTF, direct, 64 KB", "MB/s")
            .within(150.0, f64::INFINITY)
            .depends(&depends::botf()),
        measured[0].curve.at(64.0 * KB),
    );
}

/// The least of one curve over another, from a size to another.
fn over(a: &Curve, b: &Curve, sizes: std::ops::RangeInclusive<f64>) -> f64 {
    let pairs = a.points.iter().zip(&b.points).filter(|pair| sizes.contains(&pair.0.0));
    least(pairs.map(|(a, b)| a.1 / b.1))
}

/// Which curve is above which.
fn order(lab: &mut Lab<'_>, measured: &[Measured; 7]) {
    let [botf, rdma, soft, soft_seq, _, patlb, polled] = measured.each_ref().map(|of| &of.curve);
    let (served, both) = (depends::served(), depends::both());
    let mut above = |name: &str, what: &str, least: f64, depends: &[&'static str], ours: f64| {
        let spec = Spec::new(format!("fig2.{name}"), what, "")
            .within(least, f64::INFINITY)
            .says();
        lab.row(spec.depends(depends), ours);
    };
    let piece = f64::from(PIECE);
    let emulated = least(measured[2..].iter().map(|of| over(botf, &of.curve, piece..=f64::MAX)));
    above(
        "direct_above",
        "BOTF over the emulations from 464 B up, least",
        1.0,
        &served,
        emulated,
    );
    let small = over(botf, rdma, 0.0..=SMALL);
    above("rdma_below", "BOTF over RDMA up to 256 B, least", 1.0, &both, small);
    let long = least(
        measured[2..]
            .iter()
            .map(|of| over(rdma, &of.curve, 8.0 * KB..=f64::MAX)),
    );
    above(
        "rdma_above",
        "RDMA over the emulations from 8 KB up, least",
        1.0,
        &both,
        long,
    );
    // Equal sizes may differ by the phase of the poll.
    let polls = over(polled, patlb, 0.0..=f64::MAX);
    above(
        "polled_above",
        "polling over interrupts, PATLB miss, least",
        0.99,
        &served,
        polls,
    );
    let seq = over(soft, soft_seq, 0.0..=f64::MAX);
    above("f_seq", "f_seq off over on, all in software, least", 0.99, &served, seq);
    let pairs = botf.points.iter().zip(&rdma.points);
    let crossing = pairs.filter(|(botf, rdma)| rdma.1 > botf.1).map(|point| point.0.0);
    let spec = Spec::new("fig2.crossing", "least size at which RDMA is above BOTF", "B");
    let spec = spec.within(SMALL, 64.0 * KB).says();
    lab.row(spec.depends(&both), least(crossing));
}

/// One byte more than whole packets takes one packet more.
fn stairs(lab: &mut Lab<'_>, measured: &[Measured; 7]) {
    for (id, of) in IDS.iter().zip(measured).skip(2) {
        let step = |packets: u32| {
            let whole = f64::from(PIECE * packets);
            of.curve.at(whole) / of.curve.at(whole + 8.0)
        };
        let spec = Spec::new(
            format!("fig3.{id}_steps"),
            format!("{}: fall behind whole packets, least", of.curve.name),
            "",
        )
        .within(1.02, f64::INFINITY)
        .depends(&of.depends);
        lab.row(spec, least((1..=10).map(step)));
    }
}

/// Long messages by RDMA, all in software at the receiver: fewer and larger packets.
pub fn x4(lab: &mut Lab<'_>) {
    let xs: Vec<f64> = [8, 64, 464, 928, 2048, 4096, 8192, 16384, 32768, 65536]
        .map(f64::from)
        .to_vec();
    let config = lab.with(&[("f_seq", 0.0)]);
    let ways = [("by BOTF", Way::Soft), ("by RDMA", Way::SoftRdma)];
    let curves =
        ways.map(|(name, way)| lab.curve_on(lab.backend(), name, &xs, "bandwidth", |x| point(&config, way, x)));
    let both = depends::both();
    let [botf, rdma] = &curves;
    let mut above = |name: &str, what: &str, ours: f64| {
        let spec = Spec::new(format!("sec4.4.{name}"), what, "")
            .within(1.0, f64::INFINITY)
            .says();
        lab.row(spec.depends(&both), ours);
    };
    above(
        "rdma_long",
        "RDMA over BOTF from 4 KB up, least",
        over(rdma, botf, LARGE..=f64::MAX),
    );
    above(
        "rdma_short",
        "BOTF over RDMA up to 256 B, least",
        over(botf, rdma, 0.0..=SMALL),
    );
    for (id, curve) in ["botf", "rdma"].iter().zip(&curves) {
        lab.point_rows(&format!("sec4.4.{id}"), curve, ("B", "MB/s"), &both);
    }
    for ((id, curve), (_, way)) in ["botf", "rdma"].iter().zip(&curves).zip(ways) {
        let row = format!("sec4.4.{id}_model");
        lab.agrees(&row, curve, "bandwidth", |x| point(&config, way, x), &both);
    }
    lab.outcome.plots.push(Plot {
        id: "sec4.4",
        title: "Section 4.4: all in software at the receiver".into(),
        axes: AXES,
        scales: OVER_SIZES,
        curves: curves.into(),
        marks: Vec::new(),
    });
}
