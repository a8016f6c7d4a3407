#include "rdma.h"

#include <stdlib.h>
#include <string.h>

#define NAME "mg"
#define BITS 7
#define FACES 12 /* 3 axes, 2 sides, 2 turns */

/*
 * Everything is there twice and takes turns. A neighbour sends into a place again when it has got what this node sent
 * one turn later, after it had done with the place.
 */
struct mg_links {
    const struct nas_job *job;
    int largest_face, largest_block, turn[3], gathers;
    double *faces, *blocks; /* faces to send, then those that come; by axis, side, turn */
    int face_field[FACES], face_right[FACES];
    int block_field[2 * BITS], block_right[2 * BITS];
};

/* Fields and rights: faces by axis, side and turn, then blocks by turn and bit. */
static void open_fields(struct mg_links *links, const int shape[3], int bits) {
    const uint64_t face = links->largest_face, blocks = (uint64_t)links->job->nodes * links->largest_block;
    for (int i = 0; i < FACES; i++) {
        double *at = links->faces + (FACES + i) * face;
        links->face_field[i] = nas_done(CPfield_create(at, face * sizeof(double), i, CP_WRITE));
    }
    for (int i = 0; i < 2 * bits; i++) {
        double *at = links->blocks + i / bits * blocks;
        links->block_field[i] = nas_done(CPfield_create(at, blocks * sizeof(double), FACES + i, CP_WRITE));
    }
    for (int i = 0; i < FACES; i++) {
        const int to = mg_neighbour(links->job, shape, i / 4, i / 2 % 2);
        /* What goes to the lower neighbour comes from its higher one. */
        if (to != links->job->node) links->face_right[i] = nas_done(CPright_get(to, NAME, i ^ 2, NAS_WAIT));
    }
    for (int i = 0; i < 2 * bits; i++) {
        const int to = links->job->node ^ 1 << i % bits;
        links->block_right[i] = nas_done(CPright_get(to, NAME, FACES + i, NAS_WAIT));
    }
}

struct mg_links *mg_open(const struct nas_job *job, const int shape[3], int largest_face, int largest_block) {
    struct mg_links *links = nas_memory(1, sizeof *links);
    int bits = 0;
    while (1 << bits < job->nodes) bits++;
    links->job = job;
    links->largest_face = largest_face;
    links->largest_block = largest_block;
    const uint64_t faces = 2 * FACES * (uint64_t)largest_face, blocks = 2 * (uint64_t)job->nodes * largest_block;
    links->faces = nas_object(NAME, (faces + blocks) * sizeof(double));
    links->blocks = links->faces + faces;
    open_fields(links, shape, bits);
    return links;
}

static int place(const struct mg_links *links, int axis, int side) {
    return axis * 4 + side * 2 + links->turn[axis];
}

double *mg_face(struct mg_links *links, int axis, int side) {
    return links->faces + (uint64_t)place(links, axis, side) * links->largest_face;
}

void mg_faces(struct mg_links *links, int axis, int count, const double *came[2]) {
    for (int side = 0; side < 2; side++) {
        const int right = links->face_right[place(links, axis, side)];
        nas_done(CPsend(mg_face(links, axis, side), count * sizeof(double), right, 0, CP_FLAG));
    }
    for (int side = 0; side < 2; side++) {
        nas_done(CPwait(links->face_field[place(links, axis, side)], 1, NAS_WAIT));
        came[side] = links->faces + (uint64_t)(FACES + place(links, axis, side)) * links->largest_face;
    }
    links->turn[axis] ^= 1;
}

double *mg_blocks(struct mg_links *links) {
    return links->blocks + (uint64_t)(links->gathers % 2) * links->job->nodes * links->largest_block;
}

/* Each exchange doubles the blocks that a node has. */
void mg_gather(struct mg_links *links, int count) {
    double *blocks = mg_blocks(links);
    int bits = 0;
    while (1 << bits < links->job->nodes) bits++;
    for (int i = 0; i < bits; i++) {
        const int mine = links->job->node & -(1 << i), at = links->gathers % 2 * bits + i;
        const uint64_t offset = (uint64_t)mine * count, bytes = ((uint64_t)count << i) * sizeof(double);
        nas_done(CPsend(blocks + offset, bytes, links->block_right[at], offset * sizeof(double), CP_FLAG));
        nas_done(CPwait(links->block_field[at], 1, NAS_WAIT));
    }
    links->gathers++;
}

void mg_close(struct mg_links *links) {
    free(links);
}
