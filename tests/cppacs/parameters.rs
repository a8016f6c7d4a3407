//! Each parameter moves something that can be seen.

use std::fmt::Write as _;

use tsunagi::cppacs::host::pvm::error::PvmError;
use tsunagi::cppacs::host::{Allow, How, RdmaError, To};
use tsunagi::cppacs::kernels::{Class, Kernel};
use tsunagi::cppacs::params::{Config, PARAMS};
use tsunagi::cppacs::regs::{KICKS, KICKS_ROOM_MASK, SIZE_PAGE};
use tsunagi::cppacs::repro::{Scenario, What, job, measure};
use tsunagi::harness::faults::Fault;
use tsunagi::repro::row::BackendKind;
use tsunagi::{NodeId, Picos};

use crate::backends::{self, A, B, BOUND, Sim, run, run_all};

/// What a machine of these parameters shows.
type Shown = fn(&Config) -> String;

/// Another value of each parameter, and what shows it. Not here are those with one value.
const OTHERS: &[(&str, f64, Shown)] = &[
    ("x", 4.0, nodes),
    ("y", 2.0, nodes),
    ("z", 2.0, nodes),
    ("mem_bytes", 1_048_576.0, nodes),
    ("clock_period", 20.0, rdma),
    ("room", 288.0, held_up),
    ("ack_room", 64.0, crowd),
    ("rights", 16.0, rights),
    ("fields", 32.0, fields),
    ("kick_depth", 2.0, kicks),
    ("answers", 2.0, askers),
    ("burst_beats", 4.0, rdma),
    ("outstanding", 2.0, rdma),
    ("memory_read_latency", 60.0, rdma),
    ("memory_write_latency", 60.0, rdma),
    ("syscall", 1.0, ping_pong),
    ("send_setup", 1.0, ping_pong),
    ("receive_poll", 1.0, ping_pong),
    ("interrupt", 1.0, rights),
    ("access", 200.0, ping_pong),
    ("copy", 1.0, ping_pong),
    ("copy_extra", 1.0, pvm),
    ("copy_strided", 1.0, strided),
    ("wait_bound", 20.0, refused),
    ("pvm_area", 16_384.0, pvm),
    ("pvm_buffers", 1.0, pvm),
    ("pvm_send_cost", 1.0, pvm),
    ("pvm_recv_cost", 1.0, pvm),
    ("pvm_ack_cost", 1.0, pvm),
    ("ep_compute", 1.0, |config| kernel(config, Kernel::Ep)),
    ("cg_compute", 1.0, |config| kernel(config, Kernel::Cg)),
    ("cg_peer", 1.0, |config| kernel(config, Kernel::Cg)),
    ("copy_uncached", 1.0, |config| kernel(config, Kernel::Mg)),
    ("ft_compute", 1.0, |config| kernel(config, Kernel::Ft)),
    ("mg_compute", 1.0, |config| kernel(config, Kernel::Mg)),
];
const ONE_VALUE: [&str; 2] = ["word_bytes", "pu_room"];

fn booted(config: &Config) -> Sim {
    backends::booted(BackendKind::Model, config)
}

fn shown(config: &Config, what: What) -> String {
    let scenario = Scenario {
        backend: BackendKind::Model,
        config: config.clone(),
        what,
    };
    measure(&scenario).map_or_else(|error| error.to_string(), |m| format!("{:?}", m.values))
}

fn nodes(config: &Config) -> String {
    let mut sim = booted(config);
    let large = run(&mut sim, A, async |node| node.object("large", 8 << 20).is_ok());
    format!("{} {large}", sim.nodes())
}

fn rdma(config: &Config) -> String {
    shown(
        config,
        What::Stream {
            bytes: 65_536,
            count: 3,
        },
    )
}

fn ping_pong(config: &Config) -> String {
    shown(config, What::PingPong { bytes: 256, rounds: 2 })
}

fn pvm(config: &Config) -> String {
    shown(config, What::Pvm { bytes: 65_536 })
}

/// A kernel of class S by PVM, on two nodes.
fn kernel(config: &Config, kernel: Kernel) -> String {
    let job = job(config, kernel, Class::S, 2);
    shown(config, What::Kernel { job, by_pvm: true })
}

/// When a worm has left its node, while memory at the other end stands still.
fn held_up(config: &Config) -> String {
    let mut sim = booted(config);
    let times = run_all(&mut sim, async |node| {
        let area = node.object("data", 2048)?;
        node.create_field(&area, 0, 2048, 0, Allow::WRITE).await?;
        let right = node.get_sendright(To::Node(B), "data", 0, BOUND).await?;
        node.barrier(BOUND).await?;
        if node.id() == B {
            assert!(node.host().inject(&Fault::MemoryStalls(Picos::from_us(200.0))));
            return Ok(String::new());
        }
        let sent = node.send(area.all(), &right, 0, How::FLAGGED).await?;
        node.wait_sent(sent).await?;
        Ok(node.now().to_string())
    });
    times.concat()
}

