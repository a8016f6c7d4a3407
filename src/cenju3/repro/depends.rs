//! The parameters that each row depends on, because they move it. `tests/cenju3/criteria/depends.rs` changes every
//! parameter and compares each row with its list.
//!
//! Latencies depend on every clock and delay before them by hundredths of a microsecond: these decide the clock edge at
//! which a step falls.

/// The wire format, which is fixed.
pub const FORMAT: [&str; 3] = ["link_bytes", "packet_bytes", "header_bytes"];
const CLOCKS: [&str; 4] = ["io_period", "io_phase", "net_period", "net_phase"];
/// Idle time between packets.
const PACE: [&str; 2] = ["s_gap", "sync_idle"];
/// The path through the switches.
pub const PATH: [&str; 3] = ["stages", "sync_cycles", "switch_cycles"];
pub const MEMORY: [&str; 3] = ["mem_read_latency", "mem_write_latency", "mem_overhead"];
/// The kernel's work to queue a parcel and start the Sender.
pub const QUEUE: [&str; 3] = ["ext_access", "register_answer", "copy_rate"];
/// The buffers in front of a Receiver that is stopped.
const HIDE: [&str; 3] = ["r_thresh", "crossing_words", "buf_flits"];
/// The receiving CPU's work after a DMA.
const AFTER: [&str; 3] = ["irq_recognition", "handler", "postinval_rate"];

/// Lists put together; a name in two of them counts once.
pub fn all(lists: &[&[&'static str]]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in lists.iter().copied().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

/// A list without the parameters that an experiment sets itself.
pub fn but(list: &[&'static str], set: &[&str]) -> Vec<&'static str> {
    list.iter().copied().filter(|name| !set.contains(name)).collect()
}

/// The path of one packet through the hardware.
pub fn packet() -> Vec<&'static str> {
    all(&[
        &["link_bytes", "header_bytes", "bus_bytes"],
        &CLOCKS,
        &PATH,
        &MEMORY,
        &QUEUE,
    ])
}

/// One word by `CJrmwrite`, from user to user.
pub fn word() -> Vec<&'static str> {
    let kernels = [
        "syscall",
        "check_translate",
        "kernel_send",
        "irq_recognition",
        "handler",
        "receive_kernel",
    ];
    all(&[&packet(), &kernels, &["user_level", "queue_headers"]])
}

/// One line by a DMA, from user to user without a kernel.
pub fn line() -> Vec<&'static str> {
    all(&[&packet(), &["kernel_send"]])
}

/// DMA transfers; the Receiver is stopped while the kernel invalidates.
pub fn stopped() -> Vec<&'static str> {
    let bursts = ["bus_bytes", "burst_beats"];
    let parcels = ["parcel_max", "queue_headers"];
    all(&[
        &FORMAT, &CLOCKS, &PACE, &PATH, &bursts, &MEMORY, &HIDE, &AFTER, &QUEUE, &parcels,
    ])
}

/// DMA transfers without any stall.
pub fn flowing() -> Vec<&'static str> {
    all(&[&FORMAT, &["net_period", "io_period", "mem_overhead"], &PACE])
}

/// One DMA transfer, from Sender start to its last byte.
pub fn one_dma() -> Vec<&'static str> {
    let others = ["burst_beats", "parcel_max", "copy_rate"];
    all(&[&FORMAT, &but(&CLOCKS, &["io_phase"]), &PACE, &PATH, &MEMORY, &others])
}

/// The sending CPU's work for a `CJrmwrite`.
const CALL: [&str; 5] = [
    "syscall",
    "check_translate",
    "kernel_send",
    "writeback_rate",
    "request_bytes",
];

/// Successive calls of `CJrmwrite`; the receiving CPU invalidates before and after each.
pub fn rmwrite() -> Vec<&'static str> {
    let before = ["preinval_rate", "preinval_kernel"];
    all(&[&stopped(), &CALL, &before, &["piece_bytes", "pipelined"]])
}

/// The same without the receiving PE.
pub fn sender() -> Vec<&'static str> {
    let memory = ["mem_read_latency", "mem_overhead"];
    let others = ["stages", "parcel_max", "queue_headers", "user_level"];
    let clocks = but(&CLOCKS, &["io_phase"]);
    all(&[&FORMAT, &clocks, &PACE, &memory, &QUEUE, &CALL, &others])
}
