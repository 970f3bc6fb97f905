/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - leaves, rails and the switches above them, as a structure and
 * as the lines of a file.
 */
#include "schema/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"

struct topology *
topology_new(void)
{
	struct topology *t = xcalloc(1, sizeof(*t));

	t->node_index = json_object();
	t->switch_index = json_object();
	t->hosts = hostname_set_new();
	return t;
}

void
topology_free(struct topology *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->node_count; i++)
		free(t->nodes[i].name);
	for (size_t i = 0; i < t->switch_count; i++) {
		free(t->switches[i].name);
		free(t->switches[i].pod);
	}
	free(t->nodes);
	free(t->switches);
	free(t->links);
	free(t->ups);
	json_decref(t->node_index);
	json_decref(t->switch_index);
	hostname_set_free(t->hosts);
	free(t);
}

static uint32_t
topology_find(const json_t *index, const char *name)
{
	const json_t *at = json_object_get(index, name);

	return at == NULL ? TOPOLOGY_NONE : (uint32_t)json_integer_value(at);
}

uint32_t
topology_find_node(const struct topology *t, const char *name)
{
	return topology_find(t->node_index, name);
}

uint32_t
topology_find_host(const struct topology *t, const char *name)
{
	size_t at = hostname_set_find(t->hosts, name);

	return at == HOSTNAME_NONE ? TOPOLOGY_NONE : (uint32_t)at;
}

uint32_t
topology_find_switch(const struct topology *t, const char *name)
{
	return topology_find(t->switch_index, name);
}

char *
topology_above(const struct topology *t, uint32_t at)
{
	const char **names = NULL;
	size_t count = 0, kept = 0;
	char *ret;

	for (size_t i = 0; i < t->up_count; i++)
		if (t->ups[i].lower == at) {
			names = xmore(names, count, sizeof(*names));
			names[count++] = t->switches[t->ups[i].upper].name;
		}
	if (count == 0)
		return NULL;
	hostlist_sort(names, count);
	for (size_t i = 0; i < count; i++) /* by two rates, say */
		if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	ret = hostlist_format(names, kept);
	free(names);
	return ret;
}

int
topology_add_node(struct topology *t, const char *name, uint32_t *ret,
    struct err *err)
{
	uint32_t at = topology_find(t->node_index, name);

	if (at == TOPOLOGY_NONE) {
		if (hostlist_name_check(name) < 0)
			return err_set(err, -EINVAL,
			    "invalid host name \"%.40s\": expected letters, "
			    "digits, . - _",
			    name);
		if (t->node_count == HOSTLIST_MAX)
			return err_set(err, -E2BIG, "more than %d nodes",
			    HOSTLIST_MAX);
		at = (uint32_t)t->node_count;
		t->nodes = xmore(t->nodes, at, sizeof(*t->nodes));
		t->nodes[at].name = xstrdup(name);
		t->nodes[at].last = TOPOLOGY_NONE;
		t->node_count++;
		json_object_set_new(t->node_index, name, json_integer(at));
		hostname_set_add(t->hosts, t->nodes[at].name, at);
	}
	*ret = at;
	return 0;
}

int
topology_add_switch(struct topology *t, const char *name, uint32_t *ret,
    struct err *err)
{
	uint32_t at = topology_find(t->switch_index, name);

	if (at == TOPOLOGY_NONE) {
		if (hostlist_name_check(name) < 0 ||
		    strlen(name) >= TOPOLOGY_NAME_MAX)
			return err_set(err, -EINVAL,
			    "invalid switch name \"%.70s\": expected at most "
			    "%d letters, digits, . - _",
			    name, TOPOLOGY_NAME_MAX - 1);
		if (t->switch_count == TOPOLOGY_SWITCHES_MAX)
			return err_set(err, -E2BIG, "more than %d switches",
			    TOPOLOGY_SWITCHES_MAX);
		at = (uint32_t)t->switch_count;
		t->switches = xmore(t->switches, at, sizeof(*t->switches));
		t->switches[at].name = xstrdup(name);
		t->switches[at].pod = NULL;
		t->switch_count++;
		json_object_set_new(t->switch_index, name, json_integer(at));
	}
	*ret = at;
	return 0;
}

int
topology_add_link(struct topology *t, const struct topology_link *link,
    struct err *err)
{
	struct topology_node *n = &t->nodes[link->node];

