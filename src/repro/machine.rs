//! A machine whose making is chosen at run time.

use crate::harness::backend::{Backend, Event, HostReq, HostRsp};
use crate::harness::memory::Memory;
use crate::{NodeId, Picos};

/// Any backend; every call is passed on.
pub type AnyBackend = Box<dyn Backend>;

impl Backend for AnyBackend {
    fn now(&self) -> Picos {
        (**self).now()
    }

    fn nodes(&self) -> usize {
        (**self).nodes()
    }

    fn next_event(&self) -> Option<Picos> {
        (**self).next_event()
    }

    fn advance(&mut self, to: Picos) {
        (**self).advance(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        (**self).host_start(node, req);
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        (**self).host_take(node)
    }

    fn irq(&self, node: NodeId) -> bool {
        (**self).irq(node)
    }

    fn fifo_bytes(&self, node: NodeId) -> u32 {
        (**self).fifo_bytes(node)
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        (**self).memory(node)
    }

    fn record(&mut self, on: bool) {
        (**self).record(on);
    }

    fn take_events(&mut self) -> Vec<Event> {
        (**self).take_events()
    }

    fn hang_report(&self) -> String {
        (**self).hang_report()
    }
}
