/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The machine's library for C programs on a simulated Cenju-3.
 *
 * CJrun starts one copy of a program per PE. Each copy runs on a stack of its own, one at a time, and gives way only
 * inside the calls marked (t) below. Simulated time passes there and nowhere else, so a program gives the same
 * result and the same times in every run. Computing between calls takes no simulated time; CJwait stands for it.
 *
 * After `make tools`, `cargo build -p cenju3-c` leaves the library in target/debug of the checkout. It is a static
 * library; there is no shared one. A program is compiled in the checkout by
 *     cc program.c -o program -I c/cenju3/include target/debug/libtsunagi_cenju3.a -lstdc++ -lm -lpthread -ldl
 *
 * Calls that can fail return -1 or NULL, and CJerror says why.
 */
#ifndef TSUNAGI_CENJU3_H
#define TSUNAGI_CENJU3_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Before CJrun, from the thread that calls it. */

/* The machine's implementation: "model" (golden model, the default) or "rtl" (verilated RTL). 0, or -1. */
int CJbackend(const char *name);

/* Sets one parameter of the machine, as "mem_bytes=16777216"; `tsunagi list` shows them. 0, or -1. */
int CJset(const char *assignment);

/* Simulated time after which CJrun gives a machine up as hung, in us; 10 s at first. 0, or -1. */
int CJlimit(double us);

/* Runs `program` on PEs 0 to pes - 1 (2 to 256) of a new machine until all have returned. 0, or -1: a bad number of
 * PEs, or a hang. For a hang CJerror gives the first refused call, if any, and then the state of the machine. The
 * programs of a hung machine stay where they are for ever. */
int CJrun(int pes, void (*program)(void *arg), void *arg);

/* Within a program. */

/* Number of this PE, and of all. -1 outside a program. */
int CJpe(void);
int CJnpes(void);

/* Memory of this PE, 32-byte aligned, never given back. Programs that make the same calls in the same order get the
 * same place on every PE: a pointer into it names that place on any of them. NULL when no memory is left. */
void *CJalloc(size_t bytes);

/* (t) Writes `bytes` from `src` to `dest` in the memory of PE `dest_pe`, and returns their number. Both pointers lie
 * in memory of CJalloc on this PE, at any alignment. On return the bytes are queued: change or rely on them after
 * CJfence or CJbarrier. */
int CJrmwrite(const void *src, int dest_pe, void *dest, int bytes);

/* (t) Waits until all writes of this PE are in place. 0, or -1. */
int CJfence(void);

/* (t) CJfence, and waits until every PE has called it. 0, or -1. */
int CJbarrier(void);

/* (t) Waits until `*word`, in memory of CJalloc on this PE, is no longer `old`, and returns it. On a bad pointer it
 * returns 0, and CJerror says why. */
int CJwaitword(const int *word, int old);

/* (t) Computes for this many us. 0, or -1. */
int CJwait(double us);

/* Simulated time in us. Negative outside a program. */
double CJgettmr2(void);

/* The reason of the last failed call on this thread; "" if none has failed. The text stays as it is, for ever. */
const char *CJerror(void);

#ifdef __cplusplus
}
#endif

#endif
