//! Host programs: async Rust functions on simulated time, over any [`Backend`].
//!
//! One thread, no chance, no wall clock: tasks run in the order they became ready, timers in the order of their
//! instants and then of their making, so the same programs on the same backend give the same run. Time stands still
//! while a task runs; it moves only when every task waits, straight to the next instant at which a timer or the
//! hardware can change anything.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error as StdError;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use thiserror::Error;

use super::backend::{Backend, Doing, HostReq, HostRsp};
use super::faults::Fault;
use super::memory::Memory;
use super::sync::Wait;
use crate::{Addr, NodeId, Picos};

/// Why a run ended before its programs did.
#[derive(Clone, Debug, Error)]
pub enum SimError {
    /// Programs wait for what does not come.
    #[error("the machine hangs at {at}: {cause}\n{}\n{hardware}", first_lines(waiting))]
    Hang {
        at: Picos,
        cause: HangCause,
        /// One line per task that is not done, programs before daemons: its name and what it waits for.
        waiting: Vec<String>,
        /// The backend's own account of what is in flight.
        hardware: String,
    },
    /// A program of [`Host::spawn_checked`] gave up; all others stand where they were.
    #[error("{program}, at {at}: {error}")]
    Failed {
        at: Picos,
        program: String,
        error: Arc<dyn StdError + Send + Sync>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangCause {
    /// The hardware is idle, no timer runs, and every program waits.
    NothingCanHappen,
    /// The deadline given to [`Sim::run`] passed.
    DeadlinePassed,
}

impl fmt::Display for HangCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HangCause::NothingCanHappen => "nothing can happen any more",
            HangCause::DeadlinePassed => "the time allowed is over",
        })
    }
}

/// A big machine's list is the same line over and over.
fn first_lines(lines: &[String]) -> String {
    const SHOWN: usize = 24;
    let mut text = lines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    if lines.len() > SHOWN {
        text += &format!("\nand {} more", lines.len() - SHOWN);
    }
    text
}

/// An access that the hardware refused or could not do: no such register, one that cannot be written, a load that ends
/// with an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{node}: the NIC refused {req}")]
pub struct RegError {
    pub node: NodeId,
    pub req: HostReq,
}

/// What a gauge showed at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub at: Picos,
    /// By node.
    pub levels: Vec<u32>,
}

/// A backend with host programs on it.
pub struct Sim<B: Backend + 'static> {
    backend: Rc<RefCell<B>>,
    core: Rc<Core>,
}

