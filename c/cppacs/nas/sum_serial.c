#include "links.h"

#include <stddef.h>

struct sum_links *sum_open(const struct nas_job *job) {
    (void)job;
    return NULL;
}

void sum_up(struct sum_links *links, double *values) {
    (void)links, (void)values;
}

void sum_close(struct sum_links *links) {
    (void)links;
}
