/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.c - a node's state follows from its last contact; equal inventories
 * are stored once, and the events of a node are limited.
 */
#include "daemon/cluster/roster.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/hostname.h"
#include "common/log.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "daemon/cluster/differences.h"
#include "daemon/cluster/port_look.h"
#include "daemon/store/store.h"
#include "schema/wire.h"

#define HOST_FADE_S 30.0

#define EVENTS_PER_HOUR 100 /* of a node */

struct roster {
	struct roster_limits limits;
	struct store *store;
	void (*lost_cb)(struct node *n, void *arg);
	void *arg;
	struct node **all;   /* sorted when sorted is set */
	struct node **by_id; /* forgotten ones too */
	size_t count, ids;
	int sorted;
	struct hostname_set *hosts; /* ids */
	struct node **bucket;       /* open addressing, a power of 2 */
	size_t bucket_count;
	size_t state_count[AGENT_STATE_MAX];
	json_t *parts;       /* of the newest inventory, but its nics */
	double net_most_bps; /* that a device of any node has moved */
};

/* Return the slot of name, or the free slot for it. */
static size_t
roster_slot_of(const struct roster *r, const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a */
	size_t i;

	for (const char *c = name; *c != '\0'; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3ULL;
	i = (size_t)(h ^ h >> 32) & (r->bucket_count - 1);
	while (r->bucket[i] != NULL && strcmp(r->bucket[i]->name, name) != 0)
		i = (i + 1) & (r->bucket_count - 1);
	return i;
}

int
roster_is_alone(const struct roster *r, const struct node *n)
{
	return hostname_set_is_alone(r->hosts, n->name);
}

static void
roster_leaf_set(struct roster *r, struct node *n)
{
	if (r->limits.topo != NULL)
		topo_leaf(r->limits.topo, n->name, roster_is_alone(r, n),
		    n->addr, n->leaf);
}

static void
roster_bucket_renew(struct roster *r)
{
	free(r->bucket);
	r->bucket = xcalloc(r->bucket_count, sizeof(struct node *));
	for (size_t i = 0; i < r->count; i++)
		r->bucket[roster_slot_of(r, r->all[i]->name)] = r->all[i];
}

/* Return a new node with the next id, or the forgotten one of that name with
 * its old id. */
static struct node *
roster_node_make(struct roster *r, const char *name)
{
	struct node *n;

	for (size_t i = 0; r->ids > r->count && i < r->ids; i++)
		if (r->by_id[i]->forgotten &&
		    strcmp(r->by_id[i]->name, name) == 0) {
			r->by_id[i]->forgotten = 0;
			return r->by_id[i];
		}
	n = xcalloc(1, sizeof(*n));
	r->by_id = xmore(r->by_id, r->ids, sizeof(r->by_id[0]));
	n->name = xstrdup(name);
	n->id = r->ids;
	r->by_id[r->ids++] = n;
	return n;
}

static struct node *
roster_node_add(struct roster *r, const char *name)
{
	struct node *n = roster_node_make(r, name);

	if ((r->count + 1) * 2 > r->bucket_count) {
		r->bucket_count *= 2;
		roster_bucket_renew(r);
	}
	r->all = xmore(r->all, r->count, sizeof(r->all[0]));
	n->state = AGENT_LOST;
	for (size_t i = 0; i < NODE_NUMBERS; i++)
		n->numbers[i] = node_numbers[i].is_count ? 0 : NAN;
	n->first_seen_unix_ns = n->since_unix_ns = clk_unix_ns();
	r->bucket[roster_slot_of(r, name)] = n;
	r->all[r->count++] = n;
	r->sorted = 0;
	r->state_count[AGENT_LOST]++;
	hostname_set_add(r->hosts, n->name, n->id);
	/* The short name is now ambiguous. */
	for (size_t i = 0; !roster_is_alone(r, n) && i < r->count; i++)
		if (hostname_is_same(r->all[i]->name, name))
			roster_leaf_set(r, r->all[i]);
	return n;
}

struct roster *
roster_new(const struct roster_limits *limits, struct store *store,
    void (*lost_cb)(struct node *n, void *arg), void *arg)
{
	struct roster *r = xcalloc(1, sizeof(*r));

	r->limits = *limits;
	r->store = store;
	r->lost_cb = lost_cb;
	r->arg = arg;
	r->bucket_count = 64;
	r->bucket = xcalloc(r->bucket_count, sizeof(struct node *));
	r->parts = json_object();
	r->hosts = hostname_set_new();
	return r;
}

void
roster_free(struct roster *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->ids; i++) {
		struct node *n = r->by_id[i];

		free(n->name);
		free(n->maintenance.by);
		free(n->maintenance.text);
		free(n->software);
		free(n->adopted_run);
		free(n->boot);
		free(n->addr);
		free(n->busy);
		free(n->alarm);
		free(n->gpu_error.text);
		free(n->link_error.text);
		free(n->inventory_text);
		json_decref(n->inventory);
		port_look_free(n->links);
		free(n);
	}
	json_decref(r->parts);
	hostname_set_free(r->hosts);
	free(r->all);
	free(r->by_id);
	free(r->bucket);
	free(r);
}

