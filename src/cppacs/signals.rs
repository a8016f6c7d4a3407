//! Ports of a NIA that show a transfer in a wave.

use crate::machine::Signals;

pub const SIGNALS: Signals = &[
    ("clock", &[("clk_i", 1)]),
    (
        "host",
        &[
            ("host_req_valid_i", 1),
            ("host_req_ready_o", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 17),
            ("host_req_wdata_i", 64),
            ("host_rsp_valid_o", 1),
            ("host_rsp_rdata_o", 64),
            ("host_rsp_err_o", 1),
            ("irq_o", 1),
            ("busy_o", 1),
        ],
    ),
    (
        "link out",
        &[
            ("link_out_valid_o", 1),
            ("link_out_channel_o", 1),
            ("link_out_data_o", 32),
            ("link_out_last_o", 1),
            ("link_out_credit_i", 2),
        ],
    ),
    (
        "link in",
        &[
            ("link_in_valid_i", 1),
            ("link_in_channel_i", 1),
            ("link_in_data_i", 32),
            ("link_in_last_i", 1),
            ("link_in_credit_o", 2),
        ],
    ),
    (
        "memory",
        &[
            ("mem_rd_cmd_valid_o", 1),
            ("mem_rd_cmd_addr_o", 32),
            ("mem_rd_cmd_len_o", 8),
            ("mem_rd_data_valid_i", 1),
            ("mem_rd_data_data_i", 32),
            ("mem_wr_cmd_valid_o", 1),
            ("mem_wr_cmd_addr_o", 32),
            ("mem_wr_cmd_len_o", 8),
            ("mem_wr_data_valid_o", 1),
            ("mem_wr_data_data_o", 32),
            ("mem_wr_rsp_valid_i", 1),
        ],
    ),
    (
        "barrier",
        &[
            ("barrier_member_o", 1),
            ("barrier_arrive_o", 1),
            ("barrier_waiting_i", 1),
            ("barrier_release_i", 1),
        ],
    ),
];
