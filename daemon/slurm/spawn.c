/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - a program's answer is its whole output with its exit code. One that
 * takes too long is killed with its process group.
 */
#include "daemon/slurm/slurm.h"

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

#include "common/program.h"
#include "common/xalloc.h"

/* After its output has ended a process is gone within moments. */
#define REAP_MS 20

struct spawned {
	pid_t pid; /* 0: it could not be started */
	int fd;
	int killed;
	struct event *readable, *timer, *reap;
	char *out; /* NUL-ended */
	size_t len;
	spawn_cb *cb;
	void *arg;
};

static void
spawned_free(struct spawned *s)
{
	event_free(s->readable);
	event_free(s->timer);
	event_free(s->reap);
	if (s->fd >= 0)
		close(s->fd);
	free(s->out);
	free(s);
}

static void
out_add(struct spawned *s, const char *part, size_t len)
{
	size_t room = SPAWN_OUT_MAX - s->len;

	if (len > room)
		len = room;
	s->out = xreallocarray(s->out, s->len + len + 1, 1);
	memcpy(s->out + s->len, part, len);
	s->len += len;
	s->out[s->len] = '\0';
}

static void
finish(struct spawned *s, int status)
{
	s->cb(status, s->out, s->arg);
	spawned_free(s);
}

static void
reap_arm(struct spawned *s)
{
	struct timeval tv = { .tv_usec = REAP_MS * 1000 };

	event_add(s->reap, &tv);
}

static void
reap_cb(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *s = arg;
	int status;

	(void)fd;
	(void)what;
	if (s->pid == 0)
		finish(s, 127);
	else if (waitpid(s->pid, &status, WNOHANG) != s->pid)
		reap_arm(s);
	else
		finish(s, program_exit(status));
}

/* Kills the process group, and with it what a shell has started. */
static void
timer_cb(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *s = arg;

	(void)fd;
	(void)what;
	if (s->pid > 0)
		kill(-s->pid, SIGKILL);
	event_del(s->readable);
	reap_arm(s);
}

static void
readable_cb(evutil_socket_t fd, short what, void *arg)
{
	struct spawned *s = arg;
	char part[16 * 1024];
	ssize_t n;

	(void)what;
	n = read((int)fd, part, sizeof(part));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		out_add(s, part, (size_t)n);
		return;
	}
	event_del(s->readable);
	reap_arm(s);
}

struct spawned *
spawn_start(struct event_base *base, char *const *argv, char *const *env,
    spawn_cb *cb, void *arg)
{
	struct timeval limit = { .tv_sec = SPAWN_LIMIT_S };
	struct spawned *s;
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return NULL;
	/* the program's end blocks, as it expects */
	fcntl(fds[1], F_SETFL, 0);
	s = xcalloc(1, sizeof(*s));
	s->fd = fds[0];
	s->out = xstrdup("");
	s->cb = cb;
	s->arg = arg;
	s->readable = event_new(base, s->fd, EV_READ | EV_PERSIST, readable_cb,
	    s);
	s->timer = evtimer_new(base, timer_cb, s);
	s->reap = evtimer_new(base, reap_cb, s);
	rc = program_start(argv, env, fds[1], fds[1], &s->pid);
	close(fds[1]);
	if (rc != 0) {
		s->pid = 0;
		out_add(s, argv[0], strlen(argv[0]));
		out_add(s, ": ", 2);
		out_add(s, strerror(-rc), strlen(strerror(-rc)));
		reap_arm(s);
		return s;
	}
	event_add(s->readable, NULL);
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
		waitpid(s->pid, NULL, 0);
	}
	spawned_free(s);
}

static char path_env[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char locale_env[] = "LC_ALL=C";
static char zone_env[] = "TZ=UTC0";

struct spawned *
slurm_call(struct event_base *base, const struct slurm_site *site,
    const char *program, char *const *words, spawn_cb *cb, void *arg)
{
	char path[4100], conf[4100], *argv[SLURM_WORDS_MAX + 2] = { path };
	char *env[] = { path_env, locale_env, zone_env, conf, NULL };
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", site->dir, program);
	snprintf(conf, sizeof(conf), "SLURM_CONF=%s", site->conf);
	if (site->conf[0] == '\0')
		env[3] = NULL;
	for (i = 0; words[i] != NULL; i++) {
		assert(i < SLURM_WORDS_MAX);
		argv[i + 1] = words[i];
	}
	return spawn_start(base, argv, env, cb, arg);
}
