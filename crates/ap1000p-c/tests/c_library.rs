//! C programs on the simulated machine: the example, every call, and bad input.

#[path = "../../c-programs/tests/compile/mod.rs"]
mod compile;

use std::fs;

use compile::{Program, root, text};

const LIBRARY: &str = "tsunagi_ap1000p";

fn stencil() -> String {
    fs::read_to_string(root().join("examples/c/stencil.c")).unwrap()
}

#[test]
fn the_example_is_right_on_both_backends_and_always_the_same() {
    let program = Program::new(&stencil(), LIBRARY);
    for backend in ["model", "rtl"] {
        for (points, iterations) in [("16", "12"), ("5", "9"), ("1", "3")] {
            let [first, second] = [(), ()].map(|()| program.run(&[points, iterations, backend]));
            let said = text(&first.stdout);
            assert!(first.status.success(), "{said}{}", text(&first.stderr));
            assert_eq!(said, text(&second.stdout));
            assert!(said.contains("every point is right"), "{said}");
        }
    }
    let out = program.run(&["4", "1", "paper"]);
    assert_eq!(out.status.code(), Some(1));
    let why = "APbackend: unknown backend `paper`; known are: model, rtl\n";
    assert_eq!(text(&out.stderr), why);
}

/// The example with one line otherwise.
fn broken(line: &str, instead: &str) -> String {
    let source = stencil();
    assert_eq!(source.matches(line).count(), 1, "{line}");
    let out = Program::new(&source.replace(line, instead), LIBRARY).run(&["6", "5", "model"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stdout));
    text(&out.stdout)
}

#[test]
fn a_wrong_stride_and_a_halo_that_is_not_awaited_are_seen() {
    for (line, instead) in [
        ("const APstride column = {1, n + 1};", "const APstride column = {1, n};"),
        (
            "check(APwait_flag(flags + WEST, count));",
            "check(APwait_flag(flags + WEST, count - 1));",
        ),
    ] {
        let said = broken(line, instead);
        assert!(said.contains(" points are wrong"), "{said}");
    }
}

/// Each call does what it says, on four cells.
const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <tsunagi_ap1000p.h>

