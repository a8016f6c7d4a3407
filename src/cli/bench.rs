//! `tsunagi bench`: how fast the simulation is. The only numbers of the command that depend on the computer it runs on.

use std::time::Instant;

use serde::Serialize;

use super::args::{BenchArgs, Machine};
use super::{CliError, table};
use crate::harness::wave::Probe;
use crate::net::bench::{NetworkRun, torus_uniform, uniform};
use crate::net::torus::Torus;
use crate::repro::row::BackendKind;
use crate::repro::{ap1000p::scenario as ap1000p, cenju3};
use crate::{ap1000p::params::Config as Ap1000pConfig, cenju3::params::Config as Cenju3Config};

#[derive(Serialize)]
struct Bench {
    machines: Vec<Line>,
    networks: Vec<Network>,
}

/// 256 ports of a verilated network, uniform one-word packets.
#[derive(Serialize)]
struct Network {
    /// Packets that wished to start, a cycle and port.
    offered: f64,
    accepted: f64,
    /// Simulated cycles per second of CPU time.
    cycles_per_second: f64,
}

impl From<NetworkRun> for Network {
    fn from(run: NetworkRun) -> Network {
        Network {
            offered: run.offered,
            accepted: run.accepted,
            cycles_per_second: run.cycles_per_second(),
        }
    }
}

/// A machine's network, and its runs.
fn networks(machine: Machine) -> (&'static str, Vec<Network>) {
    const CYCLES: u64 = 20_000;
    let (name, runs) = match machine {
        Machine::Cenju3 => (
            "network of 256 ports, 4x4 switches",
            [0.3, 0.6].map(|load| uniform(load, CYCLES, 1)),
        ),
        Machine::Ap1000p => (
            "torus of 16x16 routers",
            [0.05, 0.15].map(|load| torus_uniform(Torus::new(16, 16), load, CYCLES / 4, 1).network),
        ),
    };
    (name, runs.map(Network::from).into())
}

/// Simulates a workload.
type Run = Box<dyn Fn(BackendKind) -> Result<(), CliError>>;

/// What goes through two nodes of a machine, in `count` transfers of `bytes`: name and making.
fn workloads(machine: Machine, bytes: u32, count: u32) -> [(&'static str, Run); 2] {
    match machine {
        Machine::Cenju3 => {
            let run = |what: cenju3::What| -> Run {
                Box::new(move |backend| {
                    let (config, what) = (Cenju3Config::paper(), what.clone());
                    cenju3::measure(&cenju3::Scenario { backend, config, what })?;
                    Ok(())
                })
            };
            let (transfers, at_end) = (count, cenju3::AtEnd::Nothing);
            let rmwrite = cenju3::What::Rmwrite {
                bytes,
                calls: count,
                receiver: true,
            };
            [
                (
                    "DMA stream of 2 PEs",
                    run(cenju3::What::Stream {
                        bytes,
                        transfers,
                        at_end,
                    }),
                ),
                ("CJrmwrite of 2 PEs", run(rmwrite)),
            ]
        }
        Machine::Ap1000p => {
            let run = |what: ap1000p::What| -> Run {
                Box::new(move |backend| {
                    let mut config = Ap1000pConfig::paper();
                    (config.columns, config.rows) = (2, 1);
                    let what = what.clone();
                    ap1000p::measure(&ap1000p::Scenario { backend, config, what }, &Probe::default())?;
                    Ok(())
                })
            };
            [
                ("PUT between 2 cells", run(ap1000p::What::Put { bytes, count })),
                ("GET between 2 cells", run(ap1000p::What::Get { bytes, count })),
            ]
        }
    }
}

#[derive(Serialize)]
struct Line {
    workload: &'static str,
    backend: BackendKind,
    /// Bytes that went through the machine.
    bytes: u64,
    seconds: f64,
    /// Bytes of transfer simulated per second of this computer.
    bytes_per_second: f64,
}

pub fn bench(args: &BenchArgs) -> Result<(), CliError> {
    let (bytes, count) = (32 * 1024, 8);
    let mut lines = Vec::new();
    for (workload, run) in workloads(args.machine, bytes, count) {
        for backend in [BackendKind::Rtl, BackendKind::Model] {
            let begin = Instant::now();
            run(backend)?;
            let seconds = begin.elapsed().as_secs_f64();
            let bytes = u64::from(bytes) * u64::from(count);
            lines.push(Line {
                workload,
                backend,
                bytes,
                seconds,
                bytes_per_second: bytes as f64 / seconds,
            });
        }
    }
    let (network, networks) = networks(args.machine);
    if args.json {
        table::print_json(&Bench {
            machines: lines,
            networks,
        })?;
        return Ok(());
    }
    let mut shown = table::new(
        &["machine", "workload", "backend", "bytes", "seconds", "bytes/s"],
        &[3, 4, 5],
    );
    for line in &lines {
        let numbers = [
            line.bytes.to_string(),
            format!("{:.3}", line.seconds),
            format!("{:.0}", line.bytes_per_second),
        ];
        let [bytes, seconds, rate] = &numbers;
        shown.add_row([
            args.machine.name(),
            line.workload,
            line.backend.name(),
            bytes,
            seconds,
            rate,
        ]);
    }
    table::print(shown.trim_fmt())?;
    let columns = [network, "offered", "accepted", "cycles/s"];
    let mut shown = table::new(&columns, &[1, 2, 3]);
    for network in &networks {
        let (offered, accepted) = (format!("{:.3}", network.offered), format!("{:.3}", network.accepted));
        shown.add_row([
            "uniform one-word packets",
            &offered,
            &accepted,
            &format!("{:.0}", network.cycles_per_second),
        ]);
    }
    table::print(shown.trim_fmt())?;
    Ok(())
}
