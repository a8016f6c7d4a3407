//! Ports and states of a card that show a transfer in a wave.

use crate::dimmnet1::names;
use crate::harness::names::Names;
use crate::machine::Signals;

pub const NAMES: &[(&str, &Names)] = &[
    ("host_req_addr_i", &names::REGISTERS),
    ("u_rdma.state_q", &names::RDMA_STATE),
    ("u_rx.u_parse.state_q", &names::PARSE_STATE),
    ("u_rx.u_execute.type_in", &names::TYPES),
    ("u_rx.u_execute.state_q", &names::EXECUTE_STATE),
];

pub const SIGNALS: Signals = &[
    ("clocks", &[("core_clk_i", 1), ("link_clk_i", 1)]),
    (
        "host",
        &[
            ("host_req_valid_i", 1),
            ("host_req_ready_o", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 24),
            ("host_req_wdata_i", 64),
            ("host_rsp_valid_o", 1),
            ("host_rsp_rdata_o", 64),
            ("irq_o", 1),
        ],
    ),
    (
        "link out",
        &[
            ("link_tx_valid_o", 1),
            ("link_tx_ready_i", 1),
            ("link_tx_data_o", 64),
            ("link_tx_last_o", 1),
        ],
    ),
    (
        "link in",
        &[
            ("link_rx_valid_i", 1),
            ("link_rx_ready_o", 1),
            ("link_rx_data_i", 64),
            ("link_rx_last_i", 1),
        ],
    ),
    (
        "states",
        &[
            ("u_rdma.state_q", 4),
            ("u_rx.u_parse.state_q", 3),
            ("u_rx.u_execute.type_in", 8),
            ("u_rx.u_execute.state_q", 3),
        ],
    ),
    (
        "processor",
        &[("retire_valid_o", 1), ("retire_pc_o", 32), ("retire_trap_o", 1)],
    ),
    (
        "memory writes",
        &[
            ("mem_wr_cmd_valid_o", 1),
            ("mem_wr_cmd_ready_i", 1),
            ("mem_wr_cmd_addr_o", 32),
            ("mem_wr_data_valid_o", 1),
            ("mem_wr_data_data_o", 64),
            ("mem_wr_rsp_valid_i", 1),
        ],
    ),
];
