/* The library of the AP1000+ for C programs on the simulated machine.
 *
 * APrun starts one copy of a program per cell. Each runs on a stack of its own, one at a time, and gives way only inside the calls below that
 * are marked (t): simulated time passes there and nowhere else, so a program gives the same result and the same times every run. All
 * computing between calls takes no simulated time; APwait stands for it.
 *
 * After `make tools`, `cargo build -p ap1000p-c` leaves the library in target/debug of the checkout. It is a static one; there is
 * no shared one. A program is compiled there by
 *     cc program.c -o program -I c/ap1000p/include target/debug/libtsunagi_ap1000p.a -lstdc++ -lm -lpthread -ldl
 *
 * A call that returns an int returns AP_OK, or a number, or one of the errors below, which are negative; APerror says why in words. A call
 * that fails has done nothing, but with AP_REFUSED and AP_HANG. A fault within the simulator ends the process with a message.
 *
 * Places. A pointer names a place in memory of APalloc, on this cell or, where the call says so, on another one: the same pointer names the
 * same place on every cell, see APalloc. What is transferred are words of 32 bits, at multiples of 4 bytes; `size` is their number, 0 to
 * 1048575, and of 0 words the place may be NULL. A flag is a word to which the hardware adds 1; NULL: no flag.
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
    AP_SETTING = -2,    /* no such backend, parameter, number of cells, program or time, or what they make is no machine */
    AP_POINTER = -3,    /* not in memory of APalloc, or not all of what is to be transferred is; none left for APalloc */
    AP_ALIGN = -4,      /* not at a multiple of 4 bytes, or of those that are loaded or stored */
    AP_CELL = -5,       /* no such cell */
    AP_SIZE = -6,       /* more words than a command, a packet or a place can take, or fewer than none; no size of a load, store or ring buffer */
    AP_STRIDE = -7,     /* an item or a gap that a command cannot say */
    AP_REGISTER = -8,   /* no communication register of the program's */
    AP_OPERATION = -9,  /* no such operation or direction, or not with this number of cells */
    AP_REFUSED = -10,   /* the machine refused an access, or reported a fault that its system could not mend */
    AP_HANG = -11,      /* the time of APlimit was over: APerror gives the machine's state, after the first call that failed, if any */
    AP_RING = -12,      /* no ring buffer, or a second one */
    AP_NOTHING = -13    /* no message has come; this is no failure, and APerror does not tell of it */
};

/* Before APrun, from the thread that calls it. */

/* What the machine is made of: "model" (golden model, the default) or "rtl" (verilated RTL). */
int APbackend(const char *name);

/* Sets one parameter of the machine, as "mem_bytes=4194304"; `tsunagi list` shows them. */
int APset(const char *assignment);

/* Simulated time after which APrun gives a machine up as hung, in us; 10 s at first. */
int APlimit(double us);

/* Runs `program` on columns x rows cells, 1 to 32 each, of a new machine until all have returned. The programs of a hung machine stay where
 * they are for ever. */
int APrun(int columns, int rows, void (*program)(void *arg), void *arg);

/* Within a program. */

/* Number of this cell, y * columns + x, and of all. */
int APcell(void);
int APcells(void);

/* Memory of this cell, 32-byte aligned, never given back. Programs that make the same calls in the same order get the same place on every
 * cell. NULL where there is no more. */
void *APalloc(size_t bytes);

/* The same at a multiple of `alignment`, a power of two: for ring buffers, for pages of 4 KB, for the local cache. */
void *APalloc_aligned(size_t bytes, size_t alignment);

/* (t) The paper's put(): writes `size` words from `source_addr` here to `dest_addr` on cell `dest_cell`. On return it is queued:
 * `*source_flag`, here, counts when the words are read, and `*dest_flag`, there, when they are written. */
int APput(int dest_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);

/* (t) The same, issued by the system. */
int APput_system(int dest_cell, const void *source_addr, int size, void *dest_addr, int *dest_flag, int *source_flag);

/* Words that are not one after the other: `item` (1 to 256) are, then `gap` (24 bits, signed) are left out, and so on. */
typedef struct {
    int item, gap;
} APstride;

/* (t) APput with a stride on either side; NULL: one after the other. */
int APput_stride(int dest_cell, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                 const APstride *dest_stride, int *dest_flag, int *source_flag);

int APput_system_stride(int dest_cell, const void *source_addr, const APstride *source_stride, int size, void *dest_addr,
                        const APstride *dest_stride, int *dest_flag, int *source_flag);

/* (t) Reads `size` words at `source_addr` on cell `source_cell` to `dest_addr` here. `*source_flag` is there, `*dest_flag` here. */
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

/* From now on (`on` not 0) the words that this program's calls above, APsend and those for communication registers transfer are named by pages
 * of 4 KB, on both sides, that are mapped when a transfer first uses them: the hardware tells the system of the page fault, which maps the page,
 * and the transfer goes on. Flags are not. Of the first 16 MB there are such pages. With 0 places are those of the start again, where all pages are mapped. */
int APon_demand(int on);

/* (t) Waits until `*flag`, here, has counted to `value` or further. */
int APwait_flag(const int *flag, int value);

