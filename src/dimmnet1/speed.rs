//! How fast the largest machine of RTL is simulated, all its cards at work.

use super::golden::packet::Place;
use super::host::{CommError, Dimmnet1Sim, Message, Node, layout};
use super::params::Config;
use super::repro::{MeasureError, finish, machine};
use crate::harness::params::{Settings, Table as _};
use crate::harness::wave::Probe;
use crate::machine::{MachineError, WholeRun};
use crate::net::bench::cpu_time;
use crate::repro::row::BackendKind;
use crate::{Addr, NodeId};

const NODES: u16 = 16;
/// Bytes of a transfer: ten packets and a short one.
const BYTES: u32 = 4800;

/// Each of 16 nodes sends to all others by BOTF, at once and without rest.
///
/// # Errors
/// A machine that does not boot, or hangs.
pub fn all_to_all() -> Result<WholeRun, MachineError> {
    let config = Config::of(&Settings::default().with(&[("nodes", f64::from(NODES))]))?;
    let machine = machine(BackendKind::Rtl, &config, &Probe::default()).map_err(MeasureError::from)?;
    let mut sim = Dimmnet1Sim::new(machine, &config).map_err(MeasureError::from)?;
    (0..NODES).for_each(|node| sim.spawn_checked(NodeId(node), to_all));
    let (start, begun) = (cpu_time(), sim.now());
    finish(&mut sim, BYTES * u32::from(NODES)).map_err(MeasureError::from)?;
    Ok(WholeRun {
        cycles: (sim.now() - begun).0 / config.core_period.0,
        cpu: cpu_time() - start,
    })
}

/// A node's program.
async fn to_all(node: Node) -> Result<(), CommError> {
    let own = node.id().0;
    for step in 1..NODES {
        let place = Place::new(layout::MEMORY, u64::from(BYTES) * u64::from(own + 1));
        let message = Message::push(NodeId((own + step) % NODES), place);
        node.send(&message, Addr(0), BYTES).await?;
    }
    Ok(())
}