	for (uint32_t i = n->last; i != TOPOLOGY_NONE;
	     i = t->links[i].previous) {
		struct topology_link *old = &t->links[i];

		if (old->rail == link->rail)
			return err_set(err, -EINVAL,
			    "%.64s is also on leaf %s, by rail %d", n->name,
			    t->switches[old->leaf].name, old->rail);
	}
	if (t->link_count == TOPOLOGY_LINKS_MAX)
		return err_set(err, -E2BIG, "more than %d links of nodes",
		    TOPOLOGY_LINKS_MAX);
	t->links = xmore(t->links, t->link_count, sizeof(*t->links));
	t->links[t->link_count] = *link;
	t->links[t->link_count].previous = n->last;
	n->last = (uint32_t)t->link_count++;
	return 0;
}

int
topology_add_up(struct topology *t, const struct topology_up *up,
    struct err *err)
{
	if (up->lower == up->upper)
		return err_set(err, -EINVAL, "%s is linked to itself",
		    t->switches[up->lower].name);
	/* Those of one switch come together. */
	for (size_t i = t->up_count; i-- > 0 && t->ups[i].lower == up->lower;)
		if (t->ups[i].upper == up->upper &&
		    t->ups[i].gbps == up->gbps &&
		    t->ups[i].count < TOPOLOGY_COUNT_MAX) {
			t->ups[i].count += up->count;
			return 0;
		}
	if (t->up_count == TOPOLOGY_LINKS_MAX)
		return err_set(err, -E2BIG, "more than %d links of switches",
		    TOPOLOGY_LINKS_MAX);
	t->ups = xmore(t->ups, t->up_count, sizeof(*t->ups));
	t->ups[t->up_count++] = *up;
	return 0;
}

const struct topology_link *
topology_first_link(const struct topology *t, uint32_t node)
{
	const struct topology_link *best = NULL;

	for (uint32_t i = t->nodes[node].last; i != TOPOLOGY_NONE;
	     i = t->links[i].previous)
		if (best == NULL || t->links[i].rail < best->rail)
			best = &t->links[i];
	return best;
}

int *
topology_tiers(const struct topology *t)
{
	int *tier = xcalloc(t->switch_count + 1, sizeof(*tier));
	int changed = 1;

	for (size_t i = 0; i < t->link_count; i++)
		tier[t->links[i].leaf] = 1;
	/* A switch above none that leads to nodes is a leaf without any. */
	for (int now = 1; changed; now++) {
		changed = 0;
		for (size_t i = 0; i < t->up_count; i++)
			if (tier[t->ups[i].lower] == now &&
			    tier[t->ups[i].upper] == 0) {
				tier[t->ups[i].upper] = now + 1;
				changed = 1;
			}
	}
	for (size_t i = 0; i < t->switch_count; i++)
		tier[i] = tier[i] == 0 ? 1 : tier[i];
	return tier;
}

/* ---- the file, read ---- */

/* The contents of a line so far. */
struct line {
	struct topology *t;
	uint32_t at; /* its switch */
	int rail;
	double gbps;
};

/* "spine[1-4]*2@400"; changes text. */
static int
topology_read_up(struct line *l, char *text, struct err *err)
{
	char *rate = strchr(text, '@'), *count = strchr(text, '*');
	struct topology_up up = { .lower = l->at, .count = 1 };
	struct hostlist hl;
	int64_t n = 1;
	int rc;

	if (rate != NULL)
		*rate++ = '\0';
	if (count != NULL)
		*count++ = '\0';
	if ((rate != NULL &&
		str_to_double(rate, 0, TOPOLOGY_GBPS_MAX, &up.gbps) < 0) ||
	    (count != NULL && str_to_int(count, 1, TOPOLOGY_COUNT_MAX, &n) < 0))
		return err_set(err, -EINVAL,
		    "up: expected SWITCHES[*LINKS][@GBPS], such as "
		    "\"spine[1-4]*2@400\"");
	up.count = (uint32_t)n;
	rc = hostlist_parse(text, &hl, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < hl.count; i++) {
		rc = topology_add_switch(l->t, hl.names[i], &up.upper, err);
		if (rc == 0)
			rc = topology_add_up(l->t, &up, err);
	}
	hostlist_clear(&hl);
	return rc;
}

