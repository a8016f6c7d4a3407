//! The ports of a verilated unit that only reads memory, or only writes it, as [`tsunagi::harness::memory`] speaks of them.

/// What a unit that reads drives on `mem_…`.
#[macro_export]
macro_rules! mem_read_ports {
    ($unit:expr) => {
        ::tsunagi::harness::memory::MemPortsIn {
            rd_cmd_valid: $unit.mem_cmd_valid_o.is_set(),
            rd_cmd_addr: $unit.mem_cmd_addr_o.get(),
            rd_cmd_len: $unit.mem_cmd_len_o.get(),
            rd_data_ready: $unit.mem_data_ready_o.is_set(),
            ..Default::default()
        }
    };
}

/// Drives those ports as the memory does.
#[macro_export]
macro_rules! set_mem_read_ports {
    ($unit:expr, $mem:expr) => {{
        let mem: &::tsunagi::harness::memory::MemPortsOut = $mem;
        $unit.mem_cmd_ready_i.set_bool(mem.rd_cmd_ready);
        $unit.mem_data_valid_i.set_bool(mem.rd_data_valid);
        $unit.mem_data_data_i.set(mem.rd_data_data as _);
        $unit.mem_data_last_i.set_bool(mem.rd_data_last);
        $unit.mem_data_err_i.set_bool(mem.rd_data_err);
    }};
}

/// What a unit that writes drives on `mem_…`.
#[macro_export]
macro_rules! mem_write_ports {
    ($unit:expr) => {
        ::tsunagi::harness::memory::MemPortsIn {
            wr_cmd_valid: $unit.mem_cmd_valid_o.is_set(),
            wr_cmd_addr: $unit.mem_cmd_addr_o.get(),
            wr_cmd_len: $unit.mem_cmd_len_o.get(),
            wr_data_valid: $unit.mem_data_valid_o.is_set(),
            wr_data_data: $unit.mem_data_data_o.get().into(),
            wr_data_strb: $unit.mem_data_strb_o.get(),
            wr_data_last: $unit.mem_data_last_o.is_set(),
            wr_rsp_ready: $unit.mem_rsp_ready_o.is_set(),
            ..Default::default()
        }
    };
}

/// Drives those ports as the memory does.
#[macro_export]
macro_rules! set_mem_write_ports {
    ($unit:expr, $mem:expr) => {{
        let mem: &::tsunagi::harness::memory::MemPortsOut = $mem;
        $unit.mem_cmd_ready_i.set_bool(mem.wr_cmd_ready);
        $unit.mem_data_ready_i.set_bool(mem.wr_data_ready);
        $unit.mem_rsp_valid_i.set_bool(mem.wr_rsp_valid);
        $unit.mem_rsp_err_i.set_bool(mem.wr_rsp_err);
    }};
}
