/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - records as numbered lines of a file.
 */

#include "probes/job/emit.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/record.h"
#include "schema/record_fields.h"

struct emit {
	int fd; /* -1: none */
	char *run;
	uint64_t seq;
	json_t *carried; /* NULL: not known */
};

int
emit_open(const char *path, const char *run, struct emit **ret)
{
	struct emit *e = xcalloc(1, sizeof(*e));
	int rc;

	e->fd = -1;
	if (path != NULL && strcmp(path, "-") == 0)
		e->fd = dup(STDOUT_FILENO);
	else if (path != NULL)
		e->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0644);
	if (path != NULL && e->fd < 0) {
		rc = -errno;
		log_warn("cannot open the file for records %s", path);
		free(e);
		return rc;
	}
	/* A reader that went away is an error of write, with its name. */
	signal(SIGPIPE, SIG_IGN);
	e->run = xstrdup(run);
	*ret = e;
	return 0;
}

void
emit_carried(struct emit *e, json_t *carried)
{
	json_decref(e->carried);
	e->carried = carried;
}

static void
emit_carried_put(const struct emit *e, const char *probe, json_t *line)
{
	const struct record_field *f = record_kind_find(probe)->fields;
	json_t *own = json_object_get(line, "carried"), *all;

	while (f->name != NULL && strcmp(f->name, "carried") != 0)
		f++;
	if (f->name == NULL || e->carried == NULL)
		return;
	all = json_deep_copy(e->carried);
	/* The bytes of the first exchange are those of no result. */
	if (strcmp(probe, "begin") != 0) {
		json_object_del(all, "seen_bytes");
		json_object_del(all, "wanted_bytes");
	}
	json_object_update(all, own);
	json_object_set_new(line, "carried", all);
}

/* The networks that the collector has chosen for the run's ranks. */
static void
emit_networks_put(json_t *line)
{
	const char *text = getenv("COALMINE_NETWORKS");
	size_t count = 0;
	char **list;
	json_t *array;

	if (text == NULL)
		return;
	array = json_array();
	list = str_list_parse(text, &count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, text_json(list[i]));
	str_list_free(list);
	json_object_set_new(line, "networks", array);
}

/* A line that is too long loses its lists: the slow nodes are then missing, but
 * the statistics remain. */
static char *
emit_line_make(json_t *line, const char *probe)
{
	static const char *const lists[] = { "pairs", "rails", "nodes" };
	char *text = json_dumps(line, EMIT_JSON);

	for (size_t i = 0;
	     i < ARRAY_LEN(lists) && strlen(text) + 1 > RECORD_LINE_MAX; i++) {
		if (json_object_get(line, lists[i]) == NULL)
			continue;
		log_warnx("record %s is longer than the limit of a line: "
			  "member %s "
			  "dropped",
		    probe, lists[i]);
		json_object_set_new(line, lists[i], json_array());
		free(text);
		text = json_dumps(line, EMIT_JSON);
	}
	if (strlen(text) + 1 > RECORD_LINE_MAX)
		fatalx("record %s is longer than the limit of a line", probe);
	text = xreallocarray(text, strlen(text) + 2, 1);
	strcat(text, "\n");
	return text;
}

void
emit_put(struct emit *e, json_t *record)
{
	const char *probe = json_string_value(json_object_get(record, "probe"));
	json_t *line = json_object();
	char *text;
	ssize_t n;

	json_object_set_new(line, "run", json_string(e->run));
	if (strcmp(probe, "progress") != 0)
		json_object_set_new(line, "seq",
		    json_integer((json_int_t)++e->seq));
	json_object_update(line, record);
	json_decref(record);
	if (strcmp(probe, "begin") == 0)
		emit_networks_put(line);
	emit_carried_put(e, probe, line);
	if (e->fd >= 0) {
		text = emit_line_make(line, probe);
		for (const char *at = text; *at != '\0'; at += n) {
			n = write(e->fd, at, strlen(at));
			if (n < 0 && errno != EINTR)
				fatal("cannot write records");
			if (n < 0)
				n = 0;
		}
		free(text);
	}
	json_decref(line);
}

uint64_t
emit_count(const struct emit *e)
{
	return e->seq;
}

void
emit_close(struct emit *e)
{
	if (e == NULL)
		return;
	if (e->fd >= 0 && close(e->fd) < 0)
		log_warn("cannot close the file for records; the last records "
			 "may be lost");
	json_decref(e->carried);
	free(e->run);
	free(e);
}
