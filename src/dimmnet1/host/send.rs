//! Sending: by one store, through the windows, by RDMA, and the blocking send over them with its retransmission.

use std::cell::{Cell, RefCell};

use super::layout;
use super::processor::{Processor, Store};
use super::{CommError, Node};
use crate::dimmnet1::golden::packet::{Header, Piece, Place, Reason, Slot, cut, get, put};
use crate::dimmnet1::regs::*;
use crate::dimmnet1::window::aotf;
use crate::harness::sync::Lock;
use crate::{Addr, NodeId};

/// How data leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Through the windows, 464 B a packet.
    Botf,
    /// By the RDMA engine, up to 4096 B a packet.
    Rdma,
}

/// What is sent, beside the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// A code of Types: PUSH, or one for the far processor.
    pub kind: u32,
    pub dst: NodeId,
    /// Where a PUSH writes. With any other type each packet has it as it is.
    pub place: Place,
    pub how: How,
    /// Sequence numbers that are checked. Not with RDMA, whose packets have no number of the software's.
    pub f_seq: bool,
    /// Number of the message, in its packets' W4.
    pub number: u32,
}

impl Message {
    /// A remote write.
    pub fn push(dst: NodeId, place: Place) -> Message {
        Message {
            kind: TYPE_PUSH,
            dst,
            place,
            how: How::Botf,
            f_seq: false,
            number: 0,
        }
    }

    pub fn by(self, how: How) -> Message {
        Message { how, ..self }
    }

    pub fn numbered(self, f_seq: bool) -> Message {
        Message { f_seq, ..self }
    }

    /// Its packets are written one behind the other to where it says, so a repeated one does no harm.
    fn is_push(&self) -> bool {
        let is_direct = self.place.region != layout::INDIRECT_PAGES && self.place.region < layout::INDIRECT_REGION;
        self.kind == TYPE_PUSH && is_direct
    }

    fn cut(&self, bytes: u32) -> Vec<Piece> {
        let place = [self.place.offset];
        cut(bytes, SIZE_BOTF, if self.is_push() { &place } else { &[] }).collect()
    }
}

/// Numbers of the packets with F_SEQ to one node.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// The one that the receiver accepts.
    expected: u32,
    /// The one that the hardware gives the next packet without RESEND.
    hardware: u32,
    /// A send got no answers: the receiver may have accepted some of its packets.
    unsure: bool,
}

/// What a node's programs share of its card's sending side.
pub(super) struct Sender {
    windows: Lock,
    rdma: Lock,
    /// The window that the next packet takes.
    window: Cell<u32>,
    /// Windows that the send under way has kicked, as far as it did not look how that ended.
    kicked: Cell<[bool; 2]>,
    numbers: RefCell<Vec<Numbers>>,
}

impl Sender {
    pub fn new(nodes: usize) -> Sender {
        Sender {
            windows: Lock::new("the windows, used by another program"),
            rdma: Lock::new("RDMA, used by another program"),
            window: Cell::new(0),
            kicked: Cell::default(),
            numbers: RefCell::new(vec![Numbers::default(); nodes]),
        }
    }
}

/// Packets of one message that leave together.
struct Burst<'a> {
    message: &'a Message,
    data: &'a [u8],
    pieces: &'a [Piece],
    /// Number of the first piece.
    first: u32,
}

impl Burst<'_> {
    /// The header of a piece. Where the hardware's numbers are not the receiver's, the software gives its own.
    fn header(&self, at: usize, resend: bool) -> Header {
        let (message, piece) = (self.message, self.pieces[at]);
        let flag = |mask: u64, on: bool| if on { mask } else { 0 };
        let step = if message.is_push() { piece.at } else { 0 };
        Header {
            kind: message.kind,
            flags: HDR_W0_ACK_REQ_MASK
                | flag(HDR_W0_F_SEQ_MASK, message.f_seq)
                | flag(HDR_W0_RESEND_MASK, message.f_seq && resend)
                | flag(HDR_W0_LAST_MASK, at + 1 == self.pieces.len()),
            dst: message.dst.0,
            length: piece.bytes,
            pgid: layout::PGID,
            tag: layout::SLOT_BOTF.into(),
            seq: self.first.wrapping_add(at as u32),
            place: message.place.plus(step.into()),
            soft: [0, u64::from(message.number) << 32 | self.data.len() as u64, 0],
            ..Header::default()
        }
    }

    fn data(&self, at: usize) -> &[u8] {
        let Piece { at, bytes } = self.pieces[at];
        &self.data[at as usize..(at + bytes) as usize]
    }

    /// Which piece has this number, of which the low bits are known.
    fn piece_of(&self, seq: u32) -> usize {
        const LOW: u32 = (1 << Slot::SEQ_BITS) - 1;
        (seq.wrapping_sub(self.first) & LOW) as usize
    }
}

