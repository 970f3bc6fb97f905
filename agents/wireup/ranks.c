/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.c - the sockets of ranks and of their PMIx server, and the exit of each
 * rank. An exit is judged a moment later, when the last messages on the rank's
 * other connections have been read.
 */
#include "agents/wireup/ranks.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/process/child.h"
#include "agents/wireup/cpus.h"
#include "agents/wireup/pmi.h"
#include "common/clk.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "schema/packed.h"

/* From a rank's exit to the judgement of it. */
#define SETTLE_MS 20
/* Raw bytes of one message: packed they fit into a frame. */
#define PART_BYTES (512 * 1024)
/* What all nodes may give in one fence. */
#define FENCE_BYTES_MAX (64 * 1024 * 1024)
#define HELPER_HEAD_MAX 80

struct rank {
	struct ranks *all;
	struct bufferevent *bev; /* PMI; NULL: none, or ended */
	struct strvec env;
	pid_t pid;
	int status; /* -1: it runs, or is not started */
	int gone, told;
	int bye, lost, ended_itself; /* its rank watch */
	char *abort, *tail;
};

struct ranks {
	struct event_base *base;
	struct ranks_job job;
	char *engine;
	struct strvec argv;
	const struct ranks_ops *ops;
	void *arg;
	struct rank *list;
	int envs, started, over; /* of these */
	struct pmi *pmi;
	struct bufferevent *helper; /* NULL: none, or ended */
	struct event *settle;
	int64_t fence, fence_done; /* the last that was given, and brought */
	int64_t part;              /* the next of it */
	struct strbuf parts;
	int ending, over_told;
	int status; /* of the first that failed */
	char *tail;
};

static struct rank *
ranks_find(struct ranks *r, int64_t rank)
{
	int64_t i = rank - r->job.first;

	return i >= 0 && i < r->job.local ? &r->list[i] : NULL;
}

static int64_t
ranks_number(const struct rank *k)
{
	return k->all->job.first + (k - k->all->list);
}

static void
ranks_hang_up(struct bufferevent **bev)
{
	if (*bev != NULL)
		bufferevent_free(*bev);
	*bev = NULL;
}

/* ---- the exchange ---- */

static void
ranks_give(struct ranks *r, const char *bytes, size_t len)
{
	size_t parts = len == 0 ? 1 : (len + PART_BYTES - 1) / PART_BYTES;

	r->fence++;
	for (size_t i = 0; i < parts; i++) {
		size_t n = len - i * PART_BYTES;

		r->ops->send(WIRE_FENCE,
		    json_pack("{s:I, s:I, s:I, s:o}", "id",
			(json_int_t)r->fence, "part", (json_int_t)i, "parts",
			(json_int_t)parts, "data",
			packed_json(bytes + i * PART_BYTES,
			    n < PART_BYTES ? n : PART_BYTES)),
		    1, r->arg);
	}
}

static void
ranks_helper_say(struct ranks *r, const char *verb, int64_t a,
    const char *bytes, size_t len)
{
	struct evbuffer *out;

	if (r->helper == NULL)
		return;
	out = bufferevent_get_output(r->helper);
	evbuffer_add_printf(out, "%s %lld 0 %zu\n", verb, (long long)a, len);
	evbuffer_add(out, bytes, len);
}

/* Answer the PMI requests that waited for data that has arrived. */
static void
ranks_pmi_waited(struct ranks *r)
{
	for (int i = 0; i < r->job.local; i++) {
		struct strbuf reply = { 0 };

		pmi_waited(r->pmi, i, &reply);
		if (reply.len_bytes > 0 && r->list[i].bev != NULL)
			bufferevent_write(r->list[i].bev, reply.text,
			    reply.len_bytes);
		strbuf_clear(&reply);
	}
}

static void
ranks_brought(struct ranks *r)
{
	r->fence_done++;
	if (r->pmi == NULL) {
		ranks_helper_say(r, "fence", r->fence_done, r->parts.text,
		    r->parts.len_bytes);
	} else {
		pmi_fenced(r->pmi, r->parts.text, r->parts.len_bytes);
		ranks_pmi_waited(r);
	}
	strbuf_clear(&r->parts);
	r->part = 0;
}

