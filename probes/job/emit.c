/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - what a rank tells those who started it: records as numbered lines of
 * a file, and to the agent of its node that it lives.
 */
#include "probes/job/emit.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/record.h"

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
		log_warn("%s", path);
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

/* A line that is too long loses its lists: who was slow is then not said, but
 * what was measured is. */
static char *
emit_line_make(json_t *line, const char *probe)
{
	static const char *const lists[] = { "pairs", "rails", "nodes" };
	char *text = json_dumps(line, EMIT_JSON);

	for (size_t i = 0;
	     i < ARRAY_LEN(lists) && strlen(text) + 1 > RECORD_LINE_MAX; i++) {
		if (json_object_get(line, lists[i]) == NULL)
			continue;
		log_warnx("record %s is too long for a line: no %s", probe,
		    lists[i]);
		json_object_set_new(line, lists[i], json_array());
		free(text);
		text = json_dumps(line, EMIT_JSON);
	}
	if (strlen(text) + 1 > RECORD_LINE_MAX)
		fatalx("record %s is too long for a line", probe);
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
				fatal("records cannot be written");
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
		log_warn("records");
	json_decref(e->carried);
	free(e->run);
	free(e);
}

/* ---- to the agent of the node ---- */

static int watch_fd = -1;
static int said_bye;

/* Not said by one that a signal kills: so the rank that died first can be told
 * from those whose MPI ends them for it. */
static void
emit_say_exit(void)
{
	if (!said_bye)
		(void)send(watch_fd, "exit\n", 5, MSG_NOSIGNAL);
}

void
rank_watch_open(int rank)
{
	const char *path = getenv("COALMINE_RANK_WATCH");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char line[64];
	int fd = -1, len;

	if (path == NULL || path[0] == '\0')
		return;
	errno = ENAMETOOLONG;
	if (strlen(path) < sizeof(addr.sun_path)) {
		strcpy(addr.sun_path, path);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		/* The measurement is as good without it. */
		log_warnx("%s: %s: nobody watches this rank", path,
		    strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	watch_fd = fd;
	len = snprintf(line, sizeof(line), "rank %d pid %ld\n", rank,
	    (long)getpid());
	if (send(watch_fd, line, (size_t)len, MSG_NOSIGNAL) != len)
		log_warn("%s", path);
	atexit(emit_say_exit);
}

void
rank_watch_stuck_line(const struct rank_stuck *s, char ret[RANK_STUCK_BYTES])
{
	snprintf(ret, RANK_STUCK_BYTES, "stuck %d %s %s %.1f %llu\n", s->rank,
	    s->node, s->what, s->waited_s, (unsigned long long)s->at);
}

void
rank_watch_send(const char *line)
{
	if (watch_fd >= 0)
		(void)send(watch_fd, line, strlen(line), MSG_NOSIGNAL);
}

void
rank_watch_stuck(const struct rank_stuck *s)
{
	char line[RANK_STUCK_BYTES];

	rank_watch_stuck_line(s, line);
	rank_watch_send(line);
}

/* The socket stays open: the end of the process closes it. */
void
rank_watch_bye(void)
{
	said_bye = 1;
	if (watch_fd >= 0 && send(watch_fd, "bye\n", 4, MSG_NOSIGNAL) != 4)
		log_warn("rank watch");
}