struct node *
roster_find(const struct roster *r, const char *name)
{
	return r->bucket[roster_slot_of(r, name)];
}

struct node *
roster_find_host(const struct roster *r, const char *name)
{
	size_t id = hostname_set_find(r->hosts, name);

	return id == HOSTNAME_NONE ? NULL : r->by_id[id];
}

size_t
roster_count(const struct roster *r)
{
	return r->count;
}

size_t
roster_ids(const struct roster *r)
{
	return r->ids;
}

size_t
roster_count_state(const struct roster *r, enum agent_state state)
{
	return r->state_count[state];
}

struct node *
roster_by_id(const struct roster *r, size_t id)
{
	return r->by_id[id];
}

void
roster_set_topo(struct roster *r, const struct topo *topo)
{
	r->limits.topo = topo;
	for (size_t i = 0; i < r->count; i++)
		roster_leaf_set(r, r->all[i]);
}

const struct topo *
roster_topo(const struct roster *r)
{
	return r->limits.topo;
}

static int
roster_node_compare(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return hostlist_compare((*x)->name, (*y)->name);
}

struct node *
roster_at(struct roster *r, size_t i)
{
	if (!r->sorted)
		qsort(r->all, r->count, sizeof(r->all[0]), roster_node_compare);
	r->sorted = 1;
	return r->all[i];
}

static json_t *
roster_maintenance_json(const struct node *n)
{
	return json_pack("{s:I, s:o, s:o}", "until_unix_ns",
	    (json_int_t)n->maintenance.until_unix_ns, "by",
	    text_json(n->maintenance.by), "text",
	    text_json(n->maintenance.text));
}

json_t *
roster_json(const struct node *n)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s*, s:s*, s:O*, "
			      "s:s*}",
	    "node", n->name, "state", names_agent_states[n->state],
	    "since_unix_ns", (json_int_t)n->since_unix_ns, "first_seen_unix_ns",
	    (json_int_t)n->first_seen_unix_ns, "last_seen_unix_ns",
	    (json_int_t)n->last_seen_unix_ns, "addr", n->addr, "software",
	    n->software, "inventory", n->inventory, "busy", n->busy);

	for (size_t i = 0; i < NODE_NUMBERS; i++)
		if (node_numbers[i].is_count)
			json_object_set_new(o, node_numbers[i].name,
			    json_integer((json_int_t)n->numbers[i]));
	if (n->alarm != NULL)
		json_object_set_new(o, "alarm", text_json(n->alarm));
	if (n->maintenance.until_unix_ns != 0)
		json_object_set_new(o, "maintenance",
		    roster_maintenance_json(n));
	if (n->boot_unix_ns != 0)
		json_object_set_new(o, "boot_unix_ns",
		    json_integer((json_int_t)n->boot_unix_ns));
	for (size_t i = 0; i < NODE_NUMBERS; i++)
		if (!node_numbers[i].is_count && !isnan(n->numbers[i]))
			json_object_set_new(o, node_numbers[i].name,
			    json_real(n->numbers[i]));
	if (n->leaf[0] != '\0')
		json_object_set_new(o, "leaf", json_string(n->leaf));
	return o;
}

