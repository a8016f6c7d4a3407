/* nas-rdma KERNEL CLASS X Y Z [US]: the kernel on a grid of nodes; computing takes US on one node. */
#include "rdma.h"

#include <stdio.h>
#include <stdlib.h>

struct run {
    const char *kernel;
    struct nas_job job;
    struct nas_result result; /* of node 0 */
    double us;
};

void nas_compute(double us) {
    nas_done(CPcompute(us));
}

int nas_done(int result) {
    if (result < 0) {
        fprintf(stderr, "node %d: %s\n", CPnode(), CPerror());
        exit(1);
    }
    return result;
}

void *nas_object(const char *name, uint64_t bytes) {
    void *at = CPobject(name, bytes);
    if (!at) nas_done(CP_MEMORY);
    return at;
}

static void program(void *arg) {
    struct run *run = arg;
    struct nas_job job = run->job;
    struct nas_result result = {0, {0}};
    const double start = CPtime();
    job.node = CPnode();
    nas_find(run->kernel)(&job, &result);
    if (job.node > 0) return;
    run->result = result;
    run->us = CPtime() - start;
}

int main(int argc, char **argv) {
    const int x = argc > 5 ? atoi(argv[3]) : 0, y = argc > 5 ? atoi(argv[4]) : 0, z = argc > 5 ? atoi(argv[5]) : 0;
    struct run run = {.kernel = argc > 5 ? argv[1] : NULL};
    const char *refused = "usage: nas-rdma KERNEL CLASS X Y Z [US]";
    if (argc > 5) {
        run.job = (struct nas_job){argv[2][0], 0, x * y * z, NULL, argc > 6 ? atof(argv[6]) : 0};
        refused = nas_refuses(argv[1], run.job.class, run.job.nodes);
    }
    if (refused) {
        fprintf(stderr, "%s\n", refused);
        return 2;
    }
    if (CPlimit(1e12) < 0 || CPrun(x, y, z, program, &run) < 0) {
        fprintf(stderr, "%s\n", CPerror());
        return 1;
    }
    int wrong = nas_verify(run.kernel, run.job.class, &run.result);
    printf("%.6f s\n", run.us / 1e6);
    return wrong;
}
