//! Who uses what of a card: regions, pages of AOTF, slots, and words of LLCM.

use crate::dimmnet1::firmware::{self, Tables};
use crate::dimmnet1::golden::packet::{Base, Header, PageEntry, Place, Region, Rights, header_entry};
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::*;
use crate::{Addr, NodeId};

/// The one group of processes of the library.
pub const PGID: u16 = 1;

/// Regions of the group: memory from its address 0, LLCM, pages that the firmware makes indirect, and system buffers.
pub const MEMORY: u16 = 0;
pub const COMMON: u16 = 1;
pub const INDIRECT_PAGES: u16 = 2;
pub const SYSTEM: u16 = 3;
/// A region that no RVATLB has, and that the firmware makes indirect.
pub const INDIRECT_REGION: u16 = (firmware::INDIRECT_FROM >> 16) as u16;

/// Nodes that the layout has room for.
pub const NODES: u32 = 16;

/// Slots: of packets from windows, and of RDMA.
pub const SLOT_BOTF: u8 = 0;
pub const SLOT_RDMA: u8 = 1;

/// The group of the switch that all nodes are in.
pub const EVERYBODY: u16 = 0;

/// Pages of AOTF: 8-byte words of a node's LLCM, barrier packets to a node, and words of everybody's LLCM.
pub fn words_of(node: NodeId) -> u32 {
    u32::from(node.0)
}

pub fn barrier_of(node: NodeId) -> u32 {
    NODES + u32::from(node.0)
}

pub const WORDS_OF_ALL: u32 = 2 * NODES;

/// Words in the first page of LLCM, the one that AOTF reaches.
pub mod common {
    /// The release of the barrier of hosts: its number.
    pub const RELEASE: u32 = 0x000;
    /// The release of the barrier of the on-chip processor.
    pub const RELEASE_CPU: u32 = 0x008;
    /// By node: the number of the barrier of hosts that it has reached.
    pub const ARRIVED: u32 = 0x080;
    /// By node: messages that have come from it, and the bytes of the last one.
    pub const MESSAGES: u32 = 0x100;
    /// By node: messages from here that it has taken.
    pub const TAKEN: u32 = 0x180;
    /// By node: the last barrier of the on-chip processor that it waited for in vain.
    pub const WAITED: u32 = 0x200;
    /// From here to the end of the page: user programs.
    pub const USER: u32 = 0x400;
    /// Behind the page that AOTF reaches, by source: message cells, receive cells of SOFT; and pointers.
    pub const CELLS: u32 = 0x1000;
    pub const SOFT_CELLS: u32 = 0x1400;
    pub const POINTERS: u32 = 0x1800;
    pub const POINTERS_END: u32 = 0x2000;

    /// The word of a node in a table that begins at `base`.
    pub fn of(base: u32, node: crate::NodeId) -> u32 {
        base + 8 * u32::from(node.0)
    }

    /// A receive command.
    pub fn command(number: u32) -> u32 {
        POINTERS.saturating_add(number.saturating_mul(super::firmware::COMMAND_BYTES))
    }

    /// The cell of a source.
    pub fn cell(base: u32, source: crate::NodeId) -> u32 {
        base + 32 * u32::from(source.0)
    }
}

/// Memory of the library, at the top of each node's: a system buffer for each sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// User memory is [0, user_end).
    pub user_end: u32,
}

/// Bytes of the system buffer of one sender.
pub const SYSTEM_BYTES: u32 = 4 * SIZE_PAGE;

impl Layout {
    /// The least `mem_bytes` leaves room for the user, so there is always a layout.
    pub fn new(config: &Config) -> Layout {
        let pages = config.mem_bytes / SIZE_PAGE;
        Layout {
            user_end: pages * SIZE_PAGE - config.nodes * SYSTEM_BYTES,
        }
    }

    /// The system buffer for messages from this node.
    pub fn system_buffer(&self, from: NodeId) -> Addr {
        Addr(self.user_end + system_offset(from))
    }

    pub fn is_user(&self, addr: Addr, bytes: u32) -> bool {
        addr.0.checked_add(bytes).is_some_and(|end| end <= self.user_end)
    }
}

/// Where the system buffer for messages from this node begins in its region.
pub fn system_offset(from: NodeId) -> u32 {
    u32::from(from.0) * SYSTEM_BYTES
}

