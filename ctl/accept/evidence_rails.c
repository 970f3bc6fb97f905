/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_rails.c - rates of rails, as evidence for each rail of each node and
 * for each plane.
 */
#include "ctl/accept/evidence_rails.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/robust.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/promise.h"

/* ---- parts and paths ---- */

size_t
evidence_ring_path(size_t n, size_t a, size_t b)
{
	size_t lo = a < b ? a : b, hi = a < b ? b : a;

	if (hi == lo + 1)
		return lo;
	return lo == 0 && hi == n - 1 && n > 2 ? n - 1 : EVIDENCE_NO_PATH;
}

void
evidence_rails_connect(struct evidence *e)
{
	size_t n = e->nodes.count, ring = e->paths_of[EVIDENCE_NODES].count;
	struct evidence_span rails = e->parts_of[EVIDENCE_RAILS];
	struct evidence_span planes = e->parts_of[EVIDENCE_PLANES];
	char **names = xcalloc(rails.count + planes.count + 1, sizeof(*names));
	struct accept_path *p = &e->paths[e->paths_of[EVIDENCE_RAILS].first];

	e->rail_names.names = names;
	for (size_t r = 0; r < e->rails; r++)
		for (size_t i = 0; i < n; i++)
			names[e->rail_names.count++] = xasprintf("%s.rail%zu",
			    e->nodes.names[i], r);
	for (size_t r = 0; r < e->rails; r++)
		names[e->rail_names.count++] = xasprintf("plane %zu", r);
	for (size_t r = 0; r < e->rails; r++)
		for (size_t i = 0; i < ring; i++, p++) {
			p->part_count = 0;
			p->parts[p->part_count++] = (uint32_t)(rails.first +
			    r * n + i);
			p->parts[p->part_count++] = (uint32_t)(rails.first +
			    r * n + (i + 1) % n);
			p->parts[p->part_count++] = (uint32_t)(planes.first +
			    r);
		}
	/* The typical path of a plane does not decide alone:
	 * evidence_rails_planes_judge uses it. */
	for (size_t r = 0; r < e->rails; r++)
		e->paths[e->paths_of[EVIDENCE_PLANES].first + r].part_count = 0;
}

/* ---- records ---- */

/* The nodes of a rail are in the order of ranks, so that the next one mostly
 * follows. */
static size_t
evidence_rails_find(const struct hostlist *nodes, const char *name,
    size_t expected)
{
	for (size_t i = 0; i < nodes->count; i++) {
		size_t at = (expected + i) % nodes->count;

		if (strcmp(nodes->names[at], name) == 0)
			return at;
	}
	return nodes->count;
}

/* By node: the path on which a record has it, from 0. The caller frees it. */
static size_t *
evidence_rails_paths(const struct evidence *e, const json_t *record)
{
	size_t n = e->nodes.count, *ret = xcalloc(n + 1, sizeof(*ret)), i;
	size_t at = 0, with;
	const json_t *o;

	for (i = 0; i < n; i++)
		ret[i] = EVIDENCE_NO_PATH;
	member_foreach (record, "nodes", i, o) {
		at = evidence_rails_find(&e->nodes, member_text(o, "node"), at);
		/* The partner is the node before or after this one. */
		with = evidence_rails_find(&e->nodes, member_text(o, "partner"),
		    at + n - 1);
		if (at < n && with < n && at != with)
			ret[at] = evidence_ring_path(n, at, with);
	}
	return ret;
}

/* The time of each path of a record, rail by rail, which the caller frees; NAN:
 * not listed. *ret_typical_s is the time of typical rails, listed or not. */
static double *
evidence_rails_times(const struct evidence *e, const json_t *record,
    double bytes, double *ret_typical_s)
{
	size_t ring = e->paths_of[EVIDENCE_NODES].count, i, k, at = 0;
	double *ret = xcalloc(e->rails * ring + 1, sizeof(*ret)), *s;
	size_t *paths = evidence_rails_paths(e, record);
	const json_t *rail, *lane;

	*ret_typical_s = NAN;
	for (i = 0; i < e->rails * ring; i++)
		ret[i] = NAN;
	member_foreach (record, "rails", i, rail) {
		size_t r = (size_t)member_unsigned(rail, "rail");

		member_foreach (rail, "nodes", k, lane) {
			double per_s = member_number(lane, "bandwidth");

			at = evidence_rails_find(&e->nodes,
			    member_text(lane, "node"), at);
			if (r >= e->rails || at == e->nodes.count ||
			    paths[at] == EVIDENCE_NO_PATH || !(per_s > 0))
				continue;
			s = &ret[r * ring + paths[at]];
			*s = fmax(*s, bytes / per_s);
			*ret_typical_s = bytes / per_s *
			    member_number(lane, "ratio");
		}
	}
	free(paths);
	return ret;
}