int
ranks_fence(struct ranks *r, const json_t *msg)
{
	int64_t id = member_int(msg, "id"), part = member_int(msg, "part");
	int64_t parts = member_int(msg, "parts");
	size_t len;
	char *bytes;

	/* Brought again, after a session that broke: known already. */
	if (id != r->fence_done + 1 || id != r->fence)
		return 0;
	if (part == 0) {
		strbuf_clear(&r->parts);
		r->part = 0;
	}
	if (part != r->part || part < 0 || part >= parts)
		return part == r->part ? -EPROTO : 0;
	bytes = packed_bytes(member_text(msg, "data"),
	    FENCE_BYTES_MAX - r->parts.len_bytes, &len);
	if (bytes == NULL)
		return -EPROTO;
	strbuf_add(&r->parts, bytes, len);
	free(bytes);
	if (++r->part < parts)
		return 0;
	r->ops->send(WIRE_FENCE,
	    json_pack("{s:I, s:i, s:i, s:s}", "id", (json_int_t)id, "part", 0,
		"parts", 0, "data", ""),
	    0, r->arg);
	ranks_brought(r);
	return 0;
}

int
ranks_modex(struct ranks *r, const json_t *msg)
{
	const char *data = member_text_or(msg, "data", NULL);
	int64_t rank = member_int(msg, "rank");
	size_t len;
	char *bytes;

	if (rank < 0 || rank >= r->job.size ||
	    (data == NULL) != (ranks_find(r, rank) != NULL))
		return -EPROTO;
	if (data == NULL) {
		ranks_helper_say(r, "modex", rank, "", 0);
		return 0;
	}
	bytes = packed_bytes(data, PART_BYTES, &len);
	if (bytes == NULL)
		return -EPROTO;
	ranks_helper_say(r, "have", rank, bytes, len);
	free(bytes);
	return 0;
}

/* ---- PMI ---- */

static void
ranks_aborts(struct rank *k, const char *text)
{
	if (k == NULL || k->abort != NULL)
		return;
	log_warnx("run %s: rank %lld: %s", k->all->job.run,
	    (long long)ranks_number(k), text);
	k->abort = xstrdup(text);
}

/* The next message whole, which the caller frees: 1; 0: it is not all there;
 * -1: not PMI. */
static int
ranks_pmi_next(struct evbuffer *in, char **ret)
{
	char head[PMI_HEAD_BYTES];
	size_t have = evbuffer_get_length(in);
	long len;

	if (evbuffer_copyout(in, head, sizeof(head)) < (ssize_t)sizeof(head))
		return 0;
	len = pmi_length(head);
	if (len < 0)
		return -1;
	if (len == 0) {
		*ret = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF);
		return *ret != NULL ? 1 : have <= PMI_LINE_MAX ? 0 : -1;
	}
	if (have < sizeof(head) + (size_t)len)
		return 0;
	*ret = xcalloc(1, sizeof(head) + (size_t)len + 1);
	evbuffer_remove(in, *ret, sizeof(head) + (size_t)len);
	return 1;
}

static void
ranks_pmi_read_cb(struct bufferevent *bev, void *arg)
{
	struct rank *k = arg;
	struct ranks *r = k->all;
	struct evbuffer *in = bufferevent_get_input(bev);
	enum pmi_event event = PMI_REPLY;
	char text[PMI_TEXT_MAX], *one;
	int rc = 0;

	while (event != PMI_BAD && (rc = ranks_pmi_next(in, &one)) > 0) {
		struct strbuf reply = { 0 };

		event = pmi_message(r->pmi, (int)(k - r->list), one, &reply,
		    text);
		free(one);
		if (reply.len_bytes > 0)
			bufferevent_write(bev, reply.text, reply.len_bytes);
		strbuf_clear(&reply);
		if (event == PMI_FENCE)
			ranks_give(r, pmi_puts(r->pmi)->text,
			    pmi_puts(r->pmi)->len_bytes);
		if (event == PMI_ATTR)
			ranks_pmi_waited(r);
		if (event == PMI_ABORT)
			ranks_aborts(k, text);
	}
	if (event != PMI_BAD && rc == 0)
		return;
	ranks_aborts(k,
	    event == PMI_BAD ? text : "PMI: malformed or oversized message");
	ranks_hang_up(&k->bev); /* which its MPI takes as the end */
}

static void
ranks_pmi_event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct rank *k = arg;

	(void)bev;
	(void)what;
	ranks_hang_up(&k->bev);
}

/* ---- start ---- */

