//! Every top on several families of FPGAs: does Yosys map it, and how large is it?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::pages::Part;
use crate::tops::Top;
use crate::{Flow, FlowError, Outcome, kept, lists, pool, yosys};

/// Map every top with Yosys for each family of FPGAs, and compare its sizes with the recorded ones
#[derive(clap::Args)]
pub struct Args {
    /// Only tops that match this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    top: Regex,
    /// Only families that match this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    family: Regex,
    /// Record these sizes: families.json beside the list of units, and the table in docs/synthesis.md
    #[arg(long)]
    record: bool,
    /// Number of tools at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// The families, beside the list of units; and the recorded sizes.
const LIST: &str = "families.toml";
const TABLE: &str = "families.json";

/// The page with the recorded sizes.
const PAGE: &str = "docs/synthesis.md";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    family: Vec<Family>,
    /// Tops that are elaborated only.
    #[serde(default)]
    whole: Vec<Whole>,
    /// Tops that a family has no cells for.
    #[serde(default)]
    refused: Vec<Refused>,
}

/// Numbers by patterns of cell types.
type Weights = BTreeMap<String, u64>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    name: String,
    /// Yosys's command, without its top.
    synth: String,
    /// The size of what `ram` counts.
    unit: String,
    lut: Weights,
    ff: Weights,
    ram: Weights,
    dsp: Weights,
    /// Patterns of the cells that count as nothing.
    free: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    top: String,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    top: String,
    family: String,
    /// A part of what Yosys says.
    says: String,
    why: String,
}

/// A top on a family, in its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Size {
    lut: u64,
    ff: u64,
    ram: u64,
    dsp: u64,
}

/// Sizes by top and by family.
type Sizes = BTreeMap<String, BTreeMap<String, Size>>;

/// The number of cells of each type.
type Cells = BTreeMap<String, u64>;

impl Family {
    fn size(&self, cells: &Cells) -> Result<Size, String> {
        let mut unknown: Vec<&str> = cells.keys().map(String::as_str).collect();
        let mut count = |weights: &Weights| -> Result<u64, String> {
            let mut sum = 0;
            for (pattern, weight) in weights {
                let pattern = Regex::new(&format!("^({pattern})$")).map_err(|e| e.to_string())?;
                unknown.retain(|kind| {
                    let fits = pattern.is_match(kind);
                    sum += if fits { weight * cells[*kind] } else { 0 };
                    !fits
                });
            }
            Ok(sum)
        };
        count(&self.free.iter().map(|pattern| (pattern.clone(), 0)).collect())?;
        let size = Size {
            lut: count(&self.lut)?,
            ff: count(&self.ff)?,
            ram: count(&self.ram)?,
            dsp: count(&self.dsp)?,
        };
        match unknown.is_empty() {
            true => Ok(size),
            false => Err(format!("{LIST} does not count its cells {}", unknown.join(", "))),
        }
    }
}

