//! A verilated cell: the processor's side of it, and its links.

use std::collections::VecDeque;

use verilated::{Input as _, Port as _};

use crate::ap1000p::golden::access::Access;
use crate::ap1000p::golden::creg;
use crate::harness::event::EventKind;
use crate::harness::host_port::{Exchange, HostPort};
use crate::harness::lane::{Head, Way};
use crate::net::fabric::Flit;
use crate::net::link::LinkMonitor;
use crate::net::torus::{Class, Header};
use crate::net::torus_fabric::{PLACES, TorusFabric};
use crate::rtl::{Ap1000pCellPorts as _, Ap1000pCellUnit, TorusRouterUnit};

/// A cell and what its ports are about to be given. The processor's ports are independent of each other.
pub(super) struct Cell<C> {
    pub unit: C,
    /// Words that the processor has yet to store, each with its page's code.
    pub stores: VecDeque<(u16, u32)>,
    /// Cycles from one store to the next, and the first cycle in which the next one may be.
    store_cycles: u64,
    store_at: u64,
    /// Cycles in which a store was offered and not taken.
    pub stalls: u64,
    pub registers: HostPort,
    /// The word read, 0 of a write; `None`: a fault.
    pub cregs: Exchange<creg::Access, Option<u32>>,
    /// The word, or two for 8 bytes, 0 of a store; `None`: it was refused, here or there.
    pub shared: Exchange<Access, Option<u64>>,
    /// Words put on the network.
    pub sent: u64,
    /// No credit comes back to the cell, so its link stands still; and the credits that wait, by virtual channel.
    pub held: bool,
    credits: [u32; 4],
    /// A neighbour's packets enter between the cell's own, by class.
    merges: [Merge; 2],
    /// Packets leaving and coming, by class.
    leaving: [LinkMonitor; 2],
    coming: [LinkMonitor; 2],
}

/// Where a neighbour's packets of a class enter the link into the router. A word of the cell waits here at most as long
/// as forged ones have the places that it has credits for.
#[derive(Default)]
struct Merge {
    own: VecDeque<Flit>,
    forged: VecDeque<Flit>,
    /// A packet of the cell, or a forged one, has begun and not ended.
    amid: Option<bool>,
    /// Places that are taken, and in bit n whether a forged word has number n.
    taken: u32,
    by_forged: u32,
}

impl Merge {
    /// A word of the cell comes. It need not wait here if `has_place` on the link and nothing is in front of it.
    fn enters(&mut self, flit: Flit, has_place: bool) -> Option<Flit> {
        let places = self.own.len() as u32 + 1 + self.taken - self.by_forged.count_ones();
        assert!(places <= PLACES.into(), "the cell sent a word without a credit");
        if !has_place || self.stirs() || self.amid == Some(true) {
            self.own.push_back(flit);
            return None;
        }
        self.amid = (!flit.last).then_some(false);
        self.taken += 1;
        Some(flit)
    }

    fn stirs(&self) -> bool {
        !self.own.is_empty() || !self.forged.is_empty()
    }

    /// The next word for the link, and whether it is forged.
    fn next(&mut self) -> Option<(Flit, bool)> {
        let forged = self.amid.unwrap_or(!self.forged.is_empty());
        let from = if forged { &mut self.forged } else { &mut self.own };
        let flit = from.pop_front()?;
        self.amid = (!flit.last).then_some(forged);
        self.by_forged |= u32::from(forged) << self.taken;
        self.taken += 1;
        Some((flit, forged))
    }

    /// The oldest word's place is free again; whether that word was forged.
    fn frees(&mut self) -> bool {
        let forged = self.by_forged & 1 == 1;
        self.by_forged >>= 1;
        self.taken -= 1;
        forged
    }
}

impl<C: Ap1000pCellUnit> Cell<C> {
    pub fn new(unit: C, store_cycles: u64) -> Cell<C> {
        Cell {
            unit,
            stores: VecDeque::new(),
            store_cycles,
            store_at: 0,
            stalls: 0,
            registers: HostPort::Idle,
            cregs: Exchange::Idle,
            shared: Exchange::Idle,
            sent: 0,
            held: false,
            credits: [0; 4],
            merges: Default::default(),
            leaving: [LinkMonitor::outgoing(); 2],
            coming: [LinkMonitor::incoming(); 2],
        }
    }

    /// The next edge counts, whatever the network does.
    #[inline]
    pub fn stirs(&self) -> bool {
        let asks = self.registers.stirs() || self.cregs.stirs() || self.shared.stirs();
        let waits = self.credits != [0; 4] || self.merges.iter().any(Merge::stirs);
        asks || waits || !self.stores.is_empty() || self.unit.busy_o().is_set()
    }

    /// Whether a packet is leaving, and whether one is coming.
    pub fn links(&self) -> (bool, bool) {
        let any = |links: &[LinkMonitor]| links.iter().any(LinkMonitor::under_way);
        (any(&self.leaving), any(&self.coming))
    }

    pub fn keep_heads(&mut self) {
        let links = self.leaving.iter_mut().chain(&mut self.coming);
        links.for_each(LinkMonitor::keep_head);
    }

