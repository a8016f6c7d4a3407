//! The lists that a part reads, its kept results, and its folders.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::FlowError;

/// A list in TOML.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FlowError> {
    let text = fs::read_to_string(path).map_err(|e| FlowError::io(path, e))?;
    toml::from_str(&text).map_err(|e| FlowError::list(path, e.to_string().trim_end()))
}

/// Results as [`write_results`] leaves them; none without a file.
pub fn read_results<T: DeserializeOwned + Default>(path: &Path) -> Result<T, FlowError> {
    if !path.is_file() {
        return Ok(T::default());
    }
    let text = fs::read_to_string(path).map_err(|e| FlowError::io(path, e))?;
    serde_json::from_str(&text).map_err(|e| FlowError::list(path, e.to_string()))
}

/// Writes the whole file or nothing.
pub fn write_results<T: Serialize>(path: &Path, results: &T) -> Result<(), FlowError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| FlowError::io(folder, e))?;
    }
    let text = serde_json::to_string_pretty(results).expect("results are plain data") + "\n";
    let new = path.with_extension("new");
    fs::write(&new, text).map_err(|e| FlowError::io(&new, e))?;
    fs::rename(&new, path).map_err(|e| FlowError::io(path, e))
}

/// Makes an empty folder, without files of earlier runs.
pub fn emptied(folder: &Path) -> Result<(), FlowError> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).map_err(|e| FlowError::io(folder, e))?;
    }
    fs::create_dir_all(folder).map_err(|e| FlowError::io(folder, e))
}