#define MUST(what) do { if (!(what)) { \
    printf("cell %d, line %d: %s: %s\n", APcell(), __LINE__, #what, APerror()); exit(1); } } while (0)
#define OK(call) MUST((call) == AP_OK)

static void program(void *arg) {
    int me = APcell(), n = APcells(), next = (me + 1) % n, previous = (me + n - 1) % n;
    int *from = APalloc(400), *to = APalloc(400), *flag = APalloc(64), *sent = flag + 1, *lock = flag + 2, *count = flag + 3,
        *word = flag + 8;
    unsigned was, value;
    const APstride two = {2, 1}, back = {1, -2};
    MUST(n == *(int *)arg);
    for (int i = 0; i < 100; i++) from[i] = 1000 * me + i, to[i] = -1;
    for (int i = 0; i < 16; i++) flag[i] = 0;
    OK(APbarrier_by_flags());

    OK(APput(next, from, 10, to, flag, sent));
    OK(APwait_flag(sent, 1));
    OK(APwait_flag(flag, 1));
    for (int i = 0; i < 10; i++) MUST(to[i] == 1000 * previous + i);
    MUST(to[10] == -1);
    OK(APput(next, NULL, 0, NULL, flag, NULL));
    OK(APwait_flag(flag, 2));
    OK(APput_system(next, from + 20, 1, to, flag, NULL));
    OK(APwait_flag(flag, 3));
    MUST(to[0] == 1000 * previous + 20);
    OK(APbarrier());

    /* 0 1 3 4 6 to places 50 49 48 47 46 */
    OK(APput_stride(next, from, &two, 5, to + 50, &back, flag, NULL));
    OK(APwait_flag(flag, 4));
    for (int i = 0; i < 5; i++) MUST(to[50 - i] == 1000 * previous + i + i / 2);
    OK(APget(next, from, 3, to + 60, flag, sent));
    OK(APwait_flag(flag, 5));
    OK(APwait_flag(sent, 2));
    MUST(to[60] == 1000 * next && to[62] == 1000 * next + 2);
    OK(APget_stride(next, from, &two, 3, to + 70, NULL, flag, NULL));
    OK(APwait_flag(flag, 6));
    MUST(to[72] == 1000 * next + 3);
    OK(APbarrier());
    OK(APack_put(next, from + 7, 1, to + 80, NULL, NULL));
    OK(APget(next, to + 80, 1, to + 81, flag, NULL));
    OK(APwait_flag(flag, 7));
    MUST(to[81] == 1000 * me + 7);
    OK(APbarrier());

    /* Row 0 is cells 0 and 1, column 0 is cells 0 and 2. */
    if (me == 0) {
        OK(APbroadcast(AP_ROW, from + 5, 1, to + 90, flag, NULL));
        OK(APbroadcast(AP_COLUMN, from + 6, 1, to + 91, flag, NULL));
        OK(APbroadcast(AP_ALL, from + 8, 1, to + 92, flag, NULL));
    }
    OK(APwait_flag(flag, me == 0 ? 10 : me < 3 ? 9 : 8));
    OK(APbarrier());
    MUST((to[90] == 5) == (me < 2) && (to[91] == 6) == (me % 2 == 0) && to[92] == 8);

    for (int i = 0; i < 5; i++) {
        OK(APlock(0, lock));
        OK(APget(0, count, 1, to, flag + 4, NULL));
        OK(APwait_flag(flag + 4, i + 1));
        to[0]++;
        OK(APack_put(0, to, 1, count, NULL, NULL));
        OK(APunlock(0, lock));
    }
    OK(APbarrier());
    MUST(me != 0 || *count == 5 * n);
    OK(APfetch_op(next, word, 0, 0x10 + next, &was));
    MUST(was == 0);
    OK(APcompare_swap(next, word, 0x10 + next, 7, &was));
    MUST(was == 0x10u + next);
    OK(APcompare_swap(next, word, 0x10 + next, 8, NULL));
    OK(APbarrier());
    MUST(*word == 7);

    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        unsigned char *place = (unsigned char *)(to + 40) + 8 * bytes;
        unsigned long long stored = 0x1122334455667788ull + me, loaded, mask = ~0ull >> (64 - 8 * bytes);
        OK(APstore(next, place, bytes, stored));
        OK(APfence());
        OK(APload(next, place, bytes, &loaded));
        MUST(loaded == (stored & mask));
        OK(APload(next, place, bytes, NULL));
    }
    OK(APbarrier());
    MUST(((unsigned char *)(to + 40))[8] == 0x88 + previous && ((unsigned char *)(to + 40))[9] == 0xff);

    OK(APput_registers(next, from + 3, 2, 94, NULL));
    OK(APregister_read(94, &value));
    MUST(value == 1000u * previous + 3);
    OK(APregister_read(95, &value));
    OK(APregister_write(0, 33));
    OK(APregister_read(0, &value));
    MUST(value == 33);
    OK(APreduce(AP_SUM, me, &value));
    MUST(value == 6);
    OK(APreduce(AP_MIN, me + 1, &value));
    MUST(value == 1);
    OK(APreduce(AP_MAX, me, &value));
    MUST(value == 3);
    OK(APreduce(AP_AND, 4 + me, &value));
    MUST(value == 4);
    OK(APreduce(AP_OR, 1 << me, &value));
    MUST(value == 15);

    double start = APtime();
    OK(APwait(12.5));
    MUST(APtime() - start == 12.5);
}

int main(int argc, char **argv) {
    int cells = 4;
    (void)argc;
    MUST(APset("link_cycles=1") == AP_OK);
    OK(APbackend(argv[1]));
    OK(APrun(2, 2, program, &cells));
    return 0;
}
"#;

#[test]
fn every_call_does_what_the_header_says() {
    let program = Program::new(CALLS, LIBRARY);
    for backend in ["model", "rtl"] {
        let out = program.run(&[backend]);
        assert!(out.status.success(), "{backend}: {}", text(&out.stdout));
    }
}

const MISUSE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <tsunagi_ap1000p.h>

static void told(int line, int result, int expected, const char *why) {
    if (result != expected || !strstr(APerror(), why))
        printf("line %d: %d, not %d: %s\n", line, result, expected, APerror());
}
#define TOLD(call, expected, why) told(__LINE__, call, expected, why)

