/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.c - leaves, tiers, pods and rails out of links: a leaf is a switch
 * with hosts, and the further from them a switch is, the higher its tier.
 */
#include "ctl/topology/fabric.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/hostname.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"

#define FABRIC_PLACES_MAX 5 /* that are named of each kind */

struct fabric_link {
	uint32_t host, to;
	char *port;
	int rail;
	double gbps;
	uint64_t guid;
	const char *host_name; /* borrowed, for sorting */
};

struct fabric_trunk {
	uint32_t lower, upper;
	double gbps;
};

struct fabric *
fabric_new(const struct fabric_choice *choice)
{
	struct fabric *f = xcalloc(1, sizeof(*f));

	f->choice = choice;
	f->names = topology_new();
	f->guids = json_object();
	f->included = json_object();
	f->skipped = json_object();
	f->ids = json_object();
	f->names_used = json_object();
	f->owners = json_object();
	f->seen = json_object();
	return f;
}

void
fabric_free(struct fabric *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->link_count; i++)
		free(f->links[i].port);
	free(f->links);
	free(f->trunks);
	free(f->is_skipped);
	free(f->others);
	topology_free(f->names);
	json_decref(f->guids);
	json_decref(f->included);
	json_decref(f->skipped);
	json_decref(f->ids);
	json_decref(f->names_used);
	json_decref(f->owners);
	json_decref(f->seen);
	free(f);
}

void
fabric_name(const char *text, size_t len, char ret[TOPOLOGY_NAME_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < TOPOLOGY_NAME_MAX - 1; i++) {
		unsigned char c = (unsigned char)text[i];
		int fits = isascii(c) &&
		    (isalnum(c) || c == '.' || c == '-' || c == '_');

		if (n > 0 || isalnum(c))
			ret[n++] = fits ? (char)c : '_';
	}
	ret[n] = '\0';
}

/* ---- skipped parts of files ---- */

int
fabric_skip(struct fabric *f, const char *kind, struct err *err,
    const char *fmt, ...)
{
	json_t *o = json_object_get(f->skipped, kind), *places;
	struct err what;
	char line[16] = "", *place;
	va_list ap;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	if (f->choice->strict)
		return err_set(err, -EINVAL, "%s%s%s", what.text,
		    what.text[0] == '\0' ? "" : ": ", kind);
	if (o == NULL) {
		o = json_pack("{s:i, s:[]}", "count", 0, "places");
		json_object_set_new(f->skipped, kind, o);
	}
	json_object_set_new(o, "count",
	    json_integer(member_int(o, "count") + 1));
	places = json_object_get(o, "places");
	if (json_array_size(places) < FABRIC_PLACES_MAX) {
		if (f->line > 0)
			snprintf(line, sizeof(line), ":%d", f->line);
		place = xasprintf("%s%s%s%s", f->file == NULL ? "" : f->file,
		    line, what.text[0] == '\0' ? "" : ": ", what.text);
		json_array_append_new(places, text_json(place));
		free(place);
	}
	return 0;
}

int
fabric_skip_refused(struct fabric *f, int rc, const char *kind, struct err *err)
{
	struct err reason;

	if (rc != -EINVAL || f->choice->strict)
		return rc;
	reason = *err;
	return fabric_skip(f, kind, err, "%s", reason.text);
}

char *
fabric_skipped_text(const json_t *skipped)
{
	struct strbuf sb = { 0 };
	const char *kind;
	json_t *o;

	strbuf_add(&sb, "", 0);
	json_object_foreach ((json_t *)skipped, kind, o) {
		json_t *places = json_object_get(o, "places"), *place;
		json_int_t count = member_int(o, "count");
		size_t i;

		strbuf_addf(&sb, "%s: %" JSON_INTEGER_FORMAT ":", kind, count);
		json_array_foreach (places, i, place)
			strbuf_addf(&sb, "%s %s", i == 0 ? "" : ";",
			    json_string_value(place));
		strbuf_addf(&sb, "%s\n",
		    count > FABRIC_PLACES_MAX ? "; ..." : "");
	}
	return sb.text;
}

