/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc.c - whose child a process is, and with which environment it started,
 * decides whether it is ended: both are read from /proc, once for each pass.
 */
#include "agents/process/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"

#define ENVIRON_MAX (128 * 1024) /* of one process; ours stay below 16 KiB */

struct proc {
	pid_t pid, parent;
	int zombie;
	int below; /* descends from the root asked for */
};

struct procs {
	struct proc *list;
	size_t count;
};

/* Read up to cap_bytes - 1 bytes of a small file; -errno or the length. */
static ssize_t
proc_slurp(const char *path, char *ret, size_t cap_bytes)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, ret + len, cap_bytes - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 && len < cap_bytes - 1);
	rc = errno;
	close(fd);
	if (n < 0)
		return -rc;
	ret[len] = '\0';
	return (ssize_t)len;
}

/* "PID (NAME) STATE PPID ...": the name may hold anything, so count from its
 * last ')'. */
static int
proc_stat_read(pid_t pid, struct proc *ret)
{
	char path[64], text[1024], *at;
	char state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (proc_slurp(path, text, sizeof(text)) < 0)
		return -ESRCH;
	at = strrchr(text, ')');
	if (at == NULL || sscanf(at + 1, " %c %d", &state, &parent) != 2)
		return -ESRCH;
	ret->pid = pid;
	ret->parent = parent;
	ret->zombie = state == 'Z' || state == 'X';
	ret->below = 0;
	return 0;
}

/* Call each for every process there is. */
static void
proc_each_pid(void (*each)(pid_t pid, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *de;
	int64_t pid;

	if (dir == NULL) {
		log_warn("cannot open /proc to find processes");
		return;
	}
	while ((de = readdir(dir)) != NULL)
		if (str_to_int(de->d_name, 1, INT32_MAX, &pid) == 0)
			each((pid_t)pid, arg);
	closedir(dir);
}

static void
proc_list_add(pid_t pid, void *arg)
{
	struct procs *ps = arg;

	ps->list = xmore(ps->list, ps->count, sizeof(*ps->list));
	if (proc_stat_read(pid, &ps->list[ps->count]) == 0)
		ps->count++;
}

int
proc_kill_below(pid_t root, int sig)
{
	struct procs ps = { 0 };
	int alive = 0, news = 1;

	proc_each_pid(proc_list_add, &ps);
	/* Each pass marks the children of marked processes. */
	while (news) {
		news = 0;
		for (size_t i = 0; i < ps.count; i++) {
			struct proc *p = &ps.list[i];

			if (p->below)
				continue;
			p->below = p->parent == root;
			for (size_t k = 0; k < ps.count && !p->below; k++)
				p->below = ps.list[k].below &&
				    ps.list[k].pid == p->parent;
			news |= p->below;
		}
	}
	for (size_t i = 0; i < ps.count; i++) {
		if (!ps.list[i].below || ps.list[i].zombie)
			continue;
		if (kill(ps.list[i].pid, sig) == 0)
			alive++;
	}
	free(ps.list);
	return alive;
}

struct marked {
	const char *marker;
	char *environ;
	int sig;
	int alive;
	int failed; /* 0, or errno of the last environment not read */
};

static void
proc_marked_kill(pid_t pid, void *arg)
{
	struct marked *m = arg;
	size_t want = strlen(m->marker);
	struct proc p;
	char path[64];
	ssize_t len;

	if (pid == getpid())
		return;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	len = proc_slurp(path, m->environ, ENVIRON_MAX);
	/* It has ended, or belongs to a user whose processes are not ours. */
	if (len < 0 && len != -ENOENT && len != -ESRCH && len != -EACCES &&
	    len != -EPERM)
		m->failed = (int)-len;
	for (ssize_t at = 0; at < len;
	     at += (ssize_t)strlen(m->environ + at) + 1) {
		if (strncmp(m->environ + at, m->marker, want + 1) != 0)
			continue;
		if (proc_stat_read(pid, &p) == 0 && !p.zombie &&
		    kill(pid, m->sig) == 0)
			m->alive++;
		return;
	}
}

int
proc_kill_marked(const char *marker, int sig)
{
	struct marked m = { .marker = marker, .sig = sig };

	m.environ = xcalloc(1, ENVIRON_MAX);
	proc_each_pid(proc_marked_kill, &m);
	if (m.failed != 0)
		log_warnx("cannot read the environment of a process: %s; ranks "
			  "of an earlier run may still be running",
		    strerror(m.failed));
	free(m.environ);
	return m.alive;
}

int
proc_cgroup_home(char *ret, size_t cap_bytes)
{
	/* unified, and the hybrid layout with version 1 controllers */
	static const char *const roots[] = { "/sys/fs/cgroup",
		"/sys/fs/cgroup/unified" };
	char text[4096], procs[8192], *self;

	/* Our own place in the v2 hierarchy is the line "0::/path". */
	if (proc_slurp("/proc/self/cgroup", text, sizeof(text)) < 0)
		return -ENOENT;
	self = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (self == NULL)
		return -ENOENT;
	self += *self == '\n' ? 4 : 3;
	self[strcspn(self, "\n")] = '\0';
	if (strcmp(self, "/") == 0)
		self++;
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", roots[i],
		    self);
		if (access(procs, W_OK) < 0)
			continue;
		return str_format(ret, cap_bytes, "%s%s", roots[i], self);
	}
	return -ENOENT;
}

int
proc_cgroup_kill(const char *leaf)
{
	char path[4096];
	int fd;

	if (str_format(path, sizeof(path), "%s/cgroup.kill", leaf) < 0)
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) { /* kernels before 5.14 have no cgroup.kill */
		(void)!write(fd, "1", 1);
		close(fd);
	}
	if (rmdir(leaf) == 0 || errno == ENOENT)
		return 0;
	return -EBUSY;
}