static void
roster_text_add(struct strbuf *sb, const char *key, const char *value)
{
	json_t *v;
	char *text;

	if (value == NULL || value[0] == '\0')
		return;
	v = text_json(value);
	text = json_dumps(v, JSON_ENCODE_ANY);
	strbuf_addf(sb, ",\"%s\":%s", key, text);
	free(text);
	json_decref(v);
}

/* Names of nodes, and our own names, need no escapes. */
void
roster_text(struct node *n, struct strbuf *ret)
{
	strbuf_addf(ret,
	    "{\"node\":\"%s\",\"state\":\"%s\",\"since_unix_ns\":%lld,"
	    "\"first_seen_unix_ns\":%lld,\"last_seen_unix_ns\":%lld",
	    n->name, names_agent_states[n->state], (long long)n->since_unix_ns,
	    (long long)n->first_seen_unix_ns, (long long)n->last_seen_unix_ns);
	for (size_t i = 0; i < NODE_NUMBERS; i++)
		if (node_numbers[i].is_count)
			strbuf_addf(ret, ",\"%s\":%lld", node_numbers[i].name,
			    (long long)n->numbers[i]);
	roster_text_add(ret, "addr", n->addr);
	roster_text_add(ret, "software", n->software);
	roster_text_add(ret, "busy", n->busy);
	roster_text_add(ret, "alarm", n->alarm);
	roster_text_add(ret, "leaf", n->leaf);
	if (n->maintenance.until_unix_ns != 0) {
		json_t *o = roster_maintenance_json(n);
		char *text = json_dumps(o, JSON_COMPACT);

		strbuf_addf(ret, ",\"maintenance\":%s", text);
		free(text);
		json_decref(o);
	}
	if (n->boot_unix_ns != 0)
		strbuf_addf(ret, ",\"boot_unix_ns\":%lld",
		    (long long)n->boot_unix_ns);
	for (size_t i = 0; i < NODE_NUMBERS; i++)
		if (!node_numbers[i].is_count && !isnan(n->numbers[i]))
			strbuf_addf(ret, ",\"%s\":%.17g", node_numbers[i].name,
			    n->numbers[i]);
	if (n->inventory != NULL && n->inventory_text == NULL)
		n->inventory_text = json_dumps(n->inventory, JSON_COMPACT);
	if (n->inventory_text == NULL)
		return;
	strbuf_addf(ret, ",\"inventory\":");
	strbuf_add(ret, n->inventory_text, strlen(n->inventory_text));
}

/* Taken over. */
static void
roster_inventory_set(struct node *n, json_t *inventory)
{
	json_decref(n->inventory);
	n->inventory = inventory;
	free(n->inventory_text);
	n->inventory_text = NULL;
	n->nics_serial++;
}

/* A node may write some rows at once, then one a second; later changes are in
 * the next row. An inventory is longer and counts as several rows; it is
 * written when it has changed. */
#define ROW_NS       CLK_NS_PER_S
#define INVENTORY_NS (4 * ROW_NS)
#define ROWS_NS      (20 * ROW_NS)
/* The row of a connected node is written again at this age, at most, so that
 * the retention counts from its last contact; this many of them in a tick. */
#define ROW_AGE_NS (24 * 3600 * CLK_NS_PER_S)
#define ROWS_AGED  100

static void
roster_node_write(struct roster *r, struct node *n)
{
	json_t *o = roster_json(n);

	n->rows.owed_ns += ROW_NS;
	n->put_ns = clk_ns();
	json_object_del(o, "inventory");
	/* The boot id is not shown: with it another agent could take this one's
	 * place. */
	if (n->boot != NULL)
		json_object_set_new(o, "boot", json_string(n->boot));
	store_put_node(r->store, o);
	json_decref(o);
	/* Write it last: the retention deletes an inventory without a node. */
	if (n->is_inventory_unput && n->inventory != NULL) {
		n->rows.owed_ns += INVENTORY_NS;
		store_put_inventory(r->store, n->name, n->inventory);
	}
	n->is_inventory_unput = 0;
}

