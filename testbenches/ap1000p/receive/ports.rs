//! The ports of a receive controller.

use testbenches::Dut;
use testbenches::rtl::*;
use tsunagi::ap1000p::golden::Word;
use tsunagi::ap1000p::golden::creg::Access;
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::receive::What;
use tsunagi::ap1000p::golden::ring::Rings;
use tsunagi::ap1000p::golden::word::{Failed, Op, Request};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use tsunagi::net::torus::Class;
use verilated::{Input as _, Port as _};

use crate::pages::{MmuPorts, Service, mmu_lookup, set_mmu_ports};

/// The cell of the controller: {x, y}.
pub const OWN: [u8; 2] = [3, 5];

#[derive(Debug, Default)]
pub struct In {
    pub word: Option<Word>,
    pub forget: bool,
    pub rings: Rings,
    /// Software sets the slot of this ring's next message.
    pub set: Option<(usize, u32)>,
    pub mmu: MmuPorts,
    pub service: Service,
    pub mem: MemPortsOut,
    pub unit_ready: bool,
    pub unit_reply: Option<Result<u32, Failed>>,
    pub creg_ready: bool,
    /// `None` inside: a conflict.
    pub creg_reply: Option<Option<u32>>,
    pub queues_ready: [bool; 2],
    pub load_ready: bool,
}

/// The end of a load: whether it failed, its data, and the cell of the reply: {x, y}.
pub type Load = (bool, u64, [u8; 2]);

#[derive(Debug, PartialEq)]
pub struct Out {
    pub ready: bool,
    pub lookup: Option<Lookup>,
    pub takes_reply: bool,
    pub fault: Option<(u8, Lookup)>,
    pub mem: MemPortsIn,
    pub unit: Option<Request>,
    pub creg: Option<Access>,
    pub takes_creg: bool,
    /// A bit for each queue that `queue` is for.
    pub queues: u8,
    pub queue: Word,
    pub load: Option<Load>,
    pub ack: bool,
    pub broken: Option<(u8, What)>,
    pub count: u16,
    /// The slot of each ring's next message.
    pub next: [u32; 3],
    /// A bit for each ring with a message under way.
    pub ring_busy: u8,
    pub busy: bool,
}

fn set(dut: &impl Ap1000pReceivePorts, inputs: &In) {
    dut.cell_x_i().set(OWN[0].into());
    dut.cell_y_i().set(OWN[1].into());
    dut.forget_i().set_bool(inputs.forget);
    for (set, ring) in inputs.rings.sets.iter().enumerate() {
        dut.ring_on_i().set_bits(set, 1, ring.on.into());
        dut.ring_size_i().set_bits(2 * set, 2, ring.size.into());
        dut.ring_context_i().set_bits(12 * set, 12, ring.context.into());
        dut.ring_read_i().set_bits(18 * set, 18, ring.read.into());
    }
    dut.ring_set_i().set(inputs.set.map_or(0, |(set, _)| 1 << set));
    dut.ring_at_i()
        .set(inputs.set.map_or(0x555_5555, |(_, slot)| slot.into()));
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_data_i()
        .set(inputs.word.map_or(0xdead_beef, |word| word.data.into()));
    dut.in_last_i().set_bool(inputs.word.is_none_or(|word| word.end));
    set_mmu_ports!(dut, &inputs.mmu, &inputs.service);
    testbenches::set_write_ports!(dut, &inputs.mem);
    dut.word_ready_i().set_bool(inputs.unit_ready);
    dut.word_done_i().set_bool(inputs.unit_reply.is_some());
    let reply = inputs.unit_reply.unwrap_or(Ok(0x1234_5678));
    dut.word_old_i().set(reply.unwrap_or(0x8765_4321).into());
    // Without a reply neither has a meaning.
    let fails = |how| inputs.unit_reply.is_none() || reply == Err(how);
    dut.word_fault_i().set_bool(fails(Failed::GivenUp));
    dut.word_err_i().set_bool(fails(Failed::Bus));
    dut.creg_ready_i().set_bool(inputs.creg_ready);
    dut.creg_rsp_valid_i().set_bool(inputs.creg_reply.is_some());
    let reply = inputs.creg_reply.unwrap_or(Some(0x1234_5678));
    dut.creg_rsp_fault_i().set_bool(reply.is_none());
    dut.creg_rsp_data_i().set(reply.unwrap_or(0x8765_4321).into());
    for (queue, &ready) in inputs.queues_ready.iter().enumerate() {
        dut.queue_ready_i().set_bits(queue, 1, ready.into());
    }
    dut.load_ready_i().set_bool(inputs.load_ready);
}

fn seen(dut: &impl Ap1000pReceivePorts) -> Out {
    let fault = || Lookup {
        context: dut.fault_context_o().get() as u16,
        addr: dut.fault_addr_o().get() as u32,
        write: true,
        system: dut.fault_system_o().is_set(),
    };
    let reason = || dut.fault_reason_o().get() as u8;
    let load = || {
        let from = dut.load_cell_o().get() as u16;
        (dut.load_err_o().is_set(), dut.load_data_o().get(), from.to_le_bytes())
    };
    let what = || What {
        kind: dut.broken_kind_o().get() as u16,
        x: dut.broken_x_o().get() as u8,
        y: dut.broken_y_o().get() as u8,
    };
    let why = || dut.broken_reason_o().get() as u8;
    Out {
        ready: dut.in_ready_o().is_set(),
        lookup: mmu_lookup!(dut),
        takes_reply: dut.mmu_rsp_ready_o().is_set(),
        fault: dut.fault_valid_o().is_set().then(|| (reason(), fault())),
        mem: testbenches::write_ports!(dut),
        unit: dut.word_valid_o().is_set().then(|| request(dut)),
        creg: dut.creg_valid_o().is_set().then(|| Access {
            addr: dut.creg_addr_o().get() as u8,
            write: dut.creg_write_o().is_set().then(|| dut.creg_data_o().get() as u32),
        }),
        takes_creg: dut.creg_rsp_ready_o().is_set(),
        queues: dut.queue_valid_o().get() as u8,
        queue: Word {
            data: dut.queue_data_o().get() as u32,
            end: dut.queue_end_o().is_set(),
        },
        load: dut.load_valid_o().is_set().then(load),
        ack: dut.ack_o().is_set(),
        broken: dut.broken_valid_o().is_set().then(|| (why(), what())),
        count: dut.broken_count_o().get() as u16,
        next: [0, 1, 2].map(|set| dut.ring_write_o().get_bits(27 * set, 27) as u32),
        ring_busy: dut.ring_busy_o().get() as u8,
        busy: dut.busy_o().is_set(),
    }
}

/// The request to the word unit.
fn request(dut: &impl Ap1000pReceivePorts) -> Request {
    Request {
        op: Op::ALL[dut.word_op_o().get() as usize],
        context: dut.word_context_o().get() as u16,
        system: dut.word_system_o().is_set(),
        physical: dut.word_physical_o().is_set(),
        addr: dut.word_addr_o().get() as u32,
        strb: dut.word_strb_o().get() as u8,
        a: dut.word_a_o().get() as u32,
        b: dut.word_b_o().get() as u32,
    }
}

/// A controller under test.
pub struct Unit {
    pub dut: Dut<In, Out>,
    pub class: Class,
}

pub fn requests<U: Ap1000pReceiveUnit + 'static>() -> Unit {
    Unit {
        dut: Dut::of::<U>(set, seen),
        class: Class::Request,
    }
}

pub fn replies<U: Ap1000pReceiveUnit + 'static>() -> Unit {
    Unit {
        class: Class::Reply,
        ..requests::<U>()
    }
}
