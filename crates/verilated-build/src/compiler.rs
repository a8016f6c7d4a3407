//! The C++ compiler, and how it is called.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Toolchain, stamp};

/// Every file of a model includes these headers. They cost a second of the compiler's time each, so GCC precompiles
/// them. The header for FST is not among them: it redefines the macros of the header for VCD where it is included.
const COMMON: &str = r#"#include "verilated.h"
#include "verilated_save.h"
#include "verilated_vcd_c.h"
#include <cstring>
"#;

/// For GCC: in RTL under load most conditions are chance, and computing both sides costs less than guessing wrong.
pub const FEW_BRANCHES: [&str; 2] = [
    "--param=max-rtl-if-conversion-unpredictable-cost=100",
    "--param=max-rtl-if-conversion-predictable-cost=100",
];

/// For all C++ here: with these flags a model driven from Rust is as fast as one driven from C++. The level does not
/// follow cargo's profile. The code is for executables only, which costs less than code for shared libraries.
pub fn cpp(tools: &Toolchain) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(3)
        .debug(false)
        .warnings(false)
        .pic(false)
        .flag("-fPIE")
        .flag("-fno-semantic-interposition")
        .flag("-fvisibility=hidden")
        .flag("-Wno-invalid-offsetof")
        .cargo_warnings(false)
        .define("VL_TIME_CONTEXT", None)
        .define("VERILATOR", "1")
        .define("VM_COVERAGE", "0")
        .define("VM_SC", "0")
        .define("VM_TIMING", "0")
        .define("VM_TRACE", "1")
        .define("VM_TRACE_VCD", "1")
        .define("VM_TRACE_FST", "1")
        .include(tools.include())
        .include(tools.include().join("vltstd"));
    build
}

/// The compiler for the files of models.
pub struct Compiler {
    base: cc::Build,
    gnu: bool,
    /// Where what is precompiled is kept, if it is.
    store: Option<PathBuf>,
}

impl Compiler {
    /// With a folder that outlives this build.
    pub fn new(tools: &Toolchain, store: Option<&Path>) -> Compiler {
        let mut base = cpp(tools);
        base.cargo_metadata(false);
        let tool = base.get_compiler();
        let version = tool.to_command().arg("--version").output().map(|o| o.stdout);
        let name = format!(
            "{:?} {tool:?} {:?} {COMMON}",
            tools.version(),
            version.unwrap_or_default()
        );
        let name = format!(".common-{:016x}", stamp::hash(name.as_bytes()));
        let gnu = tool.is_like_gnu();
        Compiler {
            store: store.filter(|_| gnu).map(|store| store.join(name)),
            gnu,
            base,
        }
    }

    /// For one file, with `-O` of this level.
    pub fn build(&self, optimize: u32) -> Result<cc::Build, Error> {
        let mut build = self.base.clone();
        build.opt_level(optimize);
        if self.gnu && optimize >= 3 {
            build.flags(FEW_BRANCHES);
        }
        if let Some(store) = &self.store {
            let header = precompiled(&build, &store.join(format!("O{optimize}")))?;
            build.flag("-include").flag(header);
        }
        Ok(build)
    }
}

/// The header beside which its precompiled form lies.
fn precompiled(build: &cc::Build, folder: &Path) -> Result<PathBuf, Error> {
    let (header, made) = (folder.join("common.h"), folder.join("common.h.gch"));
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    // Others may want it at the same time; the lock ends with the file.
    let lock = folder.join("lock");
    let file = fs::File::create(&lock).map_err(|e| Error::io(&lock, e))?;
    file.lock().map_err(|e| Error::io(&lock, e))?;
    if !made.is_file() {
        fs::write(&header, COMMON).map_err(|e| Error::io(&header, e))?;
        let new = folder.join("new");
        let mut command = build.get_compiler().to_command();
        command.args(["-x", "c++-header", "-o"]).arg(&new).arg(&header);
        let output = command.output().map_err(|e| Error::io(&header, e))?;
        if !output.status.success() {
            return Err(Error::Compiler {
                unit: "what all models include".into(),
                message: String::from_utf8_lossy(&output.stderr).trim_end().to_string(),
            });
        }
        fs::rename(&new, &made).map_err(|e| Error::io(&made, e))?;
    }
    Ok(header)
}
