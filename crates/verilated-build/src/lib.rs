//! For `build.rs`: runs Verilator over a list of units, compiles the models, and writes one typed Rust struct for each.
//!
//! ```text
//! verilated_build::Builder::from_toml("rtl/units.toml").groups(&["machine"]).build();
//! ```
//!
//! and, in the crate: `include!(concat!(env!("OUT_DIR"), "/units.rs"));`. The list's format is described in [`Units`].
//! Only changed units are built again: each unit keeps the hashes of the files that Verilator reports as read.
//! Models lie in `target/<profile>/verilated`, so that all cargo commands share them.

mod batch;
mod compiler;
mod coverage;
mod emit;
mod error;
mod model;
mod mutants;
mod ports;
mod stamp;
mod toolchain;
mod twin;
mod units;

use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use model::Kind;

pub use compiler::{FEW_BRANCHES, cpp};
pub use coverage::VARIABLE as COVERAGE;
pub use error::Error;
pub use mutants::VARIABLE as MUTANTS;
pub use toolchain::Toolchain;
pub use twin::Patch;
pub use units::{List, Set, Twin, Unit, Units};

/// One run of the build script.
pub struct Builder {
    toml: PathBuf,
    groups: Option<Vec<String>>,
    beside: Option<(String, Vec<String>)>,
    netlists: Option<PathBuf>,
    mutants: Option<PathBuf>,
    coverage: bool,
}

impl Builder {
    /// The list of units, relative to the package.
    pub fn from_toml(path: impl Into<PathBuf>) -> Self {
        Self {
            toml: path.into(),
            groups: None,
            beside: None,
            netlists: None,
            mutants: None,
            coverage: false,
        }
    }

    /// Builds only the units of these groups; without it, all.
    pub fn groups(mut self, groups: &[&str]) -> Self {
        self.groups = Some(groups.iter().map(|g| g.to_string()).collect());
        self
    }

    /// The units with sets in these groups have their traits in this module of another package, which builds those
    /// groups.
    pub fn beside(mut self, module: &str, groups: &[&str]) -> Self {
        self.beside = Some((module.into(), groups.iter().map(|g| g.to_string()).collect()));
        self
    }

    /// A folder of netlists. If it has a file `<struct>.v`, that file replaces the set's files: a module of the same
    /// name and ports, without parameters. Defines and library folders stay. Twins have no netlists.
    pub fn netlists(mut self, folder: impl Into<PathBuf>) -> Self {
        self.netlists = Some(folder.into());
        self
    }

    /// Counts the taken branches of the models, except in twins; see [`COVERAGE`].
    pub fn coverage(mut self) -> Self {
        self.coverage = true;
        self
    }

    /// Builds, or ends the build script with the error in cargo's format. `VERILATED_NETLISTS` names a folder as
    /// [`Self::netlists`] does; with [`COVERAGE`] set, the build counts as after [`Self::coverage`]. [`MUTANTS`] names
    /// a folder of mutated sources.
    pub fn build(mut self) {
        println!("cargo::rerun-if-changed=build.rs");
        println!("cargo::rerun-if-env-changed=VERILATED_NETLISTS");
        if let Some(folder) = env::var_os("VERILATED_NETLISTS") {
            self = self.netlists(folder);
        }
        println!("cargo::rerun-if-env-changed={MUTANTS}");
        self.mutants = env::var_os(MUTANTS).map(PathBuf::from).or(self.mutants);
        println!("cargo::rerun-if-env-changed={COVERAGE}");
        self.coverage |= env::var_os(COVERAGE).is_some();
        match self.try_build(&out_dir()) {
            Ok(built) => {
                for file in &built.inputs {
                    println!("cargo::rerun-if-changed={}", file.display());
                }
            }
            Err(error) => stop(&error),
        }
    }