/// Of every folder, in the order of the library.
fn tops(flow: &Flow) -> Result<Vec<Top>, FlowError> {
    let tops = flow.units.library.iter().map(|folder| flow.tops(folder));
    Ok(tops.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// The list of families; a mistake in it is an error.
fn list(flow: &Flow, tops: &[Top]) -> Result<List, FlowError> {
    let path = flow.units.path(LIST);
    let list: List = lists::read(&path)?;
    let names = list.whole.iter().map(|whole| &whole.top);
    for top in names.chain(list.refused.iter().map(|refused| &refused.top)) {
        if !tops.iter().any(|there| there.name == *top) {
            return Err(FlowError::list(&path, format!("`{top}` is no top")));
        }
    }
    for Refused { family, .. } in &list.refused {
        if !list.family.iter().any(|there| there.name == *family) {
            return Err(FlowError::list(&path, format!("`{family}` is no family")));
        }
    }
    Ok(list)
}

/// What Yosys's `stat -json` says, as far as it is read.
#[derive(Default, Deserialize)]
struct Stat {
    design: Design,
}

#[derive(Default, Deserialize)]
struct Design {
    #[serde(default)]
    num_cells_by_type: Cells,
}

/// One top on its way through Yosys.
struct Work<'a> {
    flow: &'a Flow,
    top: &'a Top,
    folder: PathBuf,
    key: String,
}

impl<'a> Work<'a> {
    fn new(flow: &'a Flow, top: &'a Top) -> Result<Self, FlowError> {
        let folder = Path::new(yosys::FOLDER).join("families").join(&top.name);
        fs::create_dir_all(&folder).map_err(|e| FlowError::io(&folder, e))?;
        let mut parts = Vec::new();
        for file in &top.files {
            parts.push(fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?);
        }
        Ok(Self {
            flow,
            top,
            folder,
            key: kept::key(&parts),
        })
    }

    /// Elaborates it and runs these commands, as the script `name`.
    fn run(&self, name: &str, what: &str, commands: &str) -> Result<(), FlowError> {
        let script = format!(
            "{}log -stdout == {} {what}\nhierarchy -check -top {}\n{commands}",
            self.flow.read(&self.top.files),
            self.top.name,
            self.top.name
        );
        self.flow
            .yosys("yosys", &format!("families/{}/{name}", self.top.name), &script)
    }

    /// The cells of its netlist.
    fn map(&self, family: &Family) -> Result<Cells, FlowError> {
        let name = family.name.replace(' ', "_");
        let stat = self.folder.join(format!("{name}.stat.json"));
        let synth = format!(
            "{} -top {}\ntee -q -o {} stat -json\n",
            family.synth,
            self.top.name,
            stat.display()
        );
        let kept = self.folder.join(format!("{name}.json"));
        kept::or_make(&kept, &kept::key(&[&self.key, &synth]), || {
            self.run(&name, &format!("for {}", family.name), &synth)?;
            let read: Stat = lists::read_results(&stat)?;
            Ok(read.design.num_cells_by_type)
        })
    }

    /// Elaborates it, and no more.
    fn elaborate(&self) -> Result<(), FlowError> {
        let kept = self.folder.join("elaborated.json");
        kept::or_make(&kept, &self.key, || self.run("elaborated", "as a whole", ""))
    }
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let tops = tops(flow)?;
    let mut list = list(flow, &tops)?;
    list.family.retain(|family| args.family.is_match(&family.name));
    let table = flow.units.path(TABLE);
    let mut recorded: Sizes = lists::read_results(&table)?;
    let chosen: Vec<&Top> = tops.iter().filter(|top| args.top.is_match(&top.name)).collect();
    if chosen.is_empty() {
        return Err(FlowError::NoTop.into());
    }
    let (sizes, mut errors) = measure(flow, &list, &chosen, args.jobs);
    if args.record {
        if !errors.is_empty() {
            return Err(errors);
        }
        recorded.retain(|name, _| tops.iter().any(|top| top.name == *name));
        for (name, own) in sizes {
            recorded.entry(name).or_default().extend(own);
        }
        lists::write_results(&table, &recorded)?;
        part(flow)?.write()?;
        return Ok(format!("rtl-flow families: {} and {PAGE} are written", table.display()));
    }
    for (name, own) in &sizes {
        let there = recorded.get(name);
        if own
            .iter()
            .any(|(family, size)| there.and_then(|there| there.get(family)) != Some(size))
        {
            let message = format!("the sizes of {name} are others; `rtl-flow families --record` writes them");
            errors.push(FlowError::list(&table, message));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mapped: usize = sizes.values().map(BTreeMap::len).sum();
    Ok(format!(
        "rtl-flow families: {} tops, {mapped} sizes for {} families",
        chosen.len(),
        list.family.len()
    ))
}

/// The sizes of these tops, and what went wrong.
fn measure(flow: &Flow, list: &List, chosen: &[&Top], jobs: usize) -> (Sizes, Vec<FlowError>) {
    let mut runs: Vec<(&Top, Option<&Family>)> = Vec::new();
    for top in chosen {
        match list.whole.iter().any(|whole| whole.top == top.name) {
            true => runs.push((top, None)),
            false => runs.extend(list.family.iter().map(|family| (*top, Some(family)))),
        }
    }
    let bar = ProgressBar::new(runs.len() as u64);
    bar.set_style(ProgressStyle::with_template("families {bar:40} {pos}/{len} {msg}").expect("a sound template"));
    let results = pool::each(jobs, runs, |(top, family)| {
        let family_name = family.map_or("as a whole", |family| &family.name);
        bar.set_message(format!("{}, {family_name}", top.name));
        let size = one(flow, list, top, family);
        bar.inc(1);
        Ok((top, family, size?))
    });
    bar.finish_and_clear();
    let (mut sizes, mut errors) = (Sizes::new(), Vec::new());
    for result in results {
        match result {
            Ok((top, Some(family), Some(size))) => {
                sizes
                    .entry(top.name.clone())
                    .or_default()
                    .insert(family.name.clone(), size);
            }
            Ok(_) => {}
            Err(error) => errors.push(error),
        }
    }
    (sizes, errors)
}

/// The size of a top on a family; none where the list says that there is none.
fn one(flow: &Flow, list: &List, top: &Top, family: Option<&Family>) -> Result<Option<Size>, FlowError> {
    let work = Work::new(flow, top)?;
    let Some(family) = family else {
        return work.elaborate().map(|()| None);
    };
    let refused = |refused: &&Refused| refused.top == top.name && refused.family == family.name;
    match (work.map(family), list.refused.iter().find(refused)) {
        (Ok(cells), None) => family.size(&cells).map(Some).map_err(|text| FlowError::Finding {
            tool: "rtl-flow",
            what: format!("{} for {}", top.name, family.name),
            text,
        }),
        (Ok(_), Some(_)) => {
            let message = format!("{} has cells for `{}`: delete this refusal", family.name, top.name);
            Err(FlowError::list(&flow.units.path(LIST), message))
        }
        (Err(FlowError::Finding { text, .. }), Some(refused)) if text.contains(&refused.says) => Ok(None),
        (Err(error), _) => Err(error),
    }
}

/// The recorded sizes, for their page.
pub fn part(flow: &Flow) -> Result<Part, FlowError> {
    let part = |text| Part {
        page: PAGE.into(),
        name: "sizes by family".into(),
        text,
    };
    if !flow.units.path(LIST).is_file() {
        return Ok(part(String::new()));
    }
    let tops = tops(flow)?;
    let list = list(flow, &tops)?;
    let recorded: Sizes = lists::read_results(&flow.units.path(TABLE))?;
    let mut text = String::from("| Top |");
    for family in &list.family {
        text += &format!(" {} |", family.name);
    }
    text += &format!("\n|---|{}", "---:|".repeat(list.family.len()));
    for top in &tops {
        text += &format!("\n| `{}` |", top.name);
        for family in &list.family {
            let size = recorded.get(&top.name).and_then(|sizes| sizes.get(&family.name));
            let cell = size.map_or("-".into(), |size| {
                format!("{} / {} / {} / {}", size.lut, size.ff, size.ram, size.dsp)
            });
            text += &format!(" {cell} |");
        }
    }
    let units = list
        .family
        .iter()
        .map(|family| format!("{} of {}", family.unit, family.name));
    text += &format!("\n\nRAM blocks: {}.\n", units.collect::<Vec<_>>().join(", "));
    for whole in &list.whole {
        text += &format!("\n- `{}` is elaborated only: {}", whole.top, whole.why);
    }
    for refused in &list.refused {
        text += &format!(
            "\n- `{}` has no cells on {}: {}",
            refused.top, refused.family, refused.why
        );
    }
    Ok(part(text))
}
