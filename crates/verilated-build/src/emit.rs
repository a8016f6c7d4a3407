//! The texts that are written: the C++ shim and its header, and the Rust structs.

use std::fmt::Write;

use crate::model::{Family, Job, Model, snake};
use crate::ports::Port;
use crate::units::camel;
use crate::{Twin, Units, coverage, stamp};

/// Marks the table of this model's port offsets in an object file.
pub fn layout_mark(symbol: &str) -> [u32; 4] {
    let own = stamp::hash(symbol.as_bytes());
    [0x6c61_796f, 0x7574_5f6f, own as u32, (own >> 32) as u32]
}

/// Whether the wrapper's `eval_step` does, after the first call, nothing but what the shim does itself.
fn can_skip_wrapper(wrapper: &str, class: &str) -> bool {
    let Some((_, rest)) = wrapper.split_once(&format!("void {class}::eval_step() {{\n")) else {
        return false;
    };
    let Some((body, _)) = rest.split_once("\n}\n") else {
        return false;
    };
    let root = format!("{class}___024root___eval");
    let known = [
        "#ifdef VL_DEBUG".to_string(),
        format!("{root}_debug_assertions(&(vlSymsp->TOP));"),
        "#endif  // VL_DEBUG".into(),
        "vlSymsp->__Vm_activity = true;".into(),
        "vlSymsp->__Vm_deleter.deleteAll();".into(),
        "if (VL_UNLIKELY(!vlSymsp->__Vm_didInit)) {".into(),
        format!("{root}_static(&(vlSymsp->TOP));"),
        format!("{root}_initial(&(vlSymsp->TOP));"),
        format!("{root}_settle(&(vlSymsp->TOP));"),
        "vlSymsp->__Vm_didInit = true;".into(),
        "}".into(),
        format!("{root}(&(vlSymsp->TOP));"),
        "Verilated::endOfEval(vlSymsp->__Vm_evalMsgQp);".into(),
    ];
    let lines = body
        .lines()
        .map(str::trim)
        .filter(|l| !l.starts_with("VL_DEBUG_IF(") && !l.starts_with("//"));
    lines.eq(known.iter().map(String::as_str))
}

/// Whether the model uses its clocks only to look for their rising edges, each against the value it saw last. Then an
/// edge needs no evaluation with the clock low before it.
fn only_rises(generated: &Generated, clocks: &[String]) -> bool {
    let mut text = generated.sources.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut triggers = 0;
    for clock in clocks {
        let (now, then) = (format!("vlSelfRef.{clock}"), format!("vlSelfRef.{}", previous(clock)));
        let rising = format!("((IData)({now}) & (~ (IData)({then})))");
        triggers += text.matches(&rising).count();
        for known in [rising, format!("{then} = {now};"), format!("({now} & 0xfeU)")] {
            text = text.replace(&known, "");
        }
        let is_other = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if text.split(&now).skip(1).any(is_other) {
            return false;
        }
    }
    // One for each clock, and nothing else that is compared with what it was.
    triggers == clocks.len() && generated.header.matches("__Vtrigprevexpr").count() == triggers
}

/// Where the root keeps what a clock was at the last evaluation.
fn previous(clock: &str) -> String {
    format!("__Vtrigprevexpr___TOP__{clock}__0")
}

/// What Verilator wrote of a unit.
pub struct Generated {
    /// The class around the root.
    pub wrapper: String,
    /// The root's header.
    pub header: String,
    /// The root's code, without what is for waves.
    pub sources: String,
    /// What it counts.
    pub points: Vec<coverage::Point>,
}

