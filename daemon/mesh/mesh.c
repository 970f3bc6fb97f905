/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.c - an epoch starts by the clock. Its orders are sent in slices, its
 * reports collected until a deadline and written as records; late reports are
 * dropped.
 */
#include "daemon/mesh/mesh.h"

#include <errno.h>
#include <math.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/conf.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/member.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/mesh/coverage.h"
#include "daemon/cluster/roster.h"
#include "daemon/mesh/mesh_gather.h"
#include "daemon/mesh/mesh_ring.h"
#include "daemon/run/run.h"
#include "daemon/run/run_show.h"
#include "daemon/store/store.h"

/* Orders of one tick: 10,000 are sent in some seconds. */
#define SLICE 500
/* Nodes report at once after an order; a node without a report by then is
 * missing. */
#define GATHER_NS (10 * CLK_NS_PER_S)
/* Unfinished epochs; a restarted collector gets reports of older ones. */
#define GATHERS_MAX 3
#define SEED_MAX    9007199254740991ULL /* exact as a JSON number */

struct mesh_node {
	uint8_t key[MESH_KEY_BYTES]; /* of this session */
	uint64_t serial;             /* of the session it was given to */
	int ready;                   /* it has reported that it answers */
	int64_t large_bytes;  /* of large datagrams that it supports, or 0 */
	uint64_t order_epoch; /* of its newest order */
	struct in6_addr addr;
	char addr_text[INET6_ADDRSTRLEN];
	char *trouble; /* why it takes no part */
};

struct gathering {
	struct mesh_gather *g; /* NULL: free */
	uint64_t until_ns;
	size_t expected; /* reports; 0: unknown */
};

struct mesh {
	struct roster *roster;
	struct store *store;
	struct mesh_options o;
	const struct mesh_ops *ops;
	void *ctx;
	struct mesh_net net; /* bits 0: none */
	struct coverage *coverage;
	json_t *leaf_ids;        /* name: number */
	struct mesh_node *nodes; /* by id */
	size_t node_cap;
	/* the epoch */
	uint64_t epoch, seed, order_seed;
	struct mesh_site *sites;
	struct mesh_aims *aims[MESH_CLASS_MAX];
	size_t site_count, cursor; /* orders are sent up to cursor */
	struct gathering gathering[GATHERS_MAX];
	uint64_t flushed_epoch; /* older reports are too late */
	/* the run of the records, a new one each day */
	char run[64];
	uint64_t run_day, seq;
	struct mesh_sum sums[MESH_CLASS_MAX];
};

void
mesh_options_read(const struct conf *c, struct mesh_options *ret)
{
	ret->enabled = conf_bool(c, "mesh", "enabled");
	ret->interval_ns = conf_span_ns(c, "mesh", "interval");
	ret->round_ns = conf_span_ns(c, "mesh", "round");
	ret->timeout_ns = conf_span_ns(c, "mesh", "timeout");
	ret->port = (uint16_t)conf_int(c, "mesh", "port");
	ret->burst = (int)conf_int(c, "mesh", "burst");
	ret->leaf_targets = (size_t)conf_int(c, "mesh", "leaf_targets");
	ret->spine_targets = (size_t)conf_int(c, "mesh", "spine_targets");
	ret->rate = conf_real(c, "mesh", "rate");
	ret->target_rate = conf_real(c, "mesh", "target_rate");
	ret->net = conf_string(c, "mesh", "net");
}

int
mesh_net_check(const char *text, struct err *err)
{
	struct mesh_net net;

	if (text[0] == '\0' || mesh_net_parse(text, &net) == 0)
		return 0;
	return err_set(err, -EINVAL,
	    "mesh.net = %.80s: expected a network such as 10.1.0.0/16", text);
}

int
mesh_new(struct roster *roster, struct store *store,
    const struct mesh_options *o, const struct mesh_ops *ops, void *ctx,
    struct mesh **ret, struct err *err)
{
	struct mesh *m = xcalloc(1, sizeof(*m));

