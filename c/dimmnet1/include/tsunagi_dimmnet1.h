/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The library of the DIMMnet-1 for C programs on the simulated machine.
 *
 * DNrun starts one copy of a program per node. Each copy runs on a stack of its own, one at a time, and gives way only
 * inside the calls marked (t) below. Simulated time passes there and nowhere else, so a program gives the same result
 * and the same times in every run. Computing between calls takes no simulated time; DNwait stands for it.
 *
 * After `make tools`, `cargo build -p dimmnet1-c` leaves the library in target/debug of the checkout. It is a static
 * library; there is no shared one. A program is compiled in the checkout by
 *     cc program.c -o program -I c/dimmnet1/include target/debug/libtsunagi_dimmnet1.a -lstdc++ -lm -lpthread -ldl
 *
 * A call that returns an int returns DN_OK, or a number, or one of the negative errors below; DNerror gives the reason
 * in words. A failed call has done nothing, except with DN_REFUSED, DN_TIMEOUT, DN_MISSING and DN_HANG. Every wait has
 * a bound, the parameter wait_bound. A fault within the simulator ends the process with a message.
 *
 * Places. A pointer names a place in memory of DNalloc, on this node or, where the call says so, on another one. The
 * same pointer names the same place on every node, see DNalloc. This is the SO-DIMM memory of the card. `bytes` is at
 * least 1. An offset names a place among the DN_LLCM_BYTES of a card's low-latency common memory (LLCM) that are the
 * program's. They are 0 at the start. A word is 8 bytes of it, at a multiple of 8.
 *
 * Sources. "Paper" is "Performance Evaluation of Communication with Martini's On-Chip-Processor on DIMMnet-1", with its
 * sections. It describes what the calls do. Names and arguments are ours.
 */
#ifndef TSUNAGI_DIMMNET1_H
#define TSUNAGI_DIMMNET1_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DN_OK = 0,
    DN_OUTSIDE = -1,  /* called outside a program of DNrun */
    DN_SETTING = -2,  /* no such backend, parameter, number of nodes, program or time; together no machine */
    DN_POINTER = -3,  /* not, or not all of it, in memory of DNalloc; no memory left for DNalloc */
    DN_ALIGN = -4,    /* not at a multiple of 8 bytes, or across a page of 4 KB, where the call forbids that */
    DN_NODE = -5,     /* no such node */
    DN_SIZE = -6,     /* 0 or fewer bytes, or more than a store, a packet or a place takes */
    DN_LLCM = -7,     /* no such place in LLCM; no such pointer or command */
    DN_KIND = -8,     /* no such barrier */
    DN_REFUSED = -9,  /* the other card, its on-chip processor or this card refused a packet */
    DN_TIMEOUT = -10, /* the wait was longer than wait_bound; DNerror says for what */
    DN_MISSING = -11, /* the same at a barrier; DNerror names the nodes that did not come */
    DN_HANG = -12     /* the time of DNlimit is over; DNerror gives the first failed call, then the machine's state */
};

enum {
    DN_LLCM_BYTES = 3072, /* bytes of LLCM on each node that are the program's */
    DN_PACKET = 464,      /* most bytes of a packet from a window (paper, 4.2) */
    DN_POINTERS = 256,    /* pointers of each node for indirect writes */
    DN_COMMANDS = 85      /* receive commands of each node, in the room of the pointers */
};

/* Before DNrun, from the thread that calls it. */

/* The machine's implementation: "model" (golden model, the default) or "rtl" (verilated RTL). */
int DNbackend(const char *name);

/* Sets one parameter of the machine, as "mem_bytes=524288"; `tsunagi list` shows them. */
int DNset(const char *assignment);

/* Simulated time after which DNrun gives a machine up as hung, in us; 10 s at first. */
int DNlimit(double us);

/* Runs `program` on nodes 0 to nodes - 1 (2 to 16) of a new machine until all have returned. The programs of a hung
 * machine stay where they are for ever. */
int DNrun(int nodes, void (*program)(void *arg), void *arg);

/* Within a program. */

/* Number of this node, and of all. */
int DNnode(void);
int DNnodes(void);

/* Memory of this node, 32-byte aligned, never given back. Programs that make the same calls in the same order get the
 * same place on every node. NULL when no memory is left. */
void *DNalloc(size_t bytes);

/* The same at a multiple of `alignment`, a power of two: for places that must not cross a page. */
void *DNalloc_aligned(size_t bytes, size_t alignment);

/* (t) AOTF, atomic on the fly (paper, 1, 3.4.1): one store to the card writes the lowest 1, 2, 4 or 8 bytes of `value`
 * to `offset` in LLCM of node `dest_node`, within a word. On return it is on its way, and nothing tells when it is
 * there. Such stores to one node come in their order. */
int DNaotf_write(int dest_node, int offset, int bytes, unsigned long long value);

/* (t) The same to all nodes, this one included: the switch copies the packet. */
int DNaotf_write_all(int offset, int bytes, unsigned long long value);

/* (t) Load and store of a word in LLCM of this node. `*value`, unless NULL, gets the word. */
int DNllcm_load(int offset, unsigned long long *value);
int DNllcm_store(int offset, unsigned long long value);

