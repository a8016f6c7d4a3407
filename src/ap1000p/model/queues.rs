//! The five queues of a cell: bounded, with a spill region in cell memory.

use crate::net::torus::Class;
use std::collections::VecDeque;

use super::Timing;
use super::replay::{set_word, word};
use crate::ap1000p::golden::broadcast::spread;
use crate::ap1000p::golden::command::message;
use crate::ap1000p::golden::page::Page;
use crate::ap1000p::golden::queues::{Element, NUMBERS, Region, SIZES, turn};
use crate::ap1000p::golden::{Label, Queue, Word};
use crate::ap1000p::regs::*;
use crate::harness::memory::Memory;

/// A message that was passed over this many times goes first.
const AGE_CAP: u32 = 16;
/// Direct words that may wait for room. While this many wait, the store of the processor waits.
const DIRECT_WORDS: usize = 2;

/// The settings from the registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The value of register MODE.
    pub mode: u32,
    pub region: Region,
}

/// The words in the RAM of a queue. Messages leave whole.
#[derive(Default)]
struct Ram {
    words: VecDeque<Word>,
    messages: usize,
    /// Words of the incomplete message at the end, and its number.
    open: u8,
    number: u8,
}

impl Ram {
    fn has_room(&self, queue: Queue) -> bool {
        self.words.len() < SIZES[queue as usize] as usize
    }

    /// Accepts the next word of the incomplete message, or a first word; with `doubt` only a first word. A first word,
    /// or a word that does not fit, drops the incomplete message; a word that does not fit is dropped too. Returns
    /// false if anything was dropped.
    fn put(&mut self, word: Word, label: Label, doubt: bool) -> bool {
        let first = label.index == 0;
        let fits = first || ((label.index, label.number) == (self.open, self.number) && !doubt);
        let whole = fits && !(first && self.forget());
        self.number = label.number;
        if !fits {
            self.forget();
            return false;
        }
        self.words.push_back(word);
        self.messages += usize::from(word.end);
        self.open = if word.end { 0 } else { label.index + 1 };
        whole
    }

    /// Drops the incomplete message, whose rest will not come. Returns whether there was one.
    fn forget(&mut self) -> bool {
        let open = std::mem::take(&mut self.open);
        self.words.truncate(self.words.len() - usize::from(open));
        open > 0
    }

    fn take(&mut self) -> Option<Vec<u32>> {
        let end = self.words.iter().position(|word| word.end)?;
        self.messages -= 1;
        Some(self.words.drain(..=end).map(|word| word.data).collect())
    }
}

pub(super) struct Queues {
    /// The hardware refills the queues.
    hardware: bool,
    rams: [Ram; QUEUES as usize],
    /// Words of messages that wait for room or for the end of a pause.
    waiting: [VecDeque<Word>; QUEUES as usize],
    /// The label of the next word of each writer.
    label: [Label; QUEUES as usize],
    direct: VecDeque<(Queue, Word, Label)>,
    passed: [u32; QUEUES as usize],
    /// The messages still to be sent of a message to all cells.
    spread: VecDeque<Vec<u32>>,
    /// The command of each class that may be put back, and whether it ends at its first fault.
    chosen: [Option<(Queue, Vec<u32>)>; 2],
    losing: [bool; 2],
    /// Queues whose first message waits for software, and those whose first message ends at its first fault.
    waits: [bool; QUEUES as usize],
    lost_head: [bool; QUEUES as usize],
    /// The region in use.
    region: Region,
    /// Elements in the region, each with the first cycle in which it can be read.
    held: VecDeque<(Element, u64)>,
    /// Position and lap of the oldest element that a queue has spilled since it had none in the region. Then the
    /// elements lost since an element of the queue last came back.
    first: [(u16, u8); QUEUES as usize],
    misses: [u32; QUEUES as usize],
    /// Queues with words in the region, and the number of their elements.
    away: [bool; QUEUES as usize],
    of: [u32; QUEUES as usize],
    /// Elements of the user's queue in the region. If software empties the region: elements that entered it since it
    /// was empty.
    users: u32,
    position: u16,
    lap: u8,
    /// First cycle in which all spilled elements are in memory, and first cycle of the next refill.
    stored: u64,
    refill: u64,
    /// An event for the next refill is due.
    pub refills: bool,
    /// A message was lost.
    pub lost: bool,
}

