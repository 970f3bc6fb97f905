/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis_mesh.c - epochs of the agents' mesh as rounds of judges: how long
 * echoes take, and how many are lost, within leaves and between them.
 *
 * Slow echoes make a suspect like any other, for a second pass to look at. A
 * canary of MPI does not see a lost datagram, so of losses the mesh itself is
 * the second look: within its leaf and to others, in rounds of their own.
 */
#include <string.h>

#include "common/str.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/judge/loss.h"
#include "common/member.h"
#include "daemon/cluster/roster.h"

static const struct series_kind mesh_sorts[] = {
	{ "echo-leaf", "s", 0, 0 },
	{ "echo-spine", "s", 0, 0 },
	{ "loss-leaf", "s", 0, 1 },
	{ "loss-spine", "s", 0, 1 },
	{ "predicted", "1", 1, 0 },
};

struct series_kind
series_kind(int sort)
{
	struct series_kind row;

	if (sort >= CANARY_MAX)
		return mesh_sorts[sort - CANARY_MAX];
	row.name = names_tests[sort].name;
	row.unit = names_tests[sort].unit;
	row.is_rate = strcmp(row.unit, "s") != 0;
	row.is_loss = 0;
	return row;
}

int
series_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(mesh_sorts); i++)
		if (strcmp(mesh_sorts[i].name, name) == 0)
			return CANARY_MAX + (int)i;
	return names_test_find(name);
}

void
diagnosis_mesh(struct diagnosis *c, const json_t *record)
{
	/* Its second passes are as the last canaries were. */
	struct diagnosis_source from = { member_text(record, "run"), "mesh",
		DIAGNOSIS_MESH_CLASS, c->mpi, c->launcher, c->slurm };
	int class = mesh_class_find(member_text(record, "test"));

	if (class < 0)
		return;
	diagnosis_hear(c, &from, record, DIAGNOSIS_ECHO_LEAF + class);
	diagnosis_hear(c, &from, record, DIAGNOSIS_LOSS_LEAF + class);
	mesh_evidence_conclude(c);
}

/* How a place or leaf is in the rounds of a sort: suspect 1, not 0, too little
 * is known -1. */
static int
is_suspect(struct diagnosis *c, const struct incident *k, int sort)
{
	struct diagnosis_series *s = diagnosis_series_of(c,
	    DIAGNOSIS_MESH_CLASS, sort, PARTNERS_RING);
	const struct judge_track *t = s == NULL
	    ? NULL
	    : judge_track(s->judge, k->kind, k->index);

	if (t == NULL || t->known < c->o.judge.votes)
		return -1;
	return t->state >= JUDGE_SUSPECT;
}

static void
conclude(struct diagnosis *c, struct incident *k)
{
	enum confirm_finding f = loss_finding(k->kind,
	    is_suspect(c, k, DIAGNOSIS_LOSS_LEAF),
	    is_suspect(c, k, DIAGNOSIS_LOSS_SPINE));

	if (f == CONFIRM_UNCLEAR || (k->passed && k->finding == f))
		return;
	k->passed = 1;
	k->finding = f;
	k->what = verdict_text_what_found(f);
	k->verdict = VERDICT_BAD;
	incident_write(c, k);
	incident_tell(c, k);
}

void
mesh_evidence_conclude(struct diagnosis *c)
{
	struct incident *k;

	TAILQ_FOREACH (k, &c->cases, link)
		if (series_kind(k->series->sort).is_loss &&
		    k->what != WHAT_HOST)
			conclude(c, k);
}
