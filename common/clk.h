/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clk.h - the two clocks, and durations as text.
 *
 * clk_ns is the monotonic clock, for durations. clk_unix_ns is the wall clock
 * (since 1970), for time stamps only. Tests replace both.
 */
#ifndef COMMON_CLK_H
#define COMMON_CLK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#define CLK_NS_PER_S  1000000000ULL
#define CLK_NS_PER_MS 1000000ULL
#define CLK_NS_PER_US 1000ULL

uint64_t clk_ns(void);
uint64_t clk_unix_ns(void);
/* Replace the clocks by functions; NULL restores the real clock. */
void clk_set_source(uint64_t (*monotonic_ns)(void), uint64_t (*unix_ns)(void));
/* Sleep for this time. */
void clk_sleep_ns(uint64_t span_ns);
/* Return a duration as timers and sockets expect it. */
struct timeval clk_timeval(uint64_t span_ns);

/* Parse a duration: "90s", "5m", "1h30m", "250ms", "10us", "2d"; a number
 * without a unit is seconds. Return 0; -EINVAL for any other text, including
 * negative durations; -ERANGE above 292 years. */
int clk_span_parse(const char *text, uint64_t *ret_ns);
/* Write a duration: "34.2us", "1.5s", "2h03m"; at most 16 bytes with the
 * NUL. */
void clk_span_format(uint64_t span_ns, char *ret, size_t cap_bytes);
/* Write a time in UTC with milliseconds (RFC 3339):
 * "2026-11-20T19:12:00.000Z". */
void clk_unix_format(uint64_t unix_ns, char *ret, size_t cap_bytes);

#endif
