/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The library of the AP1000+ for C programs on the simulated machine.
 *
 * APrun starts one copy of a program per cell. Each copy runs on a stack of its own, one at a time, and gives way
 * only inside the calls marked (t) below. Simulated time passes there and nowhere else, so a program gives the same
 * result and the same times in every run. Computing between calls takes no simulated time; APwait stands for it.
 *
 * After `make tools`, `cargo build -p ap1000p-c` leaves the library in target/debug of the checkout. It is a static
 * library; there is no shared one. A program is compiled in the checkout by
 *     cc program.c -o program -I c/ap1000p/include target/debug/libtsunagi_ap1000p.a -lstdc++ -lm -lpthread -ldl
 *
 * A call that returns an int returns AP_OK, or a number, or one of the negative errors below; APerror gives the
 * reason in words. A failed call has done nothing, except with AP_REFUSED and AP_HANG. A fault within the simulator
 * ends the process with a message.
 *
 * Places. A pointer names a place in memory of APalloc, on this cell or, where the call says so, on another one. The
 * same pointer names the same place on every cell, see APalloc. Transfers move words of 32 bits, at multiples of 4
 * bytes. `size` is their number, 0 to 1048575; with 0 words the place may be NULL. A flag is a word to which the
 * hardware adds 1; NULL: no flag.
 */
#ifndef TSUNAGI_AP1000P_H
#define TSUNAGI_AP1000P_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AP_OK = 0,
    AP_OUTSIDE = -1,    /* called outside a program of APrun */
    AP_SETTING = -2,    /* no such backend, parameter, number of cells, program or time; together no machine */
    AP_POINTER = -3,    /* not, or not all of it, in memory of APalloc; no memory left for APalloc */
    AP_ALIGN = -4,      /* not at a multiple of 4 bytes; of a load or store, not at a multiple of its size */
    AP_CELL = -5,       /* no such cell */
    AP_SIZE = -6,       /* more words than a command, a packet or a place takes, or a negative number of them;
                         * no size of a load, a store or a ring buffer */
    AP_STRIDE = -7,     /* an item or a gap that a command cannot say */
    AP_REGISTER = -8,   /* no communication register of the program's */
    AP_OPERATION = -9,  /* no such operation or direction, or not with this number of cells */
    AP_REFUSED = -10,   /* the machine refused an access, or reported a fault that its system could not mend */
    AP_HANG = -11,      /* the time of APlimit is over; APerror gives the first failed call, then the machine's state */
    AP_RING = -12,      /* no ring buffer, or a second one */
    AP_NOTHING = -13    /* no message has come; this is no failure, and APerror does not mention it */
};

/* Before APrun, from the thread that calls it. */

/* The machine's implementation: "model" (golden model, the default) or "rtl" (verilated RTL). */
int APbackend(const char *name);

/* Sets one parameter of the machine, as "mem_bytes=4194304"; `tsunagi list` shows them. */
int APset(const char *assignment);

/* Simulated time after which APrun gives a machine up as hung, in us; 10 s at first. */
int APlimit(double us);

/* Runs `program` on columns x rows cells, 1 to 32 each, of a new machine until all have returned. The programs of a
 * hung machine stay where they are for ever. */
int APrun(int columns, int rows, void (*program)(void *arg), void *arg);

/* Within a program. */

/* Number of this cell, y * columns + x, and of all. */
int APcell(void);
int APcells(void);

/* Memory of this cell, 32-byte aligned, never given back. Programs that make the same calls in the same order get
 * the same place on every cell. NULL when no memory is left. */
void *APalloc(size_t bytes);

/* The same at a multiple of `alignment`, a power of two: for ring buffers, for pages of 4 KB, for the local cache. */
void *APalloc_aligned(size_t bytes, size_t alignment);

/* (t) The paper's put(): writes `size` words from `source_addr` here to `dest_addr` on cell `dest_cell`. On return
 * it is queued: `*source_flag`, here, counts when the words are read, and `*dest_flag`, there, when they are
 * written. */
int APput(int dest_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);

/* (t) The same, issued by the system. */
int APput_system(int dest_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);

/* Words with gaps: `item` (1 to 256) words lie in line, the next `gap` (24 bits, signed) are left out, and so on. */
typedef struct {
    int item, gap;
} APstride;

/* (t) APput with a stride on either side; NULL: one after the other. */
int APput_stride(int dest_cell, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                 const APstride *dest_stride, int *dest_flag, int *source_flag);

int APput_system_stride(int dest_cell, const void *source_addr, const APstride *source_stride, int size,
                        void *dest_addr, const APstride *dest_stride, int *dest_flag, int *source_flag);

/* (t) Reads `size` words at `source_addr` on cell `source_cell` to `dest_addr` here. `*source_flag` is there,
 * `*dest_flag` here. */
int APget(int source_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);
int APget_stride(int source_cell, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                 const APstride *dest_stride, int *dest_flag, int *source_flag);

/* (t) APput that returns when the words are written. */
int APack_put(int dest_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);
int APack_put_stride(int dest_cell, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                     const APstride *dest_stride, int *dest_flag, int *source_flag);

/* (t) APput to every cell of this one's row or column, or to all, itself included. */
enum { AP_ROW, AP_COLUMN, AP_ALL };
int APbroadcast(int along, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);
int APbroadcast_stride(int along, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                       const APstride *dest_stride, int *dest_flag, int *source_flag);

/* With `on` not 0, places of this program's transfers lie in pages on demand from now on. That holds for the calls
 * above, for APsend and for the calls for communication registers, on both sides, but not for flags. Such a page of
 * 4 KB is mapped on first use: the hardware reports a page fault, the system maps the page, and the transfer goes
 * on. Only the first 16 MB have such pages. With 0, places are again as at the start, where all pages are mapped. */
