/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wireup.c - the collector's part in a run whose ranks the agents start: one
 * order for each node, and the exchange by which ranks find one another.
 *
 * A node enters fence n + 1 only after all nodes have received the result of
 * fence n. So only one fence is active, and an agent whose session broke can
 * have missed only the newest result. After a restart of the collector agents
 * send all their fences again, from the first on.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/wireup.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/run/run_int.h"
#include "daemon/run/networks.h"
#include "daemon/run/symptom.h"
#include "schema/packed.h"

/* Limits of a node's data in one fence, and of the raw bytes in one message. */
#define NODE_BYTES_MAX (1024 * 1024)
#define PART_BYTES     (512 * 1024)
/* Limit of packed results that are being sent to nodes. They cost no memory, as
 * all nodes receive the same bytes, but other messages wait behind them on the
 * collector's link: 50 ms at 10 Gbit/s. */
#define WINDOW_BYTES (64 * 1024 * 1024)
/* Requests for one rank's data that wait, for each rank of the run. */
#define WAITERS_PER_RANK 64
#define NAMED_MAX        4 /* nodes in a text */
/* A node whose processes wait for a core for this share of the time may need
 * longer than campaign.start_limit to start its ranks. */
#define BUSY_SHARE 0.5

struct wireup_node {
	enum { NODE_ASKED, NODE_STARTED, NODE_OVER } state;
	int has_given;  /* to the fence under way */
	int64_t part;   /* the next of it */
	int is_brought; /* the newest result was sent and not yet confirmed */
	struct strbuf data;
};

struct waiter {
	TAILQ_ENTRY(waiter) link;
	struct node *node;
};

/* The address data of a rank, or the nodes that wait for it. */
struct modex {
	json_t *data; /* NULL: unknown yet */
	TAILQ_HEAD(, waiter) waiters;
};

struct wireup {
	int64_t ranks; /* on each node */
	struct wireup_node *nodes;
	size_t count, started, over, given;
	int64_t fence;                     /* the last one that was sent */
	struct wire_frame **result;        /* its messages */
	size_t parts;                      /* of them */
	size_t result_bytes, window_bytes; /* of one, and of those being sent */
	size_t sent; /* nodes that it was sent to, from the first on */
	struct modex *modexes; /* by rank; NULL: none was requested */
	size_t modex_count;
	size_t waiter_count;
};

static struct wireup *
wireup_of(struct run *r)
{
	struct wireup *w = r->wireup;

	if (w != NULL)
		return w;
	w = r->wireup = xcalloc(1, sizeof(*w));
	w->ranks = conf_int(r->conf, "campaign", "ranks_per_node");
	w->count = r->node_count;
	w->nodes = xcalloc(w->count + 1, sizeof(*w->nodes));
	return w;
}

/* Most runs need no table of them. */
static struct modex *
wireup_modex_of(struct wireup *w, int64_t rank)
{
	if (w->modexes == NULL) {
		w->modex_count = w->count * (size_t)w->ranks;
		w->modexes = xcalloc(w->modex_count, sizeof(*w->modexes));
		for (size_t i = 0; i < w->modex_count; i++)
			TAILQ_INIT(&w->modexes[i].waiters);
	}
	return &w->modexes[rank];
}

static void
wireup_waiter_free(struct wireup *w, struct modex *m, struct waiter *one)
{
	TAILQ_REMOVE(&m->waiters, one, link);
	w->waiter_count--;
	free(one);
}

static void
wireup_result_free(struct wireup *w)
{
	for (size_t i = 0; i < w->parts; i++)
		wire_frame_unref(w->result[i]);
	free(w->result);
	w->result = NULL;
	w->parts = 0;
}

void
wireup_free(struct run *r)
{
	struct wireup *w = r->wireup;
	struct waiter *one;

	if (w == NULL)
		return;
	for (size_t i = 0; i < w->modex_count; i++) {
		struct modex *m = &w->modexes[i];

		while ((one = TAILQ_FIRST(&m->waiters)) != NULL)
			wireup_waiter_free(w, m, one);
		json_decref(m->data);
	}
	for (size_t i = 0; i < w->count; i++)
		strbuf_clear(&w->nodes[i].data);
	wireup_result_free(w);
	free(w->modexes);
	free(w->nodes);
	free(w);
	r->wireup = NULL;
}

/* ---- the start ---- */

