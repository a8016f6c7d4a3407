//! What every machine stands on, over machines of a few lines.

mod exec;
mod memory;
