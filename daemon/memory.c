/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - a batch of records is megabytes of small values, which are free
 * once it is committed. The allocator gives their pages back some milliseconds
 * later, and the next batch faults them in again: half of the loop's time. So
 * it keeps them while records arrive; always would be 3 KiB more for each
 * agent, of what handshakes leave.
 */
#include "daemon/memory.h"

#ifdef COALMINE_MIMALLOC
#include <mimalloc.h>
#if MI_MALLOC_VERSION >= 200 && MI_MALLOC_VERSION < 210
#define KEEP_DELAY mi_option_decommit_delay
#else
#define KEEP_DELAY mi_option_reset_delay
#endif
#endif

/* This many records between two ticks are a flow, which has ended after this
 * many ticks without. */
#define FLOW_RECORDS   250
#define FLOW_END_TICKS 20
#define FLOW_KEEP_MS   5000

void
memory_tick(struct memory *m, uint64_t records)
{
#ifdef COALMINE_MIMALLOC
	if (records - m->had >= FLOW_RECORDS) {
		if (m->ticks_left == 0) {
			m->usual_ms = mi_option_get(KEEP_DELAY);
			mi_option_set(KEEP_DELAY, FLOW_KEEP_MS);
		}
		m->ticks_left = FLOW_END_TICKS;
	} else if (m->ticks_left > 0 && --m->ticks_left == 0) {
		mi_option_set(KEEP_DELAY, m->usual_ms);
		mi_collect(0);
	}
	m->had = records;
#else
	(void)m;
	(void)records;
#endif
}