void
wireup_start(struct run *r)
{
	char *campaign = conf_render_given(r->conf);
	struct wireup *w;
	json_t *msg;

	wireup_free(r);
	w = wireup_of(r);
	for (size_t i = 0; i < r->node_count; i++) {
		char *nics = networks_nics(r, &r->nodes[i]);

		msg = json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "run", r->id,
		    "mpi", r->mpi, "rank", (json_int_t)((int64_t)i * w->ranks),
		    "ranks", (json_int_t)w->ranks, "size",
		    (json_int_t)((int64_t)w->count * w->ranks), "campaign",
		    text_json(campaign));
		json_object_set_new(msg, "net", text_json(nics));
		free(nics);
		if (json_array_size(r->networks) > 0)
			json_object_set(msg, "networks", r->networks);
		if (run_send(r, r->nodes[i].node, WIRE_START, msg) < 0)
			run_sign(r, SYMPTOM_AGENT, RUN_FAILED, CAUSE_AGENT_LOST,
			    clk_ns(), "the agent of %s is not connected",
			    r->nodes[i].node->name);
	}
	free(campaign);
}

/* Write the names of some nodes for which is returns true. */
static void
wireup_names(const struct run *r, int (*is)(const struct wireup_node *wn),
    char *ret, size_t cap_bytes)
{
	size_t count = 0, len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < r->wireup->count && i < r->node_count; i++) {
		if (!is(&r->wireup->nodes[i]))
			continue;
		if (count++ < NAMED_MAX && len + 80 < cap_bytes)
			len += (size_t)snprintf(ret + len, cap_bytes - len,
			    "%s%.64s", count == 1 ? "" : ", ",
			    r->nodes[i].node->name);
	}
	if (count > NAMED_MAX && len + 32 < cap_bytes)
		snprintf(ret + len, cap_bytes - len, " and %zu more",
		    count - NAMED_MAX);
}

static int
wireup_is_asked(const struct wireup_node *wn)
{
	return wn->state == NODE_ASKED;
}

static int
wireup_is_silent(const struct wireup_node *wn)
{
	return wn->state == NODE_STARTED && !wn->has_given;
}

/* Return the node of the run whose processes wait for a core most of the time;
 * NULL: none waits for BUSY_SHARE of it. */
static const struct node *
wireup_busiest(const struct run *r)
{
	const struct node *worst = NULL;
	double most = BUSY_SHARE;

	for (size_t i = 0; i < r->node_count; i++)
		if (r->nodes[i].node->host.cpu >= most) {
			worst = r->nodes[i].node;
			most = worst->host.cpu;
		}
	return worst;
}

/* Return 1 and the reason if MPI cannot exchange messages with a node. */
static int
wireup_is_known_faulty(const struct run *r, struct err *err)
{
	const struct runs_ops *ops = r->all->ops;

	for (size_t i = 0; ops->avoid != NULL && i < r->node_count; i++)
		if (ops->avoid(r->all->ctx, r->nodes[i].node, err))
			return 1;
	return 0;
}

void
wireup_text(const struct run *r, char *ret, size_t cap_bytes)
{
	const struct wireup *w = r->wireup;
	const struct node *busy;
	struct err err;
	char names[SYMPTOM_TEXT_MAX / 2];
	long long ranks;
	size_t met;

	if (w == NULL) {
		snprintf(ret, cap_bytes, "its ranks were not started");
		return;
	}
	ranks = (long long)w->ranks;
	met = w->fence > 0 ? w->count : w->given;
	wireup_names(r,
	    w->started < w->count ? wireup_is_asked : wireup_is_silent, names,
	    sizeof(names));
	snprintf(ret, cap_bytes,
	    "%lld of %lld ranks started, %lld of %lld connected%s%s",
	    (long long)w->started * ranks, (long long)w->count * ranks,
	    (long long)met * ranks, (long long)w->count * ranks,
	    names[0] == '\0' || w->fence > 0 ? "" : "; waiting for ",
	    w->fence > 0 ? "" : names);
	if (w->fence == 0)
		return;
	busy = wireup_busiest(r);
	if (wireup_is_known_faulty(r, &err)) {
		utf8_format(ret + strlen(ret), cap_bytes - strlen(ret),
		    ", and MPI_Init did not complete; the probable cause is "
		    "known: %s; see coalctl verdict list",
		    err.text);
		return;
	}
	utf8_format(ret + strlen(ret), cap_bytes - strlen(ret),
	    ", and MPI_Init did not complete: allow TCP between these nodes, "
	    "in both directions, on the ports of mpi.ports (any port without "
	    "it)");
	if (busy != NULL)
		utf8_format(ret + strlen(ret), cap_bytes - strlen(ret),
		    "; or the nodes are overloaded: processes on %.40s wait "
		    "for a core for %.0f %% of the time",
		    busy->name, 100 * busy->host.cpu);
}

