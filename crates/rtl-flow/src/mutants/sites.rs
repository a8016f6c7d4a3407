//! The places of a source file that a mutant changes, from Verible's syntax tree, and the file with a choice between
//! the original and each mutant.

use std::fs;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{FlowError, Tools, tools};

/// One mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// Lines after the first.
    height: usize,
    /// Bytes of the file.
    pub place: Range<usize>,
    /// What stands there, on one line.
    pub original: String,
    /// What stands there instead; empty if a statement is deleted.
    pub mutated: String,
    /// What tells whether a deleted statement makes a difference.
    differs: Option<String>,
    /// The function that contains it.
    pub function: Option<String>,
}

impl Mutant {
    /// The lines of the file that it covers.
    pub fn lines(&self) -> RangeInclusive<usize> {
        self.line..=self.line + self.height
    }

    /// The whole line where it begins.
    pub fn whole_line(&self) -> Result<String, FlowError> {
        let text = self.source()?;
        Ok(text.lines().nth(self.line - 1).unwrap_or_default().trim().to_owned())
    }

    /// The file with this mutant alone.
    pub fn text(&self) -> Result<String, FlowError> {
        let text = self.source()?;
        let (before, after) = (&text[..self.place.start], &text[self.place.end..]);
        Ok(match self.mutated.as_str() {
            "" => format!("{before}begin end{after}"),
            mutated => format!("{before}({mutated}){after}"),
        })
    }

    fn source(&self) -> Result<String, FlowError> {
        fs::read_to_string(&self.file).map_err(|e| FlowError::io(&self.file, e))
    }

    /// The change, for a reader: `a == b` to `a != b`.
    pub fn change(&self) -> String {
        match self.mutated.as_str() {
            "" => format!("`{}` is deleted", self.original),
            mutated => format!("`{}` becomes `{mutated}`", self.original),
        }
    }
}

/// Nodes without a mutant: constants of the elaboration, declarations, assertions.
const LEFT_OUT: [&str; 16] = [
    "kActualParameterList",
    "kAssertionStatement",
    "kAssumeStatement",
    "kDimensionRange",
    "kEnumName",
    "kEventControl",
    "kGenerateIfHeader",
    "kInitialStatement",
    "kInstantiationType",
    "kLoopHeader",
    "kPackedDimensions",
    "kParamDeclaration",
    "kPortDeclaration",
    "kSystemTFCall",
    "kTypeDeclaration",
    "kUnpackedDimensions",
];

/// All mutants of these files, in the order of the text.
pub fn of(tools: &Tools, files: &[PathBuf]) -> Result<Vec<Mutant>, FlowError> {
    let mut command = tools.command("verible-verilog-syntax");
    let output = tools::output(command.args(["--export_json", "--printtree"]).args(files))?;
    tools::clean("verible-verilog-syntax", "the sources", &output)?;
    let trees: Value = serde_json::from_slice(&output.stdout).map_err(|e| FlowError::Finding {
        tool: "verible-verilog-syntax",
        what: "the sources".into(),
        text: format!("its output is not the JSON of the locked version: {e}"),
    })?;
    let mut mutants = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?;
        let tree = &trees[file.to_string_lossy().as_ref()]["tree"];
        let mut source = Source {
            file,
            text: &text,
            mutants: Vec::new(),
            function: None,
        };
        source.walk(tree);
        mutants.append(&mut source.mutants);
    }
    Ok(mutants)
}

/// The tag of a node, or of a token.
fn tag(node: &Value) -> &str {
    node["tag"].as_str().unwrap_or_default()
}

fn children(node: &Value) -> &[Value] {
    node["children"].as_array().map_or(&[], Vec::as_slice)
}

/// The bytes from a node's first token to its last.
fn place(node: &Value) -> Option<Range<usize>> {
    let number = |name: &str| node[name].as_u64().map(|n| n as usize);
    if let (Some(start), Some(end)) = (number("start"), number("end")) {
        return Some(start..end);
    }
    let mut parts = children(node).iter().filter_map(place);
    let first = parts.next()?;
    Some(first.start..parts.next_back().map_or(first.end, |last| last.end))
}

