//! DIMMnet-1: pure functions, the firmware, the host library on the model, whole paths.

mod agree;
mod backends;
mod command;
mod criteria;
mod faults;
mod firmware;
mod firmware_paths;
mod host;
mod packet;
mod parameters;
mod pushed;
