//! `tsunagi wave`: a small run with all signals visible, and lists of the signals to look at first.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::args::{WaveArgs, WaveFormat};
use super::table::{self, Table};
use super::{CliError, make_folder, remove, run, write};
use crate::Picos;
use crate::harness::names;
use crate::harness::params::Settings;
use crate::harness::wave::{Probe, WaveRequest};
use crate::machine::{Machine, Run, Wave};
use crate::machines;
use crate::repro::row::BackendKind;

/// The names of a machine's waves on the command line: `cenju3/one-word`.
pub fn names(machine: &dyn Machine) -> Vec<String> {
    let name = |wave: &Wave| format!("{}/{}", machine.name(), wave.name);
    machine.facts().waves.iter().map(name).collect()
}

pub fn wave(args: &WaveArgs) -> Result<(), CliError> {
    let named = args.wave.split_once('/').and_then(|(machine, name)| {
        let machine = machines::by_name(machine)?;
        Some((machine, machine.facts().waves.iter().find(|wave| wave.name == name)?))
    });
    let Some((machine, wave)) = named else {
        let known: Vec<String> = machines::all().iter().flat_map(|machine| names(*machine)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let text = format!("unknown wave `{}`; {}", args.wave, names::propose(&args.wave, &known));
        return Err(CliError::Usage(text));
    };
    let files = make(machine, wave, &args.set.settings(), args.format, &args.out)?;
    let mut shown = Table::new(&["viewer", "command"], &[]);
    shown.add_row(["GTKWave", &files.gtkwave()]);
    shown.add_row(["Surfer", &files.surfer()]);
    table::print(shown)
}

/// Writes a machine's first wave to `folder`.
pub fn first(machine: &dyn Machine, settings: &Settings, folder: &Path) -> Result<Files, CliError> {
    make(machine, &machine.facts().waves[0], settings, WaveFormat::Fst, folder)
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

    /// The command that shows it in Surfer.
    fn surfer(&self) -> String {
        format!(
            "surfer --command-file {} {}",
            self.surfer.display(),
            self.wave.display()
        )
    }
}

fn make(
    machine: &dyn Machine,
    wave: &Wave,
    settings: &Settings,
    format: WaveFormat,
    folder: &Path,
) -> Result<Files, CliError> {
    // Bad settings fail before a file exists.
    let settings = settings.with(&machine.sized(2));
    machine.values(&settings)?;
    let end = match format {
        WaveFormat::Vcd => "vcd",
        WaveFormat::Fst => "fst",
    };
    let path = folder.join(format!("{}-{}.{end}", machine.name(), wave.name));
    make_folder(folder)?;
    // The machine opens the wave when it starts; a file that cannot be created must fail now.
    File::create(&path).map_err(CliError::file("write", &path))?;
    let probe = Probe::new(WaveRequest {
        path: path.clone(),
        from: Picos::ZERO,
        to: None,
    })
    .with_lanes();
    let event = show(machine, wave, &settings, &probe).inspect_err(|_| remove(&path))?;
    probe.written().map_err(CliError::file("write", &path))?;
    let view = View {
        event,
        end: probe.reached(),
    };
    let lanes = lanes(machine, &probe.lanes());
    let signals = signals(machine);
    let files = Files {
        gtkwave: path.with_extension("gtkw"),
        surfer: path.with_extension("sucl"),
        wave: path,
    };
    write(&files.gtkwave, &gtkwave_list(&files.wave, &lanes, &signals, &view))?;
    write(&files.surfer, &surfer_list(&lanes, &signals, &view))?;
    Ok(files)
}

/// The times that the viewers open on.
struct View {
    /// The sending link's first word.
    event: Picos,
    /// The end of the wave.
    end: Picos,
}

/// The time that a viewer shows: single clock edges are visible, and the way of a packet.
const SHOWN: Picos = Picos::from_ns(5_000);
/// The part of it before the event.
const BEFORE: Picos = Picos::from_ns(1_000);

/// Runs a wave's scenario on the RTL. Returns the time of the first word on the sending link.
fn show(machine: &dyn Machine, wave: &Wave, settings: &Settings, probe: &Probe) -> Result<Picos, CliError> {
    let measured = machine.run(&Run {
        scenario: run::scenario(machine, wave.scenario, wave.options)?,
        options: wave.options,
        backend: BackendKind::Rtl,
        settings,
        probe,
    })?;
    let none = || CliError::Failed("no word left on the sending link".into());
    measured.first_word.ok_or_else(none)
}

/// A heading, and the full names of its signals with their widths in bits.
type Group = (String, Vec<(String, u32)>);

/// The signals of sender and receiver, group by group.
fn signals(machine: &dyn Machine) -> Vec<Group> {
    let shown = &machine.facts().shown;
    let unit = shown.unit;
    let of = |node: &'static str| {
        shown.signals.iter().map(move |(group, names)| {
            let full = |(name, bits): &(&str, u32)| (format!("{node}.{unit}.{name}"), *bits);
            (format!("{node} {group}"), names.iter().map(full).collect())
        })
    };
    shown.nodes.into_iter().flat_map(of).collect()
}

