//! `tsunagi send`: a real file through the machine, with SHA-256 at both ends.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::args::SendArgs;
use super::progress::Progress;
use super::{CliError, table};
use crate::cenju3::host::{Cenju3Sim, RmwriteError};
use crate::cenju3::params::Config;
use crate::harness::wave::Probe;
use crate::repro::cenju3::{MeasureError, finish, machine};
use crate::repro::machine::AnyBackend;
use crate::{Addr, NodeId, Picos};

/// Most bytes that are in the machine at once.
const WINDOW: u32 = 1 << 20;

/// What came of a file.
struct Carried {
    bytes: u64,
    time: Picos,
    sent: String,
    received: String,
}

pub fn send(args: &SendArgs) -> Result<(), CliError> {
    for pe in [args.from, args.to] {
        if pe >= args.pes {
            let known = format!("the machine has PEs 0 to {} (--pes {})", args.pes - 1, args.pes);
            return Err(CliError::Usage(format!("no PE {pe}: {known}")));
        }
    }
    let mut config = args.settings.config()?;
    config.set("pes", args.pes.into())?;
    let machine = machine(args.backend.kind(), &config, &Probe::default()).map_err(MeasureError::from)?;
    let carried = carry(machine, &config, args)?;
    let equal = carried.sent == carried.received;
    let rate = if carried.bytes > 0 {
        carried.time.rate_mb_s(carried.bytes)
    } else {
        0.0
    };
    if args.json {
        table::print_json(&json!({
            "machine": args.machine.name(), "pes": args.pes, "from": args.from, "to": args.to, "backend": args.backend.kind().name(),
            "file": args.file, "bytes": carried.bytes, "sha256_sent": carried.sent, "sha256_received": carried.received, "equal": equal,
            "time_us": carried.time.as_us(), "mb_s": rate,
        }));
    } else {
        table::print(format!(
            "{}: {} B from {} to {} of {} PEs ({})",
            args.file.display(),
            carried.bytes,
            NodeId(args.from),
            NodeId(args.to),
            args.pes,
            args.backend.kind().name()
        ));
        table::print(format!("sent      {}", carried.sent));
        let verdict = if equal { "equal" } else { "DIFFERENT" };
        table::print(format!("received  {}  {verdict}", carried.received));
        table::print(format!("{:.1} us on the machine, {rate:.2} MB/s", carried.time.as_us()));
    }
    if equal {
        Ok(())
    } else {
        Err(CliError::Failed("what was received is not what was sent".into()))
    }
}

fn carry(machine: AnyBackend, config: &Config, args: &SendArgs) -> Result<Carried, CliError> {
    let mut file = File::open(&args.file).map_err(CliError::file("open", &args.file))?;
    let size = file.metadata().map_err(CliError::file("read", &args.file))?.len();
    let progress = Progress::new("send");
    let mut sim = Cenju3Sim::new(machine, config.clone()).map_err(MeasureError::from)?;
    let (from, to) = (sim.pe(NodeId(args.from)), sim.pe(NodeId(args.to)));
    // The receiver's window lies behind the sender's, for a PE that sends to itself.
    let window = WINDOW.min(from.memory_end() / 2);
    let (source, target, dest) = (Addr(0), Addr(window), NodeId(args.to));
    let (mut sent, mut received) = (Sha256::new(), Sha256::new());
    let (mut bytes, begin) = (0u64, sim.now());
    loop {
        let data = next_window(&mut file, window, &args.file)?;
        if data.is_empty() {
            break;
        }
        let len = data.len() as u32;
        sent.update(&data);
        let poison: Vec<u8> = data.iter().map(|b| !b).collect();
        from.write(source, &data);
        to.write(target, &poison);
        sim.spawn_checked(NodeId(args.from), async move |pe| {
            pe.rmwrite(source, dest, target, len).await?;
            pe.fence().await;
            Ok::<_, RmwriteError>(())
        });
        finish(&mut sim, len)?;
        let mut got = to.read(target, len);
        if let Some(bit) = args.flip_bit.and_then(|bit| bit.checked_sub(bytes * 8))
            && let Some(byte) = got.get_mut((bit / 8) as usize)
        {
            *byte ^= 1 << (bit % 8);
        }
        received.update(&got);
        bytes += u64::from(len);
        progress.at(bytes, size.max(bytes));
    }
    let time = sim.now().saturating_sub(begin);
    Ok(Carried {
        bytes,
        time,
        sent: hex(sent),
        received: hex(received),
    })
}

fn next_window(file: &mut File, window: u32, path: &Path) -> Result<Vec<u8>, CliError> {
    let mut data = Vec::new();
    file.take(window.into())
        .read_to_end(&mut data)
        .map_err(CliError::file("read", path))?;
    Ok(data)
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
