//! Macro assembler for thread code.
//!
//! Addresses are words. A statement is an instruction or a directive, with labels before it: `name:`, or `1:` for `1b`
//! and `1f`. `.end` behind an instruction's name ends the thread. Directives:
//!
//! - `.org .space .align .word .equ`, as in the assembler of `r3000`.
//! - `.template NAME`: a code segment begins here. `.entry OFFSET`: a packet to this offset starts what follows.
//! - `.macro NAME a, b` … `.endm`: in its body `\a` stands for an operand, `\@` for a number of its own in each use.
//!
//! `li` takes one instruction where the value is known and allows it, or is an address of the image.

use std::collections::BTreeMap;

use super::isa::{Field, Insn, OPS, Op};
use super::packet::Kind;
use super::params::Config;
use super::regs::{
    SIZE_ENTRY, SIZE_FRAME, SPECIAL_DEPTH, SPECIAL_PE, SPECIAL_TIME, TYPE_CALL, TYPE_FREE, TYPE_READ, TYPE_THREAD,
    TYPE_USER5, TYPE_USER6, TYPE_USER7, TYPE_WRITE,
};
use crate::harness::asm::expr::{self, Cursor, Expr, Scope, in_range};
use crate::harness::asm::listing::{self, Row};
use crate::harness::asm::{self, STATEMENT_BYTES};
use crate::harness::names;

pub use crate::harness::asm::{AsmError, Place, Refusal, Source};

/// The largest memory.
pub const MEMORY_WORDS: u32 = 1 << 20;

/// Macros within each other.
const NESTED: u32 = 16;

/// What to load into a PE's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// By address, with the line.
    pub words: BTreeMap<u32, (u32, Place)>,
    /// Labels, templates and `.equ`, without the local labels.
    pub symbols: BTreeMap<String, u32>,
    pub sources: Vec<Source>,
}

impl Image {
    /// Addresses and words.
    pub fn load(&self) -> impl Iterator<Item = (u32, u32)> {
        self.words.iter().map(|(at, (word, _))| (*at, *word))
    }
}

/// Instructions that are others; the operands as they are written.
const PSEUDO: &[(&str, &[Field])] = {
    use Field::{A, B, Branch, Imm};
    const COMPARE: &[Field] = &[A, B, Branch];
    &[
        ("nop", &[]),
        ("li", &[A, Imm]),
        ("move", &[A, B]),
        ("j", &[Branch]),
        ("jr", &[B]),
        ("call", &[Branch]),
        ("ret", &[]),
        ("beqz", &[A, Branch]),
        ("bnez", &[A, Branch]),
        ("bgt", COMPARE),
        ("ble", COMPARE),
    ]
};

const DIRECTIVES: [&str; 9] = [
    ".align",
    ".endm",
    ".entry",
    ".equ",
    ".macro",
    ".org",
    ".space",
    ".template",
    ".word",
];

const RA: i64 = 14;
const FP: i64 = 15;

/// The names that every source knows.
fn names() -> impl Iterator<Item = (&'static str, u32)> {
    let kind = |kind: Kind| u32::from(kind.0);
    let sides = [
        ("LEFT", kind(Kind::matching(false))),
        ("RIGHT", kind(Kind::matching(true))),
    ];
    let others = [
        ("THREAD", TYPE_THREAD),
        ("WRITE", TYPE_WRITE),
        ("READ", TYPE_READ),
        ("CALL", TYPE_CALL),
        ("FREE", TYPE_FREE),
        ("USER5", TYPE_USER5),
        ("USER6", TYPE_USER6),
        ("USER7", TYPE_USER7),
        ("URGENT", kind(Kind::THREAD.urgent())),
        ("PE", SPECIAL_PE),
        ("TIME", SPECIAL_TIME),
        ("DEPTH", SPECIAL_DEPTH),
    ];
    sides.into_iter().chain(others)
}

