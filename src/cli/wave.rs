//! `tsunagi wave`: a small run with all signals visible, and lists of the signals to look at first.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::args::{WaveArgs, WaveFormat};
use super::table::{self, Table};
use super::{CliError, make_folder, remove, run, write};
use crate::Picos;
use crate::harness::names::{self, Names};
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

    /// The command that shows it in Surfer, which looks for names in the folder that it runs in.
    fn surfer(&self) -> String {
        let file = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!(
            "(cd {} && surfer --command-file {} {})",
            self.wave.parent().unwrap_or(Path::new(".")).display(),
            file(&self.surfer),
            file(&self.wave)
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
    let mappings = folder.join(MAPPINGS);
    make_folder(&mappings)?;
    for named in tables(&signals) {
        write(&folder.join(named.file()), &named.gtkwave())?;
        write(&mappings.join(named.file()), &named.surfer())?;
    }
    write(
        &files.gtkwave,
        &gtkwave_list(&files.gtkwave, &files.wave, &lanes, &signals, &view)?,
    )?;
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

/// Where Surfer looks for names of values.
const MAPPINGS: &str = ".surfer/mappings";

/// Names for the values of signals of so many bits.
#[derive(Clone, Copy, PartialEq)]
struct Named {
    names: &'static Names,
    bits: u32,
}

impl Named {
    /// One word, by which Surfer knows it.
    fn name(self) -> String {
        format!("{}_{}", self.names.name, self.bits)
    }

    /// The file's name for both viewers.
    fn file(self) -> String {
        self.name() + ".txt"
    }

    /// A translate filter of GTKWave: values as it shows them, in hexadecimal.
    fn gtkwave(self) -> String {
        let digits = self.bits.div_ceil(4) as usize;
        let line = |(value, name): &(u64, &str)| format!("{value:0digits$X} {name}\n");
        self.names.values.iter().map(line).collect()
    }

    /// A mapping of Surfer.
    fn surfer(self) -> String {
        let line = |(value, name): &(u64, &str)| format!("{value:#x} {name}\n");
        let head = format!("Name: {}\nBits: {}\n", self.name(), self.bits);
        head + &self.names.values.iter().map(line).collect::<String>()
    }
}

/// A signal's full name, its width in bits, and the names of its values.
struct Signal {
    name: String,
    bits: u32,
    names: Option<&'static Names>,
}

impl Signal {
    fn named(&self) -> Option<Named> {
        let (names, bits) = (self.names?, self.bits);
        Some(Named { names, bits })
    }
}

/// The names in these groups, each once.
fn tables(signals: &[Group]) -> Vec<Named> {
    let mut all = Vec::new();
    for named in signals.iter().flat_map(|group| &group.1).filter_map(Signal::named) {
        if !all.contains(&named) {
            all.push(named);
        }
    }
    all
}

/// A heading, and its signals.
type Group = (String, Vec<Signal>);

/// The signals of sender and receiver, group by group.
fn signals(machine: &dyn Machine) -> Vec<Group> {
    let shown = &machine.facts().shown;
    let unit = shown.unit;
    let of = |node: &'static str| {
        shown.signals.iter().map(move |(group, names)| {
            let full = |(name, bits): &(&str, u32)| Signal {
                name: format!("{node}.{unit}.{name}"),
                bits: *bits,
                names: machine
                    .names()
                    .iter()
                    .find(|(of, _)| of == name)
                    .map(|(_, names)| *names),
            };
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

/// A GTKWave save file with the primary marker on the event. It names the wave relative to its own folder. Files of
/// names have absolute paths, which GTKWave changes as the path of this file has changed.
fn gtkwave_list(
    list: &Path,
    wave: &Path,
    lanes: &[(String, Vec<String>)],
    signals: &[Group],
    view: &View,
) -> Result<String, CliError> {
    // The size of the window in pixels, and the width of the columns of names and values.
    const SIZE: [u32; 2] = [1400, 900];
    const NAMES: u32 = 400;
    // Flags of a row: hexadecimal or binary, to the right; and with the names of a file.
    const HEX: &str = "@22";
    const BINARY: &str = "@28";
    const NAMED: &str = "@2022";
    let list = std::path::absolute(list).map_err(CliError::file("write", list))?;
    let file = wave.file_name().unwrap_or_default().to_string_lossy();
    // 200 pixels show 2^-zoom picoseconds.
    let zoom = -(SHOWN.0 as f64 * 200.0 / f64::from(SIZE[0] - NAMES)).log2();
    let (start, marker) = (view.event.saturating_sub(BEFORE).0, view.event.0);
    let mut text = format!(
        "[dumpfile] \"{file}\"\n[savefile] \"{}\"\n[timestart] {start}\n[size] {} {}\n[sst_expanded] 0\n\
         [signals_width] {}\n*{zoom:.6} {marker}{}\n",
        list.display(),
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
    let tables = tables(signals);
    for (group, signals) in signals {
        text += &format!("@200\n-{group}\n");
        for signal in signals {
            let place = signal
                .named()
                .and_then(|named| tables.iter().position(|table| *table == named));
            text += &match place {
                Some(at) => format!(
                    "{NAMED}\n^{} {}\n",
                    at + 1,
                    list.with_file_name(tables[at].file()).display()
                ),
                None if signal.bits == 1 => format!("{BINARY}\n"),
                None => format!("{HEX}\n"),
            };
            text += &match signal.bits {
                1 => format!("{}\n", signal.name),
                bits => format!("{}[{}:0]\n", signal.name, bits - 1),
            };
        }
    }
    Ok(text)
}

/// A command file of Surfer with the cursor on the event. Every argument is one word.
fn surfer_list(lanes: &[(String, Vec<String>)], signals: &[Group], view: &View) -> String {
    let mut text = String::new();
    let mut formats = String::new();
    let mut rows = 0..;
    for (group, names) in lanes {
        text += &format!("divider_add {}\n", group.replace(' ', "_"));
        rows.next();
        for (name, row) in names.iter().zip(&mut rows) {
            text += &format!("variable_add {name}\n");
            formats += &format!("item_focus {}\nitem_set_format ASCII\n", letters(row));
        }
    }
    for (group, signals) in signals {
        text += &format!("divider_add {}\n", group.replace(' ', "_"));
        rows.next();
        for (signal, row) in signals.iter().zip(&mut rows) {
            text += &format!("variable_add {}\n", signal.name);
            if let Some(named) = signal.named() {
                formats += &format!("item_focus {}\nitem_set_format {}\n", letters(row), named.name());
            }
        }
    }
    text += &formats;
    // Each `zoom_in` halves the time shown around the middle; `cursor_set` then scrolls to the event.
    let halvings = (view.end.0 / SHOWN.0).checked_ilog2().unwrap_or(0);
    text += "item_unfocus\nzoom_fit\n";
    text += &"zoom_in\n".repeat(halvings as usize);
    text + &format!("cursor_set {}\n", view.event.0)
}

/// A row's number as Surfer takes it: in hexadecimal, with the letters from a to p as digits.
fn letters(row: u32) -> String {
    let letter = |digit: char| char::from(b'a' + digit.to_digit(16).unwrap_or_default() as u8);
    format!("{row:x}").chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names {
        name: "m_state",
        values: &[(0, "Idle"), (10, "Busy")],
    };

    #[test]
    fn each_viewer_gets_its_own_form_of_names() {
        let named = Named { names: &NAMES, bits: 5 };
        assert_eq!(named.gtkwave(), "00 Idle\n0A Busy\n");
        assert_eq!(named.surfer(), "Name: m_state_5\nBits: 5\n0x0 Idle\n0xa Busy\n");
    }

    #[test]
    fn formats_are_set_behind_all_rows_by_their_numbers() {
        let signal = |name: &str, names| Signal {
            name: name.into(),
            bits: 5,
            names,
        };
        let mut first: Vec<Signal> = (0..16).map(|n| signal(&format!("s{n}"), None)).collect();
        first[0].names = Some(&NAMES);
        let groups = [
            ("a".to_owned(), first),
            ("b".to_owned(), vec![signal("t", Some(&NAMES))]),
        ];
        let view = View {
            event: Picos::ZERO,
            end: Picos::ZERO,
        };
        let text = surfer_list(&[], &groups, &view);
        let (rows, formats) = text.split_once("item_focus ").expect("formats");
        assert_eq!(rows.lines().count(), 19);
        let begin = "b\nitem_set_format m_state_5\nitem_focus bc\nitem_set_format m_state_5\nitem_unfocus\n";
        assert!(formats.starts_with(begin), "{text}");
    }
}