static int
topology_read_word(struct line *l, char *word, struct err *err)
{
	char *value = strchr(word, '=');
	struct topology_switch *s = &l->t->switches[l->at];
	int64_t rail;

	if (value != NULL)
		*value++ = '\0';
	if (value != NULL && strcmp(word, "up") == 0)
		return topology_read_up(l, value, err);
	if (value != NULL && strcmp(word, "rail") == 0) {
		if (str_to_int(value, 0, TOPOLOGY_RAILS_MAX - 1, &rail) < 0)
			return err_set(err, -EINVAL,
			    "rail=%.20s: expected 0 to %d", value,
			    TOPOLOGY_RAILS_MAX - 1);
		l->rail = (int)rail;
		return 0;
	}
	if (value != NULL && strcmp(word, "gbps") == 0) {
		if (str_to_double(value, 0, TOPOLOGY_GBPS_MAX, &l->gbps) < 0)
			return err_set(err, -EINVAL,
			    "gbps=%.20s: expected 0 to %.0f", value,
			    TOPOLOGY_GBPS_MAX);
		return 0;
	}
	if (value != NULL && strcmp(word, "pod") == 0) {
		if (hostlist_name_check(value) < 0 ||
		    strlen(value) >= TOPOLOGY_NAME_MAX)
			return err_set(err, -EINVAL,
			    "pod=%.40s: expected letters, digits, . - _",
			    value);
		xstrset(&s->pod, value);
		return 0;
	}
	return err_set(err, -EINVAL,
	    "expected LEAF NODES, such as \"leaf1 n[001-040]\", and after them "
	    "rail=, gbps=, pod= or up=: not \"%.40s\"",
	    word);
}

/* Changes text. */
static int
topology_read_line(struct topology *t, char *text, struct err *err)
{
	struct line l = { .t = t };
	char *save, *name, *nodes, *word;
	struct hostlist hl = { 0 };
	int rc;

	text[strcspn(text, "#\r")] = '\0';
	name = strtok_r(text, " \t", &save);
	if (name == NULL)
		return 0;
	nodes = strtok_r(NULL, " \t", &save);
	if (nodes == NULL)
		return err_set(err, -EINVAL,
		    "expected LEAF NODES, such as \"leaf1 n[001-040]\"");
	rc = topology_add_switch(t, name, &l.at, err);
	while (rc == 0 && (word = strtok_r(NULL, " \t", &save)) != NULL)
		rc = topology_read_word(&l, word, err);
	if (rc == 0 && strcmp(nodes, "-") != 0)
		rc = hostlist_parse(nodes, &hl, err);
	for (size_t i = 0; rc == 0 && i < hl.count; i++) {
		struct topology_link link = { .leaf = l.at,
			.rail = l.rail,
			.gbps = l.gbps };

		rc = topology_add_node(t, hl.names[i], &link.node, err);
		if (rc == 0)
			rc = topology_add_link(t, &link, err);
	}
	hostlist_clear(&hl);
	return rc;
}

int
topology_read(char *text, const char *name, struct topology **ret,
    struct err *err)
{
	struct topology *t = topology_new();
	struct err reason;
	int lineno = 0, rc = 0;
	char *line;

	while (rc == 0 && (line = str_line(&text)) != NULL) {
		lineno++;
		rc = topology_read_line(t, line, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, lineno, reason.text);
	}
	if (rc < 0)
		topology_free(t);
	else
		*ret = t;
	return rc;
}

/* ---- the file, written ---- */

/* Switches in the order of lines, and what follows on theirs. */
struct place {
	const char *name;
	int tier;
	uint32_t at;
};

static int
topology_place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->tier != y->tier ? x->tier - y->tier
				  : hostlist_compare(x->name, y->name);
}

/* A link of either kind: those that differ in their names alone stand in one
 * list. */
struct end {
	uint32_t at; /* the switch that has the line */
	uint32_t count;
	int rail;
	double gbps;
	const char *name; /* of the other end */
};

static int
topology_end_order(const struct end *x, const struct end *y)
{
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->rail != y->rail)
		return x->rail - y->rail;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->gbps == y->gbps ? 0 : x->gbps < y->gbps ? -1 : 1;
}