/* The measurement of a path from its times for both messages; NAN: a record
 * does not list it; -INFINITY: a disturbed run. */
static double
evidence_rails_measure(double log_expected, double small_s, double large_s)
{
	if (large_s <= small_s)
		return -INFINITY;
	return log_expected - log(large_s - small_s);
}

/* Add the measurements of one run on a rail. met: the paths of the run. */
static void
evidence_rails_add_one(struct evidence *e, size_t rail, const char *met,
    const double *x, const double *doubt)
{
	size_t ring = e->paths_of[EVIDENCE_NODES].count, n = 0, count = 0;
	struct accept_path *p =
	    &e->paths[e->paths_of[EVIDENCE_RAILS].first + rail * ring];
	double *all = xcalloc(ring + 1, sizeof(*all));

	for (size_t i = 0; i < ring; i++) {
		if (!met[i] || x[i] == -INFINITY)
			continue;
		accept_path_add(&p[i], x[i], doubt[i], &count);
		/* The rails that are not listed are faster. */
		all[n++] = isnan(x[i]) ? INFINITY : x[i];
		e->rails_cut |= isnan(x[i]);
	}
	accept_path_add(&e->paths[e->paths_of[EVIDENCE_PLANES].first + rail],
	    robust_median(all, n), 0, &count);
	free(all);
}

void
evidence_rails_add(struct evidence *e, double nic_per_s, const json_t *sizes,
    const json_t *const records[2], const double *doubt)
{
	size_t ring = e->paths_of[EVIDENCE_NODES].count;
	size_t *paths = evidence_rails_paths(e, records[1]);
	double bytes[2], typical_s[2], *s[2], log_expected;
	char *met = xcalloc(ring + 1, sizeof(*met));

	for (size_t k = 0; k < 2; k++) {
		bytes[k] = json_number_value(json_array_get(sizes, k));
		s[k] = evidence_rails_times(e, records[k], bytes[k],
		    &typical_s[k]);
	}
	for (size_t i = 0; i < e->nodes.count; i++)
		if (paths[i] != EVIDENCE_NO_PATH)
			met[paths[i]] = 1;
	/* Without mpi.nics, records list no rail. */
	if (bytes[1] > bytes[0] && typical_s[1] > typical_s[0] &&
	    e->rails_runs < ARRAY_LEN(e->rails_typical)) {
		log_expected = log((bytes[1] - bytes[0]) / nic_per_s);
		e->rails_seen = 1;
		e->rails_typical[e->rails_runs++] =
		    evidence_rails_measure(log_expected, typical_s[0],
			typical_s[1]);
		for (size_t i = 0; i < e->rails * ring; i++)
			s[1][i] = evidence_rails_measure(log_expected, s[0][i],
			    s[1][i]);
		for (size_t r = 0; r < e->rails; r++)
			evidence_rails_add_one(e, r, met, s[1] + r * ring,
			    doubt);
	}
	free(s[0]);
	free(s[1]);
	free(met);
	free(paths);
}

/* ---- results ---- */

/* If the lists are cut, a rail is listed only in the runs in which it was slow:
 * its measurements are a selection. One that is always listed is slow. */
static void
evidence_rails_select(struct evidence *e)
{
	size_t ring = e->paths_of[EVIDENCE_NODES].count;
	struct evidence_span rails = e->paths_of[EVIDENCE_RAILS];

	for (size_t i = 0; i < rails.count; i++) {
		struct accept_path *p = &e->paths[rails.first + i];

		if (p->n >=
		    e->paths[e->paths_of[EVIDENCE_NODES].first + i % ring].n)
			continue;
		p->n = 0;
		p->doubt = 0;
	}
}

/* Judge planes by the states of their paths. */
static void
evidence_rails_planes_judge(struct evidence *e)
{
	const struct accept_path *typical =
	    &e->paths[e->paths_of[EVIDENCE_PLANES].first];
	struct accept_part *planes =
	    &e->parts[e->parts_of[EVIDENCE_PLANES].first];

	for (size_t r = 0; r < e->rails; r++)
		if (planes[r].state == ACCEPT_HOLDS)
			continue;
		else if (typical[r].state == ACCEPT_HOLDS)
			planes[r].state = ACCEPT_HOLDS;
		else if (typical[r].state == ACCEPT_FAILS &&
		    e->nodes.count >= EVIDENCE_PLANE_NODES &&
		    2 * planes[r].slow > e->paths_of[EVIDENCE_NODES].count)
			planes[r].state = ACCEPT_FAILS;
}

