//! `dimmnet1_send`: AOTF and BOTF.
