//! A machine of your own, all of it. `docs/adding-a-machine.md` goes through these files.

pub mod golden;
pub mod host;
pub mod machine;
pub mod repro;

use machine::{Config, build};
use tsunagi::harness::exec::Sim;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::wave::Probe;
use tsunagi::machine::{Carrier, Facts, Machine, MachineError, Measured, Route, Run, Scenario, Shown, Wave};

pub struct YourMachine;

const FACTS: Facts = Facts {
    title: "Toy Pair",
    about: "Two nodes with a link between them, each of which sends a word to the other. It stands for your machine.",
    paper: "No paper has it; docs/adding-a-machine.md describes it",
    point: "Y1",
    next: "--set period=20",
    shortened: &[],
    scenarios: &[Scenario::new("word", &[])],
    waves: &[Wave::new("word", "word", &[])],
    shown: Shown {
        nodes: ["nic0", "nic1"],
        unit: "your_nic",
        signals: &[
            ("link out", &[("tx_valid_o", 1), ("tx_ready_i", 1), ("tx_data_o", 32)]),
            ("link in", &[("rx_valid_i", 1), ("rx_ready_o", 1), ("irq_o", 1)]),
        ],
    },
    bench: None,
    campaign: None,
};

impl Machine for YourMachine {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        vec![("nodes", nodes.into())]
    }

    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError> {
        let (backend, config, what) = (run.backend, Config::of(run.settings)?, 0x1234_5678);
        repro::measure(&repro::Job { backend, config, what }, run.probe)
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        let (config, nodes) = (Config::of(route.settings)?, [route.from, route.to]);
        if route.from == route.to {
            return Err(MachineError::usage(
                "no node has a link to itself: --from and --to must differ",
            ));
        }
        let sim = Sim::new(build(route.backend, &config, &Probe::default()));
        Ok(Box::new(host::Transfer { sim, nodes }))
    }
}
