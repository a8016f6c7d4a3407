#include "links.h"

#include <pvm3.h>
#include <stdlib.h>

#define TAG 2

struct cg_links {
    const struct nas_job *job;
    int n, *others; /* tasks, from the next node on */
    double *vector;
};

static int first(const struct cg_links *links, int node) {
    return links->n * node / links->job->nodes;
}

struct cg_links *cg_open(const struct nas_job *job, int n) {
    struct cg_links *links = nas_memory(1, sizeof *links);
    links->job = job;
    links->n = n;
    links->vector = nas_memory(n, sizeof(double));
    links->others = nas_memory(job->nodes, sizeof(int));
    for (int i = 1; i < job->nodes; i++) links->others[i - 1] = job->tasks[(job->node + i) % job->nodes];
    return links;
}

double *cg_vector(struct cg_links *links) {
    return links->vector;
}

void cg_gather(struct cg_links *links) {
    const int me = links->job->node, nodes = links->job->nodes;
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(links->vector + first(links, me), first(links, me + 1) - first(links, me), 1);
    pvm_mcast(links->others, nodes - 1, TAG);
    for (int i = 1; i < nodes; i++) {
        const int from = (me + nodes - i) % nodes;
        pvm_recv(links->job->tasks[from], TAG);
        pvm_upkdouble(links->vector + first(links, from), first(links, from + 1) - first(links, from), 1);
    }
}

void cg_close(struct cg_links *links) {
    free(links->vector), free(links->others);
    free(links);
}
