//! `tsunagi bench`: the speed of the simulation. Only these numbers depend on the computer that runs the command.

use std::time::Instant;

use serde::Serialize;

use super::args::BenchArgs;
use super::table::{self, Table};
use super::{CliError, run};
use crate::harness::params::Settings;
use crate::harness::wave::Probe;
use crate::machine::{Run, Whole};
use crate::net::bench::NetworkRun;
use crate::repro::row::BackendKind;

#[derive(Serialize)]
struct Bench {
    machines: Vec<Line>,
    networks: [Network; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<Speed>,
}

/// A large machine of RTL at work.
#[derive(Serialize)]
struct Speed {
    workload: &'static str,
    cycles: u64,
    /// Simulated cycles per second of CPU time.
    cycles_per_second: f64,
}

impl Speed {
    fn of(whole: &Whole) -> Result<Speed, CliError> {
        let run = (whole.run)()?;
        Ok(Speed {
            workload: whole.title,
            cycles: run.cycles,
            cycles_per_second: run.cycles as f64 / run.cpu.as_secs_f64(),
        })
    }
}

/// A verilated network under traffic.
#[derive(Serialize)]
struct Network {
    traffic: &'static str,
    /// Packets offered per cycle and port.
    offered: f64,
    accepted: f64,
    /// Simulated cycles per second of CPU time.
    cycles_per_second: f64,
}

impl Network {
    fn of(traffic: &'static str, run: NetworkRun) -> Network {
        Network {
            traffic,
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
    /// Bytes transferred.
    bytes: u64,
    seconds: f64,
    /// Bytes of transfer simulated per second of this computer.
    bytes_per_second: f64,
}

/// A speed as CSV has it.
#[derive(Serialize)]
struct Flat {
    machine: &'static str,
    workload: &'static str,
    backend: BackendKind,
    /// Of transfer, in B.
    bytes: Option<u64>,
    bytes_per_second: Option<f64>,
    cycles_per_second: Option<f64>,
}

impl Bench {
    fn lines(&self, machine: &'static str) -> impl Iterator<Item = Flat> {
        let flat = move |workload, backend| Flat {
            machine,
            workload,
            backend,
            bytes: None,
            bytes_per_second: None,
            cycles_per_second: None,
        };
        let machines = self.machines.iter().map(move |line| Flat {
            bytes: Some(line.bytes),
            bytes_per_second: Some(line.bytes_per_second),
            ..flat(line.workload, line.backend)
        });
        let networks = self
            .networks
            .iter()
            .map(|network| (network.traffic, network.cycles_per_second));
        let whole = self.whole.iter().map(|whole| (whole.workload, whole.cycles_per_second));
        machines.chain(networks.chain(whole).map(move |(workload, rate)| Flat {
            cycles_per_second: Some(rate),
            ..flat(workload, BackendKind::Rtl)
        }))
    }
}

pub fn bench(args: &BenchArgs) -> Result<(), CliError> {
    let (bytes, count) = (32 * 1024, 8);
    let amounts = [bytes, count].map(|amount: u32| amount.to_string());
    let options = [("bytes", amounts[0].as_str()), ("count", amounts[1].as_str())];
    let Some(bench) = &args.machine.facts().bench else {
        let text = format!("{} has no workload to measure", args.machine.name());
        return Err(CliError::Usage(text));
    };
    let settings = Settings::default().with(&args.machine.sized(2));
    let mut lines = Vec::new();
    for (workload, scenario) in bench.workloads {
        for backend in [BackendKind::Rtl, BackendKind::Model] {
            let begin = Instant::now();
            args.machine.run(&Run {
                scenario: run::scenario(args.machine, scenario, &options)?,
                options: &options,
                backend,
                settings: &settings,
                probe: &Probe::default(),
            })?;
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
    let [first, second] = (bench.runs)();
    let networks = [
        Network::of(bench.traffic[0], first),
        Network::of(bench.traffic[1], second),
    ];
    let whole = bench.whole.as_ref().map(Speed::of).transpose()?;
    let speeds = Bench {
        machines: lines,
        networks,
        whole,
    };
    if args.format.json {
        table::print_json(&speeds)
    } else if args.format.csv {
        table::print_csv(speeds.lines(args.machine.name()))
    } else {
        print(&speeds, args.machine.name(), bench.network)
    }
}

/// The speeds as tables.
fn print(bench: &Bench, machine: &str, network: &'static str) -> Result<(), CliError> {
    let mut shown = Table::new(
        &["machine", "workload", "backend", "bytes", "seconds", "bytes/s"],
        &[3, 4, 5],
    );
    for line in &bench.machines {
        let numbers = [
            line.bytes.to_string(),
            format!("{:.3}", line.seconds),
            format!("{:.0}", line.bytes_per_second),
        ];
        let [bytes, seconds, rate] = &numbers;
        shown.add_row([machine, line.workload, line.backend.name(), bytes, seconds, rate]);
    }
    table::print(shown)?;
    let columns = [network, "offered", "accepted", "cycles/s"];
    let mut shown = Table::new(&columns, &[1, 2, 3]);
    for network in &bench.networks {
        let (offered, accepted) = (format!("{:.3}", network.offered), format!("{:.3}", network.accepted));
        shown.add_row([
            network.traffic,
            &offered,
            &accepted,
            &format!("{:.0}", network.cycles_per_second),
        ]);
    }
    table::print(shown)?;
    let Some(whole) = &bench.whole else { return Ok(()) };
    let mut shown = Table::new(&["whole machine", "cycles", "cycles/s"], &[1, 2]);
    let numbers = [whole.cycles.to_string(), format!("{:.0}", whole.cycles_per_second)];
    shown.add_row([whole.workload, &numbers[0], &numbers[1]]);
    table::print(shown)
}
