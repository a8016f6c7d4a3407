//! One unit with one parameter set: from SystemVerilog to an object file and the Rust text that drives it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mutants::Copies;
use crate::twin::Patch;
use crate::{Error, Set, Toolchain, Twin, Unit, Units, coverage, emit, ports, stamp, units};

/// What has to be made.
#[derive(Debug)]
pub struct Job {
    /// The unit or twin in the list, for messages.
    pub unit: String,
    /// The unit in the list.
    pub of: String,
    /// The Rust struct.
    pub name: String,
    /// The Rust module, and the folder.
    pub module: String,
    /// Prefix of the C names: the package and the module, so that two packages can be linked together.
    pub symbol: String,
    /// The Verilator class.
    pub class: String,
    pub top: String,
    /// Every file the list names for it.
    pub files: Vec<PathBuf>,
    pub params: Vec<(String, toml::Value)>,
    pub clocks: Vec<String>,
    /// Paths of signals inside that can be read.
    public: Vec<String>,
    pub savable: bool,
    arguments: Vec<String>,
    /// The C++ compiler's `-O`.
    pub optimize: u32,
    /// With the code that writes waves.
    pub waves: bool,
    folder: PathBuf,
    patch: Option<Patch>,
}

/// What was made of it.
#[derive(Debug)]
pub struct Model {
    /// The unit in the list that it is of.
    pub of: String,
    pub name: String,
    pub module: String,
    /// Name, and whether it is an output; sorted. With the public signals.
    pub ports: Vec<(String, bool)>,
    pub objects: Vec<PathBuf>,
    pub inputs: Vec<PathBuf>,
    pub rebuilt: bool,
    /// The Rust text of the unit.
    pub rust: String,
    /// The unit's entry in `units.json`.
    pub json: String,
}

/// The C++ text of a model: the code of each evaluation, and the rest. The rest is most of the text, and its speed
/// hardly counts. Without waves all is in the first.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Model,
    Rest,
    /// The rest for waves of the other format, which must come behind all `Rest`: its header replaces that for VCD.
    Fst,
}

/// Verilator's text of a model.
#[derive(Debug)]
pub struct Text {
    pub inputs: Vec<PathBuf>,
    /// Changes with the text.
    pub stamp: String,
}

/// What all sets and twins of a unit have in common.
#[derive(Debug)]
pub struct Family<'a> {
    pub unit: &'a str,
    /// Module and name.
    pub members: Vec<(&'a str, &'a str)>,
    /// Name, and whether it is an output.
    pub ports: &'a [(String, bool)],
    /// The parameters that every set of the list has, with their Rust types.
    pub params: Vec<(&'a str, &'static str)>,
}

/// The families of these models, in the order of the list.
pub fn families<'a>(units: &'a Units, models: &'a [Model]) -> Result<Vec<Family<'a>>, Error> {
    let mut families = Vec::new();
    for unit in &units.units {
        let mut of = models.iter().filter(|model| model.of == unit.name).peekable();
        let Some(&first) = of.peek() else { continue };
        let mut params = Vec::new();
        for (param, value) in &unit.sets[0].params {
            let kind = emit::kind(value);
            let is_there = |set: &Set| set.params.get(param).is_some_and(|value| emit::kind(value) == kind);
            if unit.sets.iter().all(is_there) {
                params.push((param.as_str(), kind));
            }
        }
        let mut members = Vec::new();
        for model in of {
            if model.ports != first.ports {
                return Err(Error::Unit {
                    unit: unit.name.clone(),
                    message: format!("{} has other ports than {}", model.name, first.name),
                });
            }
            members.push((model.module.as_str(), model.name.as_str()));
        }
        families.push(Family {
            unit: &unit.name,
            members,
            ports: &first.ports,
            params,
        });
    }
    Ok(families)
}

/// What models are for. Models of one kind stay for the next build while those of another are made.
#[derive(Debug)]
pub enum Kind {
    Usual,
    /// All but twins count their branches.
    Counting,
    /// Made from mutated copies.
    Mutated(Copies),
}

