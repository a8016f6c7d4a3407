//! Messages that have come whole, and what a task waits for.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::NodeId;

/// A message, with the number of the buffer that it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub buffer: i32,
    pub from: NodeId,
    pub tag: i32,
    pub data: Vec<u8>,
}

#[derive(Default)]
pub struct Inbox {
    queue: RefCell<VecDeque<Message>>,
    buffers: Cell<i32>,
    waits: RefCell<Option<String>>,
}

impl Inbox {
    /// The number of a new buffer.
    pub fn number(&self) -> i32 {
        self.buffers.set(self.buffers.get() + 1);
        self.buffers.get()
    }

    pub fn put(&self, from: NodeId, tag: i32, data: Vec<u8>) {
        let buffer = self.number();
        let message = Message {
            buffer,
            from,
            tag,
            data,
        };
        self.queue.borrow_mut().push_back(message);
    }

    fn position(&self, from: Option<NodeId>, tag: Option<i32>) -> Option<usize> {
        let matches = |m: &Message| from.is_none_or(|f| f == m.from) && tag.is_none_or(|t| t == m.tag);
        self.queue.borrow().iter().position(matches)
    }

    /// The buffer of the first message from this node with this tag; none: any.
    pub fn find(&self, from: Option<NodeId>, tag: Option<i32>) -> Option<i32> {
        let at = self.position(from, tag)?;
        Some(self.queue.borrow()[at].buffer)
    }

    /// Takes it out.
    pub fn take(&self, from: Option<NodeId>, tag: Option<i32>) -> Option<Message> {
        let at = self.position(from, tag)?;
        self.queue.borrow_mut().remove(at)
    }

    /// Looks at the message of this buffer.
    pub fn look<R>(&self, buffer: i32, f: impl FnOnce(&Message) -> R) -> Option<R> {
        self.queue.borrow().iter().find(|m| m.buffer == buffer).map(f)
    }

    /// Waits, and lets a hang report know for what.
    pub async fn wait<R>(&self, what: String, until: impl Future<Output = R>) -> R {
        *self.waits.borrow_mut() = Some(what);
        let result = until.await;
        *self.waits.borrow_mut() = None;
        result
    }

    pub fn waits(&self) -> Option<String> {
        self.waits.borrow().clone()
    }
}