impl Node {
    /// AOTF: one store writes 1, 2, 4 or 8 bytes into LLCM of `dst`. `offset` is in its first page. Nothing tells when
    /// it is there. These stores stay in order; nothing else of the node stays in order with them.
    ///
    /// # Errors
    /// No such node, or no such place.
    pub async fn aotf_write(&self, dst: NodeId, offset: u32, bytes: u8, value: u64) -> Result<(), CommError> {
        self.check_node(dst)?;
        self.aotf(layout::words_of(dst), offset, bytes, value).await
    }

    /// The same to all nodes, this one too, by the switch's multicast.
    ///
    /// # Errors
    /// No such place.
    pub async fn aotf_write_all(&self, offset: u32, bytes: u8, value: u64) -> Result<(), CommError> {
        self.aotf(layout::WORDS_OF_ALL, offset, bytes, value).await
    }

    pub(super) async fn aotf(&self, page: u32, offset: u32, bytes: u8, value: u64) -> Result<(), CommError> {
        let in_word = offset % 8 + u32::from(bytes) <= 8 && [1, 2, 4, 8].contains(&bytes);
        if !in_word || offset >= SIZE_PAGE {
            return Err(CommError::NoWord { offset, bytes });
        }
        let addr = aotf(page, offset);
        self.processor.store(Store { addr, bytes, value }).await;
        Ok(())
    }

    /// BOTF: one packet writes 1 to 464 bytes at `src` to `place` of `dst`, within a page. Returns when it is in a
    /// window. Nothing tells when it is there. Packets of windows stay in order; a store to a page of AOTF may overtake
    /// those that still wait in a window.
    ///
    /// # Errors
    /// What is refused here; what the card refused of the packet before in the window.
    pub async fn botf_send(&self, dst: NodeId, place: Place, src: Addr, bytes: u32) -> Result<(), CommError> {
        self.check_message(&Message::push(dst, place), src, bytes)?;
        let most = SIZE_BOTF;
        if bytes > most {
            return Err(CommError::TooLong { bytes, most });
        }
        if cut(bytes, most, &[place.offset]).count() > 1 {
            let remote = place.offset;
            return Err(CommError::AcrossPage { bytes, remote });
        }
        self.processor.host.delay(self.config().send_call).await;
        let _turn = self.sender.windows.hold().await;
        let header = Header {
            kind: TYPE_PUSH,
            flags: HDR_W0_LAST_MASK,
            dst: dst.0,
            length: bytes,
            pgid: layout::PGID,
            place,
            soft: [0, bytes.into(), 0],
            ..Header::default()
        };
        self.kick(&header, &self.read(src, bytes)).await
    }

    /// Waits until all packets in windows have left the card.
    ///
    /// # Errors
    /// They do not for as long as the library waits, or the card refused one.
    pub async fn botf_wait(&self) -> Result<(), CommError> {
        self.windows_sent(None).await
    }

    /// Blocking send: returns when the receiver has said that all of `bytes` at `src` are where they belong. Packets
    /// that had no room there, or that followed one that had none, are sent again.
    ///
    /// # Errors
    /// [`CommError`]: what is refused here, what the receiver refused, or that it does not answer.
    pub async fn send(&self, message: &Message, src: Addr, bytes: u32) -> Result<(), CommError> {
        self.check_message(message, src, bytes)?;
        self.processor.host.delay(self.config().send_call).await;
        match message.how {
            How::Botf => {
                let data = self.read(src, bytes);
                self.send_windows(message, &data).await
            }
            How::Rdma => self.send_rdma(message, src, bytes).await,
        }
    }

