//! A task's calls.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::error::{PvmError, Result};
use super::inbox::Inbox;
use super::link::{Link, span};
use super::{Machine, tid};
use crate::cppacs::host::transport::Transport;
use crate::harness::exec::race;
use crate::{NodeId, Picos};

/// A message that is packed or unpacked.
#[derive(Clone, Debug, Default)]
struct Buffer {
    data: Vec<u8>,
    /// How much was unpacked.
    at: usize,
    tag: i32,
    /// 0: made by the task itself.
    from: i32,
}

struct State<T: Transport> {
    machine: Rc<Machine<T>>,
    node: NodeId,
    inbox: Rc<Inbox>,
    buffers: RefCell<BTreeMap<i32, Buffer>>,
    /// The active buffers; 0: none.
    sending: Cell<i32>,
    receiving: Cell<i32>,
    /// The buffer that has the first send area.
    in_area: Cell<i32>,
}

/// A task as its program sees it.
pub struct Task<T: Transport>(Rc<State<T>>);

impl<T: Transport> Clone for Task<T> {
    fn clone(&self) -> Task<T> {
        Task(self.0.clone())
    }
}

impl<T: Transport> fmt::Display for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{:x}", self.tid())
    }
}

/// What `pvm_tasks` says of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    pub tid: i32,
    pub parent: i32,
    pub name: String,
}

/// What `pvm_bufinfo` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufInfo {
    pub bytes: usize,
    pub tag: i32,
    pub from: i32,
}

/// -1 in the place of a task or tag: any.
fn any<V>(value: i32, f: impl FnOnce(i32) -> Result<V, PvmError>) -> Result<Option<V>, PvmError> {
    if value == -1 { Ok(None) } else { f(value).map(Some) }
}

fn tag(value: i32) -> Result<i32, PvmError> {
    if value < 0 { Err(PvmError::BadParam) } else { Ok(value) }
}

// ---- what a task is

impl<T: Transport> Task<T> {
    pub(super) fn new(machine: Rc<Machine<T>>, node: NodeId) -> Task<T> {
        Task(Rc::new(State {
            machine,
            node,
            inbox: Rc::default(),
            buffers: RefCell::default(),
            sending: Cell::new(0),
            receiving: Cell::new(0),
            in_area: Cell::new(0),
        }))
    }

    pub fn tid(&self) -> i32 {
        tid(self.0.node)
    }

    /// The node that it is on.
    pub fn node(&self) -> NodeId {
        self.0.node
    }

    pub(super) fn inbox(&self) -> Rc<Inbox> {
        self.0.inbox.clone()
    }

    fn transport(&self) -> &T {
        &self.0.machine.nodes[self.0.node.index()]
    }

    fn link(&self) -> Option<Rc<Link<T>>> {
        self.0.machine.links.borrow().get(self.0.node.index()).cloned()
    }

    pub fn nodes(&self) -> usize {
        self.0.machine.nodes.len()
    }

    pub fn now(&self) -> Picos {
        self.transport().host().now()
    }

    /// Computes for so long.
    pub async fn compute(&self, span: Picos) {
        self.transport().work(span).await;
    }

    /// # Errors
    /// It has none.
    pub fn parent(&self) -> Result<i32, PvmError> {
        let parent = self.0.machine.entry(self.0.node, |entry| entry.parent);
        parent.map(tid).ok_or(PvmError::NoParent)
    }

    /// All that were started together with it.
    ///
    /// # Errors
    /// It was started alone.
    pub fn siblings(&self) -> Result<Vec<i32>, PvmError> {
        let parent = self.0.machine.entry(self.0.node, |entry| entry.parent);
        let entries = self.0.machine.entries.borrow();
        let same = entries.iter().filter(|entry| entry.parent == parent);
        let tids: Vec<i32> = same.map(|entry| entry.task.tid()).collect();
        if parent.is_none() && tids.len() == 1 {
            return Err(PvmError::NoParent);
        }
        Ok(tids)
    }

    /// Those that are there.
    pub fn tasks(&self) -> Vec<TaskInfo> {
        let entries = self.0.machine.entries.borrow();
        let there = entries.iter().filter(|entry| !entry.left.get());
        let info = |entry: &super::Entry<T>| TaskInfo {
            tid: entry.task.tid(),
            parent: entry.parent.map_or(0, tid),
            name: entry.name.clone(),
        };
        there.map(info).collect()
    }

