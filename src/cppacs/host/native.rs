//! The native library as PVM and the C library call it.

use super::layout;
use super::rdma::{self, Allow, How, Span, Steps, To};
use super::transport::{self, Channel, Strided, Transport};
use super::{Node, RdmaError};
use crate::cppacs::params::Config;
use crate::harness::exec::Host;
use crate::harness::faults::Fault;
use crate::net::hyper;
use crate::{Addr, NodeId, Picos};

impl Node {
    /// Bytes at a physical address, as the library names them.
    ///
    /// # Errors
    /// They are not all in the area.
    pub fn span_at(&self, addr: Addr, bytes: u32) -> Result<Span, RdmaError> {
        let (offset, size) = (addr.0.wrapping_sub(layout::AREA), self.kernel.area_bytes());
        let is_there = u64::from(offset) + u64::from(bytes) <= size.into();
        is_there
            .then_some(())
            .ok_or(RdmaError::Outside { offset, bytes, size })?;
        Ok(Span::at(offset, bytes))
    }
}

impl Transport for Node {
    type Field = rdma::Field;
    type Right = rdma::Right;
    type Sent = rdma::Sent;
    type Error = RdmaError;

    fn host(&self) -> &Host {
        self.kernel.host()
    }

    fn config(&self) -> &Config {
        &self.kernel.config
    }

    async fn work(&self, span: Picos) {
        self.compute(span).await;
    }

    async fn occupy(&self, span: Picos) {
        // Words that come meanwhile wait for the memory.
        self.kernel.host().inject(&Fault::MemoryStalls(span));
        self.compute(span).await;
    }

    async fn object(&self, name: &str, bytes: u32) -> Result<transport::Area, RdmaError> {
        self.compute(self.kernel.config.syscall).await;
        let area = Node::object(self, name, bytes)?;
        let addr = area.all().addr();
        Ok(transport::Area { addr, bytes })
    }

    async fn create_field(
        &self,
        area: &transport::Area,
        offset: u32,
        bytes: u32,
        number: u16,
    ) -> Result<rdma::Field, RdmaError> {
        let name = self.kernel.object_at(area.addr.0.wrapping_sub(layout::AREA));
        let size = area.bytes;
        let name = name.ok_or(RdmaError::Outside { offset, bytes, size })?;
        let area = rdma::Area::at(name, area.addr.0 - layout::AREA, area.bytes);
        Node::create_field(self, &area, offset, bytes, number, Allow::ALL).await
    }

    async fn get_sendright(&self, to: NodeId, name: &str, number: u16, wait: Picos) -> Result<rdma::Right, RdmaError> {
        Node::get_sendright(self, To::Node(to), name, number, wait).await
    }

    async fn send(
        &self,
        from: Strided,
        right: &rdma::Right,
        offset: u32,
        channel: Channel,
    ) -> Result<rdma::Sent, RdmaError> {
        let channel = match channel {
            Channel::Data => hyper::Channel::Data,
            Channel::Ack => hyper::Channel::Ack,
        };
        let how = How {
            channel,
            ..How::FLAGGED
        };
        let first = self.span_at(from.addr, from.element)?;
        if from.count == 1 {
            return Node::send(self, first, right, offset, how).await;
        }
        let (count, (from_step, step)) = (from.count, from.steps);
        let from = rdma::Strided {
            first,
            count,
            step: from_step,
        };
        self.stride_send(from, right, Steps { offset, step }, how).await
    }

    async fn wait_sent(&self, sent: &rdma::Sent) {
        // What was refused was not read, either; who waits for its arrival learns of it.
        let _ = Node::wait_sent(self, *sent).await;
    }

    fn count(&self, field: &rdma::Field) -> u32 {
        self.arrived(field).count
    }

    async fn changed(&self) {
        self.any_flag_changes().await;
    }

    async fn normal(&self, to: NodeId) {
        self.compute(self.kernel.config.syscall).await;
        if to != self.id() {
            // A kernel that does not answer is found by what was to be asked of it.
            let _ = self.kernel.greet(to.0.into()).await;
        }
    }
}
