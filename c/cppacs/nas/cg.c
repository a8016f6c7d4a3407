/*
 * Conjugate gradients: the smallest eigenvalue of a sparse symmetric matrix, by inverse iteration.
 *
 * Each node has some rows of the matrix and all of every vector. So the product of matrix and vector is the only thing
 * that is exchanged.
 */
#include "links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 314159265u
#define CONDITION 0.1
#define OUTER 15
#define INNER 25

struct matrix {
    int first, end; /* the node's rows */
    int *start;     /* of each row's elements, and the end of the last */
    int *column;
    double *value;
};

/* The sparse vectors whose outer products make the matrix. */
struct vectors {
    int n, most; /* how many; most elements of one */
    int *count, *index;
    double *value;
};

static struct vectors make_vectors(int n, int nonzeros, uint64_t *seed) {
    struct vectors v = {n, nonzeros + 1, nas_memory(n, sizeof(int)), NULL, NULL};
    int range = 1;
    v.index = nas_memory((uint64_t)n * v.most, sizeof(int));
    v.value = nas_memory((uint64_t)n * v.most, sizeof(double));
    while (range < n) range *= 2;
    for (int i = 0; i < n; i++) {
        int *index = v.index + (long)i * v.most, count = 0, at;
        double *value = v.value + (long)i * v.most;
        while (count < nonzeros) {
            double element = nas_random(seed, NAS_MULTIPLIER);
            int place = (int)(range * nas_random(seed, NAS_MULTIPLIER));
            for (at = 0; at < count && index[at] != place; at++) {}
            if (place >= n || at < count) continue;
            index[count] = place;
            value[count++] = element;
        }
        for (at = 0; at < count && index[at] != i; at++) {}
        index[at] = i;
        value[at] = 0.5;
        v.count[i] = at == count ? count + 1 : count;
    }
    return v;
}

/* Elements of the matrix that fall on the same place stay apart: the product is the same. */
static struct matrix make_matrix(const struct vectors *v, int first, int end, double shift) {
    const int rows = end - first;
    const double ratio = pow(CONDITION, 1.0 / v->n);
    struct matrix a = {first, end, nas_memory(rows + 1, sizeof(int)), NULL, NULL};
    double size = 1;
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < v->count[i]; k++) {
            int row = v->index[(long)i * v->most + k];
            if (row >= first && row < end) a.start[row - first + 1] += v->count[i];
        }
    for (int row = 0; row < rows; row++) a.start[row + 1] += a.start[row] + 1; /* and the diagonal's */
    a.column = nas_memory(a.start[rows], sizeof(int));
    a.value = nas_memory(a.start[rows], sizeof(double));
    int *next = nas_memory(rows, sizeof(int));
    for (int row = 0; row < rows; row++) {
        next[row] = a.start[row];
        a.column[next[row]] = first + row;
        a.value[next[row]++] = CONDITION - shift;
    }
    for (int i = 0; i < v->n; i++, size *= ratio) {
        const int *index = v->index + (long)i * v->most;
        const double *value = v->value + (long)i * v->most;
        for (int k = 0; k < v->count[i]; k++) {
            int row = index[k] - first;
            if (row < 0 || row >= rows) continue;
            for (int l = 0; l < v->count[i]; l++) {
                a.column[next[row]] = index[l];
                a.value[next[row]++] = size * value[k] * value[l];
            }
        }
    }
    free(next);
    return a;
}

static double dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The matrix times x, on all nodes; valid until the next but one call. */
static const double *multiply(const struct matrix *a, const double *x, struct cg_links *links, double us) {
    double *product = cg_vector(links);
    for (int row = a->first; row < a->end; row++) {
        const int *start = a->start + row - a->first;
        double sum = 0;
        for (int k = start[0]; k < start[1]; k++) sum += a->value[k] * x[a->column[k]];
        product[row] = sum;
    }
    nas_compute(us);
    cg_gather(links);
    return product;
}

/* Solves A z = x roughly; the norm of the rest. `scratch` has room for two vectors. */
static double solve(const struct matrix *a, const double *x, double *z, double *scratch, int n,
                    struct cg_links *links, double us) {
    double *r = scratch, *p = scratch + n, rho = dot(x, x, n);
    memset(z, 0, n * sizeof *z);
    memcpy(r, x, n * sizeof *r);
    memcpy(p, x, n * sizeof *p);
    for (int step = 0; step < INNER; step++) {
        const double *q = multiply(a, p, links, us), alpha = rho / dot(p, q, n), before = rho;
        for (int i = 0; i < n; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rho = dot(r, r, n);
        for (int i = 0; i < n; i++) p[i] = r[i] + rho / before * p[i];
    }
    const double *product = multiply(a, z, links, us);
    double rest = 0;
    for (int i = 0; i < n; i++) rest += (x[i] - product[i]) * (x[i] - product[i]);
    return sqrt(rest);
}

void cg(const struct nas_job *job, struct nas_result *result) {
    const int n = job->class == 'S' ? 1400 : job->class == 'W' ? 7000 : 14000;
    const int nonzeros = job->class == 'S' ? 7 : job->class == 'W' ? 8 : 11;
    const double shift = job->class == 'S' ? 10 : job->class == 'W' ? 12 : 20;
    const double us = job->compute_us / job->nodes / (OUTER * (INNER + 1));
    uint64_t seed = SEED;
    nas_random(&seed, NAS_MULTIPLIER); /* the published programs drop the first number */
    struct vectors v = make_vectors(n, nonzeros, &seed);
    struct matrix a = make_matrix(&v, n * job->node / job->nodes, n * (job->node + 1) / job->nodes, shift);
    struct cg_links *links = cg_open(job, n);
    double *x = nas_memory(4 * n, sizeof(double)), *z = x + n, *scratch = z + n, zeta = 0;

    for (int i = 0; i < n; i++) x[i] = 1;
    for (int step = 0; step < OUTER; step++) {
        solve(&a, x, z, scratch, n, links, us);
        zeta = shift + 1 / dot(x, z, n);
        double norm = sqrt(dot(z, z, n));
        for (int i = 0; i < n; i++) x[i] = z[i] / norm;
    }
    result->count = 1;
    result->value[0] = zeta;
    cg_close(links);
    free(x), free(a.start), free(a.column), free(a.value), free(v.count), free(v.index), free(v.value);
}