    /// Starts `count` tasks, as many as there are nodes for; the errors of the others.
    ///
    /// # Errors
    /// NotImpl, but for the first call of the first task.
    pub async fn spawn(&self, name: &str, args: &[String], count: usize) -> Result<Vec<Result<i32, PvmError>>> {
        let machine = &self.0.machine;
        if count == 0 {
            return Err(PvmError::BadParam.into());
        }
        if machine.spawned.replace(true) {
            return Err(PvmError::NotImpl.into());
        }
        let started = count.min(machine.nodes.len() - 1);
        for node in 1..=started {
            machine.add(NodeId(node as u16), Some(self.0.node), name);
        }
        if started > 0 {
            machine.connect().await?;
        }
        let mut tids = vec![Err(PvmError::NoHost); count];
        for (tid, node) in tids.iter_mut().zip((1..=started).map(|n| NodeId(n as u16))) {
            *tid = match machine.launch(node, args) {
                Ok(()) => Ok(super::tid(node)),
                Err(why) => {
                    machine.leave(node);
                    machine.entry(node, |entry| entry.ended.set(true));
                    Err(why)
                }
            };
        }
        Ok(tids)
    }

    /// Leaves PVM; the program may go on.
    pub fn exit(&self) {
        self.0.machine.leave(self.0.node);
    }

    /// Whether a task is there.
    pub fn is_there(&self, task: i32) -> Result<bool, PvmError> {
        let node = self.0.machine.node_of(task)?;
        Ok(self.0.machine.entry(node, |entry| !entry.left.get()))
    }

    /// Ends a task.
    ///
    /// # Errors
    /// There is none.
    pub async fn kill(&self, task: i32) -> Result<()> {
        let node = self.0.machine.node_of(task)?;
        self.transport().normal(node).await;
        self.0.machine.killed.borrow_mut().push(node);
        self.0.machine.changed.notify();
        Ok(())
    }

    /// Waits until all others have ended.
    pub async fn wait_for_others(&self) {
        let machine = &self.0.machine;
        let ended = |node: usize| node == self.0.node.index() || machine.entries.borrow()[node].ended.get();
        while !(0..machine.tasks()).all(ended) {
            machine.changed.changed().await;
        }
    }
}

// ---- buffers

impl<T: Transport> Task<T> {
    /// A new buffer; nothing is in it.
    pub fn mkbuf(&self) -> i32 {
        let number = self.0.inbox.number();
        self.0.buffers.borrow_mut().insert(number, Buffer::default());
        number
    }

    /// A new active send buffer in the place of the last one. It begins in the first send area.
    pub async fn initsend(&self) -> i32 {
        self.forget(self.0.sending.get());
        let number = self.mkbuf();
        self.0.sending.set(number);
        if let Some(link) = self.link() {
            link.reuse(0).await;
            self.0.in_area.set(number);
        }
        number
    }

    fn forget(&self, buffer: i32) {
        self.0.buffers.borrow_mut().remove(&buffer);
        if self.0.in_area.get() == buffer {
            self.0.in_area.set(0);
        }
    }

    /// # Errors
    /// There is no such buffer.
    pub fn freebuf(&self, buffer: i32) -> Result<(), PvmError> {
        if !self.0.buffers.borrow().contains_key(&buffer) {
            return Err(PvmError::NoSuchBuf);
        }
        self.forget(buffer);
        for active in [&self.0.sending, &self.0.receiving] {
            if active.get() == buffer {
                active.set(0);
            }
        }
        Ok(())
    }

    /// The active send buffer (true) or receive buffer; 0: none.
    pub fn active(&self, send: bool) -> i32 {
        self.which(send).get()
    }

    fn which(&self, send: bool) -> &Cell<i32> {
        if send { &self.0.sending } else { &self.0.receiving }
    }

    /// Makes another buffer, or none (0), the active one; the one before.
    ///
    /// # Errors
    /// There is no such buffer.
    pub fn activate(&self, send: bool, buffer: i32) -> Result<i32, PvmError> {
        let mut buffers = self.0.buffers.borrow_mut();
        match buffers.get_mut(&buffer) {
            Some(buffer) if !send => buffer.at = 0,
            Some(_) => (),
            None if buffer == 0 => (),
            None => return Err(PvmError::NoSuchBuf),
        }
        Ok(self.which(send).replace(buffer))
    }

    /// # Errors
    /// There is no such buffer.
    pub fn bufinfo(&self, buffer: i32) -> Result<BufInfo, PvmError> {
        if let Some(b) = self.0.buffers.borrow().get(&buffer) {
            let (bytes, tag, from) = (b.data.len(), b.tag, b.from);
            return Ok(BufInfo { bytes, tag, from });
        }
        let waiting = self.0.inbox.look(buffer, |m| BufInfo {
            bytes: m.data.len(),
            tag: m.tag,
            from: tid(m.from),
        });
        waiting.ok_or(PvmError::NoSuchBuf)
    }

