//! PEs as units of their own, with the links between them. A PE that rests is not evaluated.

use verilated::{Context, Input as _, Port as _, Verilated};

use super::host::{Access, HostPorts};
use super::{Link, Pes, Shown};
use crate::emx::backend::Forged;
use crate::emx::golden::route::{Place, Shape};
use crate::emx::regs::SIZE_CHANNELS;
use crate::rtl::{EmxPePorts as _, EmxPeUnit};

/// Bits of a link's word.
const WORD: usize = 39;
const LINKS: usize = 2;
const CHANNELS: usize = SIZE_CHANNELS as usize;
/// Edges after which a link is still whose sender sees no room.
const STILL: u32 = 2;

/// What is kept of a PE beside its hardware.
#[derive(Default)]
struct Node {
    /// It is evaluated at the next edge, or was at the last one.
    awake: bool,
    ran: bool,
    /// Where the outputs lead, and where the inputs come from: the PE and its input or output.
    next: [(usize, usize); LINKS],
    before: [(usize, usize); LINKS],
    /// Links with a word for it, links that it shows a word, and the room that it shows: as they were carried last.
    incoming: u64,
    shown: u64,
    room: u64,
    /// The links stand still.
    held: bool,
    /// A neighbour's packet for an input, and the edges since it wants to send.
    forged: [Option<(Forged, u32)>; LINKS],
    /// It has the link.
    driven: [bool; LINKS],
}

/// PEs of type `P` and the links between them.
pub struct Composed<P> {
    units: Vec<P>,
    nodes: Vec<Node>,
    gated: bool,
    /// What lines carry while they are not valid.
    junk: Option<u64>,
    context: Context,
}

impl<P: EmxPeUnit> Composed<P> {
    /// With `gated` false, every PE is evaluated at every edge.
    pub fn new(gated: bool) -> Composed<P> {
        let context = Context::new();
        let shape = Shape::new(P::ROW_BITS as u32);
        let place = |pe| shape.place(pe).expect("it is there");
        let number = |at: Place| {
            (0..shape.pes())
                .position(|pe| place(pe) == at)
                .expect("each place has a PE")
        };
        let mut nodes: Vec<Node> = (0..shape.pes()).map(|_| Node::default()).collect();
        for pe in 0..nodes.len() {
            for output in 0..LINKS {
                let (at, input) = shape.link(place(pe as u32), output as u32);
                let to = number(at);
                nodes[pe].next[output] = (to, input as usize);
                nodes[to].before[input as usize] = (pe, output);
            }
        }
        let unit = |pe| P::named(&context, &format!("pe_{pe}"));
        let composed = Composed {
            units: (0..nodes.len()).map(unit).collect(),
            nodes,
            gated,
            junk: None,
            context,
        };
        for (pe, unit) in (0..).zip(&composed.units) {
            unit.pe_i().set(pe);
            unit.host_rsp_ready_i().set_bool(true);
        }
        composed
    }

    /// Lines carry junk by this seed while they are not valid.
    pub fn with_junk(mut self, seed: u64) -> Composed<P> {
        self.junk = Some(seed);
        (0..self.units.len()).for_each(|pe| self.carry_junk(pe, 0));
        self
    }

    /// Puts junk on the links that leave a PE and carry nothing.
    fn carry_junk(&self, pe: usize, time: u32) {
        let (Some(seed), node) = (self.junk, &self.nodes[pe]) else {
            return;
        };
        for (output, (to, input)) in node.next.into_iter().enumerate() {
            if node.shown >> output & 1 == 0 && !self.nodes[to].driven[input] {
                let bits = mixed(seed ^ u64::from(time) << 20 ^ (pe << 4 | output) as u64);
                let other = &self.units[to];
                other.link_in_data_i().set_bits(WORD * input, WORD, bits >> (64 - WORD));
                other.link_in_vc_i().set_bits(2 * input, 2, bits & 3);
                other.link_in_last_i().set_bits(input, 1, bits >> 2 & 1);
            }
        }
    }

