//! Enumerations of the RTL: the states of its blocks.

use std::fs;
use std::path::Path;

use crate::Error;

/// An enumeration: `typedef enum logic [1:0] { Idle, Busy } state_e;`. The values count from 0.
#[derive(Debug, PartialEq, Eq)]
pub struct Enum {
    /// The file without its end, which is the module's name.
    pub module: String,
    /// Without `_e`: `state`.
    pub name: String,
    pub values: Vec<String>,
}

/// Those of all files of a folder, by file.
pub fn of(folder: &Path) -> Result<Vec<Enum>, Error> {
    let io = |source| Error::Io {
        path: folder.into(),
        source,
    };
    let entries = fs::read_dir(folder)
        .map_err(io)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(io)?;
    let mut files: Vec<_> = entries.iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "sv"));
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).map_err(io)?;
        let module = path.file_stem().unwrap_or_default().to_string_lossy();
        let found = read(&module, &text).map_err(|what| Error::Meaning {
            path: path.clone(),
            what,
        })?;
        all.extend(found);
    }
    Ok(all)
}

fn read(module: &str, text: &str) -> Result<Vec<Enum>, String> {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let text = text.lines().map(code).collect::<Vec<_>>().join("\n");
    let of = |rest: &str| {
        let (values, rest) = rest.split_once('{')?.1.split_once('}')?;
        let name = rest.split_once(';')?.0.trim();
        Some(Enum {
            module: module.into(),
            name: name.strip_suffix("_e").unwrap_or(name).into(),
            values: values.split(',').map(|value| value.trim().to_owned()).collect(),
        })
    };
    let all = text.split("typedef enum ").skip(1);
    let all: Option<Vec<Enum>> = all.map(of).collect();
    let all = all.ok_or("an enumeration does not end")?;
    let is_plain = |line: &&str| {
        let mut words = line.split([' ', ',', ';']).filter(|word| !word.is_empty());
        words.next() == Some("logic") && words.any(|word| word == "state_q")
    };
    if let Some(line) = text.lines().find(is_plain) {
        return Err(format!(
            "`{}`: a state is an enumeration, so that waves can name it",
            line.trim()
        ));
    }
    let is_name = |value: &String| value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !value.is_empty();
    match all.iter().flat_map(|e| &e.values).find(|value| !is_name(value)) {
        Some(value) => Err(format!(
            "`{value}` of an enumeration is no name: values are to count from 0"
        )),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
  typedef enum logic [1:0] {
    Idle,
    Ask,  // the memory, or
    Done
  } state_e;
  state_e state_q;
  typedef enum logic { Low, High } level_e;
";

    #[test]
    fn values_count_from_0_without_comments() {
        let of = |name: &str, values: &[&str]| Enum {
            module: "m".into(),
            name: name.into(),
            values: values.iter().map(|value| value.to_string()).collect(),
        };
        let all = [of("state", &["Idle", "Ask", "Done"]), of("level", &["Low", "High"])];
        assert_eq!(read("m", TEXT).unwrap(), all);
    }

    #[test]
    fn a_state_that_is_no_enumeration_is_refused() {
        let error = read("m", &TEXT.replace("state_e state_q;", "logic [1:0] state_q, next;")).unwrap_err();
        assert!(error.contains("`logic [1:0] state_q, next;`"), "{error}");
    }

    #[test]
    fn a_value_of_its_own_is_refused() {
        let error = read("m", &TEXT.replace("Ask,", "Ask = 2'd3,")).unwrap_err();
        assert!(error.contains("`Ask = 2'd3`"), "{error}");
    }
}
