//! A host program to start from: two PEs of a Cenju-3, a word from the memory of one to that of the other, and back.
//! The argument is `model` (golden model, the default) or `rtl` (verilated RTL).

use std::error::Error;

use tsunagi::cenju3::host::Cenju3Sim;
use tsunagi::cenju3::model::ModelMachine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

/// The word that is sent, and the place that it arrives at, in each memory.
const WORD: Addr = Addr(0);
const ARRIVES: Addr = Addr(64);

fn main() -> Result<(), Box<dyn Error>> {
    let config = Config {
        pes: 2,
        ..Config::paper()
    };
    let machine: AnyBackend = match std::env::args().nth(1).as_deref() {
        None | Some("model") => Box::new(ModelMachine::new(&config)),
        Some("rtl") => rtl::build(&config, &Probe::default())?,
        Some(other) => return Err(format!("unknown backend `{other}`; known: model, rtl").into()),
    };
    let mut sim = Cenju3Sim::new(machine, config)?;
    sim.spawn(NodeId(0), async |pe| {
        let begin = pe.now();
        pe.write(WORD, &42_u32.to_le_bytes());
        pe.rmwrite(WORD, NodeId(1), ARRIVES, 4).await.expect("a legal transfer");
        let answer = pe.wait_for_change(ARRIVES, 0).await;
        println!("PE 0 has {answer} after {}", pe.now() - begin);
    });
    sim.spawn(NodeId(1), async |pe| {
        let word = pe.wait_for_change(ARRIVES, 0).await;
        pe.write(WORD, &(word + 1).to_le_bytes());
        pe.rmwrite(WORD, NodeId(0), ARRIVES, 4).await.expect("a legal transfer");
    });
    sim.run(Picos::from_us(1000.0))?; // at most; a program that still waits then is an error, with what it waits for
    Ok(())
}
