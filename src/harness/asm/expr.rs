//! Expressions: reading them from a line, and their values.

use std::collections::BTreeMap;

use super::error::Refusal;

/// The rest of a statement.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a str,
    /// Operands around this place.
    depth: u32,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        let rest = text.trim();
        Cursor { rest, depth: 0 }
    }

    /// Takes the first `len` bytes, and the blanks behind them.
    fn cut(&mut self, len: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(len);
        self.rest = rest.trim_start();
        head
    }

    pub fn take(&mut self, token: &str) -> bool {
        let there = self.rest.starts_with(token);
        if there {
            self.cut(token.len());
        }
        there
    }

    pub fn starts(&self, token: &str) -> bool {
        self.rest.starts_with(token)
    }

    /// A name, a number or a register; empty where none stands.
    pub fn word(&mut self) -> &'a str {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '%');
        self.cut(self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len()))
    }

    pub fn label(&mut self) -> Option<&'a str> {
        let mut ahead = *self;
        let label = ahead.word();
        if label.is_empty() || !ahead.take(":") {
            return None;
        }
        *self = ahead;
        Some(label)
    }

    /// All that is left.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    pub fn is_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// What to say where `what` does not stand.
    pub fn expected(&self, what: &'static str) -> Refusal {
        if self.is_end() {
            Refusal::Missing { what }
        } else {
            let found = self.rest.to_owned();
            Refusal::Expected { what, found }
        }
    }

    pub fn comma(&mut self) -> Result<(), Refusal> {
        if self.take(",") {
            Ok(())
        } else {
            Err(self.expected("`,` and an operand"))
        }
    }

    pub fn end(&self) -> Result<(), Refusal> {
        if self.is_end() {
            Ok(())
        } else {
            Err(self.expected("the end of the line"))
        }
    }
}

#[derive(Clone, Debug)]
pub enum Expr {
    Value(i64),
    Symbol(String),
    Unary(Unary, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug)]
pub enum Unary {
    Minus,
    Not,
    /// The upper half, one more where `%lo` is negative.
    Hi,
    /// The lower half, signed.
    Lo,
}

/// Operators, from those that come last to those that come first, as in C.
const LEVELS: [&[&str]; 5] = [&["|"], &["&"], &["<<", ">>"], &["+", "-"], &["*"]];

/// Operands within each other.
const DEPTH: u32 = 16;

/// C and the GNU assembler read `a + b << c` differently, and some others.
fn is_mixed(outer: &str, inner: &str) -> bool {
    match outer {
        "<<" | ">>" => matches!(inner, "+" | "-" | "*"),
        "&" => matches!(inner, "+" | "-"),
        "|" => matches!(inner, "+" | "-" | "&"),
        _ => false,
    }
}

/// What names stand for at a place of the source.
#[derive(Default)]
pub struct Scope {
    /// The address of the next byte.
    pub at: u32,
    pub symbols: BTreeMap<String, i64>,
    /// How many labels of a number there were. The `n`th label `1:` is the symbol `1#n`.
    pub locals: BTreeMap<String, usize>,
}

