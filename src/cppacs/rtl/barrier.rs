//! The barrier's tree, one group of all nodes.

use verilated::{Context, Input as _, Port as _, Verilated};

use super::NotBuilt;
use crate::rtl::{
    CppacsBarrier4, CppacsBarrier16, CppacsBarrier64, CppacsBarrier256, SyncTreePorts as _, SyncTreeUnit,
};

/// Nodes that there is a tree for.
pub const MOST: u32 = CppacsBarrier256::CELLS as u32;
/// Edges of a reset.
const RESET: usize = 3;

/// A tree of any number of nodes; those beyond the machine's are no members.
trait Tree {
    fn unit(&self) -> &dyn Verilated;
    fn set_reset(&self, reset: bool);
    fn edge(&self);
    fn is_busy(&self) -> bool;
    fn set_member(&self, node: usize, is_member: bool);
    fn set_arrives(&self, node: usize, arrives: bool);
    /// Whether it waits, and whether it is released.
    fn shown(&self, node: usize) -> (bool, bool);
}

impl<U: SyncTreeUnit> Tree for U {
    fn unit(&self) -> &dyn Verilated {
        self
    }

    fn set_reset(&self, reset: bool) {
        self.rst_i().set_bool(reset);
    }

    fn edge(&self) {
        self.junk();
        self.rise(1);
    }

    fn is_busy(&self) -> bool {
        self.busy_o().is_set()
    }

    fn set_member(&self, node: usize, is_member: bool) {
        self.member_i().set_bits(node, 1, is_member.into());
    }

    fn set_arrives(&self, node: usize, arrives: bool) {
        self.arrive_i().set_bits(node, 1, arrives.into());
    }

    fn shown(&self, node: usize) -> (bool, bool) {
        (self.waiting_o().bit(node), self.release_o().bit(node))
    }
}

pub(super) struct Barrier {
    tree: Box<dyn Tree>,
    /// By node: member and arrives, as the tree was told; waits and released, as the tree shows it and the node saw it.
    members: Vec<bool>,
    arrives: Vec<usize>,
    shown: Vec<(bool, bool)>,
    seen: Vec<(bool, bool)>,
    awake: bool,
}

impl Barrier {
    /// The tree of so many nodes, reset.
    ///
    /// # Errors
    /// There is none.
    pub fn new(context: &Context, nodes: u32) -> Result<Barrier, NotBuilt> {
        let name = "barrier";
        let tree: Box<dyn Tree> = match nodes {
            0..=4 => Box::new(CppacsBarrier4::named(context, name)),
            5..=16 => Box::new(CppacsBarrier16::named(context, name)),
            17..=64 => Box::new(CppacsBarrier64::named(context, name)),
            65..=MOST => Box::new(CppacsBarrier256::named(context, name)),
            _ => return Err(NotBuilt::Nodes { nodes }),
        };
        for reset in [true, false] {
            tree.set_reset(reset);
            (0..RESET).for_each(|_| tree.edge());
        }
        let none = vec![(false, false); nodes as usize];
        Ok(Barrier {
            tree,
            members: vec![false; nodes as usize],
            arrives: Vec::new(),
            shown: none.clone(),
            seen: none,
            awake: false,
        })
    }

    pub fn unit(&self) -> &dyn Verilated {
        self.tree.unit()
    }

    /// What a node shows before an edge, and what it is shown: whether it waits, and whether it is released.
    #[inline]
    pub fn exchange(&mut self, node: usize, is_member: bool, arrives: bool) -> (bool, bool) {
        if is_member != self.members[node] {
            self.members[node] = is_member;
            self.tree.set_member(node, is_member);
            self.awake = true;
        }
        if arrives {
            self.tree.set_arrives(node, true);
            self.arrives.push(node);
            self.awake = true;
        }
        self.seen[node] = self.shown[node];
        self.shown[node]
    }

    /// A node has not seen what the tree shows.
    #[inline]
    pub fn stirs(&self, node: usize) -> bool {
        self.seen[node] != self.shown[node]
    }

    pub fn is_busy(&self) -> bool {
        self.awake
    }

    pub fn waits(&self, node: usize) -> bool {
        self.shown[node].0
    }

    pub fn edge(&mut self, all: bool) {
        if !self.awake && !all {
            return;
        }
        self.tree.edge();
        for node in self.arrives.drain(..) {
            self.tree.set_arrives(node, false);
        }
        for (node, shown) in self.shown.iter_mut().enumerate() {
            *shown = self.tree.shown(node);
        }
        self.awake = self.tree.is_busy();
    }
}
