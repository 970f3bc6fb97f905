/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_cache.c - a choice is kept as one line of a file, by machine, question,
 * ranks and power of two of the bytes; the last line of a key counts.
 */

#include "probes/tune/shape_cache.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/file.h"
#include "common/member.h"
#include "schema/record.h"

uint32_t
shape_cache_class(double bytes)
{
	return bytes < 2 ? 0 : (uint32_t)floor(log2(bytes));
}

json_t *
shape_cache_record(const struct shape_cache_key *key, double bytes)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:s, s:I, s:[]}",
	    "probe", "tuning", "machine", key->machine, "asked", key->asked,
	    "ranks", (int)key->ranks, "class", (int)key->size_class, "bytes",
	    (json_int_t)bytes, "why", "measured", "measured_unix_s",
	    (json_int_t)(clk_unix_ns() / CLK_NS_PER_S), "tried");
}

int
shape_cache_find(const char *path, const struct shape_cache_key *key,
    json_t **ret, struct err *err)
{
	json_t *found = NULL, *record;
	struct record_head head;
	char *line = NULL;
	struct err text;
	size_t cap = 0;
	ssize_t n;
	FILE *fp;
	int rc = file_open(path, &fp, err);

	*ret = NULL;
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	for (int at = 1; rc == 0 && (n = getline(&line, &cap, fp)) > 0; at++) {
		rc = record_parse(line, (size_t)n, &record, &head, &text);
		if (rc < 0) {
			err_say(err, "%.120s:%d: %s", path, at, text.text);
			break;
		}
		if (strcmp(member_text(record, "probe"), "tuning") == 0 &&
		    strcmp(member_text(record, "machine"), key->machine) == 0 &&
		    strcmp(member_text(record, "asked"), key->asked) == 0 &&
		    member_int(record, "ranks") == key->ranks &&
		    member_int(record, "class") == key->size_class) {
			json_decref(found);
			found = record; /* handed over */
		} else {
			json_decref(record);
		}
	}
	free(line);
	fclose(fp);
	if (rc < 0)
		json_decref(found);
	else
		*ret = found; /* handed over */
	return rc;
}

int
shape_cache_keep(const char *path, const json_t *record, struct err *err)
{
	json_t *line = json_pack("{s:s, s:i}", "run", "tuned", "seq", 1);
	FILE *fp = fopen(path, "ae");
	int rc = fp == NULL ? -errno : 0;

	json_object_update(line, (json_t *)(uintptr_t)record);
	if (rc == 0 &&
	    (json_dumpf(line, fp, JSON_COMPACT | JSON_REAL_PRECISION(9)) < 0 ||
		fputc('\n', fp) == EOF))
		rc = -EIO;
	if (fp != NULL && fclose(fp) != 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		err_say(err, "%.200s: %s", path, strerror(-rc));
	json_decref(line);
	return rc;
}
