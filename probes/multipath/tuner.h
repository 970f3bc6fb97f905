/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.h - the share of a message that each path should carry, learnt from
 * transfers and stored between runs.
 *
 * One tuner is for one pair of devices. It keeps a row for every size class
 * (messages of 2^k to 2^(k+1) - 1 bytes). A row has a line (a fixed cost and a
 * rate) for each path, which is initially computed from fits of the links
 * (paths.h). After every transfer, the parameter with more influence moves
 * towards the measurement. The shares are those with which all lines end
 * together, so that the fixed point does not depend on the fits. A value that
 * jumps by more than 30 % replaces the old one instead of being averaged in,
 * because links change by large factors. The number of chunks is varied now and
 * then, and kept if that is faster. If several paths are not faster than the
 * direct one, the row uses the direct path, and retries after a while.
 * (docs/algorithms-neighbor-multipath.md, section 4.3, moves rates only. With
 * separate costs two transfers suffice instead of five.)
 *
 * Paths that share a resource, such as host memory, slow each other down, which
 * no line models. Therefore, after several paths were slower than the direct
 * path three times, one transfer uses the direct path alone, and its time
 * decides.
 *
 * Only the sender decides; receivers need not agree. A frozen tuner repeats its
 * last decision and learns nothing, so that runs are repeatable.
 *
 * Path 0 is the direct path, paths 1 and up are staged. Times are in seconds,
 * sizes in bytes.
 */
#ifndef PROBES_MULTIPATH_TUNER_H
#define PROBES_MULTIPATH_TUNER_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "probes/multipath/paths.h"

#define TUNER_PATHS_MAX 9 /* the direct one and 8 staged */
#define TUNER_CLASSES   64

/* The reason for a choice. */
enum tuner_why {
	TUNER_MODEL,  /* no transfer was observed yet: the closed form */
	TUNER_FOLLOW, /* the lines, learnt from observed transfers */
	/* Another number of chunks, or no chunks, is tried. */
	TUNER_EXPLORE,
	TUNER_DIRECT, /* several paths would not be faster */
	/* The direct path was chosen before; several paths are retried. */
	TUNER_REPROBE,
	TUNER_FROZEN, /* the tuner is frozen */
	TUNER_WHY_MAX
};
extern const char *const tuner_whys[TUNER_WHY_MAX];

/* How to send a message. */
struct tuner_choice {
	/* Share of each path; [0]: the direct one. */
	double share[TUNER_PATHS_MAX];
	uint32_t chunks[TUNER_PATHS_MAX];
	enum tuner_why why;
	double expected_s; /* expected time of the whole transfer */
	double direct_s;   /* time if the direct path carried all, if known */
};

/* The result of one transfer. A path that carried nothing has 0 bytes. */
struct tuner_seen {
	uint64_t bytes[TUNER_PATHS_MAX];
	/* Seconds from the start of the transfer to the end of the path. */
	double s[TUNER_PATHS_MAX];
};

/* The state of a size class. The table on disk stores all members. */
struct tuner_row {
	uint64_t transfers;                /* 0: the row is not used */
	uint64_t last_bytes;               /* size of the last message */
	uint64_t carried[TUNER_PATHS_MAX]; /* bytes so far, by path */
	/* Cost of each path with these chunks: */
	struct paths_direct line[TUNER_PATHS_MAX];
	uint32_t chunks[TUNER_PATHS_MAX];
	double direct_s, several_s; /* expected times of last_bytes */
	uint32_t direct;            /* 1: the direct path is used alone */
	uint32_t since;             /* transfers since that decision */
	/* Exploration: the path whose chunks are varied (0: none), the number
	 * of chunks that is tried, the number of transfers with it so far, and
	 * the best time relative to the usual one. */
	uint32_t trying, tried, looks;
	double best_s;
	/* The cost of the direct path while no other path carries anything; how
	 * many times in a row several paths were slower than that; and their
	 * time per byte then. */
	struct paths_direct alone;
	uint32_t doubts;
	double doubted_s;
};

/* The tuner of a pair of devices. */
struct tuner {
	struct paths_links fits;
	struct tuner_row rows[TUNER_CLASSES];
	uint32_t chunks_max;
	int frozen; /* 1: see above */
};

/* Begin a tuner without observations; fits are copied. */
void tuner_init(struct tuner *t, const struct paths_links *fits,
    uint32_t chunks_max);
/* Return the size class of this many bytes, 0 to TUNER_CLASSES - 1. */
uint32_t tuner_class(uint64_t bytes);

/* Choose how to send a message of this many bytes (> 0). */
void tuner_choose(struct tuner *t, uint64_t bytes, struct tuner_choice *ret);
/* Learn from the transfer that was sent with the choice c. */
void tuner_learn(struct tuner *t, uint64_t bytes, const struct tuner_choice *c,
    const struct tuner_seen *seen);
/* Record that path `way` (>= 1) failed. It is not used for this size class
 * until it is retried. */
void tuner_lose(struct tuner *t, uint64_t bytes, uint32_t way);

/* Fit a line through pairs of bytes and seconds, with equal weights of relative
 * errors and setup >= 0. Return 0, or -EINVAL for fewer than two sizes or for
 * times that do not grow. */
int tuner_fit(const double *bytes, const double *seconds, uint32_t count,
    struct paths_direct *ret);

/* ---- the table on disk ----
 *
 * One JSON object: format "coalmine-tuning", version, machine (device, driver,
 * wiring), written_unix_s, and pairs. A pair has src, dst, the fits of its
 * links and its rows. Each row has its evidence: the number of transfers, the
 * bytes of each path, and the times behind the choice. The table is replaced as
 * a whole (written to a new file, synced, renamed), so that a reader sees
 * either the old or the new table. */

#define TUNER_MACHINE_BYTES 256
#define TUNER_PAIRS_MAX     4096

/* The tuner of two devices. */
struct tuner_pair {
	uint32_t src, dst;
	struct tuner tuner;
};

/* The tuners of one machine. */
struct tuner_table {
	char machine[TUNER_MACHINE_BYTES];
	struct tuner_pair *pairs;
	size_t count;
};

/* Return the tuner of a pair, which is new and empty if there was none. The
 * pointer is valid until the next call. */
struct tuner *tuner_table_get(struct tuner_table *tt, uint32_t src,
    uint32_t dst);
void tuner_table_clear(struct tuner_table *tt); /* frees the pairs */

/* Write the table to a file. Return 0, or -errno with the reason in err. */
int tuner_save(const struct tuner_table *tt, const char *path, struct err *err);
/* Load a table. Return 0; -ENOENT: the file does not exist yet; -ESTALE: the
 * table belongs to another machine than tt->machine; -EPROTO: it is malformed.
 * err names the file and the member. *tt gets pairs only on success. */
int tuner_load(struct tuner_table *tt, const char *path, struct err *err);
/* Load a table as tuner_load does, but from a text, for tests and fuzzing. */
int tuner_parse(struct tuner_table *tt, const char *path, const char *text,
    size_t text_bytes, struct err *err);

#endif
