/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ras.c - find namespaces with a RAS port, read each from time to time, and
 * find the job. Every node of a job can report the whole job, so the first one
 * reads every 30 s and each next one half as often.
 */
#include "agents/sensor/ras.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/sensor/connects.h"
#include "agents/sensor/ras_read.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/sysfs.h"
#include "common/text.h"
#include "common/xalloc.h"

#define LOOK_NS       (30 * CLK_NS_PER_S)
#define LOOK_DOUBLED  6 /* at most: 32 minutes */
#define TICK_S        1
#define PLACES_MAX    64
#define SPACES_MAX    256 /* namespaces of a look */
#define PIDS_MAX      20000
#define ADDRS_MAX     16
#define ASKED_AT_ONCE 4
/* A process that is stopped accepts a connection and sends nothing; the next
 * connection may reach another process of the job, for all listen on one port.
 * RAS itself waits for RAS_TIMEOUT_S for a rank that does not answer, several
 * times in a large job. */
#define ATTEMPTS      4
#define FIRST_BYTE_S  3
#define WHOLE_S       15
#define RAS_TIMEOUT_S "3"
#define BYTES_MAX     (16 << 20)
#define JOB_BYTES     64
#define ENVIRON_MAX   (256 << 10)
#define NET_LINE      400
#define TAKE_MAX      4 /* a report has up to 50 KB */
#define LISTENS       "0A"

struct place {
	TAILQ_ENTRY(place) next;
	ino_t space; /* network namespace */
	int is_own;
	long pid; /* a process in it */
	uid_t uid;
	struct sockaddr_storage to;
	socklen_t to_bytes;
	char job[JOB_BYTES]; /* of the processes of uid; "": none, or several */
	int is_ambiguous, seen;
	uint64_t due_ns;
	/* Of a look. */
	int attempt;
	size_t bytes;
	uint64_t began_ns;
	struct ras_read *read;
	struct bufferevent *bev; /* NULL: none is under way */
	json_t *locals, *report;
	struct ras *all;
};

struct ras {
	struct event_base *base;
	struct event *tick;
	int port;
	uint64_t scan_ns;
	ino_t own;
	int own_fd; /* of the agent's network namespace */
	TAILQ_HEAD(places, place) places;
	size_t count, asked;
	ino_t spaces[SPACES_MAX];
	size_t space_count;
};

static void ras_attempt(struct place *p);

/* ---- whose ---- */

/* Slurm's cgroup names the job of a process: "job_123". */
static void
ras_job_cgroup(long pid, char ret[JOB_BYTES])
{
	char dir[32], text[4096], *at;

	snprintf(dir, sizeof(dir), "/proc/%ld", pid);
	sysfs_text(dir, "cgroup", text, sizeof(text));
	at = strstr(text, "/job_");
	if (at != NULL)
		snprintf(ret, JOB_BYTES, "%.*s",
		    (int)strspn(at + 5, "0123456789"), at + 5);
}

static const char *
ras_environ_get(const char *text, size_t bytes, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; at < text + bytes; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=' &&
		    at[len + 1] != '\0')
			return at + len + 1;
	return NULL;
}

/* As libcoalmine-pmpi.so names it; a part of an array has two numbers. */
static void
ras_job_of(long pid, char ret[JOB_BYTES])
{
	static const char *const names[] = { "COALMINE_JOB", "SLURM_JOB_ID",
		"PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID" };
	char path[64], *text = xcalloc(1, ENVIRON_MAX + 1);
	const char *array, *task, *value = NULL;
	FILE *fp;
	size_t n;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	fp = fopen(path, "re");
	n = fp != NULL ? fread(text, 1, ENVIRON_MAX, fp) : 0;
	if (fp != NULL)
		fclose(fp);
	for (size_t i = 0; i < ARRAY_LEN(names) && value == NULL; i++)
		value = ras_environ_get(text, n, names[i]);
	array = ras_environ_get(text, n, "SLURM_ARRAY_JOB_ID");
	task = ras_environ_get(text, n, "SLURM_ARRAY_TASK_ID");
	if (array != NULL && task != NULL &&
	    ras_environ_get(text, n, "COALMINE_JOB") == NULL)
		snprintf(ret, JOB_BYTES, "%.30s_%.30s", array, task);
	else if (value != NULL)
		snprintf(ret, JOB_BYTES, "%.63s", value);
	else
		ras_job_cgroup(pid, ret);
	free(text);
}

/* As ras_job_of, for a process of this user only. Any user may send a reply
 * that names the processes of others. */
static void
ras_job_of_user(long pid, uid_t uid, char ret[JOB_BYTES])
{
	char path[64];
	struct stat st;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (stat(path, &st) == 0 && st.st_uid == uid)
		ras_job_of(pid, ret);
}