impl<B: Backend + 'static> Sim<B> {
    pub fn new(backend: B) -> Sim<B> {
        let backend = Rc::new(RefCell::new(backend));
        let nodes = backend.borrow().nodes();
        let core = Core {
            now: Cell::new(backend.borrow().now()),
            backend: backend.clone(),
            tasks: RefCell::default(),
            ready: Arc::default(),
            timers: RefCell::default(),
            ports: RefCell::new((0..nodes).map(|_| VecDeque::new()).collect()),
            accesses: Cell::new(0),
            irqs: RefCell::default(),
            masked: RefCell::new(vec![Picos::ZERO; nodes]),
            conditions: RefCell::default(),
            watching: RefCell::new(vec![Vec::new(); nodes]),
            changed: RefCell::default(),
            serial: Cell::new(0),
            programs: Cell::new(0),
            failed: RefCell::default(),
            sampler: RefCell::default(),
        };
        Sim {
            backend,
            core: Rc::new(core),
        }
    }

    pub fn now(&self) -> Picos {
        self.core.now.get()
    }

    pub fn nodes(&self) -> usize {
        self.core.ports.borrow().len()
    }

    /// The backend, between runs.
    pub fn backend(&self) -> Ref<'_, B> {
        self.backend.borrow()
    }

    pub fn backend_mut(&mut self) -> RefMut<'_, B> {
        self.backend.borrow_mut()
    }

    /// From now on notes what a [gauge](Backend::gauge) of every node shows, one sample each `period` in which anything
    /// happens.
    pub fn sample_each(&mut self, period: Picos, gauge: &'static str) {
        assert!(period > Picos::ZERO, "samples are taken some time apart");
        self.core.sampler.borrow_mut().what = Some((period, gauge));
    }

    /// Takes the samples so far, in time order.
    pub fn take_samples(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.core.sampler.borrow_mut().samples)
    }

    /// The handle a program of `node` works with.
    pub fn host(&self, node: NodeId) -> Host {
        assert!(node.index() < self.nodes(), "{node} of {}", self.nodes());
        Host {
            core: self.core.clone(),
            node,
        }
    }

    /// Runs until every program (not: every daemon) is done. Can be called again after more were spawned, and after an
    /// error: what still waits then waits on.
    ///
    /// # Errors
    /// The first program of [`Host::spawn_checked`] that gave up, at once: who waits for what it did not do is no hang.
    /// A hang, when nothing can happen any more or `deadline` passes.
    pub fn run(&mut self, deadline: Picos) -> Result<(), SimError> {
        // Whatever was done to the backend between runs.
        let all = (0..self.nodes()).map(|node| NodeId(node as u16));
        self.core.changed.borrow_mut().extend(all);
        loop {
            self.core.run_ready();
            if let Some(failure) = self.core.failed.take() {
                return Err(failure);
            }
            self.core.ask_hardware();
            if !self.core.ready.is_empty() {
                continue;
            }
            if self.core.programs.get() == 0 {
                return Ok(());
            }
            let timer = self.core.timers.borrow().keys().next().map(|&(at, _)| at);
            let hardware = self.backend.borrow().next_event();
            match timer.into_iter().chain(hardware).min() {
                None => return Err(self.hang(HangCause::NothingCanHappen)),
                Some(next) if next > deadline => return Err(self.hang(HangCause::DeadlinePassed)),
                Some(next) => self.core.move_to(next),
            }
        }
    }

    fn hang(&self, cause: HangCause) -> SimError {
        let tasks = self.core.tasks.borrow();
        SimError::Hang {
            at: self.now(),
            cause,
            waiting: [false, true]
                .iter()
                .flat_map(|&daemon| {
                    tasks
                        .iter()
                        .flatten()
                        .filter(move |t| t.daemon == daemon)
                        .map(Task::describe)
                })
                .collect(),
            hardware: self.backend.borrow().hang_report(),
        }
    }
}

impl<B: Backend + 'static> Drop for Sim<B> {
    /// The tasks hold the core that holds them.
    fn drop(&mut self) {
        drop(self.core.tasks.take());
    }
}

/// One node's processor as a program sees it: cheap to clone.
#[derive(Clone)]
pub struct Host {
    core: Rc<Core>,
    node: NodeId,
}

impl Host {
    pub fn node(&self) -> NodeId {
        self.node
    }

    pub fn nodes(&self) -> usize {
        self.core.ports.borrow().len()
    }

    pub fn now(&self) -> Picos {
        self.core.now.get()
    }

    /// Lets `span` pass. Zero does not yield.
    pub async fn delay(&self, span: Picos) {
        self.delay_until(self.now() + span).await;
    }