/* ---- names of switches ---- */

void
fabric_declare(struct fabric *f, const char *id, const char *name)
{
	if (json_object_get(f->ids, id) != NULL)
		return;
	json_object_set_new(f->ids, id, json_string(name));
	json_object_set_new(f->names_used, name,
	    json_integer(member_int(f->names_used, name) + 1));
}

int
fabric_declared_name(const struct fabric *f, const char *id,
    char ret[TOPOLOGY_NAME_MAX])
{
	const char *name = member_text_or(f->ids, id, NULL);
	const char *digits = id + strcspn(id, "-");

	if (name == NULL)
		return -ENOENT;
	digits += strspn(digits, "-0");
	if (member_int(f->names_used, name) > 1)
		snprintf(ret, TOPOLOGY_NAME_MAX, "%.40s_%.16s", name, digits);
	else
		snprintf(ret, TOPOLOGY_NAME_MAX, "%s", name);
	return 0;
}

int
fabric_is_seen(struct fabric *f, const char *id, long port)
{
	char key[64];

	snprintf(key, sizeof(key), "%.40s/%ld", id, port);
	if (json_object_get(f->seen, key) != NULL)
		return 1;
	json_object_set_new(f->seen, key, json_true());
	return 0;
}

/* ---- hosts, switches and links ---- */

static int
fabric_is_any(char *const *globs, const char *text)
{
	for (int i = 0; globs != NULL && globs[i] != NULL; i++)
		if (fnmatch(globs[i], text, 0) == 0)
			return i;
	return -1;
}

int
fabric_is_skipped(const struct fabric *f, const char *name)
{
	return fabric_is_any(f->choice->skip, name) >= 0;
}

static int
fabric_add_switch(struct fabric *f, const char *name, uint32_t *ret,
    struct err *err)
{
	size_t count = f->names->switch_count;
	int rc = topology_add_switch(f->names, name, ret, err);

	if (rc == 0 && f->names->switch_count > count) {
		f->is_skipped = xmore(f->is_skipped, count, 1);
		f->others = xmore(f->others, count, sizeof(*f->others));
		f->is_skipped[count] = (uint8_t)fabric_is_skipped(f, name);
		f->others[count] = 0;
	}
	return rc;
}

/* Whether the site wants it, and by which rail. */
static int
fabric_port_choose(const struct fabric *f, const struct fabric_port *p,
    int *ret_rail)
{
	char both[HOSTLIST_NAME_MAX + FABRIC_PORT_MAX + 2];

	snprintf(both, sizeof(both), "%s:%s", p->host, p->name);
	*ret_rail = p->rail;
	if (fabric_is_any(f->choice->skip, p->host) >= 0 ||
	    fabric_is_any(f->choice->skip, both) >= 0)
		return 0;
	if (f->choice->rails == NULL)
		return 1;
	*ret_rail = fabric_is_any(f->choice->rails, p->name);
	return *ret_rail >= 0;
}

int
fabric_add_port(struct fabric *f, const struct fabric_port *p, struct err *err)
{
	struct fabric_link l = { .gbps = p->gbps, .guid = p->guid };
	int rc = fabric_add_switch(f, p->to, &l.to, err);

	if (rc < 0)
		return rc;
	if (f->is_skipped[l.to] || !fabric_port_choose(f, p, &l.rail)) {
		f->others[l.to]++;
		f->left_out++;
		return 0;
	}
	if (f->link_count == TOPOLOGY_LINKS_MAX)
		return err_set(err, -E2BIG, "more than %d links of hosts",
		    TOPOLOGY_LINKS_MAX);
	rc = topology_add_node(f->names, p->host, &l.host, err);
	if (rc < 0)
		return rc;
	l.port = xstrdup(p->name);
	f->links = xmore(f->links, f->link_count, sizeof(*f->links));
	f->links[f->link_count++] = l;
	return 0;
}

