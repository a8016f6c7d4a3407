#include "rdma.h"

#include <stdlib.h>

#define NAME "cg"

/*
 * Two vectors take turns. Another node writes into the one that was gathered before only when it has got this node's
 * part of the one after; and by then this node has done with it.
 */
struct cg_links {
    const struct nas_job *job;
    int n, next, field[2];
    int *right[2]; /* by node */
    double *vector[2];
};

static int first(const struct cg_links *links, int node) {
    return links->n * node / links->job->nodes;
}

struct cg_links *cg_open(const struct nas_job *job, int n) {
    struct cg_links *links = nas_memory(1, sizeof *links);
    const uint64_t bytes = n * sizeof(double);
    links->job = job;
    links->n = n;
    links->vector[0] = nas_object(NAME, 2 * bytes);
    links->vector[1] = links->vector[0] + n;
    for (int i = 0; i < 2; i++) {
        links->field[i] = nas_done(CPfield_create(links->vector[i], bytes, i, CP_WRITE));
        links->right[i] = nas_memory(job->nodes, sizeof(int));
    }
    for (int i = 0; i < 2; i++)
        for (int node = 0; node < job->nodes; node++)
            if (node != job->node) links->right[i][node] = nas_done(CPright_get(node, NAME, i, NAS_WAIT));
    return links;
}

double *cg_vector(struct cg_links *links) {
    return links->vector[links->next];
}

void cg_gather(struct cg_links *links) {
    const int me = links->job->node, nodes = links->job->nodes, now = links->next;
    const uint64_t offset = first(links, me) * sizeof(double), end = first(links, me + 1) * sizeof(double);
    for (int i = 1; i < nodes; i++) {
        const int right = links->right[now][(me + i) % nodes];
        nas_done(CPsend(links->vector[now] + first(links, me), end - offset, right, offset, CP_FLAG));
    }
    nas_done(CPwait(links->field[now], nodes - 1, NAS_WAIT));
    links->next = !now;
}

void cg_close(struct cg_links *links) {
    free(links->right[0]), free(links->right[1]);
    free(links);
}
