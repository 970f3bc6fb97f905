/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - differences of error counters. All ports are read, whatever they are
 * used for: the fault of one that is idle now meets the next job.
 */
#include "agents/sensor/sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "schema/names.h"

/* Lines of the kernel's log that one look reads; the next reads on. */
#define LOG_LINES_MAX 20000
#define LOG_BYTES     8192 /* the kernel has no longer ones */

/* A port's counters of errors; NULL: it has none. */
static json_t *
errors_of(const json_t *counters)
{
	const struct link_counter *c = names_link_counters;
	json_t *errors = json_object(), *value;

	for (; c->name != NULL; c++) {
		value = json_object_get(counters, c->name);
		if (value != NULL)
			json_object_set(errors, c->name, value);
	}
	if (json_object_size(errors) > 0)
		return errors;
	json_decref(errors);
	return NULL;
}

static json_t *
more_of(const json_t *now, const json_t *before)
{
	json_t *more = json_object(), *value;
	const char *name;

	json_object_foreach ((json_t *)(uintptr_t)now, name, value) {
		json_t *old = json_object_get(before, name);
		json_int_t by = json_integer_value(value);
		int is_state = names_link_counter_find(name)->is_state;

		if (!is_state)
			by -= json_integer_value(old);
		if ((old != NULL || is_state) && by > 0)
			json_object_set_new(more, name, json_integer(by));
	}
	return more;
}

/* What the kernel has said of GPUs since the look before. Where the agent may
 * not read that, nothing. */
static void
log_read(struct link_look *l, const char *root, json_t *rows)
{
	char path[300], text[LOG_BYTES + 1], *rest, *line;
	ssize_t n;

	if (l->log_fd == 0 &&
	    str_format(path, sizeof(path), "%s/dev/kmsg", root) >= 0) {
		l->log_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (l->log_fd >= 0)
			(void)lseek(l->log_fd, 0, SEEK_END);
	}
	for (int i = 0; l->log_fd > 0 && i < LOG_LINES_MAX; i++) {
		n = read(l->log_fd, text, LOG_BYTES);
		if (n < 0 && errno == EPIPE)
			continue; /* overwritten before we came */
		if (n <= 0)
			return;
		text[n] = '\0';
		rest = text;
		while ((line = str_line(&rest)) != NULL)
			gpu_log_take(line, rows);
	}
}

void
link_look_clear(struct link_look *l)
{
	json_decref(l->last);
	if (l->log_fd > 0)
		close(l->log_fd);
}

json_t *
link_look(struct link_look *l, const char *root, const json_t *gpus)
{
	uint64_t now_ns = clk_ns(), span_ns = now_ns - l->at_ns;
	json_t *rows, *row, *last = l->last, *errors, *more, *found, *ports;
	size_t i;

	if (l->every_ns == 0 || (l->at_ns != 0 && span_ns < l->every_ns))
		return NULL;
	l->at_ns = now_ns;
	l->last = json_object();
	ports = json_array();
	rows = sensor_read(root);
	if (root[0] == '\0')
		ethtool_read(rows);
	if (json_array_size(gpus) > 0) {
		gpu_read(root, gpus, rows);
		log_read(l, root, rows);
	}
	json_array_foreach (rows, i, row) {
		const char *port = member_text(row, "nic");

		errors = errors_of(json_object_get(row, "counters"));
		if (errors == NULL)
			continue;
		more = more_of(errors, json_object_get(last, port));
		json_object_set_new(l->last, port, errors);
		found = json_pack("{s:s}", "port", port);
		if (json_object_size(more) > 0)
			json_object_set(found, "counters", more);
		json_decref(more);
		json_array_append_new(ports, found);
	}
	json_decref(rows);
	if (last == NULL) {
		json_decref(ports);
		return NULL;
	}
	json_decref(last);
	return json_pack("{s:I, s:o}", "span_s",
	    (json_int_t)((span_ns + CLK_NS_PER_S / 2) / CLK_NS_PER_S), "ports",
	    ports);
}
