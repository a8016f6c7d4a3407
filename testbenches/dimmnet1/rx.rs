//! `dimmnet1_rx`: receiver.
