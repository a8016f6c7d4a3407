//! X6: indirect writes, messages and chains in hardware, beside the firmware's. The report recommends hardware for the
//! receiving side, and names TS/1's; it gives no number.

use super::depends;
use super::lab::{Lab, Scatter, Way, What};
use super::steps;
use crate::dimmnet1::host::How;
use crate::dimmnet1::params::Config;
use crate::repro::row::{Origin, Spec};
use crate::repro::{Curve, OVER_SIZES, Plot, least};

/// Bytes of a packet of BOTF, and of the longest message of a plot.
const PIECE: f64 = 464.0;
const LONG: f64 = 65_536.0;
/// A message that the system buffer has room for.
const FITS: f64 = 8192.0;

const INDIRECT: [f64; 11] = [
    8.0, 256.0, PIECE, 472.0, 928.0, 936.0, 2048.0, 4640.0, 8192.0, 16_384.0, LONG,
];
const MESSAGE: [f64; 9] = [8.0, 64.0, 256.0, PIECE, 472.0, 928.0, 2048.0, 4640.0, FITS];

fn send(config: &Config, way: Way, bytes: f64) -> (Config, What) {
    let (bytes, count) = (bytes as u32, 1);
    (config.clone(), What::Send { way, bytes, count })
}

fn message(config: &Config, bytes: f64) -> (Config, What) {
    let (bytes, count) = (bytes as u32, 1);
    (config.clone(), What::Message { bytes, count })
}

type Point<'a> = &'a dyn Fn(&Config, f64) -> (Config, What);

/// Sections 3.2 and 6.
pub fn x6(lab: &mut Lab<'_>) {
    lab.bounds_by(Origin::Ours);
    let configs = [0.0, 1.0].map(|matching| lab.with(&[("matching", matching)]));
    let direct = lab.curve_on(lab.backend(), "BOTF, direct", &INDIRECT, "bandwidth", |x| {
        send(&configs[0], Way::Botf, x)
    });
    let indirect: Point = &|config, x| send(config, Way::Indirect, x);
    let message: Point = &message;
    for (id, xs, point, title) in [
        ("indirect", &INDIRECT[..], indirect, "remote indirect write"),
        ("message", &MESSAGE[..], message, "message exchange"),
    ] {
        let depends = depends::served();
        let names = [("firmware", "firmware"), ("hardware", "in hardware")];
        let mut curves = Vec::new();
        for (config, (by, name)) in configs.iter().zip(names) {
            let curve = lab.curve_on(lab.backend(), &format!("{title}, {name}"), xs, "bandwidth", |x| {
                point(config, x)
            });
            lab.point_rows(&format!("sec6.{id}_{by}"), &curve, ("B", "MB/s"), &depends);
            let row = format!("sec6.{id}_{by}_model");
            lab.agrees(&row, &curve, "bandwidth", |x| point(config, x), &depends);
            curves.push(curve);
        }
        gains(lab, id, &curves);
        if id == "indirect" {
            let share = curves[1].at(LONG) / direct.at(LONG);
            let spec = Spec::new("sec6.indirect_of_direct", "in hardware over direct, 64 KB", "");
            lab.row(spec.within(0.8, 1.01).depends(&depends), share);
            curves.push(direct.clone());
        }
        lab.outcome.plots.push(Plot {
            id: if id == "indirect" {
                "sec6-indirect"
            } else {
                "sec6-message"
            },
            title: format!("Section 6: {title}, by firmware and in hardware"),
            axes: ["message size, B", "MB/s"],
            scales: OVER_SIZES,
            curves,
            marks: Vec::new(),
        });
    }
    chains(lab, &configs);
    steps::exchange(lab, &configs[1], "sec6");
}

/// Blocks that one packet of BOTF has room for, and one of RDMA.
const BLOCKS: [f64; 8] = [8.0, 16.0, 32.0, 56.0, 64.0, 112.0, 224.0, SHORT];
const SHORT: f64 = 448.0;
const LONG_BLOCKS: [f64; 10] = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, WHOLE];
const WHOLE: f64 = 4096.0;

