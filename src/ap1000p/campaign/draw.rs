//! Chance: machines, programs, pages that go.

use super::{
    Command, FLAGS, HORIZONS, MEM_BYTES, REMOTE_WINDOW, SOURCE, WINDOW, forged, get_window, guest, put_window,
};
use crate::ap1000p::host::layout::{DEMAND, Layout};
use crate::ap1000p::params::Config;
use crate::campaign::{Case, Touched, draw_faults};
use crate::harness::faults::{Fault, Injection};
use crate::harness::params::{Settings, Table as _};
use crate::harness::seed::Rng;
use crate::net::torus::Torus;
use crate::{Addr, NodeId, Picos};

/// A case.
pub(super) fn case(rng: &mut Rng) -> Case {
    let (columns, rows) = [(2, 1), (1, 2), (2, 2), (3, 2), (3, 3), (4, 4)][rng.below(6) as usize];
    let cells = (columns * rows) as u64;
    let mut pick = |from: &[f64]| from[rng.below(from.len() as u64) as usize];
    let settings = [
        ("columns", f64::from(columns)),
        ("rows", f64::from(rows)),
        ("link_rate", pick(&[25.0, 200.0])),
        ("lane_words", pick(&[2.0, 4.0])),
        ("hardware_refill", pick(&[0.0, 1.0])),
        ("mem_read_latency", pick(&[0.0, 12.0, 70.0])),
        ("mem_write_latency", pick(&[0.0, 12.0, 70.0])),
        ("mem_overhead", pick(&[0.0, 1.0])),
        ("mem_shared", pick(&[0.0, 1.0])),
        ("store_cycles", pick(&[1.0, 2.0])),
        ("call", 0.0),
        ("flag_test", 0.0),
        ("interrupt", pick(&[0.0, 2000.0])),
        ("page_service", pick(&[0.0, 1000.0, 10_000.0])),
        ("mem_bytes", f64::from(MEM_BYTES)),
        // All messages go through rings.
        ("rendezvous_words", f64::from(WINDOW)),
        ("overflow_bytes", pick(&[0.0, 1024.0, 8192.0, 262_144.0])),
    ];
    let settings = Settings::default().with(&settings);
    let torus = Torus::new(columns as usize, rows as usize);
    let [demand, guests, packets, rings] = [2, 3, 3, 2].map(|of| rng.chance(1, of));
    // A processor that waits for room, or for a load, serves no fault, so it waits only where there are none.
    let is_quiet = !demand && !guests && !packets && !rings;
    let drawn = Drawn {
        torus,
        demand,
        guests,
        rings,
        // A forged acknowledge is one of a store that is under way.
        stores: !packets,
        loads: is_quiet,
    };
    // The first cells have a second program, perhaps.
    let second = if rng.chance(1, 2) { rng.below(cells + 1) } else { 0 };
    let mut programs: Vec<Vec<String>> = (0..cells + second).map(|_| drawn.program(rng)).collect();
    for program in &mut programs {
        if rng.chance(1, 3) {
            let units = rng.between(u64::from(!is_quiet), 4);
            let at = rng.below(program.len() as u64 + 1) as usize;
            program.insert(at, format!("region {units}"));
        }
    }
    if is_quiet && rng.chance(1, 6) {
        let other = rng.below(cells);
        let bursts = (0..rng.between(70, 300)).map(|n| format!("put {other} {} {} 0 flag", n % 3, 4 * n));
        programs[rng.below(cells) as usize].extend(bursts);
    }
    let mut touched = touched(&programs, cells as usize);
    if let Some(layout) = Config::of(&settings).ok().and_then(|config| Layout::new(&config)) {
        let spilled = (0..cells as usize).map(|node| Touched {
            node,
            from: Addr(layout.spill),
            bytes: 0x200,
        });
        // A fifth of all memory that fails.
        let times = touched.len() / (4 * cells as usize) + 1;
        touched.extend(spilled.cycle().take(times * cells as usize));
    }
    let horizon = HORIZONS[rng.below(2) as usize];
    let mut faults = draw_faults(rng, cells as usize, Picos::from_ns(horizon), &touched, None);
    let (gone, forged) = (
        if demand { rng.below(4) } else { 0 },
        if packets { rng.below(8) } else { 0 },
    );
    faults.extend((0..gone + forged).map(|number| Injection {
        at: Picos::from_ns(rng.below(horizon)),
        node: NodeId(rng.below(cells) as u16),
        fault: if number < gone {
            pages_gone(rng, cells)
        } else {
            Fault::Packet(forged::draw(rng, torus))
        },
    }));
    faults.sort_by_key(|injection| (injection.at, injection.node));
    // A program waits for the old value, a word, or acknowledges, which a failing memory may keep back for ever.
    if faults
        .iter()
        .any(|injection| matches!(injection.fault, Fault::MemoryFails { .. }))
    {
        for program in &mut programs {
            program.retain(|text| !["atomic", "remote"].iter().any(|word| text.starts_with(word)));
        }
    }
    Case {
        chance: 0,
        settings,
        programs,
        faults,
    }
}

