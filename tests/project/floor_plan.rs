//! One floor plan for all machines: an RTL file, its golden model and its bench have the same stem.
//!
//! A module of `rtl/<folder>` is a unit of `units.toml`, or a part that another module instantiates. A unit has a
//! bench: a file of its name, or one with a header that names it in backquotes. A unit of a machine has a golden model
//! too; those of `common` and `net` have theirs in the bench.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use support::root;

use crate::tracked;

/// The folders of a machine in `src/`.
const ROOMS: [&str; 5] = ["golden", "rtl", "model", "host", "repro"];

/// Files of a bench or golden folder that belong to all its modules.
const SHARED: [&str; 3] = ["main", "mod", "waves"];

/// Deviations and their reasons.
const EXCEPTIONS: &[(&str, &str)] = &[
];

/// What stands in an RTL folder, and the golden models and benches for it. Paths are relative to the root.
#[derive(Default)]
struct Folder {
    name: String,
    /// Does `src/` have a machine of this name?
    machine: bool,
    /// Stems of the files that hold a module.
    modules: Vec<String>,
    units: Vec<String>,
    /// Modules that another module of any folder instantiates.
    parts: Vec<String>,
    rooms: Vec<String>,
    golden: Vec<String>,
    /// Path and header.
    benches: Vec<(String, String)>,
}

impl Folder {
    fn read(name: &str) -> Self {
        let machine = root().join(format!("rtl/{name}/regs.toml")).exists();
        let units = read(&format!("rtl/{name}/units.toml"));
        let modules: Vec<String> = tracked(&[&format!("rtl/{name}/*.sv")])
            .iter()
            .filter(|path| !read(path).contains("\npackage "))
            .map(|path| stem(path).to_owned())
            .collect();
        let sources: Vec<(String, String)> = tracked(&["rtl/**/*.sv"])
            .into_iter()
            .map(|path| (stem(&path).to_owned(), read(&path)))
            .collect();
        let is_part = |module: &&String| sources.iter().any(|(of, text)| of != *module && instantiates(text, module));
        let room = |room: &&str| root().join(format!("src/{name}/{room}")).is_dir();
        let benches = tracked(&[&format!("testbenches/{name}/**.rs")]);
        Self {
            name: name.to_owned(),
            machine,
            units: units.split("[[unit]]\nname = \"").skip(1).map(|unit| before(unit, '"')).collect(),
            parts: modules.iter().filter(is_part).cloned().collect(),
            modules,
            rooms: ROOMS.iter().filter(room).map(ToString::to_string).collect(),
            golden: tracked(&[&format!("src/{name}/golden/**.rs")]),
            benches: benches.into_iter().map(|path| (path.clone(), header(&read(&path)))).collect(),
        }
    }

    /// A module's name without the machine's.
    fn short<'a>(&self, module: &'a str) -> &'a str {
        module.strip_prefix(&format!("{}_", self.name)).unwrap_or(module)
    }

    /// Does a component of the path, its folder in `testbenches/` or `src/` apart, have the name of a module?
    fn belongs(&self, path: &str) -> bool {
        let of_module = |part: &str| self.modules.iter().any(|module| [module.as_str(), self.short(module)].contains(&part));
        path.trim_end_matches(".rs").split('/').skip(2).any(of_module)
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).expect("a file's name is UTF-8")
}

fn before(text: &str, end: char) -> String {
    text.split(end).next().unwrap_or_default().to_owned()
}

/// The documentation of a Rust file itself.
fn header(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//!")).collect()
}

fn instantiates(text: &str, module: &str) -> bool {
    let rests = text.lines().filter_map(|line| line.trim_start().strip_prefix(module));
    rests.into_iter().any(|rest| rest.starts_with(" #(") || rest.starts_with(" u_"))
}

