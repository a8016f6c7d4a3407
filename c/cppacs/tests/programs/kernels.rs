//! The NAS kernels give the published values: alone, with RDMA, and with PVM.

use std::cell::Cell;
use std::process::Output;
use std::rc::Rc;

use crate::support::{Made, text};
use tsunagi::Picos;
use tsunagi::cppacs::host::pvm::error::{CallError, Fault, PvmError};
use tsunagi::cppacs::host::pvm::task::Task;
use tsunagi::cppacs::host::pvm::{Pvm, Running};
use tsunagi::cppacs::host::{CppacsSim, Node};
use tsunagi::cppacs::kernels::{Class, Job, run_pvm, run_rdma};
use tsunagi::cppacs::model::ModelMachine;
use tsunagi::cppacs::params::Config;

const KERNELS: [&str; 4] = ["ep", "cg", "ft", "mg"];

fn verified(what: &str, out: &Output) {
    let said = text(&out.stdout);
    assert!(
        out.status.success() && said.contains(": verified\n"),
        "{what}: {said}{}",
        text(&out.stderr)
    );
}

fn serial(classes: &[&str]) {
    let made = Made::new("nas");
    for kernel in KERNELS {
        for class in classes {
            let mut run = std::process::Command::new(made.path("nas-serial"));
            verified(
                &format!("{kernel} {class}"),
                &run.args([kernel, class]).output().unwrap(),
            );
        }
    }
}

#[test]
fn serial_kernels_of_classes_s_and_w() {
    serial(&["S", "W"]);
}

/// The paper's class.
#[test]
#[ignore = "half a minute"]
fn serial_kernels_of_class_a() {
    serial(&["A"]);
}

fn rdma(made: &Made, kernel: &str, class: &str, grid: [&str; 3]) {
    let mut run = std::process::Command::new(made.path("nas-rdma"));
    let out = run.args([kernel, class]).args(grid).output().unwrap();
    verified(&format!("RDMA {kernel} {class} {grid:?}"), &out);
}

fn pvm(made: &Made, kernel: &str, class: &str, nodes: &str) {
    let out = made.pvm(&["--nodes", nodes], "nas-pvm", &[kernel, class, nodes]);
    verified(&format!("PVM {kernel} {class} {nodes}"), &out);
}

#[test]
fn rdma_and_pvm_kernels_of_class_s() {
    let made = Made::new("nas");
    for kernel in KERNELS {
        for (nodes, grid) in [
            ("1", ["1", "1", "1"]),
            ("2", ["2", "1", "1"]),
            ("4", ["2", "2", "1"]),
            ("16", ["4", "2", "2"]),
        ] {
            rdma(&made, kernel, "S", grid);
            pvm(&made, kernel, "S", nodes);
        }
    }
}

/// As many nodes as the machine of RTL simulates in the time there is.
#[test]
fn rdma_and_pvm_kernels_of_class_w() {
    let made = Made::new("nas");
    let sizes = [
        ("16", ["4", "2", "2"]),
        ("4", ["2", "2", "1"]),
        ("8", ["2", "2", "2"]),
        ("8", ["2", "2", "2"]),
    ];
    for (kernel, (nodes, grid)) in KERNELS.into_iter().zip(sizes) {
        rdma(&made, kernel, "W", grid);
        pvm(&made, kernel, "W", nodes);
    }
}

