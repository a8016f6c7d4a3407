//! EM-4/EM-X as one top.

use verilated::{Context, Input as _, Port as _};

use tsunagi::emx::regs::SIZE_COLUMNS;
use tsunagi::emx::rtl::host::{Access, HostPorts};
use tsunagi::emx::rtl::{Link, Pes, Shown};

use crate::part::{get, set, set_bit};
use crate::rtl::{EmxMachinePorts as _, EmxMachineUnit};

/// Bits of a link's word.
const WORD: usize = 39;

/// One verilated model of all PEs: each port has a part for each of them.
pub struct SingleTop<U> {
    unit: U,
    woken: Vec<bool>,
    _context: Context,
}

impl<U: EmxMachineUnit> Default for SingleTop<U> {
    fn default() -> SingleTop<U> {
        let context = Context::new();
        let pes = (SIZE_COLUMNS as usize) << U::ROW_BITS;
        let unit = U::named(&context, "machine");
        (0..pes).for_each(|pe| set_bit(unit.host_rsp_ready_i(), pe, true));
        SingleTop {
            unit,
            woken: vec![false; pes],
            _context: context,
        }
    }
}

impl<U: EmxMachineUnit> Pes for SingleTop<U> {
    fn count(&self) -> usize {
        self.woken.len()
    }

    fn wake(&mut self, pe: usize) {
        self.woken[pe] = true;
    }

    fn stirs(&self, pe: usize) -> bool {
        self.woken[pe] || self.unit.busy_o().bit(pe) || self.links(pe).iter().any(Option::is_some)
    }

    fn ran(&self, _pe: usize) -> bool {
        true
    }

    fn set_reset(&mut self, reset: bool) {
        self.unit.rst_i().set_bool(reset);
    }

    fn edge(&mut self, _time: u32) {
        self.unit.rise(1);
        self.woken.fill(false);
    }

    fn shown(&self, pe: usize) -> Shown {
        let unit = &self.unit;
        let retired = unit.ret_valid_o().bit(pe);
        let told = unit.tell_valid_o().bit(pe);
        Shown {
            state: get(unit.state_o(), pe, 2),
            retired: retired.then(|| get(unit.ret_pc_o(), pe, 22) as u32),
            told: told.then(|| get(unit.tell_data_o(), pe, 32) as u32),
            irq: unit.irq_o().bit(pe),
        }
    }

    fn links(&self, pe: usize) -> [Option<Link>; 2] {
        let unit = &self.unit;
        [0, 1].map(|output| {
            let at = 2 * pe + output;
            unit.link_valid_o().bit(at).then(|| Link {
                output,
                channel: get(unit.link_vc_o(), at, 2),
                word: get(unit.link_data_o(), at, WORD),
                last: unit.link_last_o().bit(at),
            })
        })
    }

    fn depth(&self, pe: usize) -> u32 {
        get(self.unit.depth_o(), pe, 14) as u32
    }

    fn host(&self, pe: usize) -> HostPorts {
        let unit = &self.unit;
        let response = unit.host_rsp_valid_o().bit(pe);
        HostPorts {
            ready: unit.host_req_ready_o().bit(pe),
            response: response.then(|| (get(unit.host_rsp_rdata_o(), pe, 64), unit.host_rsp_err_o().bit(pe))),
        }
    }

    fn drive_host(&mut self, pe: usize, offer: Option<Access>) {
        let unit = &self.unit;
        set_bit(unit.host_req_valid_i(), pe, offer.is_some());
        if let Some(access) = offer {
            set_bit(unit.host_req_write_i(), pe, access.store.is_some());
            set(unit.host_req_addr_i(), pe, 24, access.offset.into());
            set(unit.host_req_wdata_i(), pe, 64, access.store.unwrap_or_default());
            set(unit.host_req_wstrb_i(), pe, 8, access.strobes().into());
        }
    }
}
