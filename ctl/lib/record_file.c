/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file.c - the engine works without a collector, so its output is read
 * from a file. A run that was killed leaves an incomplete last line, which is
 * skipped.
 */
#include "ctl/lib/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "common/str.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/print.h"
#include "ctl/lib/records.h"
#include "schema/names_run.h"

#define FILE_BYTES_MAX ((size_t)512 * 1024 * 1024)

int
record_file_is(const char *arg)
{
	const char *dot = strrchr(arg, '.');

	return strchr(arg, '/') != NULL || strcmp(arg, "-") == 0 ||
	    (dot != NULL &&
		(strcmp(dot, ".json") == 0 || strcmp(dot, ".jsonl") == 0));
}

static int
record_file_load(const char *path, struct strbuf *ret)
{
	FILE *fp = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char part[65536];
	int error;
	size_t n;

	if (fp == NULL)
		return ctl_fail("%s: %s", path, strerror(errno));
	while ((n = fread(part, 1, sizeof(part), fp)) > 0 &&
	    ret->len_bytes <= FILE_BYTES_MAX)
		strbuf_add(ret, part, n);
	error = ferror(fp) ? errno : 0;
	if (fp != stdin)
		fclose(fp);
	if (error != 0)
		return ctl_fail("%s: %s", path, strerror(error));
	return ret->len_bytes <= FILE_BYTES_MAX
	    ? 0
	    : ctl_fail("%s: more than %zu MiB", path, FILE_BYTES_MAX >> 20);
}

static int
record_file_line(const char *path, size_t number, const char *line, size_t len,
    int is_last, json_t *to)
{
	json_error_t error;
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);

	if (o != NULL) {
		json_array_append_new(to, o);
		return 0;
	}
	if (!is_last)
		return ctl_fail("%s:%zu: not a JSON object: %s", path, number,
		    error.text);
	fprintf(stderr,
	    "coalctl: %s:%zu: the last line is incomplete and is "
	    "skipped\n",
	    path, number);
	return 0;
}

static int
record_file_lines(const char *path, const char *text, size_t len, json_t *to)
{
	size_t number = 0;
	int rc = 0;

	for (const char *at = text, *end = text + len; rc == 0 && at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop == NULL ? end : stop) - at);

		number++;
		if (strspn(at, " \t\r") < n)
			rc = record_file_line(path, number, at, n, stop == NULL,
			    to);
		at += n + 1;
	}
	return rc;
}

/* Keep records of results; whatever is not a record is an error. */
static int
record_file_check(const char *path, int raw, json_t *records)
{
	size_t i = json_array_size(records);

	if (i == 0)
		return ctl_fail("%s: no records", path);
	while (i-- > 0) {
		const char *probe = print_member(json_array_get(records, i),
		    "probe", "");

		if (probe[0] == '\0')
			return ctl_fail("%s: record %zu has no member probe; "
					"expected the output of coalmine-probe "
					"run --json FILE",
			    path, i + 1);
		if (strcmp(probe, "progress") == 0 ||
		    (!raw && strcmp(probe, "round") == 0))
			json_array_remove(records, i);
	}
	return 0;
}

/* As in runs/RUN. Without an end the run is not known to be a success. */
static json_t *
record_file_run(const json_t *records)
{
	const json_t *begin = records_find(records, "begin", NULL, NULL);
	const json_t *end = records_find(records, "end", NULL, NULL);
	int ok = strcmp(print_member(end, "status", ""), "ok") == 0;
	json_t *run = json_pack("{s:s, s:s, s:s, s:s}", "run",
	    print_member(json_array_get(records, 0), "run", "-"), "state",
	    names_run_states[ok ? RUN_FINISHED : RUN_FAILED].name, "cause",
	    print_member(end, "cause", ""), "text",
	    end != NULL ? print_member(end, "text", "")
			: "the file has no end record: the run was ended or is "
			  "still active");

	for (size_t i = 0; i < 4; i++) {
		static const char *const same[] = { "mpi", "nodes", "ranks",
			"seed" };
		json_t *v = json_object_get(begin, same[i]);

		if (v != NULL)
			json_object_set(run, same[i], v);
	}
	return run;
}

int
record_file_read(const char *path, int raw, json_t **ret_run,
    json_t **ret_records)
{
	struct strbuf text = { 0 };
	json_t *records = NULL;
	json_error_t error;
	size_t blank;
	int rc = record_file_load(path, &text);

	if (rc == 0 && text.text == NULL)
		rc = ctl_fail("%s: empty", path);
	if (rc == 0) {
		blank = strspn(text.text, " \t\r\n");
		if (text.text[blank] == '[') {
			records = json_loadb(text.text, text.len_bytes,
			    JSON_REJECT_DUPLICATES, &error);
			if (records == NULL)
				rc = ctl_fail("%s:%d: %s", path, error.line,
				    error.text);
		} else {
			records = json_array();
			rc = record_file_lines(path, text.text, text.len_bytes,
			    records);
		}
	}
	strbuf_clear(&text);
	if (rc == 0)
		rc = record_file_check(path, raw, records);
	if (rc != 0) {
		json_decref(records);
		return rc;
	}
	*ret_run = record_file_run(records);
	*ret_records = records;
	return 0;
}
