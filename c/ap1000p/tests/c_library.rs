//! C programs on the simulated machine: the example, every call, and bad input.

use std::fs;

use support::c_program::{Program, text};
use support::root;

const MACHINE: &str = "ap1000p";

fn example(name: &str) -> String {
    fs::read_to_string(root().join("examples/c").join(name)).unwrap()
}

#[test]
fn the_example_is_right_on_both_backends_and_always_the_same() {
    let program = Program::new(&example("stencil.c"), MACHINE);
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
    let why = "APbackend: unknown backend `paper`; known: model, rtl\n";
    assert_eq!(text(&out.stderr), why);
}

/// The output of the example with one line changed.
fn broken(name: &str, args: &[&str], line: &str, instead: &str) -> String {
    let source = example(name);
    assert_eq!(source.matches(line).count(), 1, "{line}");
    let out = Program::new(&source.replace(line, instead), MACHINE).run(args);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stdout));
    text(&out.stdout)
}

#[test]
fn the_example_of_messages_is_right_on_both_backends() {
    let program = Program::new(&example("primes.c"), MACHINE);
    // Lists that are all short or all long, besides lists at the threshold.
    for (limit, length, most) in [("3000", "70", 19), ("6000", "1500", 239), ("100", "7", 3)] {
        for backend in ["model", "rtl"] {
            let out = program.run(&[limit, length, backend]);
            let said = text(&out.stdout);
            assert!(out.status.success(), "{said}{}", text(&out.stderr));
            assert!(said.contains("every number is right"), "{said}");
            assert!(said.contains(&format!("at most {most} primes")), "{said}");
        }
    }
    let [line, instead] = ["found[primes[i]]++;", "found[primes[0]]++;"];
    let said = broken("primes.c", &["1000", "100", "model"], line, instead);
    assert!(said.contains(" numbers are wrong"), "{said}");
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
        let said = broken("stencil.c", &["6", "5", "model"], line, instead);
        assert!(said.contains(" points are wrong"), "{said}");
    }
}

/// Each call works as documented, on four cells.
const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <tsunagi_ap1000p.h>