    /// The packet of a class that leaves or comes, or did last.
    pub fn head(&self, way: Way, class: usize) -> Head<'_> {
        match way {
            Way::Out => self.leaving[class].head(),
            Way::In => self.coming[class].head(),
        }
    }

    /// A neighbour sends this packet, as soon as none of the cell's own of its class is under way.
    pub fn forge(&mut self, words: &[u64]) {
        let Some(first) = words.first() else { return };
        let flits = (1..).zip(words).map(|(number, &word)| Flit {
            word,
            last: number == words.len(),
        });
        self.merges[Header::of(*first).class as usize].forged.extend(flits);
    }

    /// The processor's side of an edge.
    #[inline]
    pub fn host_edge(&mut self, cycle: u64, event: impl FnMut(EventKind)) {
        self.store_edge(cycle);
        let unit = &self.unit;
        crate::harness::set_host_ports!(unit, &self.registers.ports());
        self.registers.edge(&crate::harness::host_ports!(unit), event);
        self.creg_edge();
        self.shared_edge();
    }

    fn store_edge(&mut self, cycle: u64) {
        let unit = &self.unit;
        let store = self.stores.front().filter(|_| self.store_at <= cycle);
        unit.store_valid_i().set_bool(store.is_some());
        let Some(&(page, data)) = store else { return };
        unit.store_page_i().set(page.into());
        unit.store_data_i().set(data.into());
        if unit.store_ready_o().is_set() {
            self.stores.pop_front();
            self.store_at = cycle + self.store_cycles;
        } else {
            self.stalls += 1;
        }
    }

    fn creg_edge(&mut self) {
        let unit = &self.unit;
        let offer = self.cregs.offer();
        unit.creg_req_valid_i().set_bool(offer.is_some());
        if let Some(creg::Access { addr, write }) = offer {
            unit.creg_req_addr_i().set(addr.into());
            unit.creg_req_write_i().set_bool(write.is_some());
            unit.creg_req_data_i().set(write.unwrap_or(0).into());
        }
        unit.creg_rsp_ready_i().set_bool(true);
        let answer = || {
            let fault = unit.creg_rsp_fault_o().is_set();
            (!fault).then(|| unit.creg_rsp_data_o().get() as u32)
        };
        let answer = unit.creg_rsp_valid_o().is_set().then(answer);
        self.cregs.step(unit.creg_req_ready_o().is_set(), answer);
    }

    fn shared_edge(&mut self) {
        let unit = &self.unit;
        let offer = self.shared.offer();
        unit.dsm_req_valid_i().set_bool(offer.is_some());
        if let Some(access) = offer {
            unit.dsm_req_write_i().set_bool(access.write.is_some());
            unit.dsm_req_registers_i().set_bool(access.registers);
            unit.dsm_req_cell_i().set(access.name().into());
            unit.dsm_req_addr_i().set(access.addr.into());
            unit.dsm_req_size_i().set(access.size.into());
            unit.dsm_req_data_i().set(access.write.unwrap_or(0));
        }
        unit.dsm_rsp_ready_i().set_bool(true);
        let answer = || (!unit.dsm_rsp_err_o().is_set()).then(|| unit.dsm_rsp_data_o().get());
        let answer = unit.dsm_rsp_valid_o().is_set().then(answer);
        let taken = self.shared.step(unit.dsm_req_ready_o().is_set(), answer);
        // A store is not waited for.
        if taken.is_some_and(|access| access.write.is_some()) {
            self.shared = Exchange::Answered(Some(0));
        }
    }

    /// What the links between the cell, which is this number, and its router carry at an edge.
    #[inline]
    pub fn exchange<R: TorusRouterUnit>(
        &mut self,
        fabric: &mut TorusFabric<R>,
        number: usize,
        mut event: impl FnMut(EventKind),
    ) {
        let unit = &self.unit;
        let came = fabric.output(number);
        let returned = u32::from(fabric.returned(number));
        let mut given = 0;
        for (vc, credits) in self.credits.iter_mut().enumerate() {
            // A forged word's place is not the cell's.
            *credits += u32::from(returned >> vc & 1 == 1 && !self.merges[vc >> 1].frees());
            if *credits > 0 && !self.held {
                *credits -= 1;
                given |= 1 << vc;
            }
        }
        unit.tx_credit_i().set(given);
        unit.rx_valid_i().set_bool(came.is_some());
        if let Some(sent) = came {
            self.coming[sent.vc >> 1].pass(sent.flit, &mut event);
            unit.rx_vc_i().set(sent.vc as u64);
            unit.rx_data_i().set(sent.flit.word);
            unit.rx_last_i().set_bool(sent.flit.last);
        }
        if unit.tx_valid_o().is_set() {
            let flit = Flit {
                word: unit.tx_data_o().get(),
                last: unit.tx_last_o().is_set(),
            };
            let class = Class::ALL[unit.tx_vc_o().get() as usize >> 1];
            let merge = &mut self.merges[class as usize];
            if let Some(flit) = merge.enters(flit, fabric.has_place(number, class)) {
                fabric.inject(number, class, flit);
                self.leaving[class as usize].pass(flit, &mut event);
                self.sent += 1;
            }
        }
        for class in Class::ALL {
            let merge = &mut self.merges[class as usize];
            if !merge.stirs() || !fabric.has_place(number, class) {
                continue;
            }
            if let Some((flit, forged)) = merge.next() {
                fabric.inject(number, class, flit);
                if !forged {
                    self.leaving[class as usize].pass(flit, &mut event);
                    self.sent += 1;
                }
            }
        }
        let back = unit.rx_credit_o().get();
        for class in Class::ALL {
            if back >> class.vc(0) & 1 == 1 {
                fabric.give_back(number, class);
            }
        }
    }
}
