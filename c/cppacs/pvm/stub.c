/* The connection to the simulator, time, and errors. A task is a process, so these variables are the task's own. */
#include "stub.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int connection = -1, last_error;
static unsigned char *received;
static size_t received_room;
static int options[PvmNoReset + 1] = {[PvmRoute] = PvmAllowDirect, [PvmAutoErr] = 1, [PvmFragSize] = 32768};

/* Variable that debugging programs of PVM set. */
int pvmdebmask;

static void lost(void) {
    exit(1); /* the simulator has said why, or is gone */
}

static void put(const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = send(connection, bytes, length, MSG_NOSIGNAL);
        if (n <= 0) lost();
        bytes = (const char *)bytes + n;
        length -= (size_t)n;
    }
}

static void get(void *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = read(connection, bytes, length);
        if (n <= 0) lost();
        bytes = (char *)bytes + n;
        length -= (size_t)n;
    }
}

static void open_connection(void) {
    const char *path = getenv("CPPACS_PVM"), *node = getenv("CPPACS_NODE");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || !node || strlen(path) >= sizeof address.sun_path) {
        fprintf(stderr, "a program of PVM is started by cppacs-pvm\n");
        exit(2);
    }
    strcpy(address.sun_path, path);
    connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address)) lost();
}

int stub_call(enum call call, int n, int a, int b, const void *bytes, size_t length, struct answer *answer) {
    uint32_t head[4] = {(uint32_t)(4 + 4 * n + length), call, (uint32_t)a, (uint32_t)b}, answered;
    int32_t result;
    if (connection < 0) open_connection();
    put(head, 8 + 4 * (size_t)n);
    put(bytes, length);
    get(&answered, 4);
    get(&result, 4);
    answered -= 4;
    if (answered > received_room) {
        free(received);
        received = malloc(received_room = answered);
        if (!received) lost();
    }
    get(received, answered);
    if (answer) *answer = (struct answer){answered, received};
    return result;
}

int CPcompute(double us) {
    return stub_call(COMPUTE, 0, 0, 0, &us, sizeof us, NULL);
}

void pvmsleep(int seconds) {
    CPcompute(seconds * 1e6);
}

static uint64_t picoseconds(void) {
    struct answer answer;
    uint64_t now = 0;
    stub_call(NOW, 0, 0, 0, NULL, 0, &answer);
    memcpy(&now, answer.bytes, sizeof now);
    return now;
}

/* Before libc's. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
    uint64_t us = picoseconds() / 1000000;
    (void)zone;
    tv->tv_sec = (time_t)(us / 1000000);
    tv->tv_usec = (suseconds_t)(us % 1000000);
    return 0;
}

/* Programs of PVM that measure call it. */
void pvmgetclock(struct timeval *tv) {
    gettimeofday(tv, NULL);
}

time_t time(time_t *at) {
    time_t now = (time_t)(picoseconds() / 1000000000000);
    if (at) *at = now;
    return now;
}

/* ---- errors */

