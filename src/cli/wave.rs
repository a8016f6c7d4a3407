//! `tsunagi wave`: a small run with everything on it visible, and lists of the signals worth looking at first.

use std::fs;
use std::path::Path;

use super::args::{Machine, Settings, WaveArgs, WaveFormat};
use super::{CliError, table};
use crate::Picos;
use crate::harness::wave::{Probe, WaveRequest};
use crate::repro::ap1000p::scenario as ap1000p;
use crate::repro::cenju3::{self, AtEnd};
use crate::repro::row::BackendKind;

/// What is shown: a scenario of two nodes.
#[derive(Clone)]
enum What {
    Cenju3(cenju3::What),
    Ap1000p(ap1000p::What),
}

const WAVES: [(&str, What); 7] = [
    ("cenju3/one-word", What::Cenju3(cenju3::What::OneWord)),
    (
        "cenju3/rmwrite",
        What::Cenju3(cenju3::What::Rmwrite {
            bytes: 1024,
            calls: 1,
            receiver: true,
        }),
    ),
    (
        "cenju3/invalidate",
        What::Cenju3(cenju3::What::Stream {
            bytes: 2048,
            transfers: 2,
            at_end: AtEnd::InvalidateStopped,
        }),
    ),
    ("ap1000p/put", What::Ap1000p(ap1000p::What::Put { bytes: 64, count: 1 })),
    (
        "ap1000p/stream",
        What::Ap1000p(ap1000p::What::Put { bytes: 64, count: 8 }),
    ),
    ("ap1000p/get", What::Ap1000p(ap1000p::What::Get { bytes: 64, count: 1 })),
    ("ap1000p/load", What::Ap1000p(ap1000p::What::Load { count: 2 })),
];

impl What {
    fn machine(&self) -> Machine {
        match self {
            What::Cenju3(_) => Machine::Cenju3,
            What::Ap1000p(_) => Machine::Ap1000p,
        }
    }
}

/// Ports of a unit that tell a transfer's story, in groups: name and bits.
type Signals = &'static [(&'static str, &'static [(&'static str, u32)])];

const CENJU3: Signals = &[
    ("clocks", &[("io_clk_i", 1), ("net_clk_i", 1)]),
    (
        "registers",
        &[
            ("host_req_valid_i", 1),
            ("host_req_ready_o", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 8),
            ("host_req_wdata_i", 32),
            ("irq_o", 1),
        ],
    ),
    (
        "memory reads",
        &[
            ("mem_rd_cmd_valid_o", 1),
            ("mem_rd_cmd_ready_i", 1),
            ("mem_rd_cmd_addr_o", 32),
            ("mem_rd_data_valid_i", 1),
            ("mem_rd_data_data_i", 32),
        ],
    ),
    (
        "link out",
        &[
            ("tx_valid_o", 1),
            ("tx_ready_i", 1),
            ("tx_data_o", 16),
            ("tx_last_o", 1),
        ],
    ),
    (
        "link in",
        &[
            ("rx_valid_i", 1),
            ("rx_ready_o", 1),
            ("rx_data_i", 16),
            ("rx_last_i", 1),
        ],
    ),
    (
        "memory writes",
        &[
            ("mem_wr_cmd_valid_o", 1),
            ("mem_wr_cmd_ready_i", 1),
            ("mem_wr_cmd_addr_o", 32),
            ("mem_wr_data_valid_o", 1),
            ("mem_wr_data_data_o", 32),
            ("mem_wr_rsp_valid_i", 1),
        ],
    ),
];

const AP1000P: Signals = &[
    ("clock", &[("clk_i", 1)]),
    (
        "commands",
        &[
            ("store_valid_i", 1),
            ("store_ready_o", 1),
            ("store_page_i", 16),
            ("store_data_i", 32),
        ],
    ),
    (
        "registers",
        &[
            ("host_req_valid_i", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 8),
            ("host_req_wdata_i", 32),
            ("host_rsp_valid_o", 1),
            ("host_rsp_rdata_o", 32),
            ("irq_o", 1),
        ],
    ),
    (
        "remote accesses",
        &[
            ("dsm_req_valid_i", 1),
            ("dsm_req_ready_o", 1),
            ("dsm_req_write_i", 1),
            ("dsm_req_cell_i", 16),
            ("dsm_req_addr_i", 32),
            ("dsm_rsp_valid_o", 1),
            ("dsm_rsp_data_o", 64),
        ],
    ),
    (
        "memory reads",
        &[
            ("mem_rd_cmd_valid_o", 1),
            ("mem_rd_cmd_ready_i", 1),
            ("mem_rd_cmd_addr_o", 32),
            ("mem_rd_cmd_len_o", 8),
            ("mem_rd_data_valid_i", 1),
            ("mem_rd_data_data_i", 32),
        ],
    ),
    (
        "link out",
        &[
            ("tx_valid_o", 1),
            ("tx_vc_o", 2),
            ("tx_data_o", 32),
            ("tx_last_o", 1),
            ("tx_credit_i", 4),
        ],
    ),
    (
        "link in",
        &[
            ("rx_valid_i", 1),
            ("rx_vc_i", 2),
            ("rx_data_i", 32),
            ("rx_last_i", 1),
            ("rx_credit_o", 4),
        ],
    ),
    (
        "memory writes",
        &[
            ("mem_wr_cmd_valid_o", 1),
            ("mem_wr_cmd_ready_i", 1),
            ("mem_wr_cmd_addr_o", 32),
            ("mem_wr_data_valid_o", 1),
            ("mem_wr_data_data_o", 32),
            ("mem_wr_rsp_valid_i", 1),
        ],
    ),
];

