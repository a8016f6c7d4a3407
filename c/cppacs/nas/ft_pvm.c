#include "links.h"

#include <pvm3.h>
#include <stdlib.h>

#define TAG 3

struct ft_links {
    const struct nas_job *job;
    int block;
    double *blocks;
};

struct ft_links *ft_open(const struct nas_job *job, int block) {
    struct ft_links *links = nas_memory(1, sizeof *links);
    links->job = job;
    links->block = block;
    links->blocks = nas_memory((uint64_t)job->nodes * block, sizeof(double));
    return links;
}

double *ft_blocks(struct ft_links *links) {
    return links->blocks;
}

/* A butterfly: for each bit of the numbers, two nodes exchange the blocks whose bit is the other's. */
void ft_transpose(struct ft_links *links) {
    const int me = links->job->node, nodes = links->job->nodes;
    for (int bit = 1; bit < nodes; bit *= 2) {
        const int partner = links->job->tasks[me ^ bit], run = bit * links->block;
        double *theirs = links->blocks + (long)(~me & bit) * links->block;
        pvm_initsend(PvmDataRaw);
        for (int k = 0; k < nodes / (2 * bit); k++) pvm_pkdouble(theirs + 2L * k * run, run, 1);
        pvm_send(partner, TAG);
        pvm_recv(partner, TAG);
        for (int k = 0; k < nodes / (2 * bit); k++) pvm_upkdouble(theirs + 2L * k * run, run, 1);
    }
}

void ft_close(struct ft_links *links) {
    free(links->blocks);
    free(links);
}
