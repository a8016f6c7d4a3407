//! Generated parts of pages.

use std::fs;
use std::path::PathBuf;

use crate::FlowError;

/// The text between two lines of a page that name it.
pub struct Part {
    pub page: PathBuf,
    /// Unique in its page.
    pub name: String,
    pub text: String,
}

impl Part {
    /// The page as it is and as it must be; none without such a page.
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
            let message = format!("the two lines around a generated table are missing:\n{begin}{end}");
            FlowError::list(&self.page, message)
        })?;
        let new = format!("{before}{begin}\n{}\n\n{end}{after}", self.text);
        Ok(Some((old, new)))
    }

    /// Writes the text into its page; returns whether that has changed.
    pub fn write(&self) -> Result<bool, FlowError> {
        let Some((old, new)) = self.page()? else {
            return Ok(false);
        };
        if new != old {
            fs::write(&self.page, &new).map_err(|e| FlowError::io(&self.page, e))?;
        }
        Ok(new != old)
    }

    /// Fails if its page is stale.
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

/// The first sentence at the head of a source file.
pub fn purpose(source: &str) -> String {
    let comment = source.lines().map_while(|line| line.strip_prefix("// "));
    let own = comment.filter(|line| !line.starts_with("SPDX-"));
    let text = own.collect::<Vec<_>>().join(" ");
    match text.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => text,
    }
}
