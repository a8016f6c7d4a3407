/* The native library of CP-PACS for C programs on the simulated machine: remote DMA.
 *
 * CPrun starts one copy of a program per node. Each copy runs on a stack of its own, one at a time, and gives way only
 * inside the calls marked (t) below. Simulated time passes there and nowhere else, so a program gives the same result
 * and the same times in every run. All copies share one address space: a program has no variables outside functions.
 *
 *     cargo build -p cppacs-c
 *     cc program.c -o program -I c/cppacs/include target/debug/libtsunagi_cppacs.a -lstdc++ -lm -lpthread -ldl
 *
 * A call that returns an int returns CP_OK, or a number, or one of the negative errors below; CPerror gives the reason
 * in words.
 *
 * A sender writes into a field of another node. It needs a right for the field, and asks for it once. The receiver sees
 * how many transfers have come, and uses the data where they are. Nothing keeps a second transfer from overwriting what
 * has not been read: programs must.
 */
#ifndef TSUNAGI_CPPACS_H
#define TSUNAGI_CPPACS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CP_OK = 0,
    CP_OUTSIDE = -1,  /* called outside a program of CPrun */
    CP_SETTING = -2,  /* no such backend, parameter, grid, program or time; together no machine */
    CP_POINTER = -3,  /* not in memory of CPobject */
    CP_NODE = -5,     /* no such node */
    CP_LENGTH = -6,   /* no multiple of 8 bytes, or nothing, or more than the object or field has */
    CP_FIELD = -8,    /* no such field, or the hardware shut it; no field, right or TCW left */
    CP_RIGHT = -9,    /* no such right */
    CP_TIMEOUT = -11, /* the field, or the transfers, did not come in time */
    CP_REFUSED = -12, /* the hardware refused it */
    CP_HANG = -13,    /* the time of CPlimit is over, or nothing can happen any more */
    CP_MEMORY = -14   /* no memory left, or the name is taken */
};

/* Before CPrun. CPbackend: "model" (the golden model, the default) or "rtl" (verilated RTL). CPset: one parameter, as "mem_bytes=4194304". CPlimit: simulated time after which the machine hangs. */
int CPbackend(const char *name), CPset(const char *assignment), CPlimit(double us);

/* Runs the program on a grid of x * y * z nodes until all copies have returned. */
int CPrun(int x, int y, int z, void (*program)(void *), void *arg);

/* Within a program. */
int CPnode(void), CPnodes(void);
double CPtime(void);       /* us */
int CPcompute(double us);  /* (t) */
const char *CPerror(void); /* why the last call failed */

/* (t) Memory that may be sent from and received into, at a multiple of 64 bytes; NULL: there is none left. */
void *CPobject(const char *name, size_t bytes);

/* (t) A field in an object, by a number of the program's; its descriptor. */
int CPfield_create(void *at, size_t bytes, int number);

/* (t) The right to write into field `number` of object `name` on a node; waits until there is one. Its descriptor. */
int CPright_get(int node, const char *name, int number, double wait_us);

/* (t) Starts a transfer to `offset` of the field. The result is for CPwait_sent. */
int CPsend(const void *from, size_t bytes, int right, size_t offset);

/* (t) The same with `count` elements; each is `from_step` bytes behind the one before, and `step` bytes there. */
int CPsend_strided(const void *from, size_t element, size_t count, size_t from_step, int right, size_t offset,
                   size_t step);

/* How many transfers that makes: one, unless it is more than 1 MB, or its elements are 512 KB or more. */
unsigned CPtransfers(size_t element, size_t count);

/* (t) Waits until the memory of a transfer may be written again. */
int CPwait_sent(int sent);

/* (t) Waits until `count` transfers have come into a field, beside those of earlier calls. */
int CPwait(int field, unsigned count, double bound_us);

#ifdef __cplusplus
}
#endif

#endif
