//! M1 and M2: latency of PUT, from the call to the flag test at the other cell.

use std::cell::Cell as Count;
use std::rc::Rc;

use super::lab::{HARDWARE, Lab, MeasureError, finish, flag, node, pattern, wrong};
use super::path;
use crate::ap1000p::host::{By, Transfer};
use crate::repro::row::Spec;
use crate::repro::{Curve, Mark, Plot, Scale};
use crate::{Addr, Picos};

/// Sizes of the PUTs, in bytes.
const SIZES: [u32; 7] = [4, 16, 64, 256, 1024, 4096, 16384];

/// Latency in us of a PUT of each size, and the number of wrong words.
fn latencies(lab: &Lab<'_>, by: By) -> Result<(Vec<f64>, u32), MeasureError> {
    let (mut times, mut bad) = (Vec::new(), 0);
    let mut sim = lab.boot(2, 1)?;
    for (count, bytes) in (1..).zip([SIZES[0]].into_iter().chain(SIZES)) {
        let (source, dest) = (Addr(0x1_0000), Addr(0x3_0000));
        let called = Rc::new(Count::new(Picos::ZERO));
        let start = called.clone();
        let transfer = Transfer {
            words: bytes / 4,
            source,
            dest,
            dest_flag: Some(flag(0)),
            ..Transfer::default()
        };
        sim.spawn_checked(node(0), async move |cell| {
            start.set(cell.now());
            cell.put_by(by, node(1), &transfer).await
        });
        let seen = Rc::new(Count::new(Picos::ZERO));
        let end = seen.clone();
        sim.spawn_checked(node(1), async move |cell| {
            cell.wait_flag(flag(0), count).await?;
            end.set(cell.now());
            Ok::<_, crate::ap1000p::host::CommandError>(())
        });
        finish(&mut sim)?;
        let expected: Vec<u32> = (0..bytes / 4).map(|n| pattern(0, source.0 + 4 * n)).collect();
        bad += wrong(&sim.cell(node(1)), dest, &expected);
        // The first PUT misses in the TLBs.
        if count > 1 {
            times.push((seen.get() - called.get()).as_us());
        }
    }
    Ok((times, bad))
}

/// Intercept and slope of the least-squares line through the points.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let slope = mean(&|p| (p.0 - x) * (p.1 - y)) / mean(&|p| (p.0 - x) * (p.0 - x));
    (y - slope * x, slope)
}

/// Its name in a row, in words, and the latency that the source states for 0 bytes, in us.
fn facts(by: By) -> (&'static str, &'static str, f64) {
    match by {
        By::User => ("m1", "by the user", 5.1),
        By::System => ("m2", "by system call", 8.6),
    }
}

/// The latency over the size, of each way to call.
fn plot(lab: &mut Lab<'_>, id: &'static str, title: &str, ways: &[(By, &[(f64, f64)])]) {
    let curve = |(by, points): &(By, &[(f64, f64)])| Curve {
        name: facts(*by).1.into(),
        points: points.to_vec(),
    };
    let mark = |(by, _): &(By, &[(f64, f64)])| Mark::Level {
        y: facts(*by).2,
        from: 0.0,
        says: match by {
            By::User => "5.1 us by the user, for 0 bytes",
            By::System => "8.6 us by system call, for 0 bytes",
        },
    };
    lab.outcome.plots.push(Plot {
        id,
        title: title.into(),
        axes: ["bytes", "us"],
        scales: [Scale::Log(2), Scale::Log(10)],
        curves: ways.iter().map(curve).collect(),
        marks: ways.iter().map(mark).collect(),
    });
}

/// The points of a PUT.
type Points = Vec<(f64, f64)>;

/// Writes the rows of a PUT; returns the latency for 0 bytes, and that of each size.
fn rows(lab: &mut Lab<'_>, by: By) -> Result<(f64, Points), MeasureError> {
    let (name, who, paper) = facts(by);
    let software: &[&'static str] = match by {
        By::User => &["store_cycles", "flag_test", "call"],
        By::System => &["store_cycles", "flag_test", "call", "system_call"],
    };
    let (times, bad) = latencies(lab, by)?;
    let points: Points = SIZES.iter().map(|&bytes| f64::from(bytes)).zip(times).collect();
    let (intercept, slope) = line(&points);
    let spec = |row: &str, what: &str, unit| {
        Spec::new(format!("{name}.{row}"), format!("PUT {who}: {what}"), unit).depends(&HARDWARE)
    };
    lab.none(
        &format!("{name}.data"),
        "received words that differ from the sent ones",
        "words",
        bad,
    );
    let none = spec("intercept", "latency for 0 bytes", "us")
        .paper(paper)
        .within(paper * 0.9, paper * 1.1);
    lab.row(none.depends(software), intercept);
    if by == By::User {
        // A system call has the same slope, because the link sets it.
        let byte = spec("slope", "latency per further byte", "ns").paper(40.0);
        lab.row(byte.within(39.0, 41.0), slope * 1000.0);
        let half = spec("half", "size at half the link's rate", "B").near(127.5, 0.1, "5.1 us / 40 ns, within 10 %");
        lab.row(half.depends(software), intercept / slope);
    }
    for &(bytes, us) in &points {
        lab.row(
            spec(&format!("{bytes}B"), &format!("{bytes} B"), "us").depends(software),
            us,
        );
    }
    Ok((intercept, points))
}

pub fn m1(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let (_, points) = rows(lab, By::User)?;
    plot(
        lab,
        "put",
        "Latency of a PUT, from the call to the flag",
        &[(By::User, &points)],
    );
    path::trace(lab, path::Message::Put)
}

pub fn m2(lab: &mut Lab<'_>) -> Result<(), MeasureError> {
    let (system, by_system) = rows(lab, By::System)?;
    let (times, _) = latencies(lab, By::User)?;
    let points: Points = SIZES.iter().map(|&bytes| f64::from(bytes)).zip(times).collect();
    let ways: [(By, &[_]); 2] = [(By::User, &points), (By::System, &by_system)];
    plot(lab, "call", "Latency of a PUT, from the call to the flag", &ways);
    let how = "8.6 - 5.1 us, within 0.1 us";
    let more = Spec::new("m2.more", "latency added by a system call", "us").beside(3.5, how);
    let more = more.by_formula(3.4, 3.6, how);
    lab.row(more.depends(&["system_call"]), system - line(&points).0);
    Ok(())
}