/* Find the job that a process of the port's user names. */
static int
ras_job_of_reply(const struct place *p, const struct ras_reply *reply,
    char ret[JOB_BYTES])
{
	for (size_t i = 0; i < reply->pid_count && p->is_own; i++) {
		ras_job_of_user(reply->pids[i], p->uid, ret);
		if (ret[0] != '\0')
			return 1;
	}
	snprintf(ret, JOB_BYTES, "%s", p->is_ambiguous ? "" : p->job);
	return ret[0] != '\0';
}

/* ---- a look ---- */

/* Enter the network namespace of a process: a socket that is made there stays
 * there. 0 or -errno. */
static int
ras_enter(const struct place *p)
{
	char path[64];
	int fd, rc;

	if (p->is_own)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/ns/net", p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* After ras_enter returned 0: the agent has to be back in any case. */
static void
ras_leave(const struct place *p)
{
	if (!p->is_own && setns(p->all->own_fd, CLONE_NEWNET) < 0)
		fatal("cannot return to the network namespace of the agent");
}

static json_t *
ras_locals(void)
{
	json_t *set = json_pack("{s:b, s:b}", "127.0.0.1", 1, "::1", 1);
	struct ifaddrs *all = NULL, *at;
	char text[INET6_ADDRSTRLEN];

	if (getifaddrs(&all) < 0)
		return set;
	for (at = all; at != NULL; at = at->ifa_next) {
		const void *in = NULL;

		if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET)
			in = &((struct sockaddr_in *)(void *)at->ifa_addr)
				  ->sin_addr;
		if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET6)
			in = &((struct sockaddr_in6 *)(void *)at->ifa_addr)
				  ->sin6_addr;
		if (in != NULL && json_object_size(set) < 256 &&
		    inet_ntop(at->ifa_addr->sa_family, in, text,
			sizeof(text)) != NULL)
			json_object_set_new(set, text, json_true());
	}
	freeifaddrs(all);
	return set;
}

/* Takes report. */
static void
ras_report(struct place *p, const char *job, json_t *report)
{
	json_t *addrs = json_array(), *value;
	const char *addr;

	json_object_foreach (p->locals, addr, value)
		if (!p->is_own && json_array_size(addrs) < ADDRS_MAX &&
		    strcmp(addr, "127.0.0.1") != 0 && strcmp(addr, "::1") != 0)
			json_array_append_new(addrs, json_string(addr));
	json_object_set_new(report, "job", text_json(job));
	json_object_set_new(report, "uid", json_integer(p->uid));
	json_object_set_new(report, "addrs", addrs);
	json_decref(p->report);
	p->report = report;
}

static void
ras_close(struct place *p)
{
	if (p->bev != NULL) {
		bufferevent_free(p->bev);
		p->all->asked--;
	}
	p->bev = NULL;
	ras_read_free(p->read);
	p->read = NULL;
}

/* An attempt is over. */
static void
ras_done(struct place *p, const char *why)
{
	struct ras_reply reply;
	char job[JOB_BYTES];
	struct err err;
	int rc, order;

	err_say(&err, "%s", why);
	rc = why[0] != '\0' ? -EIO : ras_read_end(p->read, &reply, &err);
	ras_close(p);
	if (rc < 0 && ++p->attempt < ATTEMPTS) {
		ras_attempt(p);
		return;
	}
	order = 0;
	if (rc == 0) {
		order = reply.order < 0          ? 3
		    : reply.order > LOOK_DOUBLED ? LOOK_DOUBLED
						 : (int)reply.order;
		if (ras_job_of_reply(p, &reply, job))
			ras_report(p, job, reply.report);
		else
			json_decref(reply.report);
	} else if (p->job[0] != '\0' && !p->is_ambiguous) {
		ras_report(p, p->job,
		    json_pack("{s:o}", "error", text_json(err.text)));
	}
	p->due_ns = p->began_ns + (LOOK_NS << order);
}

static void
ras_read_cb(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct timeval silence = { .tv_sec = WHOLE_S };
	struct place *p = arg;
	char part[4096];
	int n;

	bufferevent_set_timeouts(bev, &silence, NULL);
	while ((n = evbuffer_remove(in, part, sizeof(part))) > 0) {
		p->bytes += (size_t)n;
		if (p->bytes > BYTES_MAX) {
			ras_done(p,
			    "the reply of the NCCL RAS port is longer than 16 "
			    "MiB");
			return;
		}
		if (ras_read_feed(p->read, part, (size_t)n) < 0) {
			ras_done(p, "");
			return;
		}
	}
}