/// An expression, and its last operator if it does not stand in parentheses.
type Open = (Expr, Option<&'static str>);

impl Scope {
    pub fn expr(&self, cursor: &mut Cursor) -> Result<Expr, Refusal> {
        Ok(self.level(0, cursor)?.0)
    }

    fn level(&self, level: usize, cursor: &mut Cursor) -> Result<Open, Refusal> {
        let Some(operators) = LEVELS.get(level) else {
            return Ok((self.operand(cursor)?, None));
        };
        let mut left = self.level(level + 1, cursor)?;
        while let Some(outer) = operators.iter().copied().find(|operator| cursor.take(operator)) {
            let right = self.level(level + 1, cursor)?;
            if let Some(inner) = [left.1, right.1]
                .into_iter()
                .flatten()
                .find(|inner| is_mixed(outer, inner))
            {
                return Err(Refusal::Mixed { inner, outer });
            }
            left = (Expr::Binary(outer, Box::new(left.0), Box::new(right.0)), Some(outer));
        }
        Ok(left)
    }

    fn operand(&self, cursor: &mut Cursor) -> Result<Expr, Refusal> {
        if cursor.depth == DEPTH {
            return Err(Refusal::Deep { limit: DEPTH });
        }
        cursor.depth += 1;
        let inner = self.inner(cursor);
        cursor.depth -= 1;
        inner
    }

    fn inner(&self, cursor: &mut Cursor) -> Result<Expr, Refusal> {
        let unary = [
            ("-", Unary::Minus),
            ("~", Unary::Not),
            ("%hi(", Unary::Hi),
            ("%lo(", Unary::Lo),
        ];
        for (token, unary) in unary {
            if cursor.starts(token) {
                // The bracket of %hi and %lo is left to the operand.
                cursor.take(token.trim_end_matches('('));
                return Ok(Expr::Unary(unary, Box::new(self.operand(cursor)?)));
            }
        }
        if cursor.take("(") {
            let inner = self.expr(cursor)?;
            return if cursor.take(")") {
                Ok(inner)
            } else {
                Err(cursor.expected("`)`"))
            };
        }
        let before = *cursor;
        match cursor.word() {
            "." => Ok(Expr::Value(self.at.into())),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => self.number(word),
            word if is_name(word) => Ok(Expr::Symbol(word.to_owned())),
            _ => Err(before.expected("a value")),
        }
    }

    /// A number, or a local label such as `1f`.
    fn number(&self, word: &str) -> Result<Expr, Refusal> {
        if let Some((number, side)) = word.split_at_checked(word.len() - 1)
            && matches!(side, "b" | "f")
            && is_local(number)
        {
            let seen = self.locals.get(number).copied().unwrap_or_default();
            return Ok(Expr::Symbol(match side {
                "b" => format!("{number}#{seen}"),
                _ => format!("{number}#{}", seen + 1),
            }));
        }
        let digits = |prefix| word.strip_prefix(prefix);
        let value = match (digits("0x"), digits("0b")) {
            (Some(hex), _) => i64::from_str_radix(hex, 16).ok(),
            (_, Some(binary)) => i64::from_str_radix(binary, 2).ok(),
            // Others read `010` as 8.
            _ if word.len() > 1 && word.starts_with('0') => None,
            _ => word.parse().ok(),
        };
        let found = || word.to_owned();
        value.map(Expr::Value).ok_or_else(|| Refusal::Number { found: found() })
    }

    pub fn eval(&self, expr: &Expr) -> Result<i64, Refusal> {
        match expr {
            Expr::Value(value) => Ok(*value),
            Expr::Symbol(name) => self.symbols.get(name).copied().ok_or_else(|| undefined(name)),
            Expr::Unary(unary, inner) => {
                let value = self.eval(inner)?;
                match unary {
                    Unary::Minus => value.checked_neg().ok_or(Refusal::Overflow),
                    // Of a word with bit 31: the word's complement.
                    Unary::Not if !value < i64::from(i32::MIN) => Ok(!value & 0xffff_ffff),
                    Unary::Not => Ok(!value),
                    Unary::Hi => Ok(i64::from(word(value)?.wrapping_add(0x8000) >> 16)),
                    Unary::Lo => Ok(i64::from(word(value)? as i16)),
                }
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                // Shifts by as much as makes sense in a word.
                let shift = u32::try_from(right).ok().filter(|&by| by < 32);
                match *operator {
                    "|" => Some(left | right),
                    "&" => Some(left & right),
                    "<<" => shift.and_then(|by| left.checked_mul(1 << by)),
                    ">>" => shift.map(|by| left >> by),
                    "+" => left.checked_add(right),
                    "-" => left.checked_sub(right),
                    _ => left.checked_mul(right),
                }
                .ok_or(Refusal::Overflow)
            }
        }
    }
}

/// The value as a word.
pub fn word(value: i64) -> Result<u32, Refusal> {
    in_range("value", value, i32::MIN.into()..=u32::MAX.into()).map(|value| value as u32)
}

pub fn in_range(what: &'static str, value: i64, range: std::ops::RangeInclusive<i64>) -> Result<i64, Refusal> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (*range.start(), *range.end());
    Err(Refusal::Range { what, value, low, high })
}

pub fn is_name(word: &str) -> bool {
    let first = |c: char| c.is_alphabetic() || matches!(c, '_' | '.');
    word.starts_with(first) && word != "." && !word.contains(['$', '%'])
}

pub fn is_local(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn undefined(name: &str) -> Refusal {
    match name.split_once('#') {
        Some((number, "0")) => Refusal::NoLocal {
            number: number.to_owned(),
            side: "before",
        },
        Some((number, _)) => Refusal::NoLocal {
            number: number.to_owned(),
            side: "behind",
        },
        None => Refusal::Undefined { name: name.to_owned() },
    }
}
