//! Machines for host programs, on the RTL and on the golden model.

use tsunagi::ap1000p::host::Ap1000pSim;
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::rtl;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::wave::Probe;

/// A machine with fast links.
pub fn config(columns: u32, rows: u32) -> Config {
    Config {
        columns,
        rows,
        link_rate: 200.0,
        ..Config::paper()
    }
}

/// The same on the RTL and on the model.
pub fn both(config: &Config) -> [Ap1000pSim<AnyBackend>; 2] {
    let backends: [AnyBackend; 2] = [
        rtl::build(config, &Probe::default()).expect("built"),
        Box::new(ModelMachine::new(config)),
    ];
    backends.map(|backend| Ap1000pSim::new(backend, config.clone()).expect("boots"))
}
