//! What passes on a node's link.

use crate::harness::event::EventKind;
use crate::net::fabric::Flit;

/// Follows the flits of one direction of a node's link, packet by packet.
#[derive(Clone, Copy, Debug)]
pub struct LinkMonitor {
    /// Flits of the packet under way.
    flits: u32,
    outgoing: bool,
}

impl LinkMonitor {
    /// From the node into the network.
    pub fn outgoing() -> LinkMonitor {
        LinkMonitor {
            flits: 0,
            outgoing: true,
        }
    }

    /// From the network into the node.
    pub fn incoming() -> LinkMonitor {
        LinkMonitor {
            outgoing: false,
            ..LinkMonitor::outgoing()
        }
    }

    /// A packet has begun and not ended.
    #[inline]
    pub fn under_way(&self) -> bool {
        self.flits > 0
    }

    /// A flit is taken at an edge; tells of the first and the last of a packet.
    #[inline]
    pub fn pass(&mut self, flit: Flit, mut event: impl FnMut(EventKind)) {
        self.flits += 1;
        if self.flits == 1 {
            let head = flit.word as u16;
            event(if self.outgoing {
                EventKind::TxFirst { head }
            } else {
                EventKind::RxFirst { head }
            });
        }
        if flit.last {
            let flits = std::mem::take(&mut self.flits);
            event(if self.outgoing {
                EventKind::TxLast { flits }
            } else {
                EventKind::RxLast { flits }
            });
        }
    }
}
