/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/series/deliver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/member.h"

#define RAIL_MAX 65535
#define KEY_MAX  512

static const char *const patterns[] = { "rail", "asymmetric", "symmetric" };
static const char *const directions[] = { "out", "in", "bi", "omni" };

/* A record's words become labels: only those that we know. */
static const char *
known(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], word) == 0)
			return words[i];
	return NULL;
}

/* Is a record of this run and size newer than what is kept? A sweep is one
 * run, of which the largest message counts. */
static int
supersedes(const json_t *record, char run[RECORD_RUN_MAX + 1], double *bytes)
{
	double size = member_number(record, "bytes");
	const char *name = member_text(record, "run");

	if (strcmp(run, name) == 0 && !(size >= *bytes))
		return 0;
	snprintf(run, RECORD_RUN_MAX + 1, "%s", name);
	*bytes = size;
	return 1;
}

/* ---- groups and stripes ---- */

static struct deliver_group *
group_row(struct deliver_groups *of, const struct deliver_group *key)
{
	struct deliver_group *g;

	for (size_t i = 0; i < of->count; i++) {
		g = &of->rows[i];
		if (g->pattern == key->pattern &&
		    g->direction == key->direction && g->k == key->k &&
		    g->groups == key->groups)
			return g;
	}
	if (of->count == DELIVER_GROUPS_MAX)
		return NULL;
	g = &of->rows[of->count++];
	*g = *key;
	return g;
}

/* A row of its own; 0 where the record has none. */
static int
group_read(const json_t *record, struct deliver_group *ret)
{
	double k = member_number(record, "k");

	*ret = (struct deliver_group){
		.pattern = known(patterns, ARRAY_LEN(patterns),
		    member_text(record, "pattern")),
		.direction = known(directions, ARRAY_LEN(directions),
		    member_text(record, "direction")),
	};
	if (ret->pattern == NULL || ret->direction == NULL ||
	    !(k >= 1 && k <= RAIL_MAX))
		return 0;
	ret->k = (int)k;
	return 1;
}

static void
put_group(struct deliver_groups *of, const struct deliver_group *key,
    const json_t *record, double per_s, double share)
{
	struct deliver_group *g;

	if (!isfinite(per_s))
		return;
	g = group_row(of, key);
	if (g == NULL || !supersedes(record, g->run, &g->bytes))
		return;
	g->per_s = per_s;
	g->share = share;
}

/* As a whole, and through its busiest node by how many groups there are. */
static void
take_group(struct deliver *d, const json_t *record)
{
	const json_t *bandwidth = json_object_get(record, "bandwidth");
	double groups = member_number(record, "groups");
	struct deliver_group key;

	if (!group_read(record, &key))
		return;
	put_group(&d->groups, &key, record,
	    member_number(bandwidth, "median_middle"), NAN);
	if (!(groups >= 2 && groups <= RAIL_MAX))
		return;
	key.groups = (int)groups;
	put_group(&d->scales, &key, record,
	    member_number(record, "node_bandwidth"),
	    member_number(record, "rated_ratio"));
}

static struct deliver_stripe *
stripe_row(struct deliver *d, const char *via, int g)
{
	struct deliver_stripe *s;

	for (size_t i = 0; i < d->stripes_count; i++) {
		s = &d->stripes[i];
		if (strcmp(s->via, via) == 0 && s->g == g)
			return s;
	}
	if (d->stripes_count == DELIVER_STRIPES_MAX ||
	    strlen(via) >= sizeof(s->via) ||
	    via[strspn(via, "abcdefghijklmnopqrstuvwxyz+-")] != '\0')
		return NULL;
	s = &d->stripes[d->stripes_count++];
	*s = (struct deliver_stripe){ .g = g };
	memcpy(s->via, via, strlen(via) + 1);
	return s;
}

static void
take_stripe(struct deliver *d, const json_t *record)
{
	double efficiency = member_number(record, "efficiency");
	double g = member_number(record, "g");
	struct deliver_stripe *s;

	if (!isfinite(efficiency) || !(g >= 1 && g <= RAIL_MAX))
		return;
	s = stripe_row(d, member_text(record, "via"), (int)g);
	if (s != NULL && supersedes(record, s->run, &s->bytes))
		s->efficiency = efficiency;
}

/* ---- patterns ---- */

