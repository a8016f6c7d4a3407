//! Whole machines of RTL.

mod alltoall;
mod path;
mod wave;