int
fabric_add_other(struct fabric *f, const char *to, struct err *err)
{
	uint32_t at;
	int rc = fabric_add_switch(f, to, &at, err);

	if (rc == 0)
		f->others[at]++;
	return rc;
}

int
fabric_add_trunk(struct fabric *f, const char *lower, const char *upper,
    double gbps, struct err *err)
{
	struct fabric_trunk k = { .gbps = gbps };
	int rc = fabric_add_switch(f, lower, &k.lower, err);

	if (rc == 0)
		rc = fabric_add_switch(f, upper, &k.upper, err);
	if (rc < 0)
		return rc;
	if (k.lower == k.upper)
		return 0; /* a cable for tests */
	if (f->trunk_count == TOPOLOGY_LINKS_MAX)
		return err_set(err, -E2BIG, "more than %d links of switches",
		    TOPOLOGY_LINKS_MAX);
	f->trunks = xmore(f->trunks, f->trunk_count, sizeof(*f->trunks));
	f->trunks[f->trunk_count++] = k;
	return 0;
}

/* ---- tiers ---- */

/* Return the tier of every switch, 0 for a switch outside of the topology. A
 * switch whose hosts are all skipped, and which has no more links to switches
 * than hosts, is the leaf of those hosts, and not one of the switches above. */
static int *
fabric_tiers_find(const struct fabric *f)
{
	size_t count = f->names->switch_count;
	int *tier = xcalloc(count + 1, sizeof(*tier)), changed = 1;
	uint32_t *trunks = xcalloc(count + 1, sizeof(*trunks));

	for (size_t i = 0; i < f->link_count; i++)
		tier[f->links[i].to] = 1;
	for (size_t i = 0; i < f->trunk_count; i++) {
		trunks[f->trunks[i].lower]++;
		trunks[f->trunks[i].upper]++;
	}
	for (size_t i = 0; i < count; i++)
		if (f->is_skipped[i] ||
		    (tier[i] == 0 && f->others[i] > 0 &&
			f->others[i] >= trunks[i]))
			tier[i] = -1;
	for (int now = 1; changed; now++) {
		changed = 0;
		for (size_t i = 0; i < f->trunk_count; i++) {
			uint32_t a = f->trunks[i].lower;
			uint32_t b = f->trunks[i].upper;

			if (!f->tree && tier[b] == now && tier[a] == 0)
				tier[a] = now + 1;
			else if (tier[a] == now && tier[b] == 0)
				tier[b] = now + 1;
			else
				continue;
			changed = 1;
		}
	}
	for (size_t i = 0; i < count; i++)
		tier[i] = tier[i] < 0 ? 0 : tier[i];
	free(trunks);
	return tier;
}

static int
fabric_trunk_compare(const void *a, const void *b)
{
	const struct topology_up *x = a, *y = b;

	if (x->lower != y->lower)
		return x->lower < y->lower ? -1 : 1;
	return x->upper == y->upper ? 0 : x->upper < y->upper ? -1 : 1;
}

/* Links upward, from the switches that are in: to[i] is the new number. */
static int
fabric_ups_add(struct fabric *f, const int *tier, const uint32_t *to,
    struct topology *t, struct err *err)
{
	struct topology_up *ups = xcalloc(f->trunk_count + 1, sizeof(*ups));
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < f->trunk_count; i++) {
		uint32_t a = f->trunks[i].lower, b = f->trunks[i].upper;

		if (tier[a] == 0 || tier[b] == 0)
			continue;
		if (!f->tree && tier[a] == tier[b]) {
			f->sideward++;
			continue;
		}
		if (!f->tree && tier[a] > tier[b]) {
			a = f->trunks[i].upper;
			b = f->trunks[i].lower;
		}
		ups[count++] = (struct topology_up){ to[a], to[b], 1,
			f->trunks[i].gbps };
	}
	qsort(ups, count, sizeof(*ups), fabric_trunk_compare);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = topology_add_up(t, &ups[i], err);
	free(ups);
	return rc;
}

/* ---- pods: what hangs together without the highest tier ---- */