/* A socket between us and a child; its end is the caller's to close. */
static int
ranks_socket(struct ranks *r, bufferevent_data_cb read_cb,
    bufferevent_event_cb event_cb, void *arg, struct bufferevent **ret)
{
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	evutil_make_socket_nonblocking(sv[0]);
	*ret = bufferevent_socket_new(r->base, sv[0], BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(*ret, read_cb, NULL, event_cb, arg);
	bufferevent_enable(*ret, EV_READ | EV_WRITE);
	return sv[1];
}

static int
ranks_start_one(struct rank *k)
{
	struct ranks *r = k->all;
	const struct ranks_job *j = &r->job;
	int local = (int)(k - r->list), fd = 0, rc;
	char *cpus = cpus_of("", j->bind, local);

	if (r->pmi != NULL) {
		fd = ranks_socket(r, ranks_pmi_read_cb, ranks_pmi_event_cb, k,
		    &k->bev);
		strvec_env(&k->env, "PMI_FD", "%d", CHILD_PASS_FD);
		strvec_env(&k->env, "PMI_RANK", "%d", j->first + local);
		strvec_env(&k->env, "PMI_SIZE", "%d", j->size);
		strvec_env(&k->env, "PMI_SPAWNED", "0");
		strvec_env(&k->env, "MPI_LOCALRANKID", "%d", local);
		strvec_env(&k->env, "MPI_LOCALNRANKS", "%d", j->local);
	} else {
		/* Open MPI 4 detects its launcher, and a rank without a known
		 * one starts a separate run; for this launcher it uses PMIx.
		 * Open MPI's own launcher sets the other variables, too. */
		strvec_env(&k->env, "JSM_JSRUN_PORT", "1");
		strvec_env(&k->env, "PMIX_MCA_gds", "hash");
		strvec_env(&k->env, "OMPI_COMM_WORLD_RANK", "%d",
		    j->first + local);
		strvec_env(&k->env, "OMPI_COMM_WORLD_SIZE", "%d", j->size);
		strvec_env(&k->env, "OMPI_COMM_WORLD_LOCAL_RANK", "%d", local);
		strvec_env(&k->env, "OMPI_COMM_WORLD_LOCAL_SIZE", "%d",
		    j->local);
	}
	rc = fd < 0 ? fd
		    : r->ops->start(&(struct ranks_child){ .id = local + 1,
					.path = r->engine,
					.argv = r->argv.list,
					.env = &k->env,
					.pass = fd,
					.cpus = cpus },
			  r->arg);
	if (fd > 0)
		close(fd);
	free(cpus);
	return rc;
}

static int
ranks_start_all(struct ranks *r)
{
	char text[120];
	int rc = 0, i;

	for (i = 0; rc == 0 && i < r->job.local; i++)
		rc = ranks_start_one(&r->list[i]);
	if (rc == 0)
		return 0;
	snprintf(text, sizeof(text), "cannot start rank %d: %s",
	    r->job.first + i - 1, strerror(-rc));
	r->ops->failed(text, r->arg);
	return rc;
}

/* ---- the PMIx server ---- */

/* "NAME=value", each with its NUL. */
static void
ranks_helper_env(struct rank *k, const char *bytes, size_t len)
{
	const char *end = bytes + len, *eq;

	for (; bytes < end; bytes += strlen(bytes) + 1) {
		char name[128];

		eq = strchr(bytes, '=');
		if (eq == NULL || eq - bytes >= (long)sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(eq - bytes), bytes);
		strvec_env(&k->env, name, "%s", eq + 1);
	}
	if (++k->all->envs == k->all->job.local)
		(void)ranks_start_all(k->all);
}

/* One message; it runs as the probes' user, so it may say anything. */
static int
ranks_helper_message(struct ranks *r, const char *verb, int64_t a, int64_t b,
    const char *bytes, size_t len)
{
	struct rank *k = ranks_find(r, a);
	char text[PMI_TEXT_MAX];

	if (strcmp(verb, "fence") == 0 && a == r->fence + 1) {
		ranks_give(r, bytes, len);
	} else if (strcmp(verb, "modex") == 0 && k == NULL && a >= 0 &&
	    a < r->job.size) {
		r->ops->send(WIRE_MODEX,
		    json_pack("{s:I}", "rank", (json_int_t)a), 1, r->arg);
	} else if (strcmp(verb, "have") == 0 && k != NULL) {
		r->ops->send(WIRE_MODEX,
		    json_pack("{s:I, s:o}", "rank", (json_int_t)a, "data",
			packed_json(bytes, len)),
		    0, r->arg);
	} else if (strcmp(verb, "abort") == 0 && k != NULL) {
		snprintf(text, sizeof(text), "abort, code %lld%s%.180s",
		    (long long)b, len > 0 ? ": " : "", bytes);
		ranks_aborts(k, text);
	} else if (strcmp(verb, "env") == 0 && k != NULL &&
	    r->envs < r->job.local) {
		ranks_helper_env(k, bytes, len);
	} else if (strcmp(verb, "failed") == 0) {
		r->ops->failed(bytes, r->arg);
	} else if (strcmp(verb, "join") != 0) {
		return -EPROTO;
	}
	return 0;
}

static void
ranks_helper_read_cb(struct bufferevent *bev, void *arg)
{
	struct ranks *r = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	struct evbuffer_ptr nl;
	char head[HELPER_HEAD_MAX + 1], verb[16], *bytes;
	long long a, b;
	size_t len;
	int rc = 0;

	while (rc == 0) {
		nl = evbuffer_search_eol(in, NULL, NULL, EVBUFFER_EOL_LF);
		if (nl.pos < 0 && evbuffer_get_length(in) <= HELPER_HEAD_MAX)
			return;
		if (nl.pos < 0 || nl.pos > HELPER_HEAD_MAX)
			break;
		evbuffer_copyout(in, head, (size_t)nl.pos);
		head[nl.pos] = '\0';
		if (sscanf(head, "%15s %lld %lld %zu", verb, &a, &b, &len) !=
			4 ||
		    len > FENCE_BYTES_MAX)
			break;
		if (evbuffer_get_length(in) < (size_t)nl.pos + 1 + len)
			return;
		evbuffer_drain(in, (size_t)nl.pos + 1);
		bytes = xcalloc(1, len + 1);
		evbuffer_remove(in, bytes, len);
		rc = ranks_helper_message(r, verb, a, b, bytes, len);
		free(bytes);
	}
	r->ops->failed("malformed message from coalmine-pmix", r->arg);
	ranks_hang_up(&r->helper);
}

static void
ranks_helper_event_cb(struct bufferevent *bev, short what, void *arg)
{
	struct ranks *r = arg;

	(void)bev;
	(void)what;
	ranks_hang_up(&r->helper);
}

static int
ranks_helper_start(struct ranks *r)
{
	const struct ranks_job *j = &r->job;
	struct strvec argv = { 0 }, env = { 0 };
	int fd, rc;

	for (size_t i = 0; i < j->env->count; i++)
		strvec_add(&env, "%s", j->env->list[i]);
	/* Its files would be in shared memory: a hash table is enough. */
	strvec_env(&env, "PMIX_MCA_gds", "hash");
	/* It needs no topology: to find one takes nearly half of its start, and
	 * more with GPUs. Ranks find their own. */
	strvec_env(&env, "HWLOC_COMPONENTS", "no_os,stop");
	strvec_add(&argv, "coalmine-pmix");
	strvec_add(&argv, "%s", j->run);
	strvec_add(&argv, "%s/tmp", j->dir);
	strvec_add(&argv, "%s", j->host);
	strvec_add(&argv, "%d", j->first);
	strvec_add(&argv, "%d", j->local);
	strvec_add(&argv, "%d", j->size);
	rc = fd = ranks_socket(r, ranks_helper_read_cb, ranks_helper_event_cb,
	    r, &r->helper);
	if (fd >= 0) {
		rc = r->ops->start(&(struct ranks_child){ .id = RANKS_SERVER,
				       .path = j->pmix,
				       .argv = argv.list,
				       .env = &env,
				       .pass = fd },
		    r->arg);
		close(fd);
	}
	strvec_clear(&argv);
	strvec_clear(&env);
	if (rc < 0)
		r->ops->failed(strerror(-rc), r->arg);
	return rc;
}

/* ---- how they end ---- */

static void
ranks_tell(struct rank *k)
{
	struct ranks *r = k->all;
	int failed = k->status != 0 || k->lost || k->abort != NULL;
	json_t *msg;

	k->told = 1;
	if (k->bye || !failed || r->ending)
		return;
	log_warnx("run %s: rank %lld, pid %d: ended with status %d", r->job.run,
	    (long long)ranks_number(k), (int)k->pid, k->status);
	log_debug("run %s: rank %lld: %s", r->job.run,
	    (long long)ranks_number(k), k->tail);
	msg = json_pack("{s:I, s:I, s:b, s:i, s:o}", "rank",
	    (json_int_t)ranks_number(k), "pid", (json_int_t)k->pid, "exited",
	    k->ended_itself || k->abort != NULL, "status", k->status, "stderr",
	    text_json(k->tail));
	if (k->abort != NULL)
		json_object_set_new(msg, "abort", text_json(k->abort));
	r->ops->send(WIRE_RANK_LOST, msg, 1, r->arg);
}

static void
ranks_settle_cb(evutil_socket_t fd, short what, void *arg)
{
	struct ranks *r = arg;

	(void)fd;
	(void)what;
	for (int i = 0; i < r->job.local; i++)
		if (r->list[i].gone && !r->list[i].told)
			ranks_tell(&r->list[i]);
	if (r->over < r->job.local || r->over_told)
		return;
	r->over_told = 1;
	ranks_hang_up(&r->helper);
	r->ops->gone(r->status, r->tail != NULL ? r->tail : r->list[0].tail,
	    r->arg);
}

void
ranks_end(struct ranks *r)
{
	r->ending = 1;
}

void
ranks_settle(struct ranks *r)
{
	ranks_settle_cb(-1, 0, r);
}

int
ranks_left(struct ranks *r, int64_t rank, int bye, int ended_itself)
{
	struct rank *k = ranks_find(r, rank);

	if (k == NULL)
		return 0;
	k->bye |= bye;
	k->lost |= !bye;
	k->ended_itself |= ended_itself;
	return 1;
}

void
ranks_started(struct ranks *r, int id, pid_t pid)
{
	if (id < 1 || id > r->job.local)
		return;
	r->list[id - 1].pid = pid;
	if (++r->started == r->job.local)
		r->ops->send(WIRE_LAUNCHED,
		    json_pack("{s:b, s:I}", "ok", 1, "pid",
			(json_int_t)r->list[0].pid),
		    1, r->arg);
}

void
ranks_exited(struct ranks *r, int id, int status, const char *tail)
{
	static const struct timeval soon = { .tv_usec = SETTLE_MS * 1000 };
	char text[400];
	struct rank *k;

	if (id == RANKS_SERVER && r->over < r->job.local) {
		snprintf(text, sizeof(text),
		    "coalmine-pmix ended with status %d%s%.300s", status,
		    tail[0] == '\0' ? "" : ": ", tail);
		r->ops->failed(text, r->arg);
		/* its ranks end for that */
		for (int i = 0; i < r->job.local; i++)
			if (!r->list[i].told && r->list[i].abort == NULL)
				r->list[i].abort = xstrdup(text);
		return;
	}
	if (id < 1 || id > r->job.local)
		return;
	k = &r->list[id - 1];
	k->status = status;
	k->gone = 1;
	k->tail = xstrdup(tail);
	r->over++;
	if (status != 0 && r->status == 0) {
		r->status = status;
		r->tail = xstrdup(tail);
	}
	if (!event_pending(r->settle, EV_TIMEOUT, NULL) ||
	    r->over == r->job.local)
		event_add(r->settle, &soon);
}

/* ---- life ---- */

struct ranks *
ranks_open(struct event_base *base, const struct ranks_job *job,
    const struct ranks_ops *ops, void *arg)
{
	struct ranks *r = xcalloc(1, sizeof(*r));
	int rc;

	r->base = base;
	r->job = *job;
	r->ops = ops;
	r->arg = arg;
	r->engine = xstrdup(job->engine);
	for (const char *const *a = job->argv; *a != NULL; a++)
		strvec_add(&r->argv, "%s", *a);
	r->settle = evtimer_new(base, ranks_settle_cb, r);
	r->list = xcalloc((size_t)job->local, sizeof(*r->list));
	for (int i = 0; i < job->local; i++) {
		struct rank *k = &r->list[i];

		k->all = r;
		k->status = -1;
		for (size_t e = 0; e < job->env->count; e++)
			strvec_add(&k->env, "%s", job->env->list[e]);
	}
	if (job->pmix == NULL) {
		r->pmi = pmi_new(job->first, job->local, job->size);
		rc = ranks_start_all(r);
	} else {
		rc = ranks_helper_start(r);
	}
	r->job.env = NULL; /* the caller's */
	if (rc == 0)
		return r;
	ranks_close(r);
	return NULL;
}

void
ranks_close(struct ranks *r)
{
	if (r == NULL)
		return;
	ranks_hang_up(&r->helper);
	for (int i = 0; i < r->job.local; i++) {
		struct rank *k = &r->list[i];

		ranks_hang_up(&k->bev);
		strvec_clear(&k->env);
		free(k->abort);
		free(k->tail);
	}
	event_free(r->settle);
	pmi_free(r->pmi);
	strvec_clear(&r->argv);
	strbuf_clear(&r->parts);
	free(r->list);
	free(r->engine);
	free(r->tail);
	free(r);
}
