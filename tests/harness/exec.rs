//! The executor of host programs, over a backend of a few lines.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tsunagi::harness::backend::{Backend, Event, HostReq, HostRsp};
use tsunagi::harness::exec::{First, HangCause, Host, RegError, Sim, SimError, race};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::sync::{Queue, Signal};
use tsunagi::{Addr, NodeId, Picos};

const ANSWER: Picos = Picos(40_000);
const REGISTERS: u32 = 4;

/// Register 0 writes back to memory address 0 after 1 us. Register 4 raises (1) or clears (0) the interrupt. The others
/// are plain.
struct Toy {
    now: Picos,
    nodes: Vec<ToyNode>,
    advances: usize,
}

struct ToyNode {
    memory: Memory,
    regs: [u32; REGISTERS as usize],
    in_flight: Option<(Picos, HostRsp)>,
    stores: BTreeMap<Picos, u32>,
}

impl Toy {
    fn new(nodes: usize) -> Toy {
        let node = || ToyNode {
            memory: Memory::new(64),
            regs: [0; 4],
            in_flight: None,
            stores: BTreeMap::new(),
        };
        Toy {
            now: Picos::ZERO,
            nodes: (0..nodes).map(|_| node()).collect(),
            advances: 0,
        }
    }
}

impl Backend for Toy {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn next_event(&self) -> Option<Picos> {
        let answers = self.nodes.iter().filter_map(|n| n.in_flight).map(|(at, _)| at);
        let stores = self.nodes.iter().filter_map(|n| n.stores.keys().next().copied());
        answers.chain(stores).filter(|&at| at > self.now).min()
    }

    fn advance(&mut self, to: Picos) {
        assert!(to > self.now && self.next_event().is_none_or(|next| to <= next));
        self.now = to;
        self.advances += 1;
        for node in &mut self.nodes {
            if let Some(word) = node.stores.remove(&to) {
                assert!(node.memory.write(Addr(0), &word.to_le_bytes()));
            }
        }
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let node = &mut self.nodes[node.index()];
        assert!(node.in_flight.is_none(), "one access at a time");
        let (offset, write) = (req.addr as u32, req.write.map(|value| value as u32));
        let error = offset / 4 >= REGISTERS;
        let mut value = 0;
        if !error {
            let reg = &mut node.regs[offset as usize / 4];
            match write {
                Some(v) => *reg = v,
                None => value = *reg,
            }
            if let (0, Some(v)) = (offset, write) {
                node.stores.insert(self.now + Picos::from_ns(1000), v);
            }
        }
        node.in_flight = Some((
            self.now + ANSWER,
            HostRsp {
                value: value.into(),
                error,
            },
        ));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let now = self.now;
        self.nodes[node.index()]
            .in_flight
            .take_if(|(at, _)| *at <= now)
            .map(|(_, rsp)| rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].regs[1] != 0
    }

    fn gauge(&self, node: NodeId, name: &str) -> Option<u32> {
        (name == "fourth register").then(|| self.nodes[node.index()].regs[3])
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.nodes[node.index()].memory
    }

    fn record(&mut self, _on: bool) {}

    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn hang_report(&self) -> String {
        "toy: idle".into()
    }
}

const BOUND: Picos = Picos::from_ns(1_000_000);

fn us(n: u64) -> Picos {
    Picos::from_ns(1000 * n)
}

#[test]
fn idle_time_is_skipped_and_delays_are_exact() {
    let mut sim = Sim::new(Toy::new(1));
    let host = sim.host(NodeId(0));
    let mut end = host.clone().spawn("sleeper", async move {
        host.delay(us(7)).await;
        host.delay(Picos::ZERO).await;
        host.delay_until(us(3)).await;
        host.delay(us(500)).await;
        host.now()
    });
    assert!(end.take().is_none());
    sim.run(BOUND).unwrap();
    assert_eq!(end.take(), Some(us(507)));
    assert_eq!(sim.backend().advances, 2);
}

#[test]
fn registers_take_their_time_queue_in_order_and_refuse_with_an_error() {
    let mut sim = Sim::new(Toy::new(2));
    let host = sim.host(NodeId(1));
    let other = host.clone();
    let mut first = host.clone().spawn("first", async move {
        host.reg_write(8, 5).await.unwrap();
        host.now()
    });
    let mut second = other.clone().spawn("second", async move {
        let value = other.reg_read(8).await.unwrap();
        let refused = other.reg_write(16, 1).await.unwrap_err();
        (value, other.now(), refused.to_string())
    });
    sim.run(BOUND).unwrap();
    assert_eq!(first.take(), Some(ANSWER));
    let (value, at, refused) = second.take().unwrap();
    assert_eq!((value, at), (5, ANSWER * 3));
    assert_eq!(refused, "PE 1: the NIC refused a write of 0x1, 4 bytes, at 0x10");
}

#[test]
fn memory_and_interrupts_wake_who_waits() {
    let mut sim = Sim::new(Toy::new(2));
    let (host, peer) = (sim.host(NodeId(0)), sim.host(NodeId(0)));
    let mut seen = host.clone().spawn("watcher", async move {
        host.watch("the answer", |m| m.read(Addr(0), 1) == Some(&[42])).await;
        let stored = host.now();
        host.irq().await;
        (stored, host.now())
    });
    peer.clone().spawn("writer", async move {
        peer.reg_write(0, 42).await.unwrap();
        peer.delay(us(9)).await;
        peer.reg_write(4, 1).await.unwrap();
    });
    sim.run(BOUND).unwrap();
    assert_eq!(seen.take(), Some((us(1), us(9) + ANSWER)));
}