	m->roster = roster;
	m->store = store;
	m->o = *o;
	m->ops = ops;
	m->ctx = ctx;
	m->coverage = coverage_new();
	m->leaf_ids = json_object();
	m->order_seed = rng_entropy();
	for (int c = 0; c < MESH_CLASS_MAX; c++)
		hist_clear(&m->sums[c].rtt_s);
	if (mesh_net_check(o->net, err) < 0) {
		mesh_free(m);
		return -EINVAL;
	}
	if (o->net[0] != '\0')
		(void)mesh_net_parse(o->net, &m->net);
	*ret = m;
	return 0;
}

static void
mesh_epoch_clear(struct mesh *m)
{
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		free(m->aims[c]);
		m->aims[c] = NULL;
	}
	free(m->sites);
	m->sites = NULL;
	m->site_count = m->cursor = 0;
}

void
mesh_free(struct mesh *m)
{
	if (m == NULL)
		return;
	mesh_epoch_clear(m);
	for (int i = 0; i < GATHERS_MAX; i++)
		mesh_gather_free(m->gathering[i].g);
	for (size_t i = 0; i < m->node_cap; i++)
		free(m->nodes[i].trouble);
	if (m->nodes != NULL)
		explicit_bzero(m->nodes, m->node_cap * sizeof(m->nodes[0]));
	free(m->nodes);
	json_decref(m->leaf_ids);
	coverage_free(m->coverage);
	free(m);
}

static struct mesh_node *
mesh_node_of(struct mesh *m, const struct node *n)
{
	if (n->id >= m->node_cap) {
		size_t cap = n->id + n->id / 2 + 64;

		m->nodes = xreallocarray(m->nodes, cap, sizeof(m->nodes[0]));
		memset(m->nodes + m->node_cap, 0,
		    (cap - m->node_cap) * sizeof(m->nodes[0]));
		m->node_cap = cap;
	}
	return &m->nodes[n->id];
}

static void
mesh_trouble_set(struct mesh *m, struct node *n, const char *text)
{
	struct mesh_node *mn = mesh_node_of(m, n);

	if (text != NULL &&
	    (mn->trouble == NULL || strcmp(mn->trouble, text) != 0))
		log_warnx("node %s: not in the mesh: %s", n->name, text);
	free(mn->trouble);
	mn->trouble = text == NULL ? NULL : xstrdup(text);
}

size_t
mesh_leaf_id(struct mesh *m, const char *leaf)
{
	const json_t *id = json_object_get(m->leaf_ids, leaf);
	size_t next = json_object_size(m->leaf_ids);

	if (id != NULL)
		return (size_t)json_integer_value(id);
	json_object_set_new(m->leaf_ids, leaf, json_integer((json_int_t)next));
	return next;
}

static int
mesh_addr_try(const struct mesh *m, struct mesh_node *mn, const char *text)
{
	struct in6_addr addr;

	if (text == NULL || strlen(text) >= sizeof(mn->addr_text) ||
	    mesh_addr_parse(text, &addr) < 0 || !mesh_net_has(&m->net, &addr))
		return 0;
	mn->addr = addr;
	snprintf(mn->addr_text, sizeof(mn->addr_text), "%s", text);
	return 1;
}

