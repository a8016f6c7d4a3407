//! T3 to T6: the NAS kernels by RDMA and by PVM. L and A: lines of communication, and memory of areas.
//!
//! What a node computes is charged, by a time that is fitted to the paper's tables; what it sends is simulated.

use std::cell::Cell;
use std::rc::Rc;

use super::lab::{Lab, Measurement, What};
use super::measure::{MeasureError, Sim, Values};
use super::{pvm, rdma};
use crate::cppacs::grid;
use crate::cppacs::host::Node;
use crate::cppacs::host::layout;
use crate::cppacs::host::pvm::error::{CallError, Fault, PvmError};
use crate::cppacs::host::pvm::link::area_bytes;
use crate::cppacs::host::pvm::task::Task;
use crate::cppacs::host::pvm::{Pvm, Running};
use crate::cppacs::kernels::{Class, Job, Kernel, rdma_bytes, run_pvm, run_rdma};
use crate::cppacs::lines;
use crate::cppacs::params::Config;
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{greatest, least};
use crate::{NodeId, Picos};

/// No run is as long, in simulated time.
const LIMIT: Picos = Picos::from_ns(1_000_000_000_000_000);

/// Runs a kernel's traffic: node 0's time.
pub fn run(sim: &mut Sim, job: Job, by_pvm: bool) -> Result<Values, MeasureError> {
    let (sim, nodes) = sim.parts();
    let out = Rc::new(Cell::new(f64::NAN));
    let note = |node: NodeId, took: Picos, out: &Cell<f64>| {
        if node.0 == 0 {
            out.set(took.as_us() / 1e6);
        }
    };
    if by_pvm {
        let kept = out.clone();
        let load = move |_: &str, _: &[String], task: Task<Node>| -> Result<Running, PvmError> {
            let out = kept.clone();
            Ok(Box::pin(async move {
                let took = run_pvm(&task, &job).await.map_err(|error| match error {
                    CallError::Fault(fault) => fault,
                    CallError::Pvm(error) => Fault::Program {
                        task: task.tid(),
                        why: error.to_string(),
                    },
                })?;
                note(task.node(), took, &out);
                Ok(())
            }))
        };
        Pvm::start(nodes, Box::new(load), "kernel", &[], job.nodes)?.run(sim, LIMIT)?;
    } else {
        for node in nodes {
            let out = out.clone();
            node.host().clone().spawn_checked("kernel", async move {
                let took = run_rdma(&node, &job).await?;
                note(node.id(), took, &out);
                Ok::<(), crate::cppacs::host::RdmaError>(())
            });
        }
        sim.run(LIMIT)?;
    }
    Ok(vec![("seconds", out.get())])
}

/// Nodes, and the paper's seconds: RDMA, PVM and their ratio; `None`: the cell is empty.
type Cells = (u32, [Option<f64>; 3]);

/// A table of the paper.
struct Table {
    number: u32,
    kernel: Kernel,
    /// What computing takes on one node.
    compute: &'static str,
    cells: &'static [Cells],
}

const fn whole(nodes: u32, rdma: f64, pvm: f64, ratio: f64) -> Cells {
    (nodes, [Some(rdma), Some(pvm), Some(ratio)])
}

const fn by_pvm(nodes: u32, pvm: f64) -> Cells {
    (nodes, [None, Some(pvm), None])
}

const EP: Table = Table {
    number: 3,
    kernel: Kernel::Ep,
    compute: "ep_compute",
    cells: &[
        whole(2, 219.255, 222.904, 1.017),
        whole(4, 110.226, 111.908, 1.015),
        whole(8, 55.041, 55.351, 1.006),
        whole(16, 27.708, 27.711, 1.000),
        whole(32, 13.834, 13.861, 1.002),
        whole(64, 6.953, 6.966, 1.002),
        whole(128, 3.462, 3.471, 1.003),
    ],
};
const CG: Table = Table {
    number: 4,
    kernel: Kernel::Cg,
    compute: "cg_compute",
    cells: &[
        whole(4, 11.702, 12.435, 1.063),
        whole(8, 6.319, 7.309, 1.157),
        whole(16, 4.029, 5.010, 1.243),
        whole(32, 3.848, 5.038, 1.309),
        whole(64, 5.368, 7.505, 1.398),
    ],
};
const FT: Table = Table {
    number: 5,
    kernel: Kernel::Ft,
    compute: "ft_compute",
    cells: &[by_pvm(64, 5.364), whole(128, 1.677, 2.812, 1.677)],
};
const MG: Table = Table {
    number: 6,
    kernel: Kernel::Mg,
    compute: "mg_compute",
    cells: &[by_pvm(16, 6.243), by_pvm(32, 3.478), whole(64, 2.605, 3.343, 1.283)],
};

