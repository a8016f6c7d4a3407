//! DIMMnet-1: the firmware of its on-chip processor.

mod firmware;
