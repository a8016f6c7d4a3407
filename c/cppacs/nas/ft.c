/*
 * A diffusion equation in three dimensions, by Fourier transforms.
 *
 * Each node has some planes of the array, so it transforms along x and y alone. A transposition brings it all of z for
 * some x: block j of a node holds the part of its planes that belongs to the x of node j.
 */
#include "links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 314159265u
#define ALPHA 1e-6
#define PI 3.14159265358979323846
#define STEPS 6
#define LONGEST 256

struct number {
    double re, im;
};

struct array {
    int nx, ny, nz;     /* the whole */
    int columns, planes; /* of one node: nx / nodes, nz / nodes */
    int first_x, first_z;
    struct number roots[LONGEST]; /* of 1 */
};

static long points(const struct array *a) {
    return (long)a->nx * a->ny * a->planes;
}

/* Transforms n numbers that stand `step` apart. sign 1: forward, -1: backward, without a factor. */
static void transform(const struct array *a, struct number *data, long step, int n, int sign) {
    struct number buffers[2][LONGEST], *from = buffers[0], *to = buffers[1];
    for (int i = 0; i < n; i++) from[i] = data[i * step];
    for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
        for (int j = 0; j < half; j++) {
            struct number w = a->roots[j * stride * (LONGEST / n)];
            w.im *= sign;
            for (int k = 0; k < stride; k++) {
                struct number x = from[k + stride * j], y = from[k + stride * (j + half)];
                struct number d = {x.re - y.re, x.im - y.im};
                to[k + stride * 2 * j] = (struct number){x.re + y.re, x.im + y.im};
                to[k + stride * (2 * j + 1)] = (struct number){d.re * w.re - d.im * w.im, d.re * w.im + d.im * w.re};
            }
        }
        struct number *other = from;
        from = to;
        to = other;
    }
    for (int i = 0; i < n; i++) data[i * step] = from[i];
}

static void transform_planes(const struct array *a, struct number *data, int sign) {
    for (int z = 0; z < a->planes; z++) {
        struct number *plane = data + (long)z * a->nx * a->ny;
        for (int y = 0; y < a->ny; y++) transform(a, plane + y * a->nx, 1, a->nx, sign);
        for (int x = 0; x < a->nx; x++) transform(a, plane + x, a->nx, a->ny, sign);
    }
}

/* Along z: the transposed blocks are one array [z][y][x of this node]. */
static void transform_columns(const struct array *a, struct number *data, int sign) {
    const long step = (long)a->ny * a->columns;
    for (long i = 0; i < step; i++) transform(a, data + i, step, a->nz, sign);
}

/* Copies between the planes [z][y][x] and the blocks [node][z][y][x of that node]. */
static void reorder(const struct array *a, struct number *planes, struct number *blocks, int into_blocks) {
    for (int node = 0; node < a->nx / a->columns; node++)
        for (int row = 0; row < a->planes * a->ny; row++) {
            struct number *plane = planes + (long)row * a->nx + node * a->columns;
            struct number *block = blocks + ((long)node * a->planes * a->ny + row) * a->columns;
            if (into_blocks)
                memcpy(block, plane, a->columns * sizeof *block);
            else
                memcpy(plane, block, a->columns * sizeof *block);
        }
}

static void fill(const struct array *a, struct number *planes) {
    uint64_t seed = SEED;
    nas_random(&seed, nas_power(NAS_MULTIPLIER, 2 * (uint64_t)a->nx * a->ny * a->first_z));
    for (long i = 0; i < points(a); i++) {
        planes[i].re = nas_random(&seed, NAS_MULTIPLIER);
        planes[i].im = nas_random(&seed, NAS_MULTIPLIER);
    }
}

/* The square of the wave number of place i of n. */
static double square(int i, int n) {
    int wave = i < n / 2 ? i : i - n;
    return (double)wave * wave;
}

static void evolve(const struct array *a, const struct number *start, struct number *out, int time) {
    const double factor = -4 * ALPHA * PI * PI * time;
    for (int z = 0; z < a->nz; z++)
        for (int y = 0; y < a->ny; y++)
            for (int x = 0; x < a->columns; x++) {
                double waves = square(a->first_x + x, a->nx) + square(y, a->ny) + square(z, a->nz);
                double damping = exp(factor * waves);
                *out++ = (struct number){start->re * damping, start->im * damping};
                start++;
            }
}

/* This node's part of the sum. */
static struct number check(const struct array *a, const struct number *planes) {
    const double all = (double)a->nx * a->ny * a->nz;
    struct number sum = {0, 0};
    for (int j = 1; j <= 1024; j++) {
        int x = j % a->nx, y = 3 * j % a->ny, z = 5 * j % a->nz - a->first_z;
        if (z < 0 || z >= a->planes) continue;
        const struct number *at = planes + ((long)z * a->ny + y) * a->nx + x;
        sum.re += at->re / all;
        sum.im += at->im / all;
    }
    return sum;
}

void ft(const struct nas_job *job, struct nas_result *result) {
    struct array a = {64, 64, 64, 0, 0, 0, 0, {{0, 0}}};
    if (job->class == 'W') a.nx = a.ny = 128, a.nz = 32;
    if (job->class == 'A') a.nx = a.ny = 256, a.nz = 128;
    a.columns = a.nx / job->nodes;
    a.planes = a.nz / job->nodes;
    a.first_x = a.columns * job->node;
    a.first_z = a.planes * job->node;
    for (int i = 0; i < LONGEST; i++)
        a.roots[i] = (struct number){cos(2 * PI * i / LONGEST), sin(2 * PI * i / LONGEST)};

    const double us = job->compute_us / job->nodes / (2 * (STEPS + 1)); /* of half a transformation */
    const int block = 2 * a.columns * a.ny * a.planes;
    struct ft_links *links = ft_open(job, block);
    struct sum_links *sums = sum_open(job);
    struct number *blocks = (struct number *)ft_blocks(links);
    struct number *planes = nas_memory(points(&a), sizeof *planes), *start = nas_memory(points(&a), sizeof *start);

    fill(&a, planes);
    transform_planes(&a, planes, 1);
    reorder(&a, planes, blocks, 1);
    nas_compute(us);
    ft_transpose(links);
    transform_columns(&a, blocks, 1);
    nas_compute(us);
    memcpy(start, blocks, points(&a) * sizeof *start);
    for (int step = 1; step <= STEPS; step++) {
        evolve(&a, start, blocks, step);
        transform_columns(&a, blocks, -1);
        nas_compute(us);
        ft_transpose(links);
        reorder(&a, planes, blocks, 0);
        transform_planes(&a, planes, -1);
        nas_compute(us);
        struct number sum = check(&a, planes);
        result->value[2 * step - 2] = sum.re;
        result->value[2 * step - 1] = sum.im;
    }
    result->count = 2 * STEPS;
    sum_up(sums, result->value);
    sum_close(sums);
    ft_close(links);
    free(planes), free(start);
}
