/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - when a campaign starts next. Pure: time and chance come in.
 *
 * All times are UTC. A start has a base, aligned to the epoch (every) or to
 * the day (at), plus offset; jitter delays it by a random part of its span,
 * never beyond the window that holds the base.
 */
#ifndef DAEMON_SCHEDULE_SCHEDULE_H
#define DAEMON_SCHEDULE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"

#define SCHEDULE_TIMES_MAX 48

struct schedule {
	uint64_t every_ns; /* 0: at, or nothing */
	uint64_t offset_ns;
	uint64_t jitter_ns;
	size_t at_count;
	uint32_t at_min[SCHEDULE_TIMES_MAX]; /* minute of the day, ascending */
	size_t window_count;                 /* 0: any time */
	struct {
		uint32_t from_min, to_min; /* to <= from: over midnight */
	} window[SCHEDULE_TIMES_MAX];
};

/* The [schedule] of a campaign. -EINVAL with "file:line: ..." in why. */
int schedule_read(const struct conf *c, struct schedule *ret, struct err *err);
/* 1 when there is anything to wait for. */
int schedule_has(const struct schedule *s);
/* 1 when at lies in a window. */
int schedule_in_window(const struct schedule *s, uint64_t at_unix_ns);
/* The first base after after_unix_ns, and its start with chance (0..1) of the
 * jitter. 0 and nothing written when there is none. */
int schedule_next(const struct schedule *s, uint64_t after_unix_ns,
    double chance, uint64_t *ret_base_unix_ns, uint64_t *ret_start_unix_ns);

#endif
