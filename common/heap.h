/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - numbers of which the lowest comes out first.
 *
 * Room for all of them is the caller's, so that nothing is allocated where
 * time is measured. Pushing and popping cost O(log count).
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
