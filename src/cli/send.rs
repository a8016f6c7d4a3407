//! `tsunagi send`: sends a file through the machine, with SHA-256 at both ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::args::SendArgs;
use super::progress::Progress;
use super::{CliError, table};
use crate::machine::{Carrier, Route};
use crate::{NodeId, Picos};

/// Longer files are refused: some, like devices, have no end.
const MOST: u64 = 1 << 28;

/// A transfer as JSON and CSV have it.
#[derive(Serialize)]
struct Transfer<'a> {
    machine: &'static str,
    pes: u16,
    from: u16,
    to: u16,
    backend: &'static str,
    file: &'a Path,
    bytes: u64,
    sha256_sent: &'a str,
    sha256_received: &'a str,
    equal: bool,
    time_us: f64,
    mb_s: f64,
}

/// The result of a transfer.
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
            return Err(CliError::Usage(format!("there is no PE {pe}: {known}")));
        }
    }
    let carrier = args.machine.carrier(&Route {
        from: NodeId(args.from),
        to: NodeId(args.to),
        backend: args.backend.kind(),
        settings: &args.set.settings().with(&args.machine.sized(args.pes)),
    })?;
    let carried = carry(carrier, args)?;
    let equal = carried.sent == carried.received;
    let rate = if carried.bytes > 0 {
        carried.time.rate_mb_s(carried.bytes)
    } else {
        0.0
    };
    let transfer = Transfer {
        machine: args.machine.name(),
        pes: args.pes,
        from: args.from,
        to: args.to,
        backend: args.backend.kind().name(),
        file: &args.file,
        bytes: carried.bytes,
        sha256_sent: &carried.sent,
        sha256_received: &carried.received,
        equal,
        time_us: carried.time.as_us(),
        mb_s: rate,
    };
    if args.format.json {
        table::print_json(&transfer)?;
    } else if args.format.csv {
        table::print_csv([transfer])?;
    } else {
        table::print(format!(
            "{}: {} B from {} to {} of {} PEs ({})",
            args.file.display(),
            carried.bytes,
            NodeId(args.from),
            NodeId(args.to),
            args.pes,
            args.backend.kind().name()
        ))?;
        table::print(format!("sent      {}", carried.sent))?;
        let verdict = if equal { "equal" } else { "DIFFERENT" };
        table::print(format!("received  {}  {verdict}", carried.received))?;
        table::print(format!("{:.1} us on the machine, {rate:.2} MB/s", carried.time.as_us()))?;
    }
    if equal {
        Ok(())
    } else {
        Err(CliError::Failed("the received data differ from the sent data".into()))
    }
}

fn carry(mut machine: Box<dyn Carrier>, args: &SendArgs) -> Result<Carried, CliError> {
    let file = read(&args.file)?;
    let progress = Progress::new("send");
    let (mut sent, mut received) = (Sha256::new(), Sha256::new());
    let (mut bytes, begin) = (0u64, machine.now());
    for data in file.chunks(machine.window() as usize) {
        sent.update(data);
        let mut got = machine.carry(data)?;
        if let Some(bit) = args.flip_bit.and_then(|bit| bit.checked_sub(bytes * 8))
            && let Some(byte) = got.get_mut((bit / 8) as usize)
        {
            *byte ^= 1 << (bit % 8);
        }
        received.update(&got);
        bytes += data.len() as u64;
        progress.at(bytes, file.len() as u64);
    }
    let time = machine.now().saturating_sub(begin);
    Ok(Carried {
        bytes,
        time,
        sent: hex(sent),
        received: hex(received),
    })
}

/// The whole file.
fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut data = Vec::new();
    let file = File::open(path).map_err(CliError::file("open", path))?;
    let read = file.take(MOST + 1).read_to_end(&mut data);
    match read.map_err(CliError::file("read", path))? as u64 {
        0..=MOST => Ok(data),
        _ => {
            let text = format!("it is longer than {MOST} B, the limit");
            Err(CliError::file("send", path)(io::Error::other(text)))
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
