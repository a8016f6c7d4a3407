//! The library of host programs, and what `tsunagi send` does with it. The processor's own work takes no time.

use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::exec::{Host, Sim};
use tsunagi::machine::{Carrier, MachineError, poison};
use tsunagi::{Addr, NodeId, Picos};

use crate::golden::{RECEIVED, SEND};
use crate::machine::MEMORY;

/// Sends the first words of the node's memory to the other node. The NIC refuses a word while the last one waits on the
/// link; this tries again.
pub async fn send(host: Host, words: u32) {
    for at in 0..words {
        let word = host.read(Addr(4 * at), 4).try_into().expect("a word has four bytes");
        while host.reg_write(SEND.into(), u32::from_le_bytes(word)).await.is_err() {}
    }
}

/// Stores words from the other node at the beginning of the node's memory.
pub async fn receive(host: Host, words: u32) {
    for at in 0..words {
        host.irq().await;
        let word = host.reg_read(RECEIVED.into()).await.expect("an interrupt announces it");
        host.write(Addr(4 * at), &word.to_le_bytes());
    }
}

/// Carries data from one node's memory to another's.
pub struct Transfer {
    pub sim: Sim<AnyBackend>,
    pub nodes: [NodeId; 2],
}

impl Carrier for Transfer {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        MEMORY
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        let [from, to] = self.nodes.map(|node| self.sim.host(node));
        let words = data.len().div_ceil(4) as u32;
        from.write(Addr(0), data);
        to.write(Addr(0), &poison(data));
        from.spawn("the sender", send(from.clone(), words));
        to.spawn("the receiver", receive(to.clone(), words));
        // A word takes less than 100 us at any clock.
        let end = self.sim.now() + Picos::from_ns(100_000) * words.into();
        self.sim.run(end).map_err(MachineError::failure)?;
        Ok(to.read(Addr(0), data.len() as u32))
    }
}
