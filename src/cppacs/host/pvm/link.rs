//! A task's end of the network: areas, fields, pieces of messages and their acknowledgements.
//!
//! For each source node the receiver has one field with one or two areas. The count of pieces says which area the next
//! one is in. Each task has one field for acknowledgements, 8 bytes a peer.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;

use super::error::{CallError, Fault, PvmError, Result};
use super::inbox::Inbox;
use super::tid;
use crate::cppacs::host::transport::{Area, Channel, Strided, Transport};
use crate::{Addr, NodeId, Picos};

/// Bytes of a piece's header.
pub const HEADER: u32 = 64;
const SEND_AREAS: u32 = 3;
const NAME: &str = "pvm";
/// Number of the field for acknowledgements; those for data have the number of their source.
const ACKS: u16 = u16::MAX;

/// Before each piece in its area.
struct Header {
    tag: i32,
    bytes: u32,
    piece: u32,
    pieces: u32,
    piece_bytes: u32,
    sequence: u32,
    encoding: u32,
}

impl Header {
    /// The context, word 1, is always 0.
    fn words(&self) -> [u32; 8] {
        let Header {
            tag,
            bytes,
            piece,
            pieces,
            piece_bytes,
            sequence,
            encoding,
        } = *self;
        [tag as u32, 0, bytes, piece, pieces, piece_bytes, sequence, encoding]
    }

    fn parse(bytes: &[u8]) -> Header {
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("4 bytes"));
        Header {
            tag: word(0) as i32,
            bytes: word(2),
            piece: word(3),
            pieces: word(4),
            piece_bytes: word(5),
            sequence: word(6),
            encoding: word(7),
        }
    }
}

/// What two tasks have for each other.
struct Peer<T: Transport> {
    data: T::Right,
    ack: T::Right,
    field: T::Field,
    /// Pieces sent to it, and taken from it.
    sent: Cell<u32>,
    taken: Cell<u32>,
    /// The message that is being put together.
    part: RefCell<Vec<u8>>,
    /// The last acknowledgement to it.
    acked: RefCell<Option<T::Sent>>,
}

pub struct Link<T: Transport> {
    pub transport: T,
    area: Area,
    /// How many tasks there are, on the first nodes.
    tasks: usize,
    /// By node.
    peers: RefCell<Vec<Option<Peer<T>>>>,
    /// The transfer that still reads each send area.
    reading: RefCell<Vec<Option<T::Sent>>>,
    /// Which of the two areas for overflow is next.
    next: Cell<u32>,
    inbox: Rc<Inbox>,
}

/// Bytes of one node's communication area.
pub fn area_bytes(area: u32, buffers: u32, tasks: usize) -> u64 {
    let tasks = tasks as u64;
    let areas = u64::from(SEND_AREAS) + (tasks - 1) * u64::from(buffers);
    areas * u64::from(area + HEADER) + 2 * 8 * tasks
}

impl<T: Transport> Link<T> {
    fn fault(&self, why: impl Error + Send + Sync + 'static) -> CallError {
        let (node, why) = (self.node(), Arc::new(why));
        Fault::Library { node, why }.into()
    }

    fn node(&self) -> NodeId {
        self.transport.host().node()
    }

    fn stride(&self) -> u32 {
        self.transport.config().pvm_area + HEADER
    }

    fn buffers(&self) -> u32 {
        self.transport.config().pvm_buffers
    }

    fn send_area(&self, n: u32) -> Addr {
        self.area.addr.offset(n * self.stride())
    }

    /// Where the areas of a source begin, from the area's start.
    fn from(&self, source: NodeId) -> u32 {
        let before = u32::from(source.0) - u32::from(source > self.node());
        (SEND_AREAS + before * self.buffers()) * self.stride()
    }

    /// Where the acknowledgements of all peers come in (0), or leave from (1).
    fn acks(&self, out: u32) -> u32 {
        let tasks = self.tasks as u32;
        (SEND_AREAS + (tasks - 1) * self.buffers()) * self.stride() + out * 8 * tasks
    }

