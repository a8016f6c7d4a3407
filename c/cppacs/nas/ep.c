/* Embarrassingly parallel: pairs of normal deviates, counted by size. */
#include "links.h"

#include <math.h>

#define SEED 271828183u
#define CIRCLES 10

void ep(const struct nas_job *job, struct nas_result *result) {
    const uint64_t pairs = (uint64_t)1 << (job->class == 'S' ? 24 : job->class == 'W' ? 25 : 28);
    const uint64_t first = pairs * job->node / job->nodes, end = pairs * (job->node + 1) / job->nodes;
    struct sum_links *links = sum_open(job);
    double sums[NAS_VALUES] = {0}, *counts = sums + 2; /* of the deviates x and y; of pairs in each ring */
    uint64_t seed = SEED;

    nas_random(&seed, nas_power(NAS_MULTIPLIER, 2 * first));
    for (uint64_t i = first; i < end; i++) {
        double x = 2 * nas_random(&seed, NAS_MULTIPLIER) - 1, y = 2 * nas_random(&seed, NAS_MULTIPLIER) - 1;
        double t = x * x + y * y;
        if (t > 1) continue;
        t = sqrt(-2 * log(t) / t);
        x *= t;
        y *= t;
        counts[(int)fmax(fabs(x), fabs(y))]++;
        sums[0] += x;
        sums[1] += y;
    }
    nas_compute(job->compute_us / job->nodes);
    sum_up(links, sums);
    sum_close(links);

    result->count = 3;
    result->value[0] = sums[0];
    result->value[1] = sums[1];
    result->value[2] = 0;
    for (int i = 0; i < CIRCLES; i++) result->value[2] += counts[i];
}
