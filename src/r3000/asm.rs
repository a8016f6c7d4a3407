//! Assembler of MIPS I, for the firmware of the on-chip processor.
//!
//! The syntax is the GNU assembler's, as far as it goes, with `.set noreorder`: nothing is moved or put between, delay
//! slots are the programmer's. Directives are `.org .word .half .byte .space .align .equ .set`.
//!
//! Four things are our own:
//! - `li` and `la` take one instruction where the value is known and allows it, or is an address of the image.
//! - The result of a load or of MFC0 is not read in its delay slot, also across a branch. `.set nohazard` allows it.
//! - An expression that C and the GNU assembler read differently is refused.
//! - `div` and `divu` have two operands, as in the manual, and only divide.

use std::collections::BTreeMap;

use super::isa::{Field, Insn, OPS, Op, REGISTERS};
use crate::harness::asm::expr::{self, Cursor, Expr, Scope, in_range};
use crate::harness::asm::listing::{self, Row};
use crate::harness::asm::{self, STATEMENT_BYTES};
use crate::harness::names;

pub use crate::harness::asm::{AsmError, Place, Refusal, Source};

/// The processor's SRAM.
pub const SRAM_BYTES: u32 = 16 << 10;

/// What to load into the SRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// From address 0.
    pub words: Vec<u32>,
    /// The line of each word; none of what `.org`, `.space` and `.align` fill.
    pub places: Vec<Option<Place>>,
    /// Labels and `.equ`, without the local labels.
    pub symbols: BTreeMap<String, u32>,
    pub sources: Vec<Source>,
}

/// Instructions that are others; the operands as they are written.
const PSEUDO: &[(&str, &[Field])] = {
    use Field::{Branch, Rd, Rs, Rt, RtOut, Signed};
    const COMPARE: &[Field] = &[Rs, Rt, Branch];
    &[
        ("nop", &[]),
        ("li", &[RtOut, Signed]),
        ("la", &[RtOut, Signed]),
        ("move", &[Rd, Rs]),
        ("neg", &[Rd, Rt]),
        ("negu", &[Rd, Rt]),
        ("not", &[Rd, Rs]),
        ("b", &[Branch]),
        ("beqz", &[Rs, Branch]),
        ("bnez", &[Rs, Branch]),
        ("bge", COMPARE),
        ("bgeu", COMPARE),
        ("bgt", COMPARE),
        ("bgtu", COMPARE),
        ("ble", COMPARE),
        ("bleu", COMPARE),
        ("blt", COMPARE),
        ("bltu", COMPARE),
    ]
};

const DIRECTIVES: [&str; 8] = [".align", ".byte", ".equ", ".half", ".org", ".set", ".space", ".word"];

/// The registers of coprocessor 0 that have a name here.
const COP0: [(&str, i64); 5] = [
    ("badvaddr", 8),
    ("status", 12),
    ("cause", 13),
    ("epc", 14),
    ("prid", 15),
];

const AT: i64 = 1;
const RA: i64 = 31;

