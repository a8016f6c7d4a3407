//! Ports and states of a NIC that show a transfer in a wave.

use crate::cenju3::names;
use crate::harness::names::Names;
use crate::machine::Signals;

pub const NAMES: &[(&str, &Names)] = &[
    ("host_req_addr_i", &names::REGISTERS),
    ("u_sender.state_q", &names::SENDER_STATE),
    ("u_receiver.u_parse.state_q", &names::PARSE_STATE),
    ("u_receiver.kind", &names::PACKET_KINDS),
    ("u_receiver.state_q", &names::RECEIVER_STATE),
];

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
        "states",
        &[
            ("u_sender.state_q", 2),
            ("u_receiver.u_parse.state_q", 3),
            ("u_receiver.kind", 2),
            ("u_receiver.state_q", 3),
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