impl Queues {
    pub fn new(hardware: bool) -> Queues {
        Queues {
            hardware,
            rams: Default::default(),
            waiting: Default::default(),
            label: Default::default(),
            direct: VecDeque::new(),
            passed: [0; QUEUES as usize],
            spread: VecDeque::new(),
            chosen: Default::default(),
            losing: [false; 2],
            waits: [false; QUEUES as usize],
            lost_head: [false; QUEUES as usize],
            region: Region { base: 0, limit: 0 },
            held: VecDeque::new(),
            first: Default::default(),
            misses: [0; QUEUES as usize],
            away: [false; QUEUES as usize],
            of: [0; QUEUES as usize],
            users: 0,
            position: 0,
            lap: 0,
            stored: 0,
            refill: 0,
            refills: false,
            lost: false,
        }
    }

    /// Hands a message over to the writer of a queue.
    pub fn enter(&mut self, queue: Queue, words: &[u32]) {
        self.waiting[queue as usize].extend(message(words));
    }

    pub fn direct(&mut self, queue: Queue, word: Word, label: Label) {
        self.direct.push_back((queue, word, label));
    }

    /// Whether no message waits for this queue, so that the next one can be handed over.
    pub fn is_free(&self, queue: Queue) -> bool {
        self.waiting[queue as usize].is_empty()
    }

    /// Whether the queues take a store to a page without a wait.
    pub fn takes(&self, page: u16) -> bool {
        match Page::decode(page) {
            Some(Page::Command { owner, .. }) => self.is_free(owner.queue()),
            Some(Page::Direct { .. }) => self.direct.len() < DIRECT_WORDS,
            None => true,
        }
    }

    /// Whether there is room for the reply to a received request.
    pub fn takes_replies(&self) -> bool {
        Queue::ALL
            .into_iter()
            .all(|queue| queue.class() == Class::Request || self.is_free(queue))
    }

    /// Moves waiting words on as far as there is room. Returns whether any word moved.
    pub fn flow(&mut self, now: u64, setting: Setting, memory: &mut Memory, timing: &Timing) -> bool {
        let mut moved = false;
        while let Some(&(queue, word, label)) = self.direct.front() {
            let through = setting.mode & MODE_THROUGH_MASK != 0;
            let took = if through {
                let room = self.rams[queue as usize].has_room(queue);
                self.lost |= room && !self.rams[queue as usize].put(word, label, false);
                room
            } else {
                self.put(now, queue, word, setting, memory, timing)
            };
            if !took {
                break;
            }
            self.direct.pop_front();
            moved = true;
        }
        for queue in Queue::ALL {
            while let Some(&word) = self.waiting[queue as usize].front() {
                let pauses = setting.mode & MODE_PAUSE_MASK != 0 && self.label[queue as usize].index == 0;
                if pauses || !self.put(now, queue, word, setting, memory, timing) {
                    break;
                }
                self.waiting[queue as usize].pop_front();
                moved = true;
            }
        }
        moved
    }

    /// Puts a word into its queue, or into the region behind the spilled words of the queue. Returns false if the word
    /// must wait.
    fn put(
        &mut self,
        now: u64,
        queue: Queue,
        word: Word,
        setting: Setting,
        memory: &mut Memory,
        timing: &Timing,
    ) -> bool {
        let q = queue as usize;
        if self.held.is_empty() {
            self.region = setting.region;
        }
        if !self.away[q] && self.rams[q].has_room(queue) {
            self.lost |= !self.rams[q].put(word, self.label[q], false);
        } else if self.may_leave(queue) && (self.away[q] || setting.mode & MODE_BLOCK_MASK == 0) {
            let element = Element {
                queue,
                label: self.label[q],
                position: self.position,
                lap: self.lap,
                word,
            };
            let (tag, data) = element.encode();
            let at = self.region.addr() + SPILL_BYTES * u32::from(self.position);
            self.lost |= !(set_word(memory, at, tag, 0xf) && set_word(memory, at + 4, data, 0xf));
            self.stored = now + timing.write;
            self.held.push_back((element, self.stored + timing.read));
            if !self.away[q] {
                self.first[q] = (self.position, self.lap);
            }
            self.away[q] = true;
            self.of[q] += 1;
            self.users += u32::from(queue == Queue::User);
            self.position += 1;
            if u32::from(self.position) == self.region.elements() {
                self.turn_back();
            }
        } else {
            return false;
        }
        self.label[q] = self.label[q].next(word.end);
        true
    }

