//! The assembler: the words of each instruction, what it refuses, and the listing.

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::property::holds;
use support::this_test;
use tsunagi::r3000::asm::{AsmError, Image, Place, SRAM_BYTES, Source, assemble, listing};
use tsunagi::r3000::isa::OPS;

fn source(name: &str, text: &str) -> Source {
    let (name, text) = (name.to_owned(), text.to_owned());
    Source { name, text }
}

fn try_assemble(text: &str) -> Result<Image, Vec<AsmError>> {
    let equates = BTreeMap::from([("BUS".to_owned(), 0x8000_1000), ("SIZE".to_owned(), 48)]);
    assemble(&[source("a.s", text)], &equates)
}

fn words(text: &str) -> Vec<u32> {
    try_assemble(text)
        .unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
        .words
}

/// At address 0, with a NOP behind.
const GOLDEN: &[(&str, u32)] = &[
    ("sll $2, $3, 31", 0x0003_17c0),
    ("srl $v0, $v1, 1", 0x0003_1042),
    ("sra $v0, $v1, 16", 0x0003_1403),
    ("sllv $t0, $t1, $t2", 0x0149_4004),
    ("srlv $t0, $t1, $t2", 0x0149_4006),
    ("srav $t0, $t1, $t2", 0x0149_4007),
    ("jr $ra", 0x03e0_0008),
    ("jalr $t9", 0x0320_f809),
    ("jalr $s0, $t9", 0x0320_8009),
    ("syscall", 0x0000_000c),
    ("syscall 0x12345", 0x0048_d14c),
    ("break", 0x0000_000d),
    ("break 5", 0x0005_000d),
    ("break 5, 6", 0x0005_018d),
    ("mfhi $a0", 0x0000_2010),
    ("mthi $a0", 0x0080_0011),
    ("mflo $a0", 0x0000_2012),
    ("mtlo $a0", 0x0080_0013),
    ("mult $a0, $a1", 0x0085_0018),
    ("multu $a0, $a1", 0x0085_0019),
    ("div $a0, $a1", 0x0085_001a),
    ("divu $a0, $a1", 0x0085_001b),
    ("add $s0, $s1, $s2", 0x0232_8020),
    ("addu $s0, $s1, $s2", 0x0232_8021),
    ("sub $s0, $s1, $s2", 0x0232_8022),
    ("subu $s0, $s1, $s2", 0x0232_8023),
    ("and $s0, $s1, $s2", 0x0232_8024),
    ("or $s0, $s1, $s2", 0x0232_8025),
    ("xor $s0, $s1, $s2", 0x0232_8026),
    ("nor $s0, $s1, $s2", 0x0232_8027),
    ("slt $s0, $s1, $s2", 0x0232_802a),
    ("sltu $s0, $s1, $s2", 0x0232_802b),
    ("bltz $a0, 0x40", 0x0480_000f),
    ("bgez $a0, 0", 0x0481_ffff),
    ("bltzal $a0, 0x40", 0x0490_000f),
    ("bgezal $a0, 0x40", 0x0491_000f),
    ("j 0x40", 0x0800_0010),
    ("jal 0x3ffc", 0x0c00_0fff),
    ("beq $a0, $a1, 0x40", 0x1085_000f),
    ("bne $a0, $a1, 4", 0x1485_0000),
    ("blez $a0, 0x40", 0x1880_000f),
    ("bgtz $a0, 0x40", 0x1c80_000f),
    ("addi $k0, $k1, -1", 0x237a_ffff),
    ("addiu $sp, $sp, -32768", 0x27bd_8000),
    ("slti $k0, $k1, 32767", 0x2b7a_7fff),
    ("sltiu $k0, $k1, -1", 0x2f7a_ffff),
    ("andi $gp, $fp, 0xffff", 0x33dc_ffff),
    ("ori $gp, $s8, 0x8000", 0x37dc_8000),
    ("xori $gp, $30, 1", 0x3bdc_0001),
    ("lui $at, 0x8000", 0x3c01_8000),
    ("mfc0 $a0, $status", 0x4004_6000),
    ("mtc0 $a0, $14", 0x4084_7000),
    ("rfe", 0x4200_0010),
    ("lb $a0, -1($a1)", 0x80a4_ffff),
    ("lh $a0, 2($a1)", 0x84a4_0002),
    ("lwl $a0, 3($a1)", 0x88a4_0003),
    ("lw $a0, ($a1)", 0x8ca4_0000),
    ("lbu $a0, 0x7fff($a1)", 0x90a4_7fff),
    ("lhu $a0, -0x8000($a1)", 0x94a4_8000),
    ("lwr $a0, 0($a1)", 0x98a4_0000),
    ("sb $a0, SIZE($a1)", 0xa0a4_0030),
    ("sh $a0, SIZE + 2($a1)", 0xa4a4_0032),
    ("swl $a0, 3($a1)", 0xa8a4_0003),
    ("sw $a0, %lo(BUS)($a1)", 0xaca4_1000),
    ("swr $a0, 0($a1)", 0xb8a4_0000),
    ("nop", 0),
    ("move $a0, $a1", 0x00a0_2025),
    ("neg $a0, $a1", 0x0005_2022),
    ("negu $a0, $a1", 0x0005_2023),
    ("not $a0, $a1", 0x00a0_2027),
    ("b 0x40", 0x1000_000f),
    ("beqz $a0, 0x40", 0x1080_000f),
    ("bnez $a0, 0x40", 0x1480_000f),
];

