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
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CP_OK = 0,
    CP_OUTSIDE = -1,  /* called outside a program of CPrun */
    CP_SETTING = -2,  /* no such backend, parameter, grid, program, time or bit; together no machine */
    CP_POINTER = -3,  /* not in memory of CPobject */
    CP_ALIGN = -4,    /* at no multiple of 8 bytes */
    CP_NODE = -5,     /* no such node */
    CP_LENGTH = -6,   /* no multiple of 8 bytes, or nothing, or more than the field or a transfer of its kind has */
    CP_STRIDE = -7,   /* steps that are no multiple of 8 bytes */
    CP_FIELD = -8,    /* no such field, or the hardware shut it; no field left */
    CP_RIGHT = -9,    /* no such right; no right left */
    CP_TCW = -10,     /* no such TCW or transfer, or one without CP_FLAG; no TCW left */
    CP_TIMEOUT = -11, /* the field, the transfers or the other nodes did not come in time; no answer */
    CP_REFUSED = -12, /* the hardware refused it */
    CP_HANG = -13,    /* the time of CPlimit is over, or nothing can happen any more */
    CP_MEMORY = -14   /* no memory left, or the name is taken */
};

/* What others may do to a field. */
enum { CP_WRITE = 1, CP_READ = 2, CP_ATOMIC = 4 };

/* How a transfer is sent: on the acknowledge channel (32 bytes at most); with an interrupt of the receiver's kernel;
 * with a flag, for CPcheck_sent and CPwait_sent. */
enum { CP_ACK = 1, CP_NOTIFY = 2, CP_FLAG = 4 };

/* Added to a node's number: all nodes of its line along the axis, for broadcasts. */
enum { CP_ALL_X = 0x10000, CP_ALL_Y = 0x20000, CP_ALL_Z = 0x40000 };

/* Before CPrun. CPbackend: "model" (the golden model, the default) or "rtl" (verilated RTL). CPset: one parameter, as
 * "mem_bytes=4194304". CPlimit: simulated time after which the machine hangs. */
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

/* (t) A field in an object, by a number of the program's; its descriptor. Fields 0 to 7 of an object whose name begins
 * with "all:" are the same on all nodes, for broadcasts. */
int CPfield_create(void *at, size_t bytes, int number, int allow);

/* (t) Nothing is written into it any more; rights for it are refused where they arrive. */
int CPfield_destroy(int field);

/* (t) The right for field `number` of object `name` on a node; waits until there is such a field. Its descriptor. */
int CPright_get(int node, const char *name, int number, double wait_us);
int CPright_free(int right); /* (t) */

/* (t) Starts a transfer to `offset` of the field. The result is for CPcheck_sent and CPwait_sent. */
int CPsend(const void *from, size_t bytes, int right, size_t offset, int how);

/* (t) The same with `count` elements; each is `from_step` bytes behind the one before, and `step` bytes there. */
int CPsend_strided(const void *from, size_t element, size_t count, size_t from_step, int right, size_t offset,
                   size_t step, int how);

/* How many transfers that makes: one, unless it is more than 1 MB, or its elements are 512 KB or more. */
unsigned CPtransfers(size_t element, size_t count);

/* (t) Reads up to 64 KB of another node's field into offset `at` of one of this node's, and waits for them. */
int CPget(int right, size_t offset, int field, size_t at, size_t bytes);

/* (t) Exchanges 8 bytes of a field and *value; CPcswap only if `compare` was there. *value is then what was there. */
int CPswap(int right, size_t offset, uint64_t *value);
int CPcswap(int right, size_t offset, uint64_t compare, uint64_t *value);

/* (t) A transfer of at most 1 MB that can be started again and again: its descriptor. CPtcw_modify gives it another
 * source, length and offset. CPkick starts it by the system call, CPkick_fast without; their result is as CPsend's. */
int CPtcw_make(const void *from, size_t bytes, int right, size_t offset, int how), CPtcw_free(int tcw);
int CPtcw_modify(int tcw, const void *from, size_t bytes, size_t offset);
int CPkick(int tcw), CPkick_fast(int tcw);

/* (t) Whether the memory of a transfer may be written again, 1 or 0; waits until it may. */
int CPcheck_sent(int sent), CPwait_sent(int sent);

/* (t) Waits until `count` transfers have come into a field, beside those of earlier calls. */
int CPwait(int field, unsigned count, double bound_us);

/* (t) Waits until one has come into one of n fields: its place among them. That transfer counts as waited for. */
int CPwait_any(const int *fields, int n, double bound_us);

/* (t) All nodes have come to it. After CP_TIMEOUT this node is still there, and the next call waits on. */
int CPbarrier(double bound_us);

/* Does nothing, for the caches write through. */
int CPpurge(void *at, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