int
wireup_launched(struct run *r, struct node *n, const json_t *msg)
{
	long i = run_node_index(r, n);
	struct wireup *w = wireup_of(r);

	if (!member_bool(msg, "ok")) {
		run_sign(r, SYMPTOM_LAUNCHER, RUN_FAILED, CAUSE_LAUNCH,
		    clk_ns(), "start on %s: %.300s", n->name,
		    member_text(msg, "text"));
		return 0;
	}
	if (i < 0 || (size_t)i >= w->count || w->nodes[i].state != NODE_ASKED)
		return 0;
	w->nodes[i].state = NODE_STARTED;
	w->started++;
	r->launcher_runs = 1;
	if (w->started == w->count && r->step == STEP_LAUNCH)
		run_step_set(r, STEP_FIRST);
	return 0;
}

int
wireup_exited(struct run *r, struct node *n, const json_t *msg)
{
	int64_t status = member_int(msg, "status");
	struct wireup *w = wireup_of(r);
	long i = run_node_index(r, n);
	char text[300];

	if (i < 0 || (size_t)i >= w->count || w->nodes[i].state == NODE_OVER)
		return 0;
	w->nodes[i].state = NODE_OVER;
	/* A launcher would report its own exit. */
	if (++w->over == w->count && r->launcher->starts)
		r->launcher_runs = 0;
	if (n != run_head(r))
		return 0;
	if (r->stderr_tail == NULL)
		xstrset(&r->stderr_tail, member_text(msg, "stderr"));
	symptom_stderr(member_text(msg, "stderr"), text, sizeof(text));
	/* Which ranks have failed was reported before. */
	run_sign(r, SYMPTOM_NO_END, RUN_FAILED, CAUSE_NO_END, clk_ns(),
	    "the ranks on %s ended with status %lld and sent no end record%s%s",
	    n->name, (long long)status, text[0] == '\0' ? "" : ": ", text);
	return 0;
}

/* ---- the exchange ---- */

static void
wireup_send(struct run *r, struct node *n, enum wire_type type, json_t *msg)
{
	/* An unreachable node repeats its request when it reconnects. */
	(void)run_send(r, n, type, msg);
}

static void
wireup_result_send(struct run *r, struct node *n)
{
	const struct runs *rs = r->all;

	/* An unreachable node repeats its request when it reconnects. */
	for (size_t i = 0; i < r->wireup->parts; i++)
		(void)rs->ops->share(rs->ctx, n, r->wireup->result[i]);
}

/* Send to as many other nodes as the window permits, at least to one. */
static void
wireup_result_go_on(struct run *r)
{
	struct wireup *w = r->wireup;

	while (w->sent < w->count &&
	    (w->window_bytes == 0 ||
		w->window_bytes + w->result_bytes <= WINDOW_BYTES)) {
		w->nodes[w->sent].is_brought = 1;
		w->window_bytes += w->result_bytes;
		wireup_result_send(r, r->nodes[w->sent++].node);
	}
}

/* A node has the newest result. */
static void
wireup_confirmed(struct run *r, struct wireup_node *wn)
{
	if (!wn->is_brought)
		return;
	wn->is_brought = 0;
	r->wireup->window_bytes -= r->wireup->result_bytes;
	wireup_result_go_on(r);
}

/* All have given. */
static void
wireup_complete(struct run *r)
{
	struct wireup *w = r->wireup;
	struct strbuf all = { 0 };

	for (size_t i = 0; i < w->count; i++) {
		struct wireup_node *wn = &w->nodes[i];

		strbuf_add(&all, wn->data.text, wn->data.len_bytes);
		strbuf_clear(&wn->data);
		wn->has_given = wn->is_brought = 0;
		wn->part = 0;
	}
	w->given = 0;
	w->fence++;
	wireup_result_free(w);
	w->result_bytes = w->window_bytes = w->sent = 0;
	w->parts = all.len_bytes == 0
	    ? 1
	    : (all.len_bytes + PART_BYTES - 1) / PART_BYTES;
	w->result = xcalloc(w->parts, sizeof(w->result[0]));
	for (size_t i = 0; i < w->parts; i++) {
		size_t left = all.len_bytes - i * PART_BYTES;

		w->result[i] = wire_frame_new(WIRE_FENCE,
		    json_pack("{s:s, s:I, s:I, s:I, s:o}", "run", r->id, "id",
			(json_int_t)w->fence, "part", (json_int_t)i, "parts",
			(json_int_t)w->parts, "data",
			packed_json(all.text + i * PART_BYTES,
			    left < PART_BYTES ? left : PART_BYTES)));
		assert(w->result[i] != NULL); /* all of it is ours */
		w->result_bytes += w->result[i]->len_bytes;
	}
	strbuf_clear(&all);
	wireup_result_go_on(r);
}