#[test]
fn every_instruction_has_its_word() {
    for (text, word) in GOLDEN {
        let got = words(&format!("{text}\nnop"));
        assert_eq!(got, [*word, 0], "{text}: {got:x?}");
    }
    for op in OPS {
        let named = |text: &str| text.split(' ').next() == Some(op.name);
        assert!(
            GOLDEN.iter().any(|(text, _)| named(text)),
            "{} is not in the table",
            op.name
        );
    }
}

#[test]
fn pseudo_instructions_are_as_short_as_they_can_be() {
    let table: &[(&str, &[u32])] = &[
        ("li $a0, -5", &[0x2404_fffb]),
        ("li $a0, 0xffff8000", &[0x2404_8000]),
        ("li $a0, 0x8000", &[0x3404_8000]),
        ("li $a0, 0x12340000", &[0x3c04_1234]),
        ("la $a0, BUS + 4", &[0x3c04_8000, 0x3484_1004]),
        ("li $a0, ~0x80000000", &[0x3c04_7fff, 0x3484_ffff]),
        ("la $a0, later\nnop\nlater:", &[0x2404_0008, 0]),
        ("bge $a0, $a1, 0", &[0x0085_082a, 0x1020_fffe]),
        ("bgt $a0, $a1, 0", &[0x00a4_082a, 0x1420_fffe]),
        ("ble $a0, $a1, 0", &[0x00a4_082a, 0x1020_fffe]),
        ("blt $a0, $a1, 0", &[0x0085_082a, 0x1420_fffe]),
        ("bgeu $a0, $a1, 0", &[0x0085_082b, 0x1020_fffe]),
        ("bgtu $a0, $a1, 0", &[0x00a4_082b, 0x1420_fffe]),
        ("bleu $a0, $a1, 0", &[0x00a4_082b, 0x1020_fffe]),
        ("bltu $a0, $a1, 0", &[0x0085_082b, 0x1420_fffe]),
    ];
    for (text, wanted) in table {
        let got = words(&format!("{text}\nnop"));
        assert_eq!(got[..got.len() - 1], **wanted, "{text}: {got:x?}");
    }
}