static uint32_t
fabric_root_of(uint32_t *root, uint32_t at)
{
	while (root[at] != at)
		at = root[at] = root[root[at]];
	return at;
}

static int
fabric_switch_compare(const void *a, const void *b)
{
	const struct topology_switch *const *x = a, *const *y = b;

	return hostlist_compare((*x)->name, (*y)->name);
}

static void
fabric_pods_name(struct topology *t)
{
	size_t n = t->switch_count;
	struct topology_switch **order = xcalloc(n + 1, sizeof(*order));
	uint32_t *root = xcalloc(n + 1, sizeof(*root));
	uint32_t *pod = xcalloc(n + 1, sizeof(*pod)), pods = 0;
	int *tier = topology_tiers(t), top = 0;

	for (size_t i = 0; i < n; i++) {
		root[i] = (uint32_t)i;
		order[i] = &t->switches[i];
		top = tier[i] > top ? tier[i] : top;
	}
	for (size_t i = 0; i < t->up_count; i++)
		if (tier[t->ups[i].upper] < top && tier[t->ups[i].lower] < top)
			root[fabric_root_of(root, t->ups[i].lower)] =
			    fabric_root_of(root, t->ups[i].upper);
	qsort(order, n, sizeof(struct topology_switch *),
	    fabric_switch_compare);
	for (size_t i = 0; i < n; i++) { /* in the order of leaves */
		size_t at = (size_t)(order[i] - t->switches);
		uint32_t *of = &pod[fabric_root_of(root, (uint32_t)at)];

		if (tier[at] == 1 && *of == 0)
			*of = ++pods;
	}
	for (size_t i = 0; top > 2 && pods > 1 && i < n; i++)
		if (tier[i] < top && pod[fabric_root_of(root, (uint32_t)i)] > 0)
			t->switches[i].pod = xasprintf("pod%u",
			    pod[fabric_root_of(root, (uint32_t)i)]);
	free(order);
	free(root);
	free(pod);
	free(tier);
}

/* ---- rails ---- */