/// The C++ end of a unit; `None` if the class is not as expected. The first evaluation goes through the class. After it
/// the shim evaluates the generated root itself where the class is known to add only two things: the deletion of class
/// objects and a queue for other threads. Synthesizable RTL has neither.
pub fn shim(job: &Job, ports: &[Port], generated: &Generated) -> Option<String> {
    let (class, symbol) = (&job.class, &job.symbol);
    let mark = layout_mark(symbol).map(|n| format!("{n}u, ")).concat();
    let offsets: String = ports
        .iter()
        .map(|p| format!("offsetof({class}___024root, {}), ", p.variable))
        .collect();
    let eval = if can_skip_wrapper(&generated.wrapper, class) {
        format!("root->vlSymsp->__Vm_activity = true;\n        {class}___024root___eval(root);")
    } else {
        "root->vlSymsp->__Vm_modelp->eval();".into()
    };
    let clocks = || job.clocks.iter().enumerate();
    let rise: String = if only_rises(generated, &job.clocks) {
        clocks()
            .map(|(i, clock)| {
                let previous = previous(clock);
                format!("\n        if (clocks >> {i} & 1) root->{previous} = 0, root->{clock} = 1;")
            })
            .collect()
    } else {
        let low = clocks().map(|(i, clock)| format!("\n        if (clocks >> {i} & 1) root->{clock} = 0;"));
        let high = clocks().map(|(i, clock)| format!("\n        if (clocks >> {i} & 1) root->{clock} = 1;"));
        format!(
            "{}\n        {eval}{}",
            low.collect::<String>(),
            high.collect::<String>()
        )
    };
    let inputs = ports.iter().filter(|p| !p.output);
    let zero: String = inputs
        .map(|p| format!("\n        std::memset(&root.{0}, 0, sizeof(root.{0}));", p.name))
        .collect();
    let save = if job.savable {
        format!(
            "void {symbol}_save(void* self, void* saver) {{
    {symbol}_guard([=] {{ *static_cast<VerilatedSerialize*>(saver) << *static_cast<{class}*>(self); }});
}}
void {symbol}_restore(void* self, void* loader) {{
    {symbol}_guard([=] {{ *static_cast<VerilatedDeserialize*>(loader) >> *static_cast<{class}*>(self); }});
}}
"
        )
    } else {
        String::new()
    };
    let guard = guard(job);
    let (counters, begin, end) = if generated.points.is_empty() {
        Default::default()
    } else {
        (
            coverage::shim(job, &generated.points),
            format!("\n        {symbol}_covered.begin(root);"),
            format!("\n    {symbol}_covered.end(*static_cast<{class}*>(self)->rootp);"),
        )
    };
    Some(format!(
        r#"{guard}{counters}extern "C" {{
extern const uint32_t {symbol}_layout[];
__attribute__((used)) const uint32_t {symbol}_layout[] = {{{mark}{offsets}}};
void* {symbol}_new(void* context, const char* name) {{
    {class}* model = nullptr;
    // A model makes and deletes its scopes in the context of its thread.
    Verilated::threadContextp(static_cast<VerilatedContext*>(context));
    {symbol}_guard([&] {{
        model = new {class}{{static_cast<VerilatedContext*>(context), name}};
        auto& root = *model->rootp;{begin}{zero}
        model->eval();  // the first one only notes where the clocks are: without it the first edge would be lost
    }});
    return model;
}}
void* {symbol}_root(void* self) {{ return static_cast<{class}*>(self)->rootp; }}
void {symbol}_free(void* self) {{
    Verilated::threadContextp(static_cast<{class}*>(self)->contextp());
    {symbol}_guard([=] {{ static_cast<{class}*>(self)->final(); }});{end}
    delete static_cast<{class}*>(self);
}}
void {symbol}_eval(void* self) {{
    {symbol}_guard([=] {{
        auto* const root = static_cast<{class}___024root*>(self);
        {eval}
    }});
}}
void {symbol}_rise(void* self, uint64_t clocks) {{
    {symbol}_guard([=] {{
        auto* const root = static_cast<{class}___024root*>(self);{rise}
        {eval}
    }});
}}
{save}}}
"#
    ))
}

/// The part of the C++ end that is for waves; `None` if the class is not as expected.
pub fn wave_shim(job: &Job, generated: &Generated) -> Option<String> {
    let (class, symbol) = (&job.class, &job.symbol);
    // How many codes the model needs in a wave file.
    let wrapper = &generated.wrapper;
    let (_, after) = wrapper.split_once("addInitCb(&trace_init, &(vlSymsp->TOP), name(), false, ")?;
    let codes = after.split_once(')')?.0.parse::<u32>().ok()?;
    let decl_types = format!("{class}___024root__trace_decl_types");
    let guard = guard(job);
    Some(format!(
        r#"{guard}template <class Tracer>
static void {symbol}_declare(void* self, Tracer* tracer, uint32_t code) {{
    auto* const root = static_cast<{class}___024root*>(self);
    root->vlSymsp->__Vm_baseCode = code;
    tracer->pushPrefix(root->vlSymsp->name(), VerilatedTracePrefixType::SCOPE_MODULE);
    {decl_types}(tracer);
    {class}___024root__trace_init_top(root, tracer);
    tracer->popPrefix();
}}
template <class Tracer, class File>
static void {symbol}_trace_into({class}* model, File* file) {{
    file->spTrace()->addModel(model);
    file->spTrace()->addInitCb(&{symbol}_declare<Tracer>, model->rootp, model->name(), false, {codes});
    {class}___024root__trace_register(model->rootp, file->spTrace());
}}
extern "C" void {symbol}_trace(void* self, void* file, int fst) {{
    auto* const model = static_cast<{class}*>(self);
    {symbol}_guard([=] {{
        if (fst) {{
            {symbol}_trace_into<VerilatedFst>(model, static_cast<VerilatedFstC*>(file));
        }} else {{
            {symbol}_trace_into<VerilatedVcd>(model, static_cast<VerilatedVcdC*>(file));
        }}
    }});
}}
"#
    ))
}

