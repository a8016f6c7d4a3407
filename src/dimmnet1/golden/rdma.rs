//! Golden model of `dimmnet1_rdma`: RDMA engine.
//!
//! What a descriptor becomes, packet by packet, and what a PULL request is answered with. Translation, credit and
//! memory are the caller's: it steps from piece to piece.

use crate::dimmnet1::regs as r;

/// A descriptor, with the stamp at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// RDMA_WHAT.
    pub what: u64,
    pub local: u64,
    pub remote: u64,
    pub bytes: u32,
    pub slot: u8,
    pub pgid: u16,
}

/// The part of a descriptor that one packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub local: u64,
    pub remote: u64,
    pub bytes: u32,
    pub last: bool,
}

const PAGE: u64 = r::SIZE_PAGE as u64;
const OFFSET: u64 = r::HDR_W2_OFFSET_MASK;

impl Descriptor {
    fn has(&self, flag: u64) -> bool {
        self.what & flag != 0
    }

    /// Whether it asks for data of another node.
    pub fn pulls(&self) -> bool {
        self.what & r::HDR_W0_TYPE_MASK == u64::from(r::TYPE_PULL)
    }

    /// Whether its packets ask for an answer, and so need credit.
    pub fn asks(&self) -> bool {
        self.pulls() || self.has(r::HDR_W0_ACK_REQ_MASK)
    }

    /// Where its packets go.
    pub fn destination(&self) -> u16 {
        (self.what >> r::HDR_W0_DST_SHIFT) as u16
    }

    /// # Errors
    /// Why it is refused: a code of Reasons.
    pub fn pieces(&self) -> Result<Vec<Piece>, u8> {
        let kind = (self.what & r::HDR_W0_TYPE_MASK) as u32;
        let known = kind == r::TYPE_PUSH || self.pulls() || kind >= r::TYPE_INDIRECT;
        if !known || (self.has(r::HDR_W0_MULTICAST_MASK) && self.asks()) {
            return Err(r::REASON_TYPE as u8);
        }
        if self.bytes == 0 || (self.local | self.remote) & 7 != 0 {
            return Err(r::REASON_LENGTH as u8);
        }
        let (mut done, mut pieces) = (0, Vec::new());
        while done < self.bytes {
            let after = |address: u64| address & !OFFSET | (address + u64::from(done)) & OFFSET;
            // The address of a type of the far processor names a cell, which all packets have as it is.
            let is_cell = kind >= r::TYPE_INDIRECT;
            let (local, remote) = (
                after(self.local),
                if is_cell { self.remote } else { after(self.remote) },
            );
            let room = PAGE - (local % PAGE).max(if is_cell { 0 } else { remote % PAGE });
            let bytes = (room as u32).min(self.bytes - done);
            done += bytes;
            let last = done == self.bytes;
            pieces.push(Piece {
                local,
                remote,
                bytes,
                last,
            });
        }
        Ok(pieces)
    }

    /// The packet of a piece. `data` are the good bytes; fewer than the piece's: memory refused the rest.
    pub fn packet(&self, piece: &Piece, generation: u16, data: &[u8]) -> Vec<u64> {
        let keep = r::HDR_W0_TYPE_MASK | r::HDR_W0_F_SEQ_MASK | r::HDR_W0_MULTICAST_MASK | r::HDR_W0_DST_MASK;
        let mut w0 = self.what & keep | u64::from(piece.bytes) << r::HDR_W0_LENGTH_SHIFT;
        if self.asks() {
            w0 |= r::HDR_W0_ACK_REQ_MASK;
        }
        if piece.last {
            w0 |= self.what & r::HDR_W0_LAST_MASK;
        }
        let tag = u64::from(generation) << 4 | u64::from(self.slot);
        let w1 = u64::from(self.pgid) | tag << r::HDR_W1_TAG_SHIFT;
        if self.pulls() {
            return vec![w0 | r::HDR_W0_OTF_MASK, w1, piece.remote, piece.local];
        }
        with_data(vec![w0, w1, piece.remote, 0, self.bytes.into(), 0], data)
    }
}

/// A header and its data; bytes beyond them in the last word are 0.
fn with_data(mut words: Vec<u64>, data: &[u8]) -> Vec<u64> {
    words.extend(data.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
    words
}

/// A PULL request as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request(pub [u64; 4]);

impl Request {
    pub fn bytes(&self) -> u32 {
        (self.0[0] >> r::HDR_W0_LENGTH_SHIFT) as u32
    }

    pub fn pgid(&self) -> u16 {
        (self.0[1] & r::HDR_W1_PGID_MASK) as u16
    }

    /// Where the data are.
    pub fn local(&self) -> u64 {
        self.0[2]
    }

    /// # Errors
    /// Why it is refused: a code of Reasons.
    pub fn check(&self) -> Result<(), u8> {
        let fits = (1..=r::SIZE_PACKET).contains(&self.bytes());
        match fits && (self.0[2] | self.0[3]) & 7 == 0 {
            true => Ok(()),
            false => Err(r::REASON_LENGTH as u8),
        }
    }

    /// Header words 0 and 1 of the answer.
    fn answer(&self, kind: u32) -> [u64; 2] {
        let requester = (self.0[0] & r::HDR_W0_SRC_MASK) >> r::HDR_W0_SRC_SHIFT;
        let w0 = u64::from(kind) | requester << r::HDR_W0_DST_SHIFT;
        [w0, self.0[1] & (r::HDR_W1_PGID_MASK | r::HDR_W1_TAG_MASK)]
    }

    /// The answer with these good bytes; fewer than it asked for: memory refused the rest.
    pub fn reply(&self, data: &[u8]) -> Vec<u64> {
        let [w0, w1] = self.answer(r::TYPE_PULL_REPLY);
        let kept = self.0[0] & (r::HDR_W0_LENGTH_MASK | r::HDR_W0_LAST_MASK);
        with_data(vec![w0 | kept, w1, self.0[3], 0, 0, 0], data)
    }

    /// The answer of a refusal.
    pub fn refusal(&self, reason: u8) -> Vec<u64> {
        let [w0, w1] = self.answer(r::TYPE_NACK);
        let sequence = (self.0[1] & r::HDR_W1_SEQ_MASK) >> r::HDR_W1_SEQ_SHIFT;
        let status = u64::from(reason) << r::ANSWER_REASON_SHIFT | sequence << r::ANSWER_SEQ_SHIFT;
        vec![w0 | r::HDR_W0_OTF_MASK, w1, status]
    }
}
