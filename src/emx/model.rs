//! Timed model.
