//! The host's processor as a cost agent: stores, write-combined runs of stores, loads and polling of its card.

use std::rc::Rc;

use crate::Picos;
use crate::dimmnet1::params::Config;
use crate::harness::exec::Host;

/// A store of the lowest `bytes` bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    pub addr: u64,
    pub bytes: u8,
    pub value: u64,
}

impl Store {
    pub fn word(addr: u32, value: u64) -> Store {
        Store {
            addr: addr.into(),
            bytes: 8,
            value,
        }
    }
}

#[derive(Clone)]
pub(super) struct Processor {
    pub host: Host,
    pub config: Rc<Config>,
}

impl Processor {
    /// Stores one after the other, at least `pace` apart: the way to the card is passed once, as stores are posted. A
    /// card that takes them more slowly sets the pace.
    pub async fn stores(&self, pace: Picos, stores: impl IntoIterator<Item = Store>) {
        self.host.delay(self.config.store_path).await;
        self.stores_now(pace, stores).await;
    }

    /// The same from a processor at the card: for the system's setup, which is not measured.
    pub async fn stores_now(&self, pace: Picos, stores: impl IntoIterator<Item = Store>) {
        for Store { addr, bytes, value } in stores {
            let next = self.host.now() + pace;
            let stored = self.host.store(addr, bytes, value).await;
            stored.expect("a card posts every store of its map");
            self.host.delay_until(next).await;
        }
    }

    /// One uncached store.
    pub async fn store(&self, store: Store) {
        self.stores(self.config.store, [store]).await;
    }

    /// One uncached load. A load that the card refuses is a bug of this library.
    pub async fn load(&self, addr: u64, bytes: u8) -> u64 {
        self.host.delay(self.config.load).await;
        let loaded = self.host.load(addr, bytes).await;
        loaded.unwrap_or_else(|error| panic!("{error}"))
    }

    /// When a wait that begins now must be over.
    pub fn deadline(&self) -> Picos {
        self.host.now() + self.config.wait_bound
    }

    /// Loads a word until `met` holds.
    ///
    /// # Errors
    /// It did not for as long as the library waits; the word as it was last.
    pub async fn poll(&self, addr: u64, mut met: impl FnMut(u64) -> bool) -> Result<u64, u64> {
        let deadline = self.deadline();
        loop {
            let value = self.load(addr, 8).await;
            if met(value) {
                return Ok(value);
            }
            if self.host.now() > deadline {
                return Err(value);
            }
            self.host.delay(self.config.poll_loop).await;
        }
    }
}