/// The jobs of the chosen groups, in the order of the list.
pub fn jobs(
    units: &Units,
    groups: Option<&[String]>,
    package: &str,
    models: &Path,
    kind: &Kind,
) -> Result<Vec<Job>, Error> {
    let mut jobs = Vec::new();
    let mut modules = BTreeSet::new();
    for named in named(units)? {
        if groups.is_none_or(|groups| groups.contains(named.group())) {
            let job = Job::new(units, named, package, models, kind)?;
            if !modules.insert(job.module.clone()) {
                let module = &job.module;
                return Err(job.fail(format!(
                    "two sets give the Rust module `{module}`: give one of them a `name`"
                )));
            }
            jobs.push(job);
        }
    }
    Ok(jobs)
}

/// A set with the name of its struct; a twin has the set that it is a twin of.
struct Named<'a> {
    name: String,
    unit: &'a Unit,
    set: Set,
    twin: Option<&'a Twin>,
}

impl Named<'_> {
    fn group(&self) -> &String {
        self.set.group.as_ref().unwrap_or(&self.unit.group)
    }

    /// The words of Verilator's command that say how the model is made: what it carries, and how its state begins.
    fn options(&self, savable: bool, coverage: bool, waves: bool) -> Vec<String> {
        let random = self
            .set
            .random
            .or(self.unit.random)
            .unwrap_or(self.group() != "machine");
        let start = if random { "unique" } else { "fast" };
        let waves = ["--trace-vcd"].into_iter().filter(|_| waves);
        ["--cc", "-O3", "--assert", "--quiet"]
            .into_iter()
            .chain(waves)
            .chain([
                "--timescale-override",
                "1ps/1ps",
                "--x-assign",
                start,
                "--x-initial",
                start,
            ])
            .chain(["--savable"].into_iter().filter(|_| savable))
            .chain(["--coverage-line"].into_iter().filter(|_| coverage))
            .map(String::from)
            .collect()
    }

    /// The words that define the macros of the list, the unit and the set.
    fn defines(&self, units: &Units) -> Vec<String> {
        let is_kept = |define: &&String| self.twin.is_none_or(|twin| !twin.without.contains(define));
        let all = [&units.defines, &self.unit.defines, &self.set.defines];
        all.into_iter()
            .flatten()
            .filter(is_kept)
            .map(|define| format!("-D{define}"))
            .collect()
    }
}

/// All sets, then all twins.
fn named(units: &Units) -> Result<Vec<Named<'_>>, Error> {
    let mut all = Vec::new();
    for unit in &units.units {
        let sets = if unit.sets.is_empty() {
            vec![Set::default()]
        } else {
            unit.sets.clone()
        };
        all.extend(sets.into_iter().map(|set| Named {
            name: unit.struct_name(&set),
            unit,
            set,
            twin: None,
        }));
    }
    let sets = all.len();
    for twin in &units.twins {
        let of = all[..sets].iter().find(|set| set.name == twin.of);
        let of = of.ok_or_else(|| Error::Unit {
            unit: twin.name.clone(),
            message: format!("there is no set `{}` for it to be a twin of", twin.of),
        })?;
        all.push(Named {
            name: twin.name.clone(),
            unit: of.unit,
            set: of.set.clone(),
            twin: Some(twin),
        });
    }
    Ok(all)
}

