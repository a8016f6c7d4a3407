//! C programs on the simulated machine: the example, every call, and bad input.

use std::fs;

use support::c_program::{Program, text};
use support::root;

const MACHINE: &str = "dimmnet1";

fn example() -> String {
    fs::read_to_string(root().join("examples/c/pingpong_barrier.c")).unwrap()
}

#[test]
fn the_example_is_right_on_both_backends_and_always_the_same() {
    let program = Program::new(&example(), MACHINE);
    for (backend, sizes) in [
        (
            "model",
            &[["8", "1000"], ["2", "1"], ["3", "4095"], ["16", "20001"]][..],
        ),
        ("rtl", &[["8", "1000"], ["2", "1"]]),
    ] {
        for [nodes, bytes] in sizes {
            let [first, second] = [(), ()].map(|()| program.run(&[nodes, bytes, backend]));
            let said = text(&first.stdout);
            assert!(first.status.success(), "{backend}: {said}{}", text(&first.stderr));
            assert_eq!(said, text(&second.stdout));
            assert!(said.contains("every word, byte and barrier is right"), "{said}");
            assert_eq!(said.matches(&format!("barrier of {nodes} nodes")).count(), 4, "{said}");
        }
    }
    for (args, why) in [
        (
            ["1", "4", "model"],
            "DNrun: parameter `nodes` = 1 nodes is outside 2 to 16\n",
        ),
        (
            ["2", "4", "paper"],
            "DNbackend: unknown backend `paper`; known: model, rtl\n",
        ),
    ] {
        let out = program.run(&args);
        assert_eq!(out.status.code(), Some(1));
        assert_eq!(text(&out.stderr), why);
    }
}

#[test]
fn a_block_that_is_not_awaited_and_a_barrier_left_out_are_seen() {
    for (line, instead) in [
        (
            "check(DNllcm_wait(way ? PUSHED : SENT, 0, NULL));",
            "check(DNllcm_wait(BALL, 0, NULL));",
        ),
        ("check(DNbarrier(kind));", ""),
    ] {
        let source = example();
        assert_eq!(source.matches(line).count(), 1, "{line}");
        let source = source.replace(line, instead);
        let out = Program::new(&source, MACHINE).run(&["3", "100", "model"]);
        assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
        let said = text(&out.stdout);
        assert!(said.contains(" are wrong"), "{said}");
    }
}

/// Each call does what the header says. What is printed depends on times, and is the same on the same backend only.
const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_dimmnet1.h>