/// What both parts begin with.
fn guard(job: &Job) -> String {
    let (class, symbol) = (&job.class, &job.symbol);
    format!(
        r#"
#include <cstring>
#include "{class}__Syms.h"
// A fatal error, recorded by the runtime's hook already, ends the call and not the process.
template <class Body>
static void {symbol}_guard(Body body) {{
    try {{
        body();
    }} catch (int) {{
    }}
}}
"#
    )
}

/// The C header of all units, for bindgen.
pub fn header(jobs: &[Job]) -> String {
    let mut text = String::from("#pragma once\n#include <stdint.h>\n");
    for job in jobs {
        let symbol = &job.symbol;
        writeln!(
            text,
            "void* {symbol}_new(void* context, const char* name);
void* {symbol}_root(void* self);
void {symbol}_free(void* self);
void {symbol}_eval(void* root);
void {symbol}_rise(void* root, uint64_t clocks);"
        )
        .expect("a String takes everything");
        if job.waves {
            writeln!(text, "void {symbol}_trace(void* self, void* file, int fst);").expect("a String takes everything");
        }
        if job.savable {
            writeln!(
                text,
                "void {symbol}_save(void* self, void* saver);\nvoid {symbol}_restore(void* self, void* loader);"
            )
            .expect("a String takes everything");
        }
    }
    text
}

/// The Rust type of a parameter.
pub fn kind(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::Integer(n) if *n >= 0 => "usize",
        toml::Value::Integer(_) => "i64",
        toml::Value::Boolean(_) => "bool",
        _ => "&'static str",
    }
}

/// The Rust module of one unit.
pub fn unit_rs(job: &Job, ports: &[Port], offsets: &[usize]) -> String {
    let (name, module, symbol, top) = (&job.name, &job.module, &job.symbol, &job.top);
    let set: Vec<String> = job
        .params
        .iter()
        .map(|(param, value)| format!("{param} = {value}"))
        .collect();
    let with = if set.is_empty() {
        String::new()
    } else {
        format!(" with {}", set.join(", "))
    };
    let (consts, layout, info) = (consts(job), layout(ports, offsets), info(job, ports, offsets));
    format!(
        r#"/// The unit `{top}`{with}.
pub mod {module} {{
    use super::ffi;

    /// `{top}`{with}. The ports are fields.
    pub struct {name} {{
        core: ::verilated::Core,
    }}

    impl {name} {{
{consts}
        /// An instance in the context, called after its module; its inputs are zero.
        pub fn new(context: &::verilated::Context) -> Self {{
            Self::named(context, {top:?})
        }}

        /// An instance of this name, which is its scope in waves.
        pub fn named(context: &::verilated::Context, name: &str) -> Self {{
            // SAFETY: `UNIT` describes the functions and ports of this very model.
            Self {{ core: unsafe {{ ::verilated::Core::new(context, name, &UNIT) }} }}
        }}

        /// Lets the model settle on its inputs. Panics, with file and line, when an assertion of the RTL fails.
        #[inline(always)]
        pub fn eval(&self) {{
            // SAFETY: the root belongs to this model, which lives as long as `core`.
            unsafe {{ ffi::{symbol}_eval(self.core.root()) }};
            self.core.check();
        }}

        /// The rising edges of these clocks, bit `i` for number `i` of `clocks()`, with the inputs as they are. The
        /// clocks are high after it. It is the same as an evaluation with them low and one with them high, but a
        /// single one where the unit uses only the rise of its clocks.
        #[inline(always)]
        pub fn rise(&self, clocks: u64) {{
            // SAFETY: as in `eval`.
            unsafe {{ ffi::{symbol}_rise(self.core.root(), clocks) }};
            self.core.check();
        }}
    }}

    impl ::core::ops::Deref for {name} {{
        type Target = Ports;

        #[inline(always)]
        fn deref(&self) -> &Ports {{
            // SAFETY: `Ports` lies over the model's root, as the offsets from its own compiler say.
            unsafe {{ &*self.core.root().cast() }}
        }}
    }}

    impl ::verilated::Verilated for {name} {{
        #[inline(always)]
        fn core(&self) -> &::verilated::Core {{
            &self.core
        }}

        #[inline(always)]
        fn eval(&self) {{
            self.eval();
        }}

        #[inline(always)]
        fn rise(&self, clocks: u64) {{
            self.rise(clocks);
        }}
    }}

    // SAFETY: the assertions below hold `Ports` to the model's own offsets.
    unsafe impl ::verilated::Unit for {name} {{
        type Ports = Ports;

        fn named(context: &::verilated::Context, name: &str) -> Self {{
            Self::named(context, name)
        }}
    }}

{layout}{info}}}
pub use {module}::{name};

"#
    )
}