    pub(super) fn check_message(&self, message: &Message, src: Addr, bytes: u32) -> Result<(), CommError> {
        self.check_node(message.dst)?;
        let (node, reason) = (self.id(), Reason::Type);
        if message.kind != TYPE_PUSH && message.kind < TYPE_INDIRECT {
            return Err(CommError::Unsent { node, reason });
        }
        let whole = message.place.offset.is_multiple_of(8);
        let aligned = whole && (message.how == How::Botf || src.0.is_multiple_of(8));
        if bytes == 0 {
            Err(CommError::Empty)
        } else if !aligned {
            Err(CommError::NotAligned {
                local: src,
                remote: message.place.offset,
            })
        } else if !self.layout.is_user(src, bytes) {
            Err(CommError::NotUser { addr: src, bytes })
        } else {
            Ok(())
        }
    }

    /// All pieces, and those again that had no room.
    async fn send_windows(&self, message: &Message, data: &[u8]) -> Result<(), CommError> {
        let _turn = self.sender.windows.hold().await;
        self.sender.kicked.set([false; 2]);
        if message.f_seq {
            self.ask_for_number(message.dst).await?;
        }
        let result = self.send_pieces(message, data).await;
        let numbers = &mut self.sender.numbers.borrow_mut()[message.dst.index()];
        numbers.unsure |= message.f_seq && !matches!(result, Ok(()) | Err(CommError::Refused { .. }));
        result
    }

    /// Asks a receiver for the number that it expects, if that is not sure, by a packet that is far ahead. It is
    /// refused.
    async fn ask_for_number(&self, dst: NodeId) -> Result<(), CommError> {
        const AHEAD: u32 = 1 << (Slot::SEQ_BITS - 1);
        let Numbers { expected, unsure, .. } = self.sender.numbers.borrow()[dst.index()];
        if !unsure {
            return Ok(());
        }
        let message = Message::push(dst, Place::new(layout::MEMORY, 0)).numbered(true);
        let burst = Burst {
            message: &message,
            data: &[0; 8],
            pieces: &[Piece { at: 0, bytes: 8 }],
            first: expected.wrapping_add(AHEAD),
        };
        self.send_piece(&burst, 0).await?;
        self.windows_sent(None).await?;
        let slot = self.answers(layout::SLOT_BOTF, dst).await?;
        self.clear_slot(layout::SLOT_BOTF).await;
        let behind = burst.piece_of(slot.seq).wrapping_add(AHEAD as usize) as u32;
        let numbers = &mut self.sender.numbers.borrow_mut()[dst.index()];
        (numbers.expected, numbers.unsure) = (expected.wrapping_add(behind % (2 * AHEAD)), false);
        Ok(())
    }

    async fn send_pieces(&self, message: &Message, data: &[u8]) -> Result<(), CommError> {
        let pieces = message.cut(data.len() as u32);
        let dst = message.dst.index();
        let burst = Burst {
            message,
            data,
            pieces: &pieces,
            first: self.sender.numbers.borrow()[dst].expected,
        };
        let deadline = self.processor.deadline();
        let mut from = 0;
        while from < pieces.len() {
            for at in from..pieces.len() {
                self.send_piece(&burst, at).await?;
            }
            self.windows_sent(None).await?;
            let slot = self.answers(layout::SLOT_BOTF, message.dst).await?;
            let Some(reason) = slot.reason else {
                from = pieces.len();
                break;
            };
            self.clear_slot(layout::SLOT_BOTF).await;
            let accepted = burst.piece_of(slot.seq).clamp(from, pieces.len());
            if message.f_seq {
                from = accepted;
            }
            let repeats = message.f_seq || message.is_push() || pieces.len() == 1;
            if !repeats || !is_passing(reason, message.f_seq) || self.now() > deadline {
                self.sender.numbers.borrow_mut()[dst].expected += if message.f_seq { from as u32 } else { 0 };
                return Err(self.refused(message.dst, reason));
            }
            if reason == Reason::Overflow {
                self.processor.host.delay(self.config().retry).await;
            }
        }
        self.sender.numbers.borrow_mut()[dst].expected += if message.f_seq { from as u32 } else { 0 };
        Ok(())
    }

