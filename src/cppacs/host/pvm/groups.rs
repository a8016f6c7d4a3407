//! Groups of tasks, kept by the kernel of node 0.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::PvmError;
use crate::NodeId;
use crate::harness::sync::Signal;

#[derive(Default)]
struct Group {
    /// By instance; a place that was left is given out again, the lowest first.
    members: Vec<Option<NodeId>>,
    frozen: bool,
    /// Members that left it when it was frozen; the others know them by heart.
    left: Vec<NodeId>,
    waiting: Option<Barrier>,
}

/// Members that wait for each other.
pub struct Barrier {
    count: usize,
    pub arrived: Vec<NodeId>,
    pub release: Rc<Release>,
}

/// What members at a barrier wait for.
pub struct Release {
    /// Those that may go on.
    pub gone: RefCell<Vec<NodeId>>,
    pub signal: Signal,
}

impl Default for Release {
    fn default() -> Release {
        Release {
            gone: RefCell::default(),
            signal: Signal::new("the others of its group at a barrier"),
        }
    }
}

#[derive(Default)]
pub struct Groups(RefCell<BTreeMap<String, Group>>);

impl Groups {
    fn group<R>(&self, name: &str, f: impl FnOnce(&mut Group) -> Result<R, PvmError>) -> Result<R, PvmError> {
        if name.is_empty() {
            return Err(PvmError::NullGroup);
        }
        f(self.0.borrow_mut().get_mut(name).ok_or(PvmError::NoGroup)?)
    }

    /// The instance of the new member.
    pub fn join(&self, name: &str, task: NodeId) -> Result<usize, PvmError> {
        if name.is_empty() {
            return Err(PvmError::NullGroup);
        }
        let mut groups = self.0.borrow_mut();
        let group = groups.entry(name.into()).or_default();
        if group.members.contains(&Some(task)) {
            return Err(PvmError::DupGroup);
        }
        // Who has frozen a group knows its members by heart.
        if group.frozen {
            return Err(PvmError::BadParam);
        }
        let free = group.members.iter().position(Option::is_none);
        let instance = free.unwrap_or(group.members.len());
        if free.is_none() {
            group.members.push(None);
        }
        group.members[instance] = Some(task);
        Ok(instance)
    }

    pub fn leave(&self, name: &str, task: NodeId) -> Result<(), PvmError> {
        self.group(name, |group| {
            let instance = group.instance(task).ok_or(PvmError::NotInGroup)?;
            if group.frozen {
                group.left.push(task);
            } else {
                group.members[instance] = None;
            }
            Ok(())
        })?;
        self.0.borrow_mut().retain(|_, group| !group.is_empty());
        Ok(())
    }

    /// A task that is gone is in no group.
    pub fn leave_all(&self, task: NodeId) {
        let names: Vec<String> = self.0.borrow().keys().cloned().collect();
        for name in names {
            let _ = self.leave(&name, task);
        }
    }

    pub fn task(&self, name: &str, instance: usize) -> Result<NodeId, PvmError> {
        let task = |group: &mut Group| group.members.get(instance).copied().flatten().ok_or(PvmError::NoInst);
        self.group(name, task)
    }

    pub fn instance(&self, name: &str, task: NodeId) -> Result<usize, PvmError> {
        let is = |member: &Option<NodeId>| *member == Some(task);
        self.group(name, |group| {
            group.members.iter().position(is).ok_or(PvmError::NotInGroup)
        })
    }

    /// In order of instance.
    pub fn members(&self, name: &str) -> Result<Vec<NodeId>, PvmError> {
        self.group(name, |group| Ok(group.members.iter().flatten().copied().collect()))
    }

    /// A member waits until `count` do, or all (`None`, once frozen). With the last one, the barrier is complete.
    pub fn wait(
        &self,
        name: &str,
        task: NodeId,
        count: Option<usize>,
        freeze: bool,
    ) -> Result<(Rc<Release>, Option<Barrier>), PvmError> {
        self.group(name, |group| {
            group.instance(task).ok_or(PvmError::NotInGroup)?;
            let all = group.members.iter().flatten().count();
            let count = match count {
                Some(count) => count,
                None if freeze || group.frozen => all,
                None => return Err(PvmError::BadParam),
            };
            if count == 0 {
                return Err(PvmError::BadParam);
            }
            let barrier = group.waiting.get_or_insert_with(|| Barrier {
                count,
                arrived: Vec::new(),
                release: Rc::default(),
            });
            if count != barrier.count {
                return Err(PvmError::BadParam);
            }
            barrier.arrived.push(task);
            let release = barrier.release.clone();
            let complete = (barrier.arrived.len() == barrier.count).then(|| group.waiting.take().expect("there"));
            group.frozen |= freeze && complete.is_some();
            Ok((release, complete))
        })
    }
}

impl Group {
    /// Of a task that is in it.
    fn instance(&self, task: NodeId) -> Option<usize> {
        let there = self.members.iter().position(|&member| member == Some(task));
        there.filter(|_| !self.left.contains(&task))
    }

    fn is_empty(&self) -> bool {
        let mut there = self.members.iter().flatten();
        there.all(|task| self.left.contains(task))
    }
}