/// The parameters of a unit's set, as constants.
fn consts(job: &Job) -> String {
    let mut consts = String::new();
    for (param, value) in &job.params {
        let kind = kind(value);
        let value = match value {
            toml::Value::String(text) => format!("{text:?}"),
            other => other.to_string(),
        };
        let upper = snake(param).to_ascii_uppercase();
        writeln!(
            consts,
            "        /// Parameter `{param}`.\n        pub const {upper}: {kind} = {value};"
        )
        .expect("String");
    }
    consts
}

/// The struct of a unit's ports, where the model keeps them, and the assertions that hold it to the model's offsets.
fn layout(ports: &[Port], offsets: &[usize]) -> String {
    let mut order: Vec<usize> = (0..ports.len()).collect();
    order.sort_by_key(|&i| offsets[i]);
    let (mut fields, mut checks, mut end) = (String::new(), String::new(), 0);
    for i in order {
        let (port, offset) = (&ports[i], offsets[i]);
        if offset > end {
            writeln!(fields, "        _pad{end}: ::verilated::Pad<{}>,", offset - end).expect("String");
        }
        let (kind, way) = match port.output {
            true if port.is_inside() => ("Out", "Signal inside,"),
            true => ("Out", "Output"),
            false => ("In", "Input"),
        };
        let (rust, word, bits) = (field(&port.name), port.word(), port.width);
        let plural = if bits == 1 { "" } else { "s" };
        writeln!(
            fields,
            "        /// {way} of {bits} bit{plural}.\n        pub {rust}: ::verilated::{kind}<{word}, {bits}>,"
        )
        .expect("String");
        writeln!(
            checks,
            "    const _: () = assert!(::core::mem::offset_of!(Ports, {rust}) == {offset});"
        )
        .expect("String");
        end = offset + port.bytes();
    }
    format!(
        "    /// The ports, where the model keeps them.
    #[repr(C)]
    pub struct Ports {{
{fields}    }}

{checks}
"
    )
}

/// A unit's functions and ports for the library `verilated`.
fn info(job: &Job, ports: &[Port], offsets: &[usize]) -> String {
    let (symbol, top, clocks) = (&job.symbol, &job.top, &job.clocks);
    let (mut infos, mut inside) = (String::new(), String::new());
    for (port, offset) in ports.iter().zip(offsets) {
        let infos = if port.is_inside() { &mut inside } else { &mut infos };
        writeln!(
            infos,
            "        ::verilated::PortInfo {{ name: {:?}, output: {}, width: {}, offset: {offset}, bytes: {} }},",
            port.name,
            port.output,
            port.width,
            port.bytes()
        )
        .expect("String");
    }
    let function = |is_there: bool, name: &str| match is_there {
        true => format!("Some(ffi::{symbol}_{name})"),
        false => "None".into(),
    };
    let trace = function(job.waves, "trace");
    let (save, restore) = (function(job.savable, "save"), function(job.savable, "restore"));
    format!(
        "    static UNIT: ::verilated::UnitInfo = ::verilated::UnitInfo {{
        top: {top:?},
        ports: &PORTS,
        signals: &[{inside}],
        clocks: &{clocks:?},
        new: ffi::{symbol}_new,
        root: ffi::{symbol}_root,
        free: ffi::{symbol}_free,
        eval: ffi::{symbol}_eval,
        trace: {trace},
        save: {save},
        restore: {restore},
    }};

    static PORTS: [::verilated::PortInfo; {count}] = [
{infos}    ];
",
        count = ports.iter().filter(|port| !port.is_inside()).count()
    )
}

