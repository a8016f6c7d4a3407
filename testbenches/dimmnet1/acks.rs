//! `dimmnet1_acks`: slots and credits.