/* Send an order; targets is taken; NULL: answer only. */
static void
mesh_order_send(struct mesh *m, struct node *n, json_t *targets)
{
	struct mesh_node *mn = mesh_node_of(m, n);
	const struct mesh_options *o = &m->o;
	char key[MESH_HEX_BYTES];
	json_t *msg;

	mesh_hex_put(mn->key, key);
	msg = json_pack("{s:b, s:I, s:I, s:s, s:i, s:s, s:I, s:I, s:i, s:f, "
			"s:f, s:o}",
	    "on", 1, "epoch", (json_int_t)m->epoch, "seed",
	    (json_int_t)((m->seed + n->id) & SEED_MAX), "addr", mn->addr_text,
	    "port", (int)o->port, "key", key, "round_ms",
	    (json_int_t)(o->round_ns / CLK_NS_PER_MS), "timeout_ms",
	    (json_int_t)(o->timeout_ns / CLK_NS_PER_MS), "burst", o->burst,
	    "rate", o->rate, "target_rate", o->target_rate, "targets",
	    targets != NULL ? targets : json_array());
	explicit_bzero(key, sizeof(key));
	if (m->ops->send(m->ctx, n, WIRE_MESH, msg) == 0)
		mn->order_epoch = m->epoch;
}

static uint64_t
mesh_epoch_now(const struct mesh *m)
{
	return clk_unix_ns() / m->o.interval_ns;
}

static int
mesh_has_addr(const json_t *nic, const struct in6_addr *own)
{
	struct in6_addr addr;
	json_t *text;
	size_t i;

	member_foreach (nic, "addrs", i, text)
		if (json_is_string(text) &&
		    mesh_addr_parse(json_string_value(text), &addr) == 0 &&
		    memcmp(&addr, own, sizeof(addr)) == 0)
			return 1;
	return 0;
}

/* Return the rate of the interface with the mesh's address; 0: unknown or
 * impossible. */
static int64_t
mesh_mtu_of(const struct node *n, const struct in6_addr *own)
{
	int64_t mtu = 0;
	json_t *nic;
	size_t i;

	member_foreach (n->inventory, "nics", i, nic)
		if (mesh_has_addr(nic, own))
			mtu = member_int(nic, "mtu");
	return mtu > 0 && mtu < 1 << 24 ? mtu : 0;
}

static int64_t
mesh_headers_bytes(const struct mesh_node *mn)
{
	return (IN6_IS_ADDR_V4MAPPED(&mn->addr) ? 20 : 40) + 8;
}

/* Return the largest datagram that both support; 0: too small to be useful. */
static int64_t
mesh_large_bytes(int64_t a, int64_t b)
{
	int64_t bytes = a < b ? a : b;

	return bytes < MESH_LARGE_MIN ? 0
	    : bytes < MESH_LARGE_MAX  ? bytes
				      : MESH_LARGE_MAX;
}

void
mesh_greeted(struct mesh *m, struct node *n)
{
	struct mesh_node *mn = mesh_node_of(m, n);
	json_t *nic, *addr;
	size_t i, j;
	int found;

	mn->ready = 0;
	mn->serial = n->serial;
	if (!m->o.enabled) {
		(void)m->ops->send(m->ctx, n, WIRE_MESH,
		    json_pack("{s:b}", "on", 0));
		return;
	}
	/* Set the address for echoes: its session's, or the first interface's
	 * in mesh.net. */
	found = mesh_addr_try(m, mn, n->addr);
	member_foreach (n->inventory, "nics", i, nic)
		member_foreach (nic, "addrs", j, addr)
			found = found ||
			    (m->net.bits > 0 &&
				mesh_addr_try(m, mn, json_string_value(addr)));
	if (!found) {
		mesh_trouble_set(m, n, "the node has no address in mesh.net");
		return;
	}
	mn->large_bytes = mesh_large_bytes(mesh_mtu_of(n, &mn->addr) -
		mesh_headers_bytes(mn),
	    member_int(n->inventory, "mesh_bytes"));
	if (RAND_bytes(mn->key, sizeof(mn->key)) != 1) {
		mesh_trouble_set(m, n,
		    "cannot create random bytes for the node's key");
		return;
	}
	if (m->epoch == 0)
		m->epoch = mesh_epoch_now(m);
	mesh_order_send(m, n, NULL);
}

/* A node stays in the mesh for one epoch after its session has ended: if large
 * packets are lost, sessions break too, and the other nodes need time to
 * measure the loss. */