/// Memory that the commands of these programs touch.
fn touched(programs: &[Vec<String>], cells: usize) -> Vec<Touched> {
    let commands = |(issuer, program): (usize, &'_ Vec<String>)| {
        let parsed = program.iter().filter_map(move |text| Command::parse(text, cells));
        parsed
            .flat_map(move |command| command.touches(issuer % cells))
            .collect::<Vec<_>>()
    };
    programs.iter().enumerate().flat_map(commands).collect()
}

/// Pages on demand go.
fn pages_gone(rng: &mut Rng, cells: u64) -> Fault {
    let other = rng.below(cells) as usize;
    let longest = [1_000, 20_000, 300_000][rng.below(3) as usize];
    let from = match rng.below(4) {
        0 => SOURCE.start + 0x1000 * rng.below(8) as u32,
        1 => put_window(other),
        2 => get_window(other),
        _ => FLAGS,
    };
    Fault::PagesGone {
        from: Addr(DEMAND + from),
        bytes: [1, 0x1000, 0x3000][rng.below(3) as usize],
        span: Picos::from_ns(rng.between(10, longest)),
    }
}

/// What programs of a case may do.
struct Drawn {
    torus: Torus,
    demand: bool,
    guests: bool,
    rings: bool,
    stores: bool,
    loads: bool,
}

impl Drawn {
    fn program(&self, rng: &mut Rng) -> Vec<String> {
        let cells = self.torus.cells() as u64;
        let mut commands = Vec::new();
        let count = if rng.chance(1, 5) { 0 } else { rng.between(1, 40) };
        for _ in 0..count {
            // One cell is met by many.
            let other = if rng.chance(1, 3) { 0 } else { rng.below(cells) };
            let most = [4, 40, 40, 300][rng.below(4) as usize];
            let words = rng.between(0, most);
            let (from, at) = (4 * rng.below(0x300), 4 * rng.below(u64::from(WINDOW) / 4 - words + 1));
            let demand = if self.demand && rng.chance(1, 2) { " demand" } else { "" };
            if self.guests && rng.chance(1, 3) {
                commands.push(format!("store {}", guest::draw(rng, self.torus)));
                continue;
            }
            if self.rings && rng.chance(1, 3) {
                commands.push(match rng.below(5) {
                    0 => format!("receive {}", rng.below(12)),
                    _ => format!("send {other} {words} {from}"),
                });
                continue;
            }
            if self.stores && rng.chance(1, 4) {
                let bytes = 1 << rng.below(4);
                // Some bytes are met again.
                let room = if rng.chance(1, 2) { 32 } else { REMOTE_WINDOW.into() };
                let at = rng.below(room) & !(bytes - 1);
                commands.push(match self.loads && rng.chance(1, 2) {
                    true => format!("remote-load {other} {bytes} {at}"),
                    false => format!("remote-store {other} {bytes} {at} {}", rng.bits()),
                });
                continue;
            }
            commands.push(match rng.below(12) {
                0..=1 => format!("pause {}", rng.below(20_000)),
                2 => format!("atomic {other} {} {}", rng.below(16), rng.below(16)),
                3 if rng.chance(1, 3) => "nowhere".into(),
                4..=6 => format!("get {other} {words} {from} {at}{demand}"),
                _ => {
                    let flag = ["flag", "flag", "-"][rng.below(3) as usize];
                    format!("put {other} {words} {from} {at} {flag}{demand}")
                }
            });
        }
        commands
    }
}
