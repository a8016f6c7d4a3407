//! PVM on the NIA: a library alone, without a daemon. One task a node; one spawn, by the parent.
//!
//! [`Pvm::start`] begins a program on node 0. A [`Loader`] knows what programs there are: operating-system processes
//! ([`process`]), or Rust functions of tests.

pub mod error;
mod groups;
mod inbox;
pub mod link;
pub mod process;
pub mod task;
#[cfg(test)]
mod tests;
pub mod wire;

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;

use self::error::{CallError, Fault, PvmError, Result};
use self::groups::Groups;
use self::link::{Link, area_bytes};
use self::task::Task;
use super::layout;
use super::transport::Transport;
use crate::harness::backend::Backend;
use crate::harness::exec::{First, Sim, SimError, race};
use crate::harness::sync::Signal;
use crate::{NodeId, Picos};

/// The task of a node. The machine is one host, as on other parallel computers.
pub fn tid(node: NodeId) -> i32 {
    HOST + 1 + i32::from(node.0)
}

/// The machine as a host.
pub const HOST: i32 = 0x4_0000;

/// A program under way.
pub type Running = Pin<Box<dyn Future<Output = Result<(), Fault>>>>;

/// Where programs come from.
pub trait Loader<T: Transport> {
    /// Begins the program of this name.
    ///
    /// # Errors
    /// NoFile, in most cases.
    fn start(&self, name: &str, args: &[String], task: Task<T>) -> Result<Running, PvmError>;
}

impl<T, F> Loader<T> for F
where
    T: Transport,
    F: Fn(&str, &[String], Task<T>) -> Result<Running, PvmError>,
{
    fn start(&self, name: &str, args: &[String], task: Task<T>) -> Result<Running, PvmError> {
        self(name, args, task)
    }
}

/// What is known of a task.
struct Entry<T: Transport> {
    task: Task<T>,
    name: String,
    parent: Option<NodeId>,
    /// Ended, or gone by `pvm_exit`.
    left: Cell<bool>,
    ended: Cell<bool>,
}

pub struct Machine<T: Transport> {
    nodes: Vec<T>,
    loader: Box<dyn Loader<T>>,
    /// By node.
    entries: RefCell<Vec<Entry<T>>>,
    links: RefCell<Vec<Rc<Link<T>>>>,
    groups: Groups,
    spawned: Cell<bool>,
    /// A task was killed, or has ended.
    changed: Signal,
    killed: RefCell<Vec<NodeId>>,
}

/// Why a run ended badly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{bytes} B of memory for {nodes} nodes' areas, {left} B are there: set mem_bytes, pvm_area or fewer nodes")]
    Memory { nodes: usize, bytes: u64, left: u64 },
    #[error("{}{sim}", hang_lines(waits))]
    Sim { waits: Vec<String>, sim: SimError },
}

fn hang_lines(waits: &[String]) -> String {
    waits.iter().map(|line| format!("{line}\n")).collect()
}

/// A machine with PVM.
pub struct Pvm<T: Transport>(Rc<Machine<T>>);

impl<T: Transport> Pvm<T> {
    /// Starts `tasks` equal tasks of this program; one: it may spawn others.
    ///
    /// # Errors
    /// The areas do not fit into the nodes' memory.
    pub fn start(
        nodes: Vec<T>,
        loader: Box<dyn Loader<T>>,
        name: &str,
        args: &[String],
        tasks: usize,
    ) -> Result<Pvm<T>, RunError> {
        assert!((1..=nodes.len()).contains(&tasks), "a task needs a node");
        let config = nodes[0].config();
        let bytes = area_bytes(config.pvm_area, config.pvm_buffers, nodes.len());
        let left = u64::from(config.mem_bytes - layout::AREA);
        if bytes > left {
            let nodes = nodes.len();
            return Err(RunError::Memory { nodes, bytes, left });
        }
        let machine = Rc::new(Machine {
            nodes,
            loader,
            entries: RefCell::default(),
            links: RefCell::default(),
            groups: Groups::default(),
            spawned: Cell::new(tasks > 1),
            changed: Signal::new("the end of other tasks"),
            killed: RefCell::default(),
        });
        let (starting, name, args) = (machine.clone(), name.to_owned(), args.to_vec());
        machine.nodes[0].host().spawn_checked("start of PVM", async move {
            let starting = &starting;
            for node in 0..tasks {
                starting.add(NodeId(node as u16), None, &name);
            }
            if tasks > 1 {
                starting.connect().await?;
            }
            for node in (0..tasks).map(|n| NodeId(n as u16)) {
                starting.launch(node, &args).map_err(|why| Fault::Program {
                    task: tid(node),
                    why: format!("{name}: {why}"),
                })?;
            }
            Ok::<(), CallError>(())
        });
        Ok(Pvm(machine))
    }

