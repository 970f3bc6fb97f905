/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - a priority queue of numbers: the lowest comes out first.
 *
 * The caller provides the memory for all of them, so that nothing is allocated
 * while time is measured. Push and pop take O(log count).
 */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

#include <stdint.h>

struct heap {
	uint32_t *items; /* items[0] is the lowest */
	uint32_t count;
};

void heap_push(struct heap *h, uint32_t item);
/* Of one that is not empty. */
uint32_t heap_pop(struct heap *h);

#endif