    /// Whether the region has room for a word of this queue. The user's queue has half of it. A reply enters only while
    /// no request is there.
    fn may_leave(&self, queue: Queue) -> bool {
        let of = |class| move |q: &&Queue| q.class() == class;
        let away = |q: &Queue| self.away[*q as usize];
        let behind = match queue.class() {
            Class::Reply => Queue::ALL.iter().filter(of(Class::Request)).any(away),
            // No request enters amid a reply.
            Class::Request => Queue::ALL
                .iter()
                .filter(of(Class::Reply))
                .any(|q| away(q) && self.label[*q as usize].index != 0),
        };
        let elements = self.region.elements();
        let share = queue != Queue::User || self.users < elements / 2;
        self.held.len() < elements as usize && share && !behind
    }

    /// Turns back: the next element is the first of the region.
    fn turn_back(&mut self) {
        self.position = 0;
        self.lap = (self.lap + 1) & (SPILL_TAG_LAP_MASK >> SPILL_TAG_LAP_SHIFT) as u8;
    }

    /// Starts anew if the region is empty.
    fn rest(&mut self) {
        if self.held.is_empty() {
            for q in 0..QUEUES as usize {
                // The last element of the queue was lost, and with it the rest of the incomplete message.
                self.lost |= self.hardware && self.away[q] && self.rams[q].forget();
            }
            self.away = [false; QUEUES as usize];
            self.users = 0;
            if self.position != 0 {
                self.turn_back();
            }
        }
    }

    /// The cycle in which the hardware can refill the next element; `None` if there is no element, or no room in its
    /// queue.
    pub fn next_refill(&self) -> Option<u64> {
        let (element, ready) = self.held.front().filter(|_| self.hardware)?;
        let q = element.queue as usize;
        self.rams[q].has_room(element.queue).then_some(self.refill.max(*ready))
    }

    /// Refills the next element.
    pub fn bring_back(&mut self, now: u64, memory: &Memory, timing: &Timing) {
        let (element, _) = self.held.pop_front().expect("there is one");
        self.refill = now + timing.refill;
        let q = element.queue as usize;
        let at = self.region.addr() + SPILL_BYTES * u32::from(element.position);
        let read = word(memory, at).zip(word(memory, at + 4));
        // An element that differs from the one written is lost.
        let read = read.and_then(|(tag, data)| Element::decode(tag, data));
        let same = |read: &Element| (read.lap, read.position) == (element.lap, element.position);
        self.of[q] -= 1;
        self.users -= u32::from(element.queue == Queue::User);
        match read.filter(same) {
            Some(read) => {
                let first = self.first[q] == (element.position, element.lap);
                let doubt = self.misses[q] >= NUMBERS && !first;
                self.misses[q] = 0;
                self.lost |= !self.rams[q].put(read.word, element.label, doubt);
                self.away[q] = self.of[q] > 0;
            }
            None => {
                self.misses = self.misses.map(|misses| misses + 1);
                self.lost = true;
            }
        }
        self.rest();
    }

    /// Software releases elements. When no reply is left, replies no longer wait for the requests behind.
    pub fn release(&mut self, count: u32) {
        if !self.hardware {
            let count = self.held.len().min(count as usize);
            for (element, _) in self.held.drain(..count) {
                self.of[element.queue as usize] -= 1;
            }
            let replies = Queue::ALL.into_iter().filter(|queue| queue.class() == Class::Reply);
            if replies.clone().all(|queue| self.of[queue as usize] == 0) {
                replies.for_each(|queue| self.away[queue as usize] = false);
            }
            self.rest();
        }
    }

