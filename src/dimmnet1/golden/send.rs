//! Golden model of `dimmnet1_send`: AOTF and BOTF.

use std::collections::VecDeque;

use crate::dimmnet1::regs::{
    AOTF, HDR_W0_ACK_REQ_MASK, HDR_W0_DST_MASK, HDR_W0_DST_SHIFT, HDR_W0_LENGTH_MASK, HDR_W0_LENGTH_SHIFT,
    HDR_W0_MULTICAST_MASK, HDR_W0_OTF_MASK, HDR_W0_SRC_MASK, HDR_W0_TYPE_MASK, HDR_W1_PGID_MASK, HDR_W1_SEQ_MASK,
    HDR_W1_TAG_MASK, HDR_W1_TAG_SHIFT, HDR_W2_OFFSET_MASK, HEADER_TLB, KICK0, KICK1, REASON_LENGTH, REASON_TYPE,
    SIZE_BOTF, SIZE_PAGE, SIZE_TLB, SIZE_WINDOW, TYPE_CLOSED, TYPE_INDIRECT, TYPE_PULL, TYPE_PUSH,
};

const WINDOW_WORDS: usize = SIZE_WINDOW as usize / 8;

/// A packet that asks for an answer needs a credit of this slot, for this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    pub slot: u8,
    pub dst: u16,
}

/// A packet that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    words: Vec<u64>,
    pub credit: Option<Credit>,
}

impl Packet {
    fn new(words: Vec<u64>, asks: bool) -> Packet {
        let credit = asks.then(|| Credit {
            slot: (words[1] >> HDR_W1_TAG_SHIFT) as u8 & 0xf,
            dst: ((words[0] & HDR_W0_DST_MASK) >> HDR_W0_DST_SHIFT) as u16,
        });
        Packet { words, credit }
    }

    /// Its words, with the generation of its credit, if it has one.
    pub fn words(&self, generation: u16) -> Vec<u64> {
        let mut words = self.words.clone();
        let slot = words[1] & HDR_W1_TAG_MASK & 0xf << HDR_W1_TAG_SHIFT;
        words[1] = words[1] & !HDR_W1_TAG_MASK | slot | u64::from(generation) << (HDR_W1_TAG_SHIFT + 4);
        words
    }
}

/// What becomes of a store to an AOTF page or a kick, when its turn comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    Packet(Packet),
    /// Nothing leaves, for this reason.
    Refused(u8),
}

/// What the host learns of a store at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Taken,
    /// A store to an AOTF page made no packet, as there was no room in time.
    Lost,
    /// It changed nothing; true: it was a store to an AOTF page.
    Refused(bool),
}

/// A store of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    pub addr: u32,
    pub data: u64,
    pub strb: u8,
}

impl Store {
    pub fn is_aotf(&self) -> bool {
        self.addr >= AOTF
    }
}

#[derive(Clone, Debug)]
pub struct Send {
    /// Protection stamp of the windows.
    pgid: u16,
    entries: Vec<[u64; 4]>,
    windows: [[u64; WINDOW_WORDS]; 2],
    /// Stores whose packets have not begun.
    pub aotf: VecDeque<Due>,
    /// Kicks whose packets have not begun, with their windows.
    pub botf: VecDeque<(usize, Due)>,
    /// Kicked, and not free again.
    busy: [bool; 2],
}

fn kind(head: u64) -> u64 {
    head & HDR_W0_TYPE_MASK
}

fn asks(head: u64) -> bool {
    head & HDR_W0_ACK_REQ_MASK != 0 || kind(head) == u64::from(TYPE_PULL)
}

impl Send {
    /// Nothing was stored yet.
    pub fn new(pgid: u16) -> Send {
        Send {
            pgid,
            entries: vec![[0; 4]; SIZE_TLB as usize],
            windows: [[0; WINDOW_WORDS]; 2],
            aotf: VecDeque::new(),
            botf: VecDeque::new(),
            busy: [false; 2],
        }
    }

    pub fn is_busy(&self, window: usize) -> bool {
        self.busy[window]
    }

    /// The window's last word has been read, or its kick was refused.
    pub fn free(&mut self, window: usize) {
        self.busy[window] = false;
    }