struct evidence_slow
evidence_rails_judge(struct evidence *e)
{
	struct evidence_span rails = e->paths_of[EVIDENCE_RAILS];
	struct evidence_span planes = e->paths_of[EVIDENCE_PLANES];
	struct evidence_slow ret = { 0, 0 };
	double typical;

	if (!e->rails_seen)
		return ret;
	if (e->rails_cut)
		evidence_rails_select(e);
	typical = e->rails_cut ? robust_median(e->rails_typical, e->rails_runs)
			       : accept_typical(e->paths, e->path_count,
				     EVIDENCE_RAILS, PROMISE_EXPECTED);
	accept_shift(e->paths, e->path_count, EVIDENCE_RAILS, typical);
	accept_shift(e->paths, e->path_count, EVIDENCE_PLANES, typical);
	accept_judge(&e->options, &e->paths[rails.first],
	    rails.count + planes.count, e->parts, e->part_count);
	evidence_rails_planes_judge(e);
	for (size_t r = 0; r < e->rails; r++) {
		const struct accept_part *plane =
		    &e->parts[e->parts_of[EVIDENCE_PLANES].first + r];

		if (plane->state == ACCEPT_FAILS)
			ret.fails = fmin(ret.fails,
			    log(e->paths[planes.first + r].value));
		else if (plane->state == ACCEPT_OPEN && plane->paths > 0 &&
		    (!e->rails_cut ||
			plane->paths == e->paths_of[EVIDENCE_NODES].count))
			ret.open = fmin(ret.open, log(plane->value));
	}
	ret.open = fmin(0, ret.open - ret.fails);
	return ret;
}

/* A plane has the value of its typical path, unless that is slow because of a
 * few rails. */
static void
evidence_rails_plane_value(struct accept_part *plane,
    const struct accept_path *p)
{
	if (p->n == 0 ||
	    (plane->state == ACCEPT_HOLDS && p->state != ACCEPT_HOLDS))
		return;
	plane->value = p->value;
	plane->lo = p->lo;
	plane->hi = p->hi;
}

/* A node is as slow as its slowest rail. So a rail whose paths are not all
 * listed holds if its node does, and its plane does. */
static void
evidence_rails_hold(struct evidence *e, size_t rail)
{
	struct accept_part *plane =
	    &e->parts[e->parts_of[EVIDENCE_PLANES].first + rail];
	struct accept_part *rails =
	    &e->parts[e->parts_of[EVIDENCE_RAILS].first +
		rail * e->nodes.count];

	for (size_t i = 0; i < e->nodes.count; i++) {
		if (e->parts[i].state != ACCEPT_HOLDS)
			continue;
		if (rails[i].state == ACCEPT_OPEN &&
		    rails[i].paths < e->parts[i].paths)
			rails[i].state = ACCEPT_HOLDS;
		if (plane->state == ACCEPT_OPEN &&
		    plane->paths < e->paths_of[EVIDENCE_NODES].count)
			plane->state = ACCEPT_HOLDS;
	}
}

void
evidence_rails_finish(struct evidence *e)
{
	struct evidence_span rails = e->paths_of[EVIDENCE_RAILS];
	struct evidence_span planes = e->paths_of[EVIDENCE_PLANES];

	if (!e->rails_seen)
		return;
	evidence_rails_planes_judge(e);
	for (size_t r = 0; r < e->rails; r++) {
		if (e->rails_cut)
			evidence_rails_hold(e, r);
		evidence_rails_plane_value(
		    &e->parts[e->parts_of[EVIDENCE_PLANES].first + r],
		    &e->paths[planes.first + r]);
	}
	accept_blame(&e->paths[rails.first], rails.count, e->parts);
}

static int
evidence_rails_class_settled(const struct evidence *e,
    enum evidence_class class)
{
	struct evidence_span parts = e->parts_of[class];
	struct evidence_span paths = e->paths_of[class];
	size_t parts_open = 0, paths_open = 0;

	for (size_t i = parts.first; i < parts.first + parts.count; i++)
		parts_open += e->parts[i].state == ACCEPT_OPEN &&
		    e->parts[i].paths > 0;
	for (size_t i = paths.first; i < paths.first + paths.count; i++)
		paths_open += e->paths[i].state == ACCEPT_OPEN &&
		    e->paths[i].n > 0;
	return parts_open == 0 || paths_open == 0;
}

int
evidence_rails_settled(const struct evidence *e)
{
	return evidence_rails_class_settled(e, EVIDENCE_RAILS) &&
	    evidence_rails_class_settled(e, EVIDENCE_PLANES);
}
