//! CP-PACS: criteria, both backends, bad input, attacks, parameters, the command.

mod backends;
mod bad_input;
mod command;
mod criteria;
mod faults;
mod kernels;
mod parameters;
mod scale;
