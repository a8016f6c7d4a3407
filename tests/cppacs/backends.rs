//! Both backends of the machine, and what must be the same on the RTL in whatever way it is evaluated.

use tsunagi::cppacs::host::{Allow, CppacsSim, How, Node, RdmaError, To, layout};
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::{repro, rtl};
use tsunagi::harness::backend::{AnyBackend, Backend as _, Event};
use tsunagi::harness::wave::Probe;
use tsunagi::repro::row::BackendKind;
use tsunagi::{Addr, NodeId, Picos};

/// Tests of functions that take a [`BackendKind`]: `name::model` and `name::rtl` for each.
macro_rules! on_both {
    ($($name:ident)*) => {
        $(mod $name {
            use tsunagi::repro::row::BackendKind;

            #[test]
            fn model() {
                super::$name(BackendKind::Model);
            }

            #[test]
            fn rtl() {
                super::$name(BackendKind::Rtl);
            }
        })*
    };
}
pub(crate) use on_both;

pub type Sim = CppacsSim<AnyBackend>;

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
/// No run takes longer.
pub const BOUND: Picos = Picos::from_ns(20_000_000_000);

/// A small machine of this grid.
pub fn config(x: u32, y: u32, z: u32) -> Config {
    let mem_bytes = 0x40_0000;
    Config {
        x,
        y,
        z,
        mem_bytes,
        ..Config::paper()
    }
}

pub fn booted(kind: BackendKind, config: &Config) -> Sim {
    let machine = repro::machine(kind, config, &Probe::default()).unwrap_or_else(|error| panic!("{error}"));
    CppacsSim::new(machine, config).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a program of a node to its end.
pub fn run<T: 'static, F: Future<Output = T> + 'static>(
    sim: &mut Sim,
    node: NodeId,
    program: impl FnOnce(Node) -> F,
) -> T {
    let mut result = sim.spawn(node, program);
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    result.take().expect("the program has ended")
}

/// Runs a program on every node to its end.
pub fn run_all<T: 'static, F: Future<Output = Result<T, RdmaError>> + 'static>(
    sim: &mut Sim,
    program: impl Fn(Node) -> F,
) -> Vec<T> {
    let programs = sim.spawn_all(program);
    sim.run(BOUND).unwrap_or_else(|error| panic!("{error}"));
    let ended = programs
        .into_iter()
        .map(|mut program| program.take().expect("it ended"));
    ended
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Transfers of all kinds between all nodes.
async fn everything(node: Node) -> Result<(), RdmaError> {
    let nodes = node.nodes() as u32;
    let own = u32::from(node.id().0);
    let area = node.object("all:data", 0x4000)?;
    let field = node.create_field(&area, 0, 0x4000, 0, Allow::ALL).await?;
    node.write(&area.all(), &vec![own as u8 + 1; 0x4000]);
    node.barrier(BOUND).await?;
    let to = To::Node(NodeId(((own + 1) % nodes) as u16));
    let right = node.get_sendright(to, "all:data", 0, BOUND).await?;
    node.send(area.span(0, 0x800)?, &right, 0x1000, How::FLAGGED).await?;
    node.send(area.span(0, 24)?, &right, 0x2000, How::ACK).await?;
    node.get(&right, 0, &field, 0x2800, 0x400).await?;
    node.swap(&right, 0x2f00, 5).await?;
    if own == 0 {
        let all = node.get_sendright(To::Broadcast(7, A), "all:data", 0, BOUND).await?;
        node.send(area.span(0, 0x1000)?, &all, 0x3000, How::default()).await?;
    }
    node.barrier(BOUND).await?;
    node.compute(Picos::from_us(50.0)).await;
    Ok(())
}

/// Events and memories of that.
fn seen(machine: AnyBackend, config: &Config) -> (Vec<Event>, Vec<Vec<u8>>) {
    let mut sim = CppacsSim::new(machine, config).unwrap();
    sim.backend_mut().record(true);
    run_all(&mut sim, everything);
    let events = sim.backend_mut().take_events();
    let nodes = sim.nodes() as u16;
    let memory = |node: u16| {
        let mut backend = sim.backend_mut();
        let memory = backend.memory(NodeId(node));
        // In front of the area, kernels' messages stand in the order in which they came.
        memory
            .read(Addr(layout::AREA), memory.size() - layout::AREA as usize)
            .unwrap()
            .to_vec()
    };
    (events, (0..nodes).map(memory).collect())
}

#[test]
fn what_rests_is_left_out_and_junk_is_not_looked_at() {
    for config in [config(2, 1, 1), config(2, 2, 1)] {
        let of = |junk, gated| {
            seen(
                rtl::build_with(&config, &Probe::default(), junk, gated).unwrap(),
                &config,
            )
        };
        let plain = of(None, true);
        assert!(plain.0.len() > 100, "{} events", plain.0.len());
        for (junk, gated) in [(Some(7), true), (None, false), (Some(8), false)] {
            assert!(plain == of(junk, gated), "junk {junk:?}, gated {gated}");
        }
    }
}

/// The model keeps the order of the network's parts, and its times are nearly those of the RTL.
#[test]
fn both_backends_leave_the_same_memories() {
    for config in [config(2, 1, 1), config(2, 2, 2), config(4, 1, 2)] {
        let of = |kind| seen(repro::machine(kind, &config, &Probe::default()).unwrap(), &config).1;
        let [rtl, model] = [BackendKind::Rtl, BackendKind::Model].map(of);
        for (node, (rtl, model)) in rtl.iter().zip(&model).enumerate() {
            let differs = rtl.iter().zip(model).position(|(a, b)| a != b);
            assert_eq!(differs, None, "node {node}");
        }
    }
}

#[test]
fn every_grid_of_built_lines_is_a_machine() {
    for (x, y, z) in [(1, 1, 1), (1, 2, 1), (8, 1, 1), (1, 4, 2), (2, 2, 4), (4, 4, 8)] {
        let config = Config {
            mem_bytes: 0x10_0000,
            ..config(x, y, z)
        };
        let mut sim = booted(BackendKind::Rtl, &config);
        let last = NodeId(sim.nodes() as u16 - 1);
        let mut field = sim.spawn(last, async |node: Node| {
            let area = node.object("data", 64)?;
            let field = node.create_field(&area, 0, 64, 0, Allow::WRITE).await?;
            node.wait(&field, 1, BOUND).await?;
            Ok::<_, RdmaError>(node.read(&area.all()))
        });
        run(&mut sim, A, async move |node| {
            let area = node.object("source", 64)?;
            node.write(&area.all(), &[3; 64]);
            let right = node.get_sendright(To::Node(last), "data", 0, BOUND).await?;
            node.send(area.all(), &right, 0, How::default()).await
        })
        .unwrap();
        assert_eq!(field.take(), Some(Ok(vec![3; 64])), "{x}x{y}x{z}");
    }
}