/* Names of files become labels. */
static int
is_plain(const char *name)
{
	return name[0] != '\0' && strlen(name) < DELIVER_PATTERN_BYTES &&
	    name[strspn(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._-")] == '\0';
}

static struct deliver_sparse *
sparse_row(struct deliver *d, const char *pattern, const char *scope,
    int stripes)
{
	struct deliver_sparse *s;

	for (size_t i = 0; i < d->sparse_count; i++) {
		s = &d->sparse[i];
		if (strcmp(s->pattern, pattern) == 0 && s->scope == scope &&
		    s->stripes == stripes)
			return s;
	}
	if (d->sparse_count == DELIVER_SPARSE_MAX)
		return NULL;
	s = &d->sparse[d->sparse_count++];
	*s = (struct deliver_sparse){ .scope = scope, .stripes = stripes };
	memcpy(s->pattern, pattern, strlen(pattern) + 1);
	return s;
}

static void
take_sparse(struct deliver *d, const json_t *record)
{
	static const char *const scopes[] = { "all", "intra", "inter" };
	const char *pattern = member_text(record, "pattern");
	const char *scope = known(scopes, ARRAY_LEN(scopes),
	    member_text(record, "scope"));
	double stripes = member_number(record, "stripes");
	double speedup = member_number(record, "value");
	struct deliver_sparse *s;

	if (!is_plain(pattern) || scope == NULL || !isfinite(speedup) ||
	    !(stripes >= 0 && stripes <= RAIL_MAX))
		return;
	s = sparse_row(d, pattern, scope, (int)stripes);
	if (s != NULL && supersedes(record, s->run, &s->bytes))
		s->speedup = speedup;
}

/* ---- nodes and their rails ---- */

static struct deliver_place *
place_row(struct deliver *d, const char *node, int rail)
{
	char key[KEY_MAX];
	struct deliver_place *p;
	const json_t *at;

	if (hostlist_name_check(node) < 0 ||
	    str_format(key, sizeof(key), "%s %d", node, rail) < 0)
		return NULL;
	if (d->index == NULL)
		d->index = json_object();
	at = json_object_get(d->index, key);
	if (at != NULL)
		return &d->places[json_integer_value(at)];
	if (d->places_count == DELIVER_PLACES_MAX)
		return NULL;
	if (d->places_count == d->places_cap) {
		d->places_cap = d->places_cap * 2 + 64;
		d->places = xreallocarray(d->places, d->places_cap,
		    sizeof(*d->places));
	}
	json_object_set_new(d->index, key,
	    json_integer((json_int_t)d->places_count));
	p = &d->places[d->places_count++];
	*p = (struct deliver_place){ .node = xstrdup(node), .rail = rail };
	return p;
}

static void
take_place(struct deliver *d, const json_t *node, int rail, const char *member)
{
	double ratio = member_number(node, member);
	struct deliver_place *p;

	if (!isfinite(ratio))
		return;
	p = place_row(d, member_text(node, "node"), rail);
	if (p != NULL)
		p->ratio = ratio;
}

static void
take_rails(struct deliver *d, const json_t *record)
{
	json_t *rail, *node;
	size_t i, k;

	json_array_foreach (json_object_get(record, "rails"), i, rail) {
		double number = member_number(rail, "rail");

		if (!(number >= 0 && number <= RAIL_MAX))
			continue;
		json_array_foreach (json_object_get(rail, "nodes"), k, node)
			take_place(d, node, (int)number, "ratio");
	}
}

static void
take_self(struct deliver *d, const json_t *record)
{
	json_t *node;
	size_t i;

	json_array_foreach (json_object_get(record, "nodes"), i, node)
		take_place(d, node, DELIVER_SELF, "memory_ratio");
}

void
deliver_take(struct deliver *d, const json_t *record)
{
	const char *probe = member_text(record, "probe");
	const char *of = member_text(record, "of");

	if (strcmp(probe, "group") == 0 && strcmp(of, "whole") == 0)
		take_group(d, record);
	if (strcmp(probe, "speedup") == 0 && strcmp(of, "sparse") == 0)
		take_sparse(d, record);
	if (strcmp(probe, "self") == 0 && strcmp(of, "whole") == 0)
		take_self(d, record);
	if (strcmp(probe, "fit") == 0)
		take_rails(d, record);
	if (strcmp(probe, "speedup") == 0 && strcmp(of, "stripe") == 0 &&
	    strcmp(member_text(record, "baseline"), "direct") == 0) {
		take_stripe(d, record);
		take_rails(d, record);
	}
}

void
deliver_clear(struct deliver *d)
{
	for (size_t i = 0; i < d->places_count; i++)
		free(d->places[i].node);
	free(d->places);
	json_decref(d->index);
	memset(d, 0, sizeof(*d));
}
