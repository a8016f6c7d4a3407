/* Tasks, and what the machine says of itself. */
#include "stub.h"

#include <stdlib.h>
#include <string.h>

static int mytid, parent, catches;
static FILE *caught;

static void hello(void) {
    struct answer answer;
    if (mytid) return;
    int tid = stub_call(HELLO, 1, atoi(getenv("CPPACS_NODE") ? getenv("CPPACS_NODE") : "0"), 0, NULL, 0, &answer);
    memcpy(&parent, answer.bytes, sizeof parent);
    mytid = tid;
}

int pvm_mytid(void) {
    hello();
    return mytid;
}

int pvm_parent(void) {
    hello();
    return parent; /* that there is none is no error to print */
}

int pvm_exit(void) {
    struct answer answer;
    int result = stub_call(EXIT, 1, catches, 0, NULL, 0, &answer);
    if (catches && answer.length > 0) fwrite(answer.bytes, 1, answer.length, caught), fflush(caught);
    return stub_result("exit", result);
}

int pvm_catchout(FILE *to) {
    catches = to != NULL;
    caught = to;
    return catches ? stub_result("catchout", stub_call(CATCH, 0, 0, 0, NULL, 0, NULL)) : PvmOk;
}

/* The numbers of an answer, in memory of their own. */
static int *numbers(int count, const struct answer *answer) {
    int *list = malloc((size_t)(count + 1) * sizeof *list);
    if (list) memcpy(list, answer->bytes, (size_t)count * sizeof *list);
    return list;
}

int pvm_siblings(int **tids) {
    static int *list;
    struct answer answer;
    int count = stub_call(SIBLINGS, 0, 0, 0, NULL, 0, &answer);
    if (count > 0 && tids) {
        free(list);
        *tids = list = numbers(count, &answer);
    }
    return count;
}

int pvm_spawn(char *task, char **argv, int flag, char *where, int ntask, int *tids) {
    struct answer answer;
    char words[4096];
    size_t length = 0;
    (void)flag, (void)where;
    if (!task || ntask < 1) return stub_result("spawn", PvmBadParam);
    for (char *word = task; word; word = argv ? *argv++ : NULL) {
        size_t bytes = strlen(word) + 1;
        if (length + bytes > sizeof words) return stub_result("spawn", PvmOverflow);
        memcpy(words + length, word, bytes);
        length += bytes;
    }
    fflush(NULL);
    int started = stub_call(SPAWN, 1, ntask, 0, words, length, &answer);
    if (tids && answer.length == (uint32_t)ntask * sizeof *tids) memcpy(tids, answer.bytes, answer.length);
    return stub_result("spawn", started);
}

int pvm_kill(int tid) {
    return stub_result("kill", stub_call(KILL, 1, tid, 0, NULL, 0, NULL));
}

int pvm_pstat(int tid) {
    return stub_call(THERE, 1, tid, 0, NULL, 0, NULL);
}

#define HOST 0x40000

int pvm_tidtohost(int tid) {
    return tid > HOST ? HOST : stub_result("tidtohost", PvmBadParam);
}

int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hosts) {
    static struct pvmhostinfo host = {HOST, "cppacs", "CPPACS", 1000, 1};
    if (nhost) *nhost = 1;
    if (narch) *narch = 1;
    if (hosts) *hosts = &host;
    return PvmOk;
}

int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **tasks) {
    static struct pvmtaskinfo *list;
    static char *kept;
    struct answer answer;
    int count = stub_call(TASKS, 0, 0, 0, NULL, 0, &answer), found = 0;
    free(list), free(kept);
    list = calloc((size_t)count + 1, sizeof *list);
    kept = malloc(answer.length + 1);
    if (!list || !kept) return stub_result("tasks", PvmNoMem);
    memcpy(kept, answer.bytes, answer.length);
    char *at = kept;
    for (int i = 0; i < count; i++) {
        struct pvmtaskinfo info = {.ti_host = HOST, .ti_flag = 4}; /* it runs */
        memcpy(&info.ti_tid, at, sizeof(int));
        memcpy(&info.ti_ptid, at + sizeof(int), sizeof(int));
        info.ti_a_out = at + 2 * sizeof(int);
        at = info.ti_a_out + strlen(info.ti_a_out) + 1;
        if (where == 0 || where == HOST || where == info.ti_tid) list[found++] = info;
    }
    if (ntask) *ntask = found;
    if (tasks) *tasks = list;
    return found == 0 && where ? stub_result("tasks", PvmNoTask) : PvmOk;
}

int pvm_archcode(char *arch) {
    return arch ? 1 : stub_result("archcode", PvmBadParam);
}

int pvm_getcontext(void) {
    return PvmBaseContext;
}

char *pvm_version(void) {
    return PVM_VER;
}
