//! `tsunagi wave`: a small run with everything on it visible, and lists of the signals worth looking at first.

use std::fs;
use std::path::Path;

use super::args::{WaveArgs, WaveFormat};
use super::{CliError, table};
use crate::Picos;
use crate::cenju3::params::Config;
use crate::harness::wave::{Probe, WaveRequest};
use crate::repro::cenju3::{AtEnd, Scenario, What, measure_with_wave};
use crate::repro::row::BackendKind;

struct Wave {
    name: &'static str,
    what: What,
}

const WAVES: [Wave; 3] = [
    Wave {
        name: "cenju3/one-word",
        what: What::OneWord,
    },
    Wave {
        name: "cenju3/rmwrite",
        what: What::Rmwrite {
            bytes: 1024,
            calls: 1,
            receiver: true,
        },
    },
    Wave {
        name: "cenju3/invalidate",
        what: What::Stream {
            bytes: 2048,
            transfers: 2,
            at_end: AtEnd::InvalidateStopped,
        },
    },
];

/// Ports of a NIC that tell a transfer's story, in groups: name and bits.
const SIGNALS: [(&str, &[(&str, u32)]); 6] = [
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

/// What `tsunagi wave` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    WAVES.iter().map(|w| w.name)
}

pub fn wave(args: &WaveArgs) -> Result<(), CliError> {
    let Some(wave) = WAVES.iter().find(|w| w.name == args.wave) else {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(CliError::Usage(format!(
            "unknown wave `{}`; known are {known}",
            args.wave
        )));
    };
    let config = args.settings.config()?;
    let stem = wave.name.replace('/', "-");
    let end = match args.format {
        WaveFormat::Vcd => "vcd",
        WaveFormat::Fst => "fst",
    };
    let path = args.out.join(format!("{stem}.{end}"));
    fs::create_dir_all(&args.out).map_err(CliError::file("make the folder", &args.out))?;
    // The machine opens the wave when it starts: find out now whether it can.
    fs::File::create(&path).map_err(CliError::file("write", &path))?;
    let scenario = Scenario {
        backend: BackendKind::Rtl,
        config: Config { pes: 2, ..config },
        what: wave.what.clone(),
    };
    let probe = Probe::new(WaveRequest {
        path: path.clone(),
        from: Picos::ZERO,
        to: None,
    });
    measure_with_wave(&scenario, &probe)?;
    let gtkwave = path.with_extension("gtkw");
    let surfer = path.with_extension("sucl");
    write(&gtkwave, &gtkwave_list(&path))?;
    write(&surfer, &surfer_list())?;
    let mut shown = table::new(&["to look at it", "command"], &[]);
    shown.add_row(["GTKWave", &format!("gtkwave {} {}", path.display(), gtkwave.display())]);
    shown.add_row([
        "Surfer",
        &format!("surfer --command-file {} {}", surfer.display(), path.display()),
    ]);
    table::print(shown.trim_fmt());
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(CliError::file("write", path))
}

/// Sender and receiver, group by group: (heading, full name, bits).
fn signals() -> impl Iterator<Item = (String, Vec<(String, u32)>)> {
    ["nic_0", "nic_1"].into_iter().flat_map(|nic| {
        SIGNALS.iter().map(move |(group, names)| {
            let full = |(name, bits): &(&str, u32)| (format!("{nic}.cenju3_nic.{name}"), *bits);
            (format!("{nic} {group}"), names.iter().map(full).collect())
        })
    })
}

/// A GTKWave save file; it names the wave relative to its own folder.
fn gtkwave_list(wave: &Path) -> String {
    let file = wave.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("[dumpfile] \"{file}\"\n[timestart] 0\n");
    for (group, names) in signals() {
        text += &format!("@200\n-{group}\n");
        for (name, bits) in names {
            let (format, range) = if bits == 1 {
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
fn surfer_list() -> String {
    let mut text = String::new();
    for (group, names) in signals() {
        text += &format!("divider_add {group}\n");
        for (name, _) in names {
            text += &format!("variable_add {name}\n");
        }
    }
    text + "zoom_fit\n"
}
