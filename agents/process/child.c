/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the protocol with the keeper over one socket: each of its lines
 * becomes one callback, and the program's output is read to its end before the
 * last one.
 */
#include "agents/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/process/broker.h"
#include "agents/process/stderr_tail.h"
#include "agents/process/strvec.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

/* Enough for every table a probe prints; more is a program gone wild. */
#define OUTPUT_MAX (256 * 1024)
#define CONTROL_FD 3  /* in the keeper */
#define ENV_FD     4  /* the socket for the environment */
#define FAR_FD     10 /* above those */
/* Reads at once: one that writes without end does not hold up the loop. */
#define READS_MAX      16
#define READS_LAST_MAX 256 /* a pipe has at most 1 MiB */

struct child {
	const struct child_ops *ops;
	void *arg;
	int control, out, err, file;
	size_t written; /* to file */
	struct event *control_ev, *out_ev, *err_ev;
	char line[400]; /* of the control socket, so far */
	size_t line_len;
	int told;                /* failed or exited was called */
	struct stderr_tail tail; /* of stderr */
};

static void
child_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
child_end_event(struct event **ev)
{
	if (*ev != NULL)
		event_free(*ev);
	*ev = NULL;
}

/* Read the available output with at most reads_max reads; return 0 at the end
 * of file. */
static int
child_take_output(struct child *c, int fd, int is_err, int reads_max)
{
	char bytes[4096];
	ssize_t n = 1;

	for (int i = 0;
	     i < reads_max && (n = read(fd, bytes, sizeof(bytes))) > 0; i++) {
		size_t room = OUTPUT_MAX - c->written;
		size_t len = (size_t)n < room ? (size_t)n : room;

		if (is_err)
			stderr_tail_add(&c->tail, bytes, (size_t)n);
		if (!is_err && c->file >= 0 && len > 0 &&
		    write(c->file, bytes, len) == (ssize_t)len)
			c->written += len;
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void
child_out_cb(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)what;
	if (!child_take_output(c, fd, 0, READS_MAX))
		child_end_event(&c->out_ev);
}

static void
child_err_cb(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)what;
	if (!child_take_output(c, fd, 1, READS_MAX))
		child_end_event(&c->err_ev);
}

/* The last callback: the owner may free c in it. */
static void
child_finish(struct child *c, int status)
{
	char *text;

	child_end_event(&c->control_ev);
	c->told = 1;
	if (c->out >= 0)
		child_take_output(c, c->out, 0, READS_LAST_MAX);
	if (c->err >= 0)
		child_take_output(c, c->err, 1, READS_LAST_MAX);
	text = stderr_tail_lines(&c->tail);
	c->ops->exited(c, status, text, c->arg);
	free(text);
}

/* One line of the keeper; 1 when it was the last. */
static int
child_control_line(struct child *c, char *line)
{
	char *text = strchr(line, ' ');
	int64_t n = 0;

	if (text == NULL)
		return 0;
	*text++ = '\0';
	str_to_int(text, 0, INT32_MAX, &n);
	if (strcmp(line, "started") == 0) {
		c->ops->started(c, (pid_t)n, c->arg);
		return 0;
	}
	if (strcmp(line, "exited") == 0) {
		child_finish(c, (int)n);
		return 1;
	}
	child_end_event(&c->control_ev);
	c->told = 1;
	c->ops->failed(c, text, c->arg);
	return 1;
}

