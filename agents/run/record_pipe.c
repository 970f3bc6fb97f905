/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_pipe.c - the pipe is held open for writing too, so that it has no end
 * while no rank writes; one bad line ends all reading from it.
 */
#include "agents/run/record_pipe.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"

#define READ_BYTES  (64 * 1024) /* a pipe holds as much */
#define DRAIN_READS 16          /* or as a user may make it, a MiB */

struct record_pipe {
	int fd;
	char *run;
	struct event *ev;
	struct evbuffer *in;
	uint64_t last_seq;
	int bad; /* told: nothing more is read */
	const struct record_pipe_ops *ops;
	void *arg;
};

static void
record_pipe_bad(struct record_pipe *r, const char *why)
{
	r->bad = 1;
	event_del(r->ev);
	r->ops->bad(why, r->arg);
}

/* Numbers start at 1 and have no gaps; 0 is progress. */
static void
record_pipe_line_take(struct record_pipe *r, const char *line, size_t len)
{
	struct record_head head;
	json_t *record;
	struct err err;

	if (record_parse(line, len, &record, &head, &err) < 0) {
		record_pipe_bad(r, err.text);
		return;
	}
	if (strcmp(head.run, r->run) != 0 &&
	    (head.seq != 0 || head.run[0] != '\0')) {
		record_pipe_bad(r, "record belongs to another run");
	} else if (head.seq != 0 && head.seq != r->last_seq + 1) {
		err_say(&err, "record %llu was received after record %llu",
		    (unsigned long long)head.seq,
		    (unsigned long long)r->last_seq);
		record_pipe_bad(r, err.text);
	} else {
		if (head.seq != 0)
			r->last_seq = head.seq;
		r->ops->record(&head, line, len, r->arg);
	}
	json_decref(record);
}

/* 1 when something was read. */
static int
record_pipe_read_some(struct record_pipe *r)
{
	int n = evbuffer_read(r->in, r->fd, READ_BYTES);
	size_t len;
	char *line;

	while (!r->bad &&
	    (line = evbuffer_readln(r->in, &len, EVBUFFER_EOL_LF)) != NULL) {
		record_pipe_line_take(r, line, len);
		free(line);
	}
	if (!r->bad && evbuffer_get_length(r->in) > RECORD_LINE_MAX)
		record_pipe_bad(r,
		    "a record is longer than the limit of a line");
	return n > 0;
}

static void
record_pipe_read_cb(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	record_pipe_read_some(arg);
}

struct record_pipe *
record_pipe_open(struct event_base *base, const char *path, const char *run,
    int64_t gid, const struct record_pipe_ops *ops, void *arg)
{
	struct record_pipe *r;
	int fd = -1;

	if (unlink(path) < 0 && errno != ENOENT)
		log_warn("cannot remove %s", path);
	privileges_take(-1, gid);
	/* open for reading and writing: no end of file without a writer */
	if (mkfifo(path, 0600) == 0)
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	privileges_back();
	if (fd < 0 || (gid >= 0 && fchmod(fd, 0620) < 0)) {
		log_warn("cannot create the FIFO %s", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	r = xcalloc(1, sizeof(*r));
	r->fd = fd;
	r->run = xstrdup(run);
	r->ops = ops;
	r->arg = arg;
	r->in = evbuffer_new();
	r->ev = event_new(base, fd, EV_READ | EV_PERSIST, record_pipe_read_cb,
	    r);
	event_add(r->ev, NULL);
	return r;
}

void
record_pipe_drain(struct record_pipe *r)
{
	/* Limited, since a writer may still exist. */
	for (int i = 0; i < DRAIN_READS && !r->bad && record_pipe_read_some(r);
	     i++)
		;
}

void
record_pipe_close(struct record_pipe *r)
{
	if (r == NULL)
		return;
	event_free(r->ev);
	evbuffer_free(r->in);
	close(r->fd);
	free(r->run);
	free(r);
}
