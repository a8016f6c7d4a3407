//! The NAS kernels give the published values: alone, with RDMA, and with PVM.

mod support;

use std::process::Output;

use support::{Made, text};

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

/// A run is like the other, in its times, too; computing is charged to each node for its part.
#[test]
fn times_are_always_the_same() {
    let made = Made::new("nas");
    let seconds = |us: &str| {
        let out = made.pvm(&["--nodes", "4"], "nas-pvm", &["cg", "S", "4", us]);
        let said = text(&out.stdout);
        let last = said.lines().last().unwrap().trim_end_matches(" s").to_owned();
        last.parse::<f64>().unwrap()
    };
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
