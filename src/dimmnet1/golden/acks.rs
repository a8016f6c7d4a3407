//! Golden model of `dimmnet1_acks`: slots and credits.