    /// Makes area and fields. The rights follow with [`connect`](Link::connect), when all nodes have their fields.
    pub async fn open(transport: T, inbox: Rc<Inbox>, tasks: usize) -> Result<(Rc<Link<T>>, Vec<Option<T::Field>>)> {
        let config = transport.config().clone();
        let node = transport.host().node();
        let bytes = area_bytes(config.pvm_area, config.pvm_buffers, tasks);
        let fault = |why: T::Error| {
            CallError::from(Fault::Library {
                node,
                why: Arc::new(why),
            })
        };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let area = transport.object(NAME, bytes).await.map_err(fault)?;
        let link = Link {
            transport: transport.clone(),
            area,
            tasks,
            peers: RefCell::default(),
            reading: RefCell::new((0..SEND_AREAS).map(|_| None).collect()),
            next: Cell::new(0),
            inbox,
        };
        let mut fields = Vec::new();
        for source in (0..tasks).map(|n| NodeId(n as u16)) {
            fields.push(if source == node {
                None
            } else {
                let bytes = link.buffers() * link.stride();
                let field = transport.create_field(&area, link.from(source), bytes, source.0).await;
                Some(field.map_err(fault)?)
            });
        }
        let acks = transport
            .create_field(&area, link.acks(0), 8 * tasks as u32, ACKS)
            .await;
        acks.map_err(fault)?;
        Ok((Rc::new(link), fields))
    }

    /// Gets the rights of all peers.
    pub async fn connect(&self, fields: Vec<Option<T::Field>>) -> Result<()> {
        let (me, wait) = (self.node(), self.transport.config().wait_bound);
        let mut peers = Vec::new();
        for (node, field) in fields.into_iter().enumerate() {
            let Some(field) = field else {
                peers.push(None);
                continue;
            };
            let to = NodeId(node as u16);
            let data = self.transport.get_sendright(to, NAME, me.0, wait).await;
            let ack = self.transport.get_sendright(to, NAME, ACKS, wait).await;
            peers.push(Some(Peer {
                data: data.map_err(|e| self.fault(e))?,
                ack: ack.map_err(|e| self.fault(e))?,
                field,
                sent: Cell::new(0),
                taken: Cell::new(0),
                part: RefCell::default(),
                acked: RefCell::default(),
            }));
        }
        *self.peers.borrow_mut() = peers;
        Ok(())
    }

    fn peer<R>(&self, node: NodeId, f: impl FnOnce(&Peer<T>) -> R) -> R {
        f(self.peers.borrow()[node.index()].as_ref().expect("another node"))
    }

    /// Before the first send area is packed anew.
    pub async fn reuse(&self, n: u32) {
        let reading = self.reading.borrow_mut()[n as usize].take();
        if let Some(sent) = reading {
            self.transport.wait_sent(&sent).await;
        }
    }

    /// Packs straight into the first send area; how many bytes found room.
    pub fn pack(&self, at: usize, bytes: &[u8]) -> usize {
        let room = (self.transport.config().pvm_area as usize).saturating_sub(at);
        let fits = room.min(bytes.len());
        let to = self.send_area(0).offset(HEADER + at.min(u32::MAX as usize) as u32);
        if fits > 0 {
            self.transport.host().write(to, &bytes[..fits]);
        }
        fits
    }

    /// Sends a message; `in_area`: the first send area has its beginning.
    pub async fn send(&self, to: NodeId, tag: i32, data: &[u8], in_area: bool) -> Result<()> {
        let config = self.transport.config();
        let room = config.pvm_area as usize;
        let pieces = data.len().div_ceil(room).max(1);
        self.transport.work(config.pvm_send_cost).await;
        for piece in 0..pieces {
            let bytes = &data[piece * room..data.len().min((piece + 1) * room)];
            let sequence = self.peer(to, |peer| peer.sent.get());
            self.wait_for_ack(to, sequence).await?;
            let area = if piece == 0 && in_area {
                self.reuse(0).await;
                0
            } else {
                let area = 1 + self.next.replace(1 - self.next.get());
                self.reuse(area).await;
                self.transport.work(span(config.copy_extra, bytes.len())).await;
                let at = self.send_area(area).offset(HEADER);
                self.transport.host().write(at, bytes);
                area
            };
            let header = Header {
                tag,
                bytes: data.len() as u32,
                piece: piece as u32,
                pieces: pieces as u32,
                piece_bytes: bytes.len() as u32,
                sequence,
                encoding: 1,
            };
            let words: Vec<u8> = header.words().iter().flat_map(|w| w.to_le_bytes()).collect();
            self.transport.host().write(self.send_area(area), &words);
            self.kick(to, area, sequence, bytes.len() as u32).await?;
        }
        Ok(())
    }

