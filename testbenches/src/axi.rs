//! The AXI ports of a verilated unit as values of [`tsunagi::harness::axi`], and the protocol's rules as rules of a
//! bench.
//!
//! The macros name the ports of a unit, by the methods of its generated trait, which must be in scope. Junk stands
//! where nothing is valid.

use tsunagi::harness::axi;
pub use tsunagi::harness::bench::{
    burst, read_beat, set_burst, set_read_beat, set_write_beat, set_write_end, write_beat, write_end,
};

use crate::{Fault, Rule};

/// A bench that watches AXI has the rules of the protocol among its own, under the same names.
impl Rule for axi::Rule {
    const ALL: &'static [Self] = &axi::Rule::ALL;

    fn name(self) -> &'static str {
        match self {
            axi::Rule::Hold => "Hold",
            axi::Rule::Legal => "Legal",
            axi::Rule::WriteLast => "WriteLast",
            axi::Rule::Lanes => "Lanes",
            axi::Rule::WriteEnd => "WriteEnd",
            axi::Rule::ReadData => "ReadData",
            axi::Rule::ReadLast => "ReadLast",
            axi::Rule::Exclusive => "Exclusive",
            axi::Rule::Reset => "Reset",
        }
    }
}

impl From<axi::Broken> for Fault {
    fn from(broken: axi::Broken) -> Fault {
        broken.rule.broken(broken.what)
    }
}

/// The burst that a unit offers on `m_axi_ar*`.
#[macro_export]
macro_rules! m_axi_ar {
    ($dut:expr) => {
        $crate::axi::burst([
            $dut.m_axi_arvalid(),
            $dut.m_axi_arid(),
            $dut.m_axi_araddr(),
            $dut.m_axi_arlen(),
            $dut.m_axi_arsize(),
            $dut.m_axi_arburst(),
            $dut.m_axi_arlock(),
            $dut.m_axi_arcache(),
            $dut.m_axi_arprot(),
        ])
    };
}

/// The burst that a unit offers on `m_axi_aw*`.
#[macro_export]
macro_rules! m_axi_aw {
    ($dut:expr) => {
        $crate::axi::burst([
            $dut.m_axi_awvalid(),
            $dut.m_axi_awid(),
            $dut.m_axi_awaddr(),
            $dut.m_axi_awlen(),
            $dut.m_axi_awsize(),
            $dut.m_axi_awburst(),
            $dut.m_axi_awlock(),
            $dut.m_axi_awcache(),
            $dut.m_axi_awprot(),
        ])
    };
}

/// The word that a unit offers on `m_axi_w*`.
#[macro_export]
macro_rules! m_axi_w {
    ($dut:expr) => {
        $crate::axi::write_beat([
            $dut.m_axi_wvalid(),
            $dut.m_axi_wdata(),
            $dut.m_axi_wstrb(),
            $dut.m_axi_wlast(),
        ])
    };
}

/// Drives the `m_axi_r*` and `m_axi_arready` of a unit.
#[macro_export]
macro_rules! set_m_axi_r {
    ($dut:expr, $slave:expr) => {{
        let slave: &::tsunagi::harness::axi::FromSlave = $slave;
        ::verilated::Input::set_bool($dut.m_axi_arready(), slave.ar_ready);
        $crate::axi::set_read_beat(
            [
                $dut.m_axi_rvalid(),
                $dut.m_axi_rid(),
                $dut.m_axi_rdata(),
                $dut.m_axi_rresp(),
                $dut.m_axi_rlast(),
            ],
            slave.r,
        );
    }};
}

/// Drives the `m_axi_b*`, `m_axi_awready` and `m_axi_wready` of a unit.
#[macro_export]
macro_rules! set_m_axi_b {
    ($dut:expr, $slave:expr) => {{
        let slave: &::tsunagi::harness::axi::FromSlave = $slave;
        ::verilated::Input::set_bool($dut.m_axi_awready(), slave.aw_ready);
        ::verilated::Input::set_bool($dut.m_axi_wready(), slave.w_ready);
        let ports: [&dyn ::verilated::Input; 3] = [$dut.m_axi_bvalid(), $dut.m_axi_bid(), $dut.m_axi_bresp()];
        $crate::axi::set_write_end(ports, slave.b);
    }};
}