int APon_demand(int on);

/* (t) Waits until `*flag`, here, has counted to `value` or further. */
int APwait_flag(const int *flag, int value);

/* (t) Atomic on the word at `dest_addr` on cell `dest_cell`: AND and then OR with a mask; `to` if it is `from`. `*was`,
 * unless NULL, gets the old word. */
int APfetch_op(int dest_cell, int *dest_addr, unsigned and_mask, unsigned or_mask, unsigned *was);
int APcompare_swap(int dest_cell, int *dest_addr, unsigned from, unsigned to, unsigned *was);

/* (t) The lock in the word at `lock` on cell `lock_cell`, 0 when it is free. The holder's PUTs must be acknowledged
 * before it gives the lock back. */
int APlock(int lock_cell, int *lock);
int APunlock(int lock_cell, int *lock);

/* (t) The processor's load and store of 1, 2, 4 or 8 bytes, at a multiple of their number, on any cell. A load waits
 * until `*value`, unless NULL, has them. A store is on its way on return; APfence waits until all of this cell's
 * stores are in place. */
int APload(int source_cell, const void *source_addr, int bytes, unsigned long long *value);
int APstore(int dest_cell, void *dest_addr, int bytes, unsigned long long value);
int APfence(void);

/* (t) Write Through Pages: the `bytes` at `first` of any cell, whole pages of 4 KB. From now on this cell's APloads
 * of them copy a kilobyte at a time into its local cache. A load that misses is an access exception, and its handler
 * GETs the kilobyte. APstores go to both. The cache is 2 MB at a multiple of 2 MB, which the program leaves alone
 * from now on. 0 bytes: no such pages any more. */
int APwrite_through(void *cache, const void *first, size_t bytes);

/* (t) A synchronising write of the `bytes` at `dest_addr` on cell `dest_cell`. On return all of this cell's stores
 * are in place, and none of the `count` cells in `holders` has an older copy of the kilobytes with these bytes. Each
 * of the holders must have called APwrite_through. */
int APsync_write(int dest_cell, const void *dest_addr, size_t bytes, const int *holders, int count);

/* (t) Communication registers 0 to 95, a word each. A read waits until the register is full, and empties it; a write
 * waits until it is empty. APput_registers writes another cell's registers from `first` on. */
int APput_registers(int dest_cell, const void *source_addr, int size, int first, int *source_flag);
int APregister_read(int number, unsigned *value);
int APregister_write(int number, unsigned value);

/* (t) The words of this cell's registers from `first` on to another cell's memory, and of another cell's to here.
 * Each word is taken when its register is full, and all go when all are taken. The cell with the registers issues no
 * other command before. */
int APput_from_registers(int dest_cell, int first, int size, void *dest_addr, int *dest_flag);
int APget_registers(int source_cell, int first, int size, void *dest_addr, int *dest_flag);

/* (t) Gives the program a ring buffer for messages that others APsend to it, one for each program. It has 128 KB,
 * 512 KB, 2 MB or 8 MB, at a multiple of its size, and the program leaves it alone from now on. */
int APopen_ring(void *ring, size_t bytes);

/* (t) Sends words, and `tag` beside them, into the ring buffer of another cell, or the own one. On return the
 * message is queued. `*source_flag` counts when the words are read; more words than the parameter rendezvous_words
 * are read when they are received. */
int APsend(int dest_cell, int tag, const void *source_addr, int size, int *source_flag);

/* (t) Waits for the next message and stores it in a place for `room` words; gives the number of its words.
 * `*source_cell` and `*tag`, unless NULL, get its sender and tag. Messages of one cell come in their order. A
 * message with more words than `room` is AP_SIZE, and stays. APtry_recv does not wait: AP_NOTHING. */
int APrecv(void *dest_addr, int room, int *source_cell, int *tag);
int APtry_recv(void *dest_addr, int room, int *source_cell, int *tag);

/* How often the system of this cell gave a ring its registers, and how often it emptied a full ring into memory of
 * its own. */
int APrings_served(int *misses, int *full);

/* (t) APbus_send sends a packet of 1 to AP_BUS_WORDS words to all cells over the B-net, this one included.
 * APbus_receive stores the next packet in a place for AP_BUS_WORDS words, and gives the number of its words. All
 * cells must receive all packets, which come in the same order; a cell that does not receive stops the others.
 * `words` may be any memory of the program. */
enum { AP_BUS_WORDS = 32 };
int APbus_send(const unsigned *words, int size);
int APbus_receive(unsigned *words);

/* (t) Combines the values of all cells, which must all call it: `*result`, unless NULL, is the same on each. */
enum { AP_SUM, AP_MIN, AP_MAX, AP_AND, AP_OR };
int APreduce(int operation, unsigned value, unsigned *result);

/* (t) Waits until every cell has called it: by communication registers, by flags, by the network for barriers. A
 * cell that waits for a communication register or a load serves no interrupt. So do not call APbarrier, APreduce,
 * APregister_read or APload while pages may have to be mapped on this cell, or while messages may come for which its
 * ring buffer has no registers or no room. The other two barriers are safe then. */
int APbarrier(void);
int APbarrier_by_flags(void);
int APbarrier_by_snet(void);

/* (t) Computes for this many us. */
int APwait(double us);

/* Simulated time in us. Negative outside a program. */
double APtime(void);

/* The reason of the last failed call on this thread; "" if none has failed. The text stays as it is, for ever. */
const char *APerror(void);

#ifdef __cplusplus
}
#endif

#endif