    async fn kick(&self, to: NodeId, area: u32, sequence: u32, bytes: u32) -> Result<()> {
        let from = Strided::whole(self.send_area(area), (HEADER + bytes).next_multiple_of(8));
        let (right, offset) = self.peer(to, |peer| {
            peer.sent.set(sequence + 1);
            (peer.data.clone(), sequence % self.buffers() * self.stride())
        });
        let sent = self.transport.send(from, &right, offset, Channel::Data).await;
        self.reading.borrow_mut()[area as usize] = Some(sent.map_err(|e| self.fault(e))?);
        Ok(())
    }

    /// The area for this piece is free at the receiver. Who waits here also takes what comes: two that send each other
    /// more than their areas hold would else wait for ever.
    async fn wait_for_ack(&self, to: NodeId, sequence: u32) -> Result<()> {
        let at = self.area.addr.offset(self.acks(0) + 8 * u32::from(to.0));
        loop {
            let acked = self.transport.host().read(at, 8);
            let acked = u32::from_le_bytes(acked[..4].try_into().expect("4 bytes"));
            if sequence - acked < self.buffers() {
                return Ok(());
            }
            if !self.take_any().await? {
                let what = format!("t{:x} to take what was sent", tid(to));
                self.inbox.wait(what, self.transport.changed()).await;
            }
        }
    }

    /// Takes one piece of each source that has any; whether there was one.
    pub async fn take_any(&self) -> Result<bool> {
        let mut took = false;
        let nodes = self.peers.borrow().len();
        for node in (0..nodes).map(|n| NodeId(n as u16)).filter(|&n| n != self.node()) {
            if self.peer(node, |peer| self.transport.count(&peer.field) > peer.taken.get()) {
                self.take(node).await?;
                took = true;
            }
        }
        Ok(took)
    }

    /// Copies a piece out, acknowledges it, and queues the message if it is whole.
    async fn take(&self, from: NodeId) -> Result<()> {
        let (config, host) = (self.transport.config(), self.transport.host());
        self.transport.work(config.receive_poll).await;
        let taken = self.peer(from, |peer| peer.taken.get());
        let at = self
            .area
            .addr
            .offset(self.from(from) + taken % self.buffers() * self.stride());
        let header = Header::parse(&host.read(at, HEADER));
        assert_eq!(header.sequence, taken, "pieces come in order");
        self.transport
            .occupy(span(config.copy_extra, header.piece_bytes as usize))
            .await;
        let bytes = host.read(at.offset(HEADER), header.piece_bytes);
        let whole = self.peer(from, |peer| {
            peer.taken.set(taken + 1);
            peer.part.borrow_mut().extend(bytes);
            (header.piece + 1 == header.pieces).then(|| peer.part.take())
        });
        self.acknowledge(from, taken + 1).await?;
        if let Some(data) = whole {
            assert_eq!(data.len(), header.bytes as usize, "a message is as long as it says");
            self.inbox.put(from, header.tag, data);
        }
        Ok(())
    }

    async fn acknowledge(&self, to: NodeId, taken: u32) -> Result<()> {
        let (config, host) = (self.transport.config(), self.transport.host());
        let rdma = config.send_setup + config.syscall;
        self.transport.work(config.pvm_ack_cost.saturating_sub(rdma)).await;
        let (right, last) = self.peer(to, |peer| (peer.ack.clone(), peer.acked.take()));
        if let Some(last) = last {
            self.transport.wait_sent(&last).await;
        }
        let from = self.area.addr.offset(self.acks(1) + 8 * u32::from(to.0));
        host.write(from, &u64::from(taken).to_le_bytes());
        let offset = 8 * u32::from(self.node().0);
        let sent = self
            .transport
            .send(Strided::whole(from, 8), &right, offset, Channel::Ack)
            .await;
        let sent = sent.map_err(|e| self.fault(e))?;
        self.peer(to, |peer| *peer.acked.borrow_mut() = Some(sent));
        Ok(())
    }

    /// What is left of memory for messages.
    pub fn check_room(&self, bytes: usize) -> Result<(), PvmError> {
        let left = self.transport.config().mem_bytes - self.area.addr.0 - self.area.bytes;
        if bytes as u64 > left.into() {
            return Err(PvmError::NoMem);
        }
        Ok(())
    }
}

/// The time of a copy.
pub fn span(ns_a_byte: f64, bytes: usize) -> Picos {
    Picos::from_us(ns_a_byte * bytes as f64 / 1000.0)
}