static void
ras_event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct place *p = arg;
	struct err err;

	if (what & BEV_EVENT_CONNECTED)
		return;
	ras_read_cb(bev, p);
	if (p->bev != bev)
		return; /* it is over already */
	err_say(&err, "cannot read the NCCL RAS port: %s",
	    evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
	ras_done(p,
	    what & BEV_EVENT_TIMEOUT
		? "timeout: no reply from the NCCL RAS port"
		: what & BEV_EVENT_ERROR ? err.text
					 : "");
}

/* A socket in the place's namespace that connects, or -1. */
static int
ras_connect(const struct place *p)
{
	int fd;

	if (ras_enter(p) < 0)
		return -1;
	fd = socket(p->to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	ras_leave(p);
	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)(const void *)&p->to,
		p->to_bytes) < 0 &&
	    errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/* JSON has the counts of all ranks. Text comes where JSON does not. */
static void
ras_attempt(struct place *p)
{
	struct timeval first = { .tv_sec = FIRST_BYTE_S };
	int fd = ras_connect(p);

	if (fd < 0) { /* no process listens any more, or no right to */
		p->due_ns = clk_ns() + LOOK_NS;
		return;
	}
	p->bytes = 0;
	p->read = ras_read_new(p->locals);
	p->bev = bufferevent_socket_new(p->all->base, fd,
	    BEV_OPT_CLOSE_ON_FREE);
	p->all->asked++;
	bufferevent_setcb(p->bev, ras_read_cb, NULL, ras_event_cb, p);
	bufferevent_set_timeouts(p->bev, &first, &first);
	evbuffer_add_printf(bufferevent_get_output(p->bev),
	    "CLIENT PROTOCOL 2\nTIMEOUT " RAS_TIMEOUT_S "\n%sVERBOSE STATUS\n",
	    p->attempt % 2 ? "" : "SET FORMAT JSON\n");
	bufferevent_enable(p->bev, EV_READ | EV_WRITE);
}

static void
ras_look(struct place *p)
{
	p->attempt = 0;
	p->began_ns = clk_ns();
	json_decref(p->locals);
	p->locals = NULL;
	if (ras_enter(p) == 0) {
		p->locals = ras_locals();
		ras_leave(p);
	}
	ras_attempt(p);
}

/* ---- where ---- */

/* "0100007F:6D7C" of /proc/net/tcp. */
static int
ras_address(const char *text, int port, struct place *p)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&p->to;
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&p->to;
	uint32_t word[4];
	size_t words = connects_words(text, word);
	unsigned of_port;

	if (words == 0 || sscanf(text + 8 * words, ":%4x", &of_port) != 1 ||
	    of_port != (unsigned)port)
		return 0;
	memset(&p->to, 0, sizeof(p->to));
	if (words == 1) {
		*v4 = (struct sockaddr_in){ .sin_family = AF_INET,
			.sin_port = htons((uint16_t)port),
			.sin_addr.s_addr = word[0] != 0
			    ? word[0]
			    : htonl(INADDR_LOOPBACK) };
		p->to_bytes = sizeof(*v4);
		return 1;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	memcpy(&v6->sin6_addr, word, sizeof(word));
	if (IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr))
		v6->sin6_addr = in6addr_loopback;
	p->to_bytes = sizeof(*v6);
	return 1;
}

/* Sockets that listen come first in the list. 1: one has the port. */
static int
ras_listener_find(long pid, int port, struct place *ret)
{
	static const char *const files[] = { "tcp", "tcp6" };
	char path[64], line[NET_LINE], local[48], state[8];
	unsigned uid;
	FILE *fp;
	int found = 0;

	for (size_t i = 0; i < ARRAY_LEN(files) && !found; i++) {
		snprintf(path, sizeof(path), "/proc/%ld/net/%s", pid, files[i]);
		fp = fopen(path, "re");
		while (fp != NULL && !found &&
		    fgets(line, sizeof(line), fp) != NULL) {
			if (sscanf(line, " %*d: %47s %*s %7s %*s %*s %*s %u",
				local, state, &uid) != 3)
				continue; /* the heading */
			if (strcmp(state, LISTENS) != 0)
				break;
			found = ras_address(local, port, ret);
			ret->uid = uid;
		}
		if (fp != NULL)
			fclose(fp);
	}
	return found;
}

static void
ras_place_free(struct place *p)
{
	struct ras *r = p->all;

	ras_close(p);
	TAILQ_REMOVE(&r->places, p, next);
	r->count--;
	json_decref(p->locals);
	json_decref(p->report);
	free(p);
}

