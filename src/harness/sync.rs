//! What host programs hand each other: signals and queues, and the account of what a task waits for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use super::backend::HostReq;
use crate::{NodeId, Picos};

/// What keeps a task from running. Futures note it whenever they are polled and not ready; the executor collects it for
/// hang reports.
#[derive(Clone, Debug)]
pub(super) enum Wait {
    Until(Picos),
    Access(NodeId, HostReq),
    Irq(NodeId),
    Memory(NodeId, &'static str),
    Named(&'static str),
    Task(Rc<str>),
}

thread_local! {
    /// Of the task being polled on this thread.
    static NOTED: RefCell<Vec<Wait>> = const { RefCell::new(Vec::new()) };
}

impl Wait {
    pub fn note(self) {
        NOTED.with_borrow_mut(|noted| noted.push(self));
    }

    pub fn clear() {
        NOTED.with_borrow_mut(Vec::clear);
    }

    pub fn take_into(waits: &mut Vec<Wait>) {
        NOTED.with_borrow_mut(|noted| std::mem::swap(noted, waits));
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Until(at) => write!(f, "the instant {at}"),
            Wait::Access(node, req) => write!(f, "the answer of {node} to {req}"),
            Wait::Irq(node) => write!(f, "an interrupt of {node}"),
            Wait::Memory(node, what) => write!(f, "{what} in the memory of {node}"),
            Wait::Named(what) => f.write_str(what),
            Wait::Task(name) => write!(f, "the end of {name}"),
        }
    }
}

/// "Something changed": wakes whoever waits, keeps no memory of it. Within one thread a test followed by
/// [`changed`](Signal::changed) cannot miss a change.
pub struct Signal {
    what: &'static str,
    generation: Cell<u64>,
    waiting: RefCell<Vec<Waker>>,
}

impl Signal {
    /// `what` completes "… waits for" in a hang report.
    pub fn new(what: &'static str) -> Signal {
        Signal {
            what,
            generation: Cell::new(0),
            waiting: RefCell::default(),
        }
    }

    /// Wakes all who wait, in the order they came.
    pub fn notify(&self) {
        self.generation.set(self.generation.get() + 1);
        for waker in self.waiting.take() {
            waker.wake();
        }
    }

    /// The next [`notify`](Signal::notify) after the call.
    pub async fn changed(&self) {
        let seen = self.generation.get();
        poll_fn(|cx| {
            if self.generation.get() != seen {
                return Poll::Ready(());
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|w| w.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
            Wait::Named(self.what).note();
            Poll::Pending
        })
        .await;
    }
}

/// An unbounded first-in first-out queue between tasks.
pub struct Queue<T> {
    items: RefCell<VecDeque<T>>,
    filled: Signal,
}

impl<T> Queue<T> {
    /// `what` completes "… waits for" in a hang report.
    pub fn new(what: &'static str) -> Queue<T> {
        Queue {
            items: RefCell::default(),
            filled: Signal::new(what),
        }
    }

    pub fn push(&self, item: T) {
        self.items.borrow_mut().push_back(item);
        self.filled.notify();
    }

    pub async fn pop(&self) -> T {
        loop {
            if let Some(item) = self.items.borrow_mut().pop_front() {
                return item;
            }
            self.filled.changed().await;
        }
    }
}

/// One holder at a time; who waits longest is next.
pub struct Lock {
    held: Cell<bool>,
    freed: Signal,
}

/// Holds a [`Lock`] until dropped.
pub struct Held<'a>(&'a Lock);

impl Lock {
    /// `what` completes "… waits for" in a hang report.
    pub fn new(what: &'static str) -> Lock {
        Lock {
            held: Cell::new(false),
            freed: Signal::new(what),
        }
    }

    pub async fn hold(&self) -> Held<'_> {
        while self.held.get() {
            self.freed.changed().await;
        }
        self.held.set(true);
        Held(self)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.set(false);
        self.0.freed.notify();
    }
}
