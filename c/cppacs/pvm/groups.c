/* Groups: names are kept by the kernel of node 0; what combines data is here, for it calls the task's functions. */
#include "stub.h"

#include <stdlib.h>
#include <string.h>

/* A call with the name of a group. */
static int with_name(const char *name, enum call call, int n, int a, int b, const char *group, struct answer *answer) {
    return stub_result(name, stub_call(call, n, a, b, group, group ? strlen(group) : 0, answer));
}

int pvm_joingroup(char *group) {
    return with_name("joingroup", JOIN, 0, 0, 0, group, NULL);
}

int pvm_lvgroup(char *group) {
    return with_name("lvgroup", LEAVE, 0, 0, 0, group, NULL);
}

int pvm_gsize(char *group) {
    return with_name("gsize", MEMBERS, 0, 0, 0, group, NULL);
}

int pvm_gettid(char *group, int instance) {
    return with_name("gettid", GROUP_TASK, 1, instance, 0, group, NULL);
}

int pvm_getinst(char *group, int tid) {
    return with_name("getinst", INSTANCE, 1, tid, 0, group, NULL);
}

int pvm_barrier(char *group, int count) {
    return with_name("barrier", BARRIER, 2, count, 0, group, NULL);
}

int pvm_freezegroup(char *group, int size) {
    return with_name("freezegroup", BARRIER, 2, size, 1, group, NULL);
}

/* The members, in memory of the caller's; how many. */
static int members(const char *name, const char *group, int **tids) {
    struct answer answer;
    int count = with_name(name, MEMBERS, 0, 0, 0, group, &answer);
    if (count <= 0) return count;
    *tids = malloc(answer.length);
    if (!*tids) return stub_result(name, PvmNoMem);
    memcpy(*tids, answer.bytes, answer.length);
    return count;
}

int pvm_bcast(char *group, int msgtag) {
    int *tids, count = members("bcast", group, &tids), others = 0;
    if (count <= 0) return count;
    for (int i = 0; i < count; i++)
        if (tids[i] != pvm_mytid()) tids[others++] = tids[i];
    int result = pvm_mcast(tids, others, msgtag);
    free(tids);
    return result;
}

/* A tag that programs do not use. */
static int tag_of(int msgtag, int what) {
    return (1 << 30) | (int)(((unsigned)msgtag * 4 + (unsigned)what) & 0x3fffffff);
}

enum { REDUCE, GATHER, SCATTER };

/* What the three have in common. */
struct collective {
    const char *name;
    int count, size, tag; /* members; bytes of a member's data */
    int *tids, root, me;  /* root and me: places in tids */
};

static int begin(struct collective *c, const char *name, int what, int count, int type, int msgtag, char *group,
                 int root) {
    int item = stub_item(type), root_tid;
    *c = (struct collective){.name = name, .size = count * item, .tag = tag_of(msgtag, what), .root = -1, .me = -1};
    if (item < 0 || count < 0 || msgtag < 0) return stub_result(name, PvmBadParam);
    root_tid = with_name(name, GROUP_TASK, 1, root, 0, group, NULL);
    if (root_tid < 0) return root_tid;
    c->count = members(name, group, &c->tids);
    if (c->count < 0) return c->count;
    for (int i = 0; i < c->count; i++) {
        if (c->tids[i] == root_tid) c->root = i;
        if (c->tids[i] == pvm_mytid()) c->me = i;
    }
    if (c->me >= 0) return PvmOk;
    free(c->tids);
    return stub_result(name, PvmNotInGroup);
}

static int end(struct collective *c, int result) {
    free(c->tids);
    return result < 0 ? result : PvmOk;
}

static int receive(const struct collective *c, int from, void *data) {
    return pvm_precv(c->tids[from], c->tag, data, c->size, PVM_BYTE, NULL, NULL, NULL);
}

static int give(const struct collective *c, int to, void *data) {
    return pvm_psend(c->tids[to], c->tag, data, c->size, PVM_BYTE);
}

int pvm_reduce(void (*combine)(int *, void *, void *, int *, int *), void *data, int count, int type, int msgtag,
               char *group, int root) {
    struct collective c;
    int result = begin(&c, "reduce", REDUCE, count, type, msgtag, group, root);
    if (result < 0) return result;
    if (c.me != c.root) return end(&c, give(&c, c.root, data));
    /* In order of instance, so that sums come out the same always. */
    char *sum = malloc((size_t)c.size + 1), *part = malloc((size_t)c.size + 1);
    if (!sum || !part) result = stub_result("reduce", PvmNoMem);
    for (int i = 0; i < c.count && result >= 0; i++) {
        void *at = i == 0 ? sum : part;
        if (i == c.root)
            memcpy(at, data, (size_t)c.size);
        else
            result = receive(&c, i, at);
        if (i > 0 && result >= 0) {
            int info = PvmOk;
            combine(&type, sum, part, &count, &info);
            if (info < 0) result = stub_result("reduce", info);
        }
    }
    if (result >= 0) memcpy(data, sum, (size_t)c.size);
    free(sum), free(part);
    return end(&c, result);
}

