/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_limit.h - log the same failure of the same peer once. The table has a
 * fixed size, so a scan from many addresses costs no memory; it also limits the
 * lines a minute of all peers together. Pure.
 */
#ifndef DAEMON_AGENTS_LOG_LIMIT_H
#define DAEMON_AGENTS_LOG_LIMIT_H

#include <stdint.h>

#define LOG_LIMIT_SLOTS        256
#define LOG_LIMIT_AGAIN_NS     (10 * 60 * 1000000000ULL)
#define LOG_LIMIT_LINES_MINUTE 30

/* The table. Begins as zeros. */
struct log_limit {
	struct {
		uint64_t hash;
		uint64_t told_ns; /* 0: free */
	} slot[LOG_LIMIT_SLOTS];
	uint64_t minute_ns; /* start of the minute that lines counts */
	unsigned lines;
	uint64_t hidden; /* lines hidden since the last logged line */
};

/* Return 1 if it should be logged now; *ret_hidden is then the number of lines
 * hidden since the last one. */
int log_limit_tell(struct log_limit *o, const char *who, const char *what,
    uint64_t now_ns, uint64_t *ret_hidden);

#endif