    /// The next message of a class to be sent, on a torus of `columns` columns; and whether it ends at its first fault.
    pub fn next(&mut self, class: Class, columns: u8) -> Option<(Vec<u32>, bool)> {
        let (c, first) = (class as usize, !self.more(class));
        if first {
            let words = self.choose(class)?;
            if class == Class::Reply {
                return Some((words, self.losing[c]));
            }
            self.spread = spread(&words, columns).into();
        } else {
            self.chosen[c] = None;
        }
        Some((self.spread.pop_front()?, first && self.losing[c]))
    }

    /// Puts the command of a class back that was chosen last: it is the next one of its queue, which waits for
    /// software. Returns the queue; `None` if the command has begun to go out, or is a remote access.
    pub fn put_back(&mut self, class: Class) -> Option<Queue> {
        let (queue, words) = self.chosen[class as usize].take()?;
        if matches!(queue, Queue::Access | Queue::RemoteReply) {
            return None;
        }
        let ram = &mut self.rams[queue as usize];
        message(&words)
            .into_iter()
            .rev()
            .for_each(|word| ram.words.push_front(word));
        ram.messages += 1;
        if class == Class::Request {
            self.spread.clear();
        }
        self.waits[queue as usize] = true;
        Some(queue)
    }

    /// Software has served the fault of the first message of `queue`; with `gives_up` that message ends at its next.
    /// All queues of the class go on.
    pub fn serve(&mut self, queue: Queue, gives_up: bool) {
        for other in Queue::ALL.into_iter().filter(|other| other.class() == queue.class()) {
            self.waits[other as usize] = false;
        }
        self.lost_head[queue as usize] = gives_up;
    }

    fn choose(&mut self, class: Class) -> Option<Vec<u32>> {
        let has = |queue: Queue| {
            let q = queue as usize;
            queue.class() == class && self.rams[q].messages > 0 && !self.waits[q]
        };
        let queue = turn(has, &self.passed, AGE_CAP)?;
        for other in Queue::ALL.into_iter().filter(|&other| has(other)) {
            self.passed[other as usize] += 1;
        }
        self.passed[queue as usize] = 0;
        self.losing[class as usize] = std::mem::take(&mut self.lost_head[queue as usize]);
        let words = self.rams[queue as usize].take()?;
        self.chosen[class as usize] = Some((queue, words.clone()));
        Some(words)
    }

    /// The last message has copies for other columns still to be sent.
    pub fn more(&self, class: Class) -> bool {
        class == Class::Request && !self.spread.is_empty()
    }

    /// STABLE, while the queues pause. No writer is within a message, unless it waits for room that only software
    /// makes. All spilled elements are in memory, and no direct word waits.
    pub fn stable(&self, now: u64) -> bool {
        let stuck = |queue: Queue| !self.hardware && self.away[queue as usize] && !self.may_leave(queue);
        let midway = |queue: Queue| {
            let q = queue as usize;
            self.label[q].index != 0 && !self.waiting[q].is_empty() && !stuck(queue)
        };
        !Queue::ALL.into_iter().any(midway) && self.direct.is_empty() && self.stored <= now
    }

    /// A queue with words in the region has no message left, and waits for software.
    pub fn fill(&self) -> bool {
        !self.hardware && (0..QUEUES as usize).any(|q| self.away[q] && self.rams[q].messages == 0)
    }

    /// Whether the region is in the red zone.
    pub fn full(&self) -> bool {
        let elements = self.region.elements();
        let all = elements <= self.held.len() as u32 + SPILL_UNIT;
        let users = self.users > 0 && elements / 2 <= self.users + SPILL_UNIT;
        !self.held.is_empty() && (all || users)
    }

    /// A bit for each queue with words in the region.
    pub fn spilled(&self) -> u32 {
        let bits = self.away.iter().enumerate();
        bits.map(|(q, &away)| u32::from(away) << q).sum()
    }

    pub fn held(&self) -> u32 {
        self.held.len() as u32
    }

    pub fn position(&self) -> u32 {
        self.position.into()
    }

    /// Words in the queues, waiting words and spilled elements included.
    pub fn words(&self) -> usize {
        let own: usize = self.rams.iter().map(|ram| ram.words.len()).sum();
        let waiting: usize = self.waiting.iter().map(VecDeque::len).sum();
        let spread: usize = self.spread.iter().map(Vec::len).sum();
        own + waiting + spread + self.direct.len() + self.held.len()
    }
}
