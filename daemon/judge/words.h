/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - a verdict in plain words, with its evidence. Pure.
 */
#ifndef DAEMON_JUDGE_WORDS_H
#define DAEMON_JUDGE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/confirm.h"

#define WORDS_MAX 400

/* What a case is of. */
enum words_what {
	WORDS_NODE,
	WORDS_LEAF,
	WORDS_LINK,
	WORDS_HOST,
	WORDS_MAYBE,
	WORDS_DRIFT,   /* against its own past */
	WORDS_PROMISE, /* against a described machine */
	WORDS_WHAT_MAX
};
/* In one word or two, as the member what of a verdict. */
extern const char *const words_whats[WORDS_WHAT_MAX];

struct words_case {
	enum words_what what;
	const char *subject; /* "node5", "leaf2" */
	double effect;       /* logarithm, larger is worse */
	int is_rate;         /* 1: effect is of bytes per second */
	int is_loss;         /* 1: of lost echoes (loss.h) */
	const char *test;
	size_t partners, slow_partners; /* 0: not known */
	size_t places, slow_places;     /* of a leaf */
	uint32_t rounds;
	int partners_normal; /* 1: the others are normal elsewhere */
	const char *nic;     /* "": no counters */
	int64_t nic_drops;
	const char *host; /* what troubles the host, or "" */
	/* A pinned baseline, or "": its own recent weeks; of a promise the
	 * machine. */
	const char *past;
	int passed; /* 1: finding is of a second pass */
	enum confirm_finding finding;
};
void words_write(const struct words_case *c, char ret[WORDS_MAX]);
/* What a second pass has found, as what of a case. */
enum words_what words_what_found(enum confirm_finding finding);
/* "28 %" slower, or "9.8 times". */
void words_slower(double effect, int is_rate, char ret[24]);

#endif
