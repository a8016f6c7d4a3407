//! `tsunagi send`: a real file through the machine, with SHA-256 at both ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::args::{Machine, SendArgs};
use super::progress::Progress;
use super::{CliError, table};
use crate::ap1000p::host::{Ap1000pSim, CommandError};
use crate::cenju3::host::{Cenju3Sim, RmwriteError};
use crate::harness::wave::Probe;
use crate::repro::machine::AnyBackend;
use crate::repro::{ap1000p, cenju3};
use crate::{Addr, NodeId, Picos};

/// Longer files are refused: there are some without an end.
const MOST: u64 = 1 << 28;
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
    let carried = match args.machine {
        Machine::Cenju3 => carry(Cenju3::new(args)?, args)?,
        Machine::Ap1000p => carry(Ap1000p::new(args)?, args)?,
    };
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
        }))?;
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
        Err(CliError::Failed("what was received is not what was sent".into()))
    }
}

/// A machine that carries what fits into a window, from one PE's memory to another's.
trait Carrier {
    fn now(&self) -> Picos;

    /// Bytes of a window.
    fn window(&self) -> u32;

    /// Gives what is read back from the receiver's memory, which was poisoned first.
    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, CliError>;
}

struct Cenju3 {
    sim: Cenju3Sim<AnyBackend>,
    from: NodeId,
    to: NodeId,
}

impl Cenju3 {
    fn new(args: &SendArgs) -> Result<Cenju3, CliError> {
        let mut config = args.settings.cenju3()?;
        config.set("pes", args.pes.into())?;
        let machine = cenju3::machine(args.backend.kind(), &config, &Probe::default());
        let machine = machine.map_err(cenju3::MeasureError::from)?;
        let (from, to) = (NodeId(args.from), NodeId(args.to));
        let sim = Cenju3Sim::new(machine, config).map_err(cenju3::MeasureError::from)?;
        Ok(Cenju3 { sim, from, to })
    }
}

impl Carrier for Cenju3 {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        WINDOW.min(self.sim.pe(self.from).memory_end() / 2)
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, CliError> {
        let (from, to) = (self.sim.pe(self.from), self.sim.pe(self.to));
        // Behind the sender's window, for a PE that sends to itself.
        let (source, dest, target) = (Addr(0), self.to, Addr(self.window()));
        let len = data.len() as u32;
        from.write(source, data);
        to.write(target, &poison(data));
        self.sim.spawn_checked(self.from, async move |pe| {
            pe.rmwrite(source, dest, target, len).await?;
            pe.fence().await;
            Ok::<_, RmwriteError>(())
        });
        cenju3::finish(&mut self.sim, len)?;
        Ok(to.read(target, len))
    }
}

struct Ap1000p {
    sim: ap1000p::Sim,
    from: NodeId,
    to: NodeId,
    /// Windows so far, as the receiver's flag counts them.
    windows: u32,
}

impl Ap1000p {
    /// Where windows are counted, and where the sender's is.
    const FLAG: Addr = Addr(4);
    const SOURCE: Addr = Addr(8);

    /// Cells as near to a square as their number goes.
    fn new(args: &SendArgs) -> Result<Ap1000p, CliError> {
        let mut config = args.settings.ap1000p()?;
        let rows = (1..=args.pes.isqrt()).rev().find(|rows| args.pes.is_multiple_of(*rows));
        let rows = rows.expect("every number is a multiple of 1");
        config.set("columns", f64::from(args.pes / rows))?;
        config.set("rows", rows.into())?;
        let machine = ap1000p::machine(args.backend.kind(), &config, &Probe::default())?;
        let sim = Ap1000pSim::new(machine, config).map_err(ap1000p::MeasureError::from)?;
        let (from, to) = (NodeId(args.from), NodeId(args.to));
        Ok(Ap1000p {
            sim,
            from,
            to,
            windows: 0,
        })
    }
}

impl Carrier for Ap1000p {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        let room = self.sim.cell(self.from).memory_end() - Self::SOURCE.0;
        WINDOW.min(room / 2) & !3
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, CliError> {
        let (from, to, dest) = (self.sim.cell(self.from), self.sim.cell(self.to), self.to);
        let target = Addr(Self::SOURCE.0 + self.window());
        let words = data.len().div_ceil(4) as u32;
        let there = from.memory(|memory| memory.write(Self::SOURCE, data))
            && to.memory(|memory| memory.write(target, &poison(data)));
        assert!(there, "windows are in memory");
        self.windows += 1;
        let count = self.windows;
        self.sim.spawn_checked(self.from, async move |cell| {
            cell.put(dest, Self::SOURCE, words, target, Some(Self::FLAG), None)
                .await
        });
        let seen = async move |cell: crate::ap1000p::host::Cell| cell.wait_flag(Self::FLAG, count).await;
        self.sim.spawn_checked::<CommandError, _>(self.to, seen);
        ap1000p::finish(&mut self.sim)?;
        let got = to.memory(|memory| memory.read(target, data.len()).map(<[u8]>::to_vec));
        Ok(got.expect("it was written"))
    }
}

fn poison(data: &[u8]) -> Vec<u8> {
    data.iter().map(|b| !b).collect()
}

fn carry(mut machine: impl Carrier, args: &SendArgs) -> Result<Carried, CliError> {
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
            let text = format!("it is longer than {MOST} B, the most that is sent");
            Err(CliError::file("send", path)(io::Error::other(text)))
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
