/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c - a binary heap in an array; an item moves up or down by leaving a gap
 * instead of by swapping.
 */
#include "common/heap.h"

#include <assert.h>

void
heap_push(struct heap *h, uint32_t item)
{
	uint32_t at = h->count++;

	for (; at > 0 && item < h->items[(at - 1) / 2]; at = (at - 1) / 2)
		h->items[at] = h->items[(at - 1) / 2];
	h->items[at] = item;
}

uint32_t
heap_pop(struct heap *h)
{
	uint32_t *items = h->items, lowest = items[0], at = 0, child, last;

	assert(h->count > 0);
	last = items[--h->count];
	while ((child = 2 * at + 1) < h->count) {
		if (child + 1 < h->count && items[child + 1] < items[child])
			child++;
		if (last <= items[child])
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = last;
	return lowest;
}
