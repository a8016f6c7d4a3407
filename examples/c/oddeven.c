/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Odd-even transposition sort of a word for each PE, by threads that exchange packets with their neighbours. The host
 * gives each thread its word and gets the sorted one. Arguments: PEs, machine (em4 or emx), backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_emx.h>

/* In step J each PE has a partner, above or below by turns; the lower one of a pair keeps the smaller word. */
static const char *const sort =
    "        .align  2\n"
    "        program SORT\n"
    "        li      r10, 0\n"
    "step:   st      r10, J(fp)\n"
    "        ld      r3, ME(fp)\n"
    "        add     r4, r3, r10\n"
    "        andi    r4, r4, 1\n"
    "        slli    r4, r4, 1\n"
    "        addi    r3, r3, 1\n"
    "        sub     r3, r3, r4              # partner\n"
    "        ld      r5, COUNT(fp)\n"
    "        blt     r3, r0, next\n"
    "        bge     r3, r5, next\n"
    "        st      r3, NODE(fp)\n"
    "        move    r4, r3\n"
    "        port_of\n"
    "        andi    r5, r10, 15             # type of the step\n"
    "        ld      r6, ARG(fp)\n"
    "        call    pkt_output\n"
    "        call    pkt_input\n"
    "        ld      r3, ME(fp)\n"
    "        ld      r4, NODE(fp)\n"
    "        ld      r6, ARG(fp)\n"
    "        blt     r4, r3, upper\n"
    "        blt     r6, r2, next\n"
    "        st      r2, ARG(fp)\n"
    "        j       next\n"
    "upper:  blt     r2, r6, next\n"
    "        st      r2, ARG(fp)\n"
    "next:   ld      r10, J(fp)\n"
    "        addi    r10, r10, 1\n"
    "        ld      r3, COUNT(fp)\n"
    "        blt     r10, r3, step\n"
    "        ld      r2, ARG(fp)\n"
    "        done\n";

static void check(int code) {
    if (code < 0) {
        fprintf(stderr, "%s\n", EMerror());
        exit(1);
    }
}

static int order(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s PEs em4|emx model|rtl\n", argv[0]);
        return 2;
    }
    int pes = atoi(argv[1]);
    uint32_t words[80], sorted[80], state = 1;
    if (pes < 1 || pes > 80) {
        fprintf(stderr, "%s PEs: 1 to 80\n", argv[1]);
        return 2;
    }
    if (strcmp(argv[2], "emx") == 0)
        check(EMx());
    check(EMbackend(argv[3]));
    check(EMopen(sort));
    for (int i = 0; i < pes; i++) {
        state = state * 1664525 + 1013904223;
        words[i] = state >> 8;
    }
    check(EMcall("SORT", pes, words, 1, sorted));
    qsort(words, pes, sizeof *words, order);
    if (memcmp(words, sorted, pes * sizeof *words) != 0) {
        fprintf(stderr, "the words are not sorted\n");
        return 1;
    }
    printf("%d words sorted on %s in %.1f us\n", pes, argv[2], EMtime());
    return 0;
}