/// The regions that every card knows.
pub fn regions(config: &Config) -> [Region; 4] {
    let of = |region, base, rights, bytes: u32| Region {
        pgid: PGID,
        region,
        base,
        rights,
        bytes: bytes.into(),
    };
    let system = Layout::new(config).user_end;
    [
        of(MEMORY, Base::Page(0), Rights::READ_WRITE, config.mem_bytes),
        of(COMMON, Base::Llcm(0), Rights::ALL, SIZE_LLCM),
        of(INDIRECT_PAGES, Base::Page(INDIRECT_PAGE), Rights::READ_WRITE, SIZE_PAGE),
        of(
            SYSTEM,
            Base::Page(system / SIZE_PAGE),
            Rights::READ_WRITE,
            config.nodes * SYSTEM_BYTES,
        ),
    ]
}

/// A virtual page that the firmware makes indirect, at a place of its page table that the pages of memory leave free.
/// Its frame is the page of LLCM with the pointers.
const INDIRECT_PAGE: u32 = (firmware::INDIRECT_FROM >> 4) + 0xf0;

/// Barriers of the on-chip processor: their release by a packet to each node, and by one to all.
pub const BARRIER_UNICAST: u32 = 0;
pub const BARRIER_MULTICAST: u32 = 1;

/// What the firmware finds in its tables.
pub fn tables(config: &Config) -> Tables {
    let indirect = Region {
        pgid: PGID,
        region: INDIRECT_REGION,
        base: Base::Llcm(common::POINTERS),
        rights: Rights::READ_WRITE,
        bytes: (common::POINTERS_END - common::POINTERS).into(),
    };
    let region = |region: Region| {
        let [_, base, bytes] = region.encode();
        let Region { pgid, region, .. } = region;
        firmware::Region {
            pgid,
            region,
            base,
            bytes,
        }
    };
    let page = |PageEntry { pgid, page, frame }| firmware::Page { pgid, page, frame };
    let pointers = PageEntry {
        pgid: PGID,
        page: INDIRECT_PAGE,
        frame: firmware::LLCM_PAGE + common::POINTERS / SIZE_PAGE,
    };
    let barrier = |number, packets| firmware::Barrier {
        number,
        pgid: PGID,
        arrivals: config.nodes,
        packets,
    };
    let nodes = (0..config.nodes as u16).map(|node| release(node, 0));
    Tables {
        regions: regions(config).into_iter().chain([indirect]).map(region).collect(),
        pages: pages(config).chain([pointers]).map(page).collect(),
        barriers: vec![
            barrier(BARRIER_UNICAST, nodes.collect()),
            barrier(BARRIER_MULTICAST, vec![release(EVERYBODY, HDR_W0_MULTICAST_MASK)]),
        ],
    }
}

/// A packet that releases the barrier of the on-chip processor.
fn release(dst: u16, flags: u64) -> [u64; 4] {
    let header = Header {
        kind: TYPE_OTF,
        flags: flags | HDR_W0_OTF_MASK,
        dst,
        length: 8,
        pgid: PGID,
        place: Place::new(COMMON, common::RELEASE_CPU.into()),
        ..Header::default()
    };
    let [w0, w1, w2, ..] = header.encode();
    [w0, w1, w2, 1]
}

/// The page table: memory is where it says.
pub fn pages(config: &Config) -> impl Iterator<Item = PageEntry> {
    let entry = |page| PageEntry {
        pgid: PGID,
        page,
        frame: page,
    };
    (0..config.mem_bytes / SIZE_PAGE).map(entry)
}

/// The header TLB: each page of AOTF that is open, and its words HTLB.
pub fn header_pages(config: &Config) -> Vec<(u32, [u64; 3])> {
    let entry = |kind, dst: u16, flags| {
        header_entry(&Header {
            kind,
            flags,
            dst,
            pgid: PGID,
            place: Place::new(COMMON, 0),
            ..Header::default()
        })
    };
    let nodes = (0..config.nodes as u16).map(NodeId);
    let words = nodes.clone().map(|node| (words_of(node), entry(TYPE_OTF, node.0, 0)));
    let barriers = nodes.map(|node| (barrier_of(node), entry(TYPE_BARRIER, node.0, 0)));
    let all = (WORDS_OF_ALL, entry(TYPE_OTF, EVERYBODY, HDR_W0_MULTICAST_MASK));
    words.chain(barriers).chain([all]).collect()
}
