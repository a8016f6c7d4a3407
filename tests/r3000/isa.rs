//! Instructions come back from their words, and words from their text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::property::holds;
use support::this_test;
use tsunagi::r3000::asm::{Source, assemble};
use tsunagi::r3000::isa::{Field, Insn, OPS};

const REGRESSIONS: &str = "tests/r3000/regressions/isa.txt";

/// Any instruction.
fn any_insn() -> impl Strategy<Value = Insn> {
    let values = any::<[prop::sample::Index; 3]>();
    (prop::sample::select((0..OPS.len()).collect::<Vec<_>>()), values).prop_map(|(op, indices)| {
        let value = |(field, index): (&Field, &prop::sample::Index)| {
            let range = field.range();
            range.start() + index.index((range.end() - range.start() + 1) as usize) as i64
        };
        let values: Vec<i64> = OPS[op].fields.iter().zip(&indices).map(value).collect();
        Insn::new(&OPS[op], &values).expect("every value is in its range")
    })
}

#[test]
fn any_instruction_comes_back_from_its_word() {
    holds(this_test!(), REGRESSIONS, 4096, any_insn(), |_, insn, _| {
        let decoded = Insn::decode(insn.encode());
        if decoded == Some(*insn) {
            Ok(())
        } else {
            Err(format!("{decoded:?}"))
        }
    });
}

/// A delay slot is put behind it, which a branch needs.
fn reassembled(insn: &Insn, at: u32) -> Result<u32, String> {
    let text = format!(".org {at}\n{}\nnop\n", insn.text(at));
    let source = Source {
        name: "insn.s".to_owned(),
        text,
    };
    let image = assemble(&[source], &BTreeMap::new()).map_err(|errors| errors[0].to_string())?;
    Ok(image.words[at as usize / 4])
}

#[test]
fn any_disassembly_assembles_to_its_word() {
    let strategy = (any_insn(), 0..4000u32);
    holds(this_test!(), REGRESSIONS, 1024, strategy, |_, (insn, word), _| {
        let got = reassembled(insn, word * 4)?;
        let text = insn.text(word * 4);
        if got == insn.encode() {
            Ok(())
        } else {
            Err(format!("{text}: {got:#x}, not {:#x}", insn.encode()))
        }
    });
}

#[test]
fn any_word_is_an_instruction_whole_or_none() {
    holds(this_test!(), REGRESSIONS, 4096, any::<u32>(), |_, word, _| {
        let again = Insn::decode(*word).map(|insn| insn.encode());
        if again.is_none_or(|again| again == *word) {
            Ok(())
        } else {
            Err(format!("{again:x?}"))
        }
    });
}

#[test]
fn no_two_instructions_have_a_word_in_common() {
    for op in OPS {
        let alone = Insn::decode(op.word).expect("every operand may be 0");
        assert_eq!(alone.op(), op);
    }
}

#[test]
fn values_that_do_not_fit_make_no_instruction() {
    let op = OPS.iter().find(|op| op.name == "addiu").unwrap();
    assert!(Insn::new(op, &[2, 3, -0x8000]).is_some());
    for values in [&[2, 3, 0x8000][..], &[32, 3, 0], &[-1, 3, 0], &[2, 3], &[2, 3, 0, 0]] {
        assert_eq!(Insn::new(op, values), None, "{values:?}");
    }
}
