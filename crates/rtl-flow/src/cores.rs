//! The RTL for other tools: cores for FuseSoC, a manifest for Bender, and file lists. `rtl-flow docs` writes them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::{self, Permissions};
use std::iter;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::entries::{packages_first, sv_files};
use crate::tops::Top;
use crate::{Flow, FlowError, Outcome, Tools, lint, lists, tools, yosys};

/// Lint and build every top from its FuseSoC core, with Verilator, as a user of the RTL would
#[derive(clap::Args)]
pub struct Args {
    /// Only tops that match this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    top: regex::Regex,
    /// The folder of FuseSoC's program
    #[arg(long, default_value = ".tools/fusesoc/bin")]
    fusesoc: PathBuf,
}

/// The first lines of a generated file, in a language with `#` or `//` for comments.
fn head(comment: &str) -> String {
    format!(
        "{comment} Written by `rtl-flow docs`; do not edit.\n{comment} SPDX-License-Identifier: MIT OR Apache-2.0\n"
    )
}

/// A whole file that this tool writes.
pub struct File {
    pub path: PathBuf,
    pub text: String,
}

impl File {
    /// Writes it; returns whether it has changed.
    pub fn write(&self) -> Result<bool, FlowError> {
        let stale = self.check().is_err();
        if stale {
            fs::write(&self.path, &self.text).map_err(|e| FlowError::io(&self.path, e))?;
        }
        Ok(stale)
    }

    /// Fails if the file there is another one, or none.
    pub fn check(&self) -> Result<(), FlowError> {
        match fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => Ok(()),
            _ => Err(FlowError::Stale {
                page: self.path.clone(),
                part: "the whole file".into(),
            }),
        }
    }
}

/// One folder of the library as a core.
struct Core<'a> {
    folder: &'a str,
    path: PathBuf,
    /// Its modules, by file name, packages first.
    files: Vec<PathBuf>,
    /// The other folders that its modules need.
    depends: Vec<&'a str>,
    tops: Vec<Top>,
}

/// The name of a folder's core.
fn vlnv(folder: &str) -> String {
    format!("tsunagi:rtl:{folder}:{}", env!("CARGO_PKG_VERSION"))
}

/// The path of a file from a folder above it.
fn from(folder: &Path, path: &Path) -> String {
    let own = path.strip_prefix(folder).unwrap_or(path);
    own.to_string_lossy().replace('\\', "/")
}

/// The folders of the library that have tops in their lists, and those that they need.
fn cores(flow: &Flow) -> Result<Vec<Core<'_>>, FlowError> {
    let mut cores = Vec::new();
    for folder in &flow.units.library {
        let path = flow.units.path(folder);
        let mut files = sv_files(&path)?;
        packages_first(&mut files);
        let needs = flow.with_needs(files.clone())?;
        let others = flow.units.library.iter().filter(|other| *other != folder);
        let mut depends: Vec<&str> = others.map(String::as_str).collect();
        depends.retain(|other| {
            let folder = flow.units.path(other);
            needs.iter().any(|file| file.starts_with(&folder))
        });
        cores.push(Core {
            folder,
            path,
            files,
            depends,
            tops: flow.tops(folder)?,
        });
    }
    Ok(cores)
}

/// All files for other tools; none for a list without tops.
pub fn files(flow: &Flow) -> Result<Vec<File>, FlowError> {
    let cores = cores(flow)?;
    if cores.iter().all(|core| core.tops.is_empty()) {
        return Ok(Vec::new());
    }
    let root = flow.units.path("..");
    let mut files = vec![File {
        path: root.join("Bender.yml"),
        text: bender(&root, &cores),
    }];
    for core in &cores {
        files.push(File {
            path: core.path.join(format!("{}.core", core.folder)),
            text: core.text(),
        });
        for top in &core.tops {
            let list = core.path.join(format!("{}.f", top.name));
            let mut text = head("//") + "// Paths from this file: `verilator -F` reads it so.\n";
            for file in &top.files {
                let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
                let name = file.file_name().unwrap_or_default();
                line(&mut text, format_args!("../{}/{}", folder.display(), name.display()));
            }
            files.push(File { path: list, text });
        }
    }
    Ok(files)
}

fn line(text: &mut String, what: std::fmt::Arguments) {
    writeln!(text, "{what}").expect("a String takes all");
}