static void
roster_node_put(struct roster *r, struct node *n)
{
	if (r->store == NULL)
		return;
	n->is_unput = account_charge(&n->rows, 0, 1, clk_ns()) > ROWS_NS;
	if (!n->is_unput)
		roster_node_write(r, n);
}

/* An unstable node stays below this limit. */
int
roster_event(struct store *store, struct node *n, const char *kind,
    const char *text)
{
	uint64_t now_ns = clk_ns();

	if (n->events == 0 || now_ns - n->events_ns >= 3600 * CLK_NS_PER_S) {
		n->events = 0;
		n->events_ns = now_ns;
	}
	if (n->events >= EVENTS_PER_HOUR)
		return 0;
	if (++n->events == EVENTS_PER_HOUR)
		text = "too many events: further ones are suppressed until the "
		       "next hour";
	if (store != NULL)
		store_put_event(store, kind, n->name, text);
	return 1;
}

/* Log one line and write one event for every change of state. */
static void
roster_state_set(struct roster *r, struct node *n, enum agent_state state,
    const char *why)
{
	uint64_t now = clk_unix_ns();
	char span[32], text[320];

	if (n->state == state ||
	    (n->maintenance.until_unix_ns != 0 && state != AGENT_MAINTENANCE))
		return;
	clk_span_format(now > n->since_unix_ns ? now - n->since_unix_ns : 0,
	    span, sizeof(span));
	if (n->known)
		snprintf(text, sizeof(text), "%s, was %s for %s%s%s",
		    names_agent_states[state], names_agent_states[n->state],
		    span, why[0] == '\0' ? "" : ": ", why);
	else
		snprintf(text, sizeof(text), "%s, seen for the first time%s%s",
		    names_agent_states[state], why[0] == '\0' ? "" : ": ", why);
	n->known = 1;
	r->state_count[n->state]--;
	r->state_count[state]++;
	n->state = state;
	n->since_unix_ns = now;
	if (roster_event(r->store, n, "agent", text))
		log_info("node %s: %s", n->name, text);
	roster_node_put(r, n);
}

static void
roster_maintenance_set(struct node *n, uint64_t until_unix_ns, const char *by,
    const char *text)
{
	n->maintenance.until_unix_ns = until_unix_ns;
	n->lost_told = 0;
	xstrset(&n->maintenance.by, until_unix_ns != 0 ? by : NULL);
	xstrset(&n->maintenance.text, until_unix_ns != 0 ? text : NULL);
}

void
roster_maintain(struct roster *r, struct node *n, uint64_t until_unix_ns,
    const char *by, const char *text)
{
	roster_maintenance_set(n, until_unix_ns, by, text);
	roster_state_set(r, n,
	    until_unix_ns != 0       ? AGENT_MAINTENANCE
		: n->session == NULL ? AGENT_LOST
		: n->busy != NULL    ? AGENT_BUSY
				     : AGENT_OK,
	    text);
	/* An order is not subject to the limit of rows, and changes a row
	 * without a change of state too. */
	if (r->store != NULL)
		roster_node_write(r, n);
}

/* Remove the node from everything but by_id. */
static void
roster_node_remove(struct roster *r, struct node *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->all[i] != n)
			r->all[kept++] = r->all[i];
	r->count = kept;
	r->state_count[n->state]--;
	n->forgotten = 1;
	n->known = 0;
	n->state = AGENT_LOST;
	n->is_unput = 0;
	n->leaf[0] = '\0';
	xstrset(&n->addr, NULL);
	roster_inventory_set(n, NULL);
	roster_maintenance_set(n, 0, NULL, NULL);
	roster_bucket_renew(r);
	hostname_set_free(r->hosts);
	r->hosts = hostname_set_new();
	for (size_t i = 0; i < r->count; i++)
		hostname_set_add(r->hosts, r->all[i]->name, r->all[i]->id);
}

