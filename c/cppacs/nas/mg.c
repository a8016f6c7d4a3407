/*
 * Poisson's equation on a periodic grid, by a multigrid V-cycle.
 *
 * Each node has a box of the grid, with a layer of its neighbours' points around it. Where a level has only one point a
 * node along the longest side of the grid of nodes, all nodes gather it, and do the levels below each for itself.
 */
#include "links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 314159265u
#define STEPS 4
#define LEVELS 9
#define CHARGES 10 /* points of each sign */

static const double OPERATOR[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const double SMOOTHER[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
static const double RESTRICTION[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

/* Points 1 to n of each axis, and the layers 0 and n + 1. */
struct grid {
    int n[3];
    int whole; /* the node has all of the grid, so it is its own neighbour */
    double *at;
};

struct solver {
    const struct nas_job *job;
    struct mg_links *links;
    int shape[3], place[3]; /* of the nodes; of this one in it */
    int top, shared;        /* levels; on `shared` and below all nodes have all of the grid */
    double point_us;        /* computing for a point */
    struct grid u[LEVELS], r[LEVELS], v, part; /* `part`: this node's box of the rest on level `shared` */
};

static long row(const struct grid *g, int y, int z) {
    return ((long)z * (g->n[1] + 2) + y) * (g->n[0] + 2);
}

static long points(const struct grid *g) {
    return (long)g->n[0] * g->n[1] * g->n[2];
}

static void clear(struct grid *g) {
    memset(g->at, 0, row(g, 0, g->n[2] + 2) * sizeof *g->at);
}

static void charge(const struct solver *s, const struct grid *g) {
    nas_compute(s->point_us * (double)points(g));
}

/* Copies the points first[] to last[], x fastest, between the grid and a list; how many there are. */
static int copy_box(struct grid *g, const int first[3], const int last[3], double *list, int into_grid) {
    const int length = last[0] - first[0] + 1;
    int count = 0;
    for (int z = first[2]; z <= last[2]; z++)
        for (int y = first[1]; y <= last[1]; y++, count += length) {
            double *points = g->at + row(g, y, z) + first[0];
            if (into_grid)
                memcpy(points, list + count, length * sizeof *points);
            else
                memcpy(list + count, points, length * sizeof *points);
        }
    return count;
}

/* The layer at this place of an axis; along the axes before it, their outer layers belong to it. */
static int copy_layer(struct grid *g, int axis, int at, double *list, int into_grid) {
    int first[3], last[3];
    for (int i = 0; i < 3; i++) {
        first[i] = i == axis ? at : i < axis ? 0 : 1;
        last[i] = i == axis ? at : i < axis ? g->n[i] + 1 : g->n[i];
    }
    return copy_box(g, first, last, list, into_grid);
}

/* Fills the outer layers from the neighbours. */
static void exchange(const struct solver *s, struct grid *g) {
    for (int axis = 0; axis < 3; axis++) {
        const int n = g->n[axis];
        double *low = mg_face(s->links, axis, 0), *high = mg_face(s->links, axis, 1);
        const double *came[2] = {high, low};
        int count = copy_layer(g, axis, 1, low, 0);
        copy_layer(g, axis, n, high, 0);
        if (!g->whole && s->shape[axis] > 1) mg_faces(s->links, axis, count, came);
        copy_layer(g, axis, 0, (double *)came[0], 1);
        copy_layer(g, axis, n + 1, (double *)came[1], 1);
    }
}

/* The sums of the 6, 12 and 8 neighbours of a point whose coordinates differ in one, two, three from it. */
static void neighbours(const struct grid *g, long at, double sum[4]) {
    const long y = g->n[0] + 2, z = y * (g->n[1] + 2);
    const double *p = g->at + at;
    double near[3], far[3]; /* in the planes x - 1, x, x + 1: the 4 beside the middle, the 4 in the corners */
    for (int i = 0; i < 3; i++, p++) {
        near[i] = p[-1 - y] + p[-1 + y] + p[-1 - z] + p[-1 + z];
        far[i] = p[-1 - y - z] + p[-1 + y - z] + p[-1 - y + z] + p[-1 + y + z];
    }
    p = g->at + at;
    sum[0] = p[0];
    sum[1] = p[-1] + p[1] + near[1];
    sum[2] = near[0] + near[2] + far[1];
    sum[3] = far[0] + far[2];
}

static double weighted(const double weights[4], const double sum[4]) {
    return weights[0] * sum[0] + weights[1] * sum[1] + weights[2] * sum[2] + weights[3] * sum[3];
}

/* r = v - A u */
static void rest(const struct solver *s, const struct grid *u, const struct grid *v, struct grid *r) {
    double sum[4];
    for (int z = 1; z <= u->n[2]; z++)
        for (int y = 1; y <= u->n[1]; y++)
            for (long at = row(u, y, z) + 1; at <= row(u, y, z) + u->n[0]; at++) {
                neighbours(u, at, sum);
                r->at[at] = v->at[at] - weighted(OPERATOR, sum);
            }
    charge(s, u);
    exchange(s, r);
}

/* u = u + S r */
static void smooth(const struct solver *s, const struct grid *r, struct grid *u) {
    double sum[4];
    for (int z = 1; z <= u->n[2]; z++)
        for (int y = 1; y <= u->n[1]; y++)
            for (long at = row(u, y, z) + 1; at <= row(u, y, z) + u->n[0]; at++) {
                neighbours(r, at, sum);
                u->at[at] += weighted(SMOOTHER, sum);
            }
    charge(s, u);
    exchange(s, u);
}

/* Point i of the coarse grid is point 2 i of the fine one. */
static void restricted(const struct solver *s, const struct grid *fine, struct grid *coarse) {
    double sum[4];
    for (int z = 1; z <= coarse->n[2]; z++)
        for (int y = 1; y <= coarse->n[1]; y++)
            for (int x = 1; x <= coarse->n[0]; x++) {
                neighbours(fine, row(fine, 2 * y, 2 * z) + 2 * x, sum);
                coarse->at[row(coarse, y, z) + x] = weighted(RESTRICTION, sum);
            }
    charge(s, fine);
    exchange(s, coarse);
}

/* Adds the coarse grid to the fine one, between its points by the mean; outer layers too. */
static void interpolate(const struct solver *s, const struct grid *coarse, struct grid *fine) {
    for (int z = 0; z <= fine->n[2] + 1; z++)
        for (int y = 0; y <= fine->n[1] + 1; y++) {
            const double *a = coarse->at + row(coarse, y / 2, z / 2), *b = coarse->at + row(coarse, (y + 1) / 2, z / 2);
            const double *c = coarse->at + row(coarse, y / 2, (z + 1) / 2);
            const double *d = coarse->at + row(coarse, (y + 1) / 2, (z + 1) / 2);
            double *to = fine->at + row(fine, y, z);
            for (int x = 0; x <= fine->n[0] + 1; x++) {
                int i = x / 2, j = (x + 1) / 2;
                to[x] += (a[i] + a[j] + b[i] + b[j] + c[i] + c[j] + d[i] + d[j]) / 8;
            }
        }
    charge(s, fine);
}

/* All nodes have all of r on level `shared` afterwards. */
static void gather(const struct solver *s, struct grid *part, struct grid *all) {
    const int one[3] = {1, 1, 1}, count = (int)points(part);
    double *blocks = mg_blocks(s->links);
    copy_box(part, one, part->n, blocks + (long)s->job->node * count, 0);
    mg_gather(s->links, count);
    for (int node = 0; node < s->job->nodes; node++) {
        int at[3] = {node % s->shape[0], node / s->shape[0] % s->shape[1], node / s->shape[0] / s->shape[1]};
        int first[3], last[3];
        for (int i = 0; i < 3; i++) {
            first[i] = 1 + at[i] * part->n[i];
            last[i] = first[i] + part->n[i] - 1;
        }
        copy_box(all, first, last, blocks + (long)node * count, 1);
    }
    exchange(s, all);
}

/* This node's box of a whole grid, with its outer layers. */
static void cut(const struct solver *s, const struct grid *all, struct grid *part) {
    for (int z = 0; z <= part->n[2] + 1; z++)
        for (int y = 0; y <= part->n[1] + 1; y++) {
            const long from = row(all, y + s->place[1] * part->n[1], z + s->place[2] * part->n[2]);
            memcpy(part->at + row(part, y, z), all->at + from + s->place[0] * part->n[0],
                   (part->n[0] + 2) * sizeof *part->at);
        }
}

/* A better solution of A u = v, from the rest r. */
static void cycle(struct solver *s) {
    struct grid *u = s->u, *r = s->r;
    for (int k = s->top; k > s->shared + 1; k--) restricted(s, &r[k], &r[k - 1]);
    restricted(s, &r[s->shared + 1], &s->part);
    gather(s, &s->part, &r[s->shared]);
    for (int k = s->shared; k > 1; k--) restricted(s, &r[k], &r[k - 1]);
    clear(&u[1]);
    smooth(s, &r[1], &u[1]);
    for (int k = 2; k <= s->top; k++) {
        if (k < s->top) clear(&u[k]);
        if (k == s->shared + 1) {
            cut(s, &u[k - 1], &s->part);
            interpolate(s, &s->part, &u[k]);
        } else {
            interpolate(s, &u[k - 1], &u[k]);
        }
        rest(s, &u[k], k < s->top ? &r[k] : &s->v, &r[k]);
        smooth(s, &r[k], &u[k]);
    }
}

struct extreme {
    double value, place;
};

/* Keeps the largest, in falling order. */
static void keep(struct extreme *list, struct extreme new) {
    int i = CHARGES - 1;
    if (new.value <= list[i].value) return;
    for (; i > 0 && list[i - 1].value < new.value; i--) list[i] = list[i - 1];
    list[i] = new;
}

/* The largest values of all nodes, then the largest of their negatives. */
static void extremes(const struct solver *s, struct extreme largest[2 * CHARGES]) {
    const int n = 1 << s->top, *box = s->v.n, count = 2 * 2 * CHARGES;
    for (int i = 0; i < 2 * CHARGES; i++) largest[i] = (struct extreme){-2, 0};
    for (int z = 0; z < box[2]; z++)
        for (int y = 0; y < box[1]; y++) {
            long place = ((long)(s->place[2] * box[2] + z) * n + s->place[1] * box[1] + y) * n + s->place[0] * box[0];
            uint64_t seed = SEED * nas_power(NAS_MULTIPLIER, place);
            for (int x = 0; x < box[0]; x++, place++) {
                double value = nas_random(&seed, NAS_MULTIPLIER);
                keep(largest, (struct extreme){value, (double)place});
                keep(largest + CHARGES, (struct extreme){-value, (double)place});
            }
        }
    double *blocks = mg_blocks(s->links);
    memcpy(blocks + (long)s->job->node * count, largest, count * sizeof(double));
    mg_gather(s->links, count);
    for (int node = 0; node < s->job->nodes; node++) {
        const struct extreme *other = (struct extreme *)(blocks + (long)node * count);
        for (int i = 0; i < 2 * CHARGES && node != s->job->node; i++) keep(largest + i / CHARGES * CHARGES, other[i]);
    }
}

/* v: +1 at the largest random numbers, -1 at the smallest. */
static void place_charges(struct solver *s) {
    struct extreme largest[2 * CHARGES];
    extremes(s, largest);
    for (int i = 0; i < 2 * CHARGES; i++) {
        long place = (long)largest[i].place;
        int at[3], here = 1;
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = (int)(place >> (axis * s->top) & ((1 << s->top) - 1)) - s->place[axis] * s->v.n[axis];
            here = here && at[axis] >= 0 && at[axis] < s->v.n[axis];
        }
        if (here) s->v.at[row(&s->v, at[1] + 1, at[2] + 1) + at[0] + 1] = i < CHARGES ? 1 : -1;
    }
}

/* The root of the mean square over all nodes. */
static double norm(const struct solver *s, const struct grid *r) {
    double sum = 0, *blocks = mg_blocks(s->links);
    for (int z = 1; z <= r->n[2]; z++)
        for (int y = 1; y <= r->n[1]; y++)
            for (long at = row(r, y, z) + 1; at <= row(r, y, z) + r->n[0]; at++) sum += r->at[at] * r->at[at];
    blocks[s->job->node] = sum;
    mg_gather(s->links, 1);
    sum = 0;
    for (int node = 0; node < s->job->nodes; node++) sum += blocks[node];
    return sqrt(sum / (double)points(r) / s->job->nodes);
}

static struct grid make_grid(const struct solver *s, int level, int whole) {
    struct grid g = {{0}, whole || s->job->nodes == 1, NULL};
    for (int i = 0; i < 3; i++) g.n[i] = (1 << level) / (whole ? 1 : s->shape[i]);
    g.at = nas_memory(row(&g, 0, g.n[2] + 2), sizeof *g.at);
    return g;
}

static void open(struct solver *s) {
    const int n = s->job->class == 'S' ? 32 : s->job->class == 'W' ? 128 : 256;
    double swept = 0; /* points that all steps together compute */
    for (int axis = 0, nodes = s->job->nodes; nodes > 1; nodes /= 2, axis = (axis + 1) % 3) s->shape[axis] *= 2;
    s->place[0] = s->job->node % s->shape[0];
    s->place[1] = s->job->node / s->shape[0] % s->shape[1];
    s->place[2] = s->job->node / s->shape[0] / s->shape[1];
    for (s->top = 1; 1 << s->top < n; s->top++) {}
    for (s->shared = 1; 1 << s->shared < s->shape[0]; s->shared++) {}
    for (int k = 1; k <= s->top; k++) {
        s->u[k] = make_grid(s, k, k <= s->shared);
        s->r[k] = make_grid(s, k, k <= s->shared);
        swept += 4 * STEPS * pow(8, k);
    }
    s->point_us = s->job->compute_us / (swept + (STEPS + 1) * pow(8, s->top));
    s->v = make_grid(s, s->top, 0);
    s->part = make_grid(s, s->shared, 0);
    const int *box = s->v.n; /* x is never the longest */
    const int block = points(&s->part) > 4 * CHARGES ? (int)points(&s->part) : 4 * CHARGES;
    s->links = mg_open(s->job, s->shape, (box[1] + 2) * (box[2] + 2), block);
}

void mg(const struct nas_job *job, struct nas_result *result) {
    struct solver s = {.job = job, .shape = {1, 1, 1}};
    open(&s);
    place_charges(&s);
    rest(&s, &s.u[s.top], &s.v, &s.r[s.top]);
    for (int step = 0; step < STEPS; step++) {
        cycle(&s);
        rest(&s, &s.u[s.top], &s.v, &s.r[s.top]);
    }
    result->count = 1;
    result->value[0] = norm(&s, &s.r[s.top]);
    mg_close(s.links);
    for (int k = 1; k <= s.top; k++) free(s.u[k].at), free(s.r[k].at);
    free(s.v.at), free(s.part.at);
}
