//! The lists that a part reads, and the folders that it fills.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::FlowError;

/// A list in TOML.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, FlowError> {
    let text = fs::read_to_string(path).map_err(|e| FlowError::io(path, e))?;
    toml::from_str(&text).map_err(|e| FlowError::list(path, e.to_string().trim_end()))
}

/// A list that need not be there.
pub fn read_or_none<T: DeserializeOwned + Default>(path: &Path) -> Result<T, FlowError> {
    if path.is_file() { read(path) } else { Ok(T::default()) }
}

/// Makes a folder that has nothing in it, of earlier runs neither.
pub fn emptied(folder: &Path) -> Result<(), FlowError> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).map_err(|e| FlowError::io(folder, e))?;
    }
    fs::create_dir_all(folder).map_err(|e| FlowError::io(folder, e))
}