    /// Waits for an instant; one that is over does not yield.
    pub async fn delay_until(&self, at: Picos) {
        let key = (at, self.core.next_serial());
        let _cancel = OnDrop(|| drop(self.core.timers.borrow_mut().remove(&key)));
        poll_fn(|cx| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            self.core.timers.borrow_mut().insert(key, cx.waker().clone());
            Wait::Until(at).note();
            Poll::Pending
        })
        .await;
    }

    /// Reads a register of 32 bits at a physical address. Accesses of one node queue in the order they were asked for.
    ///
    /// # Errors
    /// As of [`load`](Host::load).
    pub async fn reg_read(&self, addr: u64) -> Result<u32, RegError> {
        // A register has 32 bits.
        self.access(HostReq::read(addr)).await.map(|value| value as u32)
    }

    /// Writes a register of 32 bits; done when the hardware has answered.
    ///
    /// # Errors
    /// As of [`store`](Host::store).
    pub async fn reg_write(&self, addr: u64, value: u32) -> Result<(), RegError> {
        self.access(HostReq::write(addr, value)).await.map(drop)
    }

    /// Loads 1, 2, 4 or 8 bytes from a physical address outside the node's own memory.
    ///
    /// # Errors
    /// The hardware refuses it, or could not do it.
    pub async fn load(&self, addr: u64, bytes: u8) -> Result<u64, RegError> {
        let write = None;
        self.access(HostReq { addr, bytes, write }).await
    }

    /// Stores the lowest 1, 2, 4 or 8 bytes of `value` at such an address; done when the hardware has taken them.
    ///
    /// # Errors
    /// The hardware refuses it.
    pub async fn store(&self, addr: u64, bytes: u8, value: u64) -> Result<(), RegError> {
        let write = Some(value);
        self.access(HostReq { addr, bytes, write }).await.map(drop)
    }

    async fn access(&self, req: HostReq) -> Result<u64, RegError> {
        let access = Rc::new(RefCell::new(Access {
            req,
            answer: None,
            waker: None,
        }));
        self.core.enqueue(self.node, access.clone());
        let rsp = poll_fn(|cx| {
            let mut access = access.borrow_mut();
            if let Some(rsp) = access.answer {
                return Poll::Ready(rsp);
            }
            access.waker = Some(cx.waker().clone());
            Wait::Access(self.node, req).note();
            Poll::Pending
        })
        .await;
        if rsp.error {
            Err(RegError { node: self.node, req })
        } else {
            Ok(rsp.value)
        }
    }

    /// Waits until the interrupt line is high.
    pub async fn irq(&self) {
        let serial = self.core.next_serial();
        let _cancel = OnDrop(|| self.core.irqs.borrow_mut().retain(|wait| wait.serial != serial));
        poll_fn(|cx| {
            if self.irq_level() {
                return Poll::Ready(());
            }
            let mut irqs = self.core.irqs.borrow_mut();
            if irqs.iter().all(|wait| wait.serial != serial) {
                irqs.push(IrqWait {
                    serial,
                    node: self.node,
                    waker: cx.waker().clone(),
                });
            }
            Wait::Irq(self.node).note();
            Poll::Pending
        })
        .await;
    }

    /// Whether it is high now.
    pub fn irq_level(&self) -> bool {
        let masked = self.core.masked.borrow()[self.node.index()] > self.now();
        self.core.backend.borrow().irq(self.node) && !masked
    }

    /// The processor sees no interrupt for this long. The caller waits for the end.
    pub async fn mask_interrupts(&self, span: Picos) {
        let end = self.now() + span;
        let masked = |masked: &mut Vec<Picos>| masked[self.node.index()] = masked[self.node.index()].max(end);
        masked(&mut self.core.masked.borrow_mut());
        self.delay_until(end).await;
        self.core.note_change(self.node);
    }

    /// Waits until `met` holds for the node's memory; looked at whenever the hardware or a program has done something.
    /// `what` names it in a hang report. Costs no simulated time: charge the polling separately.
    pub async fn watch(&self, what: &'static str, mut met: impl FnMut(&Memory) -> bool + 'static) {
        let node = self.node;
        let test: Test = Box::new(move |b| met(b.memory(node)));
        let serial = self.core.next_serial();
        let condition = Rc::new(RefCell::new(Condition {
            test,
            met: false,
            waker: None,
        }));
        self.core.conditions.borrow_mut().insert(serial, condition.clone());
        self.core.watching.borrow_mut()[node.index()].push(serial);
        let _cancel = OnDrop(|| {
            self.core.conditions.borrow_mut().remove(&serial);
            self.core.watching.borrow_mut()[node.index()].retain(|&watch| watch != serial);
        });
        poll_fn(|cx| {
            let mut condition = condition.borrow_mut();
            if condition.met || (condition.test)(&mut *self.core.backend.borrow_mut()) {
                return Poll::Ready(());
            }
            condition.waker = Some(cx.waker().clone());
            Wait::Memory(node, what).note();
            Poll::Pending
        })
        .await;
    }

    /// Reads the node's memory, in no time.
    ///
    /// # Panics
    /// Part of it is outside the memory.
    pub fn read(&self, addr: Addr, bytes: u32) -> Vec<u8> {
        let mut backend = self.core.backend.borrow_mut();
        let read = backend.memory(self.node).read(addr, bytes as usize);
        read.map(<[u8]>::to_vec)
            .unwrap_or_else(|| panic!("{}: a read of {bytes} bytes at {addr}", self.node))
    }

    /// Writes the node's memory, in no time; programs of the same node that wait for a change look again.
    ///
    /// # Panics
    /// Part of it is outside the memory.
    pub fn write(&self, addr: Addr, data: &[u8]) {
        let (node, bytes) = (self.node, data.len());
        let written = self.memory(|memory| memory.write(addr, data));
        assert!(written, "{node}: a write of {bytes} bytes at {addr}");
    }

    /// Reads or writes the node's memory, in no time: the caller charges the CPU for it. Not to be nested.
    pub fn memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        self.core.note_change(self.node);
        f(self.core.backend.borrow_mut().memory(self.node))
    }

    /// As [`Backend::doing`].
    pub fn doing(&self) -> Doing {
        self.core.backend.borrow().doing(self.node)
    }

    /// As [`Backend::inject`], here and now.
    pub fn inject(&self, fault: &Fault) -> bool {
        self.core.backend.borrow_mut().inject(self.node, fault)
    }

    /// Starts a program: [`Sim::run`] waits for it.
    pub fn spawn<T: 'static>(&self, name: impl Into<String>, program: impl Future<Output = T> + 'static) -> Join<T> {
        self.core.programs.set(self.core.programs.get() + 1);
        let core = self.core.clone();
        self.core.spawn(name.into(), false, async move {
            let result = program.await;
            core.programs.set(core.programs.get() - 1);
            result
        })
    }

    /// Starts a program that may give up: its error ends [`Sim::run`] as [`SimError::Failed`].
    pub fn spawn_checked<E: StdError + Send + Sync + 'static>(
        &self,
        name: impl Into<String>,
        program: impl Future<Output = Result<(), E>> + 'static,
    ) {
        let (name, core) = (name.into(), self.core.clone());
        self.spawn(name.clone(), async move {
            if let Err(error) = program.await {
                core.failed.borrow_mut().get_or_insert(SimError::Failed {
                    at: core.now.get(),
                    program: name,
                    error: Arc::new(error),
                });
            }
        });
    }

    /// Starts a task that [`Sim::run`] does not wait for, a kernel for example.
    pub fn spawn_daemon<T: 'static>(&self, name: impl Into<String>, f: impl Future<Output = T> + 'static) -> Join<T> {
        self.core.spawn(name.into(), true, f)
    }
}

