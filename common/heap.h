/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - a priority queue of numbers, of which the lowest is removed first.
 *
 * The caller provides the memory for all numbers, so that nothing is allocated
 * while time is measured. Push and pop take O(log count).
 */
#ifndef COMMON_HEAP_H
#define COMMON_HEAP_H

#include <stdint.h>

/* A queue. Begins with count 0. */
struct heap {
	uint32_t *items; /* items[0] is the lowest */
	uint32_t count;
};

/* Add a number. */
void heap_push(struct heap *h, uint32_t item);
/* Remove and return the lowest number. The heap must not be empty. */
uint32_t heap_pop(struct heap *h);

#endif
