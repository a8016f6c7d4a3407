//! Transfers data from one node's memory to another's by RDMA.

use super::host::{Allow, Area, CppacsSim, Field, How, Right, To};
use super::params::Config;
use super::repro::{MeasureError, machine};
use crate::harness::backend::AnyBackend;
use crate::harness::params::Table as _;
use crate::harness::wave::Probe;
use crate::machine::{Carrier, MachineError, Route, poison};
use crate::{NodeId, Picos};

/// Maximum bytes of a window.
const WINDOW: u32 = 1 << 17;
const NAME: &str = "window";
/// A transfer of a window takes half a millisecond.
const BOUND: Picos = Picos::from_ns(50_000_000);

pub struct CppacsCarrier {
    sim: CppacsSim<AnyBackend>,
    from: NodeId,
    to: NodeId,
    source: Area,
    target: Area,
    field: Field,
    right: Right,
    /// Transfers so far.
    count: u32,
}

impl CppacsCarrier {
    /// A booted machine with `route`'s settings.
    ///
    /// # Errors
    /// The settings make no machine, or one that does not boot.
    pub fn new(route: &Route<'_>) -> Result<CppacsCarrier, MachineError> {
        let config = Config::of(route.settings)?;
        let made = CppacsCarrier::made(&config, route);
        Ok(made?)
    }

    fn made(config: &Config, route: &Route<'_>) -> Result<CppacsCarrier, MeasureError> {
        let machine = machine(route.backend, config, &Probe::default())?;
        let mut sim = CppacsSim::new(machine, config)?;
        let (from, to) = (route.from, route.to);
        let mut target = sim.spawn(to, async |node| {
            let area = node.object(NAME, WINDOW)?;
            let field = node.create_field(&area, 0, WINDOW, 0, Allow::WRITE).await?;
            Ok((area, field))
        });
        let mut source = sim.spawn(from, async move |node| {
            let area = node.object("source", WINDOW)?;
            let right = node.get_sendright(To::Node(to), NAME, 0, BOUND).await?;
            Ok((area, right))
        });
        sim.run(BOUND)?;
        let target: Result<(Area, Field), MeasureError> = target.take().expect("it ended");
        let source: Result<(Area, Right), MeasureError> = source.take().expect("it ended");
        let ((target, field), (source, right)) = (target?, source?);
        Ok(CppacsCarrier {
            sim,
            from,
            to,
            source,
            target,
            field,
            right,
            count: 0,
        })
    }

    fn send(&mut self, data: &[u8]) -> Result<Vec<u8>, MeasureError> {
        let (from, to) = (self.sim.node(self.from), self.sim.node(self.to));
        let span = self.target.span(0, data.len() as u32)?;
        // What is sent is a multiple of 8 bytes.
        let bytes = span.bytes().next_multiple_of(8);
        let source = self.source.span(0, bytes)?;
        from.write(&source, data);
        to.write(&span, &poison(data));
        let right = self.right.clone();
        self.count += 1;
        let count = self.count;
        self.sim.spawn_checked(self.from, async move |node| {
            node.send(source, &right, 0, How::default()).await.map(drop)
        });
        let field = self.field.clone();
        self.sim.spawn_checked(self.to, async move |node| {
            node.wait(&field, count, BOUND).await.map(drop)
        });
        self.sim.run(BOUND)?;
        Ok(to.read(&span))
    }
}

impl Carrier for CppacsCarrier {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        WINDOW
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        if data.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.send(data)?)
    }
}
