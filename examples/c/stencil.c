/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Jacobi's iteration for Laplace's equation on a square, in blocks on 4 x 4 cells. After each iteration a cell PUTs the
 * edges of its block into its neighbours' halos. Rows lie one word after the other, columns are strided, and a flag per
 * side says that a halo has come. At the end cell 0 GETs all blocks, and compares them bit by bit with a serial
 * computation. Arguments: points along a side of a block, iterations, backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_ap1000p.h>

enum { SIDE = 4, NORTH = 0, SOUTH, WEST, EAST };

static int n, iterations;
static float *result;

static void check(int code) {
    if (code < 0) {
        fprintf(stderr, "cell %d: %s\n", APcell(), APerror());
        exit(1);
    }
}

static void *memory(size_t bytes) {
    void *given = APalloc(bytes);
    check(given ? AP_OK : AP_POINTER);
    return memset(given, 0, bytes);
}

/* At the start, and on the border for ever. */
static float initial(int row, int column) {
    return (float)((7 * row + 13 * column) % 31) / 31;
}

static float average(const float *at, int pitch) {
    return 0.25f * (at[-pitch] + at[pitch] + at[-1] + at[1]);
}

/* One iteration over height x width points with a border of one; gives how much the point that changed most has. */
static float iterate(const float *from, float *to, int height, int width) {
    int pitch = width + 2;
    float most = 0;
    for (int row = 1; row <= height; row++)
        for (int column = 1; column <= width; column++) {
            int at = row * pitch + column;
            float change = to[at] = average(from + at, pitch);
            change -= from[at];
            change = change < 0 ? -change : change;
            most = change > most ? change : most;
        }
    return most;
}

static void fill(float *grid, int height, int width, int row0, int column0) {
    for (int row = 0; row < height + 2; row++)
        for (int column = 0; column < width + 2; column++)
            grid[row * (width + 2) + column] = initial(row0 + row, column0 + column);
}

/* Puts the edges of `grid` into the neighbours' halos. */
static void exchange(float *grid, int *flags, int x, int y) {
    const APstride column = {1, n + 1};
    int pitch = n + 2, me = y * SIDE + x;
    float *first = grid + pitch + 1, *last = grid + n * pitch + n;
    if (y > 0)
        check(APput(me - SIDE, first, n, grid + (n + 1) * pitch + 1, flags + SOUTH, NULL));
    if (y < SIDE - 1)
        check(APput(me + SIDE, last - n + 1, n, grid + 1, flags + NORTH, NULL));
    if (x > 0)
        check(APput_stride(me - 1, first, &column, n, first + n, &column, flags + EAST, NULL));
    if (x < SIDE - 1)
        check(APput_stride(me + 1, first + n - 1, &column, n, first - 1, &column, flags + WEST, NULL));
}

static void await(const int *flags, int count, int x, int y) {
    if (y > 0)
        check(APwait_flag(flags + NORTH, count));
    if (y < SIDE - 1)
        check(APwait_flag(flags + SOUTH, count));
    if (x > 0)
        check(APwait_flag(flags + WEST, count));
    if (x < SIDE - 1)
        check(APwait_flag(flags + EAST, count));
}

static void gather(const float *grid) {
    const APstride block = {n, 2}, whole = {n, (SIDE - 1) * n};
    float *all = memory(sizeof *all * SIDE * SIDE * n * n);
    int *come = memory(sizeof *come);
    for (int cell = 0; cell < APcells(); cell++) {
        float *to = all + cell / SIDE * SIDE * n * n + cell % SIDE * n;
        check(APget_stride(cell, grid + n + 3, &block, n * n, to, &whole, come, NULL));
    }
    check(APwait_flag(come, APcells()));
    memcpy(result, all, sizeof *all * SIDE * SIDE * n * n);
}

static void program(void *arg) {
    int me = APcell(), x = me % SIDE, y = me / SIDE;
    size_t bytes = sizeof(float) * (n + 2) * (n + 2);
    float *grid[2] = {memory(bytes), memory(bytes)}, changed = 0;
    int *flags = memory(4 * sizeof *flags);
    unsigned bits, most;
    (void)arg;
    for (int i = 0; i < 2; i++)
        fill(grid[i], n, n, y * n, x * n);
    check(APbarrier());
    double start = APtime();
    for (int i = 0; i < iterations; i++) {
        /* A neighbour computes its edges from this cell's edges of the iteration before, so it is at most one iteration
         * ahead. Two grids in turn are enough, and one flag per side. */
        await(flags, i, x, y);
        changed = iterate(grid[i % 2], grid[1 - i % 2], n, n);
        exchange(grid[1 - i % 2], flags, x, y);
    }
    /* Floats that are not negative are in the order of their bits. */
    memcpy(&bits, &changed, sizeof bits);
    check(APreduce(AP_MAX, bits, &most));
    memcpy(&changed, &most, sizeof changed);
    if (me == 0) {
        printf("%d iterations on %d x %d points: %.1f us, the last changed %g\n", iterations, SIDE * n, SIDE * n,
               APtime() - start, changed);
        gather(grid[iterations % 2]);
    }
    /* Until all is gathered. */
    check(APbarrier());
}

/* Points of the serial computation that are not the same. */
static int compare(void) {
    int side = SIDE * n, wrong = 0;
    size_t bytes = sizeof(float) * (side + 2) * (side + 2);
    float *grid[2] = {malloc(bytes), malloc(bytes)};
    for (int i = 0; i < 2; i++)
        fill(grid[i], side, side, 0, 0);
    for (int i = 0; i < iterations; i++)
        iterate(grid[i % 2], grid[1 - i % 2], side, side);
    for (int row = 0; row < side; row++)
        for (int column = 0; column < side; column++) {
            const float *serial = grid[iterations % 2] + (row + 1) * (side + 2) + column + 1;
            wrong += memcmp(serial, result + row * side + column, sizeof *serial) != 0;
        }
    free(grid[0]);
    free(grid[1]);
    return wrong;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 16;
    iterations = argc > 2 ? atoi(argv[2]) : 20;
    if (n < 1 || n > 64 || iterations < 0) {
        fprintf(stderr, "stencil [points along a side of a block, 1 to 64] [iterations] [model or rtl]\n");
        return 1;
    }
    result = malloc(sizeof *result * SIDE * SIDE * n * n);
    if (APbackend(argc > 3 ? argv[3] : "model") || APrun(SIDE, SIDE, program, NULL)) {
        fprintf(stderr, "%s\n", APerror());
        return 1;
    }
    int wrong = compare();
    printf(wrong ? "%d points are wrong\n" : "every point is right\n", wrong);
    free(result);
    return wrong != 0;
}
