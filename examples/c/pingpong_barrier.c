/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The first and the last of some nodes send each other a word by one store (AOTF), then a block by blocking sends, by
 * RDMA and as a message, and check what comes back. Then all nodes meet at barriers, to which another node comes late
 * each time. Arguments: nodes, bytes of a block, backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_dimmnet1.h>

enum { NODES = 16, ROUNDS = 4, KINDS = 4 };

/* Words of LLCM: the ping-pong's, and one for each block. */
enum { BALL = 0, SENT = 8, PUSHED = 16 };

static int bytes, wrong;
static double came[KINDS][ROUNDS][NODES], left[KINDS][ROUNDS][NODES];

static void check(int code) {
    if (code < 0) {
        fprintf(stderr, "node %d: %s\n", DNnode(), DNerror());
        exit(1);
    }
}

static void *memory(void) {
    void *given = DNalloc(bytes);
    check(given ? DN_OK : DN_POINTER);
    return memset(given, 0, bytes);
}

static void words(int me, int other) {
    unsigned long long ball;
    double start = DNtime();
    for (unsigned round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            check(DNaotf_write(other, BALL, 8, round));
        check(DNllcm_wait(BALL, round - 1, &ball));
        wrong += ball != round;
        if (me != 0)
            check(DNaotf_write(other, BALL, 8, ball));
    }
    if (me == 0)
        printf("one word there and back by AOTF: %.2f us\n", (DNtime() - start) / ROUNDS);
}

/* How a block goes from `out` here to `in` there. */
static void send(int way, int other, const unsigned char *out, unsigned char *in) {
    if (way == 0)
        check(DNsend(other, out, in, bytes));
    else if (way == 1)
        check(DNrdma_push(other, out, in, bytes));
    else
        check(DNsend_message(other, out, bytes));
    /* A store behind the block tells that it is there; a message tells that itself. */
    if (way < 2)
        check(DNaotf_write(other, way ? PUSHED : SENT, 8, 1));
}

static void await(int way, int other, unsigned char *in) {
    if (way == 2)
        check(DNrecv(other, in, bytes, NULL));
    else
        check(DNllcm_wait(way ? PUSHED : SENT, 0, NULL));
}

static void blocks(int way, int me, int other, unsigned char *out, unsigned char *in) {
    static const char *const name[] = {"blocking send", "RDMA", "message"};
    double start = DNtime();
    memset(in, 0, bytes);
    for (int i = 0; me == 0 && i < bytes; i++)
        out[i] = (unsigned char)(7 * i + i / 251 + way);
    if (me == 0)
        send(way, other, out, in);
    await(way, other, in);
    for (int i = 0; i < bytes; i++)
        if (me != 0)
            out[i] = (unsigned char)(in[i] + 1);
        else
            wrong += in[i] != (unsigned char)(out[i] + 1);
    if (me != 0)
        send(way, other, out, in);
    else
        printf("%d B there and back by %s: %.2f us\n", bytes, name[way], DNtime() - start);
}

static void program(void *arg) {
    int me = DNnode(), n = DNnodes();
    unsigned char *out = memory(), *in = memory();
    (void)arg;
    if (me == 0 || me == n - 1) {
        int other = n - 1 - me;
        words(me, other);
        for (int way = 0; way < 3; way++)
            blocks(way, me, other, out, in);
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < ROUNDS; round++) {
            check(DNwait(me == (3 * round + kind) % n ? 20 : 0.7 * me));
            came[kind][round][me] = DNtime();
            check(DNbarrier(kind));
            left[kind][round][me] = DNtime();
        }
}

/* Nobody may leave a barrier before the last has come. The time is from then until the last has left. */
static void judge(int nodes, int kind) {
    static const char *const name[] = {"hosts", "hosts, multicast", "processor", "processor, multicast"};
    double time = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double last_came = 0, first_left = 1e12, last_left = 0;
        for (int node = 0; node < nodes; node++) {
            double in = came[kind][round][node], out = left[kind][round][node];
            last_came = in > last_came ? in : last_came;
            first_left = out < first_left ? out : first_left;
            last_left = out > last_left ? out : last_left;
        }
        wrong += first_left < last_came;
        time += (last_left - last_came) / ROUNDS;
    }
    printf("barrier of %d nodes (%s): %.2f us\n", nodes, name[kind], time);
}

int main(int argc, char **argv) {
    int nodes = argc > 1 ? atoi(argv[1]) : 8;
    bytes = argc > 2 ? atoi(argv[2]) : 1000;
    if (bytes < 1 || bytes > 100000) {
        fprintf(stderr, "pingpong_barrier [nodes, 2 to 16] [bytes of a block, 1 to 100000] [model or rtl]\n");
        return 1;
    }
    if (DNbackend(argc > 3 ? argv[3] : "model") || DNrun(nodes, program, NULL)) {
        fprintf(stderr, "%s\n", DNerror());
        return 1;
    }
    for (int kind = 0; kind < KINDS; kind++)
        judge(nodes, kind);
    printf(wrong ? "%d words, bytes and barriers are wrong\n" : "every word, byte and barrier is right\n", wrong);
    return wrong != 0;
}