/// Deviations from the floor plan.
fn deviations(folders: &[Folder]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let names = |header: &str, module: &str| header.contains(&format!("`{module}`"));
    for folder in folders {
        for module in folder.modules.iter().filter(|module| !folder.units.contains(module)) {
            if !folder.parts.contains(module) {
                found.insert(format!("{module}: neither a unit nor a part of one"));
            }
        }
        for unit in &folder.units {
            let short = folder.short(unit);
            let of_unit = |home: &Folder, path: &str| stem(path) == unit || (home.name == folder.name && stem(path) == short);
            let has_bench = |home: &Folder| {
                let mut benches = home.benches.iter();
                benches.any(|(path, header)| of_unit(home, path) || names(header, unit))
            };
            if !folders.iter().any(has_bench) {
                found.insert(format!("{unit}: no bench"));
            }
            if folder.machine && !folder.golden.iter().any(|path| stem(path) == short) {
                found.insert(format!("{unit}: no golden model"));
            }
        }
        for room in ROOMS.iter().filter(|room| folder.machine && !folder.rooms.iter().any(|own| own == *room)) {
            found.insert(format!("src/{}: no folder {room}", folder.name));
        }
        let foreign = |path: &&String| !SHARED.contains(&stem(path)) && !folders.iter().any(|of| of.belongs(path));
        found.extend(folder.golden.iter().filter(foreign).map(|path| format!("{path}: no module")));
        let modules = || folders.iter().flat_map(|of| &of.modules);
        for (path, header) in &folder.benches {
            if foreign(&path) && !modules().any(|module| names(header, module)) {
                found.insert(format!("{path}: no module"));
            }
        }
    }
    found
}

/// The deviations without an exception, and the exceptions without a deviation.
fn defects(folders: &[Folder], exceptions: &[(&str, &str)]) -> Vec<String> {
    let found = deviations(folders);
    let excepted = |deviation: &String| exceptions.iter().any(|(name, _)| name == deviation);
    let unused = exceptions.iter().filter(|(name, _)| !found.contains(*name));
    let mut defects: Vec<String> = found.iter().filter(|deviation| !excepted(deviation)).cloned().collect();
    defects.extend(unused.map(|(name, _)| format!("{name}: an exception that nothing needs")));
    defects
}

#[test]
fn every_module_has_its_twins() {
    let folders: BTreeSet<String> = tracked(&["rtl/*/units.toml"])
        .iter()
        .map(|list| before(list.trim_start_matches("rtl/"), '/'))
        .collect();
    let folders: Vec<Folder> = folders.iter().map(|name| Folder::read(name)).collect();
    assert!(folders.iter().filter(|folder| folder.machine).count() > 1, "machines are found");
    assert_eq!(defects(&folders, EXCEPTIONS), Vec::<String>::new());
}

#[test]
fn each_deviation_is_found() {
    let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let bench = |path: &str, header: &str| (path.to_owned(), header.to_owned());
    let machine = Folder {
        name: "m".into(),
        machine: true,
        modules: strings(&["m_sender", "m_receiver", "m_part", "m_lost"]),
        units: strings(&["m_sender", "m_receiver"]),
        parts: strings(&["m_part"]),
        rooms: strings(&["golden", "rtl", "model", "repro"]),
        golden: strings(&["src/m/golden/mod.rs", "src/m/golden/sender.rs", "src/m/golden/old.rs"]),
        benches: vec![
            bench("testbenches/m/main.rs", ""),
            bench("testbenches/m/sender.rs", ""),
            bench("testbenches/m/sender/cases.rs", ""),
            bench("testbenches/m/old.rs", "//! A `word`."),
        ],
    };
    let common = Folder {
        name: "common".into(),
        modules: strings(&["fifo"]),
        units: strings(&["fifo"]),
        benches: vec![bench("testbenches/common/queues.rs", "//! `fifo`: a queue.")],
        ..Folder::default()
    };
    let found = defects(&[machine, common], &[("m_receiver: no bench", ""), ("fifo: no bench", "")]);
    let expected = [
        "m_lost: neither a unit nor a part of one",
        "m_receiver: no golden model",
        "src/m/golden/old.rs: no module",
        "src/m: no folder host",
        "testbenches/m/old.rs: no module",
        "fifo: no bench: an exception that nothing needs",
    ];
    assert_eq!(found, expected);
}
