//! CPU time of driving a verilated model from Rust, compared with a hand-written C++ main on the same RTL and workload.
//!
//!     cargo run -p drive-bench [CYCLES [ROUNDS]]
//!
//! The model is a 4x4 crossbar of 64 bits, saturated with one-word packets. Each round runs C++ in two styles and Rust,
//! one after the other. The result is the median of the rounds' ratios of Rust to the faster style.

use std::env;
use std::ffi::c_long;
use std::process::{Command, exit};

use verilated::Context;

include!(concat!(env!("OUT_DIR"), "/units.rs"));

/// The C++ program of this bench.
const CPP: &str = concat!(env!("OUT_DIR"), "/drive-cpp");

unsafe extern "C" {
    /// CPU time of this process in microseconds, as the C++ side reads it.
    safe fn clock() -> c_long;
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The same workload as `drive` in `cpp/main.cpp`, statement by statement.
fn drive(dut: &Crossbar, cycles: u64) -> u64 {
    let clock = || {
        dut.clk_i.set(1);
        dut.eval();
        dut.clk_i.set(0);
        dut.eval();
    };
    dut.rst_i.set(1);
    for _ in 0..4 {
        clock();
    }
    dut.rst_i.set(0);
    dut.in_valid_i.set(0xf);
    dut.in_last_i.set(0xf);
    dut.out_ready_i.set(0xf);
    let (mut random, mut hash) = (0x9e37_79b9_7f4a_7c15, 0u64);
    let mut taken = 0xf;
    for _ in 0..cycles {
        for i in 0..4 {
            if taken >> i & 1 == 1 {
                dut.in_data_i.set_bits(64 * i, 64, next(&mut random));
            }
        }
        taken = dut.in_ready_o.get();
        let valid = dut.out_valid_o.get();
        for i in 0..4 {
            if valid >> i & 1 == 1 {
                hash = hash.rotate_left(5) ^ dut.out_data_o.get_bits(64 * i, 64);
            }
        }
        clock();
    }
    hash
}

/// Nanoseconds of CPU and the hash from a child run.
fn child(program: &str, style: &str, cycles: u64) -> (f64, String) {
    let output = Command::new(program)
        .args([style, &cycles.to_string()])
        .output()
        .expect("the bench's own programs start");
    let text = String::from_utf8(output.stdout).expect("they print ASCII");
    let (spent, hash) = text.trim().split_once(' ').expect("they print two words");
    (spent.parse().expect("the first is a number"), hash.to_string())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |index: usize, default: u64| {
        arguments.get(index).map_or(default, |text| {
            text.parse().unwrap_or_else(|_| {
                eprintln!("drive-bench: `{text}` is not a number");
                exit(2)
            })
        })
    };
    if arguments.first().is_some_and(|a| a == "rust") {
        let dut = Crossbar::new(&Context::new());
        let start = clock();
        let hash = drive(&dut, number(1, 0));
        println!("{} {hash:016x}", (clock() - start) * 1000);
        return;
    }
    let (cycles, rounds) = (number(0, 1_000_000), number(1, 11).max(1));
    let own = env::current_exe().expect("a running program has a path");
    let own = own.to_str().expect("build paths are UTF-8");
    let (mut ratios, mut times) = (Vec::new(), [const { Vec::new() }; 3]);
    for _ in 0..rounds {
        let runs = [
            child(CPP, "ports", cycles),
            child(CPP, "pointers", cycles),
            child(own, "rust", cycles),
        ];
        assert!(
            runs.iter().all(|run| run.1 == runs[0].1),
            "the programs did not do the same work: {runs:?}"
        );
        ratios.push(runs[2].0 / runs[0].0.min(runs[1].0));
        for (list, run) in times.iter_mut().zip(&runs) {
            list.push(run.0 / cycles as f64);
        }
    }
    let [ports, pointers, rust] = times.map(median);
    println!(
        "CPU time per cycle, 4x4 crossbar of 64 bits, saturated\n\
         (median of {rounds} interleaved rounds of {cycles} cycles)"
    );
    println!("  C++, ports of the class    {ports:7.1} ns");
    println!("  C++, ports of the root     {pointers:7.1} ns");
    println!("  Rust                       {rust:7.1} ns");
    println!(
        "  Rust / faster C++          {:7.3}    (target: at most 1.00)",
        median(ratios)
    );
}
