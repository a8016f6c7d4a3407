//! The ports of a model, from the header that Verilator writes for it.

/// One port, as Verilator stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub output: bool,
    pub width: usize,
    /// 32-bit words of a port over 64 bits, else 0.
    pub words: usize,
}

impl Port {
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
            name,
            output,
            width: high.abs_diff(low) + 1,
            words,
        });
    }
    Ok(ports)
}
