//! Golden model of `dimmnet1_tlb`: RVATLB and PATLB.
