//! Calls outside a program: settings, and the reason of the last failure.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_double};
use std::fmt::Display;
use std::sync::Mutex;

use tsunagi::Picos;

thread_local! {
    static ERROR: Cell<&'static CStr> = const { Cell::new(c"") };
}

/// Each text is kept for ever: C may hold a pointer to it after another failed call or after the program's thread.
static TEXTS: Mutex<BTreeSet<&'static CStr>> = Mutex::new(BTreeSet::new());

/// Keeps the reason of a failed call.
pub fn fail(call: &str, why: impl Display) {
    let text = format!("{call}: {why}").replace('\0', " ");
    let text = CString::new(text).expect("no zero byte");
    let mut texts = TEXTS.lock().expect("nothing below fails");
    let kept = texts
        .get(&*text)
        .copied()
        .unwrap_or_else(|| Box::leak(text.into_boxed_c_str()));
    texts.insert(kept);
    ERROR.set(kept);
}

/// The reason of the last failed call of this thread; the pointer stays valid for ever.
pub fn error() -> *const c_char {
    ERROR.get().as_ptr()
}

/// A text from C.
///
/// # Errors
/// NULL, or not UTF-8.
///
/// # Safety
/// `text` is NULL or a C string.
pub unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, String> {
    if text.is_null() {
        return Err("no text".into());
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "not UTF-8".into())
}

/// A span of simulated time, 0 to 10^12 us.
///
/// # Errors
/// Anything else.
pub fn span(us: c_double) -> Result<Picos, String> {
    if (0.0..=1e12).contains(&us) {
        Ok(Picos::from_us(us))
    } else {
        Err(format!("{us} us is not a time"))
    }
}

/// The settings of a thread's next machine.
pub struct Settings<C> {
    /// The RTL, or else the golden model.
    pub rtl: bool,
    pub config: C,
    /// The simulated time after which the machine counts as hung.
    pub limit: Picos,
}

impl<C> Settings<C> {
    /// The golden model, with a limit of 10 s.
    pub fn new(config: C) -> Settings<C> {
        Settings {
            rtl: false,
            config,
            limit: Picos::from_us(1e7),
        }
    }

    /// # Errors
    /// Neither `model` nor `rtl`.
    pub fn set_backend(&mut self, name: &str) -> Result<(), String> {
        self.rtl = match name {
            "model" => false,
            "rtl" => true,
            other => return Err(format!("unknown backend `{other}`; known: model, rtl")),
        };
        Ok(())
    }

    /// # Errors
    /// Not a time, or 0.
    pub fn set_limit(&mut self, us: c_double) -> Result<(), String> {
        let limit = span(us)?;
        if limit == Picos::ZERO {
            return Err(format!("{us} us is not a time"));
        }
        self.limit = limit;
        Ok(())
    }
}
