//! Tasks that are processes of the operating system, with `libpvm3.a`.
//!
//! A process runs only while the simulation waits for its next request, one at a time. So nothing depends on the wall
//! clock, but for a bound on a program that never calls.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::{Fault, PvmError};
use super::task::Task;
use super::wire::{Call, read_request, serve, write_answer};
use super::{Loader, Running};
use crate::cppacs::host::transport::Transport;

/// Where the socket is.
pub const SOCKET: &str = "CPPACS_PVM";
/// The node that the program is for.
pub const NODE: &str = "CPPACS_NODE";

/// Longest time, on the wall clock, between two calls of a program.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes of one run.
pub struct Processes {
    socket: PathBuf,
    listener: UnixListener,
    search: Vec<PathBuf>,
    output: Rc<RefCell<Output>>,
}

/// What tasks print, and how the first one ended.
struct Output {
    /// What is kept for the first task's `pvm_catchout`.
    caught: Option<Vec<u8>>,
    to: Box<dyn Write>,
    status: i32,
}

impl Output {
    fn print(&mut self, lines: &[u8]) {
        match &mut self.caught {
            Some(caught) => caught.extend(lines),
            None => {
                // Nobody reads it: no reason to end the run.
                let _ = self.to.write_all(lines).and_then(|()| self.to.flush());
            }
        }
    }
}

impl Processes {
    /// `folder` is for the socket; programs are in the folders `search`; `to` is what other tasks than the first print
    /// on.
    ///
    /// # Errors
    /// There can be no socket.
    pub fn new(folder: &Path, search: Vec<PathBuf>, to: Box<dyn Write>) -> io::Result<Processes> {
        let socket = folder.join("pvm");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        let output = Output {
            caught: None,
            to,
            status: 0,
        };
        Ok(Processes {
            socket,
            listener,
            search,
            output: Rc::new(RefCell::new(output)),
        })
    }

    /// How the first task's program ended, once it has.
    pub fn status(&self) -> impl Fn() -> i32 + use<> {
        let output = self.output.clone();
        move || output.borrow().status
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let places = match name.contains('/') {
            true => vec![PathBuf::from(name)],
            false => self.search.iter().map(|folder| folder.join(name)).collect(),
        };
        places.into_iter().find(|path| path.is_file())
    }

    fn spawn(&self, name: &str, args: &[String], first: bool, node: u16) -> Result<Process, PvmError> {
        let path = self.find(name).ok_or(PvmError::NoFile)?;
        let mut command = Command::new(path);
        command.args(args).env(SOCKET, &self.socket).env(NODE, node.to_string());
        if !first {
            command.stdin(Stdio::null()).stdout(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|_| PvmError::NoFile)?;
        let printed = child.stdout.take().map(|mut out| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = out.read_to_end(&mut bytes);
                bytes
            })
        });
        Ok(Process { child, printed })
    }

    /// The connection of a process that was just started; `None`: it ended without a call.
    fn accept(&self, process: &mut Process) -> io::Result<Option<UnixStream>> {
        let start = Instant::now();
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    return Ok(Some(stream));
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => (),
                Err(e) => return Err(e),
            }
            if process.child.try_wait()?.is_some() {
                return Ok(None);
            }
            if start.elapsed() > PATIENCE {
                return Err(ErrorKind::TimedOut.into());
            }
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// A process of the operating system; it does not outlive this.
struct Process {
    child: Child,
    printed: Option<JoinHandle<Vec<u8>>>,
}

impl Process {
    /// How it ended, and what it printed.
    fn end(&mut self) -> (i32, Vec<u8>) {
        let status = self.child.wait().ok().and_then(|status| status.code()).unwrap_or(1);
        let printed = self.printed.take().and_then(|thread| thread.join().ok());
        (status, printed.unwrap_or_default())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be over already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Each line with the task's name before it.
fn marked(task: &str, printed: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| [b"[", task.as_bytes(), b"] ", line.trim_ascii_end(), b"\n"].concat();
    printed.split_inclusive(|&byte| byte == b'\n').flat_map(line).collect()
}

impl<T: Transport> Loader<T> for Processes {
    fn start(&self, name: &str, args: &[String], task: Task<T>) -> Result<Running, PvmError> {
        let first = task.node().0 == 0;
        let mut process = self.spawn(name, args, first, task.node().0)?;
        let stream = self.accept(&mut process);
        let output = self.output.clone();
        Ok(Box::pin(async move {
            let fault = |e: io::Error| Fault::Program {
                task: task.tid(),
                why: match e.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("it made no call within {PATIENCE:?}"),
                    _ => e.to_string(),
                },
            };
            let ended = match stream.map_err(fault)? {
                Some(stream) => converse(&task, stream, &output).await?.map_err(fault),
                None => Ok(()),
            };
            ended?;
            let (status, printed) = process.end();
            let mut output = output.borrow_mut();
            output.print(&marked(&task.to_string(), &printed));
            if first {
                output.status = status;
            }
            Ok(())
        }))
    }
}

/// Serves a program until it ends.
async fn converse<T: Transport>(
    task: &Task<T>,
    mut stream: UnixStream,
    output: &RefCell<Output>,
) -> Result<io::Result<()>, Fault> {
    loop {
        let request = match read_request(&mut stream) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(Ok(())),
            Err(e) => return Ok(Err(e)),
        };
        if request.call == Call::Catch as u16 {
            output.borrow_mut().caught.get_or_insert_default();
        }
        let mut answer = serve(task, &request).await?;
        if request.call == Call::Exit as u16 && request.rest.first() == Some(&1) {
            answer.bytes = output.borrow_mut().caught.take().unwrap_or_default();
        }
        // A program that is gone is found at the next request.
        let _ = write_answer(&mut stream, &answer);
    }
}
