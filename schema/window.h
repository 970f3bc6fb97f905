/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the times of day in which runs may start, UTC, such as
 * "22:00-06:00,12:00-13:00". Pure: times are arguments.
 */
#ifndef SCHEMA_WINDOW_H
#define SCHEMA_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define WINDOW_MAX       48
#define WINDOW_DAY_MIN   1440u /* minutes of a day */
#define WINDOW_MINUTE_NS 60000000000ULL
#define WINDOW_DAY_NS    (WINDOW_DAY_MIN * WINDOW_MINUTE_NS)
#define WINDOW_SYNTAX    "times of day such as 22:00-06:00"

/* A list of windows. */
struct window_list {
	size_t count; /* 0: any time */
	struct {
		uint32_t from_min, to_min; /* to <= from: over midnight */
	} of[WINDOW_MAX];
};

/* Parse "HH:MM" as a minute of the day; 24:00 is its end. Return 0 or
 * -EINVAL. */
int window_minute_parse(const char *text, uint32_t *ret_min);
/* Parse windows separated by commas; "" is an empty list. Return 0 or
 * -EINVAL. */
int window_parse(const char *text, struct window_list *ret);
/* Return the longest time that a window stays open; 0: all are closed;
 * UINT64_MAX: the list is empty. */
uint64_t window_left_ns(const struct window_list *w, uint64_t at_unix_ns);
/* Return the next opening of a window, after a time when all are closed. */
uint64_t window_opens_ns(const struct window_list *w, uint64_t at_unix_ns);
/* Return the times of day when all windows are closed, as a value of
 * schedule.blackout; the caller frees it. "": there is always one open. */
char *window_closed_format(const struct window_list *w);

#endif
