//! `dimmnet1_llcm`: low-latency common memory.
