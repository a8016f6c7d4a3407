//! The verilated units, as the machine drives them.

use verilated::{Context, Unit, Verilated};

use super::ports::{BusIn, BusOut, Edges};
use crate::net::fabric::{Flit, SwitchUnit as _};
use crate::net::topology::SwitchAt;
use crate::net::units;
use crate::rtl::{Cenju3Nic, Cenju3NicWide, Cenju3Switch};

/// A verilated unit with the machine's two clocks.
pub trait Clocked: Verilated {
    /// The rising edges of these clocks.
    fn tick(&self, edges: Edges);
}

/// Implements [`Clocked`] for a verilated unit with the clocks `io_clk_i` and `net_clk_i`, in this order.
#[macro_export]
macro_rules! clocked {
    ($unit:ty) => {
        impl $crate::cenju3::rtl::Clocked for $unit {
            #[inline]
            fn tick(&self, edges: $crate::cenju3::rtl::ports::Edges) {
                ::verilated::Verilated::junk(self);
                <$unit>::rise(self, u64::from(edges.io) | u64::from(edges.net) << 1);
            }
        }
    };
}

clocked!(Cenju3Nic);
clocked!(Cenju3NicWide);

/// A verilated NIC of some bus width.
pub trait NicUnit: Clocked + Unit {
    /// Bytes of a bus word.
    const BUS_BYTES: u32;

    fn bus_out(&self) -> BusOut;

    fn set_bus_in(&self, bus: &BusIn);

    fn irq(&self) -> bool;

    fn busy(&self) -> bool;

    /// What the NIC shows its outgoing link.
    fn tx(&self) -> Option<Flit>;

    fn set_tx_ready(&self, ready: bool);

    fn rx_ready(&self) -> bool;

    /// Words in the receive FIFO.
    fn fifo_words(&self) -> u32;

    /// What the incoming link shows the NIC.
    fn set_rx(&self, flit: Option<Flit>);

    fn set_reset(&self, reset: bool);
}

macro_rules! nic_unit {
    ($unit:ty, $bytes:literal) => {
        impl NicUnit for $unit {
            const BUS_BYTES: u32 = $bytes;

            #[inline]
            fn bus_out(&self) -> BusOut {
                BusOut {
                    req_ready: self.host_req_ready_o.is_set(),
                    rsp_valid: self.host_rsp_valid_o.is_set(),
                    rsp_rdata: self.host_rsp_rdata_o.get(),
                    rsp_err: self.host_rsp_err_o.is_set(),
                    mem: crate::mem_ports!(self),
                }
            }

            #[inline]
            fn set_bus_in(&self, bus: &BusIn) {
                self.host_req_valid_i.set_bool(bus.req_valid);
                self.host_req_write_i.set_bool(bus.req_write);
                self.host_req_addr_i.set(bus.req_addr);
                self.host_req_wdata_i.set(bus.req_wdata);
                self.host_req_wstrb_i.set(bus.req_wstrb);
                self.host_rsp_ready_i.set_bool(bus.rsp_ready);
                crate::set_mem_ports!(self, &bus.mem);
            }

            #[inline]
            fn irq(&self) -> bool {
                self.irq_o.is_set()
            }

            #[inline]
            fn busy(&self) -> bool {
                self.io_busy_o.is_set() || self.net_busy_o.is_set()
            }

            #[inline]
            fn tx(&self) -> Option<Flit> {
                self.tx_valid_o.is_set().then(|| Flit {
                    word: self.tx_data_o.get().into(),
                    last: self.tx_last_o.is_set(),
                })
            }

            #[inline]
            fn set_tx_ready(&self, ready: bool) {
                self.tx_ready_i.set_bool(ready);
            }

            #[inline]
            fn rx_ready(&self) -> bool {
                self.rx_ready_o.is_set()
            }

            fn fifo_words(&self) -> u32 {
                self.rx_level_o.get().into()
            }

            #[inline]
            fn set_rx(&self, flit: Option<Flit>) {
                self.rx_valid_i.set_bool(flit.is_some());
                if let Some(flit) = flit {
                    self.rx_data_i.set(flit.word as u16);
                    self.rx_last_i.set_bool(flit.last);
                }
            }

            fn set_reset(&self, reset: bool) {
                self.io_rst_i.set_bool(reset);
                self.net_rst_i.set_bool(reset);
            }
        }
    };
}

nic_unit!(Cenju3Nic, 4);
nic_unit!(Cenju3NicWide, 8);

crate::switch_unit!(Cenju3Switch, 4, 16);

/// A switch, reset, that routes by two-bit digit `digit` (0 to 3) and leaves a link idle for `idle` cycles after each packet.
pub fn switch(context: &Context, at: SwitchAt, digit: usize, idle: u8) -> Cenju3Switch {
    let mut unit = Cenju3Switch::named(context, &units::name(at));
    unit.digit_i.set(digit as u8);
    unit.idle_i.set(idle);
    unit.reset();
    unit
}
