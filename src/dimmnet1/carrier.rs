//! Transfers data from one node's memory to another's by RDMA.

use super::golden::packet::Place;
use super::host::{Dimmnet1Sim, How, Message, layout};
use super::params::Config;
use super::repro::{MeasureError, finish, machine};
use crate::harness::backend::AnyBackend;
use crate::harness::params::Table as _;
use crate::harness::wave::Probe;
use crate::machine::{Carrier, MachineError, Route, poison};
use crate::{Addr, NodeId, Picos};

/// Maximum bytes of a window.
const WINDOW: u32 = 1 << 17;

pub struct Dimmnet1Carrier {
    sim: Dimmnet1Sim<AnyBackend>,
    from: NodeId,
    to: NodeId,
}

impl Dimmnet1Carrier {
    /// A booted machine with `route`'s settings.
    ///
    /// # Errors
    /// The settings make no machine, or one that does not boot.
    pub fn new(route: &Route<'_>) -> Result<Dimmnet1Carrier, MachineError> {
        let config = Config::of(route.settings)?;
        let machine = machine(route.backend, &config, &Probe::default()).map_err(MeasureError::from)?;
        let sim = Dimmnet1Sim::new(machine, &config).map_err(MeasureError::from)?;
        let (from, to) = (route.from, route.to);
        Ok(Dimmnet1Carrier { sim, from, to })
    }
}

impl Carrier for Dimmnet1Carrier {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        WINDOW.min(self.sim.node(self.from).memory_end() / 2) & !7
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        let (from, to) = (self.sim.node(self.from), self.sim.node(self.to));
        // Behind the sender's window, for a node that sends to itself.
        let (source, target, len) = (Addr(0), Addr(self.window()), data.len() as u32);
        from.write(source, data);
        to.write(target, &poison(data));
        let place = Place::new(layout::MEMORY, target.0.into());
        let message = Message::push(self.to, place).by(How::Rdma);
        self.sim
            .spawn_checked(self.from, async move |node| node.send(&message, source, len).await);
        finish(&mut self.sim, len).map_err(MeasureError::from)?;
        Ok(to.read(target, len))
    }
}
