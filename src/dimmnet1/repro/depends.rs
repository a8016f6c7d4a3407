//! The parameters that rows depend on, because they move them.

/// Clocks, link and switch.
const WIRE: [&str; 4] = ["core_period", "link_period", "word_bytes", "switch_delay"];
/// A store from the host to its card, and a load back.
const HOST: [&str; 4] = ["store_path", "store", "load", "poll_loop"];
const MEMORY: [&str; 3] = ["mem_read_latency", "mem_write_latency", "mem_overhead"];
/// Through the windows.
const BOTF: [&str; 5] = ["window_bytes", "windows", "wc_word", "fence", "send_call"];
const RDMA: [&str; 3] = ["packet_bytes", "rdma_setup", "send_call"];

/// Lists put together; a name in two of them counts once.
fn all(lists: &[&[&'static str]]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in lists.iter().copied().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

/// A word by AOTF and the poll for it.
pub fn word() -> Vec<&'static str> {
    all(&[&WIRE, &HOST])
}

/// A blocking send through the windows.
pub fn botf() -> Vec<&'static str> {
    all(&[&WIRE, &HOST, &MEMORY, &BOTF])
}

/// The same, received by the firmware.
pub fn served() -> Vec<&'static str> {
    all(&[&botf(), &["f_seq", "poll"]])
}

/// A blocking send by RDMA.
pub fn rdma() -> Vec<&'static str> {
    all(&[&WIRE, &HOST, &MEMORY, &RDMA])
}

/// Sends of both kinds.
pub fn both() -> Vec<&'static str> {
    all(&[&served(), &rdma()])
}

pub fn barrier() -> Vec<&'static str> {
    all(&[&word(), &["nodes"]])
}
