/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - differences of error counters. All ports are read, whatever they are
 * used for: the fault of one that is idle now meets the next job.
 */

#include "agents/sensor/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agents/sensor/ethtool.h"
#include "agents/sensor/gpu.h"
#include "agents/sensor/nics.h"
#include "common/clk.h"
#include "common/member.h"
#include "common/str.h"
#include "schema/names_link.h"

/* Lines of the kernel's log that one look reads; the next reads on. */
#define LOG_LINES_MAX 20000
#define LOG_BYTES     8192 /* the kernel has no longer ones */

void
link_log_open(struct link_look *l, const char *root)
{
	char path[300];

	if (l->log_fd != 0 ||
	    str_format(path, sizeof(path), "%s/dev/kmsg", root) < 0)
		return;
	l->log_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (l->log_fd >= 0)
		(void)lseek(l->log_fd, 0, SEEK_END);
}

/* GPU messages of the kernel's log since the last look; none where the agent
 * may not read the log. */
static void
link_log_read(struct link_look *l, const char *root, json_t *rows)
{
	char text[LOG_BYTES + 1], *rest, *line;
	ssize_t n;

	link_log_open(l, root);
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
	json_t *rows, *row, *last = l->last, *ports;
	size_t i;

	if (l->every_ns == 0 || (l->at_ns != 0 && span_ns < l->every_ns))
		return NULL;
	l->at_ns = now_ns;
	l->last = json_object();
	ports = json_array();
	rows = nics_read(root);
	if (root[0] == '\0')
		ethtool_read(rows);
	if (json_array_size(gpus) > 0) {
		gpu_read(root, gpus, rows);
		link_log_read(l, root, rows);
	}
	json_array_foreach (rows, i, row) {
		const struct link_counter *c = names_link_counters;
		const char *port = member_text(row, "nic");
		const json_t *before = json_object_get(last, port);
		json_t *counters = json_object_get(row, "counters");
		json_t *errors = json_object(), *more = json_object();

		for (; c->name != NULL; c++) {
			json_t *value = json_object_get(counters, c->name);
			json_t *old = json_object_get(before, c->name);
			json_int_t by = json_integer_value(value);

			if (value == NULL)
				continue;
			json_object_set(errors, c->name, value);
			if (!c->is_state)
				by -= json_integer_value(old);
			if ((old != NULL || c->is_state) && by > 0)
				json_object_set_new(more, c->name,
				    json_integer(by));
		}
		if (json_object_size(errors) > 0) {
			json_object_set(l->last, port, errors);
			json_array_append_new(ports,
			    json_pack("{s:s, s:o*}", "port", port, "counters",
				json_object_size(more) > 0 ? json_incref(more)
							   : NULL));
		}
		json_decref(errors);
		json_decref(more);
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
