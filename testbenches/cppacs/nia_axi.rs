//! `cppacs_nia_axi` with its link looped back: the window over AXI4-Lite, memory over AXI, both watched by their rules.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, m_axi_ar, m_axi_aw, m_axi_w, pass, rules, s_axil,
    set_m_axi_b, set_m_axi_r, set_s_axil,
};
use tsunagi::cppacs::golden::message::Kind;
use tsunagi::cppacs::golden::tcw::{SendReason, Tcw};
use tsunagi::cppacs::regs::*;
use tsunagi::harness::axi::{
    self, AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, Resp, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::stream::Gaps;
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::nia::{AREA_AT, FLAGS, ONE, SENT, SIZE, TCWS_AT, field_at, plain, settings};

rules!(
    /// Data, flags and old values are in memory when the transfer is complete.
    Data
    /// An access has its answer; what is refused is answered with SLVERR.
    Access
    /// An error of memory gives a transfer up, and is told.
    Memory
    /// It is at rest when all is done.
    Rest
    /// Every transfer ends, and every access of the host.
    Hang
);

/// Bytes of a word of memory, and of the window.
const BUS: u32 = 4;
const WINDOW: u32 = 8;

#[derive(Clone, Debug, Default)]
struct In {
    reset: bool,
    host: FromMaster,
    memory: FromSlave,
    link: Option<(bool, u32, bool)>,
    credit: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    busy: bool,
    irq: bool,
    host: FromSlave,
    memory: FromMaster,
    link: Option<(bool, u32, bool)>,
    credit: u32,
}

fn set(dut: &impl CppacsNiaAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    dut.barrier_waiting_i().set_bool(false);
    dut.barrier_release_i().set_bool(false);
    dut.drained_i().set(0);
    let (channel, data, last) = inputs.link.unwrap_or((true, 0xdead, true));
    dut.link_in_valid_i().set_bool(inputs.link.is_some());
    dut.link_in_channel_i().set_bool(channel);
    dut.link_in_data_i().set(data.into());
    dut.link_in_last_i().set_bool(last);
    dut.link_out_credit_i().set(inputs.credit.into());
    set_m_axi_r!(dut, &inputs.memory);
    set_m_axi_b!(dut, &inputs.memory);
    set_s_axil!(dut, &inputs.host);
}

fn seen(dut: &impl CppacsNiaAxiPorts) -> Out {
    let word = || {
        let (data, last) = (dut.link_out_data_o().get() as u32, dut.link_out_last_o().is_set());
        (dut.link_out_channel_o().is_set(), data, last)
    };
    Out {
        busy: dut.busy().is_set(),
        irq: dut.irq().is_set(),
        host: s_axil!(dut),
        memory: FromMaster {
            aw: m_axi_aw!(dut),
            w: m_axi_w!(dut),
            b_ready: dut.m_axi_bready().is_set(),
            ar: m_axi_ar!(dut),
            r_ready: dut.m_axi_rready().is_set(),
        },
        link: dut.link_out_valid_o().is_set().then(word),
        credit: dut.link_in_credit_o().get() as u32,
    }
}
