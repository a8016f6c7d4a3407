/* Heat in a rod whose ends are cold, in blocks on a grid of nodes. Node 0 broadcasts the conductivity. In each step a
 * node kicks a prepared transfer to either neighbour, without a system call, and waits for theirs. Halos take turns: a
 * neighbour that is a step ahead does not overwrite what has not been read, and no neighbour is two steps ahead. At the
 * end node 0 GETs all blocks, and compares them bit by bit with a serial computation.
 * Arguments: points of a block, steps, backend (model or rtl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsunagi_cppacs.h>

enum { LEFT, RIGHT, SIDES };

static const double BOUND = 1e6; /* us */
static int n, steps, wrong;

static int check(int result) {
    if (result < 0) {
        fprintf(stderr, "node %d: %s\n", CPnode(), CPerror());
        exit(1);
    }
    return result;
}

static void *object(const char *name, size_t bytes) {
    void *at = CPobject(name, bytes);
    check(at ? CP_OK : CP_MEMORY);
    return memset(at, 0, bytes);
}

static double initial(int at) {
    return at % 17 * 0.25;
}

/* One step of points 1 to `count`; those beside them are what they were. */
static void conduct(double *points, int count, double k) {
    double before = points[0];
    for (int i = 1; i <= count; i++) {
        const double now = points[i];
        points[i] = now + k * (before - 2 * now + points[i + 1]);
        before = now;
    }
}

/* All get what node 0 has. */
static double broadcast(double value) {
    const int all = CP_ALL_X | CP_ALL_Y | CP_ALL_Z;
    double *at = object("all:value", 16);
    const int field = check(CPfield_create(at, 8, 0, CP_WRITE));
    check(CPbarrier(BOUND));
    if (CPnode() == 0) {
        at[1] = value;
        check(CPsend(at + 1, 8, check(CPright_get(all, "all:value", 0, BOUND)), 0, 0));
    }
    check(CPwait(field, 1, BOUND));
    return at[0];
}

static void compare(int nodes, double k) {
    double *rod = calloc(n * nodes + 2, sizeof *rod), *block = object("copy", 8 * n);
    const int into = check(CPfield_create(block, 8 * n, 0, CP_WRITE));
    for (int i = 0; i < n * nodes; i++) rod[i + 1] = initial(i);
    for (int step = 0; step < steps; step++) conduct(rod, n * nodes, k);
    for (int node = 0; node < nodes; node++) {
        check(CPget(check(CPright_get(node, "block", 0, BOUND)), 8, into, 0, 8 * n));
        if (memcmp(block, rod + 1 + node * n, 8 * n)) printf("node %d has other values\n", node), wrong = 1;
    }
    free(rod);
}

static void program(void *arg) {
    const int me = CPnode(), nodes = CPnodes();
    const double k = broadcast(*(double *)arg);
    double *points = object("block", 8 * (n + 2)), *halos = object("halos", 8 * 2 * SIDES);
    int field[2][SIDES], tcw[2][SIDES] = {{0}}, is_there[SIDES] = {me > 0, me < nodes - 1};
    check(CPfield_create(points, 8 * (n + 2), 0, CP_READ));
    for (int i = 0; i < 2 * SIDES; i++)
        field[i / SIDES][i % SIDES] = check(CPfield_create(halos + i, 8, i, CP_WRITE));
    for (int i = 0; i < 2 * SIDES; i++) {
        const int side = i % SIDES;
        if (!is_there[side]) continue;
        const int right = check(CPright_get(side == LEFT ? me - 1 : me + 1, "halos", i ^ 1, BOUND));
        tcw[i / SIDES][side] = check(CPtcw_make(points + (side == LEFT ? 1 : n), 8, right, 0, CP_ACK | CP_FLAG));
    }
    for (int i = 0; i < n; i++) points[i + 1] = initial(me * n + i);
    for (int step = 0; step < steps; step++) {
        int sent[SIDES] = {0};
        for (int side = 0; side < SIDES; side++)
            if (is_there[side]) sent[side] = check(CPkick_fast(tcw[step % 2][side]));
        for (int side = 0; side < SIDES; side++) {
            if (!is_there[side]) continue;
            check(CPwait(field[step % 2][side], 1, BOUND));
            points[side == LEFT ? 0 : n + 1] = halos[step % 2 * SIDES + side];
            check(CPwait_sent(sent[side]));
        }
        conduct(points, n, k);
        check(CPcompute(0.02 * n));
    }
    check(CPbarrier(BOUND));
    const double end = CPtime();
    if (me == 0) compare(nodes, k);
    check(CPbarrier(BOUND));
    if (me == 0 && !wrong) printf("%d steps of %d points on %d nodes: %.1f us\n", steps, n * nodes, nodes, end);
}

int main(int argc, char **argv) {
    double k = 0.25;
    n = argc > 1 ? atoi(argv[1]) : 64;
    steps = argc > 2 ? atoi(argv[2]) : 50;
    if ((argc > 3 && CPbackend(argv[3]) < 0) || CPrun(2, 2, 2, program, &k) < 0) {
        fprintf(stderr, "%s\n", CPerror());
        return 1;
    }
    return wrong;
}
