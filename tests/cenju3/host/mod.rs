//! Host software.

mod fake_machine;
mod machine;
mod rmwrite;