#[test]
fn programs_join_race_and_pass_things_on() {
    let mut sim = Sim::new(Toy::new(1));
    let host = sim.host(NodeId(0));
    let queue = Rc::new(Queue::new("work"));
    let done = Rc::new(Signal::new("the worker"));
    let (from, to, said) = (queue.clone(), host.clone(), done.clone());
    let worker = host.spawn_daemon("worker", async move {
        loop {
            let n: u64 = from.pop().await;
            to.delay(us(n)).await;
            said.notify();
        }
    });
    let me = host.clone();
    let mut result = host.spawn("boss", async move {
        queue.push(3);
        queue.push(4);
        done.changed().await;
        let first = me.now();
        let child = me.spawn("child", async { 7 });
        let won = race(me.delay(us(100)), done.changed()).await;
        (first, won, me.now(), child.await)
    });
    sim.run(BOUND).unwrap();
    assert_eq!(result.take(), Some((us(3), First::Right(()), us(7), 7)));
    drop(worker);
}

#[test]
fn the_same_programs_give_the_same_run() {
    let order = || {
        let mut sim = Sim::new(Toy::new(4));
        let log = Rc::new(RefCell::new(Vec::new()));
        for task in 0..16u64 {
            let (host, log) = (sim.host(NodeId(task as u16 % 4)), log.clone());
            host.clone().spawn(format!("t{task}"), async move {
                for step in 0..5 {
                    host.delay(us(1 + (task * 7 + step) % 3)).await;
                    let _ = host.reg_read(12).await;
                    log.borrow_mut().push((task, step, host.now()));
                }
            });
        }
        sim.run(BOUND).unwrap();
        log.take()
    };
    assert_eq!(order().len(), 80);
    assert_eq!(order(), order());
}

#[test]
fn a_hang_says_who_waits_for_what() {
    let mut sim = Sim::new(Toy::new(2));
    let waits = |host: Host, watch: bool| async move {
        host.delay(us(2)).await;
        if watch {
            host.watch("a word that never comes", |_| false).await
        } else {
            host.irq().await
        }
    };
    for (node, watch) in [(0, false), (1, true)] {
        let host = sim.host(NodeId(node));
        host.spawn(format!("program of PE {node}"), waits(host.clone(), watch));
    }
    let SimError::Hang {
        at,
        cause,
        waiting,
        hardware,
    } = sim.run(BOUND).unwrap_err()
    else {
        panic!("no program gives up")
    };
    assert_eq!(
        (at, cause, hardware.as_str()),
        (us(2), HangCause::NothingCanHappen, "toy: idle")
    );
    let expected = [
        "program of PE 0 waits for an interrupt of PE 0",
        "program of PE 1 waits for a word that never comes in the memory of PE 1",
    ];
    assert_eq!(waiting, expected);
}

#[test]
fn a_deadline_ends_a_run_and_the_next_run_goes_on() {
    let mut sim = Sim::new(Toy::new(1));
    let host = sim.host(NodeId(0));
    let mut end = host.clone().spawn("slow", async move {
        host.delay(us(30)).await;
        host.now()
    });
    let error = sim.run(us(20)).unwrap_err();
    assert!(
        matches!(
            error,
            SimError::Hang {
                at: Picos::ZERO,
                cause: HangCause::DeadlinePassed,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("slow waits for the instant 30.000 us"),
        "{error}"
    );
    sim.run(us(30)).unwrap();
    assert_eq!(end.take(), Some(us(30)));
}

#[test]
fn a_program_that_gives_up_ends_the_run_as_itself() {
    let machine = || {
        let sim = Sim::new(Toy::new(2));
        let host = sim.host(NodeId(1));
        let reader = host.clone();
        host.spawn("reader", async move { reader.irq().await });
        sim
    };
    let refused = |host: Host| async move {
        host.delay(us(2)).await;
        host.reg_write(16, 1).await
    };
    let mut sim = machine();
    let host = sim.host(NodeId(0));
    host.spawn_checked("writer", refused(host.clone()));
    let error = sim.run(BOUND).unwrap_err();
    assert_eq!(
        error.to_string(),
        "writer, at 2.040 us: PE 0: the NIC refused a write of 0x1, 4 bytes, at 0x10"
    );
    let SimError::Failed { error, .. } = error else {
        panic!("{error}")
    };
    assert!(error.is::<RegError>());
    // It is told once; who waited for it waits on.
    assert!(matches!(sim.run(BOUND), Err(SimError::Hang { .. })));

    // The same program, its error left to whoever takes its result: the reader's hang comes first.
    let mut sim = machine();
    let host = sim.host(NodeId(0));
    let mut left = host.spawn("writer", refused(host.clone()));
    assert!(matches!(sim.run(BOUND), Err(SimError::Hang { .. })));
    assert!(left.take().unwrap().is_err());
}

#[test]
fn a_gauge_is_sampled_once_a_period_in_which_anything_happens() {
    let mut sim = Sim::new(Toy::new(2));
    let host = sim.host(NodeId(1));
    sim.sample_each(us(10), "fourth register");
    host.clone().spawn("filler", async move {
        for bytes in 1..=5 {
            host.reg_write(12, bytes).await.unwrap();
            host.delay(us(4)).await;
        }
        host.delay(us(1000)).await;
    });
    sim.run(us(2000)).unwrap();
    let samples: Vec<_> = sim.take_samples().into_iter().map(|s| (s.at, s.levels)).collect();
    // Writes at 0, 4.04, 8.08 … us: the first that is over in a period is seen, and nothing where time is skipped.
    let seen = [
        (ANSWER, 1),
        (us(12) + ANSWER * 3, 3),
        (us(20) + ANSWER * 5, 5),
        (us(1020) + ANSWER * 5, 5),
    ];
    assert_eq!(samples, seen.map(|(at, bytes)| (at, vec![0, bytes])));
    assert!(sim.take_samples().is_empty());
}
