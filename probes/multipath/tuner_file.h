/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner_file.h - what tuners have learnt on a machine, kept between runs.
 *
 * One JSON object: format "coalmine-tuning", version, machine (what the table
 * holds for: device, driver, wiring), written_unix_s, and pairs; a pair has
 * src, dst, the fits of its links and its rows, and with each row the evidence:
 * how many transfers, how many bytes each way carried, and the times on which
 * the choice rests. It is replaced as a whole (written beside, synced,
 * renamed), so that a reader sees the old table or the new one.
 */
#ifndef PROBES_MULTIPATH_TUNER_FILE_H
#define PROBES_MULTIPATH_TUNER_FILE_H

#include <stddef.h>

#include "common/err.h"
#include "probes/multipath/tuner.h"

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