type Part = (&'static Op, Vec<Expr>);

enum Body {
    Insn(&'static Op, bool, Vec<Expr>),
    Data(Expr),
}

/// What becomes a word.
struct Item {
    at: u32,
    place: Place,
    body: Body,
}

#[derive(Clone)]
struct Macro {
    operands: Vec<String>,
    lines: Vec<String>,
}

struct Assembler<'a> {
    sources: &'a [Source],
    scope: Scope,
    /// Where each symbol is defined; an equate has no place.
    defined: BTreeMap<String, Option<Place>>,
    items: Vec<Item>,
    place: Place,
    template: Option<u32>,
    macros: BTreeMap<String, Macro>,
    /// The macro that is being defined.
    open: Option<(String, Macro)>,
    /// Macros around this line, and how many were used.
    nested: u32,
    uses: u32,
    errors: Vec<(Place, Refusal)>,
}

/// Assembles the sources one behind the other, from address 0. `equates` are symbols that the sources may use.
///
/// # Errors
/// All refusals, by file and line.
pub fn assemble(sources: &[Source], equates: &BTreeMap<String, u32>) -> Result<Image, Vec<AsmError>> {
    let given = equates.iter().map(|(name, value)| (name.clone(), *value));
    let symbols: BTreeMap<String, u32> = names()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(given)
        .collect();
    let mut assembler = Assembler {
        sources,
        defined: symbols.keys().map(|name| (name.clone(), None)).collect(),
        scope: Scope {
            symbols: symbols.into_iter().map(|(name, value)| (name, value.into())).collect(),
            ..Scope::default()
        },
        items: Vec::new(),
        place: Place { source: 0, line: 0 },
        template: None,
        macros: BTreeMap::new(),
        open: None,
        nested: 0,
        uses: 0,
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
        if let Some((_, body)) = &mut self.open {
            let is_end = asm::statements(text).any(|statement| statement.trim() == ".endm");
            if !is_end {
                body.lines.push(text.to_owned());
                return;
            }
        }
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
            name => match self.macros.get(name).cloned() {
                Some(body) => self.expand(name, &body, cursor),
                None => self.instruction(name, cursor),
            },
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

    fn push(&mut self, body: Body) -> Result<(), Refusal> {
        let (at, place) = (self.scope.at, self.place);
        self.items.push(Item { at, place, body });
        self.move_to(i64::from(at) + 1)
    }

    /// An address may be the one behind memory.
    fn move_to(&mut self, to: i64) -> Result<(), Refusal> {
        let to = in_range("address", to, 0..=MEMORY_WORDS.into())? as u32;
        let at = self.scope.at;
        if to < at {
            return Err(Refusal::Back { at, to });
        }
        self.scope.at = to;
        Ok(())
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
        let at = i64::from(self.scope.at);
        match name {
            ".equ" => {
                let symbol = cursor.word();
                cursor.comma()?;
                let value = self.known(cursor)?;
                self.define(symbol, value)?;
            }
            ".org" => {
                let to = self.known(cursor)?;
                self.move_to(to)?;
            }
            ".space" => {
                let words = in_range("size", self.known(cursor)?, 0..=MEMORY_WORDS.into())?;
                self.move_to(at + words)?;
            }
            ".align" => {
                let power = in_range("power of two", self.known(cursor)?, 0..=16)?;
                self.move_to(at + (-at & ((1 << power) - 1)))?;
            }
            ".template" => {
                self.define(cursor.word(), at)?;
                self.template = Some(self.scope.at);
            }
            ".entry" => {
                let template = self.template.ok_or(Refusal::NoTemplate { name: ".entry" })?;
                let offset = in_range("offset", self.known(cursor)?, 0..=i64::from(SIZE_FRAME) - 1)?;
                let to = template + SIZE_ENTRY * offset as u32;
                if let Some(over) = self.scope.at.checked_sub(to).filter(|over| *over > 0) {
                    return Err(Refusal::Entry { over });
                }
                self.move_to(to.into())?;
            }
            ".macro" => return self.begin_macro(cursor),
            ".endm" => self.end_macro(cursor)?,
            _ => loop {
                let value = self.scope.expr(cursor)?;
                self.push(Body::Data(value))?;
                if !cursor.take(",") {
                    break;
                }
            },
        }
        cursor.end()
    }

    fn begin_macro(&mut self, cursor: &mut Cursor) -> Result<(), Refusal> {
        let before = *cursor;
        let name = cursor.word();
        if !expr::is_name(name) {
            return Err(before.expected("a name"));
        }
        if self.macros.contains_key(name) || Op::named(name).is_some() || is_pseudo(name) {
            let first = "as a macro or an instruction".to_owned();
            let name = name.to_owned();
            return Err(Refusal::Doubled { name, first });
        }
        let mut operands = Vec::new();
        while !cursor.is_end() {
            if !operands.is_empty() {
                cursor.comma()?;
            }
            let before = *cursor;
            match cursor.word() {
                word if expr::is_name(word) => operands.push(word.to_owned()),
                _ => return Err(before.expected("a name")),
            }
        }
        let lines = Vec::new();
        self.open = Some((name.to_owned(), Macro { operands, lines }));
        Ok(())
    }

    fn end_macro(&mut self, cursor: &Cursor) -> Result<(), Refusal> {
        let (name, body) = self.open.take().ok_or_else(|| cursor.expected("`.macro` before it"))?;
        self.macros.insert(name, body);
        Ok(())
    }

    fn expand(&mut self, name: &str, body: &Macro, cursor: &Cursor) -> Result<(), Refusal> {
        if self.nested == NESTED {
            return Err(Refusal::Nested { limit: NESTED });
        }
        let given: Vec<&str> = match cursor.rest() {
            "" => Vec::new(),
            rest => rest.split(',').map(str::trim).collect(),
        };
        let (wanted, found) = (body.operands.len(), given.len());
        if wanted != found {
            let name = name.to_owned();
            return Err(Refusal::Operands { name, wanted, found });
        }
        self.uses += 1;
        let number = self.uses.to_string();
        // The longest name first: one may begin with another.
        let mut pairs: Vec<_> = body.operands.iter().map(String::as_str).zip(given).collect();
        pairs.push(("@", &number));
        pairs.sort_by_key(|(operand, _)| std::cmp::Reverse(operand.len()));
        self.nested += 1;
        for line in &body.lines {
            let put = |line: String, (operand, value): &(&str, &str)| line.replace(&format!("\\{operand}"), value);
            let line = pairs.iter().fold(line.clone(), put);
            self.line(&line);
        }
        self.nested -= 1;
        Ok(())
    }

    fn instruction(&mut self, name: &str, cursor: &mut Cursor) -> Result<(), Refusal> {
        let (name, end) = name.strip_suffix(".end").map_or((name, false), |name| (name, true));
        // An instruction that is refused takes its place, so that nothing is said of its neighbours.
        let (parts, refused) = match self.parts(name, cursor) {
            Ok(parts) => (parts, Ok(())),
            Err(refusal) => (vec![part("addi", [0, 0, 0].map(Expr::Value))], Err(refusal)),
        };
        let last = parts.len() - 1;
        for (at, (op, values)) in parts.into_iter().enumerate() {
            self.push(Body::Insn(op, end && at == last, values))?;
        }
        refused
    }

    fn parts(&self, name: &str, cursor: &mut Cursor) -> Result<Vec<Part>, Refusal> {
        if let Some(op) = Op::named(name) {
            return Ok(vec![(op, self.operands(op.fields, cursor)?)]);
        }
        let Some((_, fields)) = PSEUDO.iter().find(|(pseudo, _)| *pseudo == name) else {
            let pseudo = PSEUDO.iter().map(|(name, _)| *name);
            let nearest = names::nearest(name, OPS.iter().map(|op| op.name).chain(pseudo).chain(DIRECTIVES));
            let name = name.to_owned();
            return Err(Refusal::Unknown { name, nearest });
        };
        let mut values = self.operands(fields, cursor)?.into_iter();
        let mut next = || values.next().unwrap_or(Expr::Value(0));
        let (a, b, c) = (next(), next(), next());
        let zero = || Expr::Value(0);
        let one = |name, values: [Expr; 3]| Ok(vec![part(name, values)]);
        match name {
            "nop" => one("addi", [a, b, c]),
            "li" => self.load_immediate(a, b),
            "move" => one("addi", [a, b, zero()]),
            "j" => Ok(vec![part("jal", [zero(), a])]),
            "jr" => one("jalr", [zero(), zero(), a]),
            "call" => Ok(vec![part("jal", [Expr::Value(RA), a])]),
            "ret" => one("jalr", [zero(), zero(), Expr::Value(RA)]),
            "beqz" => one("beq", [a, zero(), b]),
            "bnez" => one("bne", [a, zero(), b]),
            "bgt" => one("blt", [b, a, c]),
            _ => one("bge", [b, a, c]),
        }
    }

    fn operands(&self, fields: &[Field], cursor: &mut Cursor) -> Result<Vec<Expr>, Refusal> {
        let mut values = Vec::new();
        for (at, &field) in fields.iter().enumerate() {
            if field == Field::Tag && cursor.is_end() {
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
                    let base = register(cursor)?;
                    if !cursor.take(")") {
                        return Err(cursor.expected("`)`"));
                    }
                    base
                }
                _ if field.is_register() => register(cursor)?,
                _ => self.scope.expr(cursor)?,
            });
        }
        cursor.end()?;
        Ok(values)
    }

    /// A value that is not known yet is taken for an address of the image: these are short.
    fn load_immediate(&self, register: Expr, value: Expr) -> Result<Vec<Part>, Refusal> {
        let short = |value| vec![part("addi", [register.clone(), Expr::Value(0), value])];
        let known = match self.scope.eval(&value) {
            Ok(known) => expr::word(known)?,
            Err(Refusal::Undefined { .. } | Refusal::NoLocal { .. }) => return Ok(short(value)),
            Err(refusal) => return Err(refusal),
        };
        let signed = i64::from(known as i32);
        if Field::Imm.range().contains(&signed) {
            return Ok(short(Expr::Value(signed)));
        }
        let (upper, lower) = (Expr::Value((known >> 16).into()), Expr::Value((known & 0xffff).into()));
        let mut parts = vec![part("lui", [register.clone(), upper])];
        if known & 0xffff != 0 {
            parts.push(part("ori", [register.clone(), register, lower]));
        }
        Ok(parts)
    }

    fn finish(mut self) -> Result<Image, Vec<AsmError>> {
        if self.open.is_some() {
            let open = Refusal::Open {
                what: ".macro",
                end: ".endm",
            };
            self.errors.push((self.place, open));
        }
        let mut words = BTreeMap::new();
        for item in &self.items {
            match self.word(item) {
                Ok(word) => _ = words.insert(item.at, (word, item.place)),
                Err(refusal) => self.errors.push((item.place, refusal)),
            }
        }
        if self.errors.is_empty() {
            let symbols = self.scope.symbols.into_iter().filter(|(name, _)| !name.contains('#'));
            return Ok(Image {
                words,
                symbols: symbols.map(|(name, value)| (name, value as u32)).collect(),
                sources: self.sources.to_vec(),
            });
        }
        let mut errors = std::mem::take(&mut self.errors);
        errors.sort_by_key(|(place, _)| *place);
        let located = |(place, refusal): (Place, Refusal)| AsmError {
            file: self
                .sources
                .get(place.source)
                .map_or(String::new(), |source| source.name.clone()),
            line: place.line,
            refusal,
        };
        Err(errors.into_iter().map(located).collect())
    }

    fn word(&self, item: &Item) -> Result<u32, Refusal> {
        match &item.body {
            Body::Data(value) => expr::word(self.scope.eval(value)?),
            Body::Insn(op, end, values) => {
                let value = |(field, value): (&Field, &Expr)| {
                    let value = self.scope.eval(value)?;
                    let (what, value) = match field {
                        Field::Branch => ("branch", value.checked_sub(item.at.into()).ok_or(Refusal::Overflow)?),
                        Field::Offset => ("offset", value),
                        Field::Kind => ("kind", value),
                        Field::Tag => ("tag", value),
                        _ => ("immediate", value),
                    };
                    in_range(what, value, field.range())
                };
                let values: Vec<i64> = op.fields.iter().zip(values).map(value).collect::<Result<_, _>>()?;
                Ok(Insn::new(op, *end, &values)
                    .expect("every operand is in range")
                    .encode())
            }
        }
    }
}

