#include "links.h"

void nas_sum(const struct nas_job *job, double *values, int count) {
    (void)job, (void)values, (void)count;
}
