//! A progress bar on a terminal for work of more than two seconds; without a terminal nothing, or a line every 20
//! seconds.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(2);

/// Takes reports of progress, from any thread.
pub struct Progress {
    what: &'static str,
    begun: Instant,
    bar: Mutex<Option<ProgressBar>>,
    shown: bool,
    lines: Option<Lines>,
}

impl Progress {
    pub fn new(what: &'static str) -> Progress {
        Progress {
            what,
            begun: Instant::now(),
            bar: Mutex::new(None),
            shown: stderr().is_terminal(),
            lines: None,
        }
    }

    /// The same, with a line every 20 seconds where there is no terminal.
    pub fn with_lines(what: &'static str) -> Progress {
        let mut progress = Progress::new(what);
        let lines = (!progress.shown).then(|| Lines::new(what));
        progress.lines = lines;
        progress
    }

    pub fn at(&self, done: u64, total: u64) {
        if let Some(lines) = &self.lines {
            lines.percent.store(done * 100 / total.max(1), Ordering::Relaxed);
        }
        if !self.shown || self.begun.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().expect("no panic under this lock");
        let bar = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} {bar:40} {percent:>3} %  {eta} left");
            ProgressBar::new(total)
                .with_style(style.expect("the template is valid"))
                .with_message(self.what)
                .with_elapsed(self.begun.elapsed())
        });
        bar.set_position(done);
    }
}

/// Lines on standard error, for the reader of a log.
struct Lines {
    percent: Arc<AtomicU64>,
    /// Dropping it ends the thread.
    _end: mpsc::Sender<()>,
}

impl Lines {
    const EACH: Duration = Duration::from_secs(20);

    fn new(what: &'static str) -> Lines {
        let (end, ended) = mpsc::channel();
        let percent = Arc::new(AtomicU64::new(0));
        let reported = percent.clone();
        thread::spawn(move || {
            while ended.recv_timeout(Lines::EACH) == Err(mpsc::RecvTimeoutError::Timeout) {
                // A closed standard error changes nothing.
                let _ = writeln!(stderr(), "{what}: {} %", reported.load(Ordering::Relaxed));
            }
        });
        Lines { percent, _end: end }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.lock().expect("no panic under this lock").take() {
            bar.finish_and_clear();
        }
    }
}
