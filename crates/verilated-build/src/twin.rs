//! Broken twins: a copy of one file with one line broken, which Verilator reads in the file's place.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Twin};

/// What is done for a twin.
#[derive(Debug)]
pub struct Patch {
    pub twin: Twin,
    pub file: PathBuf,
    /// Bears the file's name, by which a module is looked for and which Verilator's messages tell.
    pub copy: PathBuf,
}

impl Patch {
    /// The file's copy lies in a folder of its own in `folder`.
    pub fn new(twin: &Twin, file: PathBuf, folder: &Path) -> Self {
        let copy = folder.join("twin").join(file.file_name().unwrap_or_default());
        Self {
            twin: twin.clone(),
            file,
            copy,
        }
    }

    /// The folder of the copy, where Verilator is to look first.
    pub fn folder(&self) -> &Path {
        self.copy.parent().expect("a file has a folder")
    }

    pub fn write(&self) -> Result<(), Error> {
        let text = fs::read_to_string(&self.file).map_err(|e| self.fail(format!("{}: {e}", self.file.display())))?;
        let text = self.broken(&text).map_err(|message| self.fail(message))?;
        fs::create_dir_all(self.folder()).map_err(|e| Error::io(self.folder(), e))?;
        fs::write(&self.copy, text).map_err(|e| Error::io(&self.copy, e))
    }

    /// The text with the broken line in place of the good one, indented as that.
    fn broken(&self, text: &str) -> Result<String, String> {
        let (line, broken, file) = (self.twin.line.trim(), self.twin.broken.trim(), self.file.display());
        let is_line = |l: &str| l.split_whitespace().eq(line.split_whitespace());
        if broken.contains('\n') || is_line(broken) {
            return Err("`broken` must be one line, and another than `line`".into());
        }
        match text.lines().filter(|l| is_line(l)).count() {
            1 => {}
            0 => {
                return Err(format!(
                    "no line of {file} is `{line}`: bring the twin up to date with the file"
                ));
            }
            n => {
                return Err(format!(
                    "{n} lines of {file} are `{line}`: break one that stands there once"
                ));
            }
        }
        let lines = text.lines().map(|l| match is_line(l) {
            true => format!("{}{broken}\n", &l[..l.len() - l.trim_start().len()]),
            false => format!("{l}\n"),
        });
        Ok(lines.collect())
    }

    fn fail(&self, message: String) -> Error {
        Error::Unit {
            unit: self.twin.name.clone(),
            message,
        }
    }
}
