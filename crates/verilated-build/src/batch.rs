//! Models compiled together. The compiler takes a quarter of a second for each file before it comes to the model, and
//! most models take less.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::Compiler;
use crate::model::{Job, Model, Part};
use crate::{Error, Toolchain, stamp};

/// Models of one file, at most: more would keep one core busy at the end of a build.
const MOST: usize = 8;

/// Some of the sets of a unit, or of its twins.
#[derive(Debug)]
pub struct Batch<'a> {
    jobs: &'a [Job],
    folder: PathBuf,
}

/// All jobs, in their order. A model that is optimized for speed is a batch of its own: its time is its own too.
pub fn batches(jobs: &[Job]) -> Vec<Batch<'_>> {
    let key = |job: &Job| (job.store().to_path_buf(), job.of.clone(), job.waves, job.optimize);
    jobs.chunk_by(|a, b| key(a) == key(b))
        .flat_map(|jobs| jobs.chunks(if jobs[0].optimize >= 3 { 1 } else { MOST }))
        .map(|jobs| {
            let names: String = jobs.iter().map(|job| format!("{} ", job.name)).collect();
            let name = format!("{}-{:016x}", jobs[0].module, stamp::hash(names.as_bytes()));
            Batch {
                jobs,
                folder: jobs[0].store().join("objects").join(name),
            }
        })
        .collect()
}

impl Batch<'_> {
    /// Makes the models unless those that are there are up to date. `tools` gives the Verilator for a job.
    pub fn make(&self, tools: impl Fn(&Job) -> Toolchain, compiler: &Compiler) -> Result<Vec<Model>, Error> {
        let _alone = self.lock()?;
        let mut texts = Vec::new();
        for job in self.jobs {
            texts.push(job.verilated(&tools(job))?);
        }
        let own = concat!(include_str!("batch.rs"), include_str!("compiler.rs"));
        let stamps: String = texts.iter().map(|text| text.stamp.as_str()).collect();
        let text = format!("{:016x}", stamp::hash(format!("{own}{stamps}").as_bytes()));
        let stamp_file = self.folder.join("stamp");
        let parts: &[&[Part]] = match self.jobs[0].waves {
            true => &[&[Part::Model], &[Part::Rest, Part::Fst]],
            false => &[&[Part::Model]],
        };
        let objects: Vec<PathBuf> = (0..parts.len()).map(|i| self.folder.join(format!("{i}.o"))).collect();
        let is_fresh = fs::read_to_string(&stamp_file).is_ok_and(|old| old == text)
            && objects.iter().all(|object| object.is_file())
            && self.jobs.iter().all(Job::is_finished);
        let mut new = None;
        if !is_fresh {
            let _ = fs::remove_file(&stamp_file);
            for (i, (parts, object)) in parts.iter().zip(&objects).enumerate() {
                let optimize = if i == 0 { self.jobs[0].optimize } else { 0 };
                self.compile(compiler, parts, object, optimize)?;
            }
            new = Some(fs::read(&objects[0]).map_err(|e| Error::io(&objects[0], e))?);
        }
        let jobs = self.jobs.iter().zip(texts);
        let mut models: Vec<Model> = jobs
            .map(|(job, text)| job.finish(text, new.as_deref()))
            .collect::<Result<_, _>>()?;
        models[0].objects = objects;
        if !is_fresh {
            fs::write(&stamp_file, text).map_err(|e| Error::io(&stamp_file, e))?;
        }
        Ok(models)
    }

    /// Two build scripts may want the same models at the same time; the lock ends with the file.
    fn lock(&self) -> Result<fs::File, Error> {
        fs::create_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
        let path = self.folder.join("lock");
        let file = fs::File::create(&path).map_err(|e| Error::io(&path, e))?;
        file.lock().map_err(|e| Error::io(&path, e))?;
        Ok(file)
    }

    /// Compiles these parts of all models as one file, part by part.
    fn compile(&self, compiler: &Compiler, parts: &[Part], object: &Path, optimize: u32) -> Result<(), Error> {
        let sources = parts
            .iter()
            .flat_map(|&part| self.jobs.iter().map(move |job| job.source(part)));
        // Verilator's header of each model wants to be the only one of its kind in a file.
        let text: String = sources
            .map(|source| format!("#undef VL_PCH_INCLUDED\n#include \"{}\"\n", source.display()))
            .collect();
        let file = object.with_extension("cpp");
        fs::write(&file, text).map_err(|e| Error::io(&file, e))?;
        let failed = |message: String| Error::Compiler {
            unit: self
                .jobs
                .iter()
                .map(|job| job.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            message,
        };
        let mut build = compiler.build(optimize)?;
        build
            .includes(self.jobs.iter().map(Job::headers))
            .file(&file)
            .out_dir(&self.folder);
        let made = build.try_compile_intermediates().map_err(|e| failed(e.to_string()))?;
        fs::rename(&made[0], object).map_err(|e| Error::io(object, e))
    }
}
