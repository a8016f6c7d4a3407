//! The page of blocks for designs of one's own. `rtl/examples/<block>_example.sv` is a use of a block: the page has the
//! block's header, ports and figures, and the waves of its example as Verilator runs it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::examples::Example;
use crate::pages::{self, Part};
use crate::{Flow, FlowError, Outcome, kept, lint, synth, tools, yosys};

/// Run the examples of use with Verilator, and write their waves into docs/blocks.md
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; name the stale waves
    #[arg(long)]
    check: bool,
}

const PAGE: &str = "docs/blocks.md";

/// The cycles that are shown, after one of reset.
const CYCLES: usize = 24;

/// What the head of a source says under its key words, beside its origin.
fn header(source: &str) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let lines = source.lines().map_while(|line| line.strip_prefix("//"));
    for line in lines.skip_while(|line| !line.trim().is_empty()).skip(1) {
        let key: String = line.chars().take(12).collect();
        let text = line.chars().skip(12).collect::<String>().trim().to_owned();
        match (key.trim(), facts.last_mut()) {
            ("", Some((_, said))) => *said = format!("{said} {text}"),
            (key, _) => facts.push((key.to_owned(), text)),
        }
    }
    facts.retain(|(key, _)| !["Source", "Why so"].contains(&key.as_str()));
    facts
}

/// A parameter or a port as it is declared: kind, name, width or value, and comment.
struct Declared {
    kind: String,
    name: String,
    size: String,
    note: String,
}

/// All of a module's declarations before its body.
fn declared(source: &str) -> Vec<Declared> {
    let port =
        Regex::new(r"^ *(input|output) +\w+ *((?:\[[^\]]*\])*) *(\w+),?(?: *// *(.*))?$").expect("a sound pattern");
    let parameter = Regex::new(r"^ *(parameter) .*?(\w+) = ([^,/]*?),?(?: *// *(.*))?$").expect("a sound pattern");
    let text = |found: Option<regex::Match>| found.map_or(String::new(), |found| found.as_str().to_owned());
    let head = source.lines().take_while(|line| !line.starts_with(");"));
    let lines = head.filter_map(|line| {
        if let Some(found) = parameter.captures(line) {
            return Some(Declared {
                kind: text(found.get(1)),
                name: text(found.get(2)),
                size: text(found.get(3)),
                note: text(found.get(4)),
            });
        }
        port.captures(line).map(|found| Declared {
            kind: text(found.get(1)),
            name: text(found.get(3)),
            size: text(found.get(2)).replace(' ', ""),
            note: text(found.get(4)),
        })
    });
    lines.collect()
}

/// For each block: its header, parameters and ports; and its figures.
pub fn parts(flow: &Flow) -> Result<Vec<Part>, FlowError> {
    let mut parts = Vec::new();
    for example in Example::all(flow)? {
        let source = fs::read_to_string(&example.source).map_err(|e| FlowError::io(&example.source, e))?;
        let mut text = pages::purpose(&source) + "\n\n";
        let facts = header(&source)
            .into_iter()
            .map(|(key, said)| [format!("**{key}**"), said]);
        text += &pages::table(["about", "the block"], facts);
        let rows = declared(&source).into_iter().map(|own| {
            let size = if own.size.is_empty() { "1" } else { &own.size };
            [own.kind, format!("`{}`", own.name), format!("`{size}`"), own.note]
        });
        text += "\n\n";
        text += &pages::table(["", "name", "value or width", ""], rows);
        if let Some(figures) = synth::figures(flow, &example.block)? {
            text += "\n\n";
            text += &figures;
        }
        parts.push(Part {
            page: PAGE.into(),
            name: example.block.clone(),
            text,
        });
    }
    Ok(parts)
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let mut errors = Vec::new();
    let (mut count, mut written) = (0, 0);
    for example in Example::all(flow)? {
        let part = Part {
            page: PAGE.into(),
            name: format!("waves of {}", example.top()),
            text: format!("```text\n{}```", waves(flow, &example)?),
        };
        count += 1;
        match args.check {
            true => errors.extend(part.check().err()),
            false => written += usize::from(part.write()?),
        }
    }
    match errors.is_empty() {
        true => Ok(format!(
            "rtl-flow blocks: {count} examples ran; {written} waves were stale and are written"
        )),
        false => Err(errors),
    }
}

