/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.c - windows repeat every day, and can extend over midnight.
 */
#include "schema/window.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

int
window_minute_parse(const char *text, uint32_t *ret_min)
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

int
window_parse(const char *text, struct window_list *ret)
{
	struct window_list w = { .count = 0 };
	char **list = str_list_parse(text, &w.count);
	int rc = list == NULL || w.count > WINDOW_MAX ? -EINVAL : 0;

	for (size_t i = 0; rc == 0 && i < w.count; i++) {
		uint32_t *from = &w.of[i].from_min, *to = &w.of[i].to_min;
		char *dash = strchr(list[i], '-');

		if (dash != NULL)
			*dash = '\0';
		if (dash == NULL || window_minute_parse(list[i], from) < 0 ||
		    window_minute_parse(dash + 1, to) < 0 || *from == *to ||
		    *from == WINDOW_DAY_MIN)
			rc = -EINVAL;
	}
	str_list_free(list);
	if (rc == 0)
		*ret = w;
	return rc;
}

uint64_t
window_left_ns(const struct window_list *w, uint64_t at_unix_ns)
{
	uint64_t day_ns = at_unix_ns % WINDOW_DAY_NS, best = 0;

	for (size_t i = 0; i < w->count; i++) {
		uint64_t from = w->of[i].from_min * WINDOW_MINUTE_NS;
		uint64_t to = w->of[i].to_min * WINDOW_MINUTE_NS;
		uint64_t now = day_ns < from ? day_ns + WINDOW_DAY_NS : day_ns;

		if (to <= from)
			to += WINDOW_DAY_NS;
		if (now < to && to - now > best)
			best = to - now;
	}
	return w->count == 0 ? UINT64_MAX : best;
}

uint64_t
window_opens_ns(const struct window_list *w, uint64_t at_unix_ns)
{
	uint64_t day_ns = at_unix_ns % WINDOW_DAY_NS, best = WINDOW_DAY_NS;

	for (size_t i = 0; i < w->count; i++) {
		uint64_t from = w->of[i].from_min * WINDOW_MINUTE_NS;
		uint64_t wait = from > day_ns ? from - day_ns
					      : from + WINDOW_DAY_NS - day_ns;

		if (wait < best)
			best = wait;
	}
	return at_unix_ns + best;
}

char *
window_closed_format(const struct window_list *w)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (uint64_t at = 0, end; at < WINDOW_DAY_NS; at = end) {
		uint64_t left = window_left_ns(w, at);
		unsigned from = (unsigned)(at / WINDOW_MINUTE_NS), to;

		end = left > WINDOW_DAY_NS - at ? WINDOW_DAY_NS : at + left;
		if (left > 0)
			continue;
		end = window_opens_ns(w, at);
		end = end < WINDOW_DAY_NS ? end : WINDOW_DAY_NS;
		to = (unsigned)(end / WINDOW_MINUTE_NS);
		strbuf_addf(&sb, "%s%02u:%02u-%02u:%02u",
		    sb.len_bytes > 0 ? "," : "", from / 60, from % 60, to / 60,
		    to % 60);
	}
	return sb.text;
}
