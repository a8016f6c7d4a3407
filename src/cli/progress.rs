//! A progress bar on a terminal, for what takes longer than two seconds; otherwise nothing.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(2);

/// Told how far the work is; from any thread.
pub struct Progress {
    what: &'static str,
    begun: Instant,
    bar: Mutex<Option<ProgressBar>>,
    shown: bool,
}

impl Progress {
    pub fn new(what: &'static str) -> Progress {
        Progress {
            what,
            begun: Instant::now(),
            bar: Mutex::new(None),
            shown: stderr().is_terminal(),
        }
    }

    pub fn at(&self, done: u64, total: u64) {
        if !self.shown || self.begun.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().expect("no panic under this lock");
        let bar = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} {bar:40} {percent:>3} %  {eta} left");
            ProgressBar::new(total)
                .with_style(style.expect("a sound template"))
                .with_message(self.what)
                .with_elapsed(self.begun.elapsed())
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.lock().expect("no panic under this lock").take() {
            bar.finish_and_clear();
        }
    }
}
