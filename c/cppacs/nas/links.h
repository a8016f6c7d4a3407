/*
 * What the kernels need of other nodes. The RDMA version sends from and receives into memory of its own, so it owns the
 * arrays that are exchanged, and the kernel works in them.
 */
#ifndef NAS_LINKS_H
#define NAS_LINKS_H

#include "nas.h"

/* Sums over all nodes, NAS_VALUES of them, on node 0. Once a run. */
struct sum_links;
struct sum_links *sum_open(const struct nas_job *job);
void sum_up(struct sum_links *links, double *values);
void sum_close(struct sum_links *links);

/* A vector of n elements, of which node i computes those from n * i / nodes on. */
struct cg_links;
struct cg_links *cg_open(const struct nas_job *job, int n);
/* The whole vector, for the next cg_gather. It stays until the next call. */
double *cg_vector(struct cg_links *links);
/* Each node has written its own elements of cg_vector; now all nodes have all. */
void cg_gather(struct cg_links *links);
void cg_close(struct cg_links *links);

/* An array of `nodes` blocks of `block` doubles. */
struct ft_links;
struct ft_links *ft_open(const struct nas_job *job, int block);
double *ft_blocks(struct ft_links *links);
/* Block j of node i becomes block i of node j. */
void ft_transpose(struct ft_links *links);
void ft_close(struct ft_links *links);

/* A grid of nodes with periodic neighbours; node = x + px * (y + py * z). */
struct mg_links;

static inline int mg_neighbour(const struct nas_job *job, const int shape[3], int axis, int higher) {
    const int step = axis == 0 ? 1 : axis == 1 ? shape[0] : shape[0] * shape[1], n = shape[axis];
    const int at = job->node / step % n;
    return job->node + ((at + (higher ? 1 : n - 1)) % n - at) * step;
}

struct mg_links *mg_open(const struct nas_job *job, const int shape[3], int largest_face, int largest_block);
/* Where the face towards the lower (0) and the higher (1) neighbour along the axis belongs before mg_faces. */
double *mg_face(struct mg_links *links, int axis, int side);
/* Sends both faces, of `count` doubles each. Then came[0] is the lower neighbour's higher face, came[1] the higher
   neighbour's lower one. They stay until the next call for this axis. */
void mg_faces(struct mg_links *links, int axis, int count, const double *came[2]);
/* Room for one block of `count` doubles a node. The own block is written; mg_gather brings all others. They stay until
   the next call. */
double *mg_blocks(struct mg_links *links);
void mg_gather(struct mg_links *links, int count);
void mg_close(struct mg_links *links);

#endif
