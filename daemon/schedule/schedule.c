/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.c - bases are multiples of the interval or times of day; those
 * outside all windows move on to the next window.
 */
#include "daemon/schedule/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/str.h"
#include "daemon/schedule/campaign.h"

#define DAY_MIN   1440u
#define MINUTE_NS (60 * CLK_NS_PER_S)
#define DAY_NS    (DAY_MIN * MINUTE_NS)
/* Limit of bases that are tried: each base outside of a window moves to the
 * next window, so this covers more than a year of days. */
#define TRIES_MAX 4096

/* Parse "HH:MM"; 24:00 is the end of the day. */
static int
schedule_minute_parse(const char *text, uint32_t *ret_min)
{
	unsigned h, m;
	int used = 0;

	if (sscanf(text, "%2u:%2u%n", &h, &m, &used) != 2 ||
	    text[used] != '\0' || strchr("0123456789", text[0]) == NULL ||
	    m > 59 || h > 24 || (h == 24 && m != 0))
		return -EINVAL;
	*ret_min = h * 60 + m;
	return 0;
}

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
		rc = schedule_minute_parse(list[i], &s.at_min[i]);
		if (s.at_min[i] == DAY_MIN)
			rc = -EINVAL;
	}
	str_list_free(list);
	if (rc < 0)
		return schedule_complain(c, "at",
		    "times of day such as 02:00,14:30", err);
	qsort(s.at_min, s.at_count, sizeof(s.at_min[0]),
	    schedule_minute_compare);
	list = str_list_parse(conf_string(c, "schedule", "window"),
	    &s.window_count);
	rc = list == NULL || s.window_count > SCHEDULE_TIMES_MAX ? -EINVAL : 0;
	for (size_t i = 0; rc == 0 && i < s.window_count; i++) {
		uint32_t *from = &s.window[i].from_min;
		uint32_t *to = &s.window[i].to_min;
		char *dash = strchr(list[i], '-');

		if (dash != NULL)
			*dash = '\0';
		if (dash == NULL || schedule_minute_parse(list[i], from) < 0 ||
		    schedule_minute_parse(dash + 1, to) < 0 || *from == *to ||
		    *from == DAY_MIN)
			rc = -EINVAL;
	}
	str_list_free(list);
	if (rc < 0)
		return schedule_complain(c, "window",
		    "times of day such as 22:00-06:00", err);
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

/* Return the longest time that a window stays open; 0: all are closed. */
static uint64_t
schedule_window_left_ns(const struct schedule *s, uint64_t at_unix_ns)
{
	uint64_t day_ns = at_unix_ns % DAY_NS, best = 0;

	for (size_t i = 0; i < s->window_count; i++) {
		uint64_t from = s->window[i].from_min * MINUTE_NS;
		uint64_t to = s->window[i].to_min * MINUTE_NS;
		uint64_t now = day_ns < from ? day_ns + DAY_NS : day_ns;

		if (to <= from)
			to += DAY_NS;
		if (now < to && to - now > best)
			best = to - now;
	}
	return s->window_count == 0 ? UINT64_MAX : best;
}

/* Return the next opening of a window, after a time when all are closed. */
static uint64_t
schedule_window_opens_ns(const struct schedule *s, uint64_t at_unix_ns)
{
	uint64_t day_ns = at_unix_ns % DAY_NS, best = DAY_NS;

	for (size_t i = 0; i < s->window_count; i++) {
		uint64_t from = s->window[i].from_min * MINUTE_NS;
		uint64_t wait = from > day_ns ? from - day_ns
					      : from + DAY_NS - day_ns;

		if (wait < best)
			best = wait;
	}
	return at_unix_ns + best;
}

/* Return the first base after a time: k * every + offset, or a time of day plus
 * offset. */
static uint64_t
schedule_base_after(const struct schedule *s, uint64_t after)
{
	uint64_t shifted = after > s->offset_ns ? after - s->offset_ns : 0;
	uint64_t day = shifted / DAY_NS * DAY_NS;

	if (s->every_ns != 0) {
		uint64_t phase = s->offset_ns % s->every_ns;
		uint64_t k = after < phase ? 0
					   : (after - phase) / s->every_ns + 1;

		return k * s->every_ns + phase;
	}
	for (size_t i = 0; i < s->at_count; i++) {
		uint64_t base = day + s->at_min[i] * MINUTE_NS + s->offset_ns;

		if (base > after)
			return base;
	}
	return day + DAY_NS + s->at_min[0] * MINUTE_NS + s->offset_ns;
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
		uint64_t left = schedule_window_left_ns(s, base);
		uint64_t jitter = s->jitter_ns;

		if (left == 0) {
			/* Start just before the window, so that a base at its
			 * start counts. */
			after = schedule_window_opens_ns(s, base) - 1;
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