impl Job {
    fn new(units: &Units, named: Named, package: &str, models: &Path, kind: &Kind) -> Result<Job, Error> {
        let listed = named.twin.map_or(&named.unit.name, |twin| &twin.name);
        if !units::is_identifier(&named.name) {
            return Err(Error::Unit {
                unit: listed.clone(),
                message: format!(
                    "`{}` is not a name for a Rust struct: give the set a `name`",
                    named.name
                ),
            });
        }
        let Named { unit, twin, .. } = named;
        let module = snake(&named.name);
        let savable = named.set.savable.unwrap_or(unit.savable);
        // Verilator has no counters in a model with checkpoints.
        let coverage = matches!(kind, Kind::Counting) && twin.is_none() && !savable;
        let folder = if coverage {
            models.join("coverage")
        } else {
            models.into()
        }
        .join(&module);
        let symbol = format!("{package}_{module}");
        let class = format!("V{symbol}");
        let top = unit.top.clone().unwrap_or_else(|| unit.name.clone());

        // Nobody looks at the waves of a twin or of a mutant.
        let waves = twin.is_none() && !matches!(kind, Kind::Mutated(_));
        let mut arguments = named.options(savable, coverage, waves);
        arguments.extend(["--prefix".into(), class.clone(), "--top-module".into(), top.clone()]);
        arguments.extend(named.defines(units));
        let mut files = units.files(unit)?;
        let mut read = files.clone();
        let patch = twin.map(|twin| Patch::new(twin, units.path(&twin.file), &folder));
        if let Some(patch) = &patch {
            arguments.extend(["-y".into(), patch.folder().display().to_string()]);
            read.iter_mut()
                .filter(|f| **f == patch.file)
                .for_each(|f| f.clone_from(&patch.copy));
            files.push(patch.file.clone());
        }
        arguments.extend(units.include.iter().map(|i| format!("-I{}", units.path(i).display())));
        if let Kind::Mutated(copies) = kind {
            // The changes make harmless warnings.
            arguments.extend(["-Wno-fatal", "-Wno-lint", "-Wno-style", "-y"].map(String::from));
            arguments.push(copies.folder().display().to_string());
            read.iter_mut().for_each(|file| *file = copies.of(file));
        }
        for library in &units.library {
            arguments.extend(["-y".into(), units.path(library).display().to_string()]);
        }
        if !unit.public.is_empty() {
            // With all modules in the root, a signal's path is its name there.
            arguments.extend(["--flatten".into(), public_list(&folder).display().to_string()]);
        }
        let values = unit.values(&named.set)?;
        arguments.extend(values.iter().map(|(param, value)| format!("-G{param}={value}")));
        arguments.extend(read.iter().map(|f| f.display().to_string()));
        Ok(Job {
            unit: listed.clone(),
            of: unit.name.clone(),
            folder,
            files,
            patch,
            clocks: unit.clocks.clone(),
            public: unit.public.clone(),
            savable,
            module,
            symbol,
            class,
            top,
            arguments,
            optimize: match twin {
                // A twin runs once and briefly: its time is that of the compiler.
                Some(_) => 0,
                None if coverage || matches!(kind, Kind::Mutated(_)) => 1,
                None => units.optimize.get(named.group()).copied().unwrap_or(3),
            },
            waves,
            name: named.name,
            params: named.set.params.into_iter().collect(),
        })
    }

    /// Has Verilator write the model, unless the text that is there is up to date.
    pub fn verilated(&self, tools: &Toolchain) -> Result<Text, Error> {
        let stamp_file = self.folder.join("stamp");
        // The text depends on these crates too.
        let own = concat!(
            include_str!("emit.rs"),
            include_str!("model.rs"),
            include_str!("ports.rs"),
            include_str!("mutants.rs"),
            include_str!("coverage.rs"),
            include_str!("twin.rs")
        );
        let twin = self.patch.as_ref().map(|patch| &patch.twin);
        let command = format!(
            "{} {:?} {:?} {:?} {} {twin:?} {own}",
            tools.version(),
            self.arguments,
            self.clocks,
            self.public,
            self.optimize
        );
        let inputs = match stamp::fresh(&stamp_file, &command) {
            Some(inputs) => inputs,
            None => {
                let _ = fs::remove_dir_all(&self.folder);
                let inputs = self.verilate(tools)?;
                self.write_text()?;
                let text = stamp::text(&command, &inputs).ok_or_else(|| self.fail("a source file vanished"))?;
                self.write(&stamp_file, &text)?;
                inputs
            }
        };
        Ok(Text {
            inputs,
            stamp: self.read(&stamp_file)?,
        })
    }