static int
mesh_is_site(struct mesh *m, const struct node *n)
{
	const struct mesh_node *mn = mesh_node_of(m, n);

	return mn->ready && mn->serial == n->serial &&
	    (roster_is_up(n) ||
		(n->last_ns != 0 && clk_ns() - n->last_ns < m->o.interval_ns));
}

static int
mesh_is_covered(void *arg, size_t a, size_t b)
{
	struct mesh *m = arg;

	return coverage_has_pair(m->coverage,
	    clk_unix_ns() / (3600 * CLK_NS_PER_S), a, b);
}

static long
mesh_id_find(void *arg, const char *node)
{
	struct mesh *m = arg;
	const struct node *n = roster_find(m->roster, node);

	return n == NULL ? -ENOENT : (long)n->id;
}

static const char *
mesh_id_name(void *arg, size_t id)
{
	struct mesh *m = arg;

	return roster_by_id(m->roster, id)->name;
}

/* Return the gather of that epoch, or NULL. */
static struct gathering *
mesh_gathering_find(struct mesh *m, uint64_t epoch)
{
	for (int i = 0; i < GATHERS_MAX; i++)
		if (m->gathering[i].g != NULL &&
		    mesh_gather_epoch(m->gathering[i].g) == epoch)
			return &m->gathering[i];
	return NULL;
}

/* Return the gather of that epoch, or a free one; NULL: more epochs at once
 * than a correct cluster has. */
static struct gathering *
mesh_gathering_need(struct mesh *m, uint64_t epoch)
{
	struct mesh_names names = { mesh_id_find, mesh_id_name, m };
	uint64_t limit_ns = m->o.interval_ns / 2;
	struct gathering *free_one = mesh_gathering_find(m, epoch);

	if (free_one != NULL)
		return free_one;
	for (int i = 0; i < GATHERS_MAX; i++)
		if (m->gathering[i].g == NULL)
			free_one = &m->gathering[i];
	if (free_one == NULL)
		return NULL;
	free_one->g = mesh_gather_new(epoch, m->seed, &names);
	free_one->until_ns = clk_ns() +
	    (limit_ns < GATHER_NS ? limit_ns : GATHER_NS);
	free_one->expected = 0;
	return free_one;
}

static void
mesh_epoch_begin(struct mesh *m, uint64_t epoch)
{
	size_t targets[MESH_CLASS_MAX] = { m->o.leaf_targets,
		m->o.spine_targets };
	size_t count = roster_ids(m->roster), expected = 0;
	struct gathering *ga = NULL;
	uint64_t before = m->epoch;
	struct mesh_rings r;

	mesh_epoch_clear(m);
	m->epoch = epoch;
	m->seed = rng_entropy() & SEED_MAX;
	m->sites = xcalloc(count + 1, sizeof(m->sites[0]));
	for (size_t id = 0; id < count; id++) {
		const struct node *n = roster_by_id(m->roster, id);

		if (!mesh_is_site(m, n))
			continue;
		m->sites[m->site_count].id = id;
		m->sites[m->site_count++].leaf = mesh_leaf_id(m, n->leaf);
		expected += m->nodes[id].order_epoch == before;
	}
	r = (struct mesh_rings){ m->sites, m->site_count, m->order_seed,
		m->seed, mesh_is_covered, m };
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		m->aims[c] = xcalloc(m->site_count + 1, sizeof(m->aims[c][0]));
		mesh_rings_draw(&r, (enum mesh_class)c, targets[c], m->aims[c]);
	}
	/* Expect a report of the ending epoch from each connected node that
	 * received an order of it. */
	if (expected > 0)
		ga = mesh_gathering_need(m, before);
	if (ga != NULL)
		ga->expected = expected;
}