type Parts = Vec<(&'static Op, Vec<Expr>)>;

enum Body {
    Insn(&'static Op, Vec<Expr>),
    /// So many bytes.
    Data(u32, Expr),
}

/// What becomes a word or a part of one.
struct Item {
    at: u32,
    place: Place,
    /// The first of its statement?
    first: bool,
    /// Must it keep to the load delay?
    hazards: bool,
    body: Body,
}

struct Assembler<'a> {
    sources: &'a [Source],
    scope: Scope,
    /// Where each symbol is defined; an equate has no place.
    defined: BTreeMap<String, Option<Place>>,
    items: Vec<Item>,
    place: Place,
    hazards: bool,
    /// The first line that does not fit.
    too_large: Option<Place>,
    errors: Vec<(Place, Refusal)>,
}

/// Assembles the sources one behind the other, from address 0. `equates` are symbols that the sources may use.
///
/// # Errors
/// All refusals, by file and line.
pub fn assemble(sources: &[Source], equates: &BTreeMap<String, u32>) -> Result<Image, Vec<AsmError>> {
    let symbols = equates.iter().map(|(name, &value)| (name.clone(), value.into()));
    let scope = Scope {
        symbols: symbols.collect(),
        ..Scope::default()
    };
    let mut assembler = Assembler {
        sources,
        scope,
        defined: equates.keys().map(|name| (name.clone(), None)).collect(),
        items: Vec::new(),
        place: Place { source: 0, line: 0 },
        hazards: true,
        too_large: None,
        errors: Vec::new(),
    };
    for (source, file) in sources.iter().enumerate() {
        for (line, text) in file.text.lines().enumerate() {
            assembler.place = Place { source, line: line + 1 };
            assembler.line(text);
        }
    }
    assembler.finish()
}

impl Assembler<'_> {
    fn line(&mut self, text: &str) {
        for statement in asm::statements(text) {
            if let Err(refusal) = self.statement(statement) {
                self.errors.push((self.place, refusal));
            }
        }
    }

    fn statement(&mut self, text: &str) -> Result<(), Refusal> {
        if text.len() > STATEMENT_BYTES {
            return Err(Refusal::Long { limit: STATEMENT_BYTES });
        }
        let cursor = &mut Cursor::new(text);
        while let Some(label) = cursor.label() {
            if expr::is_local(label) {
                let seen = self.scope.locals.entry(label.to_owned()).or_default();
                *seen += 1;
                let symbol = format!("{label}#{seen}");
                self.scope.symbols.insert(symbol, self.scope.at.into());
            } else if let Err(refusal) = self.define(label, self.scope.at.into()) {
                self.errors.push((self.place, refusal));
            }
        }
        if cursor.is_end() {
            return Ok(());
        }
        let before = *cursor;
        match cursor.word() {
            "" => Err(before.expected("an instruction, a directive or a label")),
            name if DIRECTIVES.contains(&name) => self.directive(name, cursor),
            name => {
                self.aligned(4)?;
                // An instruction that is refused takes its place, so that nothing is said of its neighbours.
                let (parts, refused) = match self.instruction(name, cursor) {
                    Ok(parts) => (parts, Ok(())),
                    Err(refusal) => (vec![part("sll", vec![Expr::Value(0); 3])], Err(refusal)),
                };
                for (at, (op, values)) in parts.into_iter().enumerate() {
                    self.push(4, at == 0, Body::Insn(op, values));
                }
                refused
            }
        }
    }

    fn define(&mut self, name: &str, value: i64) -> Result<(), Refusal> {
        if !expr::is_name(name) {
            let found = name.to_owned();
            return Err(Refusal::Expected { what: "a name", found });
        }
        if let Some(place) = self.defined.get(name) {
            let first = place.map_or("as an equate".to_owned(), |place| format!("at {}", self.name(place)));
            let name = name.to_owned();
            return Err(Refusal::Doubled { name, first });
        }
        self.defined.insert(name.to_owned(), Some(self.place));
        self.scope.symbols.insert(name.to_owned(), value);
        Ok(())
    }

    fn name(&self, place: Place) -> String {
        format!("{}:{}", self.sources[place.source].name, place.line)
    }

    fn push(&mut self, size: u32, first: bool, body: Body) {
        let (at, place, hazards) = (self.scope.at, self.place, self.hazards);
        self.items.push(Item {
            at,
            place,
            first,
            hazards,
            body,
        });
        self.advance(size);
    }

    fn advance(&mut self, bytes: u32) {
        self.scope.at = self.scope.at.saturating_add(bytes);
        if self.scope.at > SRAM_BYTES {
            self.too_large.get_or_insert(self.place);
        }
    }

    fn aligned(&self, size: u32) -> Result<(), Refusal> {
        let at = self.scope.at;
        if at.is_multiple_of(size) {
            Ok(())
        } else {
            Err(Refusal::Unaligned { at, size })
        }
    }

    /// An expression whose value must be known now.
    fn known(&self, cursor: &mut Cursor) -> Result<i64, Refusal> {
        self.scope
            .eval(&self.scope.expr(cursor)?)
            .map_err(|refusal| match refusal {
                Refusal::Undefined { name } => Refusal::Early { name },
                Refusal::NoLocal { number, .. } => Refusal::Early { name: number },
                other => other,
            })
    }

    fn directive(&mut self, name: &str, cursor: &mut Cursor) -> Result<(), Refusal> {
        let room = 0..=i64::from(SRAM_BYTES);
        match name {
            ".equ" => {
                let symbol = cursor.word();
                cursor.comma()?;
                let value = self.known(cursor)?;
                self.define(symbol, value)?;
            }
            ".org" => {
                let to = in_range("address", self.known(cursor)?, room)? as u32;
                let at = self.scope.at;
                let bytes = to.checked_sub(at).ok_or(Refusal::Back { at, to })?;
                self.advance(bytes);
            }
            ".space" => {
                let bytes = in_range("size", self.known(cursor)?, room)?;
                self.advance(bytes as u32);
            }
            ".align" => {
                let power = in_range("power of two", self.known(cursor)?, 0..=12)?;
                self.advance(self.scope.at.wrapping_neg() & ((1 << power) - 1));
            }
            ".set" => {
                let before = *cursor;
                match cursor.word() {
                    "hazard" => self.hazards = true,
                    "nohazard" => self.hazards = false,
                    "noreorder" => {}
                    _ => return Err(before.expected("`noreorder`, `nohazard` or `hazard`")),
                }
            }
            _ => {
                let size = match name {
                    ".byte" => 1,
                    ".half" => 2,
                    _ => 4,
                };
                self.aligned(size)?;
                loop {
                    let value = self.scope.expr(cursor)?;
                    self.push(size, true, Body::Data(size, value));
                    if !cursor.take(",") {
                        break;
                    }
                }
            }
        }
        cursor.end()
    }

    fn instruction(&self, name: &str, cursor: &mut Cursor) -> Result<Parts, Refusal> {
        if let Some(op) = Op::named(name) {
            let mut ahead = *cursor;
            ahead.word();
            if name == "jalr" && !ahead.starts(",") {
                let mut values = self.operands(&[Field::Rs], cursor)?;
                values.insert(0, Expr::Value(RA));
                return Ok(vec![(op, values)]);
            }
            return Ok(vec![(op, self.operands(op.fields, cursor)?)]);
        }
        let Some((_, fields)) = PSEUDO.iter().find(|(pseudo, _)| *pseudo == name) else {
            let nearest = nearest(name);
            let name = name.to_owned();
            return Err(Refusal::Unknown { name, nearest });
        };
        self.pseudo(name, self.operands(fields, cursor)?)
    }

    fn operands(&self, fields: &[Field], cursor: &mut Cursor) -> Result<Vec<Expr>, Refusal> {
        let mut values = Vec::new();
        for (at, &field) in fields.iter().enumerate() {
            if field.is_code() && cursor.is_end() {
                values.push(Expr::Value(0));
                continue;
            }
            if at > 0 && field != Field::Base {
                cursor.comma()?;
            }
            values.push(match field {
                Field::Base => {
                    if !cursor.take("(") {
                        return Err(cursor.expected("`(` and a register"));
                    }
                    let base = register(cursor, "a register", general)?;
                    if !cursor.take(")") {
                        return Err(cursor.expected("`)`"));
                    }
                    base
                }
                Field::Cop0 => register(cursor, "a register of coprocessor 0", cop0)?,
                Field::Offset if cursor.starts("($") => Expr::Value(0),
                _ if field.is_register() => register(cursor, "a register", general)?,
                _ => self.scope.expr(cursor)?,
            });
        }
        cursor.end()?;
        Ok(values)
    }

    fn pseudo(&self, name: &str, values: Vec<Expr>) -> Result<Parts, Refusal> {
        let zero = || Expr::Value(0);
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(Expr::Value(0));
        let (a, b, c) = (next(), next(), next());
        let one = |name, values: [Expr; 3]| Ok(vec![part(name, values.into())]);
        match name {
            "nop" => one("sll", [a, b, c]),
            "li" | "la" => self.load_immediate(a, b),
            "move" => one("or", [a, b, zero()]),
            "neg" => one("sub", [a, zero(), b]),
            "negu" => one("subu", [a, zero(), b]),
            "not" => one("nor", [a, b, zero()]),
            "b" => one("beq", [zero(), zero(), a]),
            "beqz" => one("beq", [a, zero(), b]),
            "bnez" => one("bne", [a, zero(), b]),
            _ => {
                let (relation, test) = name.strip_suffix('u').map_or((name, "slt"), |name| (name, "sltu"));
                let (branch, swapped) = match relation {
                    "bge" => ("beq", false),
                    "bgt" => ("bne", true),
                    "ble" => ("beq", true),
                    _ => ("bne", false),
                };
                let (left, right) = if swapped { (b, a) } else { (a, b) };
                Ok(vec![
                    part(test, vec![Expr::Value(AT), left, right]),
                    part(branch, vec![Expr::Value(AT), zero(), c]),
                ])
            }
        }
    }

    /// A value that is not known yet is taken for an address of the image: these are short.
    fn load_immediate(&self, register: Expr, value: Expr) -> Result<Parts, Refusal> {
        let signed = |value| vec![part("addiu", vec![register.clone(), Expr::Value(0), value])];
        let known = match self.scope.eval(&value) {
            Ok(known) => expr::word(known)?,
            Err(Refusal::Undefined { .. } | Refusal::NoLocal { .. }) => return Ok(signed(value)),
            Err(refusal) => return Err(refusal),
        };
        if let Ok(short) = i16::try_from(known as i32) {
            return Ok(signed(Expr::Value(short.into())));
        }
        let (upper, lower) = (Expr::Value((known >> 16).into()), Expr::Value((known & 0xffff).into()));
        let lui = part("lui", vec![register.clone(), upper]);
        let ori = |from, lower| part("ori", vec![register.clone(), from, lower]);
        Ok(match known {
            _ if known & 0xffff == 0 => vec![lui],
            _ if known >> 16 == 0 => vec![ori(Expr::Value(0), lower)],
            _ => vec![lui, ori(register.clone(), lower)],
        })
    }

    fn finish(mut self) -> Result<Image, Vec<AsmError>> {
        let end = self.scope.at;
        if let Some(place) = self.too_large {
            let (limit, over) = (SRAM_BYTES, end - SRAM_BYTES);
            self.errors.push((place, Refusal::TooLarge { limit, over }));
        }
        let mut bytes = vec![0; end.min(SRAM_BYTES).next_multiple_of(4) as usize];
        let mut places = vec![None; bytes.len() / 4];
        let mut code = BTreeMap::new();
        let items = std::mem::take(&mut self.items);
        for item in &items {
            let (size, word) = self.word(item).unwrap_or_else(|refusal| {
                self.errors.push((item.place, refusal));
                (4, 0)
            });
            let at = item.at as usize;
            if let Some(part) = bytes.get_mut(at..at + size) {
                part.copy_from_slice(&word.to_le_bytes()[..size]);
                places[at / 4].get_or_insert(item.place);
            }
            if let (Body::Insn(..), Some(insn)) = (&item.body, Insn::decode(word)) {
                code.insert(item.at, (insn, item));
            }
        }
        self.check_slots(&code);
        let mut errors = std::mem::take(&mut self.errors);
        if errors.is_empty() {
            let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            let symbols = self.scope.symbols.into_iter().filter(|(name, _)| !name.contains('#'));
            return Ok(Image {
                words: words.collect(),
                places,
                symbols: symbols.map(|(name, value)| (name, value as u32)).collect(),
                sources: self.sources.to_vec(),
            });
        }
        errors.sort_by_key(|(place, _)| *place);
        let located = |(place, refusal): (Place, Refusal)| AsmError {
            file: self.sources[place.source].name.clone(),
            line: place.line,
            refusal,
        };
        Err(errors.into_iter().map(located).collect())
    }

    /// How many bytes the item has, and which.
    fn word(&self, item: &Item) -> Result<(usize, u32), Refusal> {
        match &item.body {
            Body::Data(size, value) => {
                let range = -1 << (8 * size - 1)..=(1 << (8 * size)) - 1;
                let value = in_range("value", self.scope.eval(value)?, range)?;
                Ok((*size as usize, value as u32))
            }
            Body::Insn(op, values) => {
                let value = |(field, value): (&Field, &Expr)| place_operand(*field, self.scope.eval(value)?, item.at);
                let values: Vec<i64> = op.fields.iter().zip(values).map(value).collect::<Result<_, _>>()?;
                let insn = Insn::new(op, &values).expect("every operand is in range");
                Ok((4, insn.encode()))
            }
        }
    }

    /// Delay slots of branches and of loads.
    fn check_slots(&mut self, code: &BTreeMap<u32, (Insn, &Item)>) {
        for (&at, (insn, item)) in code {
            let slot = code.get(&at.wrapping_add(4));
            if insn.has_delay_slot() {
                let refused = match slot {
                    None => Some((item.place, Refusal::NoSlot)),
                    Some((next, slot)) if next.has_delay_slot() => Some((slot.place, Refusal::BranchInSlot)),
                    Some((_, slot)) => {
                        let split = code.get(&at.wrapping_add(8)).is_some_and(|(_, behind)| !behind.first);
                        split.then_some((slot.place, Refusal::SplitInSlot))
                    }
                };
                self.errors.extend(refused);
            }
            let Some(loaded) = insn.loads() else { continue };
            let before = at
                .checked_sub(4)
                .and_then(|before| Some((before, code.get(&before)?.0)));
            let leaves = before.is_some_and(|(_, before)| before.always_leaves());
            let target = before.and_then(|(at, before)| before.target(at));
            let behind = slot.filter(|_| !leaves);
            let next = [behind, target.and_then(|target| code.get(&target))];
            for (next, reader) in next.into_iter().flatten() {
                // LWL and LWR hand over to each other.
                if reader.hazards && next.reads(loaded) && !(insn.merges() && next.merges()) {
                    let register = REGISTERS[loaded as usize];
                    let first = self.name(item.place);
                    self.errors.push((reader.place, Refusal::LoadDelay { register, first }));
                }
            }
        }
    }
}