/// A run of a kernel with the costs of a configuration.
pub fn job(config: &Config, kernel: Kernel, class: Class, nodes: u32) -> Job {
    let compute = match kernel {
        Kernel::Ep => config.ep_compute,
        Kernel::Cg => config.cg_compute,
        Kernel::Ft => config.ft_compute,
        Kernel::Mg => config.mg_compute,
    };
    Job {
        kernel,
        class,
        nodes: nodes as usize,
        compute_us: 1e6 * compute,
        peer_us: if kernel == Kernel::Cg { config.cg_peer } else { 0.0 },
        uncached: config.copy_uncached,
    }
}

/// What is fitted to Table 4 beside the time of computing.
const FITTED: [&str; 2] = ["cg_peer", "copy_uncached"];
const WAYS: [&str; 2] = ["rdma", "pvm"];

impl Table {
    fn job(&self, lab: &Lab<'_>, class: Class, nodes: u32) -> Job {
        job(lab.config(), self.kernel, class, nodes)
    }

    /// Seconds of class A on so many nodes; `is_plain`: as if nothing but computing were fitted.
    fn seconds(&self, lab: &Lab<'_>, nodes: u32, way: usize, is_plain: bool) -> f64 {
        let job = self.job(lab, Class::A, nodes);
        let plain = Job {
            peer_us: 0.0,
            uncached: 0.0,
            ..job
        };
        measured(lab, lab.backend(), if is_plain { plain } else { job }, way).get("seconds")
    }

    /// The parameters that a time depends on.
    fn depends(&self, way: usize, is_plain: bool) -> Vec<&'static str> {
        let library = if way == 0 {
            rdma::DEPENDS.to_vec()
        } else {
            pvm::depends()
        };
        let fitted = match (self.kernel, is_plain) {
            (_, true) => &[][..],
            (Kernel::Cg, false) => &FITTED[..1 + way],
            (_, false) => &FITTED[1..1 + way],
        };
        [&library[..], fitted, &[self.compute]].concat()
    }

    /// The cells that are measured: without `--full` those of a few nodes, where each node sends to each other.
    fn cells(&self, lab: &Lab<'_>) -> impl Iterator<Item = &'static Cells> + use<> {
        let is_short = matches!(self.kernel, Kernel::Ft | Kernel::Mg);
        let most = if lab.is_full() || is_short { 128 } else { 16 };
        self.cells.iter().filter(move |(nodes, _)| *nodes <= most)
    }

    fn spec(&self, row: &str, what: String, unit: &'static str) -> Spec {
        Spec::new(format!("table{}.{row}", self.number), what, unit)
    }

    /// The cells that the paper has, and the gap between its columns.
    fn rows(&self, lab: &mut Lab<'_>, ratio: impl Fn(Spec) -> Spec) {
        let name = self.kernel.to_string().to_uppercase();
        for &(nodes, cells) in self.cells(lab) {
            for (way, paper) in cells[..2]
                .iter()
                .enumerate()
                .filter_map(|(way, cell)| Some((way, (*cell)?)))
            {
                let what = format!("{name} by {}, {nodes} nodes", WAYS[way].to_uppercase());
                let spec = self.spec(&format!("{}_{nodes}", WAYS[way]), what, "s");
                let ours = self.seconds(lab, nodes, way, false);
                let spec = spec.paper(paper).depends(&self.depends(way, false));
                // What is fitted must fit.
                let spec = if way == 0 {
                    spec.within(0.95 * paper, 1.05 * paper)
                } else {
                    spec
                };
                lab.row(spec, ours);
            }
            let [Some(rdma), Some(pvm), Some(paper)] = cells else {
                continue;
            };
            let [by_rdma, by_pvm] = [0, 1].map(|way| self.seconds(lab, nodes, way, false));
            let spec = self.spec(
                &format!("ratio_{nodes}"),
                format!("{name}: PVM over RDMA, {nodes} nodes"),
                "",
            );
            let spec = ratio(spec.paper(paper));
            lab.row(spec.depends(&self.depends(1, false)), by_pvm / by_rdma);
            // The paper's gap of EP is no communication.
            if self.kernel == Kernel::Ep {
                continue;
            }
            let [plain_rdma, plain_pvm] = [0, 1].map(|way| self.seconds(lab, nodes, way, true));
            let gaps = [
                ("gap", true, plain_pvm - plain_rdma),
                ("gap_fitted", false, by_pvm - by_rdma),
            ];
            for (row, is_plain, ours) in gaps {
                let with = if is_plain {
                    "nothing is fitted"
                } else {
                    "copies are fitted on CG"
                };
                let what = format!("{name}: PVM less RDMA, {nodes} nodes; {with}");
                let spec = self.spec(&format!("{row}_{nodes}"), what, "s");
                let spec = spec.beside(pvm - rdma, "the difference of the paper's cells");
                // What both compute is no part of it.
                let mut depends = self.depends(1, is_plain);
                depends.retain(|name| *name != self.compute);
                lab.row(spec.depends(&depends), ours);
            }
        }
    }

    /// On the RTL: class S, and whether the model has the same times.
    fn on_rtl(&self, lab: &mut Lab<'_>) {
        let sizes: &[u32] = if lab.is_full() { &[2, 4, 8, 16] } else { &[2, 4] };
        for &nodes in sizes {
            for (way, name) in WAYS.into_iter().enumerate() {
                let job = Job {
                    compute_us: 0.0,
                    peer_us: 0.0,
                    uncached: 0.0,
                    ..self.job(lab, Class::S, nodes)
                };
                let mut depends = self.depends(way, true);
                depends.retain(|name| *name != self.compute);
                let row = format!("{name}_s_{nodes}");
                let what = format!("{} of class S by {name}, {nodes} nodes, without computing", self.kernel);
                let ours = measured(lab, BackendKind::Rtl, job, way).get("seconds");
                lab.row(self.spec(&row, what, "ms").depends(&depends), 1e3 * ours);
                let (config, what) = (machine(lab, nodes), What::Kernel { job, by_pvm: way == 1 });
                lab.agrees(
                    &format!("table{}.{row}", self.number),
                    &config,
                    what,
                    "seconds",
                    &depends,
                );
            }
        }
    }
}

