//! Ports and states of a PE that show a transfer in a wave.

use crate::emx::names;
use crate::harness::names::Names;
use crate::machine::Signals;

pub const NAMES: &[(&str, &Names)] = &[
    ("state_o", &names::STATES),
    ("u_core.u_input.kind", &names::TYPES),
    ("u_core.u_matching.kind", &names::TYPES),
    ("u_core.u_matching.state_q", &names::MATCHING_STATE),
    ("host_req_addr_i", &names::REGISTERS),
    ("u_regs.state_q", &names::REGS_STATE),
];

pub const SIGNALS: Signals = &[
    ("clock", &[("clk_i", 1), ("time_i", 32)]),
    (
        "thread",
        &[
            ("state_o", 2),
            ("ret_valid_o", 1),
            ("ret_pc_o", 22),
            ("ret_insn_o", 32),
            ("tell_valid_o", 1),
            ("tell_data_o", 32),
        ],
    ),
    ("input buffer", &[("depth_o", 14), ("u_core.u_input.kind", 4)]),
    (
        "matching",
        &[("u_core.u_matching.kind", 4), ("u_core.u_matching.state_q", 3)],
    ),
    (
        "links out",
        &[
            ("link_out_valid_o", 2),
            ("link_out_vc_o", 4),
            ("link_out_data_o", 78),
            ("link_out_last_o", 2),
            ("link_out_room_i", 6),
        ],
    ),
    (
        "links in",
        &[
            ("link_in_valid_i", 2),
            ("link_in_vc_i", 4),
            ("link_in_data_i", 78),
            ("link_in_last_i", 2),
            ("link_in_room_o", 6),
        ],
    ),
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
            ("u_regs.state_q", 3),
            ("irq_o", 1),
            ("busy_o", 1),
        ],
    ),
];