/// The result to come of a spawned task. Await it in another task, or [`take`](Join::take) it after the run. Dropping
/// it detaches the task.
pub struct Join<T> {
    name: Rc<str>,
    state: Rc<RefCell<(Option<T>, Option<Waker>)>>,
}

impl<T> Join<T> {
    /// The result, once; `None` before the task is done.
    pub fn take(&mut self) -> Option<T> {
        self.state.borrow_mut().0.take()
    }
}

impl<T> Future for Join<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state.borrow_mut();
        match state.0.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.1 = Some(cx.waker().clone());
                Wait::Task(self.name.clone()).note();
                Poll::Pending
            }
        }
    }
}

/// What [`race`] was won by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First<A, B> {
    Left(A),
    Right(B),
}

/// The first of two futures to be done; the other is dropped. `left` wins a tie.
pub async fn race<A, B>(left: impl Future<Output = A>, right: impl Future<Output = B>) -> First<A, B> {
    let mut left = pin!(left);
    let mut right = pin!(right);
    poll_fn(|cx| {
        if let Poll::Ready(a) = left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(a));
        }
        right.as_mut().poll(cx).map(First::Right)
    })
    .await
}

type Test = Box<dyn FnMut(&mut dyn Backend) -> bool>;

/// A task that waits for an interrupt. Kept apart from other conditions because every kernel has one, and all are
/// looked at whenever the hardware moved.
struct IrqWait {
    serial: u64,
    node: NodeId,
    waker: Waker,
}

struct Condition {
    test: Test,
    met: bool,
    waker: Option<Waker>,
}

