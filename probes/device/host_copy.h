/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_copy.h - memcpy, past the caches where what is copied exceeds them.
 *
 * A store fetches its line first, and throws others out: a third of the
 * memory's traffic for nothing. The C library copies around that only from
 * most of the last cache on, which a large server counts in hundreds of MiB
 * although many processes share it.
 */
#ifndef PROBES_DEVICE_HOST_COPY_H
#define PROBES_DEVICE_HOST_COPY_H

#include <stddef.h>

/* The ranges do not overlap. */
void host_copy(void *to, const void *from, size_t bytes);

#endif
