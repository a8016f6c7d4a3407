//! Every criterion of the paper, on verilated RTL. Each row is measured in its run: another RTL or memory parameter
//! moves it.

use std::sync::OnceLock;

use tsunagi::cenju3::params::Config;
use tsunagi::repro::row::BackendKind;
use tsunagi::repro::{Outcome, pool};

use super::{assert_each_row_moves, assert_every_check_is_met, run_all};

fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| run_all(BackendKind::Rtl, &Config::paper(), pool::threads()))
}

#[test]
fn every_check_is_met() {
    assert_every_check_is_met(outcomes());
}

#[test]
fn each_row_moves_with_what_it_measures() {
    assert_each_row_moves(BackendKind::Rtl, outcomes());
}