/// All send to one node at once, with long worms and short ones behind them.
fn crowd(config: &Config) -> String {
    let mut sim = booted(&Config {
        x: 2,
        y: 2,
        z: 2,
        ..config.clone()
    });
    let times = run_all(&mut sim, async |node| {
        let area = node.object("data", 4096)?;
        node.create_field(&area, 0, 4096, 0, Allow::WRITE).await?;
        let right = node.get_sendright(To::Node(A), "data", 0, BOUND).await?;
        node.barrier(BOUND).await?;
        let mut times = String::new();
        for bytes in [4096, 128, 128, 128] {
            let sent = node.send(area.span(0, bytes)?, &right, 0, How::FLAGGED).await?;
            node.wait_sent(sent).await?;
            write!(times, "{} ", node.now()).expect("to a string");
        }
        Ok(times)
    });
    format!("{times:?}")
}

/// How many rights a program gets, and when.
fn rights(config: &Config) -> String {
    let mut sim = booted(config);
    run_all(&mut sim, async |node| {
        let area = node.object("data", 64)?;
        node.create_field(&area, 0, 64, 0, Allow::WRITE).await.map(drop)
    });
    let got = run(&mut sim, A, async |node| {
        let mut got = 0;
        while got < 20 && node.get_sendright(To::Node(B), "data", 0, BOUND).await.is_ok() {
            got += 1;
        }
        got
    });
    format!("{got} {}", sim.now())
}

fn fields(config: &Config) -> String {
    let mut sim = booted(config);
    let made = run(&mut sim, A, async |node| {
        let area = node.object("data", 64)?;
        for number in 0..40 {
            if node.create_field(&area, 0, 64, number, Allow::WRITE).await.is_err() {
                return Ok(number);
            }
        }
        Ok::<_, RdmaError>(40)
    });
    format!("{made:?}")
}

fn kicks(config: &Config) -> String {
    let mut sim = booted(config);
    let kicks = run(&mut sim, A, async |node| {
        node.host().load((KICKS + SIZE_PAGE).into(), 8).await
    });
    format!("{}", kicks.expect("a register") & KICKS_ROOM_MASK)
}

/// All ask one node for a worm each.
fn askers(config: &Config) -> String {
    let wait_bound = Picos::from_us(10_000.0);
    let mut sim = booted(&Config {
        x: 4,
        y: 2,
        wait_bound,
        ..config.clone()
    });
    let got = run_all(&mut sim, async |node| {
        let area = node.object("data", 65_536)?;
        let field = node.create_field(&area, 0, 65_536, 0, Allow::ALL).await?;
        let right = node.get_sendright(To::Node(A), "data", 0, BOUND).await?;
        node.barrier(BOUND).await?;
        Ok(node.get(&right, 0, &field, 0, 65_536).await.is_ok())
    });
    format!("{got:?}")
}

/// A GET that a field does not allow.
fn refused(config: &Config) -> String {
    let mut sim = booted(config);
    run_all(&mut sim, async |node| {
        let area = node.object("data", 64)?;
        let field = node.create_field(&area, 0, 64, 0, Allow::WRITE).await?;
        let right = node
            .get_sendright(To::Node(NodeId(1 - node.id().0)), "data", 0, BOUND)
            .await?;
        assert!(matches!(
            node.get(&right, 0, &field, 0, 64).await,
            Err(RdmaError::Timeout { .. })
        ));
        Ok(())
    });
    format!("{}", sim.now())
}

/// Packing with a stride.
fn strided(config: &Config) -> String {
    use tsunagi::cppacs::host::pvm::error::{CallError, Fault};
    use tsunagi::cppacs::host::pvm::{Pvm, Running};
    let mut sim = booted(config);
    let load = |_: &str, _: &[String], task: tsunagi::cppacs::host::pvm::task::Task<_>| -> Result<Running, PvmError> {
        Ok(Box::pin(async move {
            task.initsend().await;
            task.pack(&[7; 8192], true).await.map_err(|error| match error {
                CallError::Fault(fault) => fault,
                CallError::Pvm(error) => Fault::Program {
                    task: task.tid(),
                    why: error.to_string(),
                },
            })
        }))
    };
    let (all, nodes) = sim.parts();
    let pvm = Pvm::start(nodes, Box::new(load), "pack", &[], 1).expect("it fits");
    pvm.run(all, BOUND).unwrap_or_else(|error| panic!("{error}"));
    format!("{}", sim.now())
}

#[test]
fn each_parameter_moves_something() {
    let mut usual = Config::paper();
    usual.mem_bytes = 0x100_0000;
    for param in PARAMS {
        let others = OTHERS.iter().filter(|(name, ..)| *name == param.name).count();
        assert_eq!(others, usize::from(!ONE_VALUE.contains(&param.name)), "{}", param.name);
    }
    for (name, other, shows) in OTHERS {
        let mut changed = usual.clone();
        changed.set(name, *other).unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(shows(&usual), shows(&changed), "{name}");
    }
}

#[test]
fn values_outside_their_ranges_are_refused() {
    for (name, value) in [
        ("x", 0.0),
        ("y", 18.0),
        ("mem_bytes", 1024.0),
        ("room", 200.0),
        ("pvm_buffers", 3.0),
    ] {
        assert!(Config::paper().set(name, value).is_err(), "{name} = {value}");
    }
}