impl Condition {
    fn look(&mut self, backend: &mut dyn Backend) {
        if !self.met && (self.test)(backend) {
            self.met = true;
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }
}

struct Access {
    req: HostReq,
    answer: Option<HostRsp>,
    waker: Option<Waker>,
}

struct Task {
    name: Rc<str>,
    daemon: bool,
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    waker: Waker,
    waits: Vec<Wait>,
}

impl Task {
    fn describe(&self) -> String {
        let waits: Vec<String> = self.waits.iter().map(Wait::to_string).collect();
        let waits = if waits.is_empty() {
            "something outside the simulation".into()
        } else {
            waits.join(" or ")
        };
        format!("{} waits for {waits}", self.name)
    }
}

/// The tasks to be polled next, in order; the only part wakers reach.
#[derive(Default)]
struct Ready(Mutex<VecDeque<usize>>);

impl Ready {
    fn pop(&self) -> Option<usize> {
        self.0.lock().expect("no panic under this lock").pop_front()
    }

    fn push(&self, task: usize) {
        let mut queue = self.0.lock().expect("no panic under this lock");
        if !queue.contains(&task) {
            queue.push_back(task);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.lock().expect("no panic under this lock").is_empty()
    }
}

struct TaskWaker {
    task: usize,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.task);
    }
}

struct Core {
    now: Cell<Picos>,
    backend: Rc<RefCell<dyn Backend>>,
    /// By task number; `None` once done.
    tasks: RefCell<Vec<Option<Task>>>,
    ready: Arc<Ready>,
    timers: RefCell<BTreeMap<(Picos, u64), Waker>>,
    /// Accesses per node; the first is in flight.
    ports: RefCell<Vec<VecDeque<Rc<RefCell<Access>>>>>,
    /// How many accesses there are in all of `ports`.
    accesses: Cell<usize>,
    irqs: RefCell<Vec<IrqWait>>,
    /// By node: no interrupt is seen before this instant.
    masked: RefCell<Vec<Picos>>,
    conditions: RefCell<BTreeMap<u64, Rc<RefCell<Condition>>>>,
    /// By node: the conditions on its memory.
    watching: RefCell<Vec<Vec<u64>>>,
    /// Nodes that programs may have changed since the hardware was last asked.
    changed: RefCell<Vec<NodeId>>,
    serial: Cell<u64>,
    /// Programs not yet done.
    programs: Cell<usize>,
    /// The first program that gave up since last told.
    failed: RefCell<Option<SimError>>,
    sampler: RefCell<Sampler>,
}

/// Samples of a gauge, where one is asked for.
#[derive(Default)]
struct Sampler {
    what: Option<(Picos, &'static str)>,
    due: Picos,
    samples: Vec<Sample>,
}

impl Sampler {
    /// `backend` stands at `at`: takes a sample if one is due, the next one at the next multiple of the period.
    fn look(&mut self, at: Picos, backend: &dyn Backend) {
        let Some((period, gauge)) = self.what.filter(|_| at >= self.due) else {
            return;
        };
        self.due = period * (at.0 / period.0 + 1);
        let level = |node| {
            let level = backend.gauge(NodeId(node as u16), gauge);
            level.unwrap_or_else(|| panic!("the machine has no gauge `{gauge}`"))
        };
        let levels = (0..backend.nodes()).map(level).collect();
        self.samples.push(Sample { at, levels });
    }
}

impl Core {
    fn next_serial(&self) -> u64 {
        self.serial.replace(self.serial.get() + 1)
    }

    fn spawn<T: 'static>(&self, name: String, daemon: bool, f: impl Future<Output = T> + 'static) -> Join<T> {
        let name: Rc<str> = name.into();
        let state: Rc<RefCell<(Option<T>, Option<Waker>)>> = Rc::new(RefCell::new((None, None)));
        let join = Join {
            name: name.clone(),
            state: state.clone(),
        };
        let future = Box::pin(async move {
            let result = f.await;
            let mut state = state.borrow_mut();
            state.0 = Some(result);
            if let Some(waker) = state.1.take() {
                waker.wake();
            }
        });
        let mut tasks = self.tasks.borrow_mut();
        let number = tasks.len();
        let waker = Waker::from(Arc::new(TaskWaker {
            task: number,
            ready: self.ready.clone(),
        }));
        tasks.push(Some(Task {
            name,
            daemon,
            future: Some(future),
            waker,
            waits: Vec::new(),
        }));
        self.ready.push(number);
        join
    }