int
roster_forget(struct roster *r, struct node *n, struct err *err)
{
	if (n->session != NULL)
		return err_set(err, -EBUSY,
		    "%.100s is connected; stop its agent first, or use coalctl "
		    "node maintain",
		    n->name);
	if (n->exclusive != NULL || n->shared > 0)
		return err_set(err, -EBUSY,
		    "%.100s is in a run; cancel the run first", n->name);
	roster_node_remove(r, n);
	if (r->store != NULL)
		store_drop_node(r->store, n->name);
	return 0;
}

static void
roster_maintenance_load(struct roster *r, struct node *n, const json_t *o)
{
	const json_t *m = json_object_get(o, "maintenance");
	enum agent_state state = AGENT_LOST;

	roster_maintenance_set(n, member_unsigned(m, "until_unix_ns"),
	    member_text(m, "by"), member_text(m, "text"));
	if (n->maintenance.until_unix_ns != 0)
		state = AGENT_MAINTENANCE;
	else if (n->state != AGENT_MAINTENANCE)
		return;
	r->state_count[n->state]--;
	r->state_count[state]++;
	n->state = state;
}

void
roster_load(struct roster *r, const json_t *nodes)
{
	json_t *o;
	size_t i;

	json_array_foreach (nodes, i, o) {
		const char *name = member_text(o, "node");
		struct node *n;

		/* Reports of an agent since the start are newer than the store.
		 */
		if (hostlist_name_check(name) < 0 ||
		    roster_find(r, name) != NULL)
			continue;
		n = roster_node_add(r, name);
		n->known = 1;
		xstrset(&n->software, member_text_or(o, "software", NULL));
		xstrset(&n->boot, member_text_or(o, "boot", NULL));
		xstrset(&n->addr, member_text_or(o, "addr", NULL));
		roster_leaf_set(r, n);
		n->boot_unix_ns = member_unsigned(o, "boot_unix_ns");
		n->first_seen_unix_ns = member_unsigned(o,
		    "first_seen_unix_ns");
		n->last_seen_unix_ns = member_unsigned(o, "last_seen_unix_ns");
		/* The stored row of a connected node is up to a day old, so it
		 * is lost since the start of this collector. */
		if (strcmp(member_text(o, "state"),
			names_agent_states[AGENT_LOST]) == 0)
			n->since_unix_ns = n->last_seen_unix_ns;
		roster_maintenance_load(r, n, o);
		roster_inventory_set(n,
		    json_incref(json_object_get(o, "inventory")));
		n->is_inventory_unput = 0;
	}
}

void
roster_mirror(struct roster *r, const json_t *nodes)
{
	json_t *o, *names = json_object();
	size_t i;

	roster_load(r, nodes);
	json_array_foreach (nodes, i, o)
		json_object_set(names, member_text(o, "node"), o);
	for (i = r->count; i-- > 0;) /* forgotten by the active collector */
		if (json_object_get(names, r->all[i]->name) == NULL)
			roster_node_remove(r, r->all[i]);
	json_decref(names);
	json_array_foreach (nodes, i, o) {
		struct node *n = roster_find(r, member_text(o, "node"));
		int state = STR_FIND(names_agent_states,
		    member_text(o, "state"));

		if (n == NULL || state < 0)
			continue;
		roster_maintenance_load(r, n, o);
		r->state_count[n->state]--;
		r->state_count[state]++;
		n->state = (enum agent_state)state;
		n->since_unix_ns = member_unsigned(o, "since_unix_ns");
		n->last_seen_unix_ns = member_unsigned(o, "last_seen_unix_ns");
		xstrset(&n->busy, member_text_or(o, "busy", NULL));
	}
}

/* Write an event if settings have changed since the last report. */
static void
roster_settings_compare(struct roster *r, struct node *n,
    const json_t *inventory)
{
	char text[500];

	if (differences_change(n->inventory, inventory, text, sizeof(text)) > 0)
		(void)roster_event(r->store, n, "setting", text);
}

/* Most nodes of a cluster are alike, so members that equal the last inventory's
 * are shared. This saves a sixth of the memory of an agent. */