fn part(name: &str, values: Vec<Expr>) -> (&'static Op, Vec<Expr>) {
    (Op::named(name).expect("an instruction of the table"), values)
}

/// The value as it stands in the word of an instruction at `at`.
fn place_operand(field: Field, value: i64, at: u32) -> Result<i64, Refusal> {
    let slot = at.wrapping_add(4);
    let target = || match expr::word(value)? {
        target if target.is_multiple_of(4) => Ok(target),
        _ => Err(Refusal::OddTarget { target: value }),
    };
    match field {
        Field::Branch => {
            let target = target()?;
            let words = i64::from(target.wrapping_sub(slot) as i32 / 4);
            let reach = field.range().contains(&words);
            reach.then_some(words).ok_or(Refusal::BranchFar { target, words })
        }
        Field::Jump => {
            let target = target()?;
            let reach = (target ^ slot) >> 28 == 0;
            reach
                .then_some((target << 4 >> 6).into())
                .ok_or(Refusal::JumpFar { target })
        }
        Field::Offset => in_range("offset", value, field.range()),
        Field::Shift => in_range("shift", value, field.range()),
        _ if field.is_code() => in_range("code", value, field.range()),
        _ => in_range("immediate", value, field.range()),
    }
}

fn register(cursor: &mut Cursor, what: &'static str, find: fn(&str) -> Option<i64>) -> Result<Expr, Refusal> {
    let before = *cursor;
    let found = cursor.word().strip_prefix('$').and_then(find);
    found.map(Expr::Value).ok_or_else(|| before.expected(what))
}

