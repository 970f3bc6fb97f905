/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blackout.h - times without exclusive runs: daily, "22:00-06:00", or by date,
 * "2026-12-24..2026-12-26" (both days included). UTC. Pure.
 */
#ifndef DAEMON_RUN_BLACKOUT_H
#define DAEMON_RUN_BLACKOUT_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define BLACKOUT_MAX 64

/* A list of blackouts. */
struct blackout {
	size_t count;
	struct blackout_span {
		int daily;        /* then from and to are within a day */
		uint64_t from_ns; /* to <= from: over midnight */
		uint64_t to_ns;
	} span[BLACKOUT_MAX];
};

/* Parse a list separated by commas; "" is an empty list. Return -EINVAL with
 * the item in err. */
int blackout_parse(const char *text, struct blackout *ret, struct err *err);
/* Return 1 if a blackout overlaps the span that begins at from_unix_ns;
 * *ret_end_unix_ns is then the end of the earliest one. */
int blackout_hits(const struct blackout *b, uint64_t from_unix_ns,
    uint64_t span_ns, uint64_t *ret_end_unix_ns);

#endif