/// Blocks that a chain scatters, and what a host does without one: a packet for each.
fn chains(lab: &mut Lab<'_>, configs: &[Config; 2]) {
    for (id, plot, how, xs, bytes) in [
        ("chain", "sec6-chain", How::Botf, &BLOCKS[..], SHORT),
        ("chain_rdma", "sec6-chain-rdma", How::Rdma, &LONG_BLOCKS, WHOLE),
    ] {
        let [firmware, hardware] = configs;
        let mut curves = Vec::new();
        for (by, name, config, scatter) in [
            ("firmware", "chain, firmware", firmware, Scatter::Chain(how)),
            ("hardware", "chain, in hardware", hardware, Scatter::Chain(how)),
            ("packets", "windows, a block a packet", firmware, Scatter::Packets),
        ] {
            let point = |block: f64| {
                let (by, bytes, block) = (scatter, bytes as u32, block as u32);
                (config.clone(), What::Scatter { by, bytes, block })
            };
            let name = format!("{bytes} B scattered, {name}");
            let curve = lab.curve_on(lab.backend(), &name, xs, "bandwidth", point);
            lab.point_rows(&format!("sec6.{id}_{by}"), &curve, ("B", "MB/s"), &depends::both());
            let row = format!("sec6.{id}_{by}_model");
            lab.agrees(&row, &curve, "bandwidth", point, &depends::both());
            curves.push(curve);
        }
        chain_gains(lab, id, &curves);
        lab.outcome.plots.push(Plot {
            id: plot,
            title: format!("Section 6: {bytes} B scattered, the chain by one packet"),
            axes: ["bytes of a block", "MB/s"],
            scales: OVER_SIZES,
            curves,
            marks: Vec::new(),
        });
    }
}

/// What chains gain in hardware: over the firmware's, and over packets; and what they cost where there is one block.
fn chain_gains(lab: &mut Lab<'_>, id: &str, curves: &[Curve]) {
    let [firmware, hardware, packets] = curves else {
        unreachable!("three curves are compared")
    };
    let over = |other: &Curve, blocks: std::ops::RangeInclusive<f64>| {
        let pairs = hardware.points.iter().zip(&other.points);
        least(pairs.filter(|pair| blocks.contains(&pair.0.0)).map(|(a, b)| a.1 / b.1))
    };
    for (name, what, bound, ours) in [
        (
            "gain",
            "over firmware, any block, least",
            1.02,
            over(firmware, 0.0..=WHOLE),
        ),
        (
            "gain_small",
            "over firmware, blocks of 8 B",
            3.0,
            over(firmware, 8.0..=8.0),
        ),
        (
            "over_packets",
            "over packets, any block, least",
            0.85,
            over(packets, 0.0..=WHOLE),
        ),
        (
            "over_packets_small",
            "over packets, up to 64 B, least",
            1.25,
            over(packets, 0.0..=64.0),
        ),
    ] {
        let spec = Spec::new(format!("sec6.{id}_{name}"), format!("chain: hardware {what}"), "");
        lab.row(spec.within(bound, f64::INFINITY).depends(&depends::both()), ours);
    }
}

/// What hardware gains: at all sizes, for one packet, and for many.
fn gains(lab: &mut Lab<'_>, id: &str, curves: &[Curve]) {
    let [firmware, hardware] = curves else {
        unreachable!("two curves are compared")
    };
    let pairs = firmware.points.iter().zip(&hardware.points);
    let gain = |bytes: f64| hardware.at(bytes) / firmware.at(bytes);
    let last = firmware.points.last().map_or(f64::NAN, |point| point.0);
    for (name, what, bound, ours) in [
        ("least", "at any size, least", 1.0, least(pairs.map(|(f, h)| h.1 / f.1))),
        ("packet", "one packet of 464 B", 1.05, gain(PIECE)),
        ("long", "the longest", 1.05, gain(last)),
    ] {
        let spec = Spec::new(
            format!("sec6.{id}_gain_{name}"),
            format!("{id}: hardware over firmware, {what}"),
            "",
        );
        lab.row(spec.within(bound, f64::INFINITY).depends(&depends::served()), ours);
    }
}
