//! Parts of pages that are written from what they tell of.

use std::fs;
use std::path::PathBuf;

use crate::FlowError;

/// What stands in a page between two lines that name it.
pub struct Part {
    pub page: PathBuf,
    /// Unique in its page.
    pub name: String,
    pub text: String,
}

impl Part {
    /// The page as it is and as it is to be; none where there is no such page.
    fn page(&self) -> Result<Option<(String, String)>, FlowError> {
        if !self.page.is_file() {
            return Ok(None);
        }
        let old = fs::read_to_string(&self.page).map_err(|e| FlowError::io(&self.page, e))?;
        let begin = format!("<!-- begin {}: `rtl-flow docs` writes it -->\n", self.name);
        let end = format!("<!-- end {} -->\n", self.name);
        let around = old
            .split_once(&begin)
            .and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) = around.ok_or_else(|| {
            let message = format!("the lines between which a table stands are missing:\n{begin}{end}");
            FlowError::list(&self.page, message)
        })?;
        let new = format!("{before}{begin}\n{}\n\n{end}{after}", self.text);
        Ok(Some((old, new)))
    }

    /// Puts it into its page; whether that has changed.
    pub fn write(&self) -> Result<bool, FlowError> {
        let Some((old, new)) = self.page()? else {
            return Ok(false);
        };
        if new != old {
            fs::write(&self.page, &new).map_err(|e| FlowError::io(&self.page, e))?;
        }
        Ok(new != old)
    }

    /// Fails if it is not in its page as it is to be.
    pub fn check(&self) -> Result<(), FlowError> {
        match self.page()? {
            Some((old, new)) if old != new => Err(FlowError::Stale {
                page: self.page.clone(),
                part: self.name.clone(),
            }),
            _ => Ok(()),
        }
    }
}

/// A table in Markdown.
pub fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(&head.map(String::from)), line(&head.map(|_| "---".to_owned()))];
    lines.extend(rows.into_iter().map(|row| line(&row)));
    lines.join("\n")
}

/// What a source file says of itself at its head, in one sentence.
pub fn purpose(source: &str) -> String {
    let comment = source.lines().map_while(|line| line.strip_prefix("// "));
    let text = comment.collect::<Vec<_>>().join(" ");
    match text.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => text,
    }
}