    fn run_ready(&self) {
        while let Some(number) = self.ready.pop() {
            // Out of the table while it runs: it may spawn.
            let taken = self.tasks.borrow_mut()[number]
                .as_mut()
                .and_then(|t| Some((t.future.take()?, t.waker.clone())));
            let Some((mut future, waker)) = taken else { continue };
            Wait::clear();
            let done = future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            let slot = &mut self.tasks.borrow_mut()[number];
            if done {
                *slot = None;
            } else if let Some(task) = slot {
                task.future = Some(future);
                Wait::take_into(&mut task.waits);
            }
        }
    }

    fn enqueue(&self, node: NodeId, access: Rc<RefCell<Access>>) {
        let port = &mut self.ports.borrow_mut()[node.index()];
        if port.is_empty() {
            self.backend.borrow_mut().host_start(node, access.borrow().req);
        }
        port.push_back(access);
        self.accesses.set(self.accesses.get() + 1);
    }

    /// A program may have written the node's memory, or sees its interrupts again.
    fn note_change(&self, node: NodeId) {
        let mut changed = self.changed.borrow_mut();
        if changed.last() != Some(&node) {
            changed.push(node);
        }
    }

    /// Takes responses of the hardware, and looks at interrupt lines and watched memory: at those that may have
    /// changed, where the backend knows them, else at all.
    fn ask_hardware(&self) {
        let mut changed = self.changed.take();
        if self.backend.borrow_mut().take_changed(&mut changed) {
            changed.sort_unstable();
            changed.dedup();
            self.look_at(&changed);
        } else {
            self.look_at_all();
        }
        changed.clear();
        self.changed.replace(changed);
    }

    fn look_at_all(&self) {
        if self.accesses.get() > 0 {
            for (node, port) in self.ports.borrow_mut().iter_mut().enumerate() {
                self.take_answers(NodeId(node as u16), port);
            }
        }
        self.look_at_interrupts();
        let mut backend = self.backend.borrow_mut();
        for condition in self.conditions.borrow().values() {
            condition.borrow_mut().look(&mut *backend);
        }
    }

    fn look_at(&self, nodes: &[NodeId]) {
        for &node in nodes {
            self.take_answers(node, &mut self.ports.borrow_mut()[node.index()]);
        }
        if nodes.iter().any(|&node| self.backend.borrow().irq(node)) {
            self.look_at_interrupts();
        }
        let (watching, conditions) = (self.watching.borrow(), self.conditions.borrow());
        let mut serials: Vec<u64> = nodes.iter().flat_map(|node| watching[node.index()].clone()).collect();
        serials.sort_unstable();
        let mut backend = self.backend.borrow_mut();
        for serial in serials {
            conditions[&serial].borrow_mut().look(&mut *backend);
        }
    }

    fn look_at_interrupts(&self) {
        let backend = self.backend.borrow();
        let (masked, now) = (self.masked.borrow(), self.now.get());
        self.irqs.borrow_mut().retain(|wait| {
            let high = backend.irq(wait.node) && masked[wait.node.index()] <= now;
            if high {
                wait.waker.wake_by_ref();
            }
            !high
        });
    }

    fn take_answers(&self, node: NodeId, port: &mut VecDeque<Rc<RefCell<Access>>>) {
        let mut backend = self.backend.borrow_mut();
        while !port.is_empty()
            && let Some(rsp) = backend.host_take(node)
        {
            let done = port.pop_front().expect("not empty");
            self.accesses.set(self.accesses.get() - 1);
            let mut done = done.borrow_mut();
            done.answer = Some(rsp);
            if let Some(waker) = done.waker.take() {
                waker.wake();
            }
            if let Some(next) = port.front() {
                backend.host_start(node, next.borrow().req);
            }
        }
    }

    /// Runs the hardware to `at` and wakes the timers that are due.
    fn move_to(&self, at: Picos) {
        self.backend.borrow_mut().advance(at);
        self.now.set(at);
        self.sampler.borrow_mut().look(at, &*self.backend.borrow());
        let mut timers = self.timers.borrow_mut();
        while let Some(entry) = timers.first_entry()
            && entry.key().0 <= at
        {
            entry.remove().wake();
        }
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
