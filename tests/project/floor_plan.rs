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
    (
        "ap1000p_cell: no golden model",
        "its blocks have theirs; `model` is the cell's",
    ),
    (
        "ap1000p_cell_axi: no golden model",
        "AXI around the cell, with the golden models of its blocks",
    ),
    (
        "ap1000p_link: no golden model",
        "the bench says how each word must leave",
    ),
    (
        "ap1000p_mmu_mux: no golden model",
        "the bench is the model: each client gets its own reply",
    ),
    (
        "ap1000p_regs: no golden model",
        "`regs.toml` says it, and the bench reads it",
    ),
    (
        "dimmnet1_memory: no golden model",
        "the bench is the model: each side gets its own bursts",
    ),
    (
        "dimmnet1_link: no golden model",
        "the bench is the model: words come out as they went in",
    ),
    ("dimmnet1_machine: no bench", "`testbenches/machine` runs it"),
    ("dimmnet1_machine: no golden model", "its blocks have theirs"),
    (
        "dimmnet1_nic: no golden model",
        "its blocks have theirs; `model` is the card's",
    ),
    ("dimmnet1_nic_axi: no golden model", "AXI around the card"),
    ("dimmnet1_switch: no golden model", "the golden switch of `src/net`"),
    (
        "src/dimmnet1/golden/packet.rs: no module",
        "formats that all models share",
    ),
    (
        "testbenches/dimmnet1/campaign.rs: no module",
        "broken cards in the fault campaign",
    ),
    (
        "testbenches/emx/campaign.rs: no module",
        "broken PEs in the fault campaign",
    ),
    ("testbenches/dimmnet1/rig.rs: no module", "benches share it"),
    ("cenju3_machine: no bench", "`testbenches/machine` runs it"),
    ("cenju3_machine: no golden model", "its blocks have theirs"),
    ("cenju3_nic: no golden model", "Sender and Receiver have theirs"),
    ("cenju3_nic_axi: no golden model", "AXI around the NIC"),
    ("cenju3_switch: no golden model", "the golden switch of `src/net`"),
    (
        "ap1000p_address_runs: no bench",
        "part of units: the benches of `ap1000p_send` and `ap1000p_receive` check its addresses",
    ),
    ("ap1000p_cell: no bench", "`machine.rs` runs many of them"),
    (
        "testbenches/ap1000p/conformance.rs: no module",
        "command window and queues, one behind the other",
    ),
    (
        "testbenches/ap1000p/campaign.rs: no module",
        "broken cells in the fault campaign",
    ),
    ("testbenches/ap1000p/machine.rs: no module", "cells on a torus"),
    (
        "testbenches/ap1000p/pages.rs: no module",
        "the cell around a message controller",
    ),
    ("testbenches/ap1000p/security.rs: no module", "attacks on several units"),
    (
        "testbenches/ap1000p/space.rs: no module",
        "a substitute for the memory controller",
    ),
    (
        "testbenches/cenju3/campaign.rs: no module",
        "broken NICs in the fault campaign",
    ),
    (
        "testbenches/cenju3/loopback.rs: no module",
        "the NIC with its link tied back",
    ),
    ("testbenches/cenju3/rig.rs: no module", "benches share it"),
    ("testbenches/common/junk.rs: no module", "all benches at random states"),
    ("testbenches/net/any.rs: no module", "all switches under random packets"),
    ("testbenches/net/switch.rs: no module", "benches share it"),
    ("cut_through: no golden model", "the golden switch of `src/net`"),
    ("emx_core: no golden model", "its blocks have theirs"),
    ("emx_machine: no bench", "`testbenches/machine` runs it"),
    ("emx_machine: no golden model", "its blocks have theirs"),
    ("emx_network: no golden model", "switch and path have theirs"),
    (
        "emx_pe: no golden model",
        "its blocks have theirs; `model` is the machine's",
    ),
    ("emx_pe_axi: no golden model", "AXI around the PE"),
    (
        "emx_regs: no golden model",
        "`regs.toml` says it, and the bench reads it",
    ),
    ("testbenches/emx/rig.rs: no module", "benches share it"),
    (
        "cppacs_load: no golden model",
        "the bench is the model: each command gets its own bytes",
    ),
    ("cppacs_machine: no golden model", "its blocks have theirs"),
    ("cppacs_nia_axi: no golden model", "AXI around the NIA"),
    ("src/cppacs/golden/entry.rs: no module", "formats that all models share"),
    (
        "src/cppacs/golden/message.rs: no module",
        "formats that all models share",
    ),
    (
        "src/cppacs/golden/tcw.rs: no module",
        "formats and the check that models share",
    ),
    (
        "src/cppacs/golden/worms.rs: no module",
        "both senders and the timed model cut by it",
    ),
    ("testbenches/cppacs/worms.rs: no module", "benches share it"),
];

/// A Rust file: its path and its header.
type File = (String, String);

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
    golden: Vec<File>,
    benches: Vec<File>,
}

