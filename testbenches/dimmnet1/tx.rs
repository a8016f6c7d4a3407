//! `dimmnet1_tx`: transmit arbiter.
