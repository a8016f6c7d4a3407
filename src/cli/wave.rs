//! `tsunagi wave`: a small run with everything on it visible, and lists of the signals worth looking at first.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::args::{Machine, Settings, WaveArgs, WaveFormat};
use super::{CliError, make_folder, remove, table, write};
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
    let files = make(name, what, &args.settings, args.format, &args.out)?;
    let mut shown = table::new(&["to look at it", "command"], &[]);
    shown.add_row(["GTKWave", &files.gtkwave()]);
    shown.add_row(["Surfer", &files.surfer()]);
    table::print(shown.trim_fmt())
}

/// Leaves a machine's first wave in `folder`.
pub fn first(machine: Machine, settings: &Settings, folder: &Path) -> Result<Files, CliError> {
    let mut waves = WAVES.iter().filter(|(_, what)| what.machine() == machine);
    let (name, what) = waves.next().expect("every machine has one");
    make(name, what, settings, WaveFormat::Fst, folder)
}

/// A wave, and its lists of signals.
pub struct Files {
    wave: PathBuf,
    gtkwave: PathBuf,
    surfer: PathBuf,
}

impl Files {
    /// The command that shows it in GTKWave.
    pub fn gtkwave(&self) -> String {
        format!("gtkwave {} {}", self.wave.display(), self.gtkwave.display())
    }

    /// The same in Surfer.
    fn surfer(&self) -> String {
        format!(
            "surfer --command-file {} {}",
            self.surfer.display(),
            self.wave.display()
        )
    }
}

fn make(name: &str, what: &What, settings: &Settings, format: WaveFormat, folder: &Path) -> Result<Files, CliError> {
    let scenario = Scenario::new(what, settings)?;
    let end = match format {
        WaveFormat::Vcd => "vcd",
        WaveFormat::Fst => "fst",
    };
    let path = folder.join(format!("{}.{end}", name.replace('/', "-")));
    make_folder(folder)?;
    // The machine opens the wave when it starts: find out now whether it can.
    File::create(&path).map_err(CliError::file("write", &path))?;
    let probe = Probe::new(WaveRequest {
        path: path.clone(),
        from: Picos::ZERO,
        to: None,
    });
    let event = scenario.show(&probe).inspect_err(|_| remove(&path))?;
    probe.written().map_err(CliError::file("write", &path))?;
    let view = View {
        event,
        end: probe.reached(),
    };
    let signals = signals(what.machine());
    let files = Files {
        gtkwave: path.with_extension("gtkw"),
        surfer: path.with_extension("sucl"),
        wave: path,
    };
    write(&files.gtkwave, &gtkwave_list(&files.wave, &signals, &view))?;
    write(&files.surfer, &surfer_list(&signals, &view))?;
    Ok(files)
}

/// What the viewers open on.
struct View {
    /// The sending link's first word.
    event: Picos,
    /// Of the wave.
    end: Picos,
}

/// How much of a wave a viewer shows: so that single edges of the clocks can be seen, and a packet's way.
const SHOWN: Picos = Picos::from_ns(5_000);
/// How much of it is before the event.
const BEFORE: Picos = Picos::from_ns(1_000);

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

    /// Gives the time of the sending link's first word.
    fn show(&self, probe: &Probe) -> Result<Picos, CliError> {
        let event = match self {
            Scenario::Cenju3(scenario) => cenju3::measure_with_wave(scenario, probe)?.first_flit,
            Scenario::Ap1000p(scenario) => ap1000p::measure(scenario, probe)?.first_word,
        };
        event.ok_or_else(|| CliError::Failed("no word left on the sending link".into()))
    }
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

/// A GTKWave save file, with the primary marker on the event; it names the wave relative to its own folder.
fn gtkwave_list(wave: &Path, signals: &[Group], view: &View) -> String {
    // Its window, and the columns of names and values.
    const SIZE: [u32; 2] = [1400, 900];
    const NAMES: u32 = 400;
    let file = wave.file_name().unwrap_or_default().to_string_lossy();
    // 200 pixels show 2 to the power of minus the zoom, in picoseconds.
    let zoom = -(SHOWN.0 as f64 * 200.0 / f64::from(SIZE[0] - NAMES)).log2();
    let (start, marker) = (view.event.saturating_sub(BEFORE).0, view.event.0);
    let mut text = format!(
        "[dumpfile] \"{file}\"\n[timestart] {start}\n[size] {} {}\n[sst_expanded] 0\n[signals_width] {}\n*{zoom:.6} {marker}{}\n",
        SIZE[0],
        SIZE[1],
        NAMES / 2,
        " -1".repeat(26)
    );
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

/// A command file of Surfer, with the cursor on the event. Every argument is one word.
fn surfer_list(signals: &[Group], view: &View) -> String {
    let mut text = String::new();
    for (group, names) in signals {
        text += &format!("divider_add {}\n", group.replace(' ', "_"));
        for (name, _) in names {
            text += &format!("variable_add {name}\n");
        }
    }
    // Each halves what is shown of the middle; setting the cursor then goes to it.
    let halvings = (view.end.0 / SHOWN.0).checked_ilog2().unwrap_or(0);
    text += "zoom_fit\n";
    text += &"zoom_in\n".repeat(halvings as usize);
    text + &format!("cursor_set {}\n", view.event.0)
}
