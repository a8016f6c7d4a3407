/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* C programs on the host of a simulated EM-4 or EM-X.
 *
 * The host writes the PEs' memories, starts a thread on each PE with arguments, and waits for the results. Threads are
 * those of the message library, or the program's own, in the assembler's language; they may call the library:
 * pkt_output, pkt_input, word_send, word_recv, mem_copyout, reduce. docs/machines/emx.md has the calls, and
 * examples/c/oddeven.c is an example. Simulated time passes in EMcall only.
 *
 * After `make tools`, `cargo build -p emx-c` leaves the library in target/debug of the checkout. It is a static
 * library; there is no shared one. A program is compiled in the checkout by
 *     cc program.c -o program -I c/emx/include target/debug/libtsunagi_emx.a -lstdc++ -lm -lpthread -ldl
 *
 * Calls that can fail return -1, and EMerror says why.
 */
#ifndef TSUNAGI_EMX_H
#define TSUNAGI_EMX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first word of a PE's memory that is the program's, and the first one behind it. */
enum { EM_BLOCKS = 0x7000, EM_WORDS = 0x10000 };

/* Most arguments of a thread. */
enum { EM_ARGUMENTS = 24 };

/* Before EMopen. */

/* The machine's implementation: "model" (golden model, the default) or "rtl" (verilated RTL). 0, or -1. */
int EMbackend(const char *name);

/* Sets one parameter of the machine, as "fast_send=1"; `tsunagi list` shows them. 0, or -1. */
int EMset(const char *assignment);

/* All seven switches from EM-4 to EM-X, at the same clock. 0. */
int EMx(void);

/* Simulated time after which EMcall gives a machine up as hung, in us; 10 s at first. 0, or -1. */
int EMlimit(double us);

/* A new machine of this thread, in place of the one before. `code` is assembler text for all PEs, behind the library,
 * or NULL. 0, or -1: settings that are no machine, or what the assembler refuses, by line of "host.s". */
int EMopen(const char *code);

/* Of the machine. */

/* Number of its PEs; -1 without a machine. */
int EMpes(void);

/* Words of a PE's memory. 0, or -1. */
int EMwrite(int pe, uint32_t addr, const uint32_t *words, int count);
int EMread(int pe, uint32_t addr, uint32_t *words, int count);

/* Starts the thread of template `thread` on PEs 0 to pes - 1, each with `each` of the `arguments`, and waits until all
 * have told their results, of which `results` has room for `pes`; it may be NULL. The thread begins at entry 2 with its
 * arguments in words ARG of its frame, its number in ME and pes in COUNT, and ends with `done`, which tells r2. 0, or
 * -1: no such thread, a PE that halted, a hang, with its place. */
int EMcall(const char *thread, int pes, const uint32_t *arguments, int each, uint32_t *results);

/* Simulated time in us for which threads have run. Negative without a machine. */
double EMtime(void);

/* The reason of the last failed call on this thread; "" if none has failed. The text stays as it is, for ever. */
const char *EMerror(void);

#ifdef __cplusplus
}
#endif

#endif