/* (t) Loads a word in LLCM of this node until it is no longer `old`. `*value`, unless NULL, gets it. */
int DNllcm_wait(int offset, unsigned long long old, unsigned long long *value);

/* (t) BOTF, block on the fly (paper, 1, 4.2): one packet of at most DN_PACKET bytes from `src` here, at any alignment,
 * to `dest` on node `dest_node`, at a multiple of 8 and within a page of 4 KB. The two windows are used in turn. On
 * return the bytes are in a window, `src` may change, and nothing tells when they are there. DNbotf_wait waits until
 * the windows are empty: a store by AOTF after it comes behind the bytes. Without it the store may overtake them. */
int DNbotf_send(int dest_node, const void *src, void *dest, int bytes);
int DNbotf_wait(void);

/* (t) The blocking send (paper, 4.2): any number of bytes from `src` here, at any alignment, to `dest` on node
 * `dest_node`, at a multiple of 8, by packets of BOTF that ask for an answer. On return all are in place there. Packets
 * have sequence numbers if the parameter f_seq is 1, and those that were refused for want of room are sent again. */
int DNsend(int dest_node, const void *src, void *dest, int bytes);

/* (t) RDMA (paper, 1, 4.2): the card writes the bytes at `src` here to `dest` on node `dest_node`, or reads those at
 * `src` on node `source_node` to `dest` here. Both places are at multiples of 8. On return all bytes are in place. */
int DNrdma_push(int dest_node, const void *src, void *dest, int bytes);
int DNrdma_pull(int source_node, const void *src, void *dest, int bytes);

/* (t) Remote indirect write (paper, 3.4.1): pointer `number` of this node, 0 to DN_POINTERS - 1, names `dest` here,
 * at a multiple of 8. A packet of at most DN_PACKET bytes that names the pointer goes where it says: the on-chip
 * processor of `dest_node` puts the address in, and the hardware goes on. The packet must stay within a page of 4 KB,
 * else it is DN_REFUSED. On return it is in place. A pointer that was never set names the first byte of the
 * node's memory. */
int DNset_pointer(int number, void *dest);
int DNsend_indirect(int dest_node, const void *src, int number, int bytes);

/* (t) Chains of receive commands (paper, 6: TS/1; the format is ours). Command `number` of this node, 0 to
 * DN_COMMANDS - 1, names `count` blocks here, 1 to 255, of `length` bytes. The first is at `dest`, each next one
 * `stride` bytes behind the beginning of the one before, or before it. All of them are at multiples of 8. The data
 * behind them belong to command `next`; with `next` -1 there may be none. The command takes the room of pointers
 * 3 * `number` to 3 * `number` + 2. It must not change while a packet is under way. A packet of at most DN_PACKET bytes
 * goes to the blocks of the command that it names, one after the other. It is DN_REFUSED if it is longer than they are,
 * or if a block crosses a page of 4 KB; then the blocks before may be written. On return all are in place. */
int DNset_command(int number, void *dest, int length, int count, int stride, int next);
int DNsend_chain(int dest_node, const void *src, int number, int bytes);

/* (t) Message exchange (paper, 3.4.2, 4.2): the receiver's on-chip processor finds the place. DNsend_message returns
 * when the message is at the receiver. It waits until the message before, to the same node, was received. One
 * that is longer than the system's buffer of 16 KB needs a receiver that waits for it, and f_seq; else it is
 * DN_REFUSED. One that failed is never received.
 *
 * DNrecv waits for the next message of node `source_node`, stores it at `dest`, which has room for `room` bytes, and
 * returns the number of its bytes. A longer message is DN_SIZE, and stays. With `next`, not NULL, the first DN_PACKET
 * bytes of the message after this one go there at once, not through the system's buffer, whose copying takes time.
 * `next` is at a multiple of 8, within a page, and is left alone until that message was received. */
int DNsend_message(int dest_node, const void *src, int bytes);
int DNrecv(int source_node, void *dest, int room, void *next);

/* (t) Message exchange all in software of the on-chip processor (paper, 4.2). DNpost_soft says where the next such
 * message of `source_node` goes: `dest`, at a multiple of 8, with room for `room` bytes. DNsend_soft returns when the
 * message is there; while nothing is posted it is sent again and again, until it is DN_REFUSED. DNwait_soft, after
 * DNpost_soft, waits for the message and returns the number of its bytes. */
int DNpost_soft(int source_node, void *dest, int room);
int DNsend_soft(int dest_node, const void *src, int bytes);
int DNwait_soft(int source_node);

/* (t) Waits until every node has called it with the same kind (paper, 4.3). Node 0 counts: its host in LLCM, or its
 * on-chip processor. It releases the others by a packet to each or by one that the switch copies. A node that waits too
 * long gets DN_TIMEOUT, and node 0 DN_MISSING. The program can then call no other barrier. */
enum { DN_HOSTS, DN_HOSTS_MULTICAST, DN_PROCESSOR, DN_PROCESSOR_MULTICAST };
int DNbarrier(int kind);

/* (t) Computes for this many us. */
int DNwait(double us);

/* Simulated time in us. Negative outside a program. */
double DNtime(void);

/* The reason of the last failed call on this thread; "" if none has failed. The text stays as it is, for ever. */
const char *DNerror(void);

#ifdef __cplusplus
}
#endif

#endif
