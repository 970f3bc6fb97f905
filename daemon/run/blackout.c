/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blackout.c - daily spans are checked on the days around a run, since one may
 * have begun the day before.
 */
#include "daemon/run/blackout.h"
#include "daemon/run/cost.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clk.h"
#include "common/str.h"

#define DAY_NS    (86400 * CLK_NS_PER_S)
#define MINUTE_NS (60 * CLK_NS_PER_S)

/* Parse "2026-12-24" as the start of that day. timegm accepts the 31st of April
 * as the 1st of May, so the result is compared with the input. */
static int
blackout_day_parse(const char *text, uint64_t *ret_unix_ns)
{
	struct tm tm = { .tm_mday = 0 }, back;
	char again[16];
	time_t t;
	int used = 0;

	if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		&used) != 3 ||
	    used != 10)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	t = timegm(&tm);
	if (t < 0 || gmtime_r(&t, &back) == NULL)
		return -EINVAL;
	strftime(again, sizeof(again), "%Y-%m-%d", &back);
	if (strncmp(again, text, 10) != 0)
		return -EINVAL;
	*ret_unix_ns = (uint64_t)t * CLK_NS_PER_S;
	return 0;
}

static int
blackout_minute_parse(const char *text, uint64_t *ret_ns)
{
	unsigned h, m;
	int used = 0;

	if (sscanf(text, "%2u:%2u%n", &h, &m, &used) != 2 || used != 5 ||
	    h > 24 || m > 59 || (h == 24 && m != 0))
		return -EINVAL;
	*ret_ns = (h * 60 + m) * MINUTE_NS;
	return 0;
}

int
blackout_parse(const char *text, struct blackout *ret, struct err *err)
{
	static const char allowed[] = "expected times in UTC such as "
				      "22:00-06:00 or 2026-12-24..2026-12-26";
	struct blackout b = { .count = 0 };
	size_t count = 0;
	char **list = str_list_parse(text, &count);
	int ok = list != NULL && count <= BLACKOUT_MAX;

	if (!ok)
		err_say(err, "\"%.80s\": %s", text, allowed);
	while (ok && b.count < count) {
		struct blackout_span *s = &b.span[b.count];
		const char *item = list[b.count++];

		s->daily = strstr(item, "..") == NULL;
		if (s->daily)
			ok = strlen(item) == 11 && item[5] == '-' &&
			    blackout_minute_parse(item, &s->from_ns) == 0 &&
			    blackout_minute_parse(item + 6, &s->to_ns) == 0 &&
			    s->from_ns != s->to_ns && s->from_ns != DAY_NS;
		else
			ok = strlen(item) == 22 &&
			    strncmp(item + 10, "..", 2) == 0 &&
			    blackout_day_parse(item, &s->from_ns) == 0 &&
			    blackout_day_parse(item + 12, &s->to_ns) == 0 &&
			    s->to_ns >= s->from_ns;
		if (!s->daily)
			s->to_ns += DAY_NS;
		if (!ok)
			err_say(err, "\"%.40s\": %s", item, allowed);
	}
	str_list_free(list);
	if (ok)
		*ret = b;
	return ok ? 0 : -EINVAL;
}

/* Return the end of s if it overlaps [from, to), else 0. */
static uint64_t
blackout_overlap(const struct blackout_span *s, uint64_t from, uint64_t to)
{
	uint64_t length = s->to_ns > s->from_ns
	    ? s->to_ns - s->from_ns
	    : s->to_ns + DAY_NS - s->from_ns;
	uint64_t day;

	if (!s->daily)
		return from < s->to_ns && to > s->from_ns ? s->to_ns : 0;
	/* it may have begun the day before */
	day = from / DAY_NS * DAY_NS;
	day = day >= DAY_NS ? day - DAY_NS : 0;
	for (int i = 0; i < 3; i++, day += DAY_NS) {
		uint64_t begin = day + s->from_ns, end = begin + length;

		if (from < end && to > begin)
			return end;
	}
	return 0;
}

int
blackout_hits(const struct blackout *b, uint64_t from_unix_ns, uint64_t span_ns,
    uint64_t *ret_end_unix_ns)
{
	uint64_t to = from_unix_ns + (span_ns > 0 ? span_ns : 1), first = 0;

	for (size_t i = 0; i < b->count; i++) {
		uint64_t end = blackout_overlap(&b->span[i], from_unix_ns, to);

		if (end != 0 && (first == 0 || end < first))
			first = end;
	}
	if (first != 0)
		*ret_end_unix_ns = first;
	return first != 0;
}