/* Return the targets of a site, with the token that each target accepts. */
static json_t *
mesh_targets_of(struct mesh *m, size_t site)
{
	const struct mesh_node *asker = &m->nodes[m->sites[site].id];
	uint8_t input[MESH_TOKEN_INPUT], digest[EVP_MAX_MD_SIZE];
	char token[MESH_HEX_BYTES];
	json_t *list = json_array(), *row;
	unsigned len = 0;
	int64_t large;

	mesh_token_input(&asker->addr, input);
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		const struct mesh_aims *a = &m->aims[c][site];

		for (size_t i = 0; i < a->count; i++) {
			size_t id = m->sites[a->site[i]].id;
			const struct mesh_node *asked = &m->nodes[id];

			HMAC(EVP_sha256(), asked->key, MESH_KEY_BYTES, input,
			    sizeof(input), digest, &len);
			mesh_hex_put(digest, token);
			row = json_pack("{s:s, s:s, s:s, s:i, s:s}", "node",
			    roster_by_id(m->roster, id)->name, "class",
			    mesh_classes[c], "addr", asked->addr_text, "port",
			    (int)m->o.port, "token", token);
			large = mesh_large_bytes(asker->large_bytes,
			    asked->large_bytes);
			if (large > 0)
				json_object_set_new(row, "bytes",
				    json_integer(large));
			json_array_append_new(list, row);
		}
	}
	explicit_bzero(digest, sizeof(digest));
	explicit_bzero(token, sizeof(token));
	return list;
}

/* Records need a run. This run is stored as ended from the start, so that it is
 * neither awaited nor resumed. */
static void
mesh_run_need(struct mesh *m)
{
	uint64_t now = clk_unix_ns(), day = now / (86400 * CLK_NS_PER_S);
	time_t now_s = (time_t)(now / CLK_NS_PER_S);
	struct tm tm;
	char date[16];
	json_t *o;

	if (m->run[0] != '\0' && day == m->run_day)
		return;
	gmtime_r(&now_s, &tm);
	strftime(date, sizeof(date), "%Y%m%d", &tm);
	snprintf(m->run, sizeof(m->run), "mesh-%s-%04x", date,
	    (unsigned)(rng_entropy() & 0xffff));
	m->run_day = day;
	m->seq = 0;
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[], s:n, s:i, "
		      "s:I, s:s, s:I, s:I, s:I}",
	    "run", m->run, "campaign", "mesh", "class", "background", "mpi", "",
	    "state", "finished", "cause", "none", "text",
	    "the agents' mesh of this day", "nodes", "head", "ranks", 0, "seed",
	    (json_int_t)m->seed, "by", "mesh", "created_unix_ns",
	    (json_int_t)now, "started_unix_ns", (json_int_t)now,
	    "ended_unix_ns", (json_int_t)now);
	store_put_run(m->store, o, NULL, NULL, NULL);
	json_decref(o);
}

/* Return the link of its echoes; -ENOENT: not a link that carries the bytes of
 * jobs. */
static long
mesh_echo_link(struct mesh *m, const struct node *n)
{
	struct roster_rail rails[ROSTER_RAILS_MAX];
	json_t *nic;
	size_t i;

	if (roster_rails(n, rails) == 0)
		return (long)mesh_link_id(n, 0);
	member_foreach (n->inventory, "nics", i, nic) {
		long at = roster_rail_find(n, member_text(nic, "name"));

		if (at >= 0 && mesh_has_addr(nic, &mesh_node_of(m, n)->addr))
			return (long)mesh_link_id(n, (size_t)at);
	}
	return -ENOENT;
}

/* A pair over another network has not exercised the network of jobs. */
static void
mesh_pair_cover(struct mesh *m, uint64_t hour, const struct node *a,
    const struct node *b)
{
	long at[2] = { mesh_echo_link(m, a), mesh_echo_link(m, b) };

	for (int i = 0; i < 2; i++)
		if (at[i] >= 0)
			coverage_link(m->coverage, hour, (size_t)at[i]);
	if (at[0] >= 0 && at[1] >= 0)
		coverage_pair(m->coverage, hour, a->id,
		    mesh_leaf_id(m, a->leaf), b->id, mesh_leaf_id(m, b->leaf));
}

