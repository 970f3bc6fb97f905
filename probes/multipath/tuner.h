/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.h - the share of a message for each path, learnt from transfers and
 * stored between runs.
 *
 * One tuner is for one pair of devices; it keeps a row for every size class
 * (messages of 2^k to 2^(k+1) - 1 bytes). A row has a line (a fixed cost and a
 * rate) for each path, initially from fits of the links (paths.h). After every
 * transfer the parameter with more influence moves towards the measurement. The
 * shares are those with which the lines end together, so that the fixed point
 * does not depend on the fits. A number that jumps by more than 30 % replaces
 * the old one instead of being averaged in: links change by large factors.
 * Chunks are varied now and then, and kept if that is faster. If several paths
 * are not faster than the direct one, the row uses the direct path, and retries
 * after a while (docs/algorithms-neighbor-multipath.md, section 4.3, moves
 * rates only; with separate costs two transfers suffice instead of five).
 *
 * Paths that share a resource (host memory) slow each other down, which no line
 * models. So after several paths were three times slower than the direct path
 * alone, one transfer uses the direct path, and decides.
 *
 * The sender alone decides; receivers need not agree. A frozen tuner repeats
 * its last decision and learns nothing, so that runs are repeatable.
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
	TUNER_FOLLOW,  /* observed */
	TUNER_EXPLORE, /* other chunks, or none, to see whether that is faster
			*/
	TUNER_DIRECT,  /* several paths would not be faster */
	TUNER_REPROBE, /* ... which is looked at again */
	TUNER_FROZEN,
	TUNER_WHY_MAX
};
extern const char *const tuner_whys[TUNER_WHY_MAX];

struct tuner_choice {
	double share[TUNER_PATHS_MAX]; /* [0]: the direct part */
	uint32_t chunks[TUNER_PATHS_MAX];
	enum tuner_why why;
	double expected_s; /* of the whole transfer */
	double direct_s;   /* time if all went directly, if known */
};

/* Results of one transfer; a path that carried nothing has bytes 0. */
struct tuner_seen {
	uint64_t bytes[TUNER_PATHS_MAX];
	double s[TUNER_PATHS_MAX]; /* from the start to the end of the path */
};

/* A size class. The table on disk stores all members. */
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
	/* the direct path while no other carries; how often in a row several
	 * paths were slower than it, and their time per byte then */
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

/* Choose how to send this many bytes (> 0). */
void tuner_choose(struct tuner *t, uint64_t bytes, struct tuner_choice *ret);
/* What came of it. */
void tuner_learn(struct tuner *t, uint64_t bytes, const struct tuner_choice *c,
    const struct tuner_seen *seen);
/* A path failed: it is not used until it is tried again. way >= 1. */
void tuner_lose(struct tuner *t, uint64_t bytes, uint32_t way);

/* A line through (bytes, seconds), relative errors alike: setup >= 0. -EINVAL
 * for less than two sizes or times that do not grow. */
int tuner_fit(const double *bytes, const double *seconds, uint32_t count,
    struct paths_direct *ret);

/* ---- the table on disk ----
 *
 * One JSON object: format "coalmine-tuning", version, machine (device, driver,
 * wiring), written_unix_s, and pairs; a pair has src, dst, the fits of its
 * links and its rows, and with each row the evidence: the number of transfers,
 * the bytes of each path, and the times behind the choice. It is replaced as a
 * whole (written to a new file, synced, renamed), so that a reader sees the old
 * table or the new one. */

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
/* Load a table. Return -ENOENT: it does not exist yet; -ESTALE: it is of
 * another machine than tt->machine; -EPROTO: malformed. err names the file and
 * the member. *tt gets pairs only on success. */
int tuner_load(struct tuner_table *tt, const char *path, struct err *err);
/* The same from text, for tests and fuzzing. */
int tuner_parse(struct tuner_table *tt, const char *path, const char *text,
    size_t text_bytes, struct err *err);

#endif
