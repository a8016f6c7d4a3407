//! The timed model at the size of the paper's machine and beyond, and what makes it fast: it says which nodes changed.

use std::time::{Duration, Instant};

use tsunagi::cppacs::host::{Allow, CppacsSim, How, RdmaError, To};
use tsunagi::cppacs::kernels::{Class, Job, Kernel, run_rdma};
use tsunagi::cppacs::model::ModelMachine;
use tsunagi::cppacs::params::Config;
use tsunagi::harness::backend::{AnyBackend, Backend, Doing, Event, HostReq, HostRsp};
use tsunagi::harness::faults::Fault;
use tsunagi::harness::memory::Memory;
use tsunagi::{NodeId, Picos};

const BOUND: Picos = Picos::from_ns(1_000_000_000);

fn config(x: u32, y: u32, z: u32) -> Config {
    Config {
        x,
        y,
        z,
        mem_bytes: 0x20_0000,
        ..Config::paper()
    }
}

/// Each node sends to the next one, four times; the simulated time it took.
fn shift(sim: &mut CppacsSim<AnyBackend>) -> Picos {
    let (begin, nodes) = (sim.now(), sim.nodes());
    for at in 0..nodes {
        let next = NodeId(((at + 1) % nodes) as u16);
        sim.spawn_checked(NodeId(at as u16), async move |node| {
            let area = node.object("area", 16_384)?;
            let field = node.create_field(&area, 0, 8192, 0, Allow::WRITE).await?;
            let right = node.get_sendright(To::Node(next), "area", 0, BOUND).await?;
            node.barrier(BOUND).await?;
            for round in 1..5 {
                node.write(&area.span(8192, 8)?, &(1000 * round + at as u64).to_le_bytes());
                node.send(area.span(8192, 8192)?, &right, 0, How::default()).await?;
                node.wait(&field, round as u32, BOUND).await?;
                let got = u64::from_le_bytes(node.read(&area.span(0, 8)?).try_into().expect("8 bytes"));
                assert_eq!(got, 1000 * round + ((at + nodes - 1) % nodes) as u64);
                node.barrier(BOUND).await?;
            }
            Ok::<(), RdmaError>(())
        });
    }
    sim.run(BOUND).expect("all end");
    sim.now() - begin
}

#[test]
fn two_thousand_nodes_take_seconds() {
    let config = config(16, 16, 8);
    let start = Instant::now();
    let mut sim = CppacsSim::new(Box::new(ModelMachine::new(&config)) as AnyBackend, &config).expect("it boots");
    let took = shift(&mut sim);
    println!("2,048 nodes: {} us simulated in {:?}", took.as_us(), start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// A model of which nobody knows what changed.
struct Silent(ModelMachine);

impl Backend for Silent {
    fn now(&self) -> Picos {
        self.0.now()
    }

    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn next_event(&self) -> Option<Picos> {
        self.0.next_event()
    }

    fn advance(&mut self, to: Picos) {
        self.0.advance(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        self.0.host_start(node, req);
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        self.0.host_take(node)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.0.irq(node)
    }

    fn doing(&self, node: NodeId) -> Doing {
        self.0.doing(node)
    }

    fn inject(&mut self, node: NodeId, fault: &Fault) -> bool {
        self.0.inject(node, fault)
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        self.0.memory(node)
    }

    fn record(&mut self, on: bool) {
        self.0.record(on);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.0.take_events()
    }

    fn hang_report(&self) -> String {
        self.0.hang_report()
    }
}

/// Events and times of two programs, one after the other, on a machine.
fn runs(machine: AnyBackend, config: &Config) -> (Picos, Vec<Event>, Vec<Picos>) {
    let mut sim = CppacsSim::new(machine, config).expect("it boots");
    sim.backend_mut().record(true);
    let took = shift(&mut sim);
    let job = Job {
        kernel: Kernel::Mg,
        class: Class::S,
        nodes: sim.nodes(),
        compute_us: 1e4,
        peer_us: 0.0,
        uncached: 0.0,
    };
    let kernels = sim.spawn_all(|node| async move { run_rdma(&node, &job).await.expect("it runs") });
    sim.run(BOUND).expect("all end");
    let times = kernels.into_iter().map(|mut kernel| kernel.take().expect("it ended"));
    let times = times.collect();
    let events = sim.backend_mut().take_events();
    (took, events, times)
}

#[test]
fn a_run_is_the_same_when_nobody_knows_what_changed() {
    let config = config(2, 2, 2);
    let knows = runs(Box::new(ModelMachine::new(&config)), &config);
    let silent = runs(Box::new(Silent(ModelMachine::new(&config))), &config);
    assert!(knows.1.len() > 1000, "{} events", knows.1.len());
    assert_eq!(knows, silent);
}
