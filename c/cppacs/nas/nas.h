/*
 * What the four kernels share. They are written from the report RNR-94-007 and the published parameters.
 *
 * The numerics of a kernel stand in one file: ep.c, cg.c, ft.c, mg.c. What it needs of other nodes is declared in
 * links.h, and a file for each version has it: cg_serial.c, cg_rdma.c, cg_pvm.c and so on. No variable of
 * the kernels is global, for all nodes of an RDMA program share one address space.
 */
#ifndef NAS_H
#define NAS_H

#include <stdint.h>

#define NAS_VALUES 12

/* One node's part of a run. */
struct nas_job {
    char class; /* S, W or A */
    int node, nodes;
    const int *tasks;  /* PVM's number of each node's task; NULL in other versions */
    double compute_us; /* what the whole kernel takes on one node; each node is charged its part */
};

/* What is compared with the published values; of an RDMA or PVM run only node 0 has it. */
struct nas_result {
    int count;
    double value[NAS_VALUES];
};

void ep(const struct nas_job *job, struct nas_result *result);
void cg(const struct nas_job *job, struct nas_result *result);
void ft(const struct nas_job *job, struct nas_result *result);
void mg(const struct nas_job *job, struct nas_result *result);

/* The kernel of this name, or NULL. */
typedef void (*nas_kernel)(const struct nas_job *, struct nas_result *);
nas_kernel nas_find(const char *name);

/* Why this kernel cannot run so; NULL when it can. */
const char *nas_refuses(const char *name, char class, int nodes);

/* Prints the values; 0 when all agree with the published ones, else 1. */
int nas_verify(const char *name, char class, const struct nas_result *result);

/* Lets the node compute for this long in simulated time. Each version has its own. */
void nas_compute(double us);

/* Memory, set to 0; the program ends where there is none. */
void *nas_memory(uint64_t count, uint64_t size);

#define NAS_MULTIPLIER 1220703125u /* 5^13 */

/* multiplier^n modulo 2^46 */
uint64_t nas_power(uint64_t multiplier, uint64_t n);

/* The next state, seed * multiplier modulo 2^46, as a number between 0 and 1. */
double nas_random(uint64_t *seed, uint64_t multiplier);

#endif