    fn buffer<R>(&self, send: bool, f: impl FnOnce(&mut Buffer) -> Result<R, PvmError>) -> Result<R, PvmError> {
        let mut buffers = self.0.buffers.borrow_mut();
        f(buffers.get_mut(&self.active(send)).ok_or(PvmError::NoBuf)?)
    }

    async fn copy(&self, bytes: usize, strided: bool) {
        let config = self.transport().config();
        let rate = config.copy + if strided { config.copy_strided } else { 0.0 };
        self.transport().work(span(rate, bytes)).await;
    }

    /// Appends to the active send buffer. `strided`: the bytes stood apart.
    ///
    /// # Errors
    /// There is none; the memory is full.
    pub async fn pack(&self, bytes: &[u8], strided: bool) -> Result<()> {
        let at = self.buffer(true, |buffer| {
            let at = buffer.data.len();
            if (at + bytes.len()) as u64 > u64::from(self.transport().config().mem_bytes) {
                return Err(PvmError::NoMem);
            }
            Ok(at)
        })?;
        if let Some(link) = self.link() {
            link.check_room(at + bytes.len())?;
            if self.active(true) == self.0.in_area.get() {
                link.pack(at, bytes);
            }
        }
        self.buffer(true, |buffer| {
            buffer.data.extend_from_slice(bytes);
            Ok(())
        })?;
        self.copy(bytes.len(), strided).await;
        Ok(())
    }

    /// The next bytes of the active receive buffer.
    ///
    /// # Errors
    /// There are fewer; then nothing is unpacked.
    pub async fn unpack(&self, bytes: usize, strided: bool) -> Result<Vec<u8>> {
        let data = self.buffer(false, |buffer| {
            let left = &buffer.data[buffer.at..];
            let data = left.get(..bytes).ok_or(PvmError::NoData)?.to_vec();
            buffer.at += bytes;
            Ok(data)
        })?;
        self.copy(bytes, strided).await;
        Ok(data)
    }

    /// A string: its length and its bytes.
    ///
    /// # Errors
    /// As [`unpack`](Task::unpack).
    pub async fn unpack_string(&self) -> Result<Vec<u8>> {
        let bytes = self.buffer(false, |buffer| {
            let left = &buffer.data[buffer.at..];
            let length = left.first_chunk::<4>().ok_or(PvmError::NoData)?;
            let bytes = u32::from_le_bytes(*length) as usize;
            if left.len() - 4 < bytes {
                return Err(PvmError::NoData);
            }
            Ok(bytes)
        })?;
        self.unpack(4, false).await?;
        self.unpack(bytes, false).await
    }
}

// ---- messages

impl<T: Transport> Task<T> {
    /// Sends the active send buffer, which stays.
    ///
    /// # Errors
    /// A bad tag or task; no buffer.
    pub async fn send(&self, task: i32, with: i32) -> Result<()> {
        self.mcast(&[task], with).await
    }

    /// Sends it to each of these, in their order.
    ///
    /// # Errors
    /// As [`send`](Task::send); then nothing is sent.
    pub async fn mcast(&self, tasks: &[i32], with: i32) -> Result<()> {
        let with = tag(with)?;
        let nodes: Vec<NodeId> = tasks
            .iter()
            .map(|&task| self.0.machine.node_of(task))
            .collect::<Result<_, _>>()?;
        let data = self.buffer(true, |buffer| Ok(buffer.data.clone()))?;
        let in_area = self.active(true) == self.0.in_area.get();
        for node in nodes {
            match self.link() {
                Some(link) if node != self.0.node => link.send(node, with, &data, in_area).await?,
                _ => {
                    self.transport().work(self.transport().config().pvm_send_cost).await;
                    self.0.inbox.put(self.0.node, with, data.clone());
                }
            }
        }
        Ok(())
    }

    /// Waits for a message, and makes it the active receive buffer.
    ///
    /// # Errors
    /// A bad tag or task.
    pub async fn recv(&self, task: i32, with: i32) -> Result<i32> {
        Ok(self.receive(task, with, None).await?.expect("it waits for ever"))
    }

    /// The same within `span`.
    ///
    /// # Errors
    /// A bad tag or task.
    pub async fn trecv(&self, task: i32, with: i32, span: Picos) -> Result<Option<i32>> {
        self.receive(task, with, Some(self.now() + span)).await
    }

    /// If it has come.
    ///
    /// # Errors
    /// A bad tag or task.
    pub async fn nrecv(&self, task: i32, with: i32) -> Result<Option<i32>> {
        self.look().await?;
        self.trecv(task, with, Picos::ZERO).await
    }