static json_t *
roster_inventory_share(struct roster *r, json_t *inventory)
{
	static const char *const keys[] = { "numa", "gpus", "mpi", "settings" };
	json_t *part, *last;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		part = json_object_get(inventory, keys[i]);
		last = json_object_get(r->parts, keys[i]);
		if (part != NULL && last != NULL && json_equal(last, part))
			json_object_set(inventory, keys[i], last);
		else if (part != NULL)
			json_object_set(r->parts, keys[i], part);
	}
	return json_incref(inventory);
}

struct node *
roster_hello(struct roster *r, const json_t *hello, const char *addr,
    struct session *s, uint64_t now_ns)
{
	const char *name = member_text(hello, "node");
	const char *boot = member_text_or(hello, "boot", NULL);
	struct node *n = roster_find(r, name);

	if (n == NULL)
		n = roster_node_add(r, name);
	xstrset(&n->software, member_text_or(hello, "software", NULL));
	/* A different process than the last one: earlier measurements are
	 * void. */
	if (n->boot_unix_ns == 0 || n->boot == NULL || boot == NULL ||
	    strcmp(n->boot, boot) != 0)
		n->boot_unix_ns = clk_unix_ns();
	xstrset(&n->boot, boot);
	xstrset(&n->addr, addr);
	roster_leaf_set(r, n);
	xstrset(&n->busy, NULL);
	roster_settings_compare(r, n, json_object_get(hello, "inventory"));
	roster_inventory_set(n,
	    roster_inventory_share(r, json_object_get(hello, "inventory")));
	n->is_inventory_unput = 1; /* even if the store dropped it before */
	n->heartbeat_ns = r->count * CLK_NS_PER_S / ROSTER_HEARTBEATS_PER_S;
	if (n->heartbeat_ns < r->limits.heartbeat_ns)
		n->heartbeat_ns = r->limits.heartbeat_ns;
	n->session = s;
	n->greeted = 0;
	n->lost_told = 0;
	n->serial++;
	n->last_ns = now_ns;
	n->last_seen_unix_ns = clk_unix_ns();
	if (n->state == AGENT_OK || n->state == AGENT_MAINTENANCE)
		roster_node_put(r, n);
	roster_state_set(r, n, AGENT_OK, addr);
	return n;
}

/* Recent maximum, which decays by half in HOST_FADE_S. */
static void
roster_fade(double *have, const json_t *host, const char *key, double age_s)
{
	double now = json_number_value(json_object_get(host, key));
	double old = *have * exp2(-age_s / HOST_FADE_S);

	*have = now > old ? now : old;
}

/* A virtual device has no rate. The highest observed rate of a device replaces
 * it, within these limits. */
#define NET_LEAST_BPS 1e7
#define NET_MOST_BPS  1e13

static void
roster_take_links(struct roster *r, struct node *n, const json_t *msg)
{
	static const char *const keys[] = { "nics", "settings" };
	json_t *inventory = NULL, *part;
	json_t *links = json_object_get(msg, "links");

	/* The same inventory in a hello may have no more bytes. */
	if (n->message_bytes > WIRE_HELLO_BYTES_MAX)
		return;
	if (links != NULL) {
		port_look_free(n->links);
		n->links = port_look_read(links);
	}
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		part = json_object_get(msg, keys[i]);
		if (part == NULL || n->inventory == NULL ||
		    json_equal(json_object_get(n->inventory, keys[i]), part))
			continue;
		/* Use a copy, since the old inventory may be part of a pending
		 * answer. */
		if (inventory == NULL)
			inventory = json_copy(n->inventory);
		json_object_set(inventory, keys[i], part);
	}
	if (inventory == NULL)
		return;
	roster_settings_compare(r, n, inventory);
	roster_inventory_set(n, inventory);
	n->is_inventory_unput = 1;
}

/* Traffic during runs of the collector is not a job's; it counts only without
 * another report for this long. */
#define NET_OURS_NS (600 * CLK_NS_PER_S)