#[test]
fn expressions_have_their_values() {
    let table: &[(&str, u32)] = &[
        ("2 + 3 * 4 - 1", 13),
        ("10 - 3 - 2", 5),
        ("(2 + 3) * 4", 20),
        ("1 << 4 | 1 << 2", 20),
        ("0xff & ~0x0f", 0xf0),
        ("(SIZE + 7) & ~7", 48),
        ("-(1 << 31)", 0x8000_0000),
        ("0b101 | 0x10", 21),
        ("BUS >> 12", 0x8_0001),
        ("%hi(BUS + 0x8000)", 0x8001),
        ("%lo(BUS + 0x8000)", 0xffff_9000),
        ("- -5", 5),
        (". + 8", 8),
        ("~0", 0xffff_ffff),
    ];
    for (text, value) in table {
        assert_eq!(words(&format!(".word {text}")), [*value], "{text}");
    }
}

#[test]
fn data_and_places_stand_where_they_are_put() {
    let text = "
        .equ N, 2
start:  .byte 1, 2        # two bytes
        .align 1
        .half 0x1234
        .space N * 2      // one word
end:    .word start + 8, -1
        .org 0x18
irq: vector: .byte 0xff; .set noreorder";
    let image = try_assemble(text).unwrap();
    assert_eq!(image.words, [0x1234_0201, 0, 8, u32::MAX, 0, 0, 0xff]);
    for (name, value) in [
        ("N", 2),
        ("start", 0),
        ("end", 8),
        ("irq", 0x18),
        ("vector", 0x18),
        ("BUS", 0x8000_1000),
    ] {
        assert_eq!(image.symbols[name], value, "{name}");
    }
    let line = |line| Some(Place { source: 0, line });
    assert_eq!(image.places, [line(3), None, line(7), line(7), None, None, line(9)]);
}

#[test]
fn local_labels_are_the_nearest_ones() {
    let text = "1: b 1f\nnop\n1: b 1b\nnop\nb 1b\nnop\n";
    assert_eq!(words(text), [0x1000_0001, 0, 0x1000_ffff, 0, 0x1000_fffd, 0]);
}

#[test]
fn sources_follow_each_other_and_see_all_labels() {
    let sources = [source("a.s", "jal far\nnop"), source("b.s", "far: jr $ra\nnop")];
    let image = assemble(&sources, &BTreeMap::new()).unwrap();
    assert_eq!(image.words, [0x0c00_0002, 0, 0x03e0_0008, 0]);
    assert!(!image.symbols.contains_key("1"));
    let wrong = [sources[0].clone(), source("b.s", "\nfar: near: far: b nowhere\nnop")];
    let errors = assemble(&wrong, &BTreeMap::new()).unwrap_err();
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "b.s:2: `far` is defined already, at b.s:2: give one of them another name",
            "b.s:2: `nowhere` is not defined: put a label `nowhere:` or `.equ nowhere, VALUE`",
        ]
    );
}

