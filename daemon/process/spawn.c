/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - a program's result is its complete output with its exit code; its
 * stderr is used only if it fails. A program that exceeds its time limit is
 * killed with its process group.
 */
#include "daemon/process/spawn.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/program.h"
#include "common/str.h"
#include "common/xalloc.h"

/* A process exits shortly after the end of its output. */
#define REAP_MS 20
/* Wait for the end of a program that is killed at the end of this one. */
#define CANCEL_TRIES    50
#define CANCEL_PAUSE_NS (20 * CLK_NS_PER_MS)

struct stream {
	struct spawned *of;
	int fd;
	struct event *readable;
	char *text; /* NUL-ended */
	size_t len;
};

struct spawned {
	pid_t pid; /* 0: it could not be started */
	struct stream out, err;
	struct event *timer, *reap;
	spawn_cb *cb;
	void *arg;
};

static void
spawn_spawned_free(struct spawned *s)
{
	struct stream *const both[] = { &s->out, &s->err };

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		event_free(both[i]->readable);
		close(both[i]->fd);
		free(both[i]->text);
	}
	event_free(s->timer);
	event_free(s->reap);
	free(s);
}

static void
spawn_text_add(struct stream *t, const char *part, size_t len)
{
	size_t room = SPAWN_OUT_MAX - t->len;

	if (len > room)
		len = room;
	t->text = xreallocarray(t->text, t->len + len + 1, 1);
	memcpy(t->text + t->len, part, len);
	t->len += len;
	t->text[t->len] = '\0';
}

static void
spawn_finish(struct spawned *s, int status)
{
	int complains = status != 0 && s->err.len > 0;

	s->cb(status, complains ? s->err.text : s->out.text, s->arg);
	spawn_spawned_free(s);
}

static void
spawn_reap_arm(struct spawned *s)
{
	struct timeval tv = { .tv_usec = REAP_MS * 1000 };

	event_add(s->reap, &tv);
}

static void
spawn_reap_cb(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *s = arg;
	int status;
	pid_t rc;

	(void)fd;
	(void)what;
	rc = s->pid == 0 ? -1 : waitpid(s->pid, &status, WNOHANG);
	if (rc == 0)
		spawn_reap_arm(s);
	else
		spawn_finish(s, rc < 0 ? 127 : program_exit(status));
}

/* Kill the process group, which includes children of a shell. */
static void
spawn_timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *s = arg;

	(void)fd;
	(void)what;
	if (s->pid > 0)
		kill(-s->pid, SIGKILL);
	event_del(s->out.readable);
	spawn_reap_arm(s);
}

static void
spawn_readable_cb(evutil_socket_t fd, short what, void *arg)
{
	struct stream *t = arg;
	char part[16 * 1024];
	ssize_t n;

	(void)what;
	n = read((int)fd, part, sizeof(part));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		spawn_text_add(t, part, (size_t)n);
		return;
	}
	event_del(t->readable);
	if (t == &t->of->out)
		spawn_reap_arm(t->of);
}

/* Return 0 or -errno; *ret_end is the program's end. */
static int
spawn_stream_open(struct stream *t, struct spawned *of, struct event_base *base,
    int *ret_end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	/* the program's end is blocking */
	fcntl(fds[1], F_SETFL, 0);
	*t = (struct stream){ .of = of, .fd = fds[0], .text = xstrdup("") };
	t->readable = event_new(base, t->fd, EV_READ | EV_PERSIST,
	    spawn_readable_cb, t);
	*ret_end = fds[1];
	return 0;
}

struct spawned *
spawn_start(struct event_base *base, char *const *argv, char *const *env,
    spawn_cb *cb, void *arg)
{
	struct timeval limit = { .tv_sec = SPAWN_LIMIT_S };
	struct spawned *s = xcalloc(1, sizeof(*s));
	int out = -1, err = -1, rc;

	s->cb = cb;
	s->arg = arg;
	rc = spawn_stream_open(&s->out, s, base, &out);
	if (rc == 0)
		rc = spawn_stream_open(&s->err, s, base, &err);
	if (rc < 0) {
		if (out >= 0) {
			event_free(s->out.readable);
			close(s->out.fd);
			close(out);
		}
		free(s->out.text);
		free(s);
		errno = -rc;
		return NULL;
	}
	s->timer = evtimer_new(base, spawn_timer_cb, s);
	s->reap = evtimer_new(base, spawn_reap_cb, s);
	rc = program_start(argv, env, out, err, &s->pid);
	close(out);
	close(err);
	if (rc != 0) {
		s->pid = 0;
		spawn_text_add(&s->err, argv[0], strlen(argv[0]));
		spawn_text_add(&s->err, ": ", 2);
		spawn_text_add(&s->err, strerror(-rc), strlen(strerror(-rc)));
		spawn_reap_arm(s);
		return s;
	}
	event_add(s->out.readable, NULL);
	event_add(s->err.readable, NULL);
	event_add(s->timer, &limit);
	return s;
}

void
spawn_cancel(struct spawned *s)
{
	if (s == NULL)
		return;
	if (s->pid > 0) {
		kill(-s->pid, SIGKILL);
		/* A process that hangs in the kernel does not delay the end of
		 * this one; init reaps it. */
		for (int i = 0;
		     i < CANCEL_TRIES && waitpid(s->pid, NULL, WNOHANG) == 0;
		     i++)
			clk_sleep_ns(CANCEL_PAUSE_NS);
	}
	spawn_spawned_free(s);
}