int pvm_gather(void *into, void *data, int count, int type, int msgtag, char *group, int root) {
    struct collective c;
    int result = begin(&c, "gather", GATHER, count, type, msgtag, group, root);
    if (result < 0) return result;
    if (c.me != c.root) return end(&c, give(&c, c.root, data));
    for (int i = 0; i < c.count && result >= 0; i++) {
        char *at = (char *)into + (size_t)i * (size_t)c.size;
        if (i == c.root)
            memmove(at, data, (size_t)c.size);
        else
            result = receive(&c, i, at);
    }
    return end(&c, result);
}

int pvm_scatter(void *into, void *data, int count, int type, int msgtag, char *group, int root) {
    struct collective c;
    int result = begin(&c, "scatter", SCATTER, count, type, msgtag, group, root);
    if (result < 0) return result;
    if (c.me != c.root) return end(&c, receive(&c, c.root, into));
    for (int i = 0; i < c.count && result >= 0; i++) {
        char *at = (char *)data + (size_t)i * (size_t)c.size;
        if (i == c.root)
            memmove(into, at, (size_t)c.size);
        else
            result = give(&c, i, at);
    }
    return end(&c, result);
}

/* ---- functions for pvm_reduce */

#define EACH(type, step) \
    { \
        type *x = into, *y = data; \
        for (int i = 0; i < *count; i++) step; \
    } \
    break

#define NUMBERS(step) \
    case PVM_BYTE: EACH(char, step); \
    case PVM_SHORT: EACH(short, step); \
    case PVM_USHORT: EACH(unsigned short, step); \
    case PVM_INT: EACH(int, step); \
    case PVM_UINT: EACH(unsigned, step); \
    case PVM_LONG: EACH(long, step); \
    case PVM_ULONG: EACH(unsigned long, step); \
    case PVM_FLOAT: EACH(float, step); \
    case PVM_DOUBLE: EACH(double, step)

#define COMPLEX(step) \
    case PVM_CPLX: EACH(struct { float re; float im; }, step); \
    case PVM_DCPLX: EACH(struct { double re; double im; }, step)

#define SQUARE(z) ((double)(z).re * (z).re + (double)(z).im * (z).im)

void PvmMax(int *type, void *into, void *data, int *count, int *info) {
    *info = PvmOk;
    switch (*type) {
        NUMBERS(x[i] = x[i] > y[i] ? x[i] : y[i]);
        COMPLEX(if (SQUARE(y[i]) > SQUARE(x[i])) (x[i].re = y[i].re, x[i].im = y[i].im));
    default: *info = PvmBadParam;
    }
}

void PvmMin(int *type, void *into, void *data, int *count, int *info) {
    *info = PvmOk;
    switch (*type) {
        NUMBERS(x[i] = x[i] < y[i] ? x[i] : y[i]);
        COMPLEX(if (SQUARE(y[i]) < SQUARE(x[i])) (x[i].re = y[i].re, x[i].im = y[i].im));
    default: *info = PvmBadParam;
    }
}

void PvmSum(int *type, void *into, void *data, int *count, int *info) {
    *info = PvmOk;
    switch (*type) {
        NUMBERS(x[i] += y[i]);
        COMPLEX((x[i].re += y[i].re, x[i].im += y[i].im));
    default: *info = PvmBadParam;
    }
}

/* The real part of a product, which the imaginary part still needs. */
#define PRODUCT_REAL(x, y) ((x).re * (y).re - (x).im * (y).im)
#define PRODUCT_IMAGINARY(x, y) ((x).re * (y).im + (x).im * (y).re)

void PvmProduct(int *type, void *into, void *data, int *count, int *info) {
    *info = PvmOk;
    switch (*type) {
        NUMBERS(x[i] *= y[i]);
        COMPLEX({
            double re = PRODUCT_REAL(x[i], y[i]);
            x[i].im = PRODUCT_IMAGINARY(x[i], y[i]);
            x[i].re = re;
        });
    default: *info = PvmBadParam;
    }
}