static void
roster_take_net(struct roster *r, struct node *n, const json_t *host,
    double age_s)
{
	int ours = n->exclusive != NULL || n->shared > 0;
	uint64_t now_ns = clk_ns();
	double net;

	/* fmin and fmax ignore a missing value, NAN */
	r->net_most_bps = fmax(r->net_most_bps,
	    fmin(NET_MOST_BPS,
		fmax(NET_LEAST_BPS, member_number(host, "net_bps"))));
	net = member_number(host, "net");
	if (!(net >= 0))
		net = member_number(host, "net_bps") / r->net_most_bps;
	n->host.net_told = net >= 0 ? fmin(1, net) : 0;
	n->host.net = fmin(1,
	    fmax(net, n->host.net * exp2(-age_s / HOST_FADE_S)));
	if (!ours && !n->host.ours)
		n->host.jobs_ns = now_ns;
	else if (now_ns - n->host.jobs_ns < NET_OURS_NS)
		net = NAN;
	n->host.jobs = fmin(1,
	    fmax(net, n->host.jobs * exp2(-age_s / HOST_FADE_S)));
	n->host.ours = ours;
}

int
roster_beats_too_often(struct node *n, uint64_t now_ns)
{
	/* After a network outage the heartbeats of a minute may arrive at once.
	 */
	uint64_t max_ns = 30 * n->heartbeat_ns + 30 * CLK_NS_PER_S;

	return account_charge(&n->beats, n->heartbeat_ns / 2, 1, now_ns) >
	    max_ns;
}

static void
roster_take_numbers(struct node *n, const json_t *msg)
{
	const json_t *host = json_object_get(msg, "host");

	for (size_t i = 0; i < NODE_NUMBERS; i++) {
		const struct node_number *row = &node_numbers[i];
		double x = member_number(msg, row->name);

		if (isnan(x))
			x = member_number(host, row->name);
		n->numbers[i] = x >= 0 ? x : row->is_count ? 0 : NAN;
	}
}

void
roster_heartbeat(struct roster *r, struct node *n, const json_t *msg)
{
	const json_t *host = json_object_get(msg, "host");
	uint64_t at_unix_ns = member_unsigned(msg, "at_unix_ns");
	uint64_t now_ns = clk_ns();
	double age_s = (double)(now_ns - n->host_ns) / (double)CLK_NS_PER_S;

	n->skew_ns = (int64_t)(at_unix_ns - clk_unix_ns());
	n->host_ns = now_ns;
	roster_fade(&n->host.cpu, host, "cpu", age_s);
	roster_fade(&n->host.steal, host, "steal", age_s);
	roster_fade(&n->host.wait_s, host, "wait_s", age_s);
	roster_fade(&n->host.throttled, host, "throttled", age_s);
	roster_fade(&n->host.hot, host, "hot", age_s);
	roster_take_net(r, n, host, age_s);
	roster_take_numbers(n, msg);
	roster_take_links(r, n, msg);
	xstrset(&n->busy, member_text_or(msg, "busy", NULL));
	xstrset(&n->alarm, member_text_or(msg, "alarm", NULL));
	roster_state_set(r, n, n->busy == NULL ? AGENT_OK : AGENT_BUSY,
	    n->busy == NULL ? "" : n->busy);
}

void
roster_alive(struct roster *r, struct node *n, uint64_t now_ns)
{
	n->last_ns = now_ns;
	n->last_seen_unix_ns = clk_unix_ns();
	if (n->state == AGENT_LATE)
		roster_state_set(r, n, n->busy == NULL ? AGENT_OK : AGENT_BUSY,
		    "");
}

void
roster_gone(struct roster *r, struct node *n, const char *why)
{
	n->session = NULL;
	n->greeted = 0;
	if (n->state != AGENT_LOST)
		roster_state_set(r, n, AGENT_LATE, why);
}

uint64_t
roster_silence_ns(const struct roster *r, const struct node *n)
{
	uint64_t span_ns = n->heartbeat_ns * 5 / 2;

	/* With the configured heartbeat, the configured silence applies. */
	return n->heartbeat_ns <= r->limits.heartbeat_ns ||
		span_ns < r->limits.silence_ns
	    ? r->limits.silence_ns
	    : span_ns;
}

