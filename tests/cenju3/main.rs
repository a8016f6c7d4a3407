//! Cenju-3: formats, lock-step models, the timed model, whole machines of RTL, host software and the paper's criteria.

mod agree;
mod criteria;
mod golden;
mod host;
mod model;
mod parameters;
mod pushed;
mod rtl;
mod traffic;