static int
topology_end_compare(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int order = topology_end_order(x, y);

	return order != 0 ? order : hostlist_compare(x->name, y->name);
}

/* Names of the ends from *at that stand in one list, which *at is moved
 * behind; the caller frees. */
static char *
topology_ends_fold(const struct end *ends, size_t count, size_t *at)
{
	const char **names = NULL;
	size_t from = *at, n = 0;
	char *text;

	while (
	    *at < count && topology_end_order(&ends[from], &ends[*at]) == 0) {
		names = xmore(names, n, sizeof(*names));
		names[n++] = ends[(*at)++].name;
	}
	text = hostlist_format(names, n);
	free(names);
	return text;
}

static void
topology_write_more(const struct topology *t, uint32_t at,
    const struct end *ups, size_t count, struct strbuf *to)
{
	if (t->switches[at].pod != NULL)
		strbuf_addf(to, " pod=%s", t->switches[at].pod);
	for (size_t i = 0; i < count && ups[i].at == at;) {
		const struct end *first = &ups[i];
		char *list = topology_ends_fold(ups, count, &i);

		strbuf_addf(to, " up=%s", list);
		if (first->count > 1)
			strbuf_addf(to, "*%u", first->count);
		if (first->gbps > 0)
			strbuf_addf(to, "@%g", first->gbps);
		free(list);
	}
}

/* Where the ends of each switch begin; sorts them. */
static uint32_t *
topology_ends_index(const struct topology *t, struct end *ends, size_t count)
{
	uint32_t *from = xcalloc(t->switch_count + 1, sizeof(*from));

	qsort(ends, count, sizeof(*ends), topology_end_compare);
	for (size_t i = 0; i < t->switch_count; i++)
		from[i] = (uint32_t)count;
	for (size_t i = count; i-- > 0;)
		from[ends[i].at] = (uint32_t)i;
	return from;
}

static void
topology_write_switch(const struct topology *t, uint32_t at,
    const struct end *down, size_t down_count, struct strbuf *to)
{
	if (down_count == 0 || down[0].at != at)
		strbuf_addf(to, "%s -", t->switches[at].name);
	for (size_t i = 0; i < down_count && down[i].at == at;) {
		const struct end *first = &down[i];
		char *list = topology_ends_fold(down, down_count, &i);

		strbuf_addf(to, "%s%s %s", first == down ? "" : "\n",
		    t->switches[at].name, list);
		if (first->rail > 0 || (i < down_count && down[i].at == at))
			strbuf_addf(to, " rail=%d", first->rail);
		if (first->gbps > 0)
			strbuf_addf(to, " gbps=%g", first->gbps);
		free(list);
	}
}

char *
topology_write(const struct topology *t)
{
	struct place *places = xcalloc(t->switch_count + 1, sizeof(*places));
	struct end *down = xcalloc(t->link_count + 1, sizeof(*down));
	struct end *up = xcalloc(t->up_count + 1, sizeof(*up));
	int *tier = topology_tiers(t);
	struct strbuf sb = { 0 };
	uint32_t *down_from, *up_from;

	for (size_t i = 0; i < t->switch_count; i++)
		places[i] = (struct place){ t->switches[i].name, tier[i],
			(uint32_t)i };
	qsort(places, t->switch_count, sizeof(*places), topology_place_compare);
	for (size_t i = 0; i < t->link_count; i++) {
		const struct topology_link *l = &t->links[i];

		down[i] = (struct end){ l->leaf, 1, l->rail, l->gbps,
			t->nodes[l->node].name };
	}
	for (size_t i = 0; i < t->up_count; i++) {
		const struct topology_up *u = &t->ups[i];

		up[i] = (struct end){ u->lower, u->count, 0, u->gbps,
			t->switches[u->upper].name };
	}
	down_from = topology_ends_index(t, down, t->link_count);
	up_from = topology_ends_index(t, up, t->up_count);
	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < t->switch_count; i++) {
		uint32_t at = places[i].at, d = down_from[at], u = up_from[at];

		topology_write_switch(t, at, down + d, t->link_count - d, &sb);
		topology_write_more(t, at, up + u, t->up_count - u, &sb);
		strbuf_add(&sb, "\n", 1);
	}
	free(down_from);
	free(up_from);
	free(tier);
	free(up);
	free(down);
	free(places);
	return sb.text;
}
