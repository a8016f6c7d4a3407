//! Golden model of the send controller: a message of a queue becomes words on the network, a send flag, or nothing.

use crate::ap1000p::golden::address_runs::places;
use crate::ap1000p::golden::creg;
use crate::ap1000p::regs::*;
use crate::net::torus::Class;

/// The shape of a message, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A command with data from the sender: PUT, or the reply of a GET.
    Put,
    /// The same into a ring buffer.
    Send,
    /// A command of unchanged words.
    Command,
    /// Any number of unchanged words.
    Raw,
}

/// The shape and the class of a kind; `None` if there is no such message.
pub fn shape(kind: u16) -> Option<(Shape, Class)> {
    let has = |mask: u32| u32::from(kind) & mask != 0;
    let number = u32::from(kind) & PAGE_KIND_MASK;
    Some(if has(PAGE_DIRECT_MASK) {
        match number {
            MADE_GET_REPLY => (Shape::Put, Class::Reply),
            MADE_ATOMIC_REPLY | MADE_LOAD_REPLY | MADE_STORE_ACK => (Shape::Raw, Class::Reply),
            MADE_LOAD | MADE_STORE => (Shape::Raw, Class::Request),
            _ => return None,
        }
    } else {
        match number {
            KIND_PUT if has(PAGE_SEND_MASK) => (Shape::Send, Class::Request),
            KIND_PUT => (Shape::Put, Class::Request),
            KIND_GET | KIND_CSI | KIND_FOP => (Shape::Command, Class::Request),
            _ => return None,
        }
    })
}

/// A cell of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub at: [u8; 2],
    /// Cells along X and Y, 1 or more.
    pub size: [u8; 2],
}

impl Place {
    /// The cell at these distances, modulo the torus.
    pub fn away(&self, distance: [i8; 2]) -> [u8; 2] {
        [0, 1].map(|axis| {
            (i16::from(self.at[axis]) + i16::from(distance[axis])).rem_euclid(i16::from(self.size[axis])) as u8
        })
    }

    /// The first word of a message.
    pub fn route(&self, to: [u8; 2], scope: u32, class: Class) -> u32 {
        u32::from(to[0]) << MESSAGE_ROUTE_X_SHIFT
            | u32::from(to[1]) << MESSAGE_ROUTE_Y_SHIFT
            | scope << MESSAGE_ROUTE_SCOPE_SHIFT
            | u32::from(class == Class::Reply) << MESSAGE_ROUTE_REPLY_SHIFT
    }

    /// The second one.
    pub fn what(&self, kind: u16) -> u32 {
        u32::from(self.at[0]) << MESSAGE_WHAT_X_SHIFT
            | u32::from(self.at[1]) << MESSAGE_WHAT_Y_SHIFT
            | u32::from(kind) << MESSAGE_WHAT_KIND_SHIFT
    }
}

/// An address space and the rights in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSpace {
    /// 12 bits.
    pub context: u16,
    pub system: bool,
}

/// The place of a word of a message's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At this address of an address space.
    Memory(AddressSpace, u32),
    /// In this communication register, which a read empties. Strides are ignored.
    Register(u8),
}

/// The effect of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Words on the network; none if the message was dropped.
    pub words: Vec<u32>,
    /// Words to the cell itself, not over the network.
    pub local: bool,
    /// Logical address of the flag that counts when the last word has left.
    pub flag: Option<(AddressSpace, u32)>,
    /// The class has no such kind, or the kind needs eight words.
    pub bad: bool,
    /// The data could not be read completely.
    pub cut: bool,
}

impl AddressSpace {
    pub fn of(kind: u16, length: u32) -> AddressSpace {
        AddressSpace {
            context: (length >> COMMAND_LENGTH_CONTEXT_SHIFT) as u16,
            system: u32::from(kind) & PAGE_SYSTEM_MASK != 0,
        }
    }
}

/// The places in memory of a message's data, if it has any. A command is put back if the translation of the first one
/// is missing. It may also be put back for a later one, until a word of it has gone out.
pub fn data(message: &[u32], class: Class) -> Option<(AddressSpace, impl Iterator<Item = u32>)> {
    let kind = (*message.first()? >> COMMAND_HEAD_KIND_SHIFT) as u16;
    let (shape, _) = shape(kind).filter(|&(_, of)| of == class)?;
    let (addr, stride) = match shape {
        Shape::Put => (6, 7),
        Shape::Send => (4, 5),
        Shape::Command | Shape::Raw => return None,
    };
    let words = message.get(1)? & COMMAND_LENGTH_WORDS_MASK;
    let in_memory = message.len() == COMMAND_WORDS as usize && u32::from(kind) & PAGE_AS_SEND_MASK == 0;
    let owner = AddressSpace::of(kind, message[1]);
    (in_memory && words > 0).then(|| (owner, places(message[addr], message[stride], words)))
}

/// Sends a message of at least one word; `read` returns a word, or `None` if it is unreadable.
pub fn send(message: &[u32], class: Class, place: Place, mut read: impl FnMut(Origin) -> Option<u32>) -> Sent {
    let head = message[0];
    let kind = (head >> COMMAND_HEAD_KIND_SHIFT) as u16;
    let Some((shape, _)) = shape(kind).filter(|&(_, of)| of == class) else {
        return Sent {
            bad: true,
            ..Sent::default()
        };
    };
    let whole = message.len() == COMMAND_WORDS as usize;
    let taken = &message[..message.len().min(COMMAND_WORDS as usize)];
    let scope = (u32::from(kind) / PAGE_ROW_MASK) & 3;
    let to = place.away([
        (head >> COMMAND_HEAD_DX_SHIFT) as i8,
        (head >> COMMAND_HEAD_DY_SHIFT) as i8,
    ]);
    let mut sent = Sent {
        words: vec![place.route(to, scope, class), place.what(kind)],
        local: scope == 0 && to == place.at,
        bad: message.len() > COMMAND_WORDS as usize || (shape != Shape::Raw && !whole),
        ..Sent::default()
    };
    // The sender's own words are not sent, except the last word of a SEND that ends within them.
    let own = match shape {
        Shape::Put => 5..8,
        Shape::Send => 3..6,
        Shape::Command | Shape::Raw => 8..8,
    };
    sent.words.extend(
        (1..taken.len())
            .filter(|i| !own.contains(i) || (shape == Shape::Send && i + 1 == taken.len()))
            .map(|i| taken[i]),
    );
    if !own.is_empty() && taken.len() == COMMAND_WORDS as usize {
        let [flag, addr, stride] = if shape == Shape::Put { [5, 6, 7] } else { [3, 4, 5] }.map(|i| taken[i]);
        let (owner, words) = (AddressSpace::of(kind, taken[1]), taken[1] & COMMAND_LENGTH_WORDS_MASK);
        let registers = (u32::from(kind) & PAGE_AS_SEND_MASK != 0).then(|| creg::range(addr, words));
        for (n, at) in places(addr, stride, words).enumerate() {
            let origin = match &registers {
                None => Some(Origin::Memory(owner, at)),
                Some(range) => range.as_ref().map(|range| Origin::Register(range.start + n as u8)),
            };
            match origin.and_then(&mut read) {
                Some(word) => sent.words.push(word),
                None => {
                    sent.cut = true;
                    return sent;
                }
            }
        }
        sent.flag = (flag != 0).then_some((owner, flag));
    }
    sent
}
