//! E13: what the paper's figures leave open of the receive FIFO's threshold, and how far that and our own choices move
//! Figs. 9, 11 and 14.

use super::depends::{self, but};
use super::lab::{AtEnd, Lab, What};
use super::throughput::{FIG9, WITHOUT_CUT, rmwrite, stream};
use crate::cenju3::params::Config;
use crate::repro::row::Spec;
use crate::repro::{Curve, OVER_SIZES, Plot, THROUGHPUT};

/// The thresholds that Fig. 11 leaves open by its peak between 6 and 8 KB, and Fig. 9 by a receiving side that is the
/// bottleneck: below, Fig. 11's peak is at 4 KB; above, nothing of the receiving side shows in Fig. 9.
pub const OPEN: [f64; 2] = [280.0, 392.0];
/// Sizes round the peaks, KB.
const SIZES_KB: [f64; 7] = [4.0, 6.0, 6.5, 7.0, 7.5, 8.0, 16.0];
const CHUNK: u32 = 8192;

/// Our own choices that move Fig. 9, at other values: one that the paper does not exclude, or the ends of the range.
const CHOICES: [(&str, &str, f64); 5] = [
    ("piece", "piece_bytes", 1024.0),
    ("request", "request_bytes", 16.0),
    ("request", "request_bytes", 512.0),
    ("preinval", "preinval_rate", 100.0),
    ("preinval", "preinval_rate", 300.0),
];

/// The throughput of the user's `CJrmwrite` of 8 KB: Fig. 9's plateau.
pub fn plateau(lab: &Lab<'_>, config: &Config) -> f64 {
    lab.measure(config, rmwrite(CHUNK, true)).get("steady_rate")
}

fn curve(lab: &Lab<'_>, name: String, config: &Config, what: impl Fn(u32) -> What) -> Curve {
    let at = |kb: f64| lab.measure(config, what((kb * 1024.0) as u32)).get("steady_rate");
    Curve {
        name,
        points: SIZES_KB.iter().map(|&kb| (kb, at(kb))).collect(),
    }
}

pub fn e13(lab: &mut Lab<'_>) {
    let [least, most] = OPEN;
    let mut curves = Vec::new();
    for (name, fill, words) in [
        ("least", "the least fill that Figs. 9 and 11 allow", least),
        ("ours", "our own fill", lab.value("r_thresh")),
        ("most", "the most fill that Figs. 9 and 11 allow", most),
    ] {
        let config = lab.with(&[("r_thresh", words)]);
        let whole = lab.with(&[("r_thresh", words), WITHOUT_CUT]);
        let stopped = curve(lab, format!("Fig. 11, {words} words"), &config, |bytes| {
            stream(bytes, AtEnd::InvalidateStopped)
        });
        let one_dma = curve(lab, format!("Fig. 14, {words} words"), &whole, |bytes| {
            rmwrite(bytes, true)
        });
        let user = plateau(lab, &config);
        // Only our own threshold follows the parameter.
        let set: &[&str] = if name == "ours" { &[] } else { &["r_thresh"] };
        let (stopped_on, rmwrite_on) = (but(&depends::stopped(), set), but(&depends::rmwrite(), set));
        let spec = |figure: &str, what: &str, unit| {
            let what = format!("{what}, network stopped at {fill}");
            Spec::new(format!("{figure}_{name}"), what, unit)
        };
        lab.row(
            spec("fig11.peak", "size of Fig. 11's peak", "KB").depends(&stopped_on),
            stopped.argmax(),
        );
        lab.row(
            spec("fig14.peak", "size of Fig. 14's peak", "KB").depends(&rmwrite_on),
            one_dma.argmax(),
        );
        lab.row(
            spec("fig14.residue", "Fig. 14's peak less Fig. 11's", "KB")
                .depends(&stopped_on)
                .depends(&rmwrite_on)
                .moves_with("postinval_rate", 20.0),
            one_dma.argmax() - stopped.argmax(),
        );
        let plateau = spec("fig9.plateau", "CJrmwrite of 8 KB", "MB/s")
            .depends(&rmwrite_on)
            .depends(&["chunk_bytes"]);
        // The paper's value lies in the interval.
        let plateau = match name {
            "least" => plateau.within(f64::NEG_INFINITY, FIG9),
            "most" => plateau.within(FIG9, f64::INFINITY),
            _ => plateau,
        };
        lab.row(plateau, user);
        curves.extend([stopped, one_dma]);
    }
    for (name, parameter, value) in CHOICES {
        let spec = Spec::new(
            format!("fig9.{name}_{value}"),
            format!("CJrmwrite of 8 KB with {parameter} = {value}"),
            "MB/s",
        );
        let depends = but(&depends::rmwrite(), &[parameter]);
        lab.row(
            spec.depends(&depends).depends(&["chunk_bytes"]),
            plateau(lab, &lab.with(&[(parameter, value)])),
        );
    }
    lab.outcome.plots.push(Plot {
        id: "peaks",
        title: "Figs. 11 and 14 for the least, our own and the most fill that Figs. 9 and 11 allow".into(),
        axes: THROUGHPUT,
        scales: OVER_SIZES,
        curves,
        marks: Vec::new(),
    });
}