fn machine(lab: &Lab<'_>, nodes: u32) -> Config {
    let (x, y, z) = grid(nodes);
    lab.with(&[("x", x.into()), ("y", y.into()), ("z", z.into())])
}

fn measured(lab: &Lab<'_>, backend: BackendKind, job: Job, way: usize) -> Measurement {
    let config = machine(lab, job.nodes as u32);
    lab.measure_on(backend, &config, What::Kernel { job, by_pvm: way == 1 })
}

pub fn t3(lab: &mut Lab<'_>) {
    if lab.backend() == BackendKind::Rtl {
        return EP.on_rtl(lab);
    }
    // The paper prints 1.000, too: to three digits.
    EP.rows(lab, |spec| spec.within(0.9995, 1.02));
    let cells = EP.cells(lab).map(|&(nodes, _)| nodes);
    let all: Vec<f64> = cells
        .flat_map(|nodes| [0, 1].map(|way| (nodes, way)))
        .map(|(nodes, way)| f64::from(nodes) * EP.seconds(lab, nodes, way, false))
        .collect();
    let spread = greatest(all.iter().copied()) / least(all.iter().copied());
    let spec = EP.spec("spread", "EP: nodes times seconds, greatest over least".into(), "");
    lab.row(spec.within(1.0, 1.015).depends(&EP.depends(1, false)), spread);
}