fn general(name: &str) -> Option<i64> {
    let name = if name == "s8" { "fp" } else { name };
    let named = REGISTERS.iter().position(|register| *register == name);
    named.map(|number| number as i64).or_else(|| numbered(name))
}

fn cop0(name: &str) -> Option<i64> {
    let named = COP0.iter().find(|(register, _)| *register == name);
    named.map(|(_, number)| *number).or_else(|| numbered(name))
}

fn numbered(name: &str) -> Option<i64> {
    name.parse::<u8>().ok().filter(|number| *number < 32).map(i64::from)
}

/// The instruction or directive that looks most like `name`.
fn nearest(name: &str) -> Option<&'static str> {
    let pseudo = PSEUDO.iter().map(|(name, _)| *name);
    names::nearest(name, OPS.iter().map(|op| op.name).chain(pseudo).chain(DIRECTIVES))
}

/// Every line of the sources, with its words; `cycles` says what stands beside a word.
pub fn listing(image: &Image, cycles: impl Fn(u32) -> Option<String>) -> String {
    let addresses = (0..).step_by(4);
    let words = addresses.zip(&image.words).zip(&image.places);
    let rows = words.filter_map(|((at, word), place)| {
        Some(Row {
            place: (*place)?,
            at,
            word: *word,
            text: Insn::decode(*word).map(|insn| insn.text(at)),
            cycles: cycles(at),
        })
    });
    listing::listing(&image.sources, rows)
}
