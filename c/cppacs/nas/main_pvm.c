/* nas-pvm KERNEL CLASS NODES [US]: the kernel on so many tasks; computing takes US on one node. */
#include "nas.h"

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG_TASKS 0

void nas_compute(double us) {
    CPcompute(us);
}

/* Starts the others with the same arguments, and tells all who they are. */
static int start(int nodes, char **argv, int *tasks) {
    tasks[0] = pvm_mytid();
    if (nodes > 1 && pvm_spawn(argv[0], argv + 1, PvmTaskDefault, "", nodes - 1, tasks + 1) < nodes - 1) return 0;
    pvm_initsend(PvmDataRaw);
    pvm_pkint(tasks, nodes, 1);
    pvm_mcast(tasks + 1, nodes - 1, TAG_TASKS);
    return 1;
}

int main(int argc, char **argv) {
    struct nas_result result = {0, {0}};
    const int nodes = argc > 3 ? atoi(argv[3]) : 0, parent = pvm_parent();
    struct nas_job job = {argc > 3 ? argv[2][0] : 0, 0, nodes, NULL, argc > 4 ? atof(argv[4]) : 0};
    const char *refused = argc > 3 ? nas_refuses(argv[1], job.class, nodes) : "usage: nas-pvm KERNEL CLASS NODES [US]";
    if (refused) {
        fprintf(stderr, "%s\n", refused);
        pvm_exit();
        return 2;
    }
    int *tasks = nas_memory(nodes, sizeof *tasks), wrong = 0;
    if (parent < 0) {
        if (!start(nodes, argv, tasks)) {
            fprintf(stderr, "there are no %d nodes for it\n", nodes);
            pvm_exit();
            return 1;
        }
    } else {
        pvm_recv(parent, TAG_TASKS);
        pvm_upkint(tasks, nodes, 1);
    }
    while (tasks[job.node] != pvm_mytid()) job.node++;
    job.tasks = tasks;
    struct timeval from, to;
    gettimeofday(&from, NULL);
    nas_find(argv[1])(&job, &result);
    gettimeofday(&to, NULL);
    if (job.node == 0) {
        wrong = nas_verify(argv[1], job.class, &result);
        printf("%.6f s\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) / 1e6);
    }
    pvm_exit();
    free(tasks);
    return wrong;
}
