//! `dimmnet1_tlb`: RVATLB and PATLB.
