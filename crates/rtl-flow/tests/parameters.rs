//! An illegal parameter stops elaboration with a message that names it. This tests every such check of `rtl/` by a
//! value that it must refuse. Most values follow from the comment of the parameter; the lists of units have the others.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rtl_flow::Flow;
use verilated_build::Toolchain;

/// Parameters with values, as `W=0`.
type Params = BTreeSet<String>;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The messages of a source file, which are names of missing modules.
fn messages(text: &str) -> Vec<String> {
    let line = |line: &str| Some(line.trim().strip_suffix(" u_bad ();")?.to_owned());
    text.lines().filter_map(line).collect()
}

/// The values that the comment of a parameter excludes by numbers.
fn outside(limit: &str) -> Vec<i64> {
    let words: Vec<&str> = limit
        .split([' ', ',', ';', ':'])
        .filter(|word| !word.is_empty())
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).and_then(number), number(at + 1));
        match (*word, before, after) {
            ("to", Some(low), Some(high)) => values.extend([low - 1, high + 1]),
            ("or", Some(_), Some(high)) => values.push(high * 3 / 4),
            (">=" | "least", _, Some(low)) => values.push(low - 1),
            (">" | "above", _, Some(low)) => values.push(low),
            ("power", ..) => values.push(48),
            _ => {}
        }
        if let Some((Ok(low), Ok(high))) = word.split_once("..").map(|(a, b)| (a.parse::<i64>(), b.parse::<i64>())) {
            values.extend([low - 1, high + 1]);
        }
    }
    values
}

/// Parameters of a source file with the values that their comments exclude.
fn limits(text: &str) -> Vec<(&str, i64)> {
    let limit = |line| -> Option<Vec<(&str, i64)>> {
        let (declaration, comment): (&str, &str) = str::split_once(line, "//")?;
        let (left, _) = declaration.trim().strip_prefix("parameter ")?.split_once('=')?;
        let name = left.split_whitespace().last()?;
        Some(outside(comment).into_iter().map(|value| (name, value)).collect())
    };
    text.lines().filter_map(limit).flatten().collect()
}

#[test]
fn what_a_comment_excludes() {
    let text = [
        "    parameter int A = 32,  // bits of a word: 32, 64 or 128",
        "    parameter  int B = 4, // words, power of two, >= 2",
        "parameter int C = 1  // 1 to 7",
        "    localparam int D = 1;  // >= 1",
        "    parameter int E = 1,  // 1..256, < A",
    ];
    let text = text.join("\n");
    let found = limits(&text);
    let expected = [("A", 96), ("B", 48), ("B", 1), ("C", 0), ("C", 8), ("E", 0), ("E", 257)];
    assert_eq!(found, expected);
}

/// Verilator's output for a module with these parameters.
fn elaborate(flow: &Flow, module: &Path, params: &Params) -> (bool, String) {
    let set = |name| env::var_os(name);
    let tools = Toolchain::find_in(
        set("VERILATOR_ROOT").as_deref(),
        Some(&workspace()),
        set("PATH").as_deref(),
    );
    let mut command = tools.unwrap_or_else(|e| panic!("{e}")).verilator();
    command
        .args(["--lint-only", "--top-module"])
        .arg(module.file_stem().unwrap());
    for folder in &flow.units.library {
        command.arg("-y").arg(flow.units.path(folder));
    }
    command.args(params.iter().map(|p| format!("-G{p}")));
    let sources = flow.sources().unwrap();
    command.args(sources.iter().filter(|p| p.to_string_lossy().ends_with("_pkg.sv")));
    let output = command.arg(module).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

/// The illegal values in the lists of units, by module.
fn listed(flow: &Flow) -> BTreeMap<&str, Vec<Params>> {
    let mut listed: BTreeMap<&str, Vec<Params>> = BTreeMap::new();
    for (module, sets) in flow.lists.iter().flat_map(|list| &list.illegal) {
        let params = sets
            .iter()
            .map(|set| set.iter().map(|(name, value)| format!("{name}={value}")).collect());
        listed.entry(module).or_default().extend(params);
    }
    listed
}

/// The errors in the checks of a module, with these listed values. A block inside the module may refuse a value that a
/// comment excludes; a listed value must meet a check of the module's own.
fn wrong(flow: &Flow, path: &Path, listed: &[Params]) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let excluded = limits(&text)
        .into_iter()
        .map(|(name, value)| Params::from([format!("{name}={value}")]));
    let excluded: BTreeSet<Params> = excluded.collect();
    let own = messages(&text);
    let (mut wrong, mut raised) = (Vec::new(), BTreeSet::new());
    let mut refused = |params: &Params, of_own: bool| {
        let (passed, said) = elaborate(flow, path, params);
        let found: Vec<&String> = own
            .iter()
            .filter(|message| said.contains(&format!("'{message}'")))
            .collect();
        raised.extend(found.iter().copied());
        !passed
            && if of_own {
                !found.is_empty()
            } else {
                said.contains("_must_")
            }
    };
    for params in &excluded {
        if !refused(params, false) {
            wrong.push(format!("{params:?} is accepted, although a comment excludes it"));
        }
    }
    for params in listed {
        if !refused(params, true) {
            wrong.push(format!("{params:?} is accepted, although a list calls it illegal"));
        }
        if excluded.contains(params) {
            wrong.push(format!("{params:?} is listed, although a comment excludes it already"));
        }
    }
    if !excluded.is_empty() || !listed.is_empty() {
        let (_, said) = elaborate(flow, path, &Params::new());
        if said.contains("_must_") {
            wrong.push(format!("refused as it is: {said}"));
        }
    }
    let silent = own.iter().filter(|message| !raised.contains(message));
    wrong.extend(silent.map(|message| format!("no value brings up {message}: list one")));
    let place = |what: String| format!("{}: {what}", path.display());
    wrong.into_iter().map(place).collect()
}

#[test]
fn an_illegal_parameter_stops_elaboration_and_is_named() {
    let flow = Flow::new(&workspace().join("rtl/units.toml"), Path::new("")).unwrap();
    let mut listed = listed(&flow);
    let mut all = Vec::new();
    for path in flow.sources().unwrap() {
        let own = listed.remove(&*path.file_stem().unwrap().to_string_lossy());
        all.extend(wrong(&flow, &path, &own.unwrap_or_default()));
    }
    assert_eq!(all, Vec::<String>::new());
    assert!(listed.is_empty(), "no module has such a name: {listed:?}");
}
