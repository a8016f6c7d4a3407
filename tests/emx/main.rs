//! EM-4 and EM-X: criteria, host programs, bad input, the command, on the model and on the RTL.

mod availability;
mod backends;
mod bad_input;
mod command;
mod criteria;
mod host;
mod parameters;
mod pushed;
mod wave;