static void misuse(void *arg) {
    int *word = APalloc(64), *end, local = 0;
    const APstride none = {0, 0}, wide = {257, 0}, far = {1, 1 << 23}, back = {1, -2}, out = {1, 1 << 20};
    unsigned value;
    unsigned long long loaded;
    (void)arg;
    if (APcell() != 0) return;
    end = (int *)((char *)word + (458752 - 32) - 4); /* the last word of 1 MB less 576 KB */
    TOLD(APput(4, word, 1, word, NULL, NULL), AP_CELL, "APput: cell 4 is not in the torus: it has 4 cells");
    TOLD(APput(-1, word, 1, word, NULL, NULL), AP_CELL, "cell -1 is not in the torus");
    TOLD(APput(65536, word, 1, word, NULL, NULL), AP_CELL, "cell 65536 is not in the torus");
    TOLD(APput(1, word, -1, word, NULL, NULL), AP_SIZE, "-1 words");
    TOLD(APput(1, word, 1 << 20, word, NULL, NULL), AP_SIZE, "1048576 words are more than a command can transfer");
    TOLD(APput(1, word, 1 << 17, word, NULL, NULL), AP_POINTER, "the source of 131072 words");
    TOLD(APput(1, &local, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    TOLD(APput(1, word, 1, &local, NULL, NULL), AP_POINTER, "the destination 0x");
    TOLD(APput(1, NULL, 1, word, NULL, NULL), AP_POINTER, "the source ");
    TOLD(APput(1, word, 1, word, &local, NULL), AP_POINTER, "the destination flag 0x");
    TOLD(APput(1, word, 1, word, NULL, &local), AP_POINTER, "the source flag 0x");
    TOLD(APput(1, (char *)word + 2, 1, word, NULL, NULL), AP_ALIGN, "is not a multiple of 4 bytes");
    TOLD(APput(1, word, 1, word, (int *)((char *)word + 1), NULL), AP_ALIGN, "is not a multiple of 4 bytes");
    TOLD(APput(1, end, 1, word, NULL, NULL), AP_OK, "");
    TOLD(APput(1, end, 2, word, NULL, NULL), AP_POINTER, "the source of 2 words");
    TOLD(APput(1, end + 1, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    TOLD(APput(1, word - 1, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    TOLD(APput_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "an item of 0 words");
    TOLD(APput_stride(1, word, NULL, 1, word, &wide, NULL, NULL), AP_STRIDE, "an item of 257 words");
    TOLD(APput_stride(1, word, &far, 1, word, NULL, NULL, NULL), AP_STRIDE, "a gap of 8388608 words");
    TOLD(APput_stride(1, word, &back, 2, word, NULL, NULL, NULL), AP_POINTER, "the source of 2 words");
    TOLD(APput_stride(1, word, NULL, 2, word, &out, NULL, NULL), AP_POINTER, "the destination of 2 words");
    TOLD(APget_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "APget_stride: an item");
    TOLD(APput_system(9, word, 1, word, NULL, NULL), AP_CELL, "APput_system: cell 9");
    TOLD(APget(9, word, 1, word, NULL, NULL), AP_CELL, "APget: cell 9");
    TOLD(APack_put(9, word, 1, word, NULL, NULL), AP_CELL, "APack_put: cell 9");
    TOLD(APbroadcast(3, word, 1, word, NULL, NULL), AP_OPERATION, "3 is neither AP_ROW, AP_COLUMN nor AP_ALL");
    TOLD(APbroadcast(AP_ROW, &local, 1, word, NULL, NULL), AP_POINTER, "APbroadcast: the source");
    TOLD(APwait_flag(&local, 1), AP_POINTER, "APwait_flag: the flag 0x");
    TOLD(APwait_flag((int *)((char *)word + 1), 1), AP_ALIGN, "is not a multiple of 4 bytes");
    TOLD(APfetch_op(4, word, 0, 0, &value), AP_CELL, "APfetch_op: cell 4");
    TOLD(APfetch_op(1, &local, 0, 0, &value), AP_POINTER, "APfetch_op: the word 0x");
    TOLD(APcompare_swap(4, word, 0, 0, &value), AP_CELL, "APcompare_swap: cell 4");
    TOLD(APcompare_swap(1, (int *)((char *)word + 2), 0, 0, &value), AP_ALIGN, "APcompare_swap: ");
    TOLD(APlock(4, word), AP_CELL, "APlock: cell 4");
    TOLD(APlock(1, &local), AP_POINTER, "APlock: the lock 0x");
    TOLD(APunlock(-4, word), AP_CELL, "APunlock: cell -4");
    TOLD(APload(4, word, 4, &loaded), AP_CELL, "APload: cell 4");
    TOLD(APload(1, &local, 4, &loaded), AP_POINTER, "APload: the place 0x");
    TOLD(APload(1, word, 3, &loaded), AP_SIZE, "APload: 3 bytes");
    TOLD(APload(1, word, 260, &loaded), AP_SIZE, "APload: ");
    TOLD(APload(1, (char *)word + 4, 8, &loaded), AP_ALIGN, "APload: ");
    TOLD(APstore(-1, word, 4, 0), AP_CELL, "APstore: cell -1");
    TOLD(APstore(1, &local, 4, 0), AP_POINTER, "APstore: the place 0x");
    TOLD(APstore(1, word, -4, 0), AP_SIZE, "APstore: ");
    TOLD(APstore(1, (char *)word + 2, 4, 0), AP_ALIGN, "APstore: ");
    TOLD(APput_registers(1, word, 2, 95, NULL), AP_REGISTER, "communication register 96: 0 to 95");
    TOLD(APput_registers(1, word, 1, -1, NULL), AP_REGISTER, "communication register -1");
    TOLD(APput_registers(1, &local, 1, 0, NULL), AP_POINTER, "APput_registers: the source");
    TOLD(APput_registers(1, word, -1, 0, NULL), AP_SIZE, "APput_registers: -1 words");
    TOLD(APregister_read(96, &value), AP_REGISTER, "APregister_read: communication register 96");
    TOLD(APregister_write(300, 1), AP_REGISTER, "APregister_write: communication register 300");
    TOLD(APreduce(5, 1, &value), AP_OPERATION, "5 is no operation");
    TOLD(APwait(-1), AP_SETTING, "APwait: -1 us is not a time");
    TOLD(APalloc(1 << 30) ? AP_OK : AP_POINTER, AP_POINTER, "APalloc: 1073741824 B asked for, 458656 B left; set mem_bytes");
}

static void three(void *arg) {
    unsigned value;
    (void)arg;
    TOLD(APreduce(AP_SUM, 1 + APcell(), &value) || value != 6, AP_OK, "");
    TOLD(APbarrier(), AP_OK, "");
    TOLD(APbarrier_by_flags(), AP_OK, "");
    TOLD(APbarrier_by_snet(), AP_OK, "");
}

static void stuck(void *arg) {
    APwait_flag(APalloc(4), *(int *)arg);
}

/* Cell 0 is refused what cell 1 waits for, and does not look. */
static void refused(void *arg) {
    int *flag = APalloc(4);
    if (APcell() == 0) APput(7, NULL, 0, NULL, flag, NULL);
    else APwait_flag(flag, *(int *)arg);
}

int main(int argc, char **argv) {
    int one = 1;
    (void)argc;
    TOLD(APcell(), AP_OUTSIDE, "APcell: called outside a program of APrun");
    TOLD(APcells(), AP_OUTSIDE, "APcells: ");
    TOLD(APtime() < 0 ? AP_OUTSIDE : AP_OK, AP_OUTSIDE, "APtime: ");
    TOLD(APput(0, NULL, 0, NULL, NULL, NULL), AP_OUTSIDE, "APput: ");
    TOLD(APfence(), AP_OUTSIDE, "APfence: ");
    TOLD(APalloc(4) ? AP_OK : AP_OUTSIDE, AP_OUTSIDE, "APalloc: ");
    TOLD(APbackend("paper"), AP_SETTING, "APbackend: unknown backend `paper`; known are: model, rtl");
    TOLD(APbackend(NULL), AP_SETTING, "APbackend: no text");
    TOLD(APbackend("\xff"), AP_SETTING, "APbackend: not UTF-8");
    TOLD(APbackend(argv[1]), AP_OK, "");
    TOLD(APset("mem_byte=1"), AP_SETTING, "APset: unknown parameter `mem_byte`");
    TOLD(APset(NULL), AP_SETTING, "APset: no text");
    TOLD(APlimit(0), AP_SETTING, "APlimit: 0 us is not a time");
    TOLD(APlimit(1000), AP_OK, "");
    TOLD(APrun(2, 2, NULL, NULL), AP_SETTING, "APrun: no program");
    TOLD(APrun(0, 2, misuse, NULL), AP_SETTING, "APrun: parameter `columns` = 0 cells is outside 1 to 32");
    TOLD(APrun(2, 33, misuse, NULL), AP_SETTING, "APrun: parameter `rows` = 33 cells is outside 1 to 32");
    TOLD(APset("mem_bytes=1048580"), AP_OK, "");
    TOLD(APrun(2, 2, misuse, NULL), AP_SETTING, "APrun: mem_bytes = 1048580 B: a cell's memory is a multiple of 512 KB");
    TOLD(APset("mem_bytes=1048576"), AP_OK, "");
    TOLD(APrun(2, 2, misuse, NULL), AP_OK, "");
    TOLD(APrun(3, 1, three, NULL), AP_OK, "");
    TOLD(APrun(2, 1, stuck, &one), AP_HANG, "APrun: the machine hangs at ");
    TOLD(APrun(2, 1, refused, &one), AP_HANG, "APrun: cell 0: APput: cell 7 is not in the torus");
    TOLD(APrun(2, 1, refused, &one), AP_HANG, "; then the machine hangs at ");
    printf("done\n");
    return 0;
}
"#;

#[test]
fn bad_input_and_hangs_are_told() {
    let program = Program::new(MISUSE, LIBRARY);
    for backend in ["model", "rtl"] {
        let out = program.run(&[backend]);
        assert_eq!(text(&out.stdout), "done\n", "{backend}: {}", text(&out.stderr));
    }
}
