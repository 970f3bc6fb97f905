/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - pages of the allocator while records arrive.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include <stdint.h>

struct memory {       /* begins as zeros */
	uint64_t had; /* records at the last tick */
	unsigned ticks_left;
	long usual_ms;
};

/* Call at every tick, with the number of records since the start. Does nothing
 * where the allocator is not mimalloc. */
void memory_tick(struct memory *m, uint64_t records);

#endif