/* Evaluate the pairs of an epoch: their coverage, and the results of large
 * datagrams. */
static void
mesh_pairs_take(struct mesh *m, const struct mesh_gather *g)
{
	uint64_t hour = clk_unix_ns() / (3600 * CLK_NS_PER_S);
	const struct mesh_pair *p;
	size_t count = mesh_gather_pairs(g, &p);
	struct mesh_path *paths = xcalloc(count + 1, sizeof(*paths));

	for (size_t i = 0; i < count; i++, p++) {
		const struct node *a = roster_by_id(m->roster, p->a);
		const struct node *b = roster_by_id(m->roster, p->b);

		if (p->answered + p->lost > 0)
			mesh_pair_cover(m, hour, a, b);
		paths[i] = (struct mesh_path){ p->a, p->b, p->answered, p->lost,
			p->large_answered, p->large_lost, p->large_unsent,
			p->large_bytes,
			p->large_bytes +
			    (uint32_t)mesh_headers_bytes(mesh_node_of(m, a)),
			p->p50_s };
	}
	if (count > 0)
		m->ops->paths(m->ctx, paths, count,
		    (mesh_gather_epoch(g) + 1) * m->o.interval_ns);
	free(paths);
}

static void
mesh_flush(struct mesh *m, struct gathering *ga)
{
	struct mesh_gather *g = ga->g;

	ga->g = NULL;
	mesh_gather_close(g);
	mesh_pairs_take(m, g);
	for (int c = 0; c < MESH_CLASS_MAX; c++) {
		const struct mesh_totals *t = mesh_gather_totals(g,
		    (enum mesh_class)c);
		json_t *record = mesh_gather_record(g, (enum mesh_class)c);

		m->sums[c].answered += t->answered;
		m->sums[c].lost += t->lost;
		m->sums[c].unknown += t->unknown;
		hist_merge(&m->sums[c].rtt_s, &t->rtt_s);
		if (record == NULL)
			continue;
		mesh_run_need(m);
		json_object_set_new(record, "run", json_string(m->run));
		json_object_set_new(record, "seq",
		    json_integer((json_int_t)++m->seq));
		store_put_record(m->store, record, NULL, NULL, NULL);
		m->ops->record(m->ctx, record);
		json_decref(record);
	}
	if (mesh_gather_epoch(g) > m->flushed_epoch &&
	    mesh_gather_epoch(g) <= m->epoch)
		m->flushed_epoch = mesh_gather_epoch(g);
	mesh_gather_free(g);
}

void
mesh_tick(struct mesh *m)
{
	uint64_t now_ns = clk_ns();

	if (!m->o.enabled)
		return;
	/* A large step back: the clock was set, and the flushed epoch is in the
	 * future. */
	if (mesh_epoch_now(m) + 1 < m->epoch)
		m->flushed_epoch = 0;
	if (mesh_epoch_now(m) > m->epoch || mesh_epoch_now(m) + 1 < m->epoch)
		mesh_epoch_begin(m, mesh_epoch_now(m));
	for (int i = 0; i < SLICE && m->cursor < m->site_count; i++) {
		size_t site = m->cursor++;
		struct node *n = roster_by_id(m->roster, m->sites[site].id);

		if (mesh_is_site(m, n))
			mesh_order_send(m, n, mesh_targets_of(m, site));
	}
	for (int i = 0; i < GATHERS_MAX; i++) {
		struct gathering *ga = &m->gathering[i];

		if (ga->g != NULL &&
		    (now_ns >= ga->until_ns ||
			(ga->expected > 0 &&
			    mesh_gather_reports(ga->g) >= ga->expected)))
			mesh_flush(m, ga);
	}
}