char *pvm_strerror(int error) {
    static const struct {
        int error;
        char *text;
    } TEXTS[] = {
        {PvmOk, "no error"},
        {PvmBadParam, "bad parameter"},
        {PvmMismatch, "parameters do not match"},
        {PvmOverflow, "value too large"},
        {PvmNoData, "end of the message"},
        {PvmNoHost, "no node is free"},
        {PvmNoFile, "no such program"},
        {PvmDenied, "not permitted"},
        {PvmNoMem, "no memory"},
        {PvmBadMsg, "message cannot be decoded"},
        {PvmSysErr, "error of the system"},
        {PvmNoBuf, "no current buffer"},
        {PvmNoSuchBuf, "no such buffer"},
        {PvmNullGroup, "no name of a group"},
        {PvmDupGroup, "in the group already"},
        {PvmNoGroup, "no such group"},
        {PvmNotInGroup, "not in the group"},
        {PvmNoInst, "no such instance"},
        {PvmNoParent, "no parent"},
        {PvmNotImpl, "not on this machine"},
        {PvmNoTask, "no such task"},
        {PvmNotFound, "not found"},
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        if (TEXTS[i].error == error) return TEXTS[i].text;
    return "unknown error";
}

int stub_result(const char *name, int result) {
    if (result < 0) {
        last_error = result;
        if (options[PvmAutoErr])
            fprintf(stderr, "libpvm [t%x]: pvm_%s(): %s\n", pvm_mytid(), name, pvm_strerror(result));
    }
    return result;
}

/* Programs of PVM report by it. */
int lpvmerr(const char *text, int error) {
    last_error = error;
    fprintf(stderr, "libpvm [t%x]: %s: %s\n", pvm_mytid(), text, pvm_strerror(error));
    return error;
}

int pvm_perror(char *text) {
    fprintf(stderr, "%s: %s\n", text ? text : "libpvm", pvm_strerror(last_error));
    return PvmOk;
}

int pvm_getopt(int what) {
    return what < PvmRoute || what > PvmNoReset ? stub_result("getopt", PvmBadParam) : options[what];
}

int pvm_setopt(int what, int value) {
    int before = pvm_getopt(what);
    if (what >= PvmRoute && what <= PvmNoReset) options[what] = value;
    return before;
}

/* ---- what there is not */

static int not_there(const char *name) {
    fprintf(stderr, "libpvm: pvm_%s is not on this machine\n", name);
    return last_error = PvmNotImpl;
}

#define NOT_THERE(name, ...) \
    int pvm_##name(__VA_ARGS__) { \
        static int said; \
        return said ? PvmNotImpl : (said = 1, not_there(#name)); \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

NOT_THERE(addhosts, char **hosts, int nhost, int *infos)
NOT_THERE(delhosts, char **hosts, int nhost, int *infos)
NOT_THERE(halt, void)
NOT_THERE(start_pvmd, int argc, char **argv, int block)
NOT_THERE(mstat, char *host)
NOT_THERE(hostsync, int host, struct timeval *clock, struct timeval *delta)
NOT_THERE(addmhf, int src, int tag, int context, int (*handler)(int))
NOT_THERE(delmhf, int id)
NOT_THERE(newcontext, void)
NOT_THERE(setcontext, int context)
NOT_THERE(freecontext, int context)
NOT_THERE(putinfo, char *name, int bufid, int flags)
NOT_THERE(recvinfo, char *name, int index, int flags)
NOT_THERE(delinfo, char *name, int index, int flags)
NOT_THERE(getmboxinfo, char *pattern, int *nclass, struct pvmmboxinfo **classes)
NOT_THERE(insert, char *name, int index, int data)
NOT_THERE(lookup, char *name, int index, int *data)
NOT_THERE(delete, char *name, int index)
NOT_THERE(notify, int what, int msgtag, int count, int *tids)
NOT_THERE(sendsig, int tid, int signal)
NOT_THERE(export, char *name)
NOT_THERE(unexport, char *name)
NOT_THERE(getfds, int **fds)
NOT_THERE(getminfo, int bufid, struct pvmminfo *info)
NOT_THERE(setminfo, int bufid, struct pvmminfo *info)
NOT_THERE(getmwid, int bufid)
NOT_THERE(setmwid, int bufid, int wid)
NOT_THERE(getnoresets, int **tids, int *count)
NOT_THERE(pkmesg, int bufid)
NOT_THERE(pkmesgbody, int bufid)
NOT_THERE(upkmesg, void)
NOT_THERE(reg_hoster, void)
NOT_THERE(reg_rm, struct pvmhostinfo **hosts)
NOT_THERE(reg_tasker, void)
NOT_THERE(reg_tracer, int tctx, int ttag, int octx, int otag, char *mask, int bufsize, int flags)
NOT_THERE(tickle, int narg, int *args, int *nresult, int *results)
NOT_THERE(gettmask, int who, char *mask)
NOT_THERE(settmask, int who, char *mask)

int (*pvm_recvf(int (*match)(int, int, int)))(int, int, int) {
    not_there("recvf");
    return NULL;
}