uint64_t
roster_late_ns(const struct roster *r, const struct node *n)
{
	uint64_t span_ns = n->heartbeat_ns * 5 / 2;
	uint64_t silence_ns = roster_silence_ns(r, n);

	return span_ns < silence_ns ? span_ns : silence_ns;
}

static uint64_t
roster_row_age_ns(const struct roster *r)
{
	uint64_t age_ns = r->limits.retention_ns / 4;

	return age_ns == 0 || age_ns > ROW_AGE_NS ? ROW_AGE_NS : age_ns;
}

/* Return 1 if it is still in maintenance. Runs learn that its agent is lost,
 * but it causes no other event. */
static int
roster_maintenance_tick(struct roster *r, struct node *n, uint64_t now_ns)
{
	if (n->maintenance.until_unix_ns <= clk_unix_ns()) {
		roster_maintain(r, n, 0, NULL, "maintenance has expired");
		return 0;
	}
	if (!n->lost_told && now_ns - n->last_ns >= roster_silence_ns(r, n)) {
		n->lost_told = 1;
		r->lost_cb(n, r->arg);
	}
	return 1;
}

void
roster_tick(struct roster *r, uint64_t now_ns)
{
	uint64_t age_ns = roster_row_age_ns(r);
	size_t aged = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct node *n = r->all[i];
		uint64_t silent_ns = now_ns - n->last_ns;

		if (n->is_unput)
			roster_node_put(r, n);
		if (n->state == AGENT_LOST)
			continue;
		if (now_ns - n->put_ns >= age_ns && aged++ < ROWS_AGED)
			roster_node_put(r, n);
		if (n->state == AGENT_MAINTENANCE &&
		    roster_maintenance_tick(r, n, now_ns))
			continue;
		if (silent_ns >= roster_silence_ns(r, n)) {
			roster_state_set(r, n, AGENT_LOST, "silent");
			r->lost_cb(n, r->arg);
		} else if (silent_ns >= roster_late_ns(r, n)) {
			roster_state_set(r, n, AGENT_LATE, "silent");
		}
	}
}

int
roster_is_up(const struct node *n)
{
	return n->session != NULL && n->greeted &&
	    (n->state == AGENT_OK || n->state == AGENT_BUSY);
}

int
roster_is_watched(const struct node *n)
{
	return n->state != AGENT_LOST && n->state != AGENT_MAINTENANCE;
}

void
roster_why(const struct node *n, struct err *err)
{
	char until[32];

	if (n->state == AGENT_MAINTENANCE) {
		clk_unix_format(n->maintenance.until_unix_ns, until,
		    sizeof(until));
		err_say(err, "%s is in maintenance until %s: %.100s", n->name,
		    until, n->maintenance.text);
	} else if (n->session == NULL)
		err_say(err, "%s is not connected", n->name);
	else if (n->busy != NULL)
		err_say(err, "%s is busy: %s", n->name, n->busy);
	else
		err_say(err, "agent of %s is %s", n->name,
		    names_agent_states[n->state]);
}

size_t
roster_rails(const struct node *n,
    struct roster_rail ret_rails[ROSTER_RAILS_MAX])
{
	const json_t *o;
	size_t count = 0, i;

	member_foreach (n->inventory, "rails", i, o) {
		const char *name = member_text(o, "name");
		/* it is used in campaigns and verdicts */
		size_t len = strspn(name,
		    "abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-@");

		if (len > 0 && len < ROSTER_RAIL_BYTES && name[len] == '\0' &&
		    count < ROSTER_RAILS_MAX)
			ret_rails[count++] = (struct roster_rail){ name,
				member_text(o, "netdev") };
	}
	return count;
}

long
roster_rail_find(const struct node *n, const char *name)
{
	struct roster_rail rails[ROSTER_RAILS_MAX];
	size_t count = roster_rails(n, rails);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rails[i].name, name) == 0 ||
		    strcmp(rails[i].netdev, name) == 0)
			return (long)i;
	return -ENOENT;
}
