/* Within libpvm3.a: a call to the simulator. */
#ifndef STUB_H
#define STUB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pvm3.h"

/* The numbers of wire.rs; a test compares them. */
enum call {
    HELLO = 0,
    NOW = 1,
    COMPUTE = 2,
    EXIT = 3,
    SIBLINGS = 4,
    TASKS = 5,
    THERE = 6,
    KILL = 7,
    SPAWN = 8,
    MKBUF = 9,
    INITSEND = 10,
    FREEBUF = 11,
    ACTIVE = 12,
    ACTIVATE = 13,
    BUFINFO = 14,
    PACK = 15,
    UNPACK = 16,
    UNPACK_STRING = 17,
    MCAST = 18,
    RECV = 19,
    TRECV = 20,
    NRECV = 21,
    PROBE = 22,
    JOIN = 23,
    LEAVE = 24,
    GROUP_TASK = 25,
    INSTANCE = 26,
    MEMBERS = 27,
    BARRIER = 28,
    CATCH = 29,
};

/* What the last call brought beside its result; valid until the next one. */
struct answer {
    uint32_t length;
    unsigned char *bytes;
};

/* Makes a call with `n` numbers and some bytes; its result. */
int stub_call(enum call call, int n, int a, int b, const void *bytes, size_t length, struct answer *answer);

/* The same as the call `name` of PVM: an error is kept for pvm_perror, and printed as pvm_setopt says. */
int stub_result(const char *name, int result);

/* Bytes of an item of a PVM_ data type, or PvmBadParam. */
int stub_item(int type);

#endif
