//! Golden model of `dimmnet1_send`: AOTF and BOTF.