/* A namespace that this look meets for the first time. */
static void
ras_space_look(struct ras *r, ino_t space, long pid)
{
	struct place found = { .space = space, .pid = pid }, *p;

	if (r->space_count == SPACES_MAX)
		return;
	r->spaces[r->space_count++] = space;
	if (!ras_listener_find(pid, r->port, &found))
		return;
	TAILQ_FOREACH (p, &r->places, next)
		if (p->space == space)
			break;
	if (p == NULL && r->count == PLACES_MAX)
		return;
	if (p == NULL) {
		p = xcalloc(1, sizeof(*p));
		p->space = space;
		p->all = r;
		p->is_own = space == r->own;
		TAILQ_INSERT_TAIL(&r->places, p, next);
		r->count++;
	}
	p->pid = pid;
	p->uid = found.uid;
	p->to = found.to;
	p->to_bytes = found.to_bytes;
	p->job[0] = '\0';
	p->is_ambiguous = 0;
	p->seen = 1;
}

/* Note the job of a process in a namespace with a port. */
static void
ras_process_look(struct ras *r, ino_t space, long pid)
{
	char job[JOB_BYTES];
	struct place *p;

	TAILQ_FOREACH (p, &r->places, next)
		if (p->space == space && p->seen)
			break;
	if (p == NULL || p->is_ambiguous)
		return;
	ras_job_of_user(pid, p->uid, job);
	if (job[0] == '\0')
		return;
	p->is_ambiguous = p->job[0] != '\0' && strcmp(p->job, job) != 0;
	snprintf(p->job, sizeof(p->job), "%s", job);
}

static void
ras_scan(struct ras *r)
{
	DIR *d = opendir("/proc");
	struct place *p, *tmp;
	struct dirent *de;
	int left = PIDS_MAX;
	char path[64];
	struct stat st;

	r->space_count = 0;
	ras_space_look(r, r->own, (long)getpid());
	while (d != NULL && left > 0 && (de = readdir(d)) != NULL) {
		long pid = strtol(de->d_name, NULL, 10);
		size_t i = 0;

		if (pid <= 0)
			continue;
		left--;
		snprintf(path, sizeof(path), "/proc/%ld/ns/net", pid);
		if (stat(path, &st) < 0) /* not ours to see */
			continue;
		while (i < r->space_count && r->spaces[i] != st.st_ino)
			i++;
		if (i == r->space_count)
			ras_space_look(r, st.st_ino, pid);
		ras_process_look(r, st.st_ino, pid);
	}
	if (d != NULL)
		closedir(d);
	TAILQ_FOREACH_SAFE (p, &r->places, next, tmp) {
		if (!p->seen && p->bev == NULL)
			ras_place_free(p);
		else
			p->seen = 0;
	}
}

static void
ras_tick_cb(evutil_socket_t fd, short what, void *arg)
{
	struct ras *r = arg;
	uint64_t now_ns = clk_ns();
	struct place *p;

	(void)fd;
	(void)what;
	if (r->scan_ns == 0 || now_ns - r->scan_ns >= LOOK_NS) {
		r->scan_ns = now_ns;
		ras_scan(r);
	}
	TAILQ_FOREACH (p, &r->places, next) {
		if (p->bev != NULL &&
		    now_ns - p->began_ns >
			(uint64_t)(WHOLE_S + ATTEMPTS * FIRST_BYTE_S) *
			    CLK_NS_PER_S) {
			p->attempt = ATTEMPTS;
			ras_done(p,
			    "timeout: the reply of the NCCL RAS port is "
			    "incomplete");
		} else if (p->bev == NULL && now_ns >= p->due_ns &&
		    r->asked < ASKED_AT_ONCE) {
			ras_look(p);
		}
	}
}

struct ras *
ras_new(struct event_base *base, int port)
{
	struct timeval tick = { .tv_sec = TICK_S };
	struct stat st;
	struct ras *r;

	if (port == 0)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->base = base;
	r->port = port;
	TAILQ_INIT(&r->places);
	r->own_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	r->own = r->own_fd >= 0 && fstat(r->own_fd, &st) == 0 ? st.st_ino : 0;
	r->tick = event_new(base, -1, EV_PERSIST, ras_tick_cb, r);
	event_add(r->tick, &tick);
	return r;
}

void
ras_free(struct ras *r)
{
	if (r == NULL)
		return;
	while (!TAILQ_EMPTY(&r->places))
		ras_place_free(TAILQ_FIRST(&r->places));
	event_free(r->tick);
	if (r->own_fd >= 0)
		close(r->own_fd);
	free(r);
}

json_t *
ras_take(struct ras *r)
{
	json_t *list = NULL;
	struct place *p;

	if (r == NULL)
		return NULL;
	TAILQ_FOREACH (p, &r->places, next) {
		if (p->report == NULL || json_array_size(list) == TAKE_MAX)
			continue; /* with the next heartbeat */
		if (list == NULL)
			list = json_array();
		json_array_append_new(list, p->report);
		p->report = NULL;
	}
	return list;
}
