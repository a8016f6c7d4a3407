/* What the RDMA versions share. */
#ifndef NAS_RDMA_H
#define NAS_RDMA_H

#include "links.h"

#include <tsunagi_cppacs.h>

#define NAS_WAIT 1e9 /* us */

/* The result of a call, or the end of the program with the reason. */
int nas_done(int result);

/* An object; the end of the program where there is no memory. */
void *nas_object(const char *name, uint64_t bytes);

#endif
