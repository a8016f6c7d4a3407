/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every PE writes a block into every other's memory, in rounds like a ring shift, and checks the blocks it got. Then
 * two PEs time one word there and back. Arguments: PEs, bytes of a block, backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <tsunagi_cenju3.h>

static int block;
static int wrong;

static unsigned char expected(int from, int to, int i) {
    return (unsigned char)(7 * from + 31 * to + i);
}

static void all_to_all(void) {
    int me = CJpe(), n = CJnpes();
    unsigned char *out = CJalloc((size_t)n * block), *in = CJalloc((size_t)n * block);
    if (!out || !in) {
        fprintf(stderr, "%s\n", CJerror());
        exit(1);
    }
    for (int to = 0; to < n; to++)
        for (int i = 0; i < block; i++)
            out[to * block + i] = expected(me, to, i);
    CJbarrier();
    double start = CJgettmr2();
    for (int shift = 0; shift < n; shift++) {
        int to = (me + shift) % n;
        if (CJrmwrite(out + to * block, to, in + me * block, block) != block) {
            fprintf(stderr, "PE %d: %s\n", me, CJerror());
            exit(1);
        }
    }
    CJbarrier();
    for (int from = 0; from < n; from++)
        for (int i = 0; i < block; i++)
            wrong += in[from * block + i] != expected(from, me, i);
    if (me == 0)
        printf("all-to-all of %d PEs, %d B each: %.1f us\n", n, block, CJgettmr2() - start);
}

static void ping_pong(void) {
    int me = CJpe();
    int *word = CJalloc(sizeof *word), *mine = CJalloc(sizeof *mine);
    *word = 0;
    CJbarrier();
    if (me > 1)
        return;
    for (int round = 1; round <= 3; round++) {
        double start = CJgettmr2();
        if (me == 1)
            wrong += CJwaitword(word, round - 1) != round;
        *mine = round;
        CJrmwrite(mine, 1 - me, word, sizeof *word);
        if (me == 0) {
            wrong += CJwaitword(word, round - 1) != round;
            if (round == 3)
                printf("one word there and back: %.1f us\n", CJgettmr2() - start);
        }
    }
}

static void program(void *arg) {
    (void)arg;
    all_to_all();
    ping_pong();
}

int main(int argc, char **argv) {
    int pes = argc > 1 ? atoi(argv[1]) : 8;
    block = argc > 2 ? atoi(argv[2]) : 1000;
    if (CJbackend(argc > 3 ? argv[3] : "model") || CJrun(pes, program, NULL)) {
        fprintf(stderr, "%s\n", CJerror());
        return 1;
    }
    printf(wrong ? "%d bytes are wrong\n" : "every byte is right\n", wrong);
    return wrong != 0;
}
