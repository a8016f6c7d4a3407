//! Golden model of `dimmnet1_rdma`: RDMA engine.
