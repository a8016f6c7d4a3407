//! Golden model of `dimmnet1_rx`: receiver.
