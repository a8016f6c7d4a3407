//! What the lanes of a wave say of AP1000+.

use super::golden::window::register;
use super::names::REGISTERS;
use super::regs::*;
use crate::harness::lane::Terms;
use crate::net::torus::{Cast, Header};

/// Packets of the two classes take turns on a link, word by word. A broadcast has its number where it has come whole
/// first.
pub const TERMS: Terms = Terms {
    registers: REGISTERS.values,
    links: &["_requests", "_replies"],
    packet,
    causes,
};

/// The route has the destination, the second word what it is, and the third one of some kinds how much.
fn packet(words: &[u64]) -> Option<String> {
    let &[route, what] = words.get(..2)? else {
        return None;
    };
    let code = what as u32 >> MESSAGE_WHAT_KIND_SHIFT;
    let name = kind(code);
    let mut text = name.map_or_else(|| format!("kind {code:#x}"), str::to_owned);
    let has_length = matches!(name, Some("PUT" | "SEND" | "GET" | "GET_REPLY"));
    if let Some(length) = words.get(2).filter(|_| has_length) {
        text += &format!(" {} B", 4 * (*length as u32 & COMMAND_LENGTH_WORDS_MASK));
    }
    let Header { x, y, cast, .. } = Header::of(route);
    Some(match cast {
        Cast::One => format!("{text} to {x},{y}"),
        Cast::X => format!("{text} to the row"),
        Cast::Y => format!("{text} to column {x}"),
        Cast::Nobody => format!("{text} to nobody"),
    })
}

/// A page code's kind of message.
fn kind(code: u32) -> Option<&'static str> {
    Some(match (code & PAGE_DIRECT_MASK != 0, code & PAGE_KIND_MASK) {
        (true, MADE_GET_REPLY) => "GET_REPLY",
        (true, MADE_ATOMIC_REPLY) => "ATOMIC_REPLY",
        (true, MADE_LOAD) => "LOAD",
        (true, MADE_STORE) => "STORE",
        (true, MADE_LOAD_REPLY) => "LOAD_REPLY",
        (true, MADE_STORE_ACK) => "STORE_ACK",
        (false, KIND_PUT) if code & PAGE_SEND_MASK != 0 => "SEND",
        (false, KIND_PUT) => "PUT",
        (false, KIND_GET) => "GET",
        (false, KIND_CSI) => "CSI",
        (false, KIND_FOP) => "FOP",
        _ => return None,
    })
}

/// What CAUSE tells the kernel.
fn causes(addr: u64, value: u64) -> String {
    const CAUSES: [(u32, &str); 10] = [
        (CAUSE_FAULT_MASK, "fault"),
        (CAUSE_FILL_MASK, "fill"),
        (CAUSE_FULL_MASK, "full"),
        (CAUSE_REFUSED_MASK, "refused"),
        (CAUSE_BROKEN_MASK, "broken"),
        (CAUSE_BAD_MASK, "bad"),
        (CAUSE_CUT_MASK, "cut"),
        (CAUSE_WORD_MASK, "word"),
        (CAUSE_QUEUE_MASK, "queue"),
        (CAUSE_STRAY_MASK, "stray"),
    ];
    if addr != register(CAUSE) {
        return String::new();
    }
    let told = CAUSES.iter().filter(|(mask, _)| value as u32 & mask != 0);
    told.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ap1000p::golden::send::Place;
    use crate::net::torus::Class;

    /// The first words of a message from cell 1,2 to cell 3,0.
    fn words(kind: u32, scope: u32, class: Class, third: u32) -> Vec<u64> {
        let place = Place {
            at: [1, 2],
            size: [4, 4],
        };
        let words = [place.route([3, 0], scope, class), place.what(kind as u16), third];
        words.map(u64::from).to_vec()
    }

    #[test]
    fn a_packet_is_named_by_its_kind_and_destination() {
        let told = |kind, scope, class| packet(&words(kind, scope, class, 5 << COMMAND_LENGTH_CONTEXT_SHIFT | 300));
        let request = |kind| told(kind, 0, Class::Request).expect("a name");
        assert_eq!(request(KIND_PUT), "PUT 1200 B to 3,0");
        assert_eq!(request(KIND_PUT | PAGE_SEND_MASK), "SEND 1200 B to 3,0");
        assert_eq!(request(PAGE_DIRECT_MASK | MADE_LOAD), "LOAD to 3,0");
        assert_eq!(request(7), "kind 0x7 to 3,0");
        let reply = told(PAGE_DIRECT_MASK | MADE_GET_REPLY, 0, Class::Reply);
        assert_eq!(reply.as_deref(), Some("GET_REPLY 1200 B to 3,0"));
        let column = told(KIND_PUT | PAGE_COLUMN_MASK, 2, Class::Request);
        assert_eq!(column.as_deref(), Some("PUT 1200 B to column 3"));
        let put = words(KIND_PUT, 0, Class::Request, 0);
        assert_eq!(
            (packet(&put[..1]), packet(&put[..2]).as_deref()),
            (None, Some("PUT to 3,0"))
        );
    }

    #[test]
    fn causes_are_those_of_cause() {
        let told = |value| causes(register(CAUSE), u64::from(value));
        assert_eq!(told(CAUSE_FAULT_MASK | CAUSE_BROKEN_MASK), "fault, broken");
        assert_eq!((told(0), causes(register(STATUS), 1)), (String::new(), String::new()));
    }
}
