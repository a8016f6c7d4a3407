/* Buffers, packing, messages. */
#include "stub.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers */

int pvm_initsend(int encoding) {
    (void)encoding;
    return stub_result("initsend", stub_call(INITSEND, 0, 0, 0, NULL, 0, NULL));
}

int pvm_mkbuf(int encoding) {
    (void)encoding;
    return stub_result("mkbuf", stub_call(MKBUF, 0, 0, 0, NULL, 0, NULL));
}

int pvm_freebuf(int bufid) {
    return stub_result("freebuf", stub_call(FREEBUF, 1, bufid, 0, NULL, 0, NULL));
}

int pvm_getsbuf(void) {
    return stub_call(ACTIVE, 1, 1, 0, NULL, 0, NULL);
}

int pvm_getrbuf(void) {
    return stub_call(ACTIVE, 1, 0, 0, NULL, 0, NULL);
}

int pvm_setsbuf(int bufid) {
    return stub_result("setsbuf", stub_call(ACTIVATE, 2, 1, bufid, NULL, 0, NULL));
}

int pvm_setrbuf(int bufid) {
    return stub_result("setrbuf", stub_call(ACTIVATE, 2, 0, bufid, NULL, 0, NULL));
}

int pvm_bufinfo(int bufid, int *bytes, int *msgtag, int *tid) {
    struct answer answer;
    int result = stub_call(BUFINFO, 1, bufid, 0, NULL, 0, &answer), info[3];
    if (result == PvmOk) {
        memcpy(info, answer.bytes, sizeof info);
        if (bytes) *bytes = info[0];
        if (msgtag) *msgtag = info[1];
        if (tid) *tid = info[2];
    }
    return stub_result("bufinfo", result);
}

/* ---- packing */

static int pack(const char *name, const char *items, int nitem, int stride, size_t size) {
    if (nitem < 0 || (!items && nitem > 0)) return stub_result(name, PvmBadParam);
    const size_t bytes = (size_t)nitem * size;
    const int apart = stride != 1 && nitem > 1;
    char *list = NULL;
    if (apart) {
        list = malloc(bytes);
        if (!list) return stub_result(name, PvmNoMem);
        for (int i = 0; i < nitem; i++) memcpy(list + (size_t)i * size, items + (long)i * stride * (long)size, size);
    }
    int result = stub_call(PACK, 1, apart, 0, apart ? list : items, bytes, NULL);
    free(list);
    return stub_result(name, result);
}

static int unpack(const char *name, char *items, int nitem, int stride, size_t size) {
    struct answer answer;
    if (nitem < 0 || (!items && nitem > 0)) return stub_result(name, PvmBadParam);
    const int apart = stride != 1 && nitem > 1;
    int result = stub_call(UNPACK, 2, (int)((size_t)nitem * size), apart, NULL, 0, &answer);
    if (result == PvmOk && !apart && nitem > 0) memcpy(items, answer.bytes, answer.length);
    for (int i = 0; result == PvmOk && apart && i < nitem; i++)
        memcpy(items + (long)i * stride * (long)size, answer.bytes + (size_t)i * size, size);
    return stub_result(name, result);
}

#define PACKS(name, type, numbers) \
    int pvm_pk##name(type *p, int nitem, int stride) { \
        return pack("pk" #name, (const char *)p, nitem, stride, numbers * sizeof(type)); \
    } \
    int pvm_upk##name(type *p, int nitem, int stride) { \
        return unpack("upk" #name, (char *)p, nitem, stride, numbers * sizeof(type)); \
    }

PACKS(byte, char, 1)
PACKS(short, short, 1)
PACKS(ushort, unsigned short, 1)
PACKS(int, int, 1)
PACKS(uint, unsigned, 1)
PACKS(long, long, 1)
PACKS(ulong, unsigned long, 1)
PACKS(float, float, 1)
PACKS(double, double, 1)
PACKS(cplx, float, 2)
PACKS(dcplx, double, 2)

int pvm_pkstr(char *s) {
    if (!s) return stub_result("pkstr", PvmBadParam);
    int length = (int)strlen(s) + 1, result = pack("pkstr", (char *)&length, 1, 1, sizeof length);
    return result < 0 ? result : pack("pkstr", s, length, 1, 1);
}

int pvm_upkstr(char *s) {
    struct answer answer;
    if (!s) return stub_result("upkstr", PvmBadParam);
    int result = stub_call(UNPACK_STRING, 0, 0, 0, NULL, 0, &answer);
    if (result == PvmOk) memcpy(s, answer.bytes, answer.length);
    return stub_result("upkstr", result);
}

/* One of the items of a format: %[*|n][.*|.n][hlu]c|d|f|x|y|s, or %+ with an encoding. */
struct item {
    int count, stride, count_given, stride_given; /* -1 as given: an argument */
    int is_short, is_long, is_unsigned;
    char kind;
};

static const char *parse(const char *at, struct item *item) {
    *item = (struct item){.count = 1, .stride = 1};
    if (*at == '*') item->count_given = -1, at++;
    else if (*at >= '0' && *at <= '9') item->count = (int)strtol(at, (char **)&at, 10), item->count_given = 1;
    if (*at == '.') {
        at++;
        if (*at == '*') item->stride_given = -1, at++;
        else item->stride = (int)strtol(at, (char **)&at, 10);
    }
    for (; *at && strchr("hlu", *at); at++) {
        item->is_short |= *at == 'h';
        item->is_long |= *at == 'l';
        item->is_unsigned |= *at == 'u';
    }
    item->kind = *at;
    return *at ? at + 1 : at;
}