fn part<const N: usize>(name: &str, values: [Expr; N]) -> Part {
    (Op::named(name).expect("an instruction of the table"), values.into())
}

fn is_pseudo(name: &str) -> bool {
    PSEUDO.iter().any(|(pseudo, _)| *pseudo == name)
}

fn register(cursor: &mut Cursor) -> Result<Expr, Refusal> {
    let before = *cursor;
    let number = match cursor.word() {
        "ra" => Some(RA),
        "fp" => Some(FP),
        word => word.strip_prefix('r').and_then(numbered),
    };
    number.map(Expr::Value).ok_or_else(|| before.expected("a register"))
}

fn numbered(name: &str) -> Option<i64> {
    let plain = !name.starts_with(['+', '0']) || name == "0";
    name.parse::<u8>()
        .ok()
        .filter(|number| plain && *number < 16)
        .map(i64::from)
}

/// Every line of the sources, with its words; `cycles` says what stands beside a word.
pub fn listing(image: &Image, cycles: impl Fn(u32) -> Option<String>) -> String {
    // A macro's words stand where it is used.
    let mut rows: Vec<Row> = image
        .words
        .iter()
        .map(|(&at, &(word, place))| Row {
            place,
            at,
            word,
            text: Insn::decode(word).map(|insn| insn.text(at)),
            cycles: cycles(at),
        })
        .collect();
    rows.sort_by_key(|row| row.place);
    listing::listing(&image.sources, rows.into_iter())
}