static void
child_control_cb(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	char line[sizeof(c->line)], *nl;
	ssize_t n;

	(void)what;
	n = read(fd, c->line + c->line_len, sizeof(c->line) - c->line_len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		log_warn("cannot read from coalmine-keeper");
	if (n <= 0) {
		log_warnx("coalmine-keeper ended unexpectedly; the program "
			  "that it ran counts as ended");
		child_finish(c, -1);
		return;
	}
	c->line_len += (size_t)n;
	while ((nl = memchr(c->line, '\n', c->line_len)) != NULL) {
		size_t len = (size_t)(nl - c->line);

		memcpy(line, c->line, len);
		line[len] = '\0';
		c->line_len -= len + 1;
		memmove(c->line, nl + 1, c->line_len);
		if (child_control_line(c, line))
			return; /* c may be gone */
	}
}

/* Arguments of the keeper: options, program, its argv. */
static void
child_args_make(struct strvec *a, const struct child_spec *spec)
{
	strvec_add(a, "coalmine-keeper");
	strvec_add(a, "--control=%d", CONTROL_FD);
	strvec_add(a, "--env=%d", ENV_FD);
	strvec_add(a, "--agent=%d", (int)getpid());
	strvec_add(a, "--deadline-ms=%llu",
	    (unsigned long long)spec->deadline_ms);
	if (spec->uid >= 0) {
		strvec_add(a, "--uid=%lld", (long long)spec->uid);
		strvec_add(a, "--gid=%lld", (long long)spec->gid);
	}
	if (spec->file_max_bytes > 0) /* rounded up, since 0 means no limit */
		strvec_add(a, "--file-kib=%llu",
		    (unsigned long long)(spec->file_max_bytes + 1023) / 1024);
	if (spec->processes_max > 0)
		strvec_add(a, "--processes=%llu",
		    (unsigned long long)spec->processes_max);
	if (spec->cgroup != NULL)
		strvec_add(a, "--cgroup=%s", spec->cgroup);
	if (spec->pass > 0)
		strvec_add(a, "--pass=%d", CHILD_PASS_FD);
	if (spec->cpus != NULL)
		strvec_add(a, "--cpus=%s", spec->cpus);
	strvec_add(a, "%s", spec->path);
	for (size_t i = 0; spec->argv[i] != NULL; i++)
		strvec_add(a, "%s", spec->argv[i]);
}

/* The program's environment as a file without a name, on a descriptor beyond
 * the keeper's. */
static int
child_env_make(char *const *env)
{
	struct strbuf text = { 0 };
	int fd = memfd_create("env", MFD_CLOEXEC), far = -1, rc = 0;

	for (; *env != NULL; env++)
		strbuf_add(&text, *env, strlen(*env) + 1);
	if (fd < 0 ||
	    write(fd, text.text, text.len_bytes) != (ssize_t)text.len_bytes ||
	    (far = fcntl(fd, F_DUPFD_CLOEXEC, FAR_FD)) < 0)
		rc = -errno;
	strbuf_clear(&text);
	child_close_fd(&fd);
	return rc < 0 ? rc : far;
}

/* After fork: only calls that are safe there. */
static void
child_keeper_exec(const struct child_spec *spec, char *const *args,
    char *const *keeper_env, const int fds[CHILD_FDS])
{
	char failed[100] = "failed cannot start coalmine-keeper: ";
	sigset_t none;

	for (int i = 0; i < (fds[4] < 0 ? 4 : 5); i++)
		if (dup2(fds[i], STDOUT_FILENO + i) < 0)
			_exit(126);
	syscall(SYS_close_range, ENV_FD + (fds[4] < 0 ? 1u : 2u), ~0u,
	    CLOSE_RANGE_CLOEXEC);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(spec->keeper, args, keeper_env);
	strncat(failed, strerrordesc_np(errno), 60);
	strcat(failed, "\n");
	(void)!write(CONTROL_FD, failed, strlen(failed));
	_exit(126);
}

/* The keeper may be root, so its own environment has nothing but the variables
 * of ours that say to which run it belongs. */
int
child_keeper_start(const struct child_spec *spec, const int fds[CHILD_FDS])
{
	struct strvec args = { 0 }, env = { 0 };
	int all[CHILD_FDS], made = -1;
	pid_t pid = -1;
	int rc = 0;

	memcpy(all, fds, sizeof(all));
	if (all[CHILD_FD_ENV] < 0)
		rc = made = all[CHILD_FD_ENV] = child_env_make(spec->env);
	child_args_make(&args, spec);
	for (char **e = spec->env; *e != NULL; e++)
		if (strncmp(*e, "COALMINE_", strlen("COALMINE_")) == 0)
			strvec_add(&env, "%s", *e);
	if (rc >= 0) {
		pid = fork();
		if (pid == 0)
			child_keeper_exec(spec, args.list, env.list, all);
		rc = pid < 0 ? -errno : (int)pid;
	}
	child_close_fd(&made);
	strvec_clear(&args);
	strvec_clear(&env);
	return rc;
}

/* The descriptors in fds are the keeper's. */
static int
child_keeper_ask(const struct child_spec *spec, int fds[CHILD_FDS])
{
	int rc;

	if (spec->broker == 0)
		return child_keeper_start(spec, fds);
	if (spec->run != NULL)
		fds[CHILD_FD_ENV] = child_env_make(spec->env);
	if (spec->run != NULL && fds[CHILD_FD_ENV] < 0)
		return fds[CHILD_FD_ENV];
	rc = broker_start(spec, fds);
	child_close_fd(&fds[CHILD_FD_ENV]);
	return rc;
}

static struct event *
child_watch(struct event_base *base, int fd, event_callback_fn cb, void *arg)
{
	struct event *ev = event_new(base, fd, EV_READ | EV_PERSIST, cb, arg);

	event_add(ev, NULL);
	return ev;
}

int
child_start(struct event_base *base, const struct child_spec *spec,
    const struct child_ops *ops, void *arg, struct child **ret)
{
	int sv[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	struct child *c = xcalloc(1, sizeof(*c));
	int rc = 0, pass = -1;

	c->ops = ops;
	c->arg = arg;
	c->control = c->out = c->err = c->file = -1;
	/* the children's ends block, as programs expect */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0 ||
	    pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		rc = -errno;
	if (rc == 0 && spec->pass > 0)
		rc = pass = fcntl(spec->pass, F_DUPFD_CLOEXEC, FAR_FD);
	c->control = sv[0];
	c->out = out[0];
	c->err = err[0];
	if (rc >= 0) {
		int fds[CHILD_FDS] = { out[1], err[1], sv[1], -1, pass };

		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(err[0], F_SETFL, O_NONBLOCK);
		fcntl(sv[0], F_SETFL, O_NONBLOCK);
		rc = child_keeper_ask(spec, fds);
	}
	child_close_fd(&sv[1]);
	child_close_fd(&out[1]);
	child_close_fd(&err[1]);
	child_close_fd(&pass);
	if (rc < 0) {
		child_free(c);
		return rc;
	}
	if (spec->output != NULL)
		c->file = open(spec->output,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK,
		    0600);
	if (spec->output != NULL && c->file < 0)
		log_warn("cannot create %s for the output of a program",
		    spec->output);
	c->control_ev = child_watch(base, c->control, child_control_cb, c);
	c->out_ev = child_watch(base, c->out, child_out_cb, c);
	c->err_ev = child_watch(base, c->err, child_err_cb, c);
	*ret = c;
	return 0;
}

void
child_end(struct child *c, uint64_t grace_ms)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "end %llu\n",
	    (unsigned long long)grace_ms);

	if (c->control >= 0 && !c->told &&
	    send(c->control, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_warn("cannot order coalmine-keeper to end its program");
}

void
child_free(struct child *c)
{
	if (c == NULL)
		return;
	child_end_event(&c->control_ev);
	child_end_event(&c->out_ev);
	child_end_event(&c->err_ev);
	child_close_fd(&c->control);
	child_close_fd(&c->out);
	child_close_fd(&c->err);
	child_close_fd(&c->file);
	free(c);
}