/// The lanes of sender and receiver among those of the wave, group by group.
fn lanes(machine: &dyn Machine, all: &[String]) -> Vec<(String, Vec<String>)> {
    let of = |node: &&str| {
        let own = all.iter().filter(|path| path.split('.').nth(1) == Some(node));
        (format!("{node} lanes"), own.cloned().collect::<Vec<_>>())
    };
    let groups = machine.facts().shown.nodes.iter().map(of);
    groups.filter(|(_, own)| !own.is_empty()).collect()
}

/// A GTKWave save file with the primary marker on the event. It names the wave relative to its own folder.
fn gtkwave_list(wave: &Path, lanes: &[(String, Vec<String>)], signals: &[Group], view: &View) -> String {
    // The size of the window in pixels, and the width of the columns of names and values.
    const SIZE: [u32; 2] = [1400, 900];
    const NAMES: u32 = 400;
    let file = wave.file_name().unwrap_or_default().to_string_lossy();
    // 200 pixels show 2^-zoom picoseconds.
    let zoom = -(SHOWN.0 as f64 * 200.0 / f64::from(SIZE[0] - NAMES)).log2();
    let (start, marker) = (view.event.saturating_sub(BEFORE).0, view.event.0);
    let mut text = format!(
        "[dumpfile] \"{file}\"\n[timestart] {start}\n[size] {} {}\n[sst_expanded] 0\n\
         [signals_width] {}\n*{zoom:.6} {marker}{}\n",
        SIZE[0],
        SIZE[1],
        NAMES / 2,
        " -1".repeat(26)
    );
    for (group, names) in lanes {
        text += &format!("@200\n-{group}\n");
        for name in names {
            // As ASCII, to the right; a lane has 32 bytes.
            text += &format!("@820\n{name}[255:0]\n");
        }
    }
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

/// A command file of Surfer with the cursor on the event. Every argument is one word.
fn surfer_list(lanes: &[(String, Vec<String>)], signals: &[Group], view: &View) -> String {
    let mut text = String::new();
    let mut rows = 0u32..;
    for (group, names) in lanes {
        text += &format!("divider_add {}\n", group.replace(' ', "_"));
        rows.next();
        for (name, row) in names.iter().zip(&mut rows) {
            text += &format!(
                "variable_add {name}\nitem_focus {}\nitem_set_format ASCII\n",
                letters(row)
            );
        }
    }
    // A focused row would be where the next ones go.
    text += "item_unfocus\n";
    for (group, names) in signals {
        text += &format!("divider_add {}\n", group.replace(' ', "_"));
        for (name, _) in names {
            text += &format!("variable_add {name}\n");
        }
    }
    // Each `zoom_in` halves the time shown around the middle; `cursor_set` then scrolls to the event.
    let halvings = (view.end.0 / SHOWN.0).checked_ilog2().unwrap_or(0);
    text += "zoom_fit\n";
    text += &"zoom_in\n".repeat(halvings as usize);
    text + &format!("cursor_set {}\n", view.event.0)
}

/// A row's number as Surfer takes it: in hexadecimal, with the letters from a to p as digits.
fn letters(row: u32) -> String {
    let letter = |digit: char| char::from(b'a' + digit.to_digit(16).unwrap_or_default() as u8);
    format!("{row:x}").chars().map(letter).collect()
}
