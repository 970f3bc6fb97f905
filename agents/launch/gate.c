/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - two pipes without a process between: the script writes into one and
 * reads the other, which has an end when we close it, also by our death.
 */
#include "agents/launch/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/process/privileges.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

struct gate {
	int begin, hold;
	struct event *ev;
	void (*cb)(void *arg);
	void *arg;
};

static void
gate_read_cb(evutil_socket_t fd, short what, void *arg)
{
	struct gate *g = arg;
	char bytes[64];

	(void)what;
	if (read(fd, bytes, sizeof(bytes)) <= 0)
		return;
	event_del(g->ev);
	g->cb(g->arg);
}

static int
gate_pipe(const char *path, int64_t gid, mode_t mode)
{
	int fd = -1;

	privileges_take(-1, gid);
	/* for reading and writing: neither end is waited for */
	if (mkfifo(path, 0600) == 0)
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	privileges_back();
	if (fd < 0 || (gid >= 0 && fchmod(fd, mode) < 0)) {
		log_warn("cannot create the FIFO %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* A word that sh takes as it is. */
static void
gate_quoted_add(struct strbuf *sb, const char *word)
{
	strbuf_add(sb, "'", 1);
	for (; *word != '\0'; word++)
		if (*word == '\'')
			strbuf_addf(sb, "'\\''");
		else
			strbuf_add(sb, word, 1);
	strbuf_add(sb, "'", 1);
}

static int
gate_script(const char *path, const char *begin, const char *hold)
{
	struct strbuf sb = { 0 };
	int fd, rc = 0;

	strbuf_addf(&sb, "#!/bin/sh\necho begin >");
	gate_quoted_add(&sb, begin);
	strbuf_addf(&sb, " && exec cat ");
	gate_quoted_add(&sb, hold);
	strbuf_addf(&sb, "\n");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 ||
	    write(fd, sb.text, sb.len_bytes) != (ssize_t)sb.len_bytes ||
	    fchmod(fd, 0755) < 0)
		rc = -1;
	if (rc < 0)
		log_warn("cannot write the script %s", path);
	if (fd >= 0)
		close(fd);
	strbuf_clear(&sb);
	return rc;
}

struct gate *
gate_open(struct event_base *base, const char *dir, int64_t gid,
    void (*cb)(void *arg), void *arg)
{
	struct gate *g = xcalloc(1, sizeof(*g));
	char begin[4400], hold[4400], script[4400];

	snprintf(begin, sizeof(begin), "%s/begin", dir);
	snprintf(hold, sizeof(hold), "%s/hold", dir);
	snprintf(script, sizeof(script), "%s/script", dir);
	g->cb = cb;
	g->arg = arg;
	g->begin = gate_pipe(begin, gid, 0620);
	g->hold = gate_pipe(hold, gid, 0640);
	if (g->begin < 0 || g->hold < 0 ||
	    gate_script(script, begin, hold) < 0) {
		gate_close(g);
		return NULL;
	}
	g->ev = event_new(base, g->begin, EV_READ | EV_PERSIST, gate_read_cb,
	    g);
	event_add(g->ev, NULL);
	return g;
}

void
gate_close(struct gate *g)
{
	if (g == NULL)
		return;
	if (g->ev != NULL)
		event_free(g->ev);
	if (g->begin >= 0)
		close(g->begin);
	if (g->hold >= 0)
		close(g->hold);
	free(g);
}
