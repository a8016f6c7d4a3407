//! Results that are kept until their inputs change.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::FlowError;

/// The locked versions of the tools: another version may give another result.
const TOOLS: &str = include_str!("../../../tools/requirements.lock");

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    key: String,
    value: T,
}

/// A digest of all inputs of a result.
pub fn key<T: AsRef<[u8]>>(parts: &[T]) -> String {
    let mut digest = Sha256::new();
    for part in parts.iter().map(AsRef::as_ref).chain([TOOLS.as_bytes()]) {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The result in `path` if it has the same key; else makes it and keeps it there.
pub fn or_make<T: Serialize + DeserializeOwned>(
    path: &Path,
    key: &str,
    make: impl FnOnce() -> Result<T, FlowError>,
) -> Result<T, FlowError> {
    let kept = fs::read(path)
        .ok()
        .and_then(|text| serde_json::from_slice::<Kept<T>>(&text).ok());
    if let Some(kept) = kept.filter(|kept| kept.key == key) {
        return Ok(kept.value);
    }
    let kept = Kept {
        key: key.to_owned(),
        value: make()?,
    };
    let text = serde_json::to_vec(&kept).expect("results are plain data");
    fs::write(path, text).map_err(|e| FlowError::io(path, e))?;
    Ok(kept.value)
}