    /// Shows the senders of a PE's inputs what room there is.
    fn show_room(&self, pe: usize) {
        let node = &self.nodes[pe];
        for (input, (from, output)) in node.before.into_iter().enumerate() {
            let stands = node.held || self.nodes[from].held || node.forged[input].is_some();
            let channels = node.room >> (CHANNELS * input) & ((1 << CHANNELS) - 1);
            self.units[from]
                .link_out_room_i()
                .set_bits(CHANNELS * output, CHANNELS, if stands { 0 } else { channels });
        }
    }

    /// A word on an input of a PE, or none.
    fn drive(&mut self, pe: usize, input: usize, word: Option<(Forged, usize)>) {
        let (unit, node) = (&self.units[pe], &mut self.nodes[pe]);
        let valid = u64::from(word.is_some());
        unit.link_in_valid_i().set_bits(input, 1, valid);
        node.incoming = node.incoming & !(1 << input) | valid << input;
        node.driven[input] = word.is_some();
        if let Some((forged, at)) = word {
            unit.link_in_data_i().set_bits(WORD * input, WORD, forged.words[at]);
            unit.link_in_vc_i().set_bits(2 * input, 2, forged.channel.into());
            unit.link_in_last_i().set_bits(input, 1, at as u64);
            node.awake = true;
        }
    }

    /// Carries what a PE shows its neighbours.
    #[inline]
    fn carry(&mut self, pe: usize, time: u32) {
        let Composed { units, nodes, .. } = self;
        let unit = &units[pe];
        let (shown, room) = (unit.link_out_valid_o().get(), unit.link_in_room_o().get());
        if shown | nodes[pe].shown != 0 {
            for output in 0..LINKS {
                let ((to, input), valid) = (nodes[pe].next[output], shown >> output & 1);
                if nodes[to].driven[input] {
                    continue;
                }
                let (other, link) = (&units[to], link(unit, output));
                other.link_in_valid_i().set_bits(input, 1, valid);
                nodes[to].incoming = nodes[to].incoming & !(1 << input) | valid << input;
                if let Some(link) = link {
                    other.link_in_data_i().set_bits(WORD * input, WORD, link.word);
                    other.link_in_vc_i().set_bits(2 * input, 2, link.channel);
                    other.link_in_last_i().set_bits(input, 1, link.last.into());
                }
            }
            nodes[pe].shown = shown;
            self.carry_junk(pe, time);
        }
        if room != self.nodes[pe].room {
            self.nodes[pe].room = room;
            self.show_room(pe);
        }
    }
}