/// The traits of one unit, and their implementations for all its sets and twins. `of`: the module that has the traits,
/// if not this one.
pub fn traits_rs(family: &Family, of: Option<&str>) -> String {
    let (unit, camel) = (family.unit, camel(family.unit));
    let mut text = String::new();
    let ports = || {
        family
            .ports
            .iter()
            .map(|(name, output)| (field(name), if *output { "Port" } else { "Input" }))
    };
    let consts = || {
        family
            .params
            .iter()
            .map(|(param, kind)| (param, snake(param).to_ascii_uppercase(), kind))
    };
    if let Some(of) = of {
        writeln!(text, "pub use {of}::{{{camel}Ports, {camel}Unit}};").expect("String");
    } else {
        let methods: String = ports()
            .map(|(name, kind)| format!("    fn {name}(&self) -> &impl ::verilated::{kind};\n"))
            .collect();
        let params: String = consts()
            .map(|(param, upper, kind)| format!("    /// Parameter `{param}`.\n    const {upper}: {kind};\n"))
            .collect();
        write!(
            text,
            "/// The ports of the unit `{unit}` with any parameters.
pub trait {camel}Ports {{
{methods}}}

/// The unit `{unit}` with any parameters, or broken.
pub trait {camel}Unit: ::verilated::Unit<Ports: {camel}Ports> {{
{params}}}
"
        )
        .expect("String");
    }
    for (module, name) in &family.members {
        let methods: String = ports()
            .map(|(port, kind)| {
                let method = format!("fn {port}(&self) -> &impl ::verilated::{kind}");
                format!("    #[inline(always)]\n    {method} {{\n        &self.{port}\n    }}\n")
            })
            .collect();
        let params: String = consts()
            .map(|(_, upper, kind)| format!("    const {upper}: {kind} = {name}::{upper};\n"))
            .collect();
        write!(
            text,
            "impl {camel}Ports for {module}::Ports {{\n{methods}}}\nimpl {camel}Unit for {name} {{\n{params}}}\n\n"
        )
        .expect("String");
    }
    text
}

/// A path's signs are `_`, and a Verilog name that is a word of Rust's is written raw.
pub fn field(name: &str) -> String {
    const WORDS: [&str; 18] = [
        "as", "async", "await", "fn", "in", "impl", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
        "trait", "type", "use", "where",
    ];
    if WORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.replace("].", "_").replace(['.', '[', ']'], "_")
    }
}

/// The names of twins that are not built.
pub fn aliases(units: &Units, twins: &[Job]) -> String {
    let is_left_out = |twin: &&Twin| twins.iter().any(|job| job.name == twin.name);
    let twins = units.twins.iter().filter(is_left_out);
    twins
        .map(|twin| format!("pub type {} = {};\n", twin.name, twin.of))
        .collect()
}

/// The file the crate includes.
pub fn units_rs(models: &[Model]) -> String {
    let mut text: String = models.iter().map(|m| m.rust.as_str()).collect();
    text.push_str(
        r#"#[allow(clippy::all, non_snake_case, unused)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/units_ffi.rs"));
}
"#,
    );
    text
}

/// One unit for other programs: top, parameters, clocks and ports.
pub fn unit_json(job: &Job, ports: &[Port]) -> String {
    let params: Vec<String> = job
        .params
        .iter()
        .map(|(param, value)| format!("{param:?}: {value}"))
        .collect();
    let ports: Vec<String> = ports
        .iter()
        .filter(|p| !p.is_inside())
        .map(|p| {
            format!(
                "{{\"name\": {:?}, \"output\": {}, \"width\": {}}}",
                p.name, p.output, p.width
            )
        })
        .collect();
    format!(
        r#"  {{"name": {:?}, "top": {:?}, "params": {{{}}}, "clocks": {:?}, "savable": {},
   "ports": [{}]}}"#,
        job.name,
        job.top,
        params.join(", "),
        job.clocks,
        job.savable,
        ports.join(", ")
    )
}

/// All units, for other programs.
pub fn units_json(models: &[Model]) -> String {
    format!(
        "[\n{}\n]\n",
        models.iter().map(|m| m.json.as_str()).collect::<Vec<_>>().join(",\n")
    )
}
