//! X3: latency of a barrier over the number of nodes. All nodes come at the same time.

use super::depends;
use super::lab::{Lab, What};
use crate::dimmnet1::host::Barrier;
use crate::dimmnet1::params::Config;
use crate::repro::row::Spec;
use crate::repro::{Curve, Plot, Scale, greatest, least};

const NODES: [f64; 8] = [2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0];

const DRAWN: [(&str, &str, Barrier); 4] = [
    ("hosts", "Mini-OTFR, LLCM and host", Barrier::Hosts),
    (
        "hosts_multicast",
        "Mini-OTFR, LLCM and host, multicast",
        Barrier::HostsMulticast,
    ),
    ("processor", "on-chip processor", Barrier::Processor),
    (
        "processor_multicast",
        "on-chip processor, multicast",
        Barrier::ProcessorMulticast,
    ),
];

fn point(config: &Config, barrier: Barrier, nodes: f64) -> (Config, What) {
    let (mut config, count) = (config.clone(), 2);
    config.nodes = nodes as u32;
    (config, What::Barrier { barrier, count })
}

/// Fig. 4, without the curve of another maker's network.
pub fn x3(lab: &mut Lab<'_>) {
    let config = lab.config();
    let curves = DRAWN.map(|(_, name, barrier)| {
        lab.curve_on(lab.backend(), name, &NODES, "barrier", |nodes| {
            point(config, barrier, nodes)
        })
    });
    let depends = depends::barrier();
    let [hosts, hosts_all, unicast, multicast] = &curves;
    let over = |a: &Curve, b: &Curve| {
        let pairs = a.points.iter().zip(&b.points);
        pairs.map(|(a, b)| a.1 / b.1).collect::<Vec<f64>>()
    };
    let spec = |name: &str, what: &str, unit| Spec::new(format!("fig4.{name}"), what, unit).depends(&depends);
    let ratios = [over(unicast, hosts), over(multicast, hosts_all)].concat();
    // Ours is less, because the firmware is shorter than the report's: see X7.
    lab.row(
        spec("order", "on-chip processor over hosts, greatest", "")
            .beside(10.0, "one order of magnitude, says section 4.4"),
        greatest(ratios.iter().copied()),
    );
    lab.row(
        spec("always_slower", "on-chip processor over hosts, least", "")
            .within(1.0, f64::INFINITY)
            .says(),
        least(ratios.into_iter()),
    );
    for (name, curve) in [("unicast", unicast), ("multicast", multicast)] {
        let steps: Vec<f64> = curve
            .points
            .windows(2)
            .map(|w| (w[1].1 - w[0].1) / (w[1].0 - w[0].0))
            .collect();
        let (low, high) = (least(steps.iter().copied()), greatest(steps.iter().copied()));
        lab.row(
            spec(
                &format!("{name}_slope"),
                &format!("on-chip processor, {name}: time for one node more, greatest"),
                "us",
            ),
            high,
        );
        lab.row(
            spec(
                &format!("{name}_linear"),
                &format!("on-chip processor, {name}: greatest over least slope"),
                "",
            )
            .within(1.0, 1.5),
            high / low,
        );
    }
    for (name, one, all) in [("hosts", hosts, hosts_all), ("processor", unicast, multicast)] {
        lab.row(
            spec(
                &format!("{name}_multicast_gain"),
                &format!("{name}: unicast over multicast, least"),
                "",
            )
            .within(1.0, f64::INFINITY),
            least(over(one, all).into_iter()),
        );
    }
    for ((id, ..), curve) in DRAWN.iter().zip(&curves) {
        lab.point_rows(&format!("fig4.{id}"), curve, ("nodes", "us"), &depends);
    }
    for ((id, _, barrier), curve) in DRAWN.iter().zip(&curves) {
        let at = |nodes| point(config, *barrier, nodes);
        lab.agrees(&format!("fig4.{id}_model"), curve, "barrier", at, &depends);
    }
    lab.outcome.plots.push(Plot {
        id: "fig4",
        title: "Fig. 4: latency of a barrier".into(),
        axes: ["nodes", "us"],
        scales: [Scale::Linear, Scale::Linear],
        curves: curves.into(),
        marks: Vec::new(),
    });
}
