//! Golden model of `dimmnet1_llcm`: low-latency common memory.
