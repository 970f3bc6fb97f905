/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - a batch of records has megabytes of small values, which are freed
 * after the commit. The allocator returns their pages to the kernel some
 * milliseconds later, and the next batch faults them in again, which takes half
 * of the loop's time. So pages are kept while records arrive. Keeping them
 * always would cost 3 KiB more for each agent, left by handshakes.
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

/* Records are arriving if there are this many between two ticks, until this
 * many ticks have fewer. */
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
