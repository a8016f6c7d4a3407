//! What the system does with a card before programs run: names, stamps, tables, firmware.

use super::processor::{Processor, Store};
use super::{layout, message};
use crate::dimmnet1::firmware;
use crate::dimmnet1::golden::packet::put;
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::*;
use crate::{NodeId, Picos};

/// The words of a program of the on-chip processor, from address 0 of its SRAM.
pub type Program = [u32];

impl Processor {
    /// Sets up the card. The only cost is the time in which the card takes the stores.
    pub(super) async fn set_up(&self, program: Option<&Program>) {
        let stores = self.set_up_stores(program);
        self.stores_now(Picos::ZERO, stores).await;
    }

    fn set_up_stores(&self, program: Option<&Program>) -> Vec<Store> {
        let config = &self.config;
        let mut stores = names(config, self.host.node());
        stores.extend(tables(config));
        if let Some(words) = program {
            assert!(words.len() * 4 <= SIZE_SRAM as usize, "the program fits the SRAM");
            let whole = |(at, pair): (usize, &[u32])| {
                let high = pair.get(1).copied().unwrap_or(0);
                Store::word(SRAM + 8 * at as u32, u64::from(high) << 32 | u64::from(pair[0]))
            };
            stores.extend(words.chunks(2).enumerate().map(whole));
        }
        stores.extend(cells(config));
        stores.push(Store::word(CONTROL, control(config, program.is_some())));
        stores
    }
}

/// CONTROL while programs run.
pub(super) fn control(config: &Config, runs: bool) -> u64 {
    let flag = |mask: u64, on: bool| if on { mask } else { 0 };
    CONTROL_RECEIVE_MASK
        | flag(CONTROL_RUN_MASK, runs)
        | flag(CONTROL_POLL_MASK, config.poll)
        | flag(CONTROL_MATCH_MASK, config.matching)
}

fn names(config: &Config, node: NodeId) -> Vec<Store> {
    vec![
        Store::word(CONTROL, 0),
        Store::word(NODE, put(NODE_ID_MASK, node.0.into())),
        Store::word(PGID, put(PGID_STAMP_MASK, layout::PGID.into())),
        Store::word(WATCHDOG, put(WATCHDOG_CYCLES_MASK, config.watchdog.into())),
        Store::word(PATIENCE, put(PATIENCE_CYCLES_MASK, config.patience.into())),
        Store::word(MASK, 0),
    ]
}

/// Both TLBs, as far as they hold, and the header TLB.
fn tables(config: &Config) -> Vec<Store> {
    let mut stores = vec![Store::word(TLB_FLUSH, 1)];
    for region in layout::regions(config) {
        let words = (RVATLB..).step_by(8).zip(region.encode());
        stores.extend(words.map(|(at, word)| Store::word(at, word)));
    }
    for page in layout::pages(config).take(SIZE_TLB as usize) {
        let words = (PATLB..).step_by(8).zip(page.encode());
        stores.extend(words.map(|(at, word)| Store::word(at, word)));
    }
    const ENTRY: u32 = 32;
    for (page, entry) in layout::header_pages(config) {
        let words = (HEADER_TLB + ENTRY * page..).step_by(8).zip(entry);
        stores.extend(words.map(|(at, word)| Store::word(at, word)));
    }
    stores
}

/// The message cells, each at the beginning of its system buffer, and the receive cells of SOFT, in which nothing is
/// posted.
fn cells(config: &Config) -> Vec<Store> {
    let mut stores = Vec::new();
    for source in (0..config.nodes as u16).map(NodeId) {
        stores.extend(message::empty_cell(source));
        let soft = LLCM + layout::common::cell(layout::common::SOFT_CELLS, source);
        stores.push(Store::word(soft + firmware::SOFT_NUMBER, 1 << 32));
    }
    stores
}