/* The size of an item; 0: there is no such kind. */
static size_t size_of(const struct item *item) {
    switch (item->kind) {
    case 'c': return 1;
    case 'd': return item->is_short ? sizeof(short) : item->is_long ? sizeof(long) : sizeof(int);
    case 'f': return item->is_long ? sizeof(double) : sizeof(float);
    case 'x': return 2 * sizeof(float);
    case 'y': return 2 * sizeof(double);
    default: return 0;
    }
}

/* A single number comes by value, several behind a pointer. */
static int pack_item(const struct item *item, va_list *args) {
    size_t size = size_of(item);
    if (item->kind == 's') return pvm_pkstr(va_arg(*args, char *));
    if (size == 0) return stub_result("packf", PvmBadParam);
    if (item->count_given || item->kind == 'x' || item->kind == 'y')
        return pack("packf", va_arg(*args, char *), item->count, item->stride, size);
    if (item->kind == 'f') {
        double number = va_arg(*args, double);
        float narrow = (float)number;
        return pack("packf", item->is_long ? (char *)&number : (char *)&narrow, 1, 1, size);
    }
    if (item->is_long) {
        long number = va_arg(*args, long);
        return pack("packf", (char *)&number, 1, 1, size);
    }
    int number = va_arg(*args, int);
    short narrow = (short)number;
    char byte = (char)number;
    return pack("packf", item->kind == 'c' ? &byte : item->is_short ? (char *)&narrow : (char *)&number, 1, 1, size);
}

static int walk(const char *format, va_list *args, int packs) {
    int result = PvmOk;
    if (!format) return stub_result(packs ? "packf" : "unpackf", PvmBadParam);
    while (*format && result >= 0) {
        struct item item;
        if (*format++ != '%') continue;
        if (*format == '+') {
            format++;
            int encoding = va_arg(*args, int);
            if (packs) result = pvm_initsend(encoding);
            continue;
        }
        format = parse(format, &item);
        if (item.count_given < 0) item.count = va_arg(*args, int);
        if (item.stride_given < 0) item.stride = va_arg(*args, int);
        if (packs)
            result = pack_item(&item, args);
        else if (item.kind == 's')
            result = pvm_upkstr(va_arg(*args, char *));
        else if (size_of(&item))
            result = unpack("unpackf", va_arg(*args, char *), item.count, item.stride, size_of(&item));
        else
            result = stub_result("unpackf", PvmBadParam);
    }
    return result < 0 ? result : PvmOk;
}

int pvm_packf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int result = walk(format, &args, 1);
    va_end(args);
    return result;
}

int pvm_unpackf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int result = walk(format, &args, 0);
    va_end(args);
    return result;
}

/* ---- messages */

int pvm_send(int tid, int msgtag) {
    return stub_result("send", stub_call(MCAST, 1, msgtag, 0, &tid, sizeof tid, NULL));
}

int pvm_mcast(int *tids, int ntask, int msgtag) {
    if (ntask < 0 || (!tids && ntask > 0)) return stub_result("mcast", PvmBadParam);
    return stub_result("mcast", stub_call(MCAST, 1, msgtag, 0, tids, (size_t)ntask * sizeof *tids, NULL));
}

int pvm_recv(int tid, int msgtag) {
    return stub_result("recv", stub_call(RECV, 2, tid, msgtag, NULL, 0, NULL));
}

int pvm_nrecv(int tid, int msgtag) {
    return stub_result("nrecv", stub_call(NRECV, 2, tid, msgtag, NULL, 0, NULL));
}

int pvm_probe(int tid, int msgtag) {
    return stub_result("probe", stub_call(PROBE, 2, tid, msgtag, NULL, 0, NULL));
}

int pvm_trecv(int tid, int msgtag, struct timeval *wait) {
    if (!wait) return pvm_recv(tid, msgtag);
    double us = (double)wait->tv_sec * 1e6 + (double)wait->tv_usec;
    return stub_result("trecv", stub_call(TRECV, 2, tid, msgtag, &us, sizeof us, NULL));
}

int stub_item(int type) {
    static const unsigned char SIZES[] = {
        [PVM_STR] = 1, [PVM_BYTE] = 1, [PVM_SHORT] = sizeof(short), [PVM_INT] = sizeof(int),
        [PVM_FLOAT] = sizeof(float), [PVM_CPLX] = 2 * sizeof(float), [PVM_DOUBLE] = sizeof(double),
        [PVM_DCPLX] = 2 * sizeof(double), [PVM_LONG] = sizeof(long), [PVM_USHORT] = sizeof(short),
        [PVM_UINT] = sizeof(int), [PVM_ULONG] = sizeof(long),
    };
    return type < PVM_STR || type > PVM_ULONG ? PvmBadParam : SIZES[type];
}

int pvm_psend(int tid, int msgtag, void *p, int count, int type) {
    int size = stub_item(type);
    if (size < 0) return stub_result("psend", PvmBadParam);
    int buffer = pvm_mkbuf(PvmDataRaw), before = pvm_setsbuf(buffer);
    int result = pack("psend", p, count, 1, (size_t)size);
    if (result >= 0) result = pvm_send(tid, msgtag);
    pvm_setsbuf(before);
    pvm_freebuf(buffer);
    return result;
}

int pvm_precv(int tid, int msgtag, void *p, int count, int type, int *from, int *tag, int *length) {
    int size = stub_item(type), bytes;
    if (size < 0 || count < 0) return stub_result("precv", PvmBadParam);
    int before = pvm_setrbuf(0), buffer = pvm_recv(tid, msgtag);
    if (buffer < 0) return buffer;
    pvm_bufinfo(buffer, &bytes, tag, from);
    if (length) *length = bytes;
    int wanted = count * size < bytes ? count * size : bytes;
    int result = unpack("precv", p, wanted, 1, 1);
    pvm_freebuf(buffer);
    pvm_setrbuf(before);
    return result;
}
