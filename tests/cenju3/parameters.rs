//! Each parameter that no row lists moves the machine, or a call. `criteria/depends.rs` checks that the others move
//! rows.

use support::parameters::{Entry, Seen, idle, size};
use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::{Config, PARAMS, Param};
use tsunagi::cenju3::repro::{Scenario, What, measure};
use tsunagi::repro::row::BackendKind;
use tsunagi::repro::{Request, lab, pool};

/// Where another value of a parameter shows.
#[derive(Clone, Copy)]
enum Shows {
    /// In how many nodes the machine has, or in their memory.
    Size,
    /// In how long a `CJrmwrite` of a line and a half takes.
    Lines,
}

const ENTRIES: [Entry<Shows>; 3] = [
    ("pes", 16.0, Shows::Size),
    ("mem_bytes", 8_388_608.0, Shows::Size),
    ("cache_line", 64.0, Shows::Lines),
];

fn see(shows: Shows, config: &Config) -> Result<Seen, String> {
    match shows {
        Shows::Size => Ok(size(&mut ModelMachine::new(config))),
        Shows::Lines => {
            let scenario = Scenario {
                backend: BackendKind::Model,
                config: config.clone(),
                what: What::Rmwrite {
                    bytes: 48,
                    calls: 2,
                    receiver: true,
                },
            };
            let measured = measure(&scenario).map_err(|e| e.to_string())?;
            let values = measured.values.into_iter();
            Ok(values.map(|(name, value)| (name.into(), value.to_bits())).collect())
        }
    }
}

#[test]
fn each_moves_something() {
    let config = Config::paper();
    let request = Request {
        experiments: &[],
        backends: &[BackendKind::Model],
        config: &config,
        full: false,
        threads: pool::threads(),
    };
    let outcomes = lab::run::<Cenju3>(&request, |_, _| ()).unwrap();
    let listed = |p: &&Param| {
        let mut rows = outcomes.iter().flat_map(|o| &o.rows);
        rows.any(|r| r.depends_on.contains(&p.name))
    };
    let is_built_in = |p: &Param| p.range.0 == p.range.1;
    let others = PARAMS.iter().filter(|p| !listed(p) && !is_built_in(p));
    let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.0).collect();
    assert_eq!(names, others.map(|p| p.name).collect::<Vec<_>>());
    let set = |config: &mut Config, name: &str, value| config.set(name, value).unwrap();
    assert_eq!(idle(&ENTRIES, &config, set, see), Vec::<&str>::new());
}
