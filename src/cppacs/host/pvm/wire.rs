//! The calls of `libpvm3.a`: a request and an answer each.
//!
//! Request: bytes of all that follows (u32), call (u16), 0 (u16), the call's arguments (i32 each), bytes. Answer: bytes
//! of all that follows (u32), result (i32), bytes. Numbers have the order of the host; both ends are on it.

use std::io::{self, Read, Write};

use super::HOST;
use super::error::{CallError, Fault, PvmError};
use super::task::Task;
use crate::Picos;
use crate::cppacs::host::transport::Transport;

macro_rules! calls {
    ($($name:ident = $number:literal, $args:literal, $says:literal;)*) => {
        /// A call, by its number on the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Call {
            $(#[doc = $says] $name = $number,)*
        }

        impl Call {
            /// Name, number and count of arguments of each.
            pub const ALL: &[(&'static str, Call, usize)] = &[$((stringify!($name), Call::$name, $args),)*];
        }
    };
}

calls! {
    Hello = 0, 1, "The node that the program was started for; the task, its parent.";
    Now = 1, 0, "The simulated time in ps.";
    Compute = 2, 0, "Computes for so many us, a double.";
    Exit = 3, 1, "Leaves PVM. 1: waits for the others and brings their output.";
    Siblings = 4, 0, "The tasks that were started with it.";
    Tasks = 5, 0, "Task, parent and name of each.";
    There = 6, 1, "Whether a task is there.";
    Kill = 7, 1, "Ends a task.";
    Spawn = 8, 1, "Starts so many; the program and its arguments, each with a zero byte at its end.";
    Mkbuf = 9, 0, "A new buffer.";
    Initsend = 10, 0, "A new active send buffer.";
    Freebuf = 11, 1, "Forgets a buffer.";
    Active = 12, 1, "The active send (1) or receive (0) buffer.";
    Activate = 13, 2, "Makes another buffer the active one.";
    Bufinfo = 14, 1, "Bytes, tag and sender of a buffer.";
    Pack = 15, 1, "Packs the bytes; 1: they stood apart.";
    Unpack = 16, 2, "Unpacks so many bytes; 1: they will stand apart.";
    UnpackString = 17, 0, "Unpacks a string.";
    Mcast = 18, 1, "Sends to the tasks, with this tag.";
    Recv = 19, 2, "Waits for a message of a task with a tag.";
    Trecv = 20, 2, "The same, for so many us, a double.";
    Nrecv = 21, 2, "Receives if it has come.";
    Probe = 22, 2, "Says if it has come.";
    Join = 23, 0, "Joins a group.";
    Leave = 24, 0, "Leaves it.";
    GroupTask = 25, 1, "The task of an instance.";
    Instance = 26, 1, "The instance of a task.";
    Members = 27, 0, "All tasks of a group.";
    Barrier = 28, 2, "Waits for so many members; 1: freezes the group.";
    Catch = 29, 0, "From now on other tasks' output is kept for the end.";
}

/// A request: the call's number, and its arguments and bytes as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub call: u16,
    pub rest: Vec<u8>,
}

/// What is sent back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub result: i32,
    pub bytes: Vec<u8>,
}

/// The next request; `None`: the program has ended.
///
/// # Errors
/// The connection's.
pub fn read_request(from: &mut impl Read) -> io::Result<Option<Request>> {
    let mut head = [0; 8];
    match from.read_exact(&mut head) {
        Ok(()) => (),
        Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            return Ok(None);
        }
        Err(e) => return Err(e),
    }
    let length = u32::from_le_bytes(head[..4].try_into().expect("4 bytes"));
    let call = u16::from_le_bytes(head[4..6].try_into().expect("2 bytes"));
    let length = length.checked_sub(4).ok_or(io::ErrorKind::InvalidData)?;
    let mut rest = vec![0; length as usize];
    from.read_exact(&mut rest)?;
    Ok(Some(Request { call, rest }))
}

/// # Errors
/// The connection's.
pub fn write_answer(to: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let length = 4 + answer.bytes.len() as u32;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(answer.result.to_le_bytes());
    bytes.extend(&answer.bytes);
    to.write_all(&bytes)
}

fn tids(list: &[i32]) -> Vec<u8> {
    list.iter().flat_map(|tid| tid.to_le_bytes()).collect()
}

fn text(bytes: &[u8]) -> Result<&str, PvmError> {
    std::str::from_utf8(bytes).map_err(|_| PvmError::BadParam)
}

fn microseconds(bytes: &[u8]) -> Result<Picos, PvmError> {
    let us = f64::from_le_bytes(bytes.try_into().map_err(|_| PvmError::BadParam)?);
    if (0.0..=1e12).contains(&us) {
        Ok(Picos::from_us(us))
    } else {
        Err(PvmError::BadParam)
    }
}

