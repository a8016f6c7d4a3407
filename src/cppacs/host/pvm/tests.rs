//! PVM by Rust functions on the perfect network: the paper's times, and what programs may do wrong.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::error::{CallError, Fault, PvmError, Result};
use super::task::Task;
use super::wire::Call;
use super::{Pvm, RunError, Running};
use crate::Picos;
use crate::cppacs::host::perfect::{Node, Perfect};
use crate::cppacs::params::Config;
use crate::harness::exec::Sim;
use crate::harness::params::Table as _;

type T = Task<Node>;

fn config(assignments: &[&str]) -> Config {
    let mut config = Config::paper();
    for text in assignments {
        config.set_assignment(text).unwrap();
    }
    config
}

/// Runs `program` as the tasks of a machine, all alike.
fn run<F>(config: &Config, tasks: usize, program: F) -> (Sim<Perfect>, Result<(), RunError>)
where
    F: AsyncFn(T) -> Result<()> + Clone + 'static,
{
    let load = move |_: &str, _: &[String], task: T| -> Result<Running, PvmError> {
        let program = program.clone();
        Ok(Box::pin(async move {
            program(task.clone()).await.map_err(|error| match error {
                CallError::Fault(fault) => fault,
                CallError::Pvm(error) => Fault::Program {
                    task: task.tid(),
                    why: error.to_string(),
                },
            })
        }))
    };
    let (mut sim, nodes) = Perfect::machine(config, tasks);
    let pvm = Pvm::start(nodes, Box::new(load), "program", &[], tasks).unwrap();
    let ran = pvm.run(&mut sim, Picos::from_us(1e12));
    (sim, ran)
}

fn tid(n: usize) -> i32 {
    super::HOST + 1 + n as i32
}

/// Half of there and back in us, packing and unpacking within (sec. 6.1), after a first round.
fn ping_pong(config: &Config, bytes: usize) -> (f64, [u64; 2]) {
    let time = Rc::new(Cell::new(0.0));
    let out = time.clone();
    let (sim, ran) = run(config, 2, async move |task: T| {
        let data = vec![7; bytes];
        let other = tid(1 - task.node().index());
        for _ in 0..2 {
            let start = task.now();
            for sends in [task.node().0 == 0, task.node().0 == 1] {
                if sends {
                    task.initsend().await;
                    task.pack(&data, false).await?;
                    task.send(other, 1).await?;
                } else {
                    task.recv(other, 1).await?;
                    assert_eq!(task.unpack(bytes, false).await?, data);
                }
            }
            if task.node().0 == 0 {
                out.set((task.now() - start).as_us() / 2.0);
            }
        }
        Ok(())
    });
    ran.unwrap();
    let transfers = sim.backend().transfers();
    (time.get(), transfers.map(|n| n / 4))
}

#[test]
fn times_are_those_of_table_1() {
    for (kb, reported, within) in [
        (1, 19.1, 0.05),
        (16, 88.5, 0.05),
        (64, 108.9, 0.05),
        (256, 108.5, 0.05),
        (1024, 115.1, 0.05),
    ] {
        let bytes = kb * 1024;
        let (us, transfers) = ping_pong(&Config::paper(), bytes);
        let rate = bytes as f64 / us;
        println!("{kb} KB: {us:.1} us, {rate:.1} MB/s, reported {reported}, {transfers:?}");
        assert!(
            (rate / reported - 1.0).abs() < within,
            "{kb} KB: {rate} MB/s instead of {reported}"
        );
        let pieces = bytes.div_ceil(32768) as u64;
        assert_eq!(transfers, [pieces, pieces], "pieces and acknowledgements of {kb} KB");
    }
    let (us, _) = ping_pong(&Config::paper(), 1024);
    assert!((53.0..54.0).contains(&us), "{us}");
}

#[test]
fn two_buffers_are_better_than_one() {
    let one = config(&["pvm_buffers=1"]);
    for kb in [64, 256, 1024] {
        let rate = |config: &Config| kb as f64 * 1024.0 / ping_pong(config, kb * 1024).0;
        let (one, two) = (rate(&one), rate(&Config::paper()));
        println!("{kb} KB: one {one:.1}, two {two:.1} MB/s");
        assert!(
            two >= 106.0 && (85.0..95.0).contains(&one),
            "{kb} KB: {one} and {two} MB/s"
        );
    }
}

/// Each waits for the other's acknowledgements, and takes pieces meanwhile.
#[test]
fn tasks_may_send_each_other_more_than_the_areas_hold() {
    let (_, ran) = run(&config(&["pvm_area=1024"]), 3, async |task: T| {
        let data: Vec<u8> = (0..50_000_u32)
            .map(|i| (i * 7 + u32::from(task.node().0)) as u8)
            .collect();
        task.initsend().await;
        task.pack(&data, false).await?;
        let others: Vec<i32> = (0..3).map(tid).filter(|&t| t != task.tid()).collect();
        task.mcast(&others, 5).await?;
        for other in others {
            task.recv(other, 5).await?;
            let from = (other - super::HOST - 1) as u32;
            let came = task.unpack(50_000, false).await?;
            assert!(came.iter().zip(0_u32..).all(|(&byte, i)| byte == (i * 7 + from) as u8));
            assert_eq!(
                task.unpack(1, false).await.unwrap_err().to_string(),
                "end of the message"
            );
        }
        Ok(())
    });
    ran.unwrap();
}

