/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_limit.h - the same failure of the same peer is told once. A table of
 * fixed size, so a scan from many addresses costs no memory; it also caps the
 * lines a minute, whoever they are about. Pure.
 */
#ifndef DAEMON_AGENTS_LOG_LIMIT_H
#define DAEMON_AGENTS_LOG_LIMIT_H

#include <stdint.h>

#define LOG_LIMIT_SLOTS        256
#define LOG_LIMIT_AGAIN_NS     (10 * 60 * 1000000000ULL)
#define LOG_LIMIT_LINES_MINUTE 30

struct log_limit {
	struct {
		uint64_t hash;
		uint64_t told_ns; /* 0: free */
	} slot[LOG_LIMIT_SLOTS];
	uint64_t minute_ns; /* start of the minute that lines counts */
	unsigned lines;
	uint64_t hidden; /* since the last line that was told */
};

/* 1 when it should be told now; *ret_hidden is then how many were not told
 * since the last one. */
int log_limit_tell(struct log_limit *o, const char *who, const char *what,
    uint64_t now_ns, uint64_t *ret_hidden);

#endif
