//! `rtl/r3000`: the processor in lock step with its golden model and the model of its cycles.

mod r3000;
