//! The taken branches of a model. The counters are Verilator's. The shim adds them up over all instances in a process,
//! since Verilator's own runtime would list every point of every instance by name.

use std::fmt::Write;
use std::fs;

use crate::model::Job;

/// This variable makes a build script count branches. A process with models leaves its counts in the folder that the
/// variable names: a file for each model, `<package>_<unit>.<process>`. A line of it has the count, file, line, column,
/// kind (`line` or `branch`) and name (as `if`, `else`, `cond_then`), with tabs between.
pub const VARIABLE: &str = "VERILATED_COVERAGE";

/// A point, by its counter, as a C string's inside.
pub type Point = (usize, String);

/// Removes the calls that would name a model's points to Verilator's runtime from its code, and gives the points.
/// `None` if the calls are not as expected.
pub fn points(code: &mut String) -> Option<Vec<Point>> {
    let (mut points, mut kept) = (Vec::new(), String::new());
    let mut rest = code.as_str();
    while let Some((before, call)) = rest.split_once("vlSelf->__vlCoverInsert(&(vlSymsp->__Vcoverage[") {
        let (counter, call) = call.split_once("]), ")?;
        let (call, after) = call.split_once("\");\n")?;
        let mut texts = call.split('"');
        let file = fs::canonicalize(texts.nth(1)?).ok()?;
        let (line, column) = texts.next()?.trim_matches([',', ' ']).split_once(", ")?;
        let (_hierarchy, page, what) = (texts.next()?, texts.nth(1)?, texts.nth(1)?);
        let kind = page.strip_prefix("v_")?.split_once('/')?.0;
        let text = format!("{}\\t{line}\\t{column}\\t{kind}\\t{what}", file.display());
        points.push((counter.parse().ok()?, text));
        kept += before;
        rest = after;
    }
    kept += rest;
    // What the calls came to, once for each class.
    code.clear();
    let mut classes = kept.split("VL_COVER_INSERT(");
    *code += classes.next()?;
    for class in classes {
        *code += class.split_once(");\n")?.1;
    }
    Some(points)
}

/// The C++ that keeps a model's counts: `begin` is to be called with a new root, `end` with one that goes.
pub fn shim(job: &Job, points: &[Point]) -> String {
    let (class, symbol) = (&job.class, &job.symbol);
    let mut table = String::new();
    for (counter, text) in points {
        write!(table, "\n        {{{counter}, \"{text}\"}},").expect("a String takes everything");
    }
    format!(
        r#"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
static struct {symbol}_coverage {{
    static constexpr size_t counters = sizeof({class}__Syms::__Vcoverage) / sizeof(uint32_t);
    uint64_t counts[counters] = {{}};
    void begin({class}___024root& root) {{
        std::memset(root.vlSymsp->__Vcoverage, 0, sizeof(root.vlSymsp->__Vcoverage));
    }}
    void end(const {class}___024root& root) {{
        const auto& taken = root.vlSymsp->__Vcoverage;
        for (size_t i = 0; i < counters; ++i) __atomic_fetch_add(&counts[i], taken[i], __ATOMIC_RELAXED);
    }}
    ~{symbol}_coverage() {{
        const char* const folder = std::getenv("{VARIABLE}");
        if (!folder) return;
        const std::string path = std::string{{folder}} + "/{symbol}." + std::to_string(getpid());
        std::FILE* const file = std::fopen(path.c_str(), "a");
        if (!file) {{
            std::perror(path.c_str());
            return;
        }}
        static const struct {{
            size_t counter;
            const char* text;
        }} points[] = {{{table}
        }};
        for (const auto& point : points) {{
            std::fprintf(file, "%llu\t%s\n", static_cast<unsigned long long>(counts[point.counter]), point.text);
        }}
        std::fclose(file);
    }}
}} {symbol}_covered;
"#
    )
}