#define MUST(what) do { if (!(what)) { \
    printf("cell %d, line %d: %s: %s\n", APcell(), __LINE__, #what, APerror()); exit(1); } } while (0)
#define OK(call) MUST((call) == AP_OK)

static void program(void *arg) {
    int me = APcell(), n = APcells(), next = (me + 1) % n, previous = (me + n - 1) % n;
    int *from = APalloc(400), *to = APalloc(400), *flag = APalloc(64);
    int *sent = flag + 1, *lock = flag + 2, *count = flag + 3, *word = flag + 8;
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
    MUST(APset("link_rate=200") == AP_OK);
    OK(APbackend(argv[1]));
    OK(APrun(2, 2, program, &cells));
    return 0;
}
"#;

#[test]
fn every_call_does_what_the_header_says() {
    let program = Program::new(CALLS, MACHINE);
    for backend in ["model", "rtl"] {
        let out = program.run(&[backend]);
        assert!(out.status.success(), "{backend}: {}", text(&out.stdout));
    }
}

/// Calls with printed results: memory must be equal on both backends, word for word.
const MORE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_ap1000p.h>

#define MUST(what) do { if (!(what)) { \
    printf("cell %d, line %d: %s: %s\n", APcell(), __LINE__, #what, APerror()); exit(1); } } while (0)
#define OK(call) MUST((call) == AP_OK)

enum { LARGE = 5000, RING = 131072, PAGES = 8192, CACHE = 1 << 21 };

/* In the order of the cells, so that what is printed does not depend on times. */
static void show(const char *what, const int *words, int count) {
    for (int cell = 0; cell < APcells(); cell++) {
        if (cell == APcell()) {
            printf("%s of cell %d:", what, cell);
            for (int i = 0; i < count; i++) printf(" %d", words[i]);
            printf("\n");
        }
        OK(APbarrier_by_snet());
    }
}

static void program(void *arg) {
    int me = APcell(), n = APcells(), next = (me + 1) % n, previous = (me + n - 1) % n;
    int *from = APalloc(4 * LARGE), *to = APalloc(4 * LARGE), *flag = APalloc(64), from_cell, tag, misses, full;
    void *ring = APalloc_aligned(RING, RING);
    const APstride two = {2, 1};
    unsigned packet[AP_BUS_WORDS];
    (void)arg;
    MUST(APalloc_aligned(1, 4096) != NULL);
    for (int i = 0; i < LARGE; i++) from[i] = 100000 * me + i, to[i] = -1;
    memset(flag, 0, 64);

    /* Nothing, small, at the threshold and beyond it, large; with a wrong room first. */
    static const int lengths[] = {0, 1, 31, 32, 33, LARGE};
    OK(APopen_ring(ring, RING));
    MUST(APtry_recv(to, LARGE, NULL, NULL) == AP_NOTHING);
    OK(APbarrier_by_snet());
    for (int i = 0; i < 6; i++) OK(APsend(next, -i, from + i, i == 5 ? LARGE - 5 : lengths[i], flag));
    for (int i = 0; i < 6; i++) {
        int words = i == 5 ? LARGE - 5 : lengths[i];
        if (words > 0) MUST(APrecv(to, words - 1, NULL, NULL) == AP_SIZE);
        MUST(APrecv(to, LARGE, &from_cell, &tag) == words);
        MUST(from_cell == previous && tag == -i);
        show("message", to, words < 40 ? words : 40);
        for (int j = 0; j < words; j++) MUST(to[j] == 100000 * previous + i + j);
    }
    OK(APwait_flag(flag, 6));
    OK(APsend(me, 7, from, 3, NULL));
    while ((tag = APtry_recv(to, LARGE, &from_cell, NULL)) == AP_NOTHING) OK(APwait(1));
    MUST(tag == 3 && from_cell == me && to[2] == from[2]);
    OK(APrings_served(&misses, &full));
    MUST(misses == 1 && full == 0);
    OK(APrings_served(NULL, NULL));

    /* Registers as source, here and there. */
    for (int i = 0; i < 3; i++) OK(APregister_write(10 + i, 1000 * me + i));
    OK(APput_from_registers(next, 10, 3, to, flag + 1));
    OK(APwait_flag(flag + 1, 1));
    show("from registers", to, 3);
    for (int i = 0; i < 2; i++) OK(APregister_write(94 + i, 77 * me + i));
    OK(APget_registers(next, 94, 2, to, flag + 1));
    OK(APwait_flag(flag + 1, 2));
    show("of registers", to, 2);
    OK(APput_from_registers(next, 0, 0, NULL, flag + 1));
    OK(APwait_flag(flag + 1, 3));

    /* Pages on demand: each side maps its own. */
    memset(to, 0, 4 * LARGE);
    OK(APbarrier_by_snet());
    OK(APon_demand(1));
    OK(APput(next, from, LARGE, to, flag + 2, flag + 3));
    OK(APwait_flag(flag + 2, 1));
    OK(APwait_flag(flag + 3, 1));
    for (int i = 0; i < LARGE; i++) MUST(to[i] == 100000 * previous + i);
    OK(APget(previous, from + 9, 100, to, flag + 2, NULL));
    OK(APwait_flag(flag + 2, 2));
    OK(APsend(next, 1, from + 5, 300, NULL));
    MUST(APrecv(to + 200, 300, NULL, NULL) == 300);
    OK(APon_demand(0));
    show("by demand", to + 195, 20);

    /* With strides. */
    memset(to, 0, 4 * LARGE);
    OK(APbarrier_by_snet());
    OK(APput_system_stride(next, from, &two, 5, to, NULL, flag + 4, NULL));
    OK(APwait_flag(flag + 4, 1));
    OK(APack_put_stride(next, from, NULL, 5, to + 10, &two, NULL, NULL));
    OK(APbarrier_by_snet());
    if (me == 0) OK(APbroadcast_stride(AP_ALL, from, &two, 4, to + 20, &two, flag + 4, NULL));
    OK(APwait_flag(flag + 4, 2));
    show("strides", to, 30);

    /* The B-net: all hear the same. */
    for (int i = 0; i < AP_BUS_WORDS; i++) packet[i] = 1000 * me + i;
    OK(APbus_send(packet, me == 0 ? AP_BUS_WORDS : me));
    int heard[AP_BUS_WORDS + 8], words = 0;
    for (int i = 0; i < n; i++) {
        int came = APbus_receive(packet);
        MUST(came == (packet[0] == 0 ? AP_BUS_WORDS : (int)packet[0] / 1000));
        MUST(packet[came - 1] == packet[0] + came - 1);
        heard[words++] = packet[0];
    }
    OK(APbarrier_by_snet());
    int all[3] = {heard[0] + heard[1] + heard[2] + heard[3], words, 0};
    show("packets", all, 2);

    /* Write Through Pages: all read cell 0's first page of two. A word stays old until a synchronising write. */
    unsigned *shared = APalloc_aligned(PAGES, 4096);
    void *cache = APalloc_aligned(CACHE, CACHE);
    int others[] = {1, 2, 3}, twice[] = {1, 1, 2, 1};
    unsigned long long loaded;
    for (int i = 0; i < PAGES / 4; i++) shared[i] = 50 + i;
    OK(APbarrier_by_snet());
    OK(APwrite_through(cache, shared, PAGES));
    for (int i = 0; i < 8; i++) {
        OK(APload(0, shared + 200 * i, 4, &loaded));
        MUST(loaded == 50u + 200 * i);
    }
    OK(APbarrier_by_snet());
    if (me == 0) {
        shared[400] = 7; /* behind everybody's back */
        OK(APstore(0, shared + 600, 4, 8));
        OK(APfence());
    }
    OK(APbarrier_by_snet());
    if (me != 0) {
        OK(APload(0, shared + 400, 4, &loaded));
        MUST(loaded == 450); /* a copy */
    }
    OK(APbarrier_by_snet());
    if (me == 0) OK(APsync_write(0, shared + 400, 804, others, 3));
    OK(APbarrier_by_snet());
    if (me != 0) {
        OK(APload(0, shared + 400, 4, &loaded));
        MUST(loaded == 7);
        OK(APload(0, shared + 600, 4, &loaded));
        MUST(loaded == 8);
    }
    OK(APsync_write(0, shared + 400, 804, twice, 4));
    OK(APsync_write(0, NULL, 0, NULL, 0));
    OK(APwrite_through(cache, NULL, 0));
    OK(APload(0, shared + 400, 4, &loaded));
    MUST(loaded == 7);
    OK(APbarrier_by_snet());
}

int main(int argc, char **argv) {
    (void)argc;
    MUST(APset("link_rate=200") == AP_OK);
    MUST(APset("mem_bytes=8388608") == AP_OK);
    OK(APbackend(argv[1]));
    OK(APrun(2, 2, program, NULL));
    printf("done\n");
    return 0;
}
"#;

#[test]
fn every_call_gives_the_same_on_both_backends() {
    let program = Program::new(MORE, MACHINE);
    let [model, rtl] = ["model", "rtl"].map(|backend| text(&program.run(&[backend]).stdout));
    assert!(model.ends_with("done\n"), "model: {model}");
    assert!(model.lines().count() > 40, "{model}");
    assert_eq!(model, rtl);
}

const MISUSE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <tsunagi_ap1000p.h>

static void expect(int line, int result, int expected, const char *why) {
    if (result != expected || !strstr(APerror(), why))
        printf("line %d: %d, not %d: %s\n", line, result, expected, APerror());
}
#define EXPECT(call, expected, why) expect(__LINE__, call, expected, why)

static void misuse(void *arg) {
    int *word = APalloc(64), *end, local = 0;
    const APstride none = {0, 0}, wide = {257, 0}, far = {1, 1 << 23}, back = {1, -2}, out = {1, 1 << 20};
    unsigned value;
    unsigned long long loaded;
    (void)arg;
    if (APcell() != 0) return;
    end = (int *)((char *)word + (458752 - 32) - 4); /* the last word of 1 MB less 576 KB */
    EXPECT(APput(4, word, 1, word, NULL, NULL), AP_CELL, "APput: cell 4 is not in the torus: it has 4 cells");
    EXPECT(APput(-1, word, 1, word, NULL, NULL), AP_CELL, "cell -1 is not in the torus");
    EXPECT(APput(65536, word, 1, word, NULL, NULL), AP_CELL, "cell 65536 is not in the torus");
    EXPECT(APput(1, word, -1, word, NULL, NULL), AP_SIZE, "-1 words");
    EXPECT(APput(1, word, 1 << 20, word, NULL, NULL), AP_SIZE, "1048576 words are more than a command can transfer");
    EXPECT(APput(1, word, 1 << 17, word, NULL, NULL), AP_POINTER, "the source of 131072 words");
    EXPECT(APput(1, &local, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    EXPECT(APput(1, word, 1, &local, NULL, NULL), AP_POINTER, "the destination 0x");
    EXPECT(APput(1, NULL, 1, word, NULL, NULL), AP_POINTER, "the source ");
    EXPECT(APput(1, word, 1, word, &local, NULL), AP_POINTER, "the destination flag 0x");
    EXPECT(APput(1, word, 1, word, NULL, &local), AP_POINTER, "the source flag 0x");
    EXPECT(APput(1, (char *)word + 2, 1, word, NULL, NULL), AP_ALIGN, "is not a multiple of 4 bytes");
    EXPECT(APput(1, word, 1, word, (int *)((char *)word + 1), NULL), AP_ALIGN, "is not a multiple of 4 bytes");
    EXPECT(APput(1, end, 1, word, NULL, NULL), AP_OK, "");
    EXPECT(APput(1, end, 2, word, NULL, NULL), AP_POINTER, "the source of 2 words");
    EXPECT(APput(1, end + 1, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    EXPECT(APput(1, word - 1, 1, word, NULL, NULL), AP_POINTER, "the source 0x");
    EXPECT(APput_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "an item of 0 words");
    EXPECT(APput_stride(1, word, NULL, 1, word, &wide, NULL, NULL), AP_STRIDE, "an item of 257 words");
    EXPECT(APput_stride(1, word, &far, 1, word, NULL, NULL, NULL), AP_STRIDE, "a gap of 8388608 words");
    EXPECT(APput_stride(1, word, &back, 2, word, NULL, NULL, NULL), AP_POINTER, "the source of 2 words");
    EXPECT(APput_stride(1, word, NULL, 2, word, &out, NULL, NULL), AP_POINTER, "the destination of 2 words");
    EXPECT(APget_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "APget_stride: an item");
    EXPECT(APput_system(9, word, 1, word, NULL, NULL), AP_CELL, "APput_system: cell 9");
    EXPECT(APget(9, word, 1, word, NULL, NULL), AP_CELL, "APget: cell 9");
    EXPECT(APack_put(9, word, 1, word, NULL, NULL), AP_CELL, "APack_put: cell 9");
    EXPECT(APbroadcast(3, word, 1, word, NULL, NULL), AP_OPERATION, "3 is neither AP_ROW, AP_COLUMN nor AP_ALL");
    EXPECT(APbroadcast(AP_ROW, &local, 1, word, NULL, NULL), AP_POINTER, "APbroadcast: the source");
    EXPECT(APwait_flag(&local, 1), AP_POINTER, "APwait_flag: the flag 0x");
    EXPECT(APwait_flag((int *)((char *)word + 1), 1), AP_ALIGN, "is not a multiple of 4 bytes");
    EXPECT(APfetch_op(4, word, 0, 0, &value), AP_CELL, "APfetch_op: cell 4");
    EXPECT(APfetch_op(1, &local, 0, 0, &value), AP_POINTER, "APfetch_op: the word 0x");
    EXPECT(APcompare_swap(4, word, 0, 0, &value), AP_CELL, "APcompare_swap: cell 4");
    EXPECT(APcompare_swap(1, (int *)((char *)word + 2), 0, 0, &value), AP_ALIGN, "APcompare_swap: ");
    EXPECT(APlock(4, word), AP_CELL, "APlock: cell 4");
    EXPECT(APlock(1, &local), AP_POINTER, "APlock: the lock 0x");
    EXPECT(APunlock(-4, word), AP_CELL, "APunlock: cell -4");
    EXPECT(APload(4, word, 4, &loaded), AP_CELL, "APload: cell 4");
    EXPECT(APload(1, &local, 4, &loaded), AP_POINTER, "APload: the place 0x");
    EXPECT(APload(1, word, 3, &loaded), AP_SIZE, "APload: 3 bytes");
    EXPECT(APload(1, word, 260, &loaded), AP_SIZE, "APload: ");
    EXPECT(APload(1, (char *)word + 4, 8, &loaded), AP_ALIGN, "APload: ");
    EXPECT(APstore(-1, word, 4, 0), AP_CELL, "APstore: cell -1");
    EXPECT(APstore(1, &local, 4, 0), AP_POINTER, "APstore: the place 0x");
    EXPECT(APstore(1, word, -4, 0), AP_SIZE, "APstore: ");
    EXPECT(APstore(1, (char *)word + 2, 4, 0), AP_ALIGN, "APstore: ");
    EXPECT(APput_registers(1, word, 2, 95, NULL), AP_REGISTER, "communication register 96: 0 to 95");
    EXPECT(APput_registers(1, word, 1, -1, NULL), AP_REGISTER, "communication register -1");
    EXPECT(APput_registers(1, &local, 1, 0, NULL), AP_POINTER, "APput_registers: the source");
    EXPECT(APput_registers(1, word, -1, 0, NULL), AP_SIZE, "APput_registers: -1 words");
    EXPECT(APregister_read(96, &value), AP_REGISTER, "APregister_read: communication register 96");
    EXPECT(APregister_write(300, 1), AP_REGISTER, "APregister_write: communication register 300");
    EXPECT(APput_from_registers(1, 95, 2, word, NULL), AP_REGISTER, "APput_from_registers: communication register 96");
    EXPECT(APput_from_registers(1, -1, 1, word, NULL), AP_REGISTER, "communication register -1");
    EXPECT(APput_from_registers(1, 0, -1, word, NULL), AP_SIZE, "-1 words");
    EXPECT(APput_from_registers(1, 0, 1, NULL, NULL), AP_POINTER, "the destination ");
    EXPECT(APput_from_registers(1, 0, 1, word, &local), AP_POINTER, "the destination flag 0x");
    EXPECT(APput_from_registers(4, 0, 1, word, NULL), AP_CELL, "APput_from_registers: cell 4");
    EXPECT(APget_registers(4, 0, 1, word, NULL), AP_CELL, "APget_registers: cell 4");
    EXPECT(APget_registers(1, 90, 1000000, end, NULL), AP_POINTER, "the destination of 1000000 words");
    EXPECT(APget_registers(1, 90, 7, word, NULL), AP_REGISTER, "communication register 96");
    EXPECT(APput_system_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "APput_system_stride: an item");
    EXPECT(APack_put_stride(1, word, &none, 1, word, NULL, NULL, NULL), AP_STRIDE, "APack_put_stride: an item");
    EXPECT(APbroadcast_stride(9, word, NULL, 1, word, NULL, NULL, NULL), AP_OPERATION, "9 is neither AP_ROW");
    EXPECT(APrecv(word, 16, NULL, NULL), AP_RING, "APrecv: context 1 has no ring buffer: open_ring first");
    EXPECT(APtry_recv(word, 16, NULL, NULL), AP_RING, "APtry_recv: context 1 has no ring buffer");
    EXPECT(APopen_ring(word, 131072), AP_ALIGN, "APopen_ring: a ring buffer of 131072 B begins at a multiple of that");
    EXPECT(APopen_ring(word, 131071), AP_SIZE, "APopen_ring: a ring buffer of 131071 B: the sizes are 128 KB");
    EXPECT(APopen_ring(NULL, 131072), AP_POINTER, "APopen_ring: the ring buffer ");
    EXPECT(APopen_ring((char *)word - 32 + 393216, 131072), AP_POINTER,
         "is not in user memory, which ends at 0x70000: a larger mem_bytes");
    EXPECT(APopen_ring((char *)word - 32 + 131072, 131072), AP_OK, "");
    EXPECT(APopen_ring((char *)word - 32 + 131072, 131072), AP_RING,
           "APopen_ring: context 1 has a ring buffer already");
    EXPECT(APtry_recv(word, 16, NULL, NULL), AP_NOTHING, "");
    EXPECT(APrecv(&local, 1, NULL, NULL), AP_POINTER, "APrecv: the destination 0x");
    EXPECT(APrecv(NULL, 1, NULL, NULL), AP_POINTER, "APrecv: the destination ");
    EXPECT(APrecv(word, -1, NULL, NULL), AP_SIZE, "APrecv: room for -1 words");
    EXPECT(APrecv(end, 2, NULL, NULL), AP_POINTER,
         "APrecv: no room for 2 words at 0x0006fffc: user memory ends at 0x70000");
    EXPECT(APtry_recv((char *)word + 1, 2, NULL, NULL), AP_ALIGN, "APtry_recv: ");
    EXPECT(APsend(4, 0, word, 1, NULL), AP_CELL, "APsend: cell 4");
    EXPECT(APsend(-1, 0, word, 1, NULL), AP_CELL, "APsend: cell -1");
    EXPECT(APsend(1, 0, word, -1, NULL), AP_SIZE, "APsend: -1 words");
    EXPECT(APsend(1, 0, word, 1 << 20, NULL), AP_SIZE, "APsend: 1048576 words");
    EXPECT(APsend(1, 0, &local, 1, NULL), AP_POINTER, "APsend: the source 0x");
    EXPECT(APsend(1, 0, end, 2, NULL), AP_POINTER, "APsend: the source of 2 words");
    EXPECT(APsend(1, 0, word, 1, &local), AP_POINTER, "APsend: the source flag 0x");
    EXPECT(APsend(0, 0, word, 8, NULL), AP_OK, "");
    EXPECT(APrecv(word, 7, NULL, NULL), AP_SIZE, "APrecv: the next message has 8 words, and there is room for 7");
    EXPECT(APrecv(NULL, 0, NULL, NULL), AP_SIZE, "and there is room for 0");
    EXPECT(APrecv(word, 8, NULL, NULL), 8, "");
    EXPECT(APbus_send((unsigned *)&local, 0), AP_SIZE, "APbus_send: a packet on the B-net has 1 to 32 words, not 0");
    EXPECT(APbus_send((unsigned *)&local, 33), AP_SIZE, "not 33");
    EXPECT(APbus_send((unsigned *)&local, -1), AP_SIZE, "not -1");
    EXPECT(APbus_send(NULL, 1), AP_POINTER, "APbus_send: no words");
    EXPECT(APbus_receive(NULL), AP_POINTER, "APbus_receive: no place for the 32 words");
    EXPECT(APwrite_through(word, word, 4096), AP_POINTER, "APwrite_through: the local cache of 2097152 B");
    EXPECT(APwrite_through(NULL, word, 4096), AP_POINTER, "APwrite_through: the local cache ");
    EXPECT(APsync_write(4, NULL, 0, NULL, 0), AP_CELL, "APsync_write: cell 4 is not in the torus");
    EXPECT(APsync_write(-1, word, 4, NULL, 0), AP_CELL, "APsync_write: cell -1");
    EXPECT(APsync_write(4, word, 4, NULL, 0), AP_CELL, "APsync_write: cell 4");
    EXPECT(APsync_write(1, &local, 4, NULL, 0), AP_POINTER, "APsync_write: the written place 0x");
    EXPECT(APsync_write(1, word, (size_t)-1, NULL, 0), AP_POINTER, "leaves the memory of APalloc");
    EXPECT(APsync_write(1, word, 4, NULL, 1), AP_POINTER, "APsync_write: no numbers of the cells");
    EXPECT(APsync_write(1, word, 4, &local, -1), AP_SIZE, "APsync_write: -1 cells");
    EXPECT(APsync_write(1, word, 4, &local, 5), AP_SIZE, "APsync_write: 5 cells that hold copies: there are 4 cells");
    local = 4;
    EXPECT(APsync_write(1, word, 4, &local, 1), AP_CELL, "APsync_write: cell 4 is not in the torus");
    EXPECT(APalloc_aligned(4, 24) ? AP_OK : AP_POINTER, AP_POINTER,
         "APalloc_aligned: memory at a multiple of 24 B: the alignment must");
    EXPECT(APalloc_aligned(4, 0) ? AP_OK : AP_POINTER, AP_POINTER, "at a multiple of 0 B");
    EXPECT(APalloc_aligned(4, (size_t)1 << 63) ? AP_OK : AP_POINTER, AP_POINTER,
         "4 B asked for, 0 B left; set mem_bytes");
    EXPECT(APalloc_aligned((size_t)-1, 64) ? AP_OK : AP_POINTER, AP_POINTER, "set mem_bytes");
    EXPECT(APreduce(5, 1, &value), AP_OPERATION, "5 is no operation");
    EXPECT(APwait(-1), AP_SETTING, "APwait: -1 us is not a time");
    EXPECT(APalloc(1 << 30) ? AP_OK : AP_POINTER, AP_POINTER,
         "APalloc: 1073741824 B asked for, 458656 B left; set mem_bytes");
}

/* Pages on demand are of the first 16 MB. */
static void far(void *arg) {
    int *place = APalloc_aligned(64, 1 << 24);
    (void)arg;
    if (APcell() != 0) return;
    EXPECT(APon_demand(1), AP_OK, "");
    EXPECT(APput(1, place, 1, place, NULL, NULL), AP_POINTER,
         "is not in the first 16777216 B, the only pages on demand: call APon_demand(0) first");
    EXPECT(APput(1, place - 1, 2, place - 1, NULL, NULL), AP_POINTER, "is not in the first 16777216 B");
    EXPECT(APon_demand(0), AP_OK, "");
    EXPECT(APack_put(1, place, 1, place, NULL, NULL), AP_OK, "");
}

static void three(void *arg) {
    unsigned value;
    (void)arg;
    EXPECT(APreduce(AP_SUM, 1 + APcell(), &value) || value != 6, AP_OK, "");
    EXPECT(APbarrier(), AP_OK, "");
    EXPECT(APbarrier_by_flags(), AP_OK, "");
    EXPECT(APbarrier_by_snet(), AP_OK, "");
}

/* More commands than there is room for but in the processor's stores. */
static void flood(void *arg) {
    int *place = APalloc(400), *flag = APalloc(4);
    (void)arg;
    if (APcell() == 0)
        for (int i = 0; i < 1450; i++) EXPECT(APput(1, place, 40, place, flag, NULL), AP_OK, "");
    else
        EXPECT(APwait_flag(flag, 1450), AP_OK, "");
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
    EXPECT(APcell(), AP_OUTSIDE, "APcell: called outside a program of APrun");
    EXPECT(APcells(), AP_OUTSIDE, "APcells: ");
    EXPECT(APtime() < 0 ? AP_OUTSIDE : AP_OK, AP_OUTSIDE, "APtime: ");
    EXPECT(APput(0, NULL, 0, NULL, NULL, NULL), AP_OUTSIDE, "APput: ");
    EXPECT(APfence(), AP_OUTSIDE, "APfence: ");
    EXPECT(APon_demand(1), AP_OUTSIDE, "APon_demand: ");
    EXPECT(APopen_ring(NULL, 0), AP_OUTSIDE, "APopen_ring: ");
    EXPECT(APsend(0, 0, NULL, 0, NULL), AP_OUTSIDE, "APsend: ");
    EXPECT(APrecv(NULL, 0, NULL, NULL), AP_OUTSIDE, "APrecv: ");
    EXPECT(APtry_recv(NULL, 0, NULL, NULL), AP_OUTSIDE, "APtry_recv: ");
    EXPECT(APrings_served(NULL, NULL), AP_OUTSIDE, "APrings_served: ");
    EXPECT(APput_from_registers(0, 0, 0, NULL, NULL), AP_OUTSIDE, "APput_from_registers: ");
    EXPECT(APget_registers(0, 0, 0, NULL, NULL), AP_OUTSIDE, "APget_registers: ");
    EXPECT(APbus_send(NULL, 0), AP_OUTSIDE, "APbus_send: ");
    EXPECT(APbus_receive(NULL), AP_OUTSIDE, "APbus_receive: ");
    EXPECT(APwrite_through(NULL, NULL, 0), AP_OUTSIDE, "APwrite_through: ");
    EXPECT(APsync_write(0, NULL, 0, NULL, 0), AP_OUTSIDE, "APsync_write: ");
    EXPECT(APalloc_aligned(4, 4) ? AP_OK : AP_OUTSIDE, AP_OUTSIDE, "APalloc_aligned: ");
    EXPECT(APalloc(4) ? AP_OK : AP_OUTSIDE, AP_OUTSIDE, "APalloc: ");
    EXPECT(APbackend("paper"), AP_SETTING, "APbackend: unknown backend `paper`; known: model, rtl");
    EXPECT(APbackend(NULL), AP_SETTING, "APbackend: no text");
    EXPECT(APbackend("\xff"), AP_SETTING, "APbackend: not UTF-8");
    EXPECT(APbackend(argv[1]), AP_OK, "");
    EXPECT(APset("mem_byte=1"), AP_SETTING, "APset: unknown parameter `mem_byte`");
    EXPECT(APset(NULL), AP_SETTING, "APset: no text");
    EXPECT(APlimit(0), AP_SETTING, "APlimit: 0 us is not a time");
    EXPECT(APlimit(1000), AP_OK, "");
    EXPECT(APrun(2, 2, NULL, NULL), AP_SETTING, "APrun: no program");
    EXPECT(APrun(0, 2, misuse, NULL), AP_SETTING, "APrun: parameter `columns` = 0 cells is outside 1 to 32");
    EXPECT(APrun(2, 33, misuse, NULL), AP_SETTING, "APrun: parameter `rows` = 33 cells is outside 1 to 32");
    EXPECT(APset("mem_bytes=1048580"), AP_OK, "");
    EXPECT(APrun(2, 2, misuse, NULL), AP_SETTING,
         "APrun: mem_bytes = 1048580 B: a cell's memory is a multiple of 512 KB");
    EXPECT(APset("mem_bytes=1048576"), AP_OK, "");
    EXPECT(APrun(2, 2, misuse, NULL), AP_OK, "");
    EXPECT(APset("mem_bytes=18874368"), AP_OK, "");
    EXPECT(APrun(2, 1, far, NULL), AP_OK, "");
    EXPECT(APset("mem_bytes=1048576"), AP_OK, "");
    EXPECT(APrun(3, 1, three, NULL), AP_OK, "");
    EXPECT(APset("overflow_bytes=393216"), AP_OK, "");
    EXPECT(APlimit(100000), AP_OK, "");
    EXPECT(APrun(2, 1, flood, NULL), AP_OK, "");
    EXPECT(APset("hardware_refill=0"), AP_OK, "");
    EXPECT(APrun(2, 1, flood, NULL), AP_OK, "");
    EXPECT(APset("hardware_refill=1"), AP_OK, "");
    EXPECT(APlimit(1000), AP_OK, "");
    EXPECT(APrun(2, 1, stuck, &one), AP_HANG, "APrun: the machine hangs at ");
    EXPECT(APrun(2, 1, refused, &one), AP_HANG, "APrun: cell 0: APput: cell 7 is not in the torus");
    EXPECT(APrun(2, 1, refused, &one), AP_HANG, "; then the machine hangs at ");
    printf("done\n");
    return 0;
}
"#;

#[test]
fn bad_input_and_hangs_are_reported() {
    let program = Program::new(MISUSE, MACHINE);
    for backend in ["model", "rtl"] {
        let out = program.run(&[backend]);
        assert_eq!(text(&out.stdout), "done\n", "{backend}: {}", text(&out.stderr));
    }
}