int
wireup_fence(struct run *r, struct node *n, const json_t *msg, struct err *err)
{
	int64_t id = member_int(msg, "id"), part = member_int(msg, "part");
	int64_t parts = member_int(msg, "parts");
	struct wireup *w = wireup_of(r);
	long i = run_node_index(r, n);
	struct wireup_node *wn;
	size_t len;
	char *bytes;

	if (run_is_final(r) || i < 0 || (size_t)i >= w->count)
		return 0;
	wn = &w->nodes[i];
	if (id == w->fence && parts == 0) {
		wireup_confirmed(r, wn);
		return 0;
	}
	/* Its session broke while the result was sent. */
	if (id == w->fence && (size_t)i < w->sent)
		wireup_result_send(r, n);
	if (id != w->fence + 1 || wn->has_given)
		return 0;
	if (part == 0) {
		strbuf_clear(&wn->data);
		wn->part = 0;
	}
	if (part != wn->part || part >= parts)
		return 0;
	bytes = packed_bytes(member_text(msg, "data"),
	    NODE_BYTES_MAX - wn->data.len_bytes, &len);
	if (bytes == NULL)
		return err_set(err, -EPROTO,
		    "run %s: the fence data (PMIx addresses) is malformed or "
		    "too long",
		    r->id);
	strbuf_add(&wn->data, bytes, len);
	free(bytes);
	if (++wn->part < parts)
		return 0;
	wn->has_given = 1;
	if (++w->given == w->count)
		wireup_complete(r);
	return 0;
}

static struct node *
wireup_owner(const struct run *r, int64_t rank)
{
	size_t i = (size_t)(rank / r->wireup->ranks);

	return rank >= 0 && i < r->node_count ? r->nodes[i].node : NULL;
}

static void
wireup_modex_ask(struct run *r, int64_t rank)
{
	wireup_send(r, wireup_owner(r, rank), WIRE_MODEX,
	    json_pack("{s:s, s:I}", "run", r->id, "rank", (json_int_t)rank));
}

static void
wireup_modex_send(struct run *r, struct node *n, int64_t rank, json_t *data)
{
	wireup_send(r, n, WIRE_MODEX,
	    json_pack("{s:s, s:I, s:O}", "run", r->id, "rank", (json_int_t)rank,
		"data", data));
}

static void
wireup_modex_have(struct run *r, int64_t rank, json_t *data)
{
	struct modex *m = wireup_modex_of(r->wireup, rank);
	struct waiter *one;

	json_decref(m->data);
	m->data = json_incref(data);
	while ((one = TAILQ_FIRST(&m->waiters)) != NULL) {
		wireup_modex_send(r, one->node, rank, data);
		wireup_waiter_free(r->wireup, m, one);
	}
}

int
wireup_modex(struct run *r, struct node *n, const json_t *msg, struct err *err)
{
	json_t *data = json_object_get(msg, "data");
	struct wireup *w = wireup_of(r);
	int64_t rank = member_int(msg, "rank");
	struct node *owner = wireup_owner(r, rank);
	struct waiter *one;
	struct modex *m;

	if (run_is_final(r))
		return 0;
	if (owner == NULL || (owner == n) != (data != NULL))
		return err_set(err, -EPROTO, "modex of run %s: rank %lld",
		    r->id, (long long)rank);
	m = wireup_modex_of(w, rank);
	if (data != NULL) {
		wireup_modex_have(r, rank, data);
		return 0;
	}
	if (m->data != NULL) {
		wireup_modex_send(r, n, rank, m->data);
		return 0;
	}
	TAILQ_FOREACH (one, &m->waiters, link)
		if (one->node == n)
			return 0;
	if (w->waiter_count >= w->count * WAITERS_PER_RANK)
		return err_set(err, -EPROTO,
		    "run %s: the agent has too many open requests for modex "
		    "data (PMIx addresses)",
		    r->id);
	if (TAILQ_EMPTY(&m->waiters))
		wireup_modex_ask(r, rank);
	one = xcalloc(1, sizeof(*one));
	one->node = n;
	TAILQ_INSERT_TAIL(&m->waiters, one, link);
	w->waiter_count++;
	return 0;
}

void
wireup_hello(struct run *r, const struct node *n)
{
	struct wireup *w = r->wireup;
	long i = run_node_index(r, n);

	if (w == NULL || w->modexes == NULL || i < 0 || (size_t)i >= w->count)
		return;
	for (int64_t rank = i * w->ranks; rank < (i + 1) * w->ranks; rank++)
		if (!TAILQ_EMPTY(&w->modexes[rank].waiters))
			wireup_modex_ask(r, rank);
}