/// Drives the `s_axil_*` of a unit.
#[macro_export]
macro_rules! set_s_axil {
    ($dut:expr, $master:expr) => {{
        let master: &::tsunagi::harness::axi::FromMaster = $master;
        ::verilated::Input::set_bool($dut.s_axil_awvalid(), master.aw.is_some());
        $crate::mem::set_word($dut.s_axil_awaddr(), master.aw.map_or(0x5a, |burst| burst.addr.into()));
        ::verilated::Input::set($dut.s_axil_awprot(), 0);
        $crate::axi::set_write_beat(
            [$dut.s_axil_wvalid(), $dut.s_axil_wdata(), $dut.s_axil_wstrb()],
            master.w,
        );
        ::verilated::Input::set_bool($dut.s_axil_bready(), master.b_ready);
        ::verilated::Input::set_bool($dut.s_axil_arvalid(), master.ar.is_some());
        $crate::mem::set_word($dut.s_axil_araddr(), master.ar.map_or(0xa5, |burst| burst.addr.into()));
        ::verilated::Input::set($dut.s_axil_arprot(), 0);
        ::verilated::Input::set_bool($dut.s_axil_rready(), master.r_ready);
    }};
}

/// The outputs of a unit on `s_axil_*`.
#[macro_export]
macro_rules! s_axil {
    ($dut:expr) => {
        ::tsunagi::harness::axi::FromSlave {
            aw_ready: ::verilated::Port::is_set($dut.s_axil_awready()),
            w_ready: ::verilated::Port::is_set($dut.s_axil_wready()),
            b: $crate::axi::write_end([$dut.s_axil_bvalid(), $dut.s_axil_bresp()]),
            ar_ready: ::verilated::Port::is_set($dut.s_axil_arready()),
            r: $crate::axi::read_beat([$dut.s_axil_rvalid(), $dut.s_axil_rdata(), $dut.s_axil_rresp()]),
        }
    };
}

/// Drives the `s_axi_*` of a unit; addresses count from `$base`.
#[macro_export]
macro_rules! set_s_axi {
    ($dut:expr, $master:expr, $base:expr) => {{
        let (master, base): (&::tsunagi::harness::axi::FromMaster, u64) = ($master, $base);
        $crate::axi::set_burst(
            [
                $dut.s_axi_awvalid(),
                $dut.s_axi_awid(),
                $dut.s_axi_awaddr(),
                $dut.s_axi_awlen(),
                $dut.s_axi_awsize(),
                $dut.s_axi_awburst(),
                $dut.s_axi_awlock(),
                $dut.s_axi_awcache(),
                $dut.s_axi_awprot(),
            ],
            master.aw,
            base,
        );
        $crate::axi::set_burst(
            [
                $dut.s_axi_arvalid(),
                $dut.s_axi_arid(),
                $dut.s_axi_araddr(),
                $dut.s_axi_arlen(),
                $dut.s_axi_arsize(),
                $dut.s_axi_arburst(),
                $dut.s_axi_arlock(),
                $dut.s_axi_arcache(),
                $dut.s_axi_arprot(),
            ],
            master.ar,
            base,
        );
        $crate::axi::set_write_beat([$dut.s_axi_wvalid(), $dut.s_axi_wdata(), $dut.s_axi_wstrb()], master.w);
        ::verilated::Input::set_bool($dut.s_axi_wlast(), master.w.is_none_or(|beat| beat.last));
        ::verilated::Input::set_bool($dut.s_axi_bready(), master.b_ready);
        ::verilated::Input::set_bool($dut.s_axi_rready(), master.r_ready);
    }};
}

/// The outputs of a unit on `s_axi_*`.
#[macro_export]
macro_rules! s_axi {
    ($dut:expr) => {{
        let end = $crate::axi::write_end([$dut.s_axi_bvalid(), $dut.s_axi_bresp()]);
        let beat = $crate::axi::read_beat([$dut.s_axi_rvalid(), $dut.s_axi_rdata(), $dut.s_axi_rresp()]);
        ::tsunagi::harness::axi::FromSlave {
            aw_ready: ::verilated::Port::is_set($dut.s_axi_awready()),
            w_ready: ::verilated::Port::is_set($dut.s_axi_wready()),
            b: end.map(|end| ::tsunagi::harness::axi::WriteEnd {
                id: ::verilated::Port::get($dut.s_axi_bid()) as u32,
                ..end
            }),
            ar_ready: ::verilated::Port::is_set($dut.s_axi_arready()),
            r: beat.map(|beat| ::tsunagi::harness::axi::ReadBeat {
                id: ::verilated::Port::get($dut.s_axi_rid()) as u32,
                last: ::verilated::Port::is_set($dut.s_axi_rlast()),
                ..beat
            }),
        }
    }};
}