pub fn t4(lab: &mut Lab<'_>) {
    if lab.backend() == BackendKind::Rtl {
        return CG.on_rtl(lab);
    }
    CG.rows(lab, |spec| spec);
    let nodes: Vec<u32> = CG.cells(lab).map(|&(nodes, _)| nodes).collect();
    let ratio = |lab: &Lab<'_>, nodes| CG.seconds(lab, nodes, 1, false) / CG.seconds(lab, nodes, 0, false);
    let ratios: Vec<f64> = nodes.iter().map(|&nodes| ratio(lab, nodes)).collect();
    let rises = ratios.windows(2).all(|pair| pair[0] < pair[1]);
    let spec = CG.spec("ratio_rises", "CG: the ratio rises with the nodes".into(), "");
    let spec = spec.within(1.0, 1.0).says().depends(&CG.depends(1, false));
    let spec = spec.known_miss("on 64 nodes what PVM costs more is hidden behind the time for each peer");
    lab.row(spec, f64::from(u8::from(rises)));
    for &nodes in &nodes {
        let ours = CG.seconds(lab, nodes, 0, true);
        let what = format!("CG by RDMA, {nodes} nodes, without cg_peer");
        let spec = CG.spec(&format!("plain_{nodes}"), what, "s");
        let paper = CG.cells.iter().find(|cell| cell.0 == nodes).and_then(|cell| cell.1[0]);
        let spec = spec.paper(paper.expect("the paper has it"));
        lab.row(spec.depends(&CG.depends(0, true)), ours);
    }
    if !lab.is_full() {
        return;
    }
    for (row, is_plain, with) in [("minimum", false, "with"), ("plain_minimum", true, "without")] {
        let fastest = nodes
            .iter()
            .map(|&nodes| (nodes, CG.seconds(lab, nodes, 0, is_plain)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let what = format!("CG by RDMA is fastest on, {with} cg_peer");
        let spec = CG.spec(row, what, "nodes").paper(32.0);
        let spec = if is_plain { spec } else { spec.within(32.0, 32.0) };
        let spec = spec.depends(&CG.depends(0, is_plain));
        lab.row(spec, f64::from(fastest.expect("some").0));
    }
}

pub fn t5(lab: &mut Lab<'_>) {
    if lab.backend() == BackendKind::Rtl {
        return FT.on_rtl(lab);
    }
    FT.rows(lab, |spec| spec);
    let [half, whole] = [64, 128].map(|nodes| FT.seconds(lab, nodes, 1, false));
    let spec = FT.spec("pvm_scales", "FT by PVM: 64 nodes over 128".into(), "");
    let spec = spec.paper(1.91).within(1.8, 2.0);
    lab.row(spec.depends(&FT.depends(1, false)), half / whole);
}

pub fn t6(lab: &mut Lab<'_>) {
    if lab.backend() == BackendKind::Rtl {
        return MG.on_rtl(lab);
    }
    MG.rows(lab, |spec| spec);
}

/// Lines of communication, which no machine changes.
pub fn lines(lab: &mut Lab<'_>) {
    let paper = [("CG", [219.0, 32.0]), ("FT", [97.0, 34.0])];
    for files in &lines::KERNELS {
        let stated = paper.iter().find(|(kernel, _)| *kernel == files.kernel);
        let ours = [files.rdma, files.pvm].map(|files| lines::count(files) as f64);
        for (way, name) in WAYS.into_iter().enumerate() {
            let kernel = files.kernel.to_lowercase();
            let what = format!("{}: lines of communication, {}", files.kernel, name.to_uppercase());
            let spec = Spec::new(format!("sec6.3.{kernel}_{name}"), what, "lines");
            let spec = match stated {
                Some((_, lines)) => spec.beside(
                    lines[way],
                    "the paper's programs, counted by a rule that it does not give",
                ),
                None => spec,
            };
            lab.row(spec, ours[way]);
        }
        let spec = Spec::new(
            format!("sec6.3.{}_fewer", files.kernel.to_lowercase()),
            format!("{}: lines of PVM over those of RDMA", files.kernel),
            "",
        );
        lab.row(spec.within(0.0, 0.99).says(), ours[1] / ours[0]);
    }
}

/// Bytes of a node's areas, and from where on the memory does not suffice.
pub fn areas(lab: &mut Lab<'_>) {
    let config = lab.config();
    let room = u64::from(config.mem_bytes - layout::AREA);
    let of_pvm = |nodes: u32| area_bytes(config.pvm_area, config.pvm_buffers, nodes as usize);
    let of = |kernel: Kernel, nodes: u32| {
        rdma_bytes(&Job {
            kernel,
            class: Class::A,
            nodes: nodes as usize,
            compute_us: 0.0,
            peer_us: 0.0,
            uncached: 0.0,
        })
    };
    let mb = |bytes: u64| bytes as f64 / 1e6;
    for nodes in [16, 64, 128, 1024] {
        let what = format!("areas of PVM's library, {nodes} tasks");
        let spec = Spec::new(format!("areas.pvm_{nodes}"), what, "MB");
        lab.row(spec.depends(&["pvm_area", "pvm_buffers"]), mb(of_pvm(nodes)));
    }
    for kernel in [Kernel::Ep, Kernel::Cg, Kernel::Ft, Kernel::Mg] {
        for nodes in [16, 64, 128] {
            let what = format!(
                "objects of {} by RDMA, class A, {nodes} nodes",
                kernel.to_string().to_uppercase()
            );
            let spec = Spec::new(format!("areas.{kernel}_{nodes}"), what, "MB");
            lab.row(spec, mb(of(kernel, nodes)));
        }
    }
    let most = (2..2048).take_while(|&nodes| of_pvm(nodes) <= room).last();
    let spec = Spec::new(
        "areas.pvm_most",
        "most tasks of PVM that the memory suffices for",
        "tasks",
    );
    let spec = spec.depends(&["mem_bytes", "pvm_area", "pvm_buffers"]);
    // Table 3 has 128.
    lab.row(spec.within(128.0, f64::INFINITY), most.map_or(f64::NAN, f64::from));
    let fewest = (0..8).map(|log| 1 << log).find(|&nodes| of(Kernel::Ft, nodes) <= room);
    let spec = Spec::new(
        "areas.ft_fewest",
        "fewest nodes whose memory suffices for FT by RDMA, class A",
        "nodes",
    );
    lab.row(spec.depends(&["mem_bytes"]), fewest.map_or(f64::NAN, f64::from));
}