    /// Builds into `out`: the static library, `units.rs` and `units.json`.
    pub fn try_build(&self, out: &Path) -> Result<Built, Error> {
        // Named before anything can fail, so that the run after a corrected error is not skipped.
        for path in self.netlists.iter().chain(&self.mutants).chain([&self.toml]) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let units = Units::read(&self.toml)?;
        for list in &units.lists[1..] {
            println!("cargo::rerun-if-changed={}", list.path.display());
        }
        let tools = Toolchain::find()?;
        let package = env::var("CARGO_PKG_NAME")
            .unwrap_or_else(|_| "units".into())
            .replace('-', "_");
        let models = store(out).map_or(out.into(), |store| store.join(&package));
        let mut jobs = model::jobs(&units, self.groups.as_deref(), &package, &models, &Kind::Usual)?;
        let is_twin = |name: &str| units.twins.iter().any(|twin| twin.name == name);
        let mut aliases = String::new();
        if let Some(folder) = &self.mutants {
            let kind = Kind::Mutated(mutants::Copies::read(folder)?);
            let models = models.join("mutants");
            jobs = model::jobs(&units, self.groups.as_deref(), &package, &models, &kind)?;
            let (twins, sets): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| is_twin(&job.name));
            aliases = emit::aliases(&units, &twins);
            jobs = sets;
        }
        if self.coverage {
            // Coverage points name files by their absolute paths: the same package elsewhere has others.
            let here = env::current_dir().map_err(|e| Error::io(Path::new("."), e))?;
            let models = models.join(format!("{:016x}", stamp::hash(here.as_os_str().as_encoded_bytes())));
            let counted = model::jobs(&units, self.groups.as_deref(), &package, &models, &Kind::Counting)?;
            for (job, counted) in jobs.iter_mut().zip(counted).filter(|(job, _)| !is_twin(&job.name)) {
                *job = counted;
            }
        }
        if let Some(folder) = &self.netlists {
            let folder = std::path::absolute(folder).map_err(|e| Error::io(folder, e))?;
            let netlists = units.netlists(&folder);
            // The RTL's own models stay, for the next build without netlists, and so do those of another folder.
            let models = models.join("netlists").join(folder.file_name().unwrap_or_default());
            let made = model::jobs(&netlists, None, &package, &models, &Kind::Usual)?;
            for mut netlist in made {
                if let Some(job) = jobs.iter_mut().find(|job| job.name == netlist.name) {
                    netlist.params = std::mem::take(&mut job.params);
                    *job = netlist;
                }
            }
        }
        for file in jobs.iter().flat_map(|job| &job.files) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let compiler = compiler::Compiler::new(&tools, store(out).as_deref());
        let mut models = Vec::new();
        for result in run(&batch::batches(&jobs), &units, &tools, &compiler) {
            models.extend(result?);
        }
        if !models.is_empty() {
            let mut archive = cpp(&tools);
            archive.objects(models.iter().flat_map(|m| &m.objects));
            archive.compile(&format!("verilated_{package}"));
        }
        let header = out.join("units.h");
        write_if_changed(&header, &emit::header(&jobs))?;
        bind(&tools, &header, &format!("{package}_.*"), "units_ffi.rs")?;
        let same = format!("const _: () = ::verilated::made_by({:?});\n", tools.version());
        let mut traits = String::new();
        for family in model::families(&units, &models)? {
            let beside = self
                .beside
                .as_ref()
                .filter(|(_, groups)| units.is_in(family.unit, groups));
            traits += &emit::traits_rs(&family, beside.map(|(module, _)| module.as_str()));
        }
        write_if_changed(
            &out.join("units.rs"),
            &(emit::units_rs(&models) + &traits + &aliases + &same),
        )?;
        write_if_changed(&out.join("units.json"), &emit::units_json(&models))?;
        let mut inputs: Vec<PathBuf> = models.iter().flat_map(|m| m.inputs.clone()).collect();
        inputs.sort();
        inputs.dedup();
        let rebuilt = models.iter().filter(|m| m.rebuilt).map(|m| m.name.clone()).collect();
        Ok(Built { inputs, rebuilt })
    }
}

/// The result of a build.
#[derive(Debug)]
pub struct Built {
    /// Every file Verilator read.
    pub inputs: Vec<PathBuf>,
    /// The structs with a new model in this run.
    pub rebuilt: Vec<String>,
}

/// Makes as many batches at a time as cargo allows; the results are in their order.
fn run(
    batches: &[batch::Batch],
    units: &Units,
    tools: &Toolchain,
    compiler: &compiler::Compiler,
) -> Vec<Result<Vec<model::Model>, Error>> {
    let workers = env::var("NUM_JOBS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1usize)
        .clamp(1, batches.len().max(1));
    let next = Mutex::new(0..batches.len());
    let results: Vec<_> = batches.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().expect("no worker panics with the lock").next() else {
                        break;
                    };
                    let result = batches[index].make(|job| tools.allowing(&units.allowed_to(&job.name)), compiler);
                    *results[index].lock().expect("each slot has one writer") = Some(result);
                }
            });
        }
    });
    results
        .into_iter()
        .map(|slot| slot.into_inner().expect("written once").expect("every batch ran"))
        .collect()
}

/// Binds a plain C header into `OUT_DIR/<file>`, only the names that match `allow`.
pub fn bind(tools: &Toolchain, header: &Path, allow: &str, file: &str) -> Result<(), Error> {
    if let Some(path) = tools.libclang() {
        // SAFETY: no other thread of this build script is running.
        unsafe { env::set_var("LIBCLANG_PATH", path) };
    }
    let builder = bindgen::Builder::default()
        .header(header.to_str().expect("build paths are UTF-8"))
        .allowlist_item(allow)
        .merge_extern_blocks(true)
        .layout_tests(false)
        .use_core()
        .rust_target(bindgen::RustTarget::stable(85, 0).unwrap_or_default())
        .rust_edition(bindgen::RustEdition::Edition2024);
    // bindgen panics when it finds no libclang.
    let bindings = catch_unwind(AssertUnwindSafe(|| builder.generate())).map_err(|_| Error::NoLibclang)?;
    let bindings = bindings.unwrap_or_else(|e| panic!("{}: {e}", header.display()));
    let path = out_dir().join(file);
    bindings.write_to_file(&path).map_err(|e| Error::io(&path, e))
}

/// Ends the build script with the error in cargo's format.
pub fn stop(error: &Error) -> ! {
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
    std::process::exit(1)
}

/// The folder of the models, beside cargo's `build` folder. Cargo gives one package several `OUT_DIR`s (for `cargo
/// clippy`, `cargo test` and `cargo run`), which may share equal models. `None` outside of cargo.
fn store(out: &Path) -> Option<PathBuf> {
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    build.map(|build| build.with_file_name("verilated"))
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives build scripts OUT_DIR"))
}

/// Leaves an unchanged file alone, so that its time does not make cargo compile again.
fn write_if_changed(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|e| Error::io(path, e))
}
