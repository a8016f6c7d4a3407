//! PUTs, GETs, broadcasts and atomics: what is moved, and where to.

use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::regs::*;

use super::both;
use super::rig::*;

/// What the parameters of PUT and GET say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub words: u32,
    pub dest: u32,
    pub dest_stride: u32,
    pub dest_flag: u32,
    pub source_flag: u32,
    pub source: u32,
    pub source_stride: u32,
}

impl Transfer {
    /// The eight words, for a cell so far away.
    pub fn to(self, [dx, dy]: [i32; 2]) -> [u32; 8] {
        [
            (dx as u32 & 0xff) << COMMAND_HEAD_DX_SHIFT | dy as u32 & 0xff,
            self.words,
            self.dest,
            self.dest_stride,
            self.dest_flag,
            self.source_flag,
            self.source,
            self.source_stride,
        ]
    }

    pub fn at_source(&self, rig: &mut dyn Rig, cell: usize) -> Vec<u32> {
        let at = places(self.source, self.source_stride, self.words);
        at.map(|at| rig.word(cell, at)).collect()
    }

    pub fn at_dest(&self, rig: &mut dyn Rig, cell: usize) -> Vec<u32> {
        let at = places(self.dest, self.dest_stride, self.words);
        at.map(|at| rig.word(cell, at)).collect()
    }
}

pub fn distance(columns: usize, from: usize, to: usize) -> [i32; 2] {
    let part = |from: usize, to: usize| to as i32 - from as i32;
    [part(from % columns, to % columns), part(from / columns, to / columns)]
}

#[test]
fn puts_of_all_lengths() {
    both(2, 2, |rig| {
        for to in 0..4 {
            for (number, words) in [0, 1, 2, 255, 256, 257, 1000].into_iter().enumerate() {
                let flag = FLAG + 8 * number as u32;
                let transfer = Transfer {
                    words,
                    dest: 0x3_0000 + 0x40 * words,
                    dest_flag: flag,
                    source_flag: flag + 4,
                    source: 0x1_0004 + 0x2000 * number as u32,
                    ..Transfer::default()
                };
                let want = transfer.at_source(rig, 1);
                let flags = |rig: &mut dyn Rig| [rig.word(to, flag), rig.word(1, flag + 4)];
                let before = flags(rig);
                rig.store(1, KIND_PUT, &transfer.to(distance(2, 1, to)));
                rig.settle();
                assert_eq!(transfer.at_dest(rig, to), want);
                assert_eq!(flags(rig), before.map(|flag| flag.wrapping_add(1)));
            }
        }
    });
}

#[test]
fn strides_of_puts_and_gets() {
    both(3, 2, |rig| {
        // {item, gap}: 0 is 256.
        let strides = [0, 1 << 24 | 1, 3 << 24 | 5, 255 << 24 | 2, 8 << 24 | 0xff_fffc];
        for (n, &source_stride) in strides.iter().enumerate() {
            for (m, &dest_stride) in strides[..4].iter().enumerate() {
                let transfer = Transfer {
                    words: 300,
                    dest: 0x2_0000,
                    dest_stride,
                    dest_flag: FLAG,
                    source_flag: FLAG + 8,
                    source: 0x1_0000,
                    source_stride,
                };
                let (kind, from, to) = if (n + m) % 2 == 0 {
                    (KIND_PUT, 4, 0)
                } else {
                    (KIND_GET, 0, 4)
                };
                let want = transfer.at_source(rig, 4);
                rig.store(from, kind, &transfer.to(distance(3, from, to)));
                rig.settle();
                assert_eq!(transfer.at_dest(rig, 0), want, "{transfer:x?}");
            }
        }
    });
}

