//! DIMMnet-1: pure functions, the host library on the model, whole paths.

mod firmware_paths;
mod host;
mod packet;