/// A source, and the line and message of each refusal.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "adduu $a0, $a1, $a2",
        &["1: `adduu` is no instruction and no directive: did you mean `addu`?"],
    ),
    (
        ".wrod 5",
        &["1: `.wrod` is no instruction and no directive: did you mean `.word`?"],
    ),
    (
        "hippopotamus",
        &["1: `hippopotamus` is no instruction and no directive"],
    ),
    (
        "\nlw $a0, COUNT($a1)",
        &["2: `COUNT` is not defined: put a label `COUNT:` or `.equ COUNT, VALUE`"],
    ),
    (
        "b 1f; nop",
        &["1: no label `1:` behind: put one, or turn `1f` and `1b` round"],
    ),
    (
        "b 2b; nop",
        &["1: no label `2:` before: put one, or turn `2f` and `2b` round"],
    ),
    (
        ".space N\n.equ N, 4",
        &["1: the value must be known here: define `N` on an earlier line"],
    ),
    (
        "x: nop\n.equ x, 5",
        &["2: `x` is defined already, at a.s:1: give one of them another name"],
    ),
    (
        "SIZE: nop",
        &["1: `SIZE` is defined already, as an equate: give one of them another name"],
    ),
    (
        "addiu $a0, $a1, 32768",
        &[
            "1: immediate 32768 does not fit, -32768 to 32767 do: load it with `li`, behind the definition of \
             its symbols",
        ],
    ),
    (
        "ori $a0, $a1, -1",
        &["1: immediate -1 does not fit, 0 to 65535 do: load it with `li`, behind the definition of its symbols"],
    ),
    (
        "lw $a0, BUS($a1)",
        &["1: offset 2147487744 does not fit, -32768 to 32767 do: add its upper part to the base first"],
    ),
    ("sll $a0, $a1, 32", &["1: shift 32 does not fit, 0 to 31 do"]),
    ("break 1024", &["1: code 1024 does not fit, 0 to 1023 do"]),
    (
        "li $a0, 1 << 33",
        &["1: a step of the expression leaves 64 bits: make it smaller"],
    ),
    (
        "li $a0, 4294967296",
        &["1: value 4294967296 does not fit, -2147483648 to 4294967295 do"],
    ),
    (
        ".byte 256, 1, -129",
        &[
            "1: value 256 does not fit, -128 to 255 do",
            "1: value -129 does not fit, -128 to 255 do",
        ],
    ),
    (
        "b 0x20004; nop",
        &["1: branch too far: 0x20004 is 32768 words from the delay slot, -32768 to 32767 can be reached: use `j`"],
    ),
    (
        "j BUS; nop",
        &["1: jump too far: 0x80001000 is in other 256 MB: load the address and use `jr`"],
    ),
    (
        "b 6; nop",
        &["1: target 0x6 is no multiple of 4: an instruction never stands there"],
    ),
    (
        "b 0\nb 0\nnop",
        &["2: branch in a delay slot: put `nop` or another instruction between the two branches"],
    ),
    (
        "jr $ra",
        &["1: no instruction in the delay slot of this branch: put `nop` behind it"],
    ),
    (
        "jr $ra\n.word 0",
        &["1: no instruction in the delay slot of this branch: put `nop` behind it"],
    ),
    (
        "jr $ra\nli $a0, 0x12345678",
        &["2: more than one instruction, and only the first is in the delay slot: write one instruction here"],
    ),
    (
        "lw $t0, 0($a0)\naddu $v0, $v0, $t0",
        &[
            "2: load delay: $t0 still has its old value here, a.s:1 loads it one instruction earlier: put `nop` or \
             another instruction between; `.set nohazard` allows it",
        ],
    ),
    (
        "nop\n.half 1\nnop",
        &["3: unaligned: 0x6 is no multiple of 4: put `.align 2` before it"],
    ),
    (
        ".byte 1\n.word 1",
        &["2: unaligned: 0x1 is no multiple of 4: put `.align 2` before it"],
    ),
    (
        ".byte 1\n.half 1",
        &["2: unaligned: 0x1 is no multiple of 2: put `.align 1` before it"],
    ),
    (
        ".space 16380\nnop\nnop\nnop",
        &["3: the image ends behind 0x4000, where the SRAM ends: make it smaller by 8 bytes"],
    ),
    (".space 16385", &["1: size 16385 does not fit, 0 to 16384 do"]),
    (
        ".space 8\n.org 4",
        &["2: `.org` leads back from 0x8 to 0x4: sort the parts by address"],
    ),
    (
        "addu $a0, $a1",
        &["1: operand missing: `,` and an operand belongs here"],
    ),
    ("addu $a0, $a1,", &["1: operand missing: a register belongs here"]),
    ("addu $a0, $a1, 5", &["1: `5` where a register belongs"]),
    ("addu $a0, $a1, $32", &["1: `$32` where a register belongs"]),
    (
        "mfc0 $a0, $cuase",
        &["1: `$cuase` where a register of coprocessor 0 belongs"],
    ),
    ("lw $a0, 5", &["1: operand missing: `(` and a register belongs here"]),
    ("lw $a0, 5($a1", &["1: operand missing: `)` belongs here"]),
    ("nop nop", &["1: `nop` where the end of the line belongs"]),
    (".word $a0", &["1: `$a0` where a value belongs"]),
    (".word (5", &["1: operand missing: `)` belongs here"]),
    (
        ".set reorder",
        &["1: `reorder` where `noreorder`, `nohazard` or `hazard` belongs"],
    ),
    ("!", &["1: `!` where an instruction, a directive or a label belongs"]),
    (".equ 5, 5", &["1: `5` where a name belongs"]),
    (".: nop", &["1: `.` where a name belongs"]),
    ("$a0: nop", &["1: `$a0` where a name belongs"]),
    (".word 010", &["1: `010` is no number: 10, 0x1f and 0b101 are"]),
    (".word 12x", &["1: `12x` is no number: 10, 0x1f and 0b101 are"]),
    (
        ".word 0x7fffffffffffffff + 1",
        &["1: a step of the expression leaves 64 bits: make it smaller"],
    ),
    (
        ".word 1 + 2 << 3",
        &["1: `+` beside `<<`: assemblers differ in which comes first, put parentheses"],
    ),
    (
        ".word 1 | 6 & 3",
        &["1: `&` beside `|`: assemblers differ in which comes first, put parentheses"],
    ),
    // Nothing more is said of the neighbours of a refused line.
    (
        "jr $ra\nadduu $t0, $a0\naddu $a0, $a1, $nix",
        &[
            "2: `adduu` is no instruction and no directive: did you mean `addu`?",
            "3: `$nix` where a register belongs",
        ],
    ),
];

