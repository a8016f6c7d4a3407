//! A port of a top has a part for each node.

use verilated::{Input, Port};

/// The part of a node, `width` bits.
pub fn get(port: &impl Port, node: usize, width: usize) -> u64 {
    port.get_bits(width * node, width)
}

pub fn set(port: &impl Input, node: usize, width: usize, value: u64) {
    port.set_bits(width * node, width, value);
}

pub fn set_bit(port: &impl Input, node: usize, value: bool) {
    port.set_bits(node, 1, value.into());
}

/// What a node's memory ports, of words of `$width` bits, drive.
#[macro_export]
macro_rules! mem_ports {
    ($unit:expr, $node:expr, $width:expr) => {{
        use verilated::Port as _;
        use $crate::part::get;
        let (unit, node, width) = (&$unit, $node, $width);
        tsunagi::harness::memory::MemPortsIn {
            rd_cmd_valid: unit.mem_rd_cmd_valid_o().bit(node),
            rd_cmd_addr: get(unit.mem_rd_cmd_addr_o(), node, 32) as u32,
            rd_cmd_len: get(unit.mem_rd_cmd_len_o(), node, 8) as u8,
            rd_data_ready: unit.mem_rd_data_ready_o().bit(node),
            wr_cmd_valid: unit.mem_wr_cmd_valid_o().bit(node),
            wr_cmd_addr: get(unit.mem_wr_cmd_addr_o(), node, 32) as u32,
            wr_cmd_len: get(unit.mem_wr_cmd_len_o(), node, 8) as u8,
            wr_data_valid: unit.mem_wr_data_valid_o().bit(node),
            wr_data_data: get(unit.mem_wr_data_data_o(), node, width),
            wr_data_strb: get(unit.mem_wr_data_strb_o(), node, width / 8) as u8,
            wr_data_last: unit.mem_wr_data_last_o().bit(node),
            wr_rsp_ready: unit.mem_wr_rsp_ready_o().bit(node),
        }
    }};
}

/// Drives those ports as the memory does.
#[macro_export]
macro_rules! set_mem_ports {
    ($unit:expr, $node:expr, $width:expr, $mem:expr) => {{
        use $crate::part::{set, set_bit};
        let (unit, node, width) = (&$unit, $node, $width);
        let mem: &tsunagi::harness::memory::MemPortsOut = $mem;
        set_bit(unit.mem_rd_cmd_ready_i(), node, mem.rd_cmd_ready);
        set_bit(unit.mem_rd_data_valid_i(), node, mem.rd_data_valid);
        set(unit.mem_rd_data_data_i(), node, width, mem.rd_data_data);
        set_bit(unit.mem_rd_data_last_i(), node, mem.rd_data_last);
        set_bit(unit.mem_rd_data_err_i(), node, mem.rd_data_err);
        set_bit(unit.mem_wr_cmd_ready_i(), node, mem.wr_cmd_ready);
        set_bit(unit.mem_wr_data_ready_i(), node, mem.wr_data_ready);
        set_bit(unit.mem_wr_rsp_valid_i(), node, mem.wr_rsp_valid);
        set_bit(unit.mem_wr_rsp_err_i(), node, mem.wr_rsp_err);
    }};
}