int
mesh_message(struct mesh *m, struct node *n, enum wire_type type,
    const json_t *msg, struct err *err)
{
	json_int_t epoch = member_int(msg, "epoch");
	struct mesh_node *mn = mesh_node_of(m, n);
	struct gathering *ga;

	if (type == WIRE_MESH_READY) {
		mn->ready = member_bool(msg, "ok");
		mesh_trouble_set(m, n,
		    mn->ready ? NULL
			      : member_text_or(msg, "text", "no reason given"));
		return 0;
	}
	if (epoch < 1)
		return err_set(err, -EPROTO,
		    "invalid mesh-report: epoch is missing or below 1");
	/* A late report is dropped: its pairs are in a record already. So is
	 * one from the future, unless it is awaited after a clock was set
	 * back. */
	if ((uint64_t)epoch <= m->flushed_epoch)
		return 0;
	ga = (uint64_t)epoch > m->epoch + 1
	    ? mesh_gathering_find(m, (uint64_t)epoch)
	    : mesh_gathering_need(m, (uint64_t)epoch);
	if (ga == NULL)
		return 0;
	return mesh_gather_add(ga->g, n->id, msg, err) == -EPROTO ? -EPROTO : 0;
}

size_t
mesh_link_id(const struct node *n, size_t rail)
{
	return n->id * ROSTER_RAILS_MAX + rail;
}

/* "mlx5_0:1" is a port of the rail mlx5_0, and the first one if several ports
 * are not rails themselves. */
static void
mesh_link_cover(struct mesh *m, uint64_t hour, const struct node *n,
    const char *device)
{
	char name[64];
	long at;

	if (device == NULL)
		return;
	at = roster_rail_find(n, device);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(device, ":"), device);
	if (at < 0)
		at = roster_rail_find(n, name);
	if (at >= 0)
		coverage_link(m->coverage, hour, mesh_link_id(n, (size_t)at));
}

void
mesh_cover_run(struct mesh *m, const struct run *r)
{
	uint64_t hour = clk_unix_ns() / (3600 * CLK_NS_PER_S);
	size_t count = run_node_count(r), devices_count = 0, at;
	struct roster_rail rails[ROSTER_RAILS_MAX];
	struct run_facts f = run_facts(r);
	const json_t *name;
	char **devices;
	int far = 0;

	if (count < 2)
		return;
	for (size_t i = 1; i < count; i++)
		far |= strcmp(run_node_at(r, i)->leaf,
			   run_node_at(r, 0)->leaf) != 0;
	devices = str_list_parse(f.devices, &devices_count);
	for (size_t i = 0; i < count; i++) {
		const struct node *n = run_node_at(r, i);

		if (far)
			coverage_uplink(m->coverage, hour,
			    mesh_leaf_id(m, n->leaf));
		if (roster_rails(n, rails) == 0)
			coverage_link(m->coverage, hour, mesh_link_id(n, 0));
		/* the required device, else the one that carried the bytes */
		for (size_t k = 0; k < devices_count; k++)
			mesh_link_cover(m, hour, n, devices[k]);
		json_array_foreach (devices_count > 0 ? NULL : f.carried, at,
		    name)
			mesh_link_cover(m, hour, n, json_string_value(name));
	}
	str_list_free(devices);
}

struct coverage *
mesh_coverage(struct mesh *m)
{
	return m->coverage;
}

const struct mesh_sum *
mesh_sums(const struct mesh *m, enum mesh_class class)
{
	return &m->sums[class];
}

size_t
mesh_ready_count(const struct mesh *m)
{
	size_t count = 0;

	for (size_t id = 0; id < roster_ids(m->roster); id++)
		count += id < m->node_cap && m->nodes[id].ready &&
		    roster_is_up(roster_by_id(m->roster, id));
	return count;
}

uint64_t
mesh_interval_ns(const struct mesh *m)
{
	return m->o.interval_ns;
}

const char *
mesh_trouble(const struct mesh *m, const struct node *n)
{
	return n->id < m->node_cap ? m->nodes[n->id].trouble : NULL;
}
