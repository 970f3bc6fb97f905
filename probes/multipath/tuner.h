/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.h - which share of a message goes which path, learnt from transfers,
 * and what was learnt on a machine, kept between runs.
 *
 * One tuner is for one pair of devices; it keeps a row for every size class
 * (messages of 2^k to 2^(k+1) - 1 bytes). A row has a line for each way, what
 * it costs and its rate, from fits of the links (paths.h) at first; after
 * every transfer the one of the two that mattered more moves towards what was
 * seen. The shares are those for which the lines end together, so that the
 * fixed point is where the paths do, whatever the fits said. A number that
 * jumps by more than 30 % replaces the old one instead of being averaged in:
 * links change by halves, not by little. Chunks are varied now and then, and
 * kept if that is faster. When several ways are not faster than the direct one,
 * the row goes direct, and tries again after a while
 * (docs/algorithms-neighbor-multipath.md, section 4.3, which moves rates only:
 * with costs apart, it takes two transfers where those take five).
 *
 * Paths that share what they run through (the memory of a host) slow each other
 * down, which no line says. So when several were slower three times than the
 * direct path is alone, one transfer goes directly, and decides.
 *
 * The sender alone decides; receivers need not agree. Frozen, a tuner decides
 * as it last did and learns nothing, so that runs can be repeated.
 *
 * Path 0 is the direct one, paths 1 and up are staged. Seconds and bytes.
 */
#ifndef PROBES_MULTIPATH_TUNER_H
#define PROBES_MULTIPATH_TUNER_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/multipath/paths.h"

#define TUNER_PATHS_MAX 9 /* the direct one and 8 staged */
#define TUNER_CLASSES   64

enum tuner_why {
	TUNER_MODEL,   /* nothing seen yet: the closed form */
	TUNER_FOLLOW,  /* what was seen */
	TUNER_EXPLORE, /* other chunks, or none, to see whether that is faster
			*/
	TUNER_DIRECT,  /* several ways would not be faster */
	TUNER_REPROBE, /* ... which is looked at again */
	TUNER_FROZEN,
	TUNER_WHY_MAX
};
extern const char *const tuner_whys[TUNER_WHY_MAX];

struct tuner_choice {
	double share[TUNER_PATHS_MAX]; /* [0]: what goes directly */
	uint32_t chunks[TUNER_PATHS_MAX];
	enum tuner_why why;
	double expected_s; /* of the whole transfer */
	double direct_s;   /* had it all gone directly, as far as is known */
};

/* What one transfer was like; a way that carried nothing has bytes 0. */
struct tuner_seen {
	uint64_t bytes[TUNER_PATHS_MAX];
	double s[TUNER_PATHS_MAX]; /* from the start until the way was done */
};

/* A size class. All of it is what the table on disk keeps. */
struct tuner_row {
	uint64_t transfers; /* 0: the row is not used */
	uint64_t last_bytes;
	uint64_t carried[TUNER_PATHS_MAX];         /* bytes so far, by way */
	struct paths_direct line[TUNER_PATHS_MAX]; /* with these chunks: */
	uint32_t chunks[TUNER_PATHS_MAX];
	double direct_s, several_s; /* expected of last_bytes */
	uint32_t direct;            /* 1: goes directly */
	uint32_t since;             /* transfers since that was decided */
	/* exploring: which way (0: none), with how many chunks, how often so
	 * far, and the best time against the usual one */
	uint32_t trying, tried, looks;
	double best_s;
	/* the direct path while no other carries, how often in a row several
	 * were slower than that, and what a byte of them took then */
	struct paths_direct alone;
	uint32_t doubts;
	double doubted_s;
};

struct tuner {
	struct paths_links fits;
	struct tuner_row rows[TUNER_CLASSES];
	uint32_t chunks_max;
	int frozen;
};

void tuner_init(struct tuner *t, const struct paths_links *fits,
    uint32_t chunks_max);
/* 0 to TUNER_CLASSES - 1. */
uint32_t tuner_class(uint64_t bytes);

/* How to send so many bytes (> 0). */
void tuner_choose(struct tuner *t, uint64_t bytes, struct tuner_choice *ret);
/* What came of it. */
void tuner_learn(struct tuner *t, uint64_t bytes, const struct tuner_choice *c,
    const struct tuner_seen *seen);
/* A way broke: it carries nothing until it is tried again. way >= 1. */
void tuner_lose(struct tuner *t, uint64_t bytes, uint32_t way);

/* A line through (bytes, seconds), relative errors alike: setup >= 0. -EINVAL
 * for less than two sizes or times that do not grow. */
int tuner_fit(const double *bytes, const double *seconds, uint32_t count,
    struct paths_direct *ret);

/* ---- the table on disk ----
 *
 * One JSON object: format "coalmine-tuning", version, machine (what the table
 * holds for: device, driver, wiring), written_unix_s, and pairs; a pair has
 * src, dst, the fits of its links and its rows, and with each row the evidence:
 * how many transfers, how many bytes each path carried, and the times on which
 * the choice rests. It is replaced as a whole (written beside, synced,
 * renamed), so that a reader sees the old table or the new one. */

#define TUNER_MACHINE_BYTES 256
#define TUNER_PAIRS_MAX     4096

struct tuner_pair {
	uint32_t src, dst;
	struct tuner tuner;
};

struct tuner_table {
	char machine[TUNER_MACHINE_BYTES];
	struct tuner_pair *pairs;
	size_t count;
};

/* A pair's tuner, new and empty if it has none; valid until the next call. */
struct tuner *tuner_table_get(struct tuner_table *tt, uint32_t src,
    uint32_t dst);
void tuner_table_clear(struct tuner_table *tt); /* frees */

int tuner_save(const struct tuner_table *tt, const char *path, struct err *err);
/* -ENOENT: there is none yet; -ESTALE: it is of another machine than
 * tt->machine; -EPROTO: not such a table. why names the file and the member.
 * *tt gets pairs only on success. */
int tuner_load(struct tuner_table *tt, const char *path, struct err *err);
/* The same from text, for tests and fuzzing. */
int tuner_parse(struct tuner_table *tt, const char *path, const char *text,
    size_t text_bytes, struct err *err);

#endif
