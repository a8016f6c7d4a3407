//! The ports and public signals of a model, from the headers that Verilator writes for it.

/// One port or public signal, as Verilator stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Of a signal, its path below the top.
    pub name: String,
    /// Its name in the model's root.
    pub variable: String,
    /// A signal cannot be set either.
    pub output: bool,
    pub width: usize,
    /// 32-bit words of a port over 64 bits, else 0.
    pub words: usize,
}

impl Port {
    /// It is a public signal inside.
    pub fn is_inside(&self) -> bool {
        self.name != self.variable
    }

    /// The Rust type of the stored value.
    pub fn word(&self) -> String {
        match self.words {
            0 => format!("u{}", 8 * self.bytes()),
            words => format!("[u32; {words}]"),
        }
    }

    pub fn bytes(&self) -> usize {
        match self.width {
            _ if self.words > 0 => 4 * self.words,
            0..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            _ => 8,
        }
    }
}

/// Reads the section of lines such as `VL_IN8(&clk_i,0,0);` and `VL_OUTW(&data_o,127,0,4);`.
pub fn parse(header: &str) -> Result<Vec<Port>, String> {
    let section = header
        .split_once("// PORTS\n")
        .and_then(|(_, rest)| rest.split_once("// CELLS\n"));
    let (section, _) = section.ok_or("Verilator's header has no section of ports")?;
    let mut ports = Vec::new();
    for line in section
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
    {
        // An inout, an unpacked array, a real, a string.
        let other = || format!("only packed inputs and outputs can be driven from Rust, and this is neither: {line}");
        if line.starts_with("VL_INOUT") {
            return Err(other());
        }
        let output = line.starts_with("VL_OUT");
        let rest = line
            .strip_prefix(if output { "VL_OUT" } else { "VL_IN" })
            .ok_or_else(other)?;
        let (_, inside) = rest.split_once("(&").ok_or_else(other)?;
        let mut parts = inside.strip_suffix(");").ok_or_else(other)?.split(',');
        let name = parts.next().ok_or_else(other)?.to_string();
        let mut number = || parts.next().and_then(|part| part.trim().parse::<usize>().ok());
        let (high, low) = (number().ok_or_else(other)?, number().ok_or_else(other)?);
        let words = number().unwrap_or(0);
        ports.push(Port {
            variable: name.clone(),
            name,
            output,
            width: high.abs_diff(low) + 1,
            words,
        });
    }
    Ok(ports)
}

/// The signals of these paths below the top, which are no ports of it, from the root's lines such as
/// `IData/*31:0*/ top__DOT__u__DOT__a_q;` of a flattened model.
pub fn signals(root: &str, top: &str, ports: &[Port], paths: &[String]) -> Result<Vec<Port>, String> {
    let inside = format!("{top}__DOT__");
    let mut all = Vec::new();
    for line in root.lines() {
        let Some((kind, variable)) = line.trim().strip_suffix(';').and_then(|line| line.rsplit_once(' ')) else {
            continue;
        };
        if let Some(mangled) = variable.strip_prefix(&inside) {
            let signs = [("__DOT__", "."), ("__BRA__", "["), ("__KET__", "]"), ("___05F", "_")];
            let path = signs
                .iter()
                .fold(mangled.to_string(), |path, (from, to)| path.replace(from, to));
            if !ports.iter().any(|port| port.name == path) {
                all.push((path, kind, variable));
            }
        }
    }
    let signal = |path: &String| {
        let Some((_, kind, variable)) = all.iter().find(|(known, ..)| known == path) else {
            let near = near(path, all.iter().map(|(known, ..)| known.as_str()));
            return Err(format!("`{top}` has no signal `{path}`{near}"));
        };
        let (word, width) = packed(kind).ok_or_else(|| {
            format!("the signal `{path}` is an array or no vector, and only vectors can be seen from Rust")
        })?;
        Ok(Port {
            name: path.clone(),
            variable: variable.to_string(),
            output: true,
            width,
            words: if word.starts_with("VlWide") {
                width.div_ceil(32)
            } else {
                0
            },
        })
    };
    paths.iter().map(signal).collect()
}

/// The C++ type and the bits of `IData/*31:0*/`.
fn packed(kind: &str) -> Option<(&str, usize)> {
    let (word, range) = kind.strip_suffix("*/")?.split_once("/*")?;
    let (high, low) = range.split_once(':')?;
    let (high, low): (usize, usize) = (high.parse().ok()?, low.parse().ok()?);
    let is_vector = ["CData", "SData", "IData", "QData"].contains(&word) || word.starts_with("VlWide<");
    is_vector.then_some((word, high.abs_diff(low) + 1))
}

/// Up to three paths that may have been meant: to such a name elsewhere, or with a letter or two other.
fn near<'a>(path: &str, known: impl Iterator<Item = &'a str>) -> String {
    let own = path.rsplit('.').next();
    let distance = |known: &&str| strsim::damerau_levenshtein(path, known);
    let mut near: Vec<&str> = known
        .filter(|known| distance(known) <= 2 || own == known.rsplit('.').next())
        .collect();
    near.sort_by_key(distance);
    let names: Vec<String> = near.iter().take(3).map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(": did you mean {}?", names.join(" or ")),
    }
}
