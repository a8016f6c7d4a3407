//! Ports and states of a cell that show a transfer in a wave. Of the two ways, states are those of the requests.

use crate::ap1000p::names;
use crate::harness::names::Names;
use crate::machine::Signals;

pub const NAMES: &[(&str, &Names)] = &[
    ("host_req_addr_i", &names::REGISTERS),
    ("u_msc.u_access.state_q", &names::ACCESS_STATE),
    ("u_msc.gen_send[0].u_send.phase_q", &names::SEND_PHASE),
    ("u_msc.gen_receive[0].u_receive.u_parse.what_q", &names::PARSE_WHAT),
    ("u_msc.gen_receive[0].u_receive.u_parse.state_q", &names::PARSE_STATE),
    ("u_msc.gen_receive[0].u_receive.u_store.state_q", &names::STORE_STATE),
    ("u_mc.u_mmu.state_q", &names::MMU_STATE),
];

pub const SIGNALS: Signals = &[
    ("clock", &[("clk_i", 1)]),
    (
        "commands",
        &[
            ("store_valid_i", 1),
            ("store_ready_o", 1),
            ("store_page_i", 16),
            ("store_data_i", 32),
        ],
    ),
    (
        "registers",
        &[
            ("host_req_valid_i", 1),
            ("host_req_write_i", 1),
            ("host_req_addr_i", 8),
            ("host_req_wdata_i", 32),
            ("host_rsp_valid_o", 1),
            ("host_rsp_rdata_o", 32),
            ("irq_o", 1),
        ],
    ),
    (
        "remote accesses",
        &[
            ("dsm_req_valid_i", 1),
            ("dsm_req_ready_o", 1),
            ("dsm_req_write_i", 1),
            ("dsm_req_cell_i", 16),
            ("dsm_req_addr_i", 32),
            ("dsm_rsp_valid_o", 1),
            ("dsm_rsp_data_o", 64),
        ],
    ),
    (
        "memory reads",
        &[
            ("mem_rd_cmd_valid_o", 1),
            ("mem_rd_cmd_ready_i", 1),
            ("mem_rd_cmd_addr_o", 32),
            ("mem_rd_cmd_len_o", 8),
            ("mem_rd_data_valid_i", 1),
            ("mem_rd_data_data_i", 32),
        ],
    ),
    (
        "link out",
        &[
            ("tx_valid_o", 1),
            ("tx_vc_o", 2),
            ("tx_data_o", 32),
            ("tx_last_o", 1),
            ("tx_credit_i", 4),
        ],
    ),
    (
        "link in",
        &[
            ("rx_valid_i", 1),
            ("rx_vc_i", 2),
            ("rx_data_i", 32),
            ("rx_last_i", 1),
            ("rx_credit_o", 4),
        ],
    ),
    (
        "states",
        &[
            ("u_msc.u_access.state_q", 4),
            ("u_msc.gen_send[0].u_send.phase_q", 3),
            ("u_msc.gen_receive[0].u_receive.u_parse.what_q", 4),
            ("u_msc.gen_receive[0].u_receive.u_parse.state_q", 4),
            ("u_msc.gen_receive[0].u_receive.u_store.state_q", 2),
            ("u_mc.u_mmu.state_q", 4),
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
