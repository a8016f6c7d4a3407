//! Golden model of `dimmnet1_bus`: host and processor at the registers.
