//! No parameter is for show: another value of each moves a row, or the machine, or is refused.

use std::collections::BTreeMap;

use tsunagi::NodeId;
use tsunagi::harness::backend::Backend;
use tsunagi::repro::row::Row;

/// What rows and machines are without changes, kept, and with one.
pub type Seen = BTreeMap<String, u64>;

/// A parameter, another value, and where that shows.
pub type Entry<S> = (&'static str, f64, S);

pub fn by_name<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Seen {
    rows.into_iter().map(|r| (r.row.clone(), r.ours.to_bits())).collect()
}

/// How many nodes the machine has, and their memory.
pub fn size(machine: &mut impl Backend) -> Seen {
    let bytes = machine.memory(NodeId(0)).size();
    Seen::from([("nodes".into(), machine.nodes() as u64), ("bytes".into(), bytes as u64)])
}

/// Names for which `see` gives the same with the other value.
pub fn idle<C: Clone, S: Copy>(
    entries: &[Entry<S>],
    paper: &C,
    set: impl Fn(&mut C, &str, f64),
    see: impl Fn(S, &C) -> Result<Seen, String>,
) -> Vec<&'static str> {
    let moves_nothing = |&&(name, value, shows): &&Entry<S>| {
        let mut changed = paper.clone();
        set(&mut changed, name, value);
        let before = see(shows, paper).unwrap_or_else(|error| panic!("the machine of the paper: {error}"));
        // What is refused is not for show.
        see(shows, &changed).is_ok_and(|after| after == before)
    };
    entries.iter().filter(moves_nothing).map(|entry| entry.0).collect()
}