/// The waves of an example's ports, a cycle after its reset on.
fn waves(flow: &Flow, example: &Example) -> Result<String, FlowError> {
    let folder = Path::new(yosys::FOLDER).join("blocks");
    fs::create_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
    let read = |path: &PathBuf| fs::read_to_string(path).map_err(|e| FlowError::io(path, e));
    let ports = declared(&read(&example.path)?);
    let clocks: Vec<&Declared> = ports.iter().filter(|port| port.name.ends_with("clk_i")).collect();
    let outputs: Vec<&Declared> = ports.iter().filter(|port| port.kind == "output").collect();
    let main = main(&example.top(), &clocks, &outputs);
    let mut parts = vec![main.clone()];
    for file in flow.with_needs(vec![example.path.clone()])? {
        parts.push(read(&file)?);
    }
    let kept = folder.join(format!("{}.json", example.block));
    let values: Vec<Vec<u64>> = kept::or_make(&kept, &kept::key(&parts), || simulate(flow, example, &folder, &main))?;
    let short = values.len() != CYCLES || values.iter().any(|cycle| cycle.len() != outputs.len());
    if short {
        return Err(FlowError::list(
            &example.path,
            "its run did not show each port in each cycle",
        ));
    }
    Ok(render(&outputs, &values))
}

/// The program that runs an example.
fn main(top: &str, clocks: &[&Declared], outputs: &[&Declared]) -> String {
    let set = |value: u32| -> String {
        let set = clocks.iter().map(|clock| format!(" dut.{} = {value};", clock.name));
        set.collect()
    };
    let mut show = String::new();
    for port in outputs {
        writeln!(
            show,
            "      std::printf(\"%llx \", (unsigned long long)dut.{});",
            port.name
        )
        .expect("a String takes all");
    }
    format!(
        "#include \"V{top}.h\"\n#include <cstdio>\nint main() {{\n  VerilatedContext context;\n  V{top} dut(&context);\n  \
         for (int cycle = -1; cycle < {CYCLES}; cycle++) {{\n    dut.rst_i = cycle < 0;\n   {}\n    dut.eval();\n    \
         if (cycle >= 0) {{\n{show}      std::puts(\"\");\n    }}\n   {}\n    dut.eval();\n  }}\n}}\n",
        set(0),
        set(1)
    )
}

/// Builds an example and runs it: the values of its outputs in each cycle.
fn simulate(flow: &Flow, example: &Example, folder: &Path, main: &str) -> Result<Vec<Vec<u64>>, FlowError> {
    let top = example.top();
    let path = folder.join(format!("{top}.cpp"));
    fs::write(&path, main).map_err(|e| FlowError::io(&path, e))?;
    let real = |path: &Path| path.canonicalize().map_err(|e| FlowError::io(path, e));
    let verilator = lint::verilator(flow)?;
    let mut command = verilator.verilator();
    command
        .env("VERILATOR_ROOT", real(verilator.root())?)
        .env("MAKEFLAGS", lint::MAKEFLAGS);
    command.args(["--cc", "--exe", "--build", "-Wno-fatal", "-Wno-lint", "-CFLAGS", "-O0"]);
    command.args(["--prefix", &format!("V{top}"), "--top-module", &top, "-o", &top]);
    // One folder for all, so that Verilator's own sources are compiled once.
    command.arg("--Mdir").arg(folder.join("models"));
    for library in &flow.units.library {
        command.arg("-y").arg(flow.units.path(library));
    }
    command.arg(&example.path).arg(real(&path)?);
    tools::clean("verilator", top.clone(), &tools::output(&mut command)?)?;
    let program = real(&folder.join("models").join(&top))?;
    let output = tools::output(&mut Command::new(program))?;
    tools::clean("the example's model", top, &output)?;
    let value = |word| u64::from_str_radix(word, 16).map_err(|_| FlowError::list(&path, "it printed no number"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.lines()
        .map(|line| line.split_whitespace().map(value).collect())
        .collect()
}

/// A line for each port, four or more columns for each cycle.
fn render(ports: &[&Declared], values: &[Vec<u64>]) -> String {
    // Until a cycle after the last change.
    let change = (1..values.len())
        .rev()
        .find(|cycle| values[*cycle] != values[cycle - 1]);
    let values = &values[..values.len().min(change.unwrap_or(0) + 2)];
    let digits = |value: &u64| format!("{value:x}").len();
    let width = 1 + values.iter().flatten().map(digits).max().unwrap_or(0).max(3);
    let names = ports
        .iter()
        .map(|port| port.name.len())
        .max()
        .unwrap_or(0)
        .max("cycle".len());
    let mut text = format!("{:names$}  ", "cycle");
    text.extend((0..values.len()).map(|cycle| format!("{cycle:<width$}")));
    let mut text = text.trim_end().to_owned() + "\n";
    for (index, port) in ports.iter().enumerate() {
        let mut line = format!("{:names$}  ", port.name);
        let mut before = None;
        for cycle in values {
            let now = cycle[index];
            let changed = before.is_some_and(|before| before != now);
            line += &match (port.size.is_empty(), now) {
                (true, 0) => if changed { "\\" } else { "_" }.to_owned() + &"_".repeat(width - 1),
                (true, _) => if changed { "/" } else { "‾" }.to_owned() + &"‾".repeat(width - 1),
                (false, _) if changed || before.is_none() => format!("|{now:<0$x}", width - 1),
                (false, _) => " ".repeat(width),
            };
            before = Some(now);
        }
        text += line.trim_end();
        text += "\n";
    }
    text
}
