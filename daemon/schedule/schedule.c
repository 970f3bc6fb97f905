/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - bases are multiples of the interval or times of day; those
 * outside all windows move on to the next window.
 */
#include "daemon/schedule/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/str.h"
#include "daemon/schedule/campaign.h"

/* Limit of bases that are tried: each base outside of a window moves to the
 * next window, so this covers more than a year of days. */
#define TRIES_MAX 4096

static int
schedule_complain(const struct conf *c, const char *key, const char *allowed,
    struct err *err)
{
	return err_set(err, -EINVAL, "%s: schedule.%s \"%s\": expected %s, UTC",
	    conf_where(c, "schedule", key), key,
	    conf_string(c, "schedule", key), allowed);
}

static int
schedule_minute_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int
schedule_read(const struct conf *c, struct schedule *ret, struct err *err)
{
	struct schedule s = { 0 };
	char **list;
	int rc;

	s.every_ns = conf_span_ns(c, "schedule", "every");
	s.offset_ns = conf_span_ns(c, "schedule", "offset");
	s.jitter_ns = conf_span_ns(c, "schedule", "jitter");
	list = str_list_parse(conf_string(c, "schedule", "at"), &s.at_count);
	rc = list == NULL || s.at_count > SCHEDULE_TIMES_MAX ? -EINVAL : 0;
	for (size_t i = 0; rc == 0 && i < s.at_count; i++) {
		rc = window_minute_parse(list[i], &s.at_min[i]);
		if (s.at_min[i] == WINDOW_DAY_MIN)
			rc = -EINVAL;
	}
	str_list_free(list);
	if (rc < 0)
		return schedule_complain(c, "at",
		    "times of day such as 02:00,14:30", err);
	qsort(s.at_min, s.at_count, sizeof(s.at_min[0]),
	    schedule_minute_compare);
	if (window_parse(conf_string(c, "schedule", "window"), &s.window) < 0)
		return schedule_complain(c, "window", WINDOW_SYNTAX, err);
	if (s.every_ns != 0 && s.at_count != 0)
		return err_set(err, -EINVAL,
		    "%s: schedule.at cannot be combined with schedule.every",
		    conf_where(c, "schedule", "at"));
	if (s.every_ns != 0 && s.every_ns < CLK_NS_PER_S)
		return err_set(err, -EINVAL,
		    "%s: schedule.every: expected at least 1s",
		    conf_where(c, "schedule", "every"));
	*ret = s;
	return 0;
}

int
schedule_has(const struct schedule *s)
{
	return s->every_ns != 0 || s->at_count != 0;
}

/* Return the first base after a time: k * every + offset, or a time of day plus
 * offset. */
static uint64_t
schedule_base_after(const struct schedule *s, uint64_t after)
{
	uint64_t shifted = after > s->offset_ns ? after - s->offset_ns : 0;
	uint64_t day = shifted / WINDOW_DAY_NS * WINDOW_DAY_NS;

	if (s->every_ns != 0) {
		uint64_t phase = s->offset_ns % s->every_ns;
		uint64_t k = after < phase ? 0
					   : (after - phase) / s->every_ns + 1;

		return k * s->every_ns + phase;
	}
	for (size_t i = 0; i < s->at_count; i++) {
		uint64_t base = day + s->at_min[i] * WINDOW_MINUTE_NS +
		    s->offset_ns;

		if (base > after)
			return base;
	}
	return day + WINDOW_DAY_NS + s->at_min[0] * WINDOW_MINUTE_NS +
	    s->offset_ns;
}

int
schedule_next(const struct schedule *s, uint64_t after_unix_ns, double chance,
    uint64_t *ret_base_unix_ns, uint64_t *ret_start_unix_ns)
{
	uint64_t after = after_unix_ns;

	if (!schedule_has(s))
		return 0;
	for (int i = 0; i < TRIES_MAX; i++) {
		uint64_t base = schedule_base_after(s, after);
		uint64_t left = window_left_ns(&s->window, base);
		uint64_t jitter = s->jitter_ns;

		if (left == 0) {
			/* Start just before the window, so that a base at its
			 * start counts. */
			after = window_opens_ns(&s->window, base) - 1;
			continue;
		}
		if (jitter >= left)
			jitter = left - 1;
		*ret_base_unix_ns = base;
		*ret_start_unix_ns = base + (uint64_t)((double)jitter * chance);
		return 1;
	}
	return 0;
}

int
schedule_is_far(const struct schedule *s, uint64_t base_unix_ns,
    uint64_t now_unix_ns)
{
	uint64_t base = now_unix_ns, start;

	for (int i = 0; i < 2; i++)
		if (!schedule_next(s, base, 0, &base, &start))
			return 0;
	return base_unix_ns > base;
}