/// The cycles of the instruction at an address, where nothing waits; a branch to a higher address has those of the jump
/// behind a slash.
pub fn cycles(image: &Image, config: &Config, at: u32) -> Option<String> {
    let insn = Insn::decode(image.words.get(&at)?.0)?;
    Some(match insn.op().name {
        "ld" => "2".to_owned(),
        "st" if !config.code_port => "2".to_owned(),
        "send" if !config.fast_send => "2".to_owned(),
        "jal" => "2".to_owned(),
        "jalr" => "3".to_owned(),
        "beq" | "bne" | "blt" | "bge" if insn.value(Field::Branch) < 0 => "2".to_owned(),
        "beq" | "bne" | "blt" | "bge" => "1/3".to_owned(),
        _ => "1".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> [Source; 1] {
        [Source {
            name: "t.s".into(),
            text: text.into(),
        }]
    }

    fn words(text: &str) -> Vec<(u32, String)> {
        let image = assemble(&source(text), &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let text = |(at, word)| {
            (
                at,
                Insn::decode(word).map_or(format!("{word:#x}"), |insn| insn.text(at)),
            )
        };
        image.load().map(text).collect()
    }

    fn refused(text: &str) -> String {
        let errors = assemble(&source(text), &BTreeMap::new()).expect_err("it is wrong");
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn entries_stand_by_their_offset() {
        let found = words(".org 0x100\n.template T\n.entry 1\nj far\n.entry 3\nnop.end\nfar: ret\n.word T");
        let at = |at, text: &str| (at, text.to_owned());
        let expected = [
            at(0x104, "jal r0, 0x10d"),
            at(0x10c, "addi.end r0, r0, 0"),
            at(0x10d, "jalr r0, 0(r14)"),
            at(0x10e, "0x100"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn macros_are_put_in() {
        let found = words(
            ".macro put a, ab\n1: st \\a, \\ab(fp)\nbnez \\a, 1b\n.endm\n\
             .macro twice a\nput \\a, 3\nput \\a, 4\n.endm\ntwice r5",
        );
        let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        let expected = ["st r5, 3(r15)", "bne r5, r0, 0x0", "st r5, 4(r15)", "bne r5, r0, 0x2"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn immediates_of_any_size() {
        let texts = |text: &str| words(text).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts("li r1, -65536"), ["addi r1, r0, -65536"]);
        assert_eq!(texts("li r1, 0x10000"), ["lui r1, 1"]);
        assert_eq!(texts("li r1, 0x12345678"), ["lui r1, 4660", "ori r1, r1, 22136"]);
        assert_eq!(texts("send READ, r1, r2, LEFT|URGENT"), ["send 0x2, r1, r2, 0x60"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            refused("nop\n ad r1, r2, r3"),
            "t.s:2: `ad` is no instruction and no directive: did you mean `add`?"
        );
        assert_eq!(refused("add r1, r2, r16"), "t.s:1: `r16` where a register belongs");
        assert!(refused("ld r1, 70000(r2)").contains("offset 70000 does not fit"));
        assert!(refused("j nowhere").contains("`nowhere` is not defined"));
        assert!(refused(".macro m\nnop").contains("`.endm` is missing"));
        assert!(refused(".macro m a\nnop\n.endm\nm").contains("has 1 operands, 0 are given"));
        assert!(refused(".macro m\nm\n.endm\nm").contains("more than 16 deep"));
        assert!(refused(".entry 1").contains("belongs behind `.template`"));
        assert!(refused(".template T\nnop\nnop\nnop\nnop\nnop\n.entry 1").contains("1 instructions too many"));
        assert!(refused(".org 5\n.org 4").contains("leads back"));
        assert!(refused(".endm").contains("`.macro` before it"));
        assert!(refused("send 200, r1, r2").contains("kind 200 does not fit"));
        assert_eq!(refused(".equ PE, 1").matches("defined already").count(), 1);
    }

    #[test]
    fn the_listing_shows_cycles() {
        let image = assemble(
            &source("l: ld r3, 0(r4)  # load\nbnez r3, l\nli r1, 0x12345\nst r1, 0(r4)"),
            &BTreeMap::new(),
        )
        .unwrap();
        let em4 = Config::paper();
        let text = listing(&image, |at| cycles(&image, &em4, at));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[2].starts_with("00000000 ") && lines[2].contains("2  l: ld r3, 0(r4)  # load"),
            "{text}"
        );
        assert!(lines[3].contains(" 2  bnez r3, l"), "{text}");
        assert!(lines[5].contains("> ori r1, r1, 9029"), "{text}");
        let code_port = Config {
            code_port: true,
            ..em4.clone()
        };
        assert_eq!(
            ["2", "1"],
            [&em4, &code_port].map(|config| cycles(&image, config, 4).unwrap())
        );
    }
}