#[test]
fn every_refusal_says_where_why_and_the_mend() {
    for (text, wanted) in REFUSED {
        let errors = try_assemble(text).expect_err(text);
        let got: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let wanted: Vec<String> = wanted.iter().map(|line| format!("a.s:{line}")).collect();
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn the_load_delay_is_kept_wherever_the_program_goes_on() {
    let reads = "addu $v0, $t0, $v0";
    let refused = |text: &str| match try_assemble(text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(|error| error.line).collect(),
    };
    for load in ["lb", "lbu", "lh", "lhu", "lw", "lwl", "lwr"].map(|load| format!("{load} $t0, 0($a0)")) {
        assert_eq!(refused(&format!("{load}\n{reads}")), [2], "{load}");
    }
    assert_eq!(refused(&format!("mfc0 $t0, $status\n{reads}")), [2]);
    let load = "lw $t0, 0($a0)";
    let table: &[(&str, &[usize])] = &[
        (&format!("{load}\nsw $t0, 0($a0)"), &[2]),
        (&format!("{load}\njr $t0\nnop"), &[2]),
        (&format!("{load}\nlw $t1, 0($t0)"), &[2]),
        (&format!("{load}\nlwl $t0, 0($a1)"), &[2]),
        // In the slot of a branch: at its target and behind it.
        (&format!("1: {reads}\nbeqz $a0, 1b\n{load}\n{reads}"), &[1, 4]),
        (&format!("1: nop\nb 1b\n{load}\n{reads}"), &[]),
        (&format!("jal 1f\n{load}\n{reads}\n1: {reads}"), &[4]),
        (&format!("jr $ra\n{load}\n{reads}"), &[]),
        // No reading, or no new value.
        (&format!("{load}\nnop\n{reads}"), &[]),
        (&format!("{load}\nli $t0, 5"), &[]),
        (
            &format!("lw $zero, 0($a0)\naddu $v0, $zero, $zero\n{load}\n.word 0x01000008"),
            &[],
        ),
        ("lwl $t0, 3($a0)\nlwr $t0, 0($a0)", &[]),
        ("lwr $t0, 0($t0)\nlwl $t0, 3($a0)", &[]),
        (
            &format!(".set nohazard\n{load}\n{reads}\n.set hazard\n{load}\n{reads}"),
            &[6],
        ),
    ];
    for (text, wanted) in table {
        assert_eq!(refused(text), *wanted, "{text}");
    }
}

/// Pieces of sources, right and wrong.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\n",
    " ",
    ", ",
    ":",
    ";",
    "(",
    ")",
    "-",
    "~",
    "<<",
    ">>",
    "&",
    "|",
    "*",
    "+",
    "#",
    "/",
    "//",
    "%hi(",
    "%lo(",
    "$",
    "$t0",
    "$32",
    "$cause",
    "x",
    "y:",
    "1:",
    "1f",
    "1b",
    "0",
    "0x",
    "0b",
    "0xffffffffffffffff",
    "99999999",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "nop",
    "lw $t0, ",
    "($t0)",
    "beq $t0, $t1, ",
    "blt $t0, $t1, ",
    "j ",
    "jalr ",
    "break ",
    "li $t0, ",
    "la ",
    "sll ",
    ".word ",
    ".half ",
    ".byte ",
    ".org ",
    ".space ",
    ".align ",
    ".equ x, ",
    ".set ",
    "nohazard",
    "\u{e9}",
    "\u{65e5}",
    "\0",
    "\r",
];

#[test]
fn any_text_is_assembled_or_refused() {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..60);
    let regressions = "tests/r3000/regressions/asm.txt";
    holds(
        this_test!(),
        regressions,
        2048,
        pieces,
        |_, pieces, _| match try_assemble(&pieces.concat()) {
            Ok(image) if image.words.len() == image.places.len() => Ok(()),
            Ok(_) => Err("not a place for each word".to_owned()),
            Err(errors) if errors.is_empty() => Err("refused without a reason".to_owned()),
            Err(_) => Ok(()),
        },
    );
}