impl Core<'_> {
    /// The core file. FuseSoC wants its first line first.
    fn text(&self) -> String {
        let mut text = format!("CAPI=2:\n{}\nname: {}\n", head("#"), vlnv(self.folder));
        text += "filesets:\n  rtl:\n    file_type: systemVerilogSource\n";
        if !self.depends.is_empty() {
            text += "    depend:\n";
            for folder in &self.depends {
                line(&mut text, format_args!("      - {}", vlnv(folder)));
            }
        }
        text += "    files:\n";
        for file in &self.files {
            line(&mut text, format_args!("      - {}", from(&self.path, file)));
        }
        text += "targets:\n  default:\n    filesets: [rtl]\n";
        for Top { name, purpose, .. } in &self.tops {
            for (flow, options) in [
                ("lint", "verilator_options: [-Wall, -Wno-fatal]"),
                ("build", "mode: cc, exe: \"false\", verilator_options: [-O3]"),
            ] {
                let purpose = purpose.replace('"', "'");
                line(&mut text, format_args!("  {flow}_{name}:"));
                line(&mut text, format_args!("    description: \"{flow}: {purpose}\""));
                line(&mut text, format_args!("    filesets: [rtl]\n    toplevel: {name}"));
                let tool = if flow == "lint" { "lint" } else { "sim" };
                line(&mut text, format_args!("    flow: {tool}"));
                line(
                    &mut text,
                    format_args!("    flow_options: {{tool: verilator, {options}}}"),
                );
            }
        }
        text
    }
}

/// The manifest of Bender: all folders, each a group of sources.
fn bender(root: &Path, cores: &[Core]) -> String {
    let mut text = head("#") + "package:\n  name: tsunagi\nsources:\n";
    for core in cores {
        line(&mut text, format_args!("  # {}", core.folder));
        text += "  - files:\n";
        for file in &core.files {
            line(&mut text, format_args!("      - {}", from(root, file)));
        }
    }
    text
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    if !args.fusesoc.join("fusesoc").is_file() {
        return Err(FlowError::list(&args.fusesoc, "FuseSoC is not there; `make cores` installs it").into());
    }
    let mut errors = Vec::new();
    let mut count = 0;
    let work = Path::new(yosys::FOLDER).join("cores");
    lists::emptied(&work)?;
    let fusesoc = FuseSoc::new(flow, args, &work)?;
    let mut seen = BTreeSet::new();
    for core in cores(flow)? {
        for top in core.tops.iter().filter(|top| args.top.is_match(&top.name)) {
            seen.insert(top.name.clone());
            for target in ["lint", "build"].map(|flow| format!("{flow}_{}", top.name)) {
                let mut command = fusesoc.command(flow, &target, &work.join(&target), &vlnv(core.folder));
                count += 1;
                let output = tools::output(&mut command)?;
                errors.extend(
                    tools::clean("fusesoc", format!("target {target} of {}", vlnv(core.folder)), &output).err(),
                );
            }
        }
    }
    if seen.is_empty() {
        return Err(FlowError::NoTop.into());
    }
    match errors.is_empty() {
        true => Ok(format!(
            "rtl-flow cores: {} tops linted and built, {count} targets",
            seen.len()
        )),
        false => Err(errors),
    }
}

/// FuseSoC over the cores of the list's folders, with Verilator by its usual name on its PATH. `work` is for both.
struct FuseSoc {
    program: Tools,
    config: PathBuf,
    path: OsString,
    /// Verilator's.
    root: PathBuf,
}

impl FuseSoc {
    fn new(flow: &Flow, args: &Args, work: &Path) -> Result<Self, FlowError> {
        let config = work.join("fusesoc.conf");
        fs::write(&config, "[main]\n").map_err(|e| FlowError::io(&config, e))?;
        let verilator = lint::verilator(flow)?;
        let program = PathBuf::from(verilator.verilator().get_program());
        let program = program.canonicalize().map_err(|e| FlowError::io(&program, e))?;
        let bin = work.join("bin");
        fs::create_dir_all(&bin).map_err(|e| FlowError::io(&bin, e))?;
        let bin = bin.canonicalize().map_err(|e| FlowError::io(&bin, e))?;
        // The model's makefile depends on the program by the path that it was called with.
        let name = bin.join("verilator");
        let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display());
        fs::write(&name, script)
            .and_then(|()| fs::set_permissions(&name, Permissions::from_mode(0o755)))
            .map_err(|e| FlowError::io(&name, e))?;
        let rest = flow.tools.path();
        let folders = iter::once(bin).chain(env::split_paths(&rest));
        Ok(Self {
            program: Tools::new(&args.fusesoc),
            config,
            path: env::join_paths(folders).expect("folders of PATH"),
            root: verilator
                .root()
                .canonicalize()
                .map_err(|e| FlowError::io(verilator.root(), e))?,
        })
    }

    /// A command that lints and builds a target of a core in a folder.
    fn command(&self, flow: &Flow, target: &str, folder: &Path, core: &str) -> Command {
        let mut command = self.program.command("fusesoc");
        command.env("PATH", &self.path).env("VERILATOR_ROOT", &self.root);
        command.env("MAKEFLAGS", lint::MAKEFLAGS);
        command
            .arg("--config")
            .arg(&self.config)
            .arg("--cores-root")
            .arg(&flow.units.folder);
        command.args(["run", "--setup", "--build", "--target", target, "--work-root"]);
        command.arg(folder).arg(core);
        command
    }
}