static int
fabric_link_compare(const void *a, const void *b)
{
	const struct fabric_link *x = a, *y = b;
	int order = hostlist_compare(x->host_name, y->host_name);

	if (order == 0 && x->rail != y->rail)
		order = x->rail < y->rail ? -1 : 1;
	/* Ports of a configured rail are one link for each leaf. */
	if (order == 0 && x->rail >= 0 && x->to != y->to)
		order = x->to < y->to ? -1 : 1;
	if (order == 0)
		order = hostlist_compare(x->port, y->port);
	if (order == 0 && x->to != y->to)
		order = x->to < y->to ? -1 : 1;
	return order != 0 ? order : x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* Add the links of one host, in the order of its ports: each port is a rail,
 * unless the rails were given. Ports of one rail to one leaf are one link. */
static int
fabric_host_add(struct fabric *f, size_t from, size_t end, const uint32_t *to,
    struct topology *t, struct err *err)
{
	struct topology_link sum = { .previous = TOPOLOGY_NONE };
	int next = 0, rc;

	rc = topology_add_node(t, f->links[from].host_name, &sum.node, err);
	for (size_t i = from; rc == 0 && i < end;) {
		const struct fabric_link *l = &f->links[i];
		char key[32];

		sum.leaf = to[l->to];
		sum.rail = l->rail >= 0 ? l->rail : next;
		sum.gbps = 0;
		for (; i < end && f->links[i].to == l->to &&
		     f->links[i].rail == l->rail &&
		     (l->rail >= 0 ||
			 (f->links[i].guid == l->guid &&
			     strcmp(f->links[i].port, l->port) == 0));
		     i++)
			sum.gbps += f->links[i].gbps;
		next = sum.rail + 1;
		if (sum.rail >= TOPOLOGY_RAILS_MAX)
			return err_set(err, -EINVAL,
			    "%.64s has more than %d ports: name its rails with "
			    "--rails, or skip others with --skip",
			    l->host_name, TOPOLOGY_RAILS_MAX);
		rc = topology_add_link(t, &sum, err);
		for (const struct fabric_link *g = l; g < &f->links[i]; g++) {
			snprintf(key, sizeof(key), "0x%016" PRIx64, g->guid);
			if (g->guid != 0)
				json_object_set_new(f->guids, key,
				    json_pack("[s, s, o]", g->host_name,
					t->switches[sum.leaf].name,
					text_json(g->port)));
		}
	}
	return rc;
}

static int
fabric_no_host(const struct fabric *f, struct err *err)
{
	char *skipped = fabric_skipped_text(f->skipped);
	struct strbuf sb = { 0 };

	for (char *at = skipped; (at = strchr(at, '\n')) != NULL;)
		*at = at[1] == '\0' ? '\0' : ' ';
	strbuf_addf(&sb, "no host is linked to a switch");
	if (skipped[0] != '\0')
		strbuf_addf(&sb, "; %s", skipped);
	if (f->left_out > 0)
		strbuf_addf(&sb,
		    "; %zu links of hosts were skipped by --rails and --skip",
		    f->left_out);
	if (f->stations > 0)
		strbuf_addf(&sb,
		    "; %zu neighbours are not switches according to LLDP",
		    f->stations);
	err_say(err, "%s", sb.text);
	strbuf_clear(&sb);
	free(skipped);
	return -EINVAL;
}

/* Give a host the name that it has first, where another file or line has its
 * full or its short name. Of two full names that differ by the domain, each is
 * a host. */
static void
fabric_hosts_merge(struct fabric *f)
{
	size_t count = f->names->node_count;
	struct hostname_set *full = hostname_set_new();
	uint32_t *to = xcalloc(count + 1, sizeof(*to));

	for (size_t i = 0; i < count; i++) {
		to[i] = (uint32_t)i;
		if (strchr(f->names->nodes[i].name, '.') != NULL)
			hostname_set_add(full, f->names->nodes[i].name, i);
	}
	for (size_t i = 0; i < count; i++) {
		size_t other = strchr(f->names->nodes[i].name, '.') != NULL
		    ? HOSTNAME_NONE
		    : hostname_set_find(full, f->names->nodes[i].name);

		if (other == HOSTNAME_NONE)
			continue;
		to[i > other ? i : other] = (uint32_t)(i > other ? other : i);
	}
	for (size_t i = 0; i < f->link_count; i++)
		f->links[i].host = to[f->links[i].host];
	hostname_set_free(full);
	free(to);
}

int
fabric_sort(struct fabric *f, struct topology **ret, struct err *err)
{
	const struct topology *all = f->names;
	struct topology *t = topology_new();
	int *tier = fabric_tiers_find(f), rc = 0;
	uint32_t *to = xcalloc(all->switch_count + 1, sizeof(*to));

	if (f->link_count == 0)
		rc = fabric_no_host(f, err);
	for (size_t i = 0; rc == 0 && i < all->switch_count; i++) {
		f->lone += tier[i] == 0 && !f->is_skipped[i];
		if (tier[i] > 0)
			rc = topology_add_switch(t, all->switches[i].name,
			    &to[i], err);
	}
	fabric_hosts_merge(f);
	for (size_t i = 0; i < f->link_count; i++)
		f->links[i].host_name = all->nodes[f->links[i].host].name;
	if (f->link_count > 0)
		qsort(f->links, f->link_count, sizeof(*f->links),
		    fabric_link_compare);
	for (size_t i = 0, end; rc == 0 && i < f->link_count; i = end) {
		for (end = i + 1; end < f->link_count &&
		     f->links[end].host == f->links[i].host;)
			end++;
		rc = fabric_host_add(f, i, end, to, t, err);
	}
	if (rc == 0)
		rc = fabric_ups_add(f, tier, to, t, err);
	if (rc == 0)
		fabric_pods_name(t);
	free(tier);
	free(to);
	if (rc < 0)
		topology_free(t);
	else
		*ret = t;
	return rc;
}