/// Makes the call for the task. An error of PVM is the answer.
///
/// # Errors
/// What ends the run.
pub async fn serve<T: Transport>(task: &Task<T>, request: &Request) -> Result<Answer, Fault> {
    let Some(&(_, call, count)) = Call::ALL.iter().find(|(_, call, _)| *call as u16 == request.call) else {
        return Err(broken(task));
    };
    let Some((args, bytes)) = request.rest.split_at_checked(4 * count) else {
        return Err(broken(task));
    };
    let mut numbers = [0; 2];
    for (number, bytes) in numbers.iter_mut().zip(args.as_chunks::<4>().0) {
        *number = i32::from_le_bytes(*bytes);
    }
    let answer = match call {
        Call::Hello
        | Call::Now
        | Call::Compute
        | Call::Exit
        | Call::Siblings
        | Call::Tasks
        | Call::There
        | Call::Kill
        | Call::Spawn
        | Call::Catch => serve_task(task, call, numbers, bytes).await,
        Call::Join | Call::Leave | Call::GroupTask | Call::Instance | Call::Members | Call::Barrier => {
            serve_group(task, call, numbers, bytes).await
        }
        _ => serve_message(task, call, numbers, bytes).await,
    };
    match answer {
        Ok(answer) => Ok(answer),
        Err(CallError::Pvm(error)) => Ok(number(error as i32)),
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

fn broken<T: Transport>(task: &Task<T>) -> Fault {
    Fault::Program {
        task: task.tid(),
        why: "its connection carries what is no request".into(),
    }
}

fn number(result: i32) -> Answer {
    let bytes = Vec::new();
    Answer { result, bytes }
}

fn with_bytes(result: i32, bytes: Vec<u8>) -> Answer {
    Answer { result, bytes }
}

type Served = Result<Answer, CallError>;

async fn serve_task<T: Transport>(task: &Task<T>, call: Call, [a, _]: [i32; 2], bytes: &[u8]) -> Served {
    Ok(match call {
        Call::Hello => {
            let parent = task.parent().unwrap_or_else(|error| error as i32);
            with_bytes(task.tid(), tids(&[parent, HOST]))
        }
        // Output belongs to whoever has the programs.
        Call::Catch => number(0),
        Call::Now => with_bytes(0, task.now().0.to_le_bytes().to_vec()),
        Call::Compute => {
            task.compute(microseconds(bytes)?).await;
            number(0)
        }
        Call::Exit => {
            task.exit();
            if a == 1 {
                task.wait_for_others().await;
            }
            number(0)
        }
        Call::Siblings => {
            let siblings = task.siblings()?;
            with_bytes(siblings.len() as i32, tids(&siblings))
        }
        Call::Tasks => {
            let tasks = task.tasks();
            let mut bytes = Vec::new();
            for info in &tasks {
                bytes.extend(tids(&[info.tid, info.parent]));
                bytes.extend(info.name.as_bytes());
                bytes.push(0);
            }
            with_bytes(tasks.len() as i32, bytes)
        }
        Call::There => number(if task.is_there(a)? { 0 } else { PvmError::NoTask as i32 }),
        Call::Kill => {
            task.kill(a).await?;
            number(0)
        }
        _ => {
            let mut words = bytes
                .split(|&byte| byte == 0)
                .map(text)
                .collect::<Result<Vec<_>, _>>()?;
            words.pop();
            let (name, args) = words.split_first().ok_or(PvmError::BadParam)?;
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            let count = usize::try_from(a).map_err(|_| PvmError::BadParam)?;
            let started = task.spawn(name, &args, count).await?;
            let running = started.iter().flatten().count() as i32;
            let list: Vec<i32> = started.iter().map(|s| s.unwrap_or_else(|error| error as i32)).collect();
            with_bytes(running, tids(&list))
        }
    })
}

async fn serve_message<T: Transport>(task: &Task<T>, call: Call, [a, b]: [i32; 2], bytes: &[u8]) -> Served {
    Ok(match call {
        Call::Mkbuf => number(task.mkbuf()),
        Call::Initsend => number(task.initsend().await),
        Call::Freebuf => {
            task.freebuf(a)?;
            number(0)
        }
        Call::Active => number(task.active(a == 1)),
        Call::Activate => number(task.activate(a == 1, b)?),
        Call::Bufinfo => {
            let info = task.bufinfo(a)?;
            with_bytes(0, tids(&[info.bytes as i32, info.tag, info.from]))
        }
        Call::Pack => {
            task.pack(bytes, a == 1).await?;
            number(0)
        }
        Call::Unpack => {
            let length = usize::try_from(a).map_err(|_| PvmError::BadParam)?;
            with_bytes(0, task.unpack(length, b == 1).await?)
        }
        Call::UnpackString => with_bytes(0, task.unpack_string().await?),
        Call::Mcast => {
            let to = bytes.as_chunks::<4>().0.iter().map(|tid| i32::from_le_bytes(*tid));
            task.mcast(&to.collect::<Vec<_>>(), a).await?;
            number(0)
        }
        Call::Recv => number(task.recv(a, b).await?),
        Call::Trecv => number(task.trecv(a, b, microseconds(bytes)?).await?.unwrap_or(0)),
        Call::Nrecv => number(task.nrecv(a, b).await?.unwrap_or(0)),
        _ => number(task.probe(a, b).await?.unwrap_or(0)),
    })
}

async fn serve_group<T: Transport>(task: &Task<T>, call: Call, [a, b]: [i32; 2], bytes: &[u8]) -> Served {
    let group = text(bytes)?;
    Ok(match call {
        Call::Join => number(task.join(group).await?),
        Call::Leave => {
            task.leave(group).await?;
            number(0)
        }
        Call::GroupTask => number(task.group_task(group, a).await?),
        Call::Instance => number(task.instance(group, a).await?),
        Call::Members => {
            let members = task.members(group).await?;
            with_bytes(members.len() as i32, tids(&members))
        }
        _ => {
            task.barrier(group, a, b == 1).await?;
            number(0)
        }
    })
}
