//! Ports of a NIC that show a transfer in a wave.

use crate::machine::Signals;

pub const SIGNALS: Signals = &[
    ("clocks", &[("io_clk_i", 1), ("net_clk_i", 1)]),
    (
        "registers",
        &[
            ("host_req_valid_i", 1),
            ("host_req_ready_o", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 8),
            ("host_req_wdata_i", 32),
            ("irq_o", 1),
        ],
    ),
    (
        "memory reads",
        &[
            ("mem_rd_cmd_valid_o", 1),
            ("mem_rd_cmd_ready_i", 1),
            ("mem_rd_cmd_addr_o", 32),
            ("mem_rd_data_valid_i", 1),
            ("mem_rd_data_data_i", 32),
        ],
    ),
    (
        "link out",
        &[
            ("tx_valid_o", 1),
            ("tx_ready_i", 1),
            ("tx_data_o", 16),
            ("tx_last_o", 1),
        ],
    ),
    (
        "link in",
        &[
            ("rx_valid_i", 1),
            ("rx_ready_o", 1),
            ("rx_data_i", 16),
            ("rx_last_i", 1),
        ],
    ),
    (
        "memory writes",
        &[
            ("mem_wr_cmd_valid_o", 1),
            ("mem_wr_cmd_ready_i", 1),
            ("mem_wr_cmd_addr_o", 32),
            ("mem_wr_data_valid_o", 1),
            ("mem_wr_data_data_o", 32),
            ("mem_wr_rsp_valid_i", 1),
        ],
    ),
];