impl Folder {
    fn read(name: &str) -> Self {
        let machine = root().join(format!("rtl/{name}/regs.toml")).exists();
        let list = read(&format!("rtl/{name}/units.toml"));
        let units = list.split("[[unit]]\nname = \"").skip(1);
        let modules: Vec<String> = tracked(&[&format!("rtl/{name}/*.sv")])
            .iter()
            .filter(|path| !read(path).contains("\npackage "))
            .map(|path| stem(path).to_owned())
            .collect();
        let sources: Vec<(String, String)> = tracked(&["rtl/**/*.sv"])
            .into_iter()
            .map(|path| (stem(&path).to_owned(), read(&path)))
            .collect();
        let is_part = |module: &&String| {
            sources
                .iter()
                .any(|(of, text)| of != *module && instantiates(text, module))
        };
        let has = |room: &str| root().join(format!("src/{name}/{room}")).is_dir();
        Self {
            name: name.to_owned(),
            machine,
            units: units.map(|unit| before(unit, '"')).collect(),
            parts: modules.iter().filter(is_part).cloned().collect(),
            modules,
            rooms: ROOMS.iter().filter(|room| has(room)).map(ToString::to_string).collect(),
            golden: files(format!("src/{name}/golden/**.rs")),
            benches: files(format!("testbenches/{name}/**.rs")),
        }
    }

    /// A module's name without the machine's.
    fn short<'a>(&self, module: &'a str) -> &'a str {
        module.strip_prefix(&format!("{}_", self.name)).unwrap_or(module)
    }

    /// Does a bench of this folder have the unit's name, or name it in its header?
    fn has_bench(&self, unit: &str, folder: &Folder) -> bool {
        let short = if self.name == folder.name {
            folder.short(unit)
        } else {
            unit
        };
        let mut benches = self.benches.iter();
        benches.any(|(path, header)| [unit, short].contains(&stem(path)) || names(header, unit))
    }

    /// Does the file, or a folder around it, have the name of one of the modules, or its header name one?
    fn is_of(&self, path: &str, header: &str) -> bool {
        let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
        let own = parts[1] == self.name;
        let named = |module: &str| {
            parts[2..]
                .iter()
                .any(|part| *part == module || (own && *part == self.short(module)))
        };
        self.modules.iter().any(|module| named(module) || names(header, module))
    }
}

fn names(header: &str, module: &str) -> bool {
    header.contains(&format!("`{module}`"))
}

/// The Rust files that match a pattern.
fn files(pattern: String) -> Vec<File> {
    let paths = tracked(&[&pattern]).into_iter();
    paths.map(|path| (path.clone(), header(&read(&path)))).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn stem(path: &str) -> &str {
    Path::new(path)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a file's name is UTF-8")
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
    rests
        .into_iter()
        .any(|rest| rest.starts_with(" #(") || rest.starts_with(" u_"))
}

/// Deviations from the floor plan.
fn deviations(folders: &[Folder]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in folders {
        let loose = |module: &&String| !folder.units.contains(module) && !folder.parts.contains(module);
        let loose = folder.modules.iter().filter(loose);
        found.extend(loose.map(|module| format!("{module}: neither a unit nor a part of one")));
        for unit in &folder.units {
            if !folders.iter().any(|home| home.has_bench(unit, folder)) {
                found.insert(format!("{unit}: no bench"));
            }
            let is_model = |(path, _): &File| stem(path) == folder.short(unit);
            if folder.machine && !folder.golden.iter().any(is_model) {
                found.insert(format!("{unit}: no golden model"));
            }
        }
        let missing = |room: &&&str| folder.machine && !folder.rooms.iter().any(|own| own == **room);
        let missing = ROOMS.iter().filter(missing);
        found.extend(missing.map(|room| format!("src/{}: no folder {room}", folder.name)));
        for files in [&folder.golden, &folder.benches] {
            let is_file = |path: &str| files.iter().any(|(other, _)| other == path);
            for (path, header) in files {
                let inside = path
                    .rsplit_once('/')
                    .is_some_and(|(parent, _)| is_file(&format!("{parent}.rs")));
                let known = SHARED.contains(&stem(path)) || inside;
                if !known && !folders.iter().any(|of| of.is_of(path, header)) {
                    found.insert(format!("{path}: no module"));
                }
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
    assert!(
        folders.iter().filter(|folder| folder.machine).count() > 1,
        "machines are found"
    );
    assert_eq!(defects(&folders, EXCEPTIONS), Vec::<String>::new());
}

#[test]
fn each_deviation_is_found() {
    let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let file = |path: &str, header: &str| (path.to_owned(), header.to_owned());
    let machine = Folder {
        name: "m".into(),
        machine: true,
        modules: strings(&["m_sender", "m_receiver", "m_part", "m_lost"]),
        units: strings(&["m_sender", "m_receiver"]),
        parts: strings(&["m_part"]),
        rooms: strings(&["golden", "rtl", "model", "repro"]),
        golden: vec![
            file("src/m/golden/mod.rs", ""),
            file("src/m/golden/sender.rs", ""),
            file("src/m/golden/old.rs", ""),
        ],
        benches: vec![
            file("testbenches/m/main.rs", ""),
            file("testbenches/m/sender.rs", ""),
            file("testbenches/m/sender/cases.rs", ""),
            file("testbenches/m/old.rs", "//! A `word`."),
        ],
    };
    let common = Folder {
        name: "common".into(),
        modules: strings(&["fifo"]),
        units: strings(&["fifo"]),
        benches: vec![file("testbenches/common/queues.rs", "//! `fifo`: a queue.")],
        ..Folder::default()
    };
    let found = defects(
        &[machine, common],
        &[("m_receiver: no bench", ""), ("fifo: no bench", "")],
    );
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
