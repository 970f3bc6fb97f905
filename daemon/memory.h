/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - keep freed pages in the allocator while records arrive. Otherwise
 * the kernel would provide the same pages again for every batch of records.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include <stdint.h>

struct memory {       /* Begins as zeros */
	uint64_t had; /* number of records at the last tick */
	unsigned ticks_left;
	long usual_ms;
};

/* Call it at every tick, with the number of records since the start. It does
 * nothing if the allocator is not mimalloc. */
void memory_tick(struct memory *m, uint64_t records);

#endif
