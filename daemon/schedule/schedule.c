/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"

#define DAY_MIN   1440u
#define MINUTE_NS (60 * CLK_NS_PER_S)
#define DAY_NS    (DAY_MIN * MINUTE_NS)
/* Bases looked at before giving up: each that misses its window moves on to
 * the next window, so this is more than a year of days. */
#define TRIES_MAX 4096

/* "HH:MM", 24:00 being the end of the day. */
static int
minute_parse(const char *text, uint32_t *ret_min)
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
complain(const struct conf *c, const char *key, const char *allowed,
    struct err *err)
{
	return err_set(err, -EINVAL, "%s: schedule.%s \"%s\": expected %s, UTC",
	    conf_where(c, "schedule", key), key,
	    conf_string(c, "schedule", key), allowed);
}

static int
minute_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int
at_read(const struct conf *c, struct schedule *s)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, "schedule", "at"), &count);
	int rc = list == NULL || count > SCHEDULE_TIMES_MAX ? -EINVAL : 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = minute_parse(list[i], &s->at_min[i]);
		if (rc == 0 && s->at_min[i] == DAY_MIN)
			rc = -EINVAL;
	}
	if (rc == 0) {
		s->at_count = count;
		qsort(s->at_min, count, sizeof(s->at_min[0]), minute_compare);
	}
	str_list_free(list);
	return rc;
}

static int
window_parse(char *text, uint32_t *ret_from, uint32_t *ret_to)
{
	char *dash = strchr(text, '-');

	if (dash == NULL)
		return -EINVAL;
	*dash = '\0';
	if (minute_parse(text, ret_from) < 0 ||
	    minute_parse(dash + 1, ret_to) < 0 || *ret_from == *ret_to ||
	    *ret_from == DAY_MIN)
		return -EINVAL;
	return 0;
}

static int
windows_read(const struct conf *c, struct schedule *s)
{
	size_t count;
	char **list = str_list_parse(conf_string(c, "schedule", "window"),
	    &count);
	int rc = list == NULL || count > SCHEDULE_TIMES_MAX ? -EINVAL : 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = window_parse(list[i], &s->window[i].from_min,
		    &s->window[i].to_min);
	if (rc == 0)
		s->window_count = count;
	str_list_free(list);
	return rc;
}

int
schedule_read(const struct conf *c, struct schedule *ret, struct err *err)
{
	struct schedule s = { 0 };

	s.every_ns = conf_span_ns(c, "schedule", "every");
	s.offset_ns = conf_span_ns(c, "schedule", "offset");
	s.jitter_ns = conf_span_ns(c, "schedule", "jitter");
	if (at_read(c, &s) < 0)
		return complain(c, "at", "times of day as 02:00,14:30", err);
	if (windows_read(c, &s) < 0)
		return complain(c, "window", "times of day as 22:00-06:00",
		    err);
	if (s.every_ns != 0 && s.at_count != 0)
		return err_set(err, -EINVAL,
		    "%s: schedule.at and schedule.every exclude each other",
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

/* How long window i stays open from a time of the day on; 0: it is shut. */
static uint64_t
open_for_ns(const struct schedule *s, size_t i, uint64_t day_ns)
{
	uint64_t from = s->window[i].from_min * MINUTE_NS;
	uint64_t to = s->window[i].to_min * MINUTE_NS;

	if (to > from)
		return day_ns >= from && day_ns < to ? to - day_ns : 0;
	if (day_ns >= from)
		return DAY_NS - day_ns + to;
	return day_ns < to ? to - day_ns : 0;
}

/* The longest that any window is still open; 0: all are shut. */
static uint64_t
window_left_ns(const struct schedule *s, uint64_t at_unix_ns)
{
	uint64_t best = 0;

	for (size_t i = 0; i < s->window_count; i++) {
		uint64_t left = open_for_ns(s, i, at_unix_ns % DAY_NS);

		if (left > best)
			best = left;
	}
	return s->window_count == 0 ? UINT64_MAX : best;
}

int
schedule_in_window(const struct schedule *s, uint64_t at_unix_ns)
{
	return window_left_ns(s, at_unix_ns) > 0;
}

/* When the next window opens, after a time when all are shut. */
static uint64_t
window_opens_ns(const struct schedule *s, uint64_t at_unix_ns)
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

/* base = k * every + offset, the first after a time. */
static uint64_t
every_after(const struct schedule *s, uint64_t after)
{
	uint64_t phase = s->offset_ns % s->every_ns;
	uint64_t k = after < phase ? 0 : (after - phase) / s->every_ns + 1;

	return k * s->every_ns + phase;
}

/* The first time of day, shifted by offset, after a time. */
static uint64_t
at_after(const struct schedule *s, uint64_t after)
{
	uint64_t shifted = after > s->offset_ns ? after - s->offset_ns : 0;
	uint64_t day = shifted / DAY_NS;

	for (size_t i = 0; i < s->at_count; i++) {
		uint64_t base = day * DAY_NS + s->at_min[i] * MINUTE_NS +
		    s->offset_ns;

		if (base > after)
			return base;
	}
	return (day + 1) * DAY_NS + s->at_min[0] * MINUTE_NS + s->offset_ns;
}

int
schedule_next(const struct schedule *s, uint64_t after_unix_ns, double chance,
    uint64_t *ret_base_unix_ns, uint64_t *ret_start_unix_ns)
{
	uint64_t after = after_unix_ns;

	if (!schedule_has(s))
		return 0;
	for (int i = 0; i < TRIES_MAX; i++) {
		uint64_t base = s->every_ns != 0 ? every_after(s, after)
						 : at_after(s, after);
		uint64_t left = window_left_ns(s, base);
		uint64_t jitter = s->jitter_ns;

		if (left == 0) {
			/* Just before the window, so that a base at its very
			 * start counts. */
			after = window_opens_ns(s, base) - 1;
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
