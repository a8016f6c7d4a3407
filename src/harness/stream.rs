//! Streams (valid, ready, payload) driven, drained and watched, cycle by cycle, for any unit: a bench sets and reads
//! the unit's ports, and calls `offer`, `ready` and `step`.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::seed::Rng;

/// Who makes pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    None,
    /// The source pauses.
    Source,
    /// The sink is not ready at times.
    Sink,
    Both,
}

impl Gaps {
    pub const ALL: [Gaps; 4] = [Gaps::None, Gaps::Source, Gaps::Sink, Gaps::Both];

    pub fn at_source(self) -> bool {
        matches!(self, Gaps::Source | Gaps::Both)
    }

    pub fn at_sink(self) -> bool {
        matches!(self, Gaps::Sink | Gaps::Both)
    }
}

/// Runs of going and pausing; now and then a long one, so that buffers fill and drain.
#[derive(Clone, Debug)]
pub struct Pacer {
    rng: Option<Rng>,
    go: bool,
    left: u64,
}

impl Pacer {
    /// Pauses at random, or never.
    pub fn new(pauses: bool, rng: Rng) -> Pacer {
        if pauses {
            Pacer {
                rng: Some(rng),
                go: false,
                left: 0,
            }
        } else {
            Pacer::steady()
        }
    }

    /// Always goes.
    pub fn steady() -> Pacer {
        Pacer {
            rng: None,
            go: true,
            left: 0,
        }
    }

    /// Never goes.
    pub fn stopped() -> Pacer {
        Pacer {
            rng: None,
            go: false,
            left: 0,
        }
    }

    /// Whether to go in this cycle.
    pub fn step(&mut self) -> bool {
        let Some(rng) = &mut self.rng else { return self.go };
        if self.left == 0 {
            self.go = !self.go;
            let longest = if rng.chance(1, 8) { 40 } else { 4 };
            self.left = rng.between(1, longest);
        }
        self.left -= 1;
        self.go
    }
}

/// Offers items in order; once offered, an item stays until it is taken.
#[derive(Clone, Debug)]
pub struct Source<T> {
    items: VecDeque<T>,
    pacer: Pacer,
    offering: bool,
}

impl<T> Source<T> {
    pub fn new(items: impl IntoIterator<Item = T>, pacer: Pacer) -> Source<T> {
        Source {
            items: items.into_iter().collect(),
            pacer,
            offering: false,
        }
    }

    /// What to offer in this cycle; once per cycle, before the edge.
    pub fn offer(&mut self) -> Option<&T> {
        let go = self.pacer.step();
        self.offering = !self.items.is_empty() && (self.offering || go);
        if self.offering { self.items.front() } else { None }
    }

    /// The edge: the item that was taken, if the unit was ready for what was offered.
    pub fn step(&mut self, ready: bool) -> Option<T> {
        if !(self.offering && ready) {
            return None;
        }
        self.offering = false;
        self.items.pop_front()
    }

    /// The unit was reset: the offer may be withdrawn.
    pub fn reset(&mut self) {
        self.offering = false;
    }

    /// Gives up all items but the one that is being offered.
    pub fn stop(&mut self) {
        self.items.truncate(usize::from(self.offering));
    }

    /// Offers with this pace from the next item on.
    pub fn set_pace(&mut self, pacer: Pacer) {
        self.pacer = pacer;
    }

    pub fn push(&mut self, item: T) {
        self.items.push_back(item);
    }

    /// Items not taken yet.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// A broken stream rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    #[error("valid fell before the word was taken: {0}")]
    Withdrawn(String),
    #[error("the offered word changed before it was taken: {0}")]
    Changed(String),
}

/// Watches one stream: once valid, everything holds until taken.
#[derive(Clone, Debug)]
pub struct Monitor<T> {
    waiting: Option<T>,
}

impl<T> Default for Monitor<T> {
    fn default() -> Monitor<T> {
        Monitor { waiting: None }
    }
}

impl<T: Clone + PartialEq + Debug> Monitor<T> {
    /// One cycle, as it is before the edge.
    pub fn step(&mut self, offered: Option<&T>, ready: bool) -> Result<(), ProtocolError> {
        match (&self.waiting, offered) {
            (Some(word), None) => return Err(ProtocolError::Withdrawn(format!("{word:x?}"))),
            (Some(word), Some(now)) if word != now => {
                return Err(ProtocolError::Changed(format!("{word:x?}, then {now:x?}")));
            }
            _ => {}
        }
        self.waiting = offered.filter(|_| !ready).cloned();
        Ok(())
    }

    /// The unit was reset: its offer may be withdrawn.
    pub fn reset(&mut self) {
        self.waiting = None;
    }
}

/// Takes what is offered when it is ready, and watches that the offers keep the rules.
#[derive(Clone, Debug)]
pub struct Sink<T> {
    pacer: Pacer,
    monitor: Monitor<T>,
    ready: bool,
}

impl<T: Clone + PartialEq + Debug> Sink<T> {
    pub fn new(pacer: Pacer) -> Sink<T> {
        Sink {
            pacer,
            monitor: Monitor::default(),
            ready: false,
        }
    }

    /// Is ready with this pace from the next cycle on.
    pub fn set_pace(&mut self, pacer: Pacer) {
        self.pacer = pacer;
    }

    /// Whether to be ready in this cycle; once per cycle, before the edge.
    pub fn ready(&mut self) -> bool {
        self.ready = self.pacer.step();
        self.ready
    }

    /// The edge: the word that was taken.
    pub fn step(&mut self, offered: Option<T>) -> Result<Option<T>, ProtocolError> {
        self.monitor.step(offered.as_ref(), self.ready)?;
        Ok(offered.filter(|_| self.ready))
    }

    /// The unit was reset.
    pub fn reset(&mut self) {
        self.monitor.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn a_monitor_sees_a_withdrawn_and_a_changed_word() {
        let mut monitor = Monitor::default();
        assert_eq!(monitor.step(Some(&1), false), Ok(()));
        assert_eq!(
            monitor.clone().step(None, true),
            Err(ProtocolError::Withdrawn("1".into()))
        );
        assert_eq!(
            monitor.clone().step(Some(&2), true),
            Err(ProtocolError::Changed("1, then 2".into()))
        );
        assert_eq!(monitor.step(Some(&1), true), Ok(()));
        assert_eq!(monitor.step(None, true), Ok(()));
    }

    #[test]
    fn a_source_holds_its_offer() {
        let mut source = Source::new([5, 6], Pacer::new(true, Seed(3).stream("source")));
        let mut taken = Vec::new();
        let mut held = None;
        for cycle in 0..200 {
            let offer = source.offer().copied();
            assert!(held.is_none() || offer == held, "cycle {cycle}");
            let ready = cycle % 7 == 6;
            held = offer.filter(|_| !ready);
            taken.extend(source.step(ready));
        }
        assert_eq!(taken, [5, 6]);
    }

    #[test]
    fn a_pacer_goes_and_pauses() {
        let mut pacer = Pacer::new(true, Seed(1).stream("pacer"));
        let gone = (0..1000).filter(|_| pacer.step()).count();
        assert!((200..800).contains(&gone), "{gone}");
        assert!((0..100).all(|_| Pacer::new(false, Seed(1).stream("")).step()));
    }
}