/// The flag of a GET of no words says that the PUT before it is in memory.
#[test]
fn a_get_of_nothing_acknowledges() {
    both(2, 2, |rig| {
        for round in 0..20 {
            let transfer = Transfer {
                words: 1 + 7 * round,
                dest: 0x2_0000,
                source: 0x1_0000 + 0x20 * round,
                ..Transfer::default()
            };
            let acknowledge = Transfer {
                dest_flag: FLAG,
                ..Transfer::default()
            };
            let want = transfer.at_source(rig, 0);
            let flag = rig.word(0, FLAG);
            rig.store(0, KIND_PUT, &transfer.to([1, 1]));
            rig.store(0, KIND_GET, &acknowledge.to([1, 1]));
            let start = rig.cycle();
            while rig.word(0, FLAG) == flag {
                assert!(rig.cycle() < start + LONG, "{}", rig.report());
                rig.step();
            }
            assert_eq!(transfer.at_dest(rig, 3), want);
        }
    });
}

#[test]
fn to_the_own_cell() {
    both(2, 1, |rig| {
        let transfer = Transfer {
            words: 100,
            dest: 0x2_0000,
            dest_flag: FLAG,
            source: 0x1_0000,
            source_flag: FLAG,
            ..Transfer::default()
        };
        rig.store(0, KIND_PUT, &transfer.to([0, 0]));
        let dest = 0x3_0000;
        rig.store(0, KIND_GET, &Transfer { dest, ..transfer }.to([0, 0]));
        // A turn further.
        rig.store(0, KIND_FOP, &[0, 1, 0x4_0000, 0, FLAG, 0x4_0004, 0xffff, 0xf0]);
        rig.settle();
    });
}

#[test]
fn length_and_stride_mean_nothing_to_an_atomic() {
    both(2, 1, |rig| {
        let (remote, results) = (0x4_0000, 0x5_0000);
        rig.set_word(0, remote, 5);
        let kept = rig.word(0, results + 8);
        let stride = 1 << STRIDE_ITEM_SHIFT | 3;
        // From 5 to 6, and from 6 to 7.
        for (old, length) in [(5, 0), (6, 0xf_ffff)] {
            let result = results + 4 * (old - 5);
            rig.store(0, KIND_CSI, &[0, length, result, stride, FLAG, remote, old, old + 1]);
        }
        rig.settle();
        let words = [remote, results, results + 4, results + 8].map(|at| rig.word(0, at));
        assert_eq!(words, [7, 5, 6, kept]);
    });
}

#[test]
fn broadcasts() {
    let all = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
    // The last, to another column than the own.
    let kinds = [
        (PAGE_ROW_MASK, 0),
        (PAGE_COLUMN_MASK, 0),
        (all, 0),
        (PAGE_COLUMN_MASK, 1),
    ];
    both(4, 3, |rig| {
        for (number, (axis, away)) in kinds.into_iter().enumerate() {
            let transfer = Transfer {
                words: 40,
                dest: 0x2_0000 + 0x1000 * number as u32,
                dest_flag: FLAG + 4 * number as u32,
                source: 0x1_0000,
                ..Transfer::default()
            };
            rig.store(6, KIND_PUT | axis, &transfer.to([away, 0]));
            rig.settle();
        }
    });
}