/* (t) Atomic on the word at `dest_addr` on cell `dest_cell`: AND and then OR with a mask; `to` if it is `from`. `*was`, unless NULL, becomes
 * what the word was. */
int APfetch_op(int dest_cell, int *dest_addr, unsigned and_mask, unsigned or_mask, unsigned *was);
int APcompare_swap(int dest_cell, int *dest_addr, unsigned from, unsigned to, unsigned *was);

/* (t) The lock in the word at `lock` on cell `lock_cell`, 0 when it is free. What its holder PUT must be acknowledged when it is given
 * back. */
int APlock(int lock_cell, int *lock);
int APunlock(int lock_cell, int *lock);

/* (t) The processor's load and store of 1, 2, 4 or 8 bytes, at a multiple of their number, on any cell: a load waits until it has them in
 * `*value`, unless NULL; a store is on its way on return, and APfence waits until all of this cell's stores are in place. */
int APload(int source_cell, const void *source_addr, int bytes, unsigned long long *value);
int APstore(int dest_cell, void *dest_addr, int bytes, unsigned long long value);
int APfence(void);

/* (t) Write Through Pages: from now on what this cell APloads from the `bytes` at `first` of any cell, whole pages of 4 KB, is copied into its
 * local cache, 2 MB at a multiple of 2 MB that the program leaves alone from now on, a kilobyte at a time: a load that misses is an access
 * exception, and its handler GETs the kilobyte. What it APstores there goes to both. 0 bytes: no such pages any more. */
int APwrite_through(void *cache, const void *first, size_t bytes);

/* (t) A synchronising write: on return all of this cell's stores are in place, and none of the `count` cells in `holders` has an older copy of
 * the kilobytes of the `bytes` at `dest_addr` on cell `dest_cell`. Each of them must have called APwrite_through. */
int APsync_write(int dest_cell, const void *dest_addr, size_t bytes, const int *holders, int count);

/* (t) Communication registers 0 to 95: a word each, that is taken when it is read, so that a write waits until it is empty and a read until
 * it is full. APput_registers writes another cell's from register `first` on. */
int APput_registers(int dest_cell, const void *source_addr, int size, int first, int *source_flag);
int APregister_read(int number, unsigned *value);
int APregister_write(int number, unsigned value);

/* (t) The words of this cell's registers from `first` on to another cell's memory, and of another cell's to here. Each is taken when its
 * register is full, and they go when all are taken; no other command of the cell whose registers they are goes before. */
int APput_from_registers(int dest_cell, int first, int size, void *dest_addr, int *dest_flag);
int APget_registers(int source_cell, int first, int size, void *dest_addr, int *dest_flag);

/* (t) Gives the program a ring buffer for what others APsend to it: 128 KB, 512 KB, 2 MB or 8 MB, at a multiple of that, which the program
 * leaves alone from now on. One for each program. */
int APopen_ring(void *ring, size_t bytes);

/* (t) Sends words, and `tag` beside them, into the ring buffer of another cell, or the own one. On return it is queued: `*source_flag` counts
 * when the words are read, which for more of them than the parameter rendezvous_words is when they are received. */
int APsend(int dest_cell, int tag, const void *source_addr, int size, int *source_flag);

/* (t) The next message, when there is one, into a place for `room` words; gives how many words it has. `*source_cell` and `*tag`, unless NULL,
 * become whose it is. Messages of one cell come in their order. One that has more words than there is room for is AP_SIZE, and stays. APtry_recv
 * does not wait: AP_NOTHING. */
int APrecv(void *dest_addr, int room, int *source_cell, int *tag);
int APtry_recv(void *dest_addr, int room, int *source_cell, int *tag);

/* How often the system of this cell gave a ring its registers, and how often it emptied a full one into memory of its own. */
int APrings_served(int *misses, int *full);

/* (t) A packet of 1 to AP_BUS_WORDS words to all cells over the B-net, this one included, and the next one that came, into a place for so many:
 * gives how many words it has. All cells must receive all packets, which come in the same order; a cell that does not stops the others. Here
 * `words` may be any memory of the program. */
enum { AP_BUS_WORDS = 32 };
int APbus_send(const unsigned *words, int size);
int APbus_receive(unsigned *words);

/* (t) Combines the values of all cells, which must all call it: `*result`, unless NULL, is the same on each. */
enum { AP_SUM, AP_MIN, AP_MAX, AP_AND, AP_OR };
int APreduce(int operation, unsigned value, unsigned *result);

/* (t) Waits until every cell has called it: by communication registers, by flags, by the network for barriers. A cell that waits for a
 * communication register or a load serves no interrupt, so APbarrier, APreduce, APregister_read and APload are not for when pages may have to be
 * mapped on this cell, or messages may come to it that its ring buffer has no registers or no room for: the other two are. */
int APbarrier(void);
int APbarrier_by_flags(void);
int APbarrier_by_snet(void);

/* (t) Computes for so many us. */
int APwait(double us);

/* Simulated time in us. Negative outside a program. */
double APtime(void);

/* Why the last call that failed on this thread did; "" if none has. The text stays as it is and where it is, for ever. */
const char *APerror(void);

#ifdef __cplusplus
}
#endif

#endif