    async fn send_piece(&self, burst: &Burst<'_>, at: usize) -> Result<(), CommError> {
        let header = burst.header(at, self.gives_number(burst, at));
        self.kick(&header, burst.data(at)).await
    }

    /// Fills a window with a packet and kicks it.
    async fn kick(&self, header: &Header, data: &[u8]) -> Result<(), CommError> {
        const KICKS: [u32; 2] = [KICK0, KICK1];
        const WINDOWS: [u32; 2] = [WINDOW0, WINDOW1];
        let (processor, config) = (&self.processor, self.config());
        let window = self.sender.window.get() % config.windows;
        self.sender.window.set(window + 1);
        self.windows_sent(Some(window)).await?;
        let data = data.chunks(8).map(crate::dimmnet1::golden::packet::word);
        let words = header.encode().into_iter().chain(data);
        let places = (WINDOWS[window as usize]..).step_by(8);
        let stores = places.zip(words).map(|(addr, word)| Store::word(addr, word));
        processor.stores(config.wc_word, stores).await;
        processor.host.delay(config.fence).await;
        processor.store(Store::word(KICKS[window as usize], 1)).await;
        let mut kicked = self.sender.kicked.get();
        kicked[window as usize] = true;
        self.sender.kicked.set(kicked);
        Ok(())
    }

    /// Whether the software gives a piece its number; else the hardware does, and counts.
    fn gives_number(&self, burst: &Burst<'_>, at: usize) -> bool {
        if !burst.message.f_seq {
            return false;
        }
        let mut all = self.sender.numbers.borrow_mut();
        let numbers = &mut all[burst.message.dst.index()];
        let is_hardwares = numbers.hardware == burst.first.wrapping_add(at as u32);
        numbers.hardware += u32::from(is_hardwares);
        !is_hardwares
    }

    /// Waits until a window is free, or both are. An error that another send left there does not count.
    async fn windows_sent(&self, window: Option<u32>) -> Result<(), CommError> {
        const BUSY: [u64; 2] = [WINDOWS_BUSY0_MASK, WINDOWS_BUSY1_MASK];
        const ERRORS: [u64; 2] = [WINDOWS_ERROR0_MASK, WINDOWS_ERROR1_MASK];
        let waits = [0, 1].map(|at| window.is_none_or(|window| window == at));
        let busy = (0..2).filter(|at| waits[*at]).map(|at| BUSY[at]).sum::<u64>();
        let (node, what) = (self.id(), "a window");
        let state = self.processor.poll(WINDOWS.into(), |state| state & busy == 0).await;
        let state = state.map_err(|_| CommError::Stuck { node, what })?;
        let kicked = self.sender.kicked.get();
        self.sender.kicked.set([0, 1].map(|at| kicked[at] && !waits[at]));
        let of = |at: usize| Reason::of(get(ERRORS[at], state) as u32).filter(|_| kicked[at] && waits[at]);
        let refused = of(0).or(of(1));
        refused.map_or(Ok(()), |reason| Err(CommError::Unsent { node, reason }))
    }

    /// Waits until no packet of a slot is open, and gives what it counted.
    async fn answers(&self, slot: u8, dst: NodeId) -> Result<Slot, CommError> {
        let addr = u64::from(SLOTS) + 8 * u64::from(slot);
        let node = self.id();
        match self.processor.poll(addr, |word| Slot::of(word).open == 0).await {
            Ok(word) => Ok(Slot::of(word)),
            Err(word) => {
                self.clear_slot(slot).await;
                let open = Slot::of(word).open;
                Err(CommError::Silent { node, dst, open })
            }
        }
    }

    async fn clear_slot(&self, slot: u8) {
        let at = SLOTS + 8 * u32::from(slot);
        self.processor.store(Store::word(at, 0)).await;
    }

