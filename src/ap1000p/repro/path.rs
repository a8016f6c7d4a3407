//! The way of one PUT and of one GET, for the report's diagrams.

use std::cell::RefCell;
use std::rc::Rc;

use super::lab::{Lab, MeasureError, finish, flag};
use crate::ap1000p::host::CommandError;
use crate::repro::{Act, Record, Trace};
use crate::{Addr, NodeId};

const FROM: NodeId = NodeId(0);
const TO: NodeId = NodeId(1);
/// Words that it carries.
const WORDS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    Put,
    Get,
}

/// Keeps the record of a message between cells 0 and 1, from the call of cell 0 to the flag that counts its words.
pub fn trace(lab: &mut Lab<'_>, message: Message) -> Result<(), MeasureError> {
    let (title, call, waits) = match message {
        Message::Put => ("A PUT of 64 B from cell 0 to cell 1", "a program stores a PUT", TO),
        Message::Get => ("A GET of 64 B by cell 0 from cell 1", "a program stores a GET", FROM),
    };
    let mut sim = lab.boot(2, 1)?;
    let mut record = Record::default();
    // The first one misses in the TLBs.
    for count in 1..=2 {
        sim.backend_mut().take_events();
        let acts = Rc::new(RefCell::new(Vec::new()));
        let (calls, looks) = (acts.clone(), acts.clone());
        sim.spawn_checked(FROM, async move |cell| {
            let (from, source, dest) = (cell.now(), Addr(0x1_0000), Addr(0x3_0000));
            match message {
                Message::Put => cell.put(TO, source, WORDS, dest, Some(flag(0)), None).await?,
                Message::Get => cell.get(TO, source, WORDS, dest, Some(flag(0)), None).await?,
            }
            calls.borrow_mut().push(Act {
                node: FROM,
                from,
                to: cell.now(),
                what: call,
            });
            Ok::<_, CommandError>(())
        });
        sim.spawn_checked(waits, async move |cell| {
            cell.wait_flag(flag(0), count).await?;
            looks.borrow_mut().push(Act {
                node: waits,
                from: cell.now(),
                to: cell.now(),
                what: "a program sees the flag",
            });
            Ok::<_, CommandError>(())
        });
        finish(&mut sim)?;
        record = Record::of(acts.take(), &sim.backend_mut().take_events());
    }
    lab.outcome.traces.push(Trace {
        node: "cell",
        ..Trace::of(title, record)
    });
    Ok(())
}
