/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_records.c - check the output of an engine.
 *
 * check_records FILE STATUS: each line passes record_parse, numbered lines
 * count from 1 without gaps, the first is begin, and the last is end with
 * STATUS and the number of lines. A run that failed early may have no begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "schema/record.h"

static uint64_t seq;
static int ended;

static void
check_end(const json_t *record, const char *status)
{
	const char *got = json_string_value(json_object_get(record, "status"));
	json_int_t records = json_integer_value(
	    json_object_get(record, "records"));

	if (strcmp(got, status) != 0)
		fatalx("status is %s, not %s", got, status);
	if ((uint64_t)records != seq)
		fatalx("end counts %lld records of %llu", (long long)records,
		    (unsigned long long)seq);
	ended = 1;
}

static void
check_line(const char *line, size_t len_bytes, const char *status)
{
	struct record_head head;
	json_t *record;
	struct err err;

	if (record_parse(line, len_bytes, &record, &head, &err) < 0)
		fatalx("%s: %.120s", err.text, line);
	if (ended)
		fatalx("a line after the end: %.120s", line);
	if (head.seq != 0 && head.seq != ++seq)
		fatalx("record %llu after %llu", (unsigned long long)head.seq,
		    (unsigned long long)seq - 1);
	if (seq == 1 && head.seq == 1 && strcmp(status, "ok") == 0 &&
	    strcmp(head.probe, "begin") != 0)
		fatalx("the first record is %s", head.probe);
	if (strcmp(head.probe, "end") == 0)
		check_end(record, status);
	json_decref(record);
}

int
main(int argc, char **argv)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *fp;

	log_init("check_records", LOG_LEVEL_INFO);
	if (argc != 3)
		fatalx("usage: check_records FILE STATUS");
	fp = fopen(argv[1], "re");
	if (fp == NULL)
		fatal("%s", argv[1]);
	while ((len = getline(&line, &cap, fp)) > 0) {
		if (line[len - 1] != '\n')
			fatalx("half a line: %.120s", line);
		check_line(line, (size_t)len - 1, argv[2]);
	}
	if (!ended)
		fatalx("%s: no end record", argv[1]);
	free(line);
	fclose(fp);
	return 0;
}