    fn refused(&self, dst: NodeId, reason: Reason) -> CommError {
        let node = self.id();
        CommError::Refused { node, dst, reason }
    }

    async fn send_rdma(&self, message: &Message, src: Addr, bytes: u32) -> Result<(), CommError> {
        let _turn = self.sender.rdma.hold().await;
        let deadline = self.processor.deadline();
        self.processor.host.delay(self.config().rdma_setup).await;
        let what = Header {
            kind: message.kind,
            flags: HDR_W0_ACK_REQ_MASK,
            dst: message.dst.0,
            ..Header::default()
        };
        let local = Place::new(layout::MEMORY, src.0.into());
        loop {
            let Some(reason) = self.rdma(&what, local, message.place, bytes).await? else {
                return Ok(());
            };
            let repeats = message.is_push() || cut(bytes, SIZE_PACKET, &[local.offset]).count() == 1;
            if !repeats || !is_passing(reason, false) || self.now() > deadline {
                return Err(self.refused(message.dst, reason));
            }
            self.processor.host.delay(self.config().retry).await;
        }
    }

    /// RDMA PULL: reads `bytes` at `place` of `dst` into memory at `to`; returns when all are there.
    ///
    /// # Errors
    /// As of [`send`](Node::send).
    pub async fn pull(&self, dst: NodeId, place: Place, to: Addr, bytes: u32) -> Result<(), CommError> {
        let message = Message::push(dst, place).by(How::Rdma);
        self.check_message(&message, to, bytes)?;
        let _turn = self.sender.rdma.hold().await;
        let (processor, config) = (&self.processor, self.config());
        processor.host.delay(config.send_call + config.rdma_setup).await;
        let what = Header {
            kind: TYPE_PULL,
            flags: HDR_W0_OTF_MASK,
            dst: dst.0,
            ..Header::default()
        };
        let local = Place::new(layout::MEMORY, to.0.into());
        let refused = self.rdma(&what, local, place, bytes).await?;
        refused.map_or(Ok(()), |reason| Err(self.refused(dst, reason)))
    }

    /// One descriptor, until all its packets are answered; what the first negative answer says.
    async fn rdma(&self, what: &Header, local: Place, remote: Place, bytes: u32) -> Result<Option<Reason>, CommError> {
        let (processor, node, slot) = (&self.processor, self.id(), layout::SLOT_RDMA);
        let length = put(RDMA_LENGTH_BYTES_MASK, bytes.into()) | put(RDMA_LENGTH_SLOT_MASK, slot.into());
        let stores = [
            Store::word(RDMA_WHAT, what.encode()[0]),
            Store::word(RDMA_LOCAL, local.word()),
            Store::word(RDMA_REMOTE, remote.word()),
            Store::word(RDMA_LENGTH, length),
        ];
        processor.stores(self.config().store, stores).await;
        let state = processor.poll(RDMA.into(), |state| state & RDMA_BUSY_MASK == 0).await;
        let state = state.map_err(|_| CommError::Stuck { node, what: "RDMA" })?;
        let slot_state = self.answers(slot, NodeId(what.dst)).await?;
        if slot_state.nacks > 0 {
            self.clear_slot(slot).await;
        }
        let ended = Reason::of(get(RDMA_ERROR_MASK, state) as u32);
        match ended {
            Some(reason) => Err(CommError::Unsent { node, reason }),
            None => Ok(slot_state.reason),
        }
    }
}

/// Refused now, and perhaps not later.
fn is_passing(reason: Reason, f_seq: bool) -> bool {
    matches!(reason, Reason::Overflow | Reason::Credit) || f_seq && reason == Reason::Sequence
}

impl Processor {
    /// A store to LLCM of this node's own card.
    pub(super) async fn llcm_store(&self, offset: u32, value: u64) {
        self.store(Store::word(LLCM + offset, value)).await;
    }

    /// A load from it.
    pub(super) async fn llcm_load(&self, offset: u32) -> u64 {
        self.load(u64::from(LLCM + offset), 8).await
    }
}