#define MUST(what) do { if (!(what)) { \
    printf("node %d, line %d: %s: %s\n", DNnode(), __LINE__, #what, DNerror()); exit(1); } } while (0)
#define OK(call) MUST((call) == DN_OK)

enum { MOST = 20000, STORES = 0, ALL = 64, FLAG = 128, OWN = 256, LAST = DN_LLCM_BYTES - 8 };

static unsigned char expected(int from, int salt, int i) {
    return (unsigned char)(7 * i + i / 253 + 31 * from + salt);
}

static void fill(unsigned char *bytes, int count, int salt) {
    for (int i = 0; i < count; i++) bytes[i] = expected(DNnode(), salt, i);
}

/* `count` bytes of node `from`, and nothing behind them. */
static int is_there(const unsigned char *bytes, int count, int from, int salt) {
    for (int i = 0; i < count; i++)
        if (bytes[i] != expected(from, salt, i)) return 0;
    return bytes[count] == 0xee;
}

static void program(void *arg) {
    int me = DNnode(), n = DNnodes(), next = (me + 1) % n, previous = (me + n - 1) % n;
    unsigned char *from = DNalloc(MOST), *to = DNalloc(MOST + 32);
    unsigned char *page = DNalloc_aligned(4096, 4096), *area = DNalloc_aligned(512, 512);
    unsigned long long word;
    MUST(n == *(int *)arg && ((size_t)(page - from) & 7) == 0);

    /* Stores: every size, at the first and the last place, in their order. */
    OK(DNllcm_load(LAST, &word));
    MUST(word == 0);
    for (int bytes = 1, at = STORES; bytes <= 8; bytes *= 2, at += 8)
        OK(DNaotf_write(next, at + 8 - bytes, bytes, 0x1122334455667788ull + me));
    OK(DNaotf_write(next, LAST, 8, 1000 + me));
    OK(DNllcm_wait(LAST, 0, &word));
    MUST(word == 1000ull + previous);
    for (int bytes = 1, at = STORES; bytes <= 8; bytes *= 2, at += 8) {
        OK(DNllcm_load(at, &word));
        MUST(word == (0x1122334455667788ull + previous) << (64 - 8 * bytes));
    }
    OK(DNaotf_write(me, OWN, 8, 7));
    OK(DNllcm_wait(OWN, 0, NULL));
    OK(DNllcm_store(OWN, 9));
    OK(DNllcm_load(OWN, NULL));
    OK(DNllcm_wait(OWN, 7, &word));
    MUST(word == 9);
    for (int kind = DN_HOSTS; kind <= DN_PROCESSOR_MULTICAST; kind++) OK(DNbarrier(kind));
    if (me == 1) OK(DNaotf_write_all(ALL, 8, 5));
    OK(DNllcm_wait(ALL, 0, &word));
    MUST(word == 5);

    /* Windows: packets of all sizes behind one another, into both ends of a page; then a store behind them. */
    static const int sizes[] = {1, 7, 8, 9, DN_PACKET - 1, DN_PACKET};
    memset(page, 0xee, 4096);
    OK(DNbarrier(DN_HOSTS));
    for (int i = 0, at = 0; i < 6; i++, at += 512) {
        fill(from, sizes[i], i);
        OK(DNbotf_send(next, from, page + at, sizes[i]));
    }
    fill(from + 1, DN_PACKET, 6);
    OK(DNbotf_send(next, from + 1, page + 4096 - DN_PACKET, DN_PACKET));
    memset(from, 0, DN_PACKET + 1);
    OK(DNbotf_wait());
    OK(DNaotf_write(next, FLAG, 8, 1));
    OK(DNllcm_wait(FLAG, 0, NULL));
    for (int i = 0; i < 6; i++) MUST(is_there(page + 512 * i, sizes[i], previous, i));
    for (int i = 0; i < DN_PACKET; i++) MUST(page[4096 - DN_PACKET + i] == expected(previous, 6, i));

    /* All sizes by blocking sends, written and read by RDMA. */
    static const int lengths[] = {1, 8, DN_PACKET, DN_PACKET + 1, 4096, MOST - 8};
    for (int i = 0; i < 6; i++)
        for (int way = 0; way < 3; way++) {
            memset(to, 0xee, MOST + 32);
            fill(from, lengths[i], way);
            OK(DNbarrier(DN_HOSTS));
            if (way == 0) OK(DNsend(next, from, to + 8, lengths[i]));
            if (way == 1) OK(DNrdma_push(next, from, to + 8, lengths[i]));
            if (way == 2) OK(DNrdma_pull(previous, from, to + 8, lengths[i]));
            OK(DNbarrier(DN_PROCESSOR));
            MUST(is_there(to + 8, lengths[i], previous, way) && to[7] == 0xee);
        }
    memset(to, 0xee, 64);
    fill(from + 3, 20, 9);
    OK(DNbarrier(DN_HOSTS));
    OK(DNsend(next, from + 3, to, 20)); /* from any place */
    OK(DNsend(me, from + 3, area, 20)); /* to this node */
    MUST(memcmp(area, from + 3, 20) == 0);
    OK(DNbarrier(DN_HOSTS));
    MUST(is_there(to, 20, previous, 9));

    /* Pointers: each packet where its pointer says. */
    memset(page, 0xee, 4096);
    OK(DNset_pointer(0, page));
    OK(DNset_pointer(DN_POINTERS - 1, page + 4096 - DN_PACKET));
    fill(from, DN_PACKET, 4);
    OK(DNbarrier(DN_HOSTS));
    OK(DNsend_indirect(next, from, 0, 100));
    OK(DNsend_indirect(next, from, DN_POINTERS - 1, DN_PACKET));
    OK(DNbarrier(DN_HOSTS));
    MUST(is_there(page, 100, previous, 4));
    for (int i = 0; i < DN_PACKET; i++) MUST(page[4096 - DN_PACKET + i] == expected(previous, 4, i));

    /* Chains: 16 blocks of 8 bytes, 24 apart, and behind them 3 blocks of 16, each before the one before. */
    memset(page, 0xee, 4096);
    OK(DNset_command(DN_COMMANDS - 1, page, 8, 16, 24, 40));
    OK(DNset_command(40, page + 1024, 16, 3, -32, -1));
    fill(from, 176, 5);
    OK(DNbarrier(DN_HOSTS));
    OK(DNsend_chain(next, from, DN_COMMANDS - 1, 176));
    OK(DNsend_chain(next, from, DN_COMMANDS - 1, 5)); /* the last word of a packet need not be full */
    MUST(DNsend_chain(next, from, DN_COMMANDS - 1, 184) == DN_REFUSED);
    OK(DNbarrier(DN_HOSTS));
    for (int i = 0; i < 176; i++) {
        int at = i < 128 ? 24 * (i / 8) + i % 8 : 1024 - 32 * ((i - 128) / 16) + i % 16;
        MUST(page[at] == expected(previous, 5, i));
        if (i < 128) MUST(page[at + 8] == 0xee && page[at + 16] == 0xee);
    }

    /* Messages: through the system's buffer, once more than it holds; then with a posted area. */
    static const int messages[] = {1, DN_PACKET, 2000, MOST - 8, 1000, 10};
    for (int i = 0; i < 6; i++) {
        int length = messages[i];
        memset(to, 0xee, MOST);
        fill(from, length, i);
        /* In a ring all would wait for the next one to receive what it has no room for. */
        if (me % 2 == 0) OK(DNsend_message(next, from, length));
        if (i == 0) MUST(DNrecv(previous, to, 0, NULL) == DN_SIZE);
        MUST(DNrecv(previous, to, MOST, i >= 3 ? area : NULL) == length);
        if (me % 2 == 1) OK(DNsend_message(next, from, length));
        MUST(is_there(to, length, previous, i));
        if (i >= 4) MUST(memcmp(area, to, length < DN_PACKET ? length : DN_PACKET) == 0);
        OK(DNbarrier(DN_PROCESSOR_MULTICAST));
    }

    /* The same all in software. */
    for (int i = 0; i < 3; i++) {
        int length = messages[i];
        memset(to, 0xee, MOST);
        fill(from, length, i);
        OK(DNbarrier(DN_HOSTS_MULTICAST));
        OK(DNpost_soft(previous, to, length));
        OK(DNsend_soft(next, from, length));
        MUST(DNwait_soft(previous) == length);
        MUST(is_there(to, length, previous, i));
    }

    double start = DNtime();
    OK(DNwait(12.5));
    MUST(DNtime() - start > 12.4999 && DNtime() - start < 12.5001); // no sum of doubles is exact
    if (me == 0) printf("%.3f us\n", start);
}

int main(int argc, char **argv) {
    int nodes = atoi(argv[2]);
    (void)argc;
    OK(DNset(argv[3]));
    OK(DNbackend(argv[1]));
    OK(DNrun(nodes, program, &nodes));
    printf("done\n");
    return 0;
}
"#;

#[test]
fn every_call_does_what_the_header_says() {
    let program = Program::new(CALLS, MACHINE);
    for args in [
        ["model", "2", "f_seq=1"],
        ["model", "4", "windows=1"],
        ["model", "16", "poll=1"],
        ["model", "4", "matching=1"],
        ["rtl", "2", "f_seq=1"],
    ] {
        let out = program.run(&args);
        let said = text(&out.stdout);
        assert!(out.status.success() && said.ends_with("done\n"), "{args:?}: {said}");
    }
}

const MISUSE: &str = r#"
#include <stdio.h>
#include <string.h>
#include <tsunagi_dimmnet1.h>

static void expect(int line, int result, int expected, const char *why) {
    if (result != expected || !strstr(DNerror(), why))
        printf("line %d: %d, not %d: %s\n", line, result, expected, DNerror());
}
#define EXPECT(call, expected, why) expect(__LINE__, call, expected, why)

/* The last 32 bytes of 512 KB less a system buffer of 16 KB for each node. */
enum { END = 524288 - 2 * 16384 - 32, LAST = DN_LLCM_BYTES - 8 };

static void misuse(void *arg) {
    char *place = DNalloc_aligned(8192, 4096), *end, local[8];
    unsigned long long value;
    (void)arg;
    if (DNnode() != 0) return;
    end = place + END;

    /* AOTF: 0 and 9 bytes, across a word, across the page, past its end, a node that is not there. */
    EXPECT(DNaotf_write(1, 0, 0, 1), DN_SIZE, "DNaotf_write: 0 bytes: a store has 1, 2, 4 or 8");
    EXPECT(DNaotf_write(1, 0, 9, 1), DN_SIZE, "DNaotf_write: 9 bytes: a store has 1, 2, 4 or 8");
    EXPECT(DNaotf_write(1, 0, 3, 1), DN_SIZE, "3 bytes");
    EXPECT(DNaotf_write(1, 0, -8, 1), DN_SIZE, "-8 bytes");
    EXPECT(DNaotf_write(1, 0, 264, 1), DN_SIZE, "264 bytes");
    EXPECT(DNaotf_write(1, 4, 8, 1), DN_LLCM, "8 bytes at offset 4 are not within a word of the program's 3072 bytes");
    EXPECT(DNaotf_write(1, 7, 2, 1), DN_LLCM, "2 bytes at offset 7 are not within a word");
    EXPECT(DNaotf_write(1, LAST + 4, 8, 1), DN_LLCM, "8 bytes at offset 3068");
    EXPECT(DNaotf_write(1, DN_LLCM_BYTES, 1, 1), DN_LLCM, "1 bytes at offset 3072");
    EXPECT(DNaotf_write(1, -8, 8, 1), DN_LLCM, "8 bytes at offset -8");
    EXPECT(DNaotf_write(2, 0, 8, 1), DN_NODE, "DNaotf_write: no node 2: the machine has 2 nodes");
    EXPECT(DNaotf_write(-1, 0, 8, 1), DN_NODE, "no node -1: the machine has 2 nodes");
    EXPECT(DNaotf_write(65536, 0, 8, 1), DN_NODE, "no node 65536: the machine has 2 nodes");
    EXPECT(DNaotf_write_all(0, 16, 1), DN_SIZE, "DNaotf_write_all: 16 bytes");
    EXPECT(DNaotf_write_all(DN_LLCM_BYTES, 8, 1), DN_LLCM, "DNaotf_write_all: 8 bytes at offset 3072");
    EXPECT(DNllcm_load(4, &value), DN_LLCM, "DNllcm_load: 8 bytes at offset 4");
    EXPECT(DNllcm_store(DN_LLCM_BYTES, 1), DN_LLCM, "DNllcm_store: 8 bytes at offset 3072");
    EXPECT(DNllcm_wait(-1, 0, &value), DN_LLCM, "DNllcm_wait: 8 bytes at offset -1");

    /* BOTF: 0 and 465 bytes, across a page, not at a multiple of 8. */
    EXPECT(DNbotf_send(1, place, place, 0), DN_SIZE, "DNbotf_send: a transfer of 0 bytes");
    EXPECT(DNbotf_send(1, place, place, -1), DN_SIZE, "a transfer of -1 bytes");
    EXPECT(DNbotf_send(1, place, place, 465), DN_SIZE, "DNbotf_send: 465 bytes are more than the 464 of a window");
    EXPECT(DNbotf_send(1, place, place + 4096 - 456, 464), DN_ALIGN, "464 bytes at offset ");
    EXPECT(DNbotf_send(1, place, place + 4096 - 456, 457), DN_ALIGN, " cross a page");
    EXPECT(DNbotf_send(1, place, place + 4096 - 456, 456), DN_OK, "");
    EXPECT(DNbotf_send(1, place, place + 4, 8), DN_ALIGN, "both must be multiples of 8");
    EXPECT(DNbotf_send(2, place, place, 8), DN_NODE, "DNbotf_send: no node 2");
    EXPECT(DNbotf_send(-1, place, place, 8), DN_NODE, "DNbotf_send: no node -1");
    EXPECT(DNbotf_send(1, local, place, 8), DN_POINTER, "DNbotf_send: the source 0x");
    EXPECT(DNbotf_send(1, place, local, 8), DN_POINTER, "DNbotf_send: the destination 0x");
    EXPECT(DNbotf_send(1, NULL, place, 8), DN_POINTER, "DNbotf_send: the source ");

    EXPECT(DNsend(1, place, place, 0), DN_SIZE, "DNsend: a transfer of 0 bytes");
    EXPECT(DNsend(1, place, place + 1, 8), DN_ALIGN, "DNsend: ");
    EXPECT(DNsend(7, place, place, 8), DN_NODE, "DNsend: no node 7");
    EXPECT(DNsend(1, local, place, 8), DN_POINTER, "DNsend: the source 0x");
    EXPECT(DNsend(1, place, local, 8), DN_POINTER, "DNsend: the destination 0x");
    EXPECT(DNsend(1, place, end + 24, 8), DN_OK, "");
    EXPECT(DNsend(1, place, end + 24, 9), DN_POINTER, "DNsend: the destination of 9 bytes at ");
    EXPECT(DNsend(1, end + 31, place, 2), DN_POINTER, "DNsend: the source of 2 bytes at ");
    EXPECT(DNsend(1, place, place, 2000000000), DN_POINTER, "leaves the memory of DNalloc");

    /* RDMA: length 0, beyond the region, not aligned. */
    EXPECT(DNrdma_push(1, place, place, 0), DN_SIZE, "DNrdma_push: a transfer of 0 bytes");
    EXPECT(DNrdma_push(1, place + 4, place, 8), DN_ALIGN, "DNrdma_push: a transfer from ");
    EXPECT(DNrdma_push(1, place, place + 4, 8), DN_ALIGN, "DNrdma_push: a transfer from ");
    EXPECT(DNrdma_push(1, place, end + 24, 16), DN_POINTER, "DNrdma_push: the destination of 16 bytes");
    EXPECT(DNrdma_push(2, place, place, 8), DN_NODE, "DNrdma_push: no node 2");
    EXPECT(DNrdma_pull(1, place, place, 0), DN_SIZE, "DNrdma_pull: a transfer of 0 bytes");
    EXPECT(DNrdma_pull(1, place + 4, place, 8), DN_ALIGN, "DNrdma_pull: a transfer from ");
    EXPECT(DNrdma_pull(1, end + 24, place, 16), DN_POINTER, "DNrdma_pull: the source of 16 bytes");
    EXPECT(DNrdma_pull(-2, place, place, 8), DN_NODE, "DNrdma_pull: no node -2");

    EXPECT(DNset_pointer(DN_POINTERS, place), DN_LLCM, "DNset_pointer: no pointer 256: a node has 256");
    EXPECT(DNset_pointer(-1, place), DN_LLCM, "DNset_pointer: no pointer -1");
    EXPECT(DNset_pointer(0, place + 4), DN_ALIGN, "DNset_pointer: the destination ");
    EXPECT(DNset_pointer(0, local), DN_POINTER, "DNset_pointer: the destination 0x");
    EXPECT(DNsend_indirect(1, place, 256, 8), DN_LLCM, "DNsend_indirect: no pointer 256");
    EXPECT(DNsend_indirect(1, place, 0, 0), DN_SIZE, "DNsend_indirect: a transfer of 0 bytes");
    EXPECT(DNsend_indirect(1, place, 0, 465), DN_SIZE, "465 bytes are more than the 464 of a window");
    EXPECT(DNsend_indirect(1, local, 0, 8), DN_POINTER, "DNsend_indirect: the source 0x");
    EXPECT(DNsend_indirect(2, place, 0, 8), DN_NODE, "DNsend_indirect: no node 2");

    EXPECT(DNset_command(DN_COMMANDS, place, 8, 1, 8, -1), DN_LLCM, "no receive command 85: a node has 85");
    EXPECT(DNset_command(-1, place, 8, 1, 8, -1), DN_LLCM, "DNset_command: no receive command -1");
    EXPECT(DNset_command(0, place, 8, 1, 8, DN_COMMANDS), DN_LLCM, "no receive command 85");
    EXPECT(DNset_command(0, place, 8, 1, 8, -2), DN_LLCM, "no receive command -2");
    EXPECT(DNset_command(0, place, 0, 1, 8, -1), DN_SIZE, "blocks of 0 bytes: a block has 8 to 4096");
    EXPECT(DNset_command(0, place, 4104, 1, 8, -1), DN_SIZE, "blocks of 4104 bytes");
    EXPECT(DNset_command(0, place, 8, 0, 8, -1), DN_SIZE, "0 blocks: a command has 1 to 255");
    EXPECT(DNset_command(0, place, 8, 256, 8, -1), DN_SIZE, "256 blocks");
    EXPECT(DNset_command(0, place, 12, 1, 8, -1), DN_ALIGN, "blocks of 12 bytes, 8 apart: both must be multiples");
    EXPECT(DNset_command(0, place, 8, 2, 12, -1), DN_ALIGN, "blocks of 8 bytes, 12 apart");
    EXPECT(DNset_command(0, place + 4, 8, 1, 8, -1), DN_ALIGN, "DNset_command: the destination ");
    EXPECT(DNset_command(0, local, 8, 1, 8, -1), DN_POINTER, "DNset_command: the destination 0x");
    EXPECT(DNset_command(0, end, 8, 5, 8, -1), DN_POINTER, "block 5 of 8 bytes leaves the memory of DNalloc");
    EXPECT(DNset_command(0, place, 8, 255, 2147483640, -1), DN_POINTER, "block 255 of 8 bytes leaves");
    EXPECT(DNset_command(0, end, 8, 4, 8, -1), DN_OK, "");
    EXPECT(DNsend_chain(1, place, 85, 8), DN_LLCM, "DNsend_chain: no receive command 85");
    EXPECT(DNsend_chain(1, place, 0, 0), DN_SIZE, "DNsend_chain: a transfer of 0 bytes");
    EXPECT(DNsend_chain(1, place, 0, 465), DN_SIZE, "465 bytes are more than the 464 of a window");
    EXPECT(DNsend_chain(1, local, 0, 8), DN_POINTER, "DNsend_chain: the source 0x");
    EXPECT(DNsend_chain(2, place, 0, 8), DN_NODE, "DNsend_chain: no node 2");

    EXPECT(DNsend_message(1, place, 0), DN_SIZE, "DNsend_message: a transfer of 0 bytes");
    EXPECT(DNsend_message(2, place, 8), DN_NODE, "DNsend_message: no node 2");
    EXPECT(DNsend_message(1, local, 8), DN_POINTER, "DNsend_message: the source 0x");
    EXPECT(DNrecv(2, place, 8, NULL), DN_NODE, "DNrecv: no node 2");
    EXPECT(DNrecv(1, local, 8, NULL), DN_POINTER, "DNrecv: the destination 0x");
    EXPECT(DNrecv(1, place, -1, NULL), DN_SIZE, "DNrecv: room for -1 bytes");
    EXPECT(DNrecv(1, end, 33, NULL), DN_POINTER, "DNrecv: the destination of 33 bytes");
    EXPECT(DNrecv(1, place, 8, local), DN_POINTER, "DNrecv: the next destination 0x");
    EXPECT(DNsend_message(0, place, 10), DN_OK, "");
    EXPECT(DNrecv(0, place, 9, NULL), DN_SIZE, "DNrecv: the next message has 10 bytes, and there is room for 9");
    EXPECT(DNrecv(0, place, 10, place + 4), DN_ALIGN, "DNrecv: the next destination ");
    EXPECT(DNrecv(0, place, 10, place + 4096 - 456), DN_ALIGN, "DNrecv: the next destination ");
    EXPECT(DNrecv(0, place, 10, NULL), 10, "");
    EXPECT(DNpost_soft(2, place, 8), DN_NODE, "DNpost_soft: no node 2");
    EXPECT(DNpost_soft(1, local, 8), DN_POINTER, "DNpost_soft: the destination 0x");
    EXPECT(DNpost_soft(1, place + 4, 8), DN_ALIGN, "DNpost_soft: the destination ");
    EXPECT(DNpost_soft(1, place, -8), DN_SIZE, "DNpost_soft: room for -8 bytes");
    EXPECT(DNsend_soft(2, place, 8), DN_NODE, "DNsend_soft: no node 2");
    EXPECT(DNsend_soft(1, place, 0), DN_SIZE, "DNsend_soft: a transfer of 0 bytes");
    EXPECT(DNsend_soft(1, local, 8), DN_POINTER, "DNsend_soft: the source 0x");
    EXPECT(DNwait_soft(2), DN_NODE, "DNwait_soft: no node 2");
    EXPECT(DNbarrier(4), DN_KIND, "DNbarrier: 4 is no kind of barrier");
    EXPECT(DNbarrier(-1), DN_KIND, "DNbarrier: -1 is no kind of barrier");
    EXPECT(DNwait(-1), DN_SETTING, "DNwait: -1 us is not a time");
    EXPECT(DNalloc(1 << 30) ? DN_OK : DN_POINTER, DN_POINTER, "DNalloc: 1073741824 B asked for, ");
    EXPECT(DNalloc_aligned(8, 24) ? DN_OK : DN_POINTER, DN_POINTER, "the alignment must be a power of two");

    /* What the receiver refuses, and then what it takes. */
    EXPECT(DNsend_soft(1, place, 8), DN_REFUSED, "DNsend_soft: node 0: node 1 refused a packet: ");
    EXPECT(DNsend(1, place, place, 5000), DN_OK, "");
}

/* A pointer to a place too near the end of a page. */
static void across(void *arg) {
    char *page = DNalloc_aligned(4096, 4096);
    (void)arg;
    EXPECT(DNset_pointer(1, page + 4096 - 456), DN_OK, "");
    EXPECT(DNbarrier(DN_HOSTS), DN_OK, "");
    if (DNnode() != 0) return;
    EXPECT(DNsend_indirect(1, page, 1, 464), DN_REFUSED, "DNsend_indirect: node 0: node 1 refused a packet: ");
    EXPECT(DNsend_indirect(1, page, 1, 456), DN_OK, "");
}

/* Nobody else does anything. */
static void alone(void *arg) {
    char *place = DNalloc(512);
    (void)arg;
    if (DNnode() != 0) return;
    EXPECT(DNllcm_wait(0, 0, NULL), DN_TIMEOUT, "DNllcm_wait: node 0: a word of LLCM stays as it is");
    EXPECT(DNrecv(1, place, 512, NULL), DN_TIMEOUT, "DNrecv: node 0: no message comes from node 1");
    EXPECT(DNpost_soft(1, place, 512), DN_OK, "");
    EXPECT(DNwait_soft(1), DN_TIMEOUT, "DNwait_soft: node 0: no message comes from node 1");
    EXPECT(DNsend_message(1, place, 8), DN_OK, "");
    EXPECT(DNsend_message(1, place, 8), DN_TIMEOUT, "node 0: node 1 does not take the message before");
}

/* Nodes 1 and 3 of 4 do not come. */
static void missing(void *arg) {
    int me = DNnode(), kind = *(int *)arg;
    if (me % 2 == 1) return;
    if (me == 0)
        EXPECT(DNbarrier(kind), DN_MISSING, "DNbarrier: node 1, node 3 did not come to the barrier");
    else
        EXPECT(DNbarrier(kind), DN_TIMEOUT, "node 0 does not release the barrier");
}

static void stuck(void *arg) {
    (void)arg;
    DNllcm_wait(0, 0, NULL);
}

/* Node 0 is refused what node 1 waits for, and does not look. */
static void refused(void *arg) {
    (void)arg;
    if (DNnode() == 0) DNaotf_write(7, 0, 8, 1);
    else DNllcm_wait(0, 0, NULL);
}

static void outside(void) {
    EXPECT(DNnode(), DN_OUTSIDE, "DNnode: called outside a program of DNrun");
    EXPECT(DNnodes(), DN_OUTSIDE, "DNnodes: ");
    EXPECT(DNtime() < 0 ? DN_OUTSIDE : DN_OK, DN_OUTSIDE, "DNtime: ");
    EXPECT(DNalloc(4) ? DN_OK : DN_OUTSIDE, DN_OUTSIDE, "DNalloc: ");
    EXPECT(DNalloc_aligned(4, 4) ? DN_OK : DN_OUTSIDE, DN_OUTSIDE, "DNalloc_aligned: ");
    EXPECT(DNaotf_write(0, 0, 8, 0), DN_OUTSIDE, "DNaotf_write: ");
    EXPECT(DNaotf_write_all(0, 8, 0), DN_OUTSIDE, "DNaotf_write_all: ");
    EXPECT(DNllcm_load(0, NULL), DN_OUTSIDE, "DNllcm_load: ");
    EXPECT(DNllcm_store(0, 0), DN_OUTSIDE, "DNllcm_store: ");
    EXPECT(DNllcm_wait(0, 0, NULL), DN_OUTSIDE, "DNllcm_wait: ");
    EXPECT(DNbotf_send(0, NULL, NULL, 8), DN_OUTSIDE, "DNbotf_send: ");
    EXPECT(DNbotf_wait(), DN_OUTSIDE, "DNbotf_wait: ");
    EXPECT(DNsend(0, NULL, NULL, 8), DN_OUTSIDE, "DNsend: ");
    EXPECT(DNrdma_push(0, NULL, NULL, 8), DN_OUTSIDE, "DNrdma_push: ");
    EXPECT(DNrdma_pull(0, NULL, NULL, 8), DN_OUTSIDE, "DNrdma_pull: ");
    EXPECT(DNset_pointer(0, NULL), DN_OUTSIDE, "DNset_pointer: ");
    EXPECT(DNsend_indirect(0, NULL, 0, 8), DN_OUTSIDE, "DNsend_indirect: ");
    EXPECT(DNset_command(0, NULL, 8, 1, 8, -1), DN_OUTSIDE, "DNset_command: ");
    EXPECT(DNsend_chain(0, NULL, 0, 8), DN_OUTSIDE, "DNsend_chain: ");
    EXPECT(DNsend_message(0, NULL, 8), DN_OUTSIDE, "DNsend_message: ");
    EXPECT(DNrecv(0, NULL, 8, NULL), DN_OUTSIDE, "DNrecv: ");
    EXPECT(DNpost_soft(0, NULL, 8), DN_OUTSIDE, "DNpost_soft: ");
    EXPECT(DNsend_soft(0, NULL, 8), DN_OUTSIDE, "DNsend_soft: ");
    EXPECT(DNwait_soft(0), DN_OUTSIDE, "DNwait_soft: ");
    EXPECT(DNbarrier(0), DN_OUTSIDE, "DNbarrier: ");
    EXPECT(DNwait(1), DN_OUTSIDE, "DNwait: ");
}

int main(int argc, char **argv) {
    (void)argc;
    outside();
    EXPECT(DNbackend("paper"), DN_SETTING, "DNbackend: unknown backend `paper`; known: model, rtl");
    EXPECT(DNbackend(NULL), DN_SETTING, "DNbackend: no text");
    EXPECT(DNbackend("\xff"), DN_SETTING, "DNbackend: not UTF-8");
    EXPECT(DNbackend(argv[1]), DN_OK, "");
    EXPECT(DNset("mem_byte=1"), DN_SETTING, "DNset: unknown parameter `mem_byte`");
    EXPECT(DNset("watchdog=-1"), DN_SETTING, "DNset: ");
    EXPECT(DNset(NULL), DN_SETTING, "DNset: no text");
    EXPECT(DNlimit(0), DN_SETTING, "DNlimit: 0 us is not a time");
    EXPECT(DNrun(2, NULL, NULL), DN_SETTING, "DNrun: no program");
    EXPECT(DNrun(1, misuse, NULL), DN_SETTING, "DNrun: parameter `nodes` = 1 nodes is outside 2 to 16");
    EXPECT(DNrun(17, misuse, NULL), DN_SETTING, "DNrun: parameter `nodes` = 17 nodes is outside 2 to 16");
    EXPECT(DNset("wait_bound=200"), DN_OK, "");
    EXPECT(DNrun(2, misuse, NULL), DN_OK, "");
    EXPECT(DNrun(2, across, NULL), DN_OK, "");
    EXPECT(DNrun(2, alone, NULL), DN_OK, "");
    for (int kind = DN_HOSTS; kind <= DN_PROCESSOR_MULTICAST; kind++) EXPECT(DNrun(4, missing, &kind), DN_OK, "");
    EXPECT(DNlimit(100), DN_OK, "");
    EXPECT(DNrun(2, stuck, NULL), DN_HANG, "DNrun: the machine hangs at ");
    EXPECT(DNrun(2, refused, NULL), DN_HANG, "DNrun: node 0: DNaotf_write: no node 7: the machine has 2 nodes");
    EXPECT(DNrun(2, refused, NULL), DN_HANG, "; then the machine hangs at ");
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
