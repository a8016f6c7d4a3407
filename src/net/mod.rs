//! Golden switches, topologies and routing; fabrics composed of verilated switches.

pub mod bench;
pub mod cut_through;
pub mod dependencies;
pub mod fabric;
pub mod link;
pub mod switch;
pub mod topology;
pub mod torus;
pub mod torus_fabric;
pub mod units;