    /// The model, from its text and from the new object file with its code, if there is a new one.
    pub fn finish(&self, text: Text, object: Option<&[u8]>) -> Result<Model, Error> {
        let (rust, json) = (self.folder.join("unit.rs"), self.folder.join("unit.json"));
        let ports = self.ports()?;
        if let Some(object) = object {
            let offsets = self.offsets(object, ports.len())?;
            self.write(&rust, &emit::unit_rs(self, &ports, &offsets))?;
            self.write(&json, &emit::unit_json(self, &ports))?;
        }
        let mut ports: Vec<_> = ports.into_iter().map(|port| (port.name, port.output)).collect();
        ports.sort();
        Ok(Model {
            of: self.of.clone(),
            name: self.name.clone(),
            module: self.module.clone(),
            ports,
            inputs: text.inputs,
            rebuilt: object.is_some(),
            rust: self.read(&rust)?,
            json: self.read(&json)?,
            objects: Vec::new(),
        })
    }

    /// Whether [`finish`](Self::finish) has run on the text.
    pub fn is_finished(&self) -> bool {
        ["unit.rs", "unit.json"]
            .iter()
            .all(|name| self.folder.join(name).is_file())
    }

    /// The folder of all models.
    pub fn store(&self) -> &Path {
        self.folder.parent().expect("each model has a folder in the store")
    }

    /// Verilator's text, for the compiler to search for headers.
    pub fn headers(&self) -> PathBuf {
        self.folder.join("generated")
    }

    /// A file of C++ text that [`verilated`](Self::verilated) wrote.
    pub fn source(&self, part: Part) -> PathBuf {
        self.folder.join(match part {
            Part::Model => "model.cpp",
            Part::Rest => "rest.cpp",
            Part::Fst => "fst.cpp",
        })
    }

    fn fail(&self, message: impl Into<String>) -> Error {
        Error::Unit {
            unit: self.unit.clone(),
            message: message.into(),
        }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), Error> {
        fs::write(path, text).map_err(|e| Error::io(path, e))
    }

    fn generated(&self, suffix: &str) -> PathBuf {
        self.folder.join("generated").join(format!("{}{suffix}", self.class))
    }

    fn read(&self, path: &Path) -> Result<String, Error> {
        fs::read_to_string(path).map_err(|e| Error::io(path, e))
    }

    /// Runs Verilator and gives the files it read.
    fn verilate(&self, tools: &Toolchain) -> Result<Vec<PathBuf>, Error> {
        let generated = self.folder.join("generated");
        fs::create_dir_all(&generated).map_err(|e| Error::io(&generated, e))?;
        self.patch.as_ref().map_or(Ok(()), Patch::write)?;
        let public = public_list(&self.folder);
        if !self.public.is_empty() {
            let name = |path: &String| format!("public_flat_rd -module \"*\" -var \"{}\"\n", signal_name(path));
            let names: String = self.public.iter().map(name).collect();
            self.write(&public, &format!("`verilator_config\n{names}"))?;
        }
        let mut command = tools.verilator();
        command.args(&self.arguments).arg("-Mdir").arg(&generated);
        let output = command.output().map_err(|e| Error::io(tools.root(), e))?;
        if !output.status.success() {
            let log = String::from_utf8_lossy(&output.stderr).trim_end().to_string();
            return Err(Error::Verilator {
                unit: self.name.clone(),
                log,
            });
        }
        let rule = self.read(&self.generated("__ver.d"))?;
        let mut inputs = stamp::dependencies(&rule);
        inputs.retain(|path| !path.starts_with(tools.root()) && *path != public);
        if let Some(Patch { file, copy, .. }) = &self.patch {
            let input = inputs.iter_mut().find(|input| *input == copy);
            let unread = || self.fail(format!("`{}` does not use {}", self.top, file.display()));
            input.ok_or_else(unread)?.clone_from(file);
        }
        Ok(inputs)
    }