/// Seconds of node 0, of the traffic alone.
fn traffic(job: Job, by_pvm: bool) -> f64 {
    let config = Config {
        x: 2,
        y: 2,
        z: 2,
        ..Config::paper()
    };
    let mut machine = CppacsSim::new(ModelMachine::new(&config), &config).unwrap();
    let (sim, nodes) = machine.parts();
    let time = Rc::new(Cell::new(Picos::ZERO));
    let note = |node: u16, took: Picos, time: &Cell<Picos>| {
        if node == 0 {
            time.set(took);
        }
    };
    let limit = Picos::from_us(1e12);
    if by_pvm {
        let out = time.clone();
        let load = move |_: &str, _: &[String], task: Task<Node>| -> Result<Running, PvmError> {
            let out = out.clone();
            Ok(Box::pin(async move {
                let took = run_pvm(&task, &job).await.map_err(|error| match error {
                    CallError::Fault(fault) => fault,
                    CallError::Pvm(error) => Fault::Program {
                        task: task.tid(),
                        why: error.to_string(),
                    },
                })?;
                note(task.node().0, took, &out);
                Ok(())
            }))
        };
        let tasks = job.nodes;
        let pvm = Pvm::start(nodes, Box::new(load), "traffic", &[], tasks).unwrap();
        pvm.run(sim, limit).unwrap();
    } else {
        for node in nodes {
            let out = time.clone();
            node.host().clone().spawn("traffic", async move {
                let took = run_rdma(&node, &job).await.unwrap();
                note(node.host().node().0, took, &out);
            });
        }
        sim.run(limit).unwrap();
    }
    time.get().as_us() / 1e6
}

fn seconds(out: &Output) -> f64 {
    let said = text(&out.stdout);
    let last = said.lines().last().expect("the time").trim_end_matches(" s");
    last.parse().expect("a number")
}

/// What tables 3 to 6 are measured with takes the same time as the programs, but for when PVM's tasks begin.
#[test]
fn traffic_alone_takes_as_long_as_the_kernels() {
    let made = Made::new("nas");
    for kernel in KERNELS {
        let job = Job {
            kernel: kernel.parse().unwrap(),
            class: Class::S,
            nodes: 8,
            compute_us: 1e5,
            peer_us: 0.0,
            uncached: 0.0,
        };
        let mut run = std::process::Command::new(made.path("nas-rdma"));
        let out = run.args([kernel, "S", "2", "2", "2", "1e5"]).output().unwrap();
        let (program, alone) = (seconds(&out), traffic(job, false));
        println!("{kernel} RDMA: program {program} s, traffic alone {alone} s");
        assert!((program - alone).abs() < 2e-6, "{kernel} RDMA: {program} and {alone} s");
        let out = made.pvm(&["--nodes", "8"], "nas-pvm", &[kernel, "S", "8", "1e5"]);
        let (program, alone) = (seconds(&out), traffic(job, true));
        println!("{kernel} PVM: program {program} s, traffic alone {alone} s");
        assert!(
            (program / alone - 1.0).abs() < 0.01,
            "{kernel} PVM: {program} and {alone} s"
        );
    }
}

/// A run is like the other, in its times, too; computing is charged to each node for its part.
#[test]
fn times_are_always_the_same() {
    let made = Made::new("nas");
    let seconds = |us: &str| seconds(&made.pvm(&["--nodes", "4"], "nas-pvm", &["cg", "S", "4", us]));
    let (none, some) = (seconds("0"), seconds("4e6"));
    assert_eq!(seconds("0").to_bits(), none.to_bits());
    assert!((some - none - 1.0).abs() < 0.01, "{none} s and {some} s");
}

#[test]
fn what_cannot_run_is_refused() {
    let made = Made::new("nas");
    for (args, why) in [
        (["lu", "S", "2"], "the kernels are ep, cg, ft, mg\n"),
        (["ep", "B", "2"], "the classes are S, W, A\n"),
        (["ep", "S", "3"], "the nodes are a power of two, 128 at most\n"),
        (["ft", "W", "64"], "FT has no more nodes than planes\n"),
        (["ep", "S", "16"], "there are no 16 nodes for it\n"),
    ] {
        let out = made.pvm(&["--nodes", "2"], "nas-pvm", &args);
        assert!(
            !out.status.success() && text(&out.stderr).contains(why),
            "{}",
            text(&out.stderr)
        );
    }
}