/// Tags of a later message first; a message to itself; one that waits for nobody.
#[test]
fn receives_choose_by_task_and_tag() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let seen = order.clone();
    let (_, ran) = run(&Config::paper(), 2, async move |task: T| {
        if task.node().0 == 0 {
            for tag in [3, 1, 2] {
                task.initsend().await;
                task.pack(&[tag as u8], false).await?;
                task.send(tid(1), tag).await?;
            }
            return Ok(());
        }
        assert_eq!(task.nrecv(-1, 9).await?, None);
        for (from, tag) in [(tid(0), 1), (-1, 2), (-1, -1)] {
            let buffer = task.recv(from, tag).await?;
            let info = task.bufinfo(buffer)?;
            assert_eq!((info.bytes, info.from), (1, tid(0)));
            seen.borrow_mut().push(info.tag);
            assert_eq!(task.unpack(1, false).await?, [info.tag as u8]);
        }
        task.initsend().await;
        task.send(task.tid(), 8).await?;
        assert!(task.probe(tid(1), 8).await?.is_some());
        task.recv(tid(1), 8).await?;
        let start = task.now();
        assert_eq!(task.trecv(-1, -1, Picos::from_us(100.0)).await?, None);
        assert!((task.now() - start).as_us() >= 100.0);
        Ok(())
    });
    ran.unwrap();
    assert_eq!(*order.borrow(), [1, 2, 3]);
}

#[test]
fn a_hang_says_who_waits_for_what() {
    let (_, ran) = run(&Config::paper(), 2, async |task: T| {
        if task.node().0 == 1 {
            task.recv(tid(0), 42).await?;
        }
        Ok(())
    });
    let said = ran.unwrap_err().to_string();
    assert!(
        said.starts_with("t40002 waits for a message of t40001 with tag 42, since "),
        "{said}"
    );
}

/// Nobody receives; the sender fills both areas and goes on when the other has left.
#[test]
fn a_task_that_is_gone_holds_nobody_up() {
    let (_, ran) = run(&Config::paper(), 2, async |task: T| {
        if task.node().0 == 1 {
            task.compute(Picos::from_us(1000.0)).await;
            task.exit();
            assert_eq!(task.is_there(tid(1)), Ok(false));
            return Ok(());
        }
        for _ in 0..5 {
            task.initsend().await;
            task.send(tid(1), 1).await?;
        }
        assert!(task.now().as_us() > 1000.0);
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn misuse_is_refused() {
    let (_, ran) = run(&Config::paper(), 2, async |task: T| {
        let why = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(why(task.send(tid(1), 1).await), "no current buffer");
        task.initsend().await;
        assert_eq!(why(task.send(tid(1), -1).await), "bad parameter");
        assert_eq!(why(task.send(tid(2), 1).await), "no such task");
        assert_eq!(why(task.send(-7, 1).await), "bad parameter");
        assert_eq!(task.freebuf(99), Err(PvmError::NoSuchBuf));
        assert_eq!(task.activate(true, 99), Err(PvmError::NoSuchBuf));
        assert_eq!(task.bufinfo(99), Err(PvmError::NoSuchBuf));
        assert_eq!(why(task.pack(&vec![0; 64 << 20], false).await), "no memory");
        assert_eq!(
            task.spawn("another", &[], 1).await.unwrap_err().to_string(),
            "not on this machine"
        );
        assert_eq!(why(task.leave("nobody").await), "no such group");
        assert_eq!(why(task.join("").await.map(drop)), "no name of a group");
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn groups_give_instances_and_barriers_wait() {
    let (_, ran) = run(&Config::paper(), 4, async |task: T| {
        task.compute(Picos::from_us(100.0) * u64::from(task.node().0)).await;
        let instance = task.join("all").await?;
        assert_eq!(instance, i32::from(task.node().0));
        assert!(matches!(
            task.join("all").await,
            Err(CallError::Pvm(PvmError::DupGroup))
        ));
        task.barrier("all", 4, true).await?;
        assert!(task.now().as_us() > 300.0, "the last one joins late");
        assert_eq!(task.members("all").await?, (0..4).map(tid).collect::<Vec<_>>());
        assert_eq!(task.group_task("all", 2).await?, tid(2));
        assert_eq!(task.instance("all", tid(3)).await?, 3);
        task.barrier("all", -1, false).await?;
        if task.node().0 == 1 {
            task.leave("all").await?;
            assert!(matches!(
                task.barrier("all", -1, false).await,
                Err(CallError::Pvm(PvmError::NotInGroup))
            ));
            assert_eq!(
                task.group_task("all", 1).await?,
                tid(1),
                "a frozen group stays as it was"
            );
        }
        task.compute(Picos::from_us(1000.0)).await;
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn areas_that_do_not_fit_are_refused_at_the_start() {
    let (_, nodes) = Perfect::machine(&config(&["mem_bytes=1048576"]), 128);
    let load = |_: &str, _: &[String], _: T| Err(PvmError::NoFile);
    let refused = Pvm::start(nodes, Box::new(load), "program", &[], 1)
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("for 128 nodes' areas"), "{refused}");
}

/// Numbers of the stub are written by hand; they are these.
#[test]
fn the_stub_has_the_same_numbers() {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/c/cppacs/pvm/stub.h");
    let header = std::fs::read_to_string(header).unwrap();
    let (_, list) = header.split_once("enum call {\n").unwrap();
    let (list, _) = list.split_once("};").unwrap();
    let mut stub: Vec<(String, u16)> = list
        .lines()
        .map(|line| {
            let (name, number) = line.trim().trim_end_matches(',').split_once(" = ").unwrap();
            (name.replace('_', "").to_lowercase(), number.parse().unwrap())
        })
        .collect();
    stub.sort();
    let call = |&(name, call, _): &(&str, Call, usize)| (name.to_lowercase(), call as u16);
    let mut ours: Vec<_> = Call::ALL.iter().map(call).collect();
    ours.sort();
    assert_eq!(stub, ours);
}
