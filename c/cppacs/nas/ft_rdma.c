#include "rdma.h"

#include <stdlib.h>
#include <string.h>

#define NAME "ft"
#define BITS 7

/*
 * Blocks are sent from where they are, and land in areas of their own, for this node's may not have left yet. Each step
 * of the butterfly has two such areas, which take turns: a partner sends into one again when it has got what this node
 * sent later.
 */
struct ft_links {
    const struct nas_job *job;
    int block, turn;
    double *blocks, *landing[2][BITS];
    int field[2][BITS], right[2][BITS];
};

struct ft_links *ft_open(const struct nas_job *job, int block) {
    struct ft_links *links = nas_memory(1, sizeof *links);
    const uint64_t half = (uint64_t)job->nodes / 2 * block;
    int bits = 0;
    while (1 << bits < job->nodes) bits++;
    links->job = job;
    links->block = block;
    links->blocks = nas_object(NAME, ((uint64_t)job->nodes * block + 2 * bits * half) * sizeof(double));
    double *landing = links->blocks + (uint64_t)job->nodes * block;
    for (int i = 0; i < 2 * bits; i++, landing += half) {
        links->landing[i / bits][i % bits] = landing;
        links->field[i / bits][i % bits] = nas_done(CPfield_create(landing, half * sizeof(double), i, CP_WRITE));
    }
    for (int i = 0; i < 2 * bits; i++) {
        const int partner = job->node ^ 1 << i % bits;
        links->right[i / bits][i % bits] = nas_done(CPright_get(partner, NAME, i, NAS_WAIT));
    }
    return links;
}

double *ft_blocks(struct ft_links *links) {
    return links->blocks;
}

/* A butterfly: for each bit of the numbers, two nodes exchange the blocks whose bit is the other's. */
void ft_transpose(struct ft_links *links) {
    const int nodes = links->job->nodes, turn = links->turn;
    for (int i = 0; 1 << i < nodes; i++) {
        const int bit = 1 << i, theirs = ~links->job->node & bit;
        const uint64_t run = (uint64_t)bit * links->block, bytes = run * sizeof(double);
        double *from = links->blocks + (uint64_t)theirs * links->block;
        const int runs = nodes / (2 * bit), right = links->right[turn][i];
        const int sent = nas_done(CPsend_strided(from, bytes, runs, 2 * bytes, right, 0, bytes, CP_FLAG));
        nas_done(CPwait(links->field[turn][i], CPtransfers(bytes, runs), NAS_WAIT));
        nas_done(CPwait_sent(sent));
        for (int k = 0; k < runs; k++)
            memcpy(from + 2 * k * run, links->landing[turn][i] + k * run, bytes);
    }
    links->turn = !turn;
}

void ft_close(struct ft_links *links) {
    free(links);
}
