/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - the next start of a campaign. Pure: time and chance are
 * arguments.
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
#include "schema/window.h"

#define SCHEDULE_TIMES_MAX 48

/* The schedule of a campaign. */
struct schedule {
	uint64_t every_ns; /* 0: at, or nothing */
	uint64_t offset_ns;
	uint64_t jitter_ns;
	size_t at_count;
	uint32_t at_min[SCHEDULE_TIMES_MAX]; /* minute of the day, ascending */
	struct window_list window;
};

/* Read section [schedule] of a campaign. Return 0, or -EINVAL with "FILE:LINE:
 * ..." in err. */
int schedule_read(const struct conf *c, struct schedule *ret, struct err *err);
/* Return 1 if the schedule has any starts. */
int schedule_has(const struct schedule *s);
/* Write the first base after after_unix_ns, and its start with chance (0..1) of
 * the jitter. Return 0, without writing, if no more starts follow. */
int schedule_next(const struct schedule *s, uint64_t after_unix_ns,
    double chance, uint64_t *ret_base_unix_ns, uint64_t *ret_start_unix_ns);
/* Return 1 if a base is later than the second one from now: the clock has been
 * set back since it was planned. A small step back repeats no start. */
int schedule_is_far(const struct schedule *s, uint64_t base_unix_ns,
    uint64_t now_unix_ns);

#endif