/// Bits that depend on all bits of a number.
fn mixed(number: u64) -> u64 {
    let one = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let two = (one ^ one >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    two ^ two >> 31
}

#[inline]
fn link<P: EmxPeUnit>(unit: &P, output: usize) -> Option<Link> {
    unit.link_out_valid_o().bit(output).then(|| Link {
        output,
        channel: unit.link_out_vc_o().get_bits(2 * output, 2),
        word: unit.link_out_data_o().get_bits(WORD * output, WORD),
        last: unit.link_out_last_o().bit(output),
    })
}

impl<P: EmxPeUnit> Pes for Composed<P> {
    fn count(&self) -> usize {
        self.units.len()
    }

    fn wake(&mut self, pe: usize) {
        self.nodes[pe].awake = true;
    }

    fn stirs(&self, pe: usize) -> bool {
        self.nodes[pe].awake
    }

    fn ran(&self, pe: usize) -> bool {
        self.nodes[pe].ran
    }

    fn set_reset(&mut self, reset: bool) {
        self.units.iter().for_each(|unit| unit.rst_i().set_bool(reset));
        for pe in 0..self.nodes.len() {
            for input in 0..LINKS {
                if self.nodes[pe].driven[input] {
                    self.drive(pe, input, None);
                }
            }
            (self.nodes[pe].forged, self.nodes[pe].held) = ([None; LINKS], false);
        }
        (0..self.nodes.len()).for_each(|pe| self.show_room(pe));
    }

    fn edge(&mut self, time: u32) {
        for (unit, node) in self.units.iter().zip(&mut self.nodes) {
            node.ran = node.awake || !self.gated;
            if node.ran {
                unit.time_i().set(time.into());
                unit.rise(1);
            }
        }
        for pe in 0..self.nodes.len() {
            if self.nodes[pe].ran {
                self.carry(pe, time);
            }
        }
        for (unit, node) in self.units.iter().zip(&mut self.nodes) {
            node.awake = node.incoming != 0 || (node.ran && unit.busy_o().is_set());
        }
    }

    #[inline]
    fn shown(&self, pe: usize) -> Shown {
        let unit = &self.units[pe];
        Shown {
            state: unit.state_o().get(),
            retired: unit.ret_valid_o().is_set().then(|| unit.ret_pc_o().get() as u32),
            told: unit.tell_valid_o().is_set().then(|| unit.tell_data_o().get() as u32),
            irq: unit.irq_o().is_set(),
        }
    }

    fn links(&self, pe: usize) -> [Option<Link>; 2] {
        [link(&self.units[pe], 0), link(&self.units[pe], 1)]
    }

    fn units(&self) -> Option<(&Context, Vec<&dyn Verilated>)> {
        let units = self.units.iter().map(|unit| unit as &dyn Verilated);
        Some((&self.context, units.collect()))
    }

    fn hold(&mut self, pe: usize, held: bool) {
        self.nodes[pe].held = held;
        self.show_room(pe);
        for (to, _) in self.nodes[pe].next {
            self.show_room(to);
        }
    }

    fn forge(&mut self, pe: usize, forged: Forged) -> bool {
        let input = usize::from(forged.input);
        let place = &mut self.nodes[pe].forged[input];
        if place.is_some() {
            return false;
        }
        *place = Some((forged, 0));
        self.show_room(pe);
        true
    }

    fn forges(&mut self, pe: usize) -> bool {
        for input in 0..LINKS {
            let Some((forged, edges)) = self.nodes[pe].forged[input] else {
                continue;
            };
            let (node, (from, output)) = (&self.nodes[pe], self.nodes[pe].before[input]);
            let is_still = edges >= STILL && self.nodes[from].shown >> output & 1 == 0 && !node.held;
            let has_room = node.room >> (CHANNELS * input + usize::from(forged.channel)) & 1 != 0;
            let edges = match edges {
                // Word 0 may come a cycle after the one in which there is room.
                0..=STILL if edges < STILL || is_still && has_room => edges + 1,
                0..=STILL => edges,
                _ => {
                    let word = edges - STILL - 1;
                    self.drive(pe, input, (word < 2).then_some((forged, word as usize)));
                    edges + 1
                }
            };
            self.nodes[pe].forged[input] = (edges <= STILL + 3).then_some((forged, edges));
            if edges > STILL + 3 {
                self.show_room(pe);
            }
        }
        self.nodes[pe].forged.iter().any(Option::is_some)
    }

    fn depth(&self, pe: usize) -> u32 {
        self.units[pe].depth_o().get() as u32
    }

    #[inline]
    fn host(&self, pe: usize) -> HostPorts {
        let unit = &self.units[pe];
        HostPorts {
            ready: unit.host_req_ready_o().is_set(),
            response: unit
                .host_rsp_valid_o()
                .is_set()
                .then(|| (unit.host_rsp_rdata_o().get(), unit.host_rsp_err_o().is_set())),
        }
    }

    #[inline]
    fn drive_host(&mut self, pe: usize, offer: Option<Access>) {
        let unit = &self.units[pe];
        unit.host_req_valid_i().set_bool(offer.is_some());
        if let (None, Some(seed)) = (offer, self.junk) {
            let bits = mixed(seed ^ unit.host_rsp_rdata_o().get());
            unit.host_req_write_i().set_bool(bits & 1 != 0);
            unit.host_req_addr_i().set(bits >> 40);
            unit.host_req_wdata_i().set(bits);
            unit.host_req_wstrb_i().set(bits >> 56);
        }
        if let Some(access) = offer {
            unit.host_req_write_i().set_bool(access.store.is_some());
            unit.host_req_addr_i().set(access.offset.into());
            unit.host_req_wdata_i().set(access.store.unwrap_or_default());
            unit.host_req_wstrb_i().set(access.strobes().into());
        }
    }
}
