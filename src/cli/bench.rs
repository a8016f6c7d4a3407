//! `tsunagi bench`: how fast the simulation is. The only numbers of the command that depend on the computer it runs on.

use std::time::Instant;

use serde::Serialize;

use super::args::BenchArgs;
use super::{CliError, table};
use crate::cenju3::params::Config;
use crate::net::bench::uniform;
use crate::repro::cenju3::{AtEnd, Scenario, What, measure};
use crate::repro::row::BackendKind;

#[derive(Serialize)]
struct Bench {
    machines: Vec<Line>,
    networks: Vec<Network>,
}

/// 256 ports, four stages of verilated 4x4 switches, uniform one-word packets.
#[derive(Serialize)]
struct Network {
    /// Packets that wished to start, a cycle and port.
    offered: f64,
    accepted: f64,
    /// Simulated cycles per second of CPU time.
    cycles_per_second: f64,
}

impl Network {
    fn measured(load: f64) -> Network {
        const CYCLES: u64 = 20_000;
        let run = uniform(load, CYCLES, 1);
        Network {
            offered: run.offered,
            accepted: run.accepted,
            cycles_per_second: run.cycles_per_second(),
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
    let (bytes, transfers) = (32 * 1024, 8);
    let workloads = [
        (
            "DMA stream of 2 PEs",
            What::Stream {
                bytes,
                transfers,
                at_end: AtEnd::Nothing,
            },
        ),
        (
            "CJrmwrite of 2 PEs",
            What::Rmwrite {
                bytes,
                calls: transfers,
                receiver: true,
            },
        ),
    ];
    let mut lines = Vec::new();
    for (workload, what) in workloads {
        for backend in [BackendKind::Rtl, BackendKind::Model] {
            let scenario = Scenario {
                backend,
                config: Config::paper(),
                what: what.clone(),
            };
            let begin = Instant::now();
            measure(&scenario)?;
            let seconds = begin.elapsed().as_secs_f64();
            let bytes = u64::from(bytes) * u64::from(transfers);
            lines.push(Line {
                workload,
                backend,
                bytes,
                seconds,
                bytes_per_second: bytes as f64 / seconds,
            });
        }
    }
    let networks: Vec<Network> = [0.3, 0.6].map(Network::measured).into();
    if args.json {
        table::print_json(&Bench {
            machines: lines,
            networks,
        });
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
    table::print(shown.trim_fmt());
    let columns = ["network of 256 ports, 4x4 switches", "offered", "accepted", "cycles/s"];
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
    table::print(shown.trim_fmt());
    Ok(())
}