    /// Runs until all tasks have ended.
    ///
    /// # Errors
    /// A hang, with what each task waits for; what the library or a program could not do.
    pub fn run<B: Backend + 'static>(&self, sim: &mut Sim<B>, deadline: Picos) -> Result<(), RunError> {
        sim.run(deadline).map_err(|sim| RunError::Sim {
            waits: self.waits(),
            sim,
        })
    }

    fn waits(&self) -> Vec<String> {
        let entries = self.0.entries.borrow();
        let running = entries.iter().filter(|entry| !entry.ended.get());
        let line = |entry: &Entry<T>| Some(format!("{} waits for {}", entry.task, entry.task.inbox().waits()?));
        running.filter_map(line).collect()
    }
}

impl<T: Transport> Machine<T> {
    /// The entry of a new task.
    fn add(self: &Rc<Self>, node: NodeId, parent: Option<NodeId>, name: &str) {
        let mut entries = self.entries.borrow_mut();
        assert_eq!(entries.len(), node.index(), "tasks are on the first nodes");
        entries.push(Entry {
            task: Task::new(self.clone(), node),
            name: name.into(),
            parent,
            left: Cell::new(false),
            ended: Cell::new(false),
        });
    }

    fn entry<R>(&self, node: NodeId, f: impl FnOnce(&Entry<T>) -> R) -> R {
        f(&self.entries.borrow()[node.index()])
    }

    fn tasks(&self) -> usize {
        self.entries.borrow().len()
    }

    /// The node of a task.
    fn node_of(&self, task: i32) -> Result<NodeId, PvmError> {
        let node = u16::try_from(task - HOST - 1).map_err(|_| PvmError::BadParam)?;
        if usize::from(node) < self.tasks() {
            Ok(NodeId(node))
        } else {
            Err(PvmError::NoTask)
        }
    }

    /// Fields of all tasks, then rights of all; each node works by itself.
    async fn connect(self: &Rc<Self>) -> Result<()> {
        let tasks = self.tasks();
        let open = |node: usize| {
            let (transport, inbox) = (self.nodes[node].clone(), self.entries.borrow()[node].task.inbox());
            let name = format!("fields of t{:x}", tid(NodeId(node as u16)));
            self.nodes[node].host().spawn(name, Link::open(transport, inbox, tasks))
        };
        let opening: Vec<_> = (0..tasks).map(open).collect();
        let mut opened = Vec::new();
        for link in opening {
            opened.push(link.await?);
        }
        *self.links.borrow_mut() = opened.iter().map(|(link, _)| link.clone()).collect();
        let connect = |(link, fields): (Rc<Link<T>>, _)| {
            let host = link.transport.host().clone();
            host.spawn("rights", async move { link.connect(fields).await })
        };
        let connecting: Vec<_> = opened.into_iter().map(connect).collect();
        for node in connecting {
            node.await?;
        }
        Ok(())
    }

    /// Begins a task's program.
    fn launch(self: &Rc<Self>, node: NodeId, args: &[String]) -> Result<(), PvmError> {
        let (task, name) = self.entry(node, |entry| (entry.task.clone(), entry.name.clone()));
        let running = self.loader.start(&name, args, task.clone())?;
        let machine = self.clone();
        let program = async move {
            let killed = async {
                while !machine.killed.borrow().contains(&node) {
                    machine.changed.changed().await;
                }
            };
            let result = match race(running, killed).await {
                First::Left(result) => result,
                First::Right(()) => Ok(()),
            };
            machine.leave(node);
            machine.entry(node, |entry| entry.ended.set(true));
            machine.changed.notify();
            result
        };
        self.nodes[node.index()].host().spawn_checked(task.to_string(), program);
        Ok(())
    }

    /// A task is gone. What still comes is taken and forgotten, so that no sender waits.
    fn leave(self: &Rc<Self>, node: NodeId) {
        if self.entry(node, |entry| entry.left.replace(true)) {
            return;
        }
        self.groups.leave_all(node);
        let machine = self.clone();
        let drain = async move {
            loop {
                let link = machine.links.borrow().get(node.index()).cloned();
                let took = match link {
                    Some(link) => link.take_any().await.unwrap_or(false),
                    None => false,
                };
                if !took {
                    machine.nodes[node.index()].changed().await;
                }
                let inbox = machine.entry(node, |entry| entry.task.inbox());
                while inbox.take(None, None).is_some() {}
            }
        };
        let name = format!("what comes for t{:x}, which is gone", tid(node));
        self.nodes[node.index()].host().spawn_daemon(name, drain);
    }
}
