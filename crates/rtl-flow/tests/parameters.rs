//! An illegal parameter stops elaboration with a message that names it. Each such check of `rtl/` gets a value that it
//! must refuse.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use verilated_build::{Toolchain, Units};

/// The message, and parameters that bring it up.
const ILLEGAL: &[(&str, &[&str])] = &[
    ("ap1000p_access_CoordW_must_be_1_to_7", &["CoordW=8"]),
    ("ap1000p_access_LocalW_must_be_13_to_28", &["LocalW=29"]),
    ("ap1000p_acks_W_must_be_at_least_1", &["W=0"]),
    ("ap1000p_reply_MemW_must_be_9_to_31", &["MemW=8"]),
    ("ap1000p_mmu_mux_Clients_must_be_at_least_1", &["Clients=0"]),
    ("ap1000p_mmu_mux_W_must_be_at_least_1", &["W=0"]),
    ("ap1000p_bif_Words_must_be_a_power_of_two_2_to_32", &["Words=6"]),
    ("ap1000p_cell_CoordW_must_be_1_to_7", &["CoordW=8"]),
    ("ap1000p_creg_Sources_must_be_1_to_4", &["Sources=5"]),
    ("ap1000p_creg_W_must_be_at_least_1", &["W=0"]),
    ("ap1000p_creg_Words_must_be_a_power_of_two_and_at_least_2", &["Words=6"]),
    ("ap1000p_mmu_DataW_must_be_32_or_64", &["DataW=128"]),
    ("ap1000p_mmu_MemW_must_be_24_to_32", &["MemW=23"]),
    ("ap1000p_window_CoordW_must_be_2_to_7", &["CoordW=1"]),
    ("ap1000p_word_Clients_must_be_at_least_1", &["Clients=0"]),
    ("ap1000p_wtp_CellW_must_be_at_least_1", &["CellW=0"]),
    (
        "ap1000p_wtp_Entries_must_be_a_power_of_two_and_at_least_2",
        &["Entries=6"],
    ),
    (
        "ap1000p_wtp_LocalW_must_be_above_the_local_cache_and_at_most_32",
        &["LocalW=21"],
    ),
    ("ap1000p_queue_arbiter_AgeCap_must_be_4_to_255", &["AgeCap=3"]),
    ("ap1000p_queue_arbiter_N_must_be_2_to_5", &["N=1"]),
    ("ap1000p_queue_arbiter_N_must_be_2_to_5", &["N=6"]),
    (
        "ap1000p_queue_ram_each_queue_must_be_a_power_of_two_and_at_least_32",
        &["Second=48"],
    ),
    ("ap1000p_queue_ram_queues_must_be_256_words_or_less", &["Third=256"]),
    ("ap1000p_refill_DataW_must_be_32_or_64", &["DataW=128"]),
    ("ap1000p_refill_Notes_must_be_1_to_256", &["Notes=257"]),
    ("ap1000p_send_CoordW_must_be_1_to_8", &["CoordW=9"]),
    ("ap1000p_spill_DataW_must_be_32_or_64", &["DataW=16"]),
    ("ap1000p_broadcast_CoordW_must_be_1_to_7", &["CoordW=8"]),
    ("arbiter_rr_N_must_be_at_least_1", &["N=0"]),
    ("async_fifo_Depth_must_be_a_power_of_two_and_at_least_2", &["Depth=6"]),
    ("async_fifo_side_AddrW_must_be_at_least_1", &["AddrW=0"]),
    ("async_fifo_W_must_be_at_least_1", &["W=0"]),
    ("axi_beats_AddrW_must_be_at_least_12", &["AddrW=11"]),
    ("axi_beats_DataW_must_be_32_or_64_or_128", &["DataW=16"]),
    ("axi_beats_IdW_must_be_at_least_1", &["IdW=0"]),
    ("axi_burst_cut_AddrW_must_be_above_12", &["AddrW=12"]),
    ("axi_burst_cut_DataW_must_be_32_or_64_or_128", &["DataW=256"]),
    ("axi_burst_cut_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("axi_read_master_IdW_must_be_at_least_1", &["IdW=0"]),
    ("axi_window_AddrW_must_be_at_least_1", &["AddrW=0"]),
    ("axi_window_DataW_must_be_a_multiple_of_8", &["DataW=12"]),
    ("axi_window_DataW_must_be_a_multiple_of_8", &["DataW=0"]),
    ("axi_window_IdW_must_be_at_least_1", &["IdW=0"]),
    ("axi_window_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("axi_write_master_IdW_must_be_at_least_1", &["IdW=0"]),
    ("axil_slave_DataW_must_be_32_or_64", &["DataW=128"]),
    ("broadcast_bus_Cells_must_be_at_least_1", &["Cells=0"]),
    ("broadcast_bus_CyclesPerWord_must_be_at_least_1", &["CyclesPerWord=0"]),
    (
        "broadcast_bus_Radix_must_be_a_power_of_two_and_at_least_2",
        &["Radix=3"],
    ),
    ("cdc_sync_Stages_must_be_at_least_2", &["Stages=1"]),
    ("cdc_sync_W_must_be_at_least_1", &["W=0"]),
    (
        "cenju3_machine_Nodes_must_be_1_to_4_to_the_Stages",
        &["Nodes=17", "Stages=2"],
    ),
    ("cenju3_machine_Stages_must_be_1_to_4", &["Stages=5"]),
    ("cenju3_nic_LinkW_must_be_16", &["LinkW=8"]),
    ("cenju3_parse_BusW_must_be_32_or_64", &["BusW=48"]),
    ("cenju3_receiver_BusW_must_be_32_or_64", &["BusW=128"]),
    ("cenju3_regs_FifoWords_must_be_32_to_32768", &["FifoWords=31"]),
    ("cenju3_rx_BusW_must_be_a_multiple_of_LinkW", &["BusW=24"]),
    ("cenju3_rx_FifoWords_must_be_4_to_32768", &["FifoWords=3"]),
    ("cenju3_rx_FifoWords_must_be_4_to_32768", &["FifoWords=32769"]),
    ("cenju3_send_queue_BusW_must_be_32_or_64", &["BusW=48"]),
    (
        "cenju3_send_queue_FetchBeats_must_be_a_power_of_two_and_at_most_a_header",
        &["FetchBeats=3"],
    ),
    (
        "cenju3_send_queue_FetchBeats_must_be_a_power_of_two_and_at_most_a_header",
        &["FetchBeats=16"],
    ),
    ("cenju3_sender_BusW_must_be_32_or_64", &["BusW=16"]),
    ("cenju3_store_BusW_must_be_32_or_64", &["BusW=16"]),
    ("cenju3_switch_BufFlits_must_be_at_least_8", &["BufFlits=7"]),
    ("crossbar_N_must_be_at_least_2", &["N=1"]),
    ("crossbar_W_must_hold_Digits_of_clog2_N_bits", &["W=7", "Digits=4"]),
    ("crossbar_buffered_N_must_be_at_least_2", &["N=1"]),
    (
        "crossbar_buffered_W_must_hold_Digits_of_clog2_N_bits",
        &["W=7", "Digits=4"],
    ),
    ("dma_copy_LenW_must_hold_PacketBytes_and_be_below_AddrW", &["LenW=32"]),
    ("dma_copy_LenW_must_hold_PacketBytes_and_be_below_AddrW", &["LenW=9"]),
    ("dma_copy_PacketBytes_must_be_at_least_a_word", &["PacketBytes=4"]),
    (
        "dma_read_BurstBeats_must_be_a_power_of_two_from_1_to_256",
        &["BurstBeats=6"],
    ),
    ("dma_read_DataW_must_be_a_power_of_two_and_at_least_16", &["DataW=24"]),
    ("dma_read_LenW_must_be_above_the_byte_bits_and_below_AddrW", &["LenW=2"]),
    ("dma_read_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("dma_splitter_FlagsW_UserW_and_SeqW_must_be_at_least_1", &["FlagsW=0"]),
    ("dma_splitter_FlagsW_UserW_and_SeqW_must_be_at_least_1", &["UserW=0"]),
    ("dma_splitter_FlagsW_UserW_and_SeqW_must_be_at_least_1", &["SeqW=0"]),
    ("dma_splitter_LenW_and_AddrW_must_hold_PacketBytes", &["LenW=5"]),
    (
        "dma_splitter_PacketBytes_must_be_a_power_of_two_and_at_least_2",
        &["PacketBytes=48"],
    ),
    (
        "dma_write_BurstBeats_must_be_a_power_of_two_from_1_to_256",
        &["BurstBeats=512"],
    ),
    ("dma_write_DataW_must_be_a_power_of_two_and_at_least_16", &["DataW=8"]),
    (
        "dma_write_LenW_must_be_above_the_byte_bits_and_below_AddrW",
        &["LenW=32"],
    ),
    ("dma_write_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("fifo_Depth_must_be_at_least_1", &["Depth=0"]),
    ("fifo_W_must_be_at_least_1", &["W=0"]),
    ("fifo_bram_Depth_must_be_at_least_1", &["Depth=0"]),
    ("fifo_bram_W_must_be_at_least_1", &["W=0"]),
    ("mem_bram_DataW_must_be_a_power_of_two_and_at_least_16", &["DataW=24"]),
    ("mem_bram_Words_must_be_a_power_of_two_and_at_least_2", &["Words=12"]),
    ("mem_read_mux_N_must_be_at_least_1", &["N=0"]),
    ("mem_read_mux_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("mem_read_rules_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    (
        "mem_wide_cmd_NarrowW_must_be_a_power_of_two_and_at_least_16",
        &["NarrowW=24"],
    ),
    ("mem_read_wide_Depth_must_be_at_least_2", &["Depth=1"]),
    ("mem_wide_cmd_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("mem_wide_cmd_WideW_must_be_a_power_of_two_above_NarrowW", &["WideW=32"]),
    ("mem_write_mux_DataW_must_be_a_multiple_of_8", &["DataW=12"]),
    ("mem_write_mux_N_must_be_at_least_1", &["N=0"]),
    ("mem_write_mux_Outstanding_must_be_at_least_1", &["Outstanding=0"]),
    ("omega_Stages_must_be_at_least_1", &["Stages=0"]),
    ("reset_sync_Stages_must_be_at_least_2", &["Stages=1"]),
    ("skid_W_must_be_at_least_1", &["W=0"]),
    ("stream_delay_Delay_must_be_at_least_1", &["Delay=0"]),
    ("stream_down_Ratio_must_be_at_least_1", &["Ratio=0"]),
    ("stream_down_UnitW_must_be_at_least_1", &["UnitW=0"]),
    ("stream_gap_GapW_must_be_at_least_1", &["GapW=0"]),
    ("stream_gap_W_must_be_at_least_1", &["W=0"]),
    ("stream_merge_N_must_be_at_least_1", &["N=0"]),
    ("stream_merge_W_must_be_at_least_1", &["W=0"]),
    ("stream_rules_W_must_be_at_least_1", &["W=0"]),
    ("stream_up_Ratio_must_be_at_least_1", &["Ratio=0"]),
    ("stream_up_UnitW_must_be_at_least_1", &["UnitW=0"]),
    ("sync_node_Groups_must_be_at_least_1", &["Groups=0"]),
    ("sync_node_Radix_must_be_at_least_1", &["Radix=0"]),
    ("sync_tree_Cells_must_be_at_least_1", &["Cells=0"]),
    ("sync_tree_Groups_must_be_at_least_1", &["Groups=0"]),
    ("sync_tree_Radix_must_be_a_power_of_two_and_at_least_2", &["Radix=3"]),
    ("torus_router_CoordW_must_be_1_to_8", &["CoordW=9"]),
    ("torus_router_CyclesPerWord_must_be_at_least_1", &["CyclesPerWord=0"]),
    ("torus_router_W_must_be_at_least_19", &["W=18"]),
    ("cenju3_regs_FifoWords_must_be_32_to_32768", &["FifoWords=32769"]),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn units() -> Units {
    Units::read(&workspace().join("rtl/units.toml")).unwrap()
}

/// All source files of the list's library.
fn sources() -> Vec<PathBuf> {
    let units = units();
    let files = |folder: &String| fs::read_dir(units.path(folder)).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<PathBuf> = units.library.iter().flat_map(files).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "sv"));
    all.sort();
    all
}

/// The messages of a source file: modules that are not there.
fn messages(text: &str) -> Vec<String> {
    let line = |line: &str| Some(line.trim().strip_suffix(" u_bad ();")?.to_owned());
    text.lines().filter_map(line).collect()
}

/// Values that the comment of a parameter excludes, as far as it does so in numbers.
fn outside(limit: &str) -> Vec<i64> {
    let words: Vec<&str> = limit
        .split([' ', ',', ';', ':'])
        .filter(|word| !word.is_empty())
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).and_then(number), number(at + 1));
        match (*word, before, after) {
            ("to", Some(low), Some(high)) => values.extend([low - 1, high + 1]),
            ("or", Some(_), Some(high)) => values.push(high * 3 / 4),
            (">=" | "least", _, Some(low)) => values.push(low - 1),
            (">" | "above", _, Some(low)) => values.push(low),
            ("power", ..) => values.push(48),
            _ => {}
        }
        if let Some((Ok(low), Ok(high))) = word.split_once("..").map(|(a, b)| (a.parse::<i64>(), b.parse::<i64>())) {
            values.extend([low - 1, high + 1]);
        }
    }
    values
}

/// Parameters of a source file with the values that their comments exclude.
fn limits(text: &str) -> Vec<(&str, i64)> {
    let limit = |line| -> Option<Vec<(&str, i64)>> {
        let (declaration, comment): (&str, &str) = str::split_once(line, "//")?;
        let (left, _) = declaration.trim().strip_prefix("parameter ")?.split_once('=')?;
        let name = left.split_whitespace().last()?;
        Some(outside(comment).into_iter().map(|value| (name, value)).collect())
    };
    text.lines().filter_map(limit).flatten().collect()
}

#[test]
fn what_a_comment_excludes() {
    let text = [
        "    parameter int A = 32,  // bits of a word: 32, 64 or 128",
        "    parameter  int B = 4, // words, power of two, >= 2",
        "parameter int C = 1  // 1 to 7",
        "    localparam int D = 1;  // >= 1",
        "    parameter int E = 1,  // 1..256, < A",
    ];
    let text = text.join("\n");
    let found = limits(&text);
    let expected = [("A", 96), ("B", 48), ("B", 1), ("C", 0), ("C", 8), ("E", 0), ("E", 257)];
    assert_eq!(found, expected);
}

/// By the module itself, or by a block in it.
#[test]
fn a_value_that_a_comment_excludes_stops_elaboration() {
    let mut accepted = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for (name, value) in limits(&text) {
            let (passed, said) = elaborate(&path, &[&format!("{name}={value}")]);
            if passed || !said.contains("_must_") {
                accepted.push(format!("{}: {name}={value}", path.file_stem().unwrap().display()));
            }
        }
    }
    assert_eq!(accepted, Vec::<String>::new());
}

/// What Verilator says of a module with these parameters.
fn elaborate(module: &Path, params: &[&str]) -> (bool, String) {
    let set = |name| env::var_os(name);
    let tools = Toolchain::find_in(
        set("VERILATOR_ROOT").as_deref(),
        Some(&workspace()),
        set("PATH").as_deref(),
    );
    let mut command = tools.unwrap_or_else(|e| panic!("{e}")).verilator();
    command
        .args(["--lint-only", "--top-module"])
        .arg(module.file_stem().unwrap());
    let units = units();
    for folder in &units.library {
        command.arg("-y").arg(units.path(folder));
    }
    command.args(params.iter().map(|p| format!("-G{p}")));
    command.args(sources().iter().filter(|p| p.to_string_lossy().ends_with("_pkg.sv")));
    let output = command.arg(module).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_check_of_a_parameter_is_listed_here() {
    let known: BTreeSet<String> = ILLEGAL.iter().map(|(message, _)| message.to_string()).collect();
    let texts = sources().into_iter().map(|path| fs::read_to_string(path).unwrap());
    let found: BTreeSet<String> = texts.flat_map(|text| messages(&text)).collect();
    assert_eq!(found, known);
}

#[test]
fn an_illegal_parameter_stops_elaboration_and_is_named() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let messages = messages(&text);
        let cases = ILLEGAL
            .iter()
            .filter(|(message, _)| messages.iter().any(|m| m == message));
        let mut checked = 0;
        for (message, params) in cases {
            let (passed, said) = elaborate(&path, params);
            assert!(!passed && said.contains(&format!("'{message}'")), "{params:?}: {said}");
            checked += 1;
        }
        if checked > 0 {
            let (_, said) = elaborate(&path, &[]);
            assert!(!said.contains("_must_"), "{} as it is: {said}", path.display());
        }
    }
}