    /// The buffer of a message that has come; it is still to be received.
    ///
    /// # Errors
    /// A bad tag or task.
    pub async fn probe(&self, task: i32, with: i32) -> Result<Option<i32>> {
        let (from, with) = (any(task, |t| self.0.machine.node_of(t))?, any(with, tag)?);
        self.look().await?;
        Ok(self.0.inbox.find(from, with))
    }

    /// Takes what has come. It takes time, so a program that looks again and again gets on.
    async fn look(&self) -> Result<()> {
        let transport = self.transport();
        transport.work(transport.config().receive_poll).await;
        if let Some(link) = self.link() {
            while link.take_any().await? {}
        }
        Ok(())
    }

    async fn receive(&self, task: i32, with: i32, until: Option<Picos>) -> Result<Option<i32>> {
        let (from, with) = (any(task, |t| self.0.machine.node_of(t))?, any(with, tag)?);
        loop {
            if let Some(message) = self.0.inbox.take(from, with) {
                self.transport().work(self.transport().config().pvm_recv_cost).await;
                self.forget(self.0.receiving.replace(message.buffer));
                let buffer = Buffer {
                    data: message.data,
                    at: 0,
                    tag: message.tag,
                    from: tid(message.from),
                };
                self.0.buffers.borrow_mut().insert(message.buffer, buffer);
                return Ok(Some(message.buffer));
            }
            if let Some(link) = self.link()
                && link.take_any().await?
            {
                continue;
            }
            if until.is_some_and(|until| self.now() >= until) {
                return Ok(None);
            }
            let source = from.map_or("any task".into(), |f| format!("t{:x}", tid(f)));
            let kind = with.map_or("any tag".into(), |t| format!("tag {t}"));
            let what = format!("a message of {source} with {kind}, since {}", self.now());
            let changed = self.transport().changed();
            match until {
                None => self.0.inbox.wait(what, changed).await,
                Some(until) => drop(race(changed, self.transport().host().delay_until(until)).await),
            }
        }
    }
}

// ---- groups

impl<T: Transport> Task<T> {
    /// The kernel of node 0 is asked.
    async fn ask_groups(&self) {
        self.transport().normal(NodeId(0)).await;
    }

    /// # Errors
    /// No name; in it already; frozen.
    pub async fn join(&self, group: &str) -> Result<i32> {
        self.ask_groups().await;
        Ok(self.0.machine.groups.join(group, self.0.node)? as i32)
    }

    /// # Errors
    /// There is no such group, or the task is not in it.
    pub async fn leave(&self, group: &str) -> Result<()> {
        self.ask_groups().await;
        Ok(self.0.machine.groups.leave(group, self.0.node)?)
    }

    /// # Errors
    /// There is no such group or instance.
    pub async fn group_task(&self, group: &str, instance: i32) -> Result<i32> {
        self.ask_groups().await;
        let instance = usize::try_from(instance).map_err(|_| PvmError::NoInst)?;
        Ok(tid(self.0.machine.groups.task(group, instance)?))
    }

    /// # Errors
    /// There is no such group, or the task is not in it.
    pub async fn instance(&self, group: &str, task: i32) -> Result<i32> {
        self.ask_groups().await;
        let node = self.0.machine.node_of(task)?;
        Ok(self.0.machine.groups.instance(group, node)? as i32)
    }

    /// In order of instance.
    ///
    /// # Errors
    /// There is no such group.
    pub async fn members(&self, group: &str) -> Result<Vec<i32>> {
        self.ask_groups().await;
        Ok(self.0.machine.groups.members(group)?.into_iter().map(tid).collect())
    }

    /// Waits for `count` members; -1: all, of a frozen group. `freeze`: then nobody joins any more, and -1 means those
    /// that are in it now.
    ///
    /// # Errors
    /// There is no such group, or the task is not in it; others wait for another count.
    pub async fn barrier(&self, group: &str, count: i32, freeze: bool) -> Result<()> {
        self.ask_groups().await;
        let count = any(count, |count| usize::try_from(count).map_err(|_| PvmError::BadParam))?;
        let machine = &self.0.machine;
        let (release, complete) = machine.groups.wait(group, self.0.node, count, freeze)?;
        if let Some(barrier) = complete {
            let (kernel, release) = (machine.nodes[0].clone(), barrier.release.clone());
            kernel.host().clone().spawn("the end of a barrier", async move {
                for member in barrier.arrived {
                    kernel.normal(member).await;
                    release.gone.borrow_mut().push(member);
                    release.signal.notify();
                }
            });
        }
        let what = format!("the others of `{group}` at a barrier, since {}", self.now());
        let gone = async {
            while !release.gone.borrow().contains(&self.0.node) {
                release.signal.changed().await;
            }
        };
        self.0.inbox.wait(what, gone).await;
        Ok(())
    }
}