#[test]
fn a_broadcast_to_all_reaches_each_cell_once() {
    let mut rig = model(&config(4, 3));
    let transfer = Transfer {
        words: 40,
        dest: 0x2_0000,
        dest_flag: FLAG,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let want = transfer.at_source(&mut rig, 6);
    let before: Vec<u32> = (0..12).map(|cell| rig.word(cell, FLAG)).collect();
    rig.store(6, KIND_PUT | PAGE_ROW_MASK | PAGE_COLUMN_MASK, &transfer.to([0, 0]));
    rig.settle();
    for (cell, before) in before.into_iter().enumerate() {
        assert_eq!(transfer.at_dest(&mut rig, cell), want, "cell {cell}");
        assert_eq!(rig.word(cell, FLAG), before.wrapping_add(1), "cell {cell}");
    }
}

#[test]
fn atomics() {
    both(2, 2, |rig| {
        let (old, beside) = (rig.word(3, FLAG), rig.word(0, 0x2_0004));
        // LENGTH may be any.
        for (kind, length, a, b) in [
            (KIND_FOP, 1, 0xffff_0000, 0),
            (KIND_FOP, 0, !0, 0x1000),
            (KIND_FOP, 3, !0, 0x234),
            (KIND_CSI, 5, old & 0xffff_0000 | 0x1234, 77),
            (KIND_CSI, 0xf_ffff, 76, 78),
        ] {
            rig.store(0, kind, &[0x101, length, 0x2_0000, 0, FLAG + 8, FLAG, a, b]);
            rig.settle();
            assert_eq!(rig.word(0, 0x2_0004), beside);
        }
        assert_eq!((rig.word(3, FLAG), rig.word(0, 0x2_0000)), (77, 77));
    });
    // Under contention: what each cell saw is one bit more than another saw.
    for rig in [
        &mut model(&config(4, 4)) as &mut dyn Rig,
        &mut rtl(&config(4, 4)) as &mut dyn Rig,
    ] {
        rig.set_word(5, FLAG, 0);
        for cell in 0..16 {
            let head = Transfer::default().to(distance(4, cell, 5))[0];
            rig.store(cell, KIND_FOP, &[head, 1, 0x2_0000, 0, 0, FLAG, !0, 1 << cell]);
        }
        rig.settle();
        let mut seen: Vec<u32> = (0..16).map(|cell| rig.word(cell, 0x2_0000)).collect();
        seen.push(rig.word(5, FLAG));
        seen.sort_by_key(|bits| bits.count_ones());
        for (n, bits) in seen.iter().enumerate() {
            assert_eq!(bits.count_ones() as usize, n, "{seen:x?}");
            assert!(n == 0 || bits & seen[n - 1] == seen[n - 1], "{seen:x?}");
        }
    }
}

#[test]
fn each_of_16_cells_gets_from_all() {
    both(4, 4, |rig| {
        let before: Vec<u32> = (0..16).map(|cell| rig.word(cell, FLAG)).collect();
        for to in 0..16 {
            for from in 0..16 {
                let transfer = Transfer {
                    words: 64,
                    dest: 0x2_0000 + 0x100 * to as u32,
                    dest_flag: FLAG,
                    source: 0x1_0000 + 0x100 * from as u32,
                    ..Transfer::default()
                };
                rig.store(from, KIND_GET, &transfer.to(distance(4, from, to)));
            }
        }
        rig.settle();
        for (cell, before) in before.into_iter().enumerate() {
            assert_eq!(rig.word(cell, FLAG), before.wrapping_add(16), "cell {cell}");
        }
    });
}

/// As many words as a length can say: a stride that comes back to where it was has them in 256.
#[test]
fn the_longest_put() {
    let mut rig = model(&config(2, 1));
    let back = 256_u32.wrapping_neg() & 0xff_ffff;
    let transfer = Transfer {
        words: COMMAND_LENGTH_WORDS_MASK,
        dest: 0x2_0000,
        dest_stride: back,
        dest_flag: FLAG,
        source_flag: FLAG + 4,
        source: 0x1_0000,
        source_stride: back,
    };
    let want = Transfer { words: 256, ..transfer }.at_source(&mut rig, 0);
    let flags = [(1, FLAG), (0, FLAG + 4)];
    let before = flags.map(|(cell, at)| rig.word(cell, at));
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    let words = u64::from(transfer.words);
    while !rig.at_rest() {
        assert!(rig.cycle() < 16 * words, "{}", rig.report());
        rig.step();
    }
    assert!(rig.cycle() > 8 * words, "a word takes 8 cycles on a link");
    assert_eq!(Transfer { words: 256, ..transfer }.at_dest(&mut rig, 1), want);
    assert_eq!(
        flags.map(|(cell, at)| rig.word(cell, at)),
        before.map(|was| was.wrapping_add(1))
    );
}
