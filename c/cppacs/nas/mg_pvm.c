#include "links.h"

#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#define TAG_LOW 4 /* towards the lower neighbour */
#define TAG_HIGH 5
#define TAG_GATHER 6

struct mg_links {
    const struct nas_job *job;
    int shape[3], largest_face;
    double *faces, *came, *blocks;
};

struct mg_links *mg_open(const struct nas_job *job, const int shape[3], int largest_face, int largest_block) {
    struct mg_links *links = nas_memory(1, sizeof *links);
    links->job = job;
    memcpy(links->shape, shape, sizeof links->shape);
    links->largest_face = largest_face;
    links->faces = nas_memory(2 * (uint64_t)largest_face, sizeof(double));
    links->came = nas_memory(2 * (uint64_t)largest_face, sizeof(double));
    links->blocks = nas_memory((uint64_t)job->nodes * largest_block, sizeof(double));
    return links;
}

double *mg_face(struct mg_links *links, int axis, int side) {
    (void)axis;
    return links->faces + side * links->largest_face;
}

void mg_faces(struct mg_links *links, int axis, int count, const double *came[2]) {
    const int *tasks = links->job->tasks;
    const int lower = tasks[mg_neighbour(links->job, links->shape, axis, 0)];
    const int higher = tasks[mg_neighbour(links->job, links->shape, axis, 1)];
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(mg_face(links, axis, 0), count, 1);
    pvm_send(lower, TAG_LOW);
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(mg_face(links, axis, 1), count, 1);
    pvm_send(higher, TAG_HIGH);
    pvm_recv(lower, TAG_HIGH);
    pvm_upkdouble(links->came, count, 1);
    pvm_recv(higher, TAG_LOW);
    pvm_upkdouble(links->came + links->largest_face, count, 1);
    came[0] = links->came;
    came[1] = links->came + links->largest_face;
}

double *mg_blocks(struct mg_links *links) {
    return links->blocks;
}

/* Each exchange doubles the blocks that a node has. */
void mg_gather(struct mg_links *links, int count) {
    const int me = links->job->node;
    for (int bit = 1; bit < links->job->nodes; bit *= 2) {
        const int mine = me & -bit, theirs = mine ^ bit, partner = links->job->tasks[me ^ bit];
        pvm_initsend(PvmDataRaw);
        pvm_pkdouble(links->blocks + (long)mine * count, bit * count, 1);
        pvm_send(partner, TAG_GATHER);
        pvm_recv(partner, TAG_GATHER);
        pvm_upkdouble(links->blocks + (long)theirs * count, bit * count, 1);
    }
}

void mg_close(struct mg_links *links) {
    free(links->faces), free(links->came), free(links->blocks);
    free(links);
}
