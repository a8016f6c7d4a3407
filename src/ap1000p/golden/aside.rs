//! Golden model of the messages of a class that wait for software to serve a fault.

/// A missing translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Why {
    pub reason: u8,
    pub context: u16,
    pub system: bool,
    pub addr: u32,
}

/// The message that waits: the first one of a queue, by its index in the class, or the one that is going out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Head(usize),
    Own,
}

/// What happens in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    /// The first message of this queue was put back.
    pub back: Option<usize>,
    /// That of this queue goes out.
    pub settled: Option<usize>,
    /// The message that is going out waits.
    pub own: bool,
    /// The fault of `back` or `own`.
    pub why: Why,
    /// Software serves the fault that is shown: whether it gives up.
    pub served: Option<bool>,
}

/// Queues that are held, first messages that end at their next fault, and the fault that is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aside {
    pub held: u8,
    pub lost: u8,
    pub shown: Option<(Whose, Why)>,
    /// The service of the fault of the message that is going out: whether software gave up.
    pub own: Option<bool>,
}

impl Aside {
    /// A cycle. A fault that comes while another one is shown is not remembered: its queue is held until the service of
    /// the other, and shows it again.
    pub fn step(&mut self, events: &Events) {
        let served = events.served.filter(|_| self.shown.is_some());
        let before = self.own.take();
        if let Some(settled) = events.settled {
            self.lost &= !(1 << settled);
        }
        if let (Some(gives_up), Some((whose, _))) = (served, self.shown) {
            match whose {
                Whose::Head(queue) if gives_up => self.lost |= 1 << queue,
                Whose::Head(_) => {}
                Whose::Own => self.own = Some(gives_up),
            }
            (self.held, self.shown) = (0, None);
        }
        if let Some(queue) = events.back {
            self.held |= 1 << queue;
            self.shown.get_or_insert((Whose::Head(queue), events.why));
        } else if events.own && before.is_none() && served.is_none() {
            self.shown.get_or_insert((Whose::Own, events.why));
        }
    }
}