/// What `tsunagi wave` takes, of a machine.
pub fn names(machine: Machine) -> Vec<&'static str> {
    let of = WAVES.iter().filter(|(_, what)| what.machine() == machine);
    of.map(|(name, _)| *name).collect()
}

pub fn wave(args: &WaveArgs) -> Result<(), CliError> {
    let Some((name, what)) = WAVES.iter().find(|(name, _)| *name == args.wave) else {
        let known = WAVES.map(|(name, _)| name).join(", ");
        return Err(CliError::Usage(format!(
            "unknown wave `{}`; known are {known}",
            args.wave
        )));
    };
    let scenario = Scenario::new(what, &args.settings)?;
    let stem = name.replace('/', "-");
    let end = match args.format {
        WaveFormat::Vcd => "vcd",
        WaveFormat::Fst => "fst",
    };
    let path = args.out.join(format!("{stem}.{end}"));
    fs::create_dir_all(&args.out).map_err(CliError::file("make the folder", &args.out))?;
    // The machine opens the wave when it starts: find out now whether it can.
    fs::File::create(&path).map_err(CliError::file("write", &path))?;
    let probe = Probe::new(WaveRequest {
        path: path.clone(),
        from: Picos::ZERO,
        to: None,
    });
    scenario.show(&probe)?;
    let signals = signals(what.machine());
    let gtkwave = path.with_extension("gtkw");
    let surfer = path.with_extension("sucl");
    write(&gtkwave, &gtkwave_list(&path, &signals))?;
    write(&surfer, &surfer_list(&signals))?;
    let mut shown = table::new(&["to look at it", "command"], &[]);
    shown.add_row(["GTKWave", &format!("gtkwave {} {}", path.display(), gtkwave.display())]);
    shown.add_row([
        "Surfer",
        &format!("surfer --command-file {} {}", surfer.display(), path.display()),
    ]);
    table::print(shown.trim_fmt());
    Ok(())
}

/// A scenario with the machine's settings.
enum Scenario {
    Cenju3(cenju3::Scenario),
    Ap1000p(ap1000p::Scenario),
}

impl Scenario {
    /// On two nodes of RTL.
    fn new(what: &What, settings: &Settings) -> Result<Scenario, CliError> {
        let backend = BackendKind::Rtl;
        Ok(match what.clone() {
            What::Cenju3(what) => {
                let mut config = settings.cenju3()?;
                config.pes = 2;
                Scenario::Cenju3(cenju3::Scenario { backend, config, what })
            }
            What::Ap1000p(what) => {
                let mut config = settings.ap1000p()?;
                (config.columns, config.rows) = (2, 1);
                Scenario::Ap1000p(ap1000p::Scenario { backend, config, what })
            }
        })
    }

    fn show(&self, probe: &Probe) -> Result<(), CliError> {
        match self {
            Scenario::Cenju3(scenario) => drop(cenju3::measure_with_wave(scenario, probe)?),
            Scenario::Ap1000p(scenario) => drop(ap1000p::measure(scenario, probe)?),
        }
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(CliError::file("write", path))
}

/// A heading, and the full names of its signals with their bits.
type Group = (String, Vec<(String, u32)>);

/// Sender and receiver, group by group.
fn signals(machine: Machine) -> Vec<Group> {
    let (nodes, module, groups) = match machine {
        Machine::Cenju3 => (["nic_0", "nic_1"], "cenju3_nic", CENJU3),
        Machine::Ap1000p => (["cell0", "cell1"], "ap1000p_cell", AP1000P),
    };
    let of = |node: &'static str| {
        groups.iter().map(move |(group, names)| {
            let full = |(name, bits): &(&str, u32)| (format!("{node}.{module}.{name}"), *bits);
            (format!("{node} {group}"), names.iter().map(full).collect())
        })
    };
    nodes.into_iter().flat_map(of).collect()
}

/// A GTKWave save file; it names the wave relative to its own folder.
fn gtkwave_list(wave: &Path, signals: &[Group]) -> String {
    let file = wave.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("[dumpfile] \"{file}\"\n[timestart] 0\n");
    for (group, names) in signals {
        text += &format!("@200\n-{group}\n");
        for (name, bits) in names {
            let (format, range) = if *bits == 1 {
                ("@28", String::new())
            } else {
                ("@22", format!("[{}:0]", bits - 1))
            };
            text += &format!("{format}\n{name}{range}\n");
        }
    }
    text
}

/// A command file of Surfer.
fn surfer_list(signals: &[Group]) -> String {
    let mut text = String::new();
    for (group, names) in signals {
        text += &format!("divider_add {group}\n");
        for (name, _) in names {
            text += &format!("variable_add {name}\n");
        }
    }
    text + "zoom_fit\n"
}
