/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - series of rounds: find or create one, and the room for what is
 * learned from its rounds.
 */
#include "daemon/diagnosis/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/spines.h"

#define PATHS_K 1.0 /* one bad uplink of many is two deviations or more */

static const struct series_kind mesh_sorts[] = {
	/* An echo is not an MPI message: it waits for a core at both ends. */
	{ "echo-leaf", "s", 0, 0, 100e-6 },
	{ "echo-spine", "s", 0, 0, 100e-6 },
	{ "loss-leaf", "s", 0, 1, 0 },
	{ "loss-spine", "s", 0, 1, 0 },
};

struct series_kind
series_kind(int sort)
{
	struct series_kind row = { .unit = "1" };

	if (sort >= SERIES_FACT) {
		row.name = names_whats[sort - SERIES_FACT].test;
		return row;
	}
	if (sort >= CANARY_MAX)
		return mesh_sorts[sort - CANARY_MAX];
	row.name = names_tests[sort].name;
	row.unit = names_tests[sort].unit;
	row.is_rate = strcmp(row.unit, "s") != 0;
	return row;
}

int
series_kind_find(const char *name)
{
	for (int i = CANARY_MAX; i < SERIES_KIND_MAX; i++) {
		const char *other = series_kind(i).name;

		if (other != NULL && strcmp(other, name) == 0)
			return i;
	}
	return STR_FIND(names_tests, name);
}

/* Return the partners of a stored series or incident; the default is a ring. */
static int
series_partners(const json_t *object)
{
	int i = STR_FIND(names_partners, member_text(object, "partners"));

	return i < 0 ? PARTNERS_RING : i;
}

struct diagnosis_series *
diagnosis_series_of(struct diagnosis *d, const char *class, int sort,
    int partners)
{
	return diagnosis_series_at(d,
	    &(struct diagnosis_series_key){ class, sort, partners, "", "", 0 });
}

struct diagnosis_series *
series_fact(struct diagnosis *d, enum what what)
{
	return diagnosis_series_of(d, "", SERIES_FACT + (int)what,
	    PARTNERS_PAIR);
}

struct diagnosis_series *
diagnosis_series_stored(struct diagnosis *d, const json_t *o)
{
	int sort = series_kind_find(member_text(o, "test"));

	return sort < 0
	    ? NULL
	    : diagnosis_series_at(d,
		  &(struct diagnosis_series_key){ member_text(o, "class"), sort,
		      series_partners(o), member_text(o, "rail"),
		      member_text(o, "device"),
		      (uint32_t)member_unsigned(o, "bytes") });
}

struct diagnosis_series *
diagnosis_series_at(struct diagnosis *d, const struct diagnosis_series_key *key)
{
	struct diagnosis_series *s;
	size_t rails = 0;

	for (size_t i = 0; i < d->series_count; i++) {
		s = &d->series[i];
		if (s->sort == key->sort && s->partners == key->partners &&
		    s->bytes == key->bytes &&
		    strcmp(s->class, key->class) == 0 &&
		    strcmp(s->rail, key->rail) == 0 &&
		    strcmp(s->device, key->device) == 0)
			return s;
	}
	for (size_t i = 0; i < d->series_count; i++)
		rails += d->series[i].rail[0] != '\0';
	/* Rails are counted separately, so that each test always gets its own
	 * rounds. */
	if ((key->rail[0] != '\0'
		    ? rails == SERIES_RAILS
		    : d->series_count - rails == SERIES_MAX - SERIES_RAILS) ||
	    strlen(key->class) >= sizeof(s->class) ||
	    strlen(key->rail) >= sizeof(s->rail) ||
	    strlen(key->device) >= sizeof(s->device))
		return NULL;
	s = &d->series[d->series_count++];
	snprintf(s->class, sizeof(s->class), "%s", key->class);
	s->sort = key->sort;
	s->partners = key->partners;
	snprintf(s->rail, sizeof(s->rail), "%s", key->rail);
	snprintf(s->device, sizeof(s->device), "%s", key->device);
	s->bytes = key->bytes;
	s->judge = judge_new(&d->o.judge);
	series_fleet_begin(s);
	rhythm_clear(&s->rhythm);
	return s;
}

void
series_fleet_begin(struct diagnosis_series *s)
{
	double level = s->fleet.level;

	drift_clear(&s->fleet);
	s->fleet.level = level;
	s->fleet.by_wander = 1;
}

struct drift *
series_drift_need(struct diagnosis_series *s, uint32_t node)
{
	if (node >= s->drift_count) {
		size_t want = node + node / 2 + (size_t)16;

		s->drifts = xreallocarray(s->drifts, want, sizeof(*s->drifts));
		while (s->drift_count < want) {
			drift_clear(&s->drifts[s->drift_count]);
			s->drifts[s->drift_count++].by_wander = 1;
		}
	}
	return &s->drifts[node];
}

struct member_sum *
series_member(struct diagnosis_series *s, uint32_t node)
{
	while (s->members_count <= node) {
		s->members = xreallocarray(s->members, s->members_count + 64,
		    sizeof(*s->members));
		memset(&s->members[s->members_count], 0,
		    64 * sizeof(*s->members));
		s->members_count += 64;
	}
	return &s->members[node];
}

void
series_room(struct diagnosis *d, struct diagnosis_series *s, uint32_t leaves)
{
	double **const all_of[] = { &s->paths_now, &s->busy_now, &s->jobs_slow,
		&s->jobs_busy };

	spines_room(d, s);
	if (s->paths_count >= leaves)
		return;
	for (size_t i = 0; i < ARRAY_LEN(all_of); i++)
		*all_of[i] = xreallocarray(*all_of[i], leaves,
		    sizeof(**all_of[i]));
	s->paths = xreallocarray(s->paths, leaves, sizeof(*s->paths));
	for (; s->paths_count < leaves; s->paths_count++) {
		for (size_t i = 0; i < ARRAY_LEN(all_of); i++)
			(*all_of[i])[s->paths_count] = 0;
		drift_clear(&s->paths[s->paths_count]);
		s->paths[s->paths_count].k = PATHS_K;
	}
}

void
series_forget_paths(struct diagnosis_series *s, enum judge_kind kind,
    uint32_t index)
{
	struct drift *of = kind == JUDGE_LEAF && index < s->paths_count
	    ? &s->paths[index]
	    : kind == JUDGE_STAGE && index < s->stages_count ? &s->stages[index]
							     : NULL;

	if (of != NULL)
		drift_forget(of);
	else if (kind == JUDGE_NODE && index < s->members_count)
		memset(&s->members[index], 0, sizeof(*s->members));
}

void
diagnosis_forget_paths(struct diagnosis *d, enum judge_kind kind,
    uint32_t index)
{
	for (size_t i = 0; i < d->series_count; i++)
		series_forget_paths(&d->series[i], kind, index);
}

const struct drift *
series_drift_of(const struct diagnosis_series *s, uint32_t node)
{
	return node < s->drift_count ? &s->drifts[node] : NULL;
}

void
diagnosis_series_free(struct diagnosis *d)
{
	for (size_t i = 0; i < d->series_count; i++) {
		struct diagnosis_series *s = &d->series[i];

		judge_free(s->judge);
		free(s->drifts);
		free(s->paths);
		free(s->paths_now);
		free(s->members);
		free(s->busy_now);
		free(s->jobs_slow);
		free(s->jobs_busy);
		free(s->stages);
	}
}