    /// A store of the host. `room`: there is some for a store to an AOTF page.
    pub fn store(&mut self, store: &Store, room: bool) -> Stored {
        if store.is_aotf() {
            return self.aotf(store, room);
        }
        let kicked = [KICK0, KICK1].iter().position(|&kick| kick == store.addr & !7);
        if let Some(window) = kicked {
            if store.strb != 0xff || self.busy[window] {
                return Stored::Refused(false);
            }
            self.busy[window] = true;
            let due = self.botf(window);
            self.botf.push_back((window, due));
        } else if store.addr >= HEADER_TLB {
            if store.strb != 0xff {
                return Stored::Refused(false);
            }
            let at = ((store.addr - HEADER_TLB) / 8) as usize;
            self.entries[at / 4][at % 4] = store.data;
        } else {
            let at = (store.addr / 8) as usize;
            let (window, word) = (at / WINDOW_WORDS, at % WINDOW_WORDS);
            if self.busy[window] {
                return Stored::Refused(false);
            }
            let mut bytes = self.windows[window][word].to_le_bytes();
            for lane in (0..8).filter(|lane| store.strb >> lane & 1 == 1) {
                bytes[lane] = store.data.to_le_bytes()[lane];
            }
            self.windows[window][word] = u64::from_le_bytes(bytes);
        }
        Stored::Taken
    }

    fn aotf(&mut self, store: &Store, room: bool) -> Stored {
        let first = store.strb.trailing_zeros();
        let length = store.strb.count_ones();
        if store.strb == 0 || u32::from(store.strb) >> first != (1 << length) - 1 {
            return Stored::Refused(true);
        }
        if !room {
            return Stored::Lost;
        }
        let at = u64::from(store.addr - AOTF) & !7 | u64::from(first);
        let (page, at) = (at / u64::from(SIZE_PAGE), at % u64::from(SIZE_PAGE));
        let [head, stamp, remote, _] = self.entries[page as usize];
        let grouped = asks(head) && head & HDR_W0_MULTICAST_MASK != 0;
        if kind(head) == u64::from(TYPE_CLOSED) || grouped {
            self.aotf.push_back(Due::Refused(REASON_TYPE as u8));
            return Stored::Taken;
        }
        let offset = (remote & HDR_W2_OFFSET_MASK & !7).wrapping_add(at) & HDR_W2_OFFSET_MASK;
        let lanes = u64::MAX >> (64 - 8 * length);
        let words = vec![
            head & !(HDR_W0_SRC_MASK | HDR_W0_LENGTH_MASK) | HDR_W0_OTF_MASK | u64::from(length) << HDR_W0_LENGTH_SHIFT,
            stamp & !HDR_W1_SEQ_MASK,
            remote & !HDR_W2_OFFSET_MASK | offset,
            store.data >> (8 * first) & lanes,
        ];
        self.aotf.push_back(Due::Packet(Packet::new(words, asks(head))));
        Stored::Taken
    }

    fn botf(&self, window: usize) -> Due {
        let words = &self.windows[window];
        let head = words[0];
        let wanted = kind(head) == u64::from(TYPE_PUSH) || kind(head) >= u64::from(TYPE_INDIRECT);
        if !wanted || (asks(head) && head & HDR_W0_MULTICAST_MASK != 0) {
            return Due::Refused(REASON_TYPE as u8);
        }
        let length = (head >> HDR_W0_LENGTH_SHIFT) as usize;
        if length == 0 || length > SIZE_BOTF as usize {
            return Due::Refused(REASON_LENGTH as u8);
        }
        let mut words = words[..6 + length.div_ceil(8)].to_vec();
        words[0] = head & !(HDR_W0_SRC_MASK | HDR_W0_OTF_MASK);
        words[1] = words[1] & !HDR_W1_PGID_MASK | u64::from(self.pgid);
        Due::Packet(Packet::new(words, asks(head)))
    }

    /// The packet that a kind of packets (0 AOTF, 1 BOTF) begins with next. Refused stores and kicks before it are
    /// over, and reported.
    pub fn next(&self, kind: usize) -> Option<&Packet> {
        let mut due: Box<dyn Iterator<Item = &Due>> = match kind {
            0 => Box::new(self.aotf.iter()),
            _ => Box::new(self.botf.iter().map(|(_, due)| due)),
        };
        due.find_map(|due| match due {
            Due::Packet(packet) => Some(packet),
            Due::Refused(_) => None,
        })
    }
}
