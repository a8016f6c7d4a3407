//! `dimmnet1_rdma`: RDMA engine.
