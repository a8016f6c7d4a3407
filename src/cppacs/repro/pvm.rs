//! T1 and B2: PVM between two tasks.

use std::cell::Cell;
use std::rc::Rc;

use super::lab::{Lab, What};
use super::measure::{MeasureError, Sim, Values};
use super::rdma::DEPENDS;
use crate::Picos;
use crate::cppacs::host::Node;
use crate::cppacs::host::pvm::error::{CallError, Fault, PvmError, Result};
use crate::cppacs::host::pvm::task::Task;
use crate::cppacs::host::pvm::{HOST, Pvm, Running};
use crate::cppacs::regs::{COUNT_SENT, COUNT_SENT_ACK, COUNTS};
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Course, THROUGHPUT};

/// The parameters that a message's time depends on.
pub fn depends() -> Vec<&'static str> {
    let own = [
        "copy",
        "copy_extra",
        "pvm_area",
        "pvm_buffers",
        "pvm_send_cost",
        "pvm_recv_cost",
        "pvm_ack_cost",
    ];
    [&DEPENDS[..], &own].concat()
}

/// The limit of a run, in simulated time.
const LIMIT: Picos = Picos::from_ns(10_000_000_000);

/// Half of there and back, packing and unpacking within (sec. 6.1), and what was sent for it.
pub fn ping_pong(sim: &mut Sim, bytes: u32) -> std::result::Result<Values, MeasureError> {
    let (sim, nodes) = sim.parts();
    let out = Rc::new(Cell::new([0.0; 3]));
    let (kept, both) = (out.clone(), nodes.clone());
    let load = move |_: &str, _: &[String], task: Task<Node>| -> std::result::Result<Running, PvmError> {
        let (out, nodes) = (kept.clone(), both.clone());
        Ok(Box::pin(async move {
            play(&task, &nodes, bytes as usize, &out)
                .await
                .map_err(|error| match error {
                    CallError::Fault(fault) => fault,
                    CallError::Pvm(error) => Fault::Program {
                        task: task.tid(),
                        why: error.to_string(),
                    },
                })
        }))
    };
    let pvm = Pvm::start(nodes, Box::new(load), "ping-pong", &[], 2)?;
    pvm.run(sim, LIMIT)?;
    let [us, pieces, acks] = out.get();
    Ok(vec![
        ("time", us),
        ("bandwidth", f64::from(bytes) / us),
        ("pieces", pieces),
        ("acks", acks),
    ])
}

async fn play(task: &Task<Node>, nodes: &[Node], bytes: usize, out: &Cell<[f64; 3]>) -> Result<()> {
    let data = vec![7; bytes];
    let first = task.node().0 == 0;
    let other = HOST + 1 + i32::from(first);
    for _ in 0..2 {
        let before = sent(nodes).await;
        let start = task.now();
        for sends in [first, !first] {
            if sends {
                task.initsend().await;
                task.pack(&data, false).await?;
                task.send(other, 1).await?;
            } else {
                task.recv(other, 1).await?;
                assert_eq!(task.unpack(bytes, false).await?, data, "what came");
            }
        }
        if first {
            let us = (task.now() - start).as_us() / 2.0;
            let after = sent(nodes).await;
            out.set([us, (after[0] - before[0]) / 2.0, (after[1] - before[1]) / 2.0]);
        }
    }
    Ok(())
}

/// Worms that all nodes have sent, on the data and on the acknowledge channel.
async fn sent(nodes: &[Node]) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for node in nodes {
        for (sum, counter) in sum.iter_mut().zip([COUNT_SENT, COUNT_SENT_ACK]) {
            let count = node.host().load((COUNTS + 8 * counter).into(), 8).await;
            *sum += count.map_or(f64::NAN, |count| count as f64);
        }
    }
    sum
}

/// Table 1, MB/s by KB.
const TABLE: [(u32, f64); 6] = [
    (1, 19.1),
    (4, 37.9),
    (16, 88.5),
    (64, 108.9),
    (256, 108.5),
    (1024, 115.1),
];

pub fn t1(lab: &mut Lab<'_>) {
    let (config, depends) = (lab.grid((2, 1, 1)), depends());
    let what = |kb| What::Pvm { bytes: 1024 * kb };
    for (kb, paper) in TABLE {
        let rate = lab.measure(&config, what(kb)).get("bandwidth");
        let spec = Spec::new(format!("table1.{kb}"), format!("PVM, {kb} KB"), "MB/s").paper(paper);
        let spec = match kb {
            4 => spec,
            _ => spec.within(0.95 * paper, 1.05 * paper),
        };
        lab.row(spec.depends(&depends), rate);
        lab.agrees(&format!("table1.{kb}"), &config, what(kb), "bandwidth", &depends);
    }
    let m = lab.measure(&config, what(64));
    for (row, name, words) in [
        ("pieces", "pieces", "worms of data"),
        ("acks", "acks", "acknowledgements"),
    ] {
        let spec = Spec::new(format!("sec6.1.{row}"), format!("64 KB: {words}"), "").paper(2.0);
        lab.row(spec.within(2.0, 2.0).depends(&["pvm_area"]), m.get(name));
    }
    let [mid, long] = [64, 1024].map(|kb| lab.measure(&config, what(kb)).get("bandwidth"));
    let spec = Spec::new("table1.falls", "1 MB over 64 KB", "").within(0.97, f64::INFINITY);
    lab.row(spec.depends(&depends), long / mid);
}

pub fn b2(lab: &mut Lab<'_>) {
    let config = lab.grid((2, 1, 1));
    let mut one = config.clone();
    one.pvm_buffers = 1;
    let depends = depends();
    let sizes = [64, 256, 1024];
    for kb in sizes {
        for (row, config, (low, high)) in [("two", &config, (106.0, f64::INFINITY)), ("one", &one, (85.0, 95.0))] {
            let what = What::Pvm { bytes: 1024 * kb };
            let rate = lab.measure(config, what).get("bandwidth");
            let spec = Spec::new(
                format!("sec5.{row}_{kb}"),
                format!("PVM with {row} of areas, {kb} KB"),
                "MB/s",
            );
            lab.row(spec.within(low, high).depends(&depends), rate);
            lab.agrees(&format!("sec5.{row}_{kb}"), config, what, "bandwidth", &depends);
        }
    }
    if lab.backend() == BackendKind::Model {
        let curves = [16_384, 32_768, 65_472].map(|area| {
            let mut config = config.clone();
            config.pvm_area = area;
            let rate = |bytes| lab.measure(&config, What::Pvm { bytes }).get("bandwidth");
            lab.curve(
                &format!("areas of {area} B"),
                &[4096, 16_384, 65_536, 262_144, 1_048_576],
                rate,
            )
        });
        lab.outcome.courses.push(Course {
            title: "Throughput of PVM by the size of its areas".into(),
            axes: THROUGHPUT,
            curves: curves.into(),
            level: None,
        });
    }
}
