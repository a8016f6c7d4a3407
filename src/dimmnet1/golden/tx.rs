//! Golden model of `dimmnet1_tx`: transmit arbiter.