    /// The ports, and behind them the public signals.
    fn ports(&self) -> Result<Vec<ports::Port>, Error> {
        let mut ports = ports::parse(&self.read(&self.generated(".h"))?).map_err(|m| self.fail(m))?;
        if !self.public.is_empty() {
            let root = self.read(&self.generated("___024root.h"))?;
            let signals = ports::signals(&root, &self.top, &ports, &self.public);
            ports.extend(signals.map_err(|m| self.fail(m))?);
        }
        let mut fields = BTreeSet::new();
        if let Some(twice) = ports.iter().find(|port| !fields.insert(emit::field(&port.name))) {
            let field = emit::field(&twice.name);
            return Err(self.fail(format!(
                "`{}` is not the only one to be the field `{field}`",
                twice.name
            )));
        }
        for clock in &self.clocks {
            if !ports.iter().any(|p| p.name == *clock && p.width == 1 && !p.output) {
                return Err(self.fail(format!("the clock `{clock}` is not an input of one bit")));
            }
        }
        Ok(ports)
    }

    /// Joins Verilator's text and our shim to the files of [`Part`].
    fn write_text(&self) -> Result<(), Error> {
        let ports = self.ports()?;
        let folder = self.folder.join("generated");
        let mut sources: Vec<PathBuf> = fs::read_dir(&folder)
            .map_err(|e| Error::io(&folder, e))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
            .collect();
        sources.sort();
        let [mut run, mut rest, mut vcd, mut fst] = [const { String::new() }; 4];
        for source in &sources {
            let (name, part) = (source.to_string_lossy(), self.read(source)?);
            if name.contains("__Trace") {
                vcd.push_str(&part);
                // A model carries the code for one wave format; that of the other differs only in the writer's type.
                fst.push_str(
                    &part
                        .replace("VerilatedVcd", "VerilatedFst")
                        .replace("verilated_vcd_c", "verilated_fst_c"),
                );
            } else if name.contains("__Slow") && !name.contains("__ConstPool") {
                rest.push_str(&part);
            } else {
                // The one name in it that is not the model's own.
                let own = format!("{}_trace_init", self.class);
                let part = part.replace("&trace_init,", &format!("&{own},"));
                run.push_str(&part.replace(" trace_init(", &format!(" {own}(")));
            }
        }
        let unknown = || self.fail("this Verilator writes models that are not known here: use the locked one");
        let points = coverage::points(&mut rest).ok_or_else(unknown)?;
        let generated = emit::Generated {
            wrapper: self.read(&self.generated(".cpp"))?,
            header: self.read(&self.generated("___024root.h"))?,
            sources: format!("{run}{rest}"),
            points,
        };
        run.push_str(&emit::shim(self, &ports, &generated).ok_or_else(unknown)?);
        if self.waves {
            rest.push_str(&vcd);
            fst.push_str(&emit::wave_shim(self, &generated).ok_or_else(unknown)?);
            self.write(&self.source(Part::Rest), &rest)?;
            self.write(&self.source(Part::Fst), &fst)?;
        } else {
            run.push_str(&rest);
        }
        self.write(&self.source(Part::Model), &run)
    }

    /// The offsets of the ports in the model's root, from the table the shim leaves in the object file.
    fn offsets(&self, object: &[u8], count: usize) -> Result<Vec<usize>, Error> {
        let mark: Vec<u8> = emit::layout_mark(&self.symbol)
            .iter()
            .flat_map(|n: &u32| n.to_ne_bytes())
            .collect();
        let start = object.windows(mark.len()).position(|w| w == mark);
        let table = start
            .map(|s| &object[s + mark.len()..])
            .filter(|t| t.len() >= 4 * count);
        let table = table.ok_or_else(|| self.fail("the object file has no table of ports"))?;
        Ok(table
            .chunks_exact(4)
            .take(count)
            .map(|c| u32::from_ne_bytes(c.try_into().expect("four bytes")) as usize)
            .collect())
    }
}

/// The file that tells Verilator of the public signals.
fn public_list(folder: &Path) -> PathBuf {
    folder.join("public.vlt")
}

/// The signal's own name in its path.
fn signal_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// `FifoW8D4` is `fifo_w8_d4`, and `BufFlits` is `buf_flits`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && before != '_' && !before.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
        before = c;
    }
    out
}
