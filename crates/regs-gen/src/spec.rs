//! The shape of `regs.toml`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Prefix of the package and of the C names, lower case.
    pub machine: String,
    pub title: String,
    pub output: Output,
    pub block: Vec<Block>,
    pub constants: Vec<Constants>,
}

/// The output files, relative to the checkout.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub sv: PathBuf,
    pub rust: PathBuf,
    pub c: PathBuf,
    pub docs: PathBuf,
    /// Names of values for waves, in Rust: of the registers, of chosen constants, and of the states of the blocks.
    pub names: Option<PathBuf>,
}

/// Words at byte offsets: the registers, or one format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub name: String,
    /// Put before every name of the block; empty for the registers.
    #[serde(default)]
    pub prefix: String,
    /// At most 64. Constants of masks have 64 bits where words have more than 32.
    pub word_bits: u32,
    /// Whether the package has the block, too; words that only software composes are left out.
    #[serde(default = "yes")]
    pub sv: bool,
    pub doc: String,
    pub word: Vec<Word>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    pub name: String,
    /// Bytes from the start of the block.
    pub offset: u32,
    /// `rw`, `ro`, `wo` or `w1c` for a register; empty in a format.
    #[serde(default)]
    pub access: String,
    pub doc: String,
    /// The block is this one word: its fields go by the block's name, and it has no offset.
    #[serde(default)]
    pub flat: bool,
    #[serde(default)]
    pub field: Vec<Field>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// `msb:lsb`, or one bit.
    pub bits: String,
    pub doc: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    pub name: String,
    #[serde(default)]
    pub prefix: String,
    /// As for a block.
    #[serde(default = "yes")]
    pub sv: bool,
    /// Whether waves show these names.
    #[serde(default)]
    pub waves: bool,
    pub value: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    pub name: String,
    pub value: u32,
    pub doc: String,
}

fn yes() -> bool {
    true
}

/// `PREFIX_NAME`, without a leading underscore where there is no prefix.
pub fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.into()
    } else {
        format!("{prefix}_{name}")
    }
}

impl Block {
    pub fn word_name(&self, word: &Word) -> String {
        if word.flat {
            self.prefix.clone()
        } else {
            joined(&self.prefix, &word.name)
        }
    }
}

impl Field {
    /// (lsb, width) of `bits`, or `None` where it is neither `n` nor `msb:lsb`.
    fn range(&self) -> Option<(u32, u32)> {
        match self.bits.split_once(':') {
            None => Some((self.bits.parse().ok()?, 1)),
            Some((msb, lsb)) => {
                let (msb, lsb): (u32, u32) = (msb.parse().ok()?, lsb.parse().ok()?);
                (msb >= lsb).then(|| (lsb, msb - lsb + 1))
            }
        }
    }

    pub fn lsb(&self) -> u32 {
        self.range().expect("checked on load").0
    }

    pub fn width(&self) -> u32 {
        self.range().expect("checked on load").1
    }

    /// The field's bits in place.
    pub fn mask(&self) -> u64 {
        (u64::MAX >> (64 - self.width())) << self.lsb()
    }
}

impl Machine {
    /// Checks that every name is unique, and every field lies in its word apart from its neighbours.
    pub fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let mut once = |name: String| {
            if names.insert(name.clone()) {
                Ok(())
            } else {
                Err(format!("{name} is defined twice"))
            }
        };
        for block in &self.block {
            for word in &block.word {
                let name = block.word_name(word);
                once(name.clone())?;
                if !matches!(word.access.as_str(), "" | "rw" | "ro" | "wo" | "w1c") {
                    return Err(format!("{name}: access {:?} must be rw, ro, wo or w1c", word.access));
                }
                if block.word_bits > 64 || word.offset % (block.word_bits / 8) != 0 {
                    return Err(format!("{name}: offset {:#x} is not word-aligned", word.offset));
                }
                let mut used = 0;
                for field in &word.field {
                    once(joined(&name, &field.name))?;
                    match field.range() {
                        Some((lsb, width)) if lsb + width <= block.word_bits => {}
                        _ => return Err(format!("{name}.{}: bits {:?} do not fit", field.name, field.bits)),
                    }
                    if used & field.mask() != 0 {
                        return Err(format!("{name}.{} overlaps a field before it", field.name));
                    }
                    used |= field.mask();
                }
            }
        }
        for set in &self.constants {
            for value in &set.value {
                once(joined(&set.prefix, &value.name))?;
            }
        }
        Ok(())
    }
}