/// Whether the statement is an assertion, or a block of them.
fn asserts_only(node: &Value) -> bool {
    match tag(node) {
        "kAssertionStatement" | "kAssumeStatement" => true,
        "kIfBody" | "kBlockItemStatementList" => children(node).iter().all(asserts_only),
        "kSeqBlock" => children(node)[1..]
            .iter()
            .filter(|part| tag(part) != "kEnd")
            .all(asserts_only),
        _ => false,
    }
}

/// A file, while its mutants are collected.
struct Source<'a> {
    file: &'a Path,
    text: &'a str,
    mutants: Vec<Mutant>,
    /// The function of the nodes.
    function: Option<String>,
}

impl Source<'_> {
    fn walk(&mut self, node: &Value) {
        let (tag, parts) = (tag(node), children(node));
        if LEFT_OUT.contains(&tag) || self.is_idle(node, tag) {
            return;
        }
        let present: Vec<&Value> = parts.iter().filter(|part| !part.is_null()).collect();
        self.mutate(node, tag, &present);
        let walked = match tag {
            // The type, the labels and the width of a slice are constants.
            "kCast" | "kCaseItem" => parts.get(1..).unwrap_or_default(),
            "kDimensionSlice" => parts.get(..2).unwrap_or_default(),
            _ => parts,
        };
        if tag == "kFunctionHeader" {
            self.function = parts
                .iter()
                .find(|part| self::tag(part) == "kUnqualifiedId")
                .and_then(place)
                .map(|place| self.line_of(place));
        }
        walked.iter().for_each(|part| self.walk(part));
        if tag == "kFunctionDeclaration" {
            self.function = None;
        }
    }

    /// Whether nothing in the node can matter: a signal for the linter only, an index that is a constant by name, or
    /// the condition of assertions.
    fn is_idle(&self, node: &Value, tag: &str) -> bool {
        let text = || self.line_of(place(node).unwrap_or_default());
        match tag {
            "kNetVariableAssignment" => text().starts_with("unused"),
            "kIfClause" => children(node).last().is_some_and(asserts_only),
            "kDimensionScalar" | "kDimensionSlice" => {
                let text = text();
                let mut names = text
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|word| word.starts_with(|c: char| c.is_alphabetic()))
                    .peekable();
                names.peek().is_some() && names.all(|name| self.is_constant(name))
            }
            _ => false,
        }
    }

    /// A parameter, a genvar of the file, or the package of a constant.
    fn is_constant(&self, name: &str) -> bool {
        name.starts_with(char::is_uppercase) || name.ends_with("_pkg") || self.text.contains(&format!("genvar {name} "))
    }

    /// Adds the mutants of the node itself.
    fn mutate(&mut self, node: &Value, tag: &str, parts: &[&Value]) {
        let text = |part: &Value| self.line_of(place(part).unwrap_or_default());
        match (tag, parts) {
            ("kBinaryExpression", [a, operator, b]) => {
                let (a, operator, b) = (text(a), text(operator), text(b));
                for mutated in binary(&a, &operator, &b) {
                    self.add(node, mutated);
                }
            }
            ("kUnaryPrefixExpression", [operator, a]) => {
                let a = text(a);
                match text(operator).as_str() {
                    "!" | "~" => self.add(node, a),
                    "&" => self.add(node, format!("|{a}")),
                    "|" => self.add(node, format!("&{a}")),
                    _ => {}
                }
            }
            ("kConditionExpression", [condition, ..]) => self.stuck(condition),
            ("kIfHeader", [.., group]) => {
                if let [_, condition, _] = children(group) {
                    self.stuck(condition);
                }
            }
            ("kNumber", _) => match text(node).as_str() {
                "'0" => self.add(node, "'1".into()),
                "'1" => self.add(node, "'0".into()),
                // What is signed stays so: `x < 10'sd0` of an unsigned zero never holds.
                number if number.contains("'s") => self.add(node, format!("({number} ^ 2'sd1)")),
                number if !number.contains('\'') => self.add(node, format!("({number} ^ 1)")),
                number => self.add(node, format!("({number} ^ 1'b1)")),
            },
            ("kNonblockingAssignmentStatement", [left, _, right, ..]) => {
                let (left, right) = (text(left), text(right));
                self.add(node, String::new());
                if let Some(mutant) = self.mutants.last_mut() {
                    mutant.differs = Some(format!("({left}) !== ({right})"));
                }
            }
            _ => {}
        }
    }

    /// A condition that is always true, and one that never is.
    fn stuck(&mut self, condition: &Value) {
        for mutated in ["1'b1", "1'b0"] {
            self.add(condition, mutated.into());
        }
    }

    fn add(&mut self, node: &Value, mutated: String) {
        let Some(place) = place(node) else { return };
        self.mutants.push(Mutant {
            file: self.file.to_path_buf(),
            line: 1 + self.text[..place.start].matches('\n').count(),
            height: self.text[place.clone()].matches('\n').count(),
            original: self.line_of(place.clone()),
            place,
            mutated,
            differs: None,
            function: self.function.clone(),
        });
    }

    /// A part of the text on one line, without comments.
    fn line_of(&self, place: Range<usize>) -> String {
        let lines = self.text[place].lines();
        let code = lines.map(|line| line.split("//").next().unwrap_or_default());
        let words = code.flat_map(str::split_whitespace);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What a binary expression becomes.
fn binary(a: &str, operator: &str, b: &str) -> Vec<String> {
    let other = match operator {
        "&&" | "||" => return vec![a.into(), b.into()],
        "==" => "!=",
        "!=" => "==",
        "<" => "<=",
        "<=" => "<",
        ">" => ">=",
        ">=" => ">",
        "&" => "|",
        "|" | "^" => "&",
        "+" => "-",
        "-" => "+",
        "<<" => ">>",
        ">>" => "<<",
        _ => return Vec::new(),
    };
    vec![format!("{a} {other} {b}")]
}

/// The text of a file in which each of these mutants can be chosen by its number. The lines stay where they are.
pub fn instrumented(text: &str, mutants: &[(usize, &Mutant)]) -> String {
    let mut sorted = mutants.to_vec();
    // An outer one comes before those in it.
    sorted.sort_by_key(|(number, mutant)| (mutant.place.start, usize::MAX - mutant.place.end, *number));
    let mut out = String::new();
    render(text, 0..text.len(), &sorted, &mut out);
    with_import(&out)
}

/// `text[place]` with these mutants, which all lie in it.
fn render(text: &str, place: Range<usize>, mut mutants: &[(usize, &Mutant)], out: &mut String) {
    let mut at = place.start;
    while let Some(((number, outer), rest)) = mutants.split_first() {
        let inside = rest
            .iter()
            .take_while(|(_, inner)| inner.place.start < outer.place.end)
            .count();
        let (inner, after) = rest.split_at(inside);
        let Mutant { original, mutated, .. } = outer;
        out.push_str(&text[at..outer.place.start]);
        match &outer.differs {
            Some(differs) => *out += &format!("begin if (!verilated_mutant({number}, {differs})) "),
            None => {
                *out += &format!("(verilated_mutant({number}, ({mutated}) !== ({original})) ? ({mutated}) : (");
            }
        }
        render(text, outer.place.clone(), inner, out);
        out.push_str(if outer.differs.is_some() { " end" } else { "))" });
        (at, mutants) = (outer.place.end, after);
    }
    out.push_str(&text[at..place.end]);
}

/// The text with the function that chooses a mutant, in the file's module or package.
fn with_import(text: &str) -> String {
    const IMPORT: &str = " import \"DPI-C\" pure function bit verilated_mutant(input int number, input bit differs);";
    let mut out = String::new();
    let mut in_header = false;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        in_header |= ["module ", "package "].iter().any(|word| code.starts_with(word));
        match code.find(';').filter(|_| in_header) {
            Some(end) => {
                out = out + &line[..=end] + IMPORT + &line[end + 1..];
                in_header = false;
            }
            None => out += line,
        }
    }
    out
}
