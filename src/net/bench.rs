//! How fast a network of RTL switches runs: uniform one-word packets at a given offered load.

use std::collections::VecDeque;
use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use verilated::Context;

use crate::net::fabric::{Fabric, Flit, SwitchUnit};
use crate::net::topology::Omega;
use crate::net::torus::{Class, Header, Torus};
use crate::net::torus_fabric::TorusFabric;
use crate::net::units;
use crate::rtl::TorusRouter;

/// The traffic of [`uniform`] and of [`torus_uniform`], in two runs.
pub const UNIFORM: [&str; 2] = ["uniform one-word packets"; 2];

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct NetworkRun {
    pub cycles: u64,
    /// Packets that wanted to start, a cycle and port.
    pub offered: f64,
    /// Packets that arrived, a cycle and port.
    pub accepted: f64,
    /// CPU time of the run, traffic included.
    pub cpu: Duration,
}

impl NetworkRun {
    pub fn cycles_per_second(&self) -> f64 {
        self.cycles as f64 / self.cpu.as_secs_f64()
    }
}

/// 256 ports, four columns of 4x4 crossbars of 16 bits, under the traffic of [`uniform`].
pub fn omega_uniform(load: f64, cycles: u64, seed: u64) -> NetworkRun {
    const PORTS: usize = 256;
    let context = Context::new();
    let make = |at, digit| units::crossbar(&context, at, digit);
    let fabric = Fabric::new(Omega::new(4, 4), PORTS, make);
    uniform(fabric, PORTS, 0, (load, cycles, seed))
}

/// A network of `ports` ports, at most 256, for `cycles` cycles in which each port, with probability `load`, wishes to
/// send a word to a port drawn uniformly; wishes wait in an unbounded queue. The port is in the word's bits from
/// `place` on. Panics where a word arrives at another port than it names.
pub fn uniform<S: SwitchUnit>(
    mut fabric: Fabric<S>,
    ports: usize,
    place: u32,
    (load, cycles, seed): (f64, u64, u64),
) -> NetworkRun {
    (0..ports).for_each(|port| fabric.accept(port, true));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let threshold = (load * f64::from(1 << 24)) as u32;
    let mut waiting: Vec<VecDeque<u64>> = vec![VecDeque::new(); ports];
    let (mut offered, mut accepted) = (0, 0);
    let start = cpu_time();
    for _ in 0..cycles {
        for (port, queue) in waiting.iter_mut().enumerate() {
            let draw = random.next_u32();
            if draw >> 8 < threshold {
                offered += 1;
                queue.push_back(u64::from(draw & 0xFF) % ports as u64);
            }
            if let Some(to) = queue.front() {
                fabric.inject(
                    port,
                    Flit {
                        word: to << place,
                        last: true,
                    },
                );
                if fabric.ready(port) {
                    queue.pop_front();
                }
            }
        }
        for port in fabric.shown() {
            let word = fabric.output(*port).expect("a shown word is there").word;
            assert_eq!(word >> place & 0xFF, *port as u64, "a word for another port");
            accepted += 1;
        }
        fabric.edge();
    }
    let per_port = |n: u64| n as f64 / (cycles as f64 * ports as f64);
    NetworkRun {
        cycles,
        offered: per_port(offered),
        accepted: per_port(accepted),
        cpu: cpu_time() - start,
    }
}

/// What a run of a torus gave.
#[derive(Clone, Copy, Debug)]
pub struct TorusRun {
    pub network: NetworkRun,
    /// Mean cycles from the wish to send a word to its arrival.
    pub latency: f64,
}

/// A torus of full-speed routers of 64 bits, traffic as in [`uniform`]; throughput and latency are of what happens in
/// the second half of the `cycles`. Panics where a word arrives at another cell than it names.
pub fn torus_uniform(torus: Torus, load: f64, cycles: u64, seed: u64) -> TorusRun {
    let context = Context::new();
    let cells = torus.cells();
    let mut fabric = TorusFabric::new(torus, |at| {
        TorusRouter::named(&context, &format!("router_{}_{}", at.x, at.y))
    });
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let threshold = (load * f64::from(1 << 24)) as u32;
    let mut waiting: Vec<VecDeque<u64>> = vec![VecDeque::new(); cells];
    let (mut offered, mut accepted, mut delays) = (0, 0, 0);
    let start = cpu_time();
    for cycle in 0..cycles {
        let counts = u64::from(cycle >= cycles / 2);
        for (n, queue) in waiting.iter_mut().enumerate() {
            let draw = random.next_u32();
            // Anyone but itself.
            let to = torus.cell((n + 1 + random.next_u32() as usize % (cells - 1)) % cells);
            if draw >> 8 < threshold {
                offered += counts;
                queue.push_back(cycle << Header::BITS | Header::to(to, Class::Request).word());
            }
            if let Some(sent) = fabric.output(n) {
                let (word, at) = (sent.flit.word, torus.cell(n));
                assert_eq!(
                    Header::of(word),
                    Header::to(at, Class::Request),
                    "a word for another cell"
                );
                accepted += counts;
                delays += counts * (cycle - (word >> Header::BITS));
                fabric.give_back(n, Class::Request);
            }
            if fabric.has_place(n, Class::Request)
                && let Some(word) = queue.pop_front()
            {
                fabric.inject(n, Class::Request, Flit { word, last: true });
            }
        }
        fabric.edge();
    }
    let per_cell = |n: u64| n as f64 / ((cycles - cycles / 2) as f64 * cells as f64);
    TorusRun {
        network: NetworkRun {
            cycles,
            offered: per_cell(offered),
            accepted: per_cell(accepted),
            cpu: cpu_time() - start,
        },
        latency: delays as f64 / accepted as f64,
    }
}

/// CPU time of this thread, where the system tells it; else time on the wall.
pub fn cpu_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}