#[test]
fn no_expression_overflows_the_stack() {
    let refused = |text: &str| try_assemble(text).unwrap_err()[0].to_string();
    for piece in ["(", "-", "~", "%hi("] {
        let deep = "a.s:1: parentheses or signs are more than 16 deep: give a part a name by `.equ`";
        assert_eq!(refused(&format!(".word {}1", piece.repeat(17))), deep);
        let long = "a.s:1: a statement of more than 1000 bytes: split it";
        assert_eq!(refused(&format!(".word {}", piece.repeat(100_000))), long);
    }
    assert_eq!(words(&format!(".word {}1{}", "(".repeat(15), ")".repeat(15))), [1]);
    assert_eq!(words(&format!(".word 0{}", "+1".repeat(490))), [490]);
}

#[test]
fn an_image_may_fill_the_sram() {
    let image = try_assemble(&format!(".org {}\nnop", SRAM_BYTES - 4)).unwrap();
    assert_eq!(image.words.len() as u32 * 4, SRAM_BYTES);
}

#[test]
fn the_listing_shows_every_line_and_what_it_took() {
    let sources = [
        source(
            "a.s",
            "# Loads.\nstart:\n  li $a0, 0x12345678 # big\n  jr $ra\n  lw $t0, ($a0)\n",
        ),
        source("b.s", "  .word 1, -1\n"),
    ];
    let image = assemble(&sources, &BTreeMap::new()).unwrap();
    let text = listing(&image, |at| (8..0x10).contains(&at).then(|| format!("{}", at * 1000)));
    let wanted = "\
address  word        cycles  source
                             a.s:
                             # Loads.
                             start:
00000000 3c041234              li $a0, 0x12345678 # big
00000004 34845678                    > ori $a0, $a0, 0x5678
00000008 03e00008      8000    jr $ra
0000000c 8c880000     12000    lw $t0, ($a0)
                             b.s:
00000010 00000001              .word 1, -1
00000014 ffffffff
";
    assert_eq!(text, wanted);
}
