/* SPDX-License-Identifier: Apache-2.0 */
/*
 * court_mesh.c - epochs of the agents' mesh as rounds of judges: how long
 * echoes take, and how many are lost, within leaves and between them.
 *
 * Slow echoes make a suspect like any other, for a second pass to look at. A
 * canary of MPI does not see a lost datagram, so of losses the mesh itself is
 * the second look: within its leaf and to others, in rounds of their own.
 */
#include <string.h>

#include "common/str.h"
#include "daemon/court_int.h"
#include "daemon/judge/loss.h"
#include "daemon/member.h"
#include "daemon/roster.h"

static const struct court_sort mesh_sorts[] = {
	{ "echo-leaf", "s", 0, 0 },
	{ "echo-spine", "s", 0, 0 },
	{ "loss-leaf", "s", 0, 1 },
	{ "loss-spine", "s", 0, 1 },
	{ "predicted", "1", 1, 0 },
};

struct court_sort
court_sort(int sort)
{
	struct court_sort row;

	if (sort >= TEST_MAX)
		return mesh_sorts[sort - TEST_MAX];
	row.name = names_tests[sort].name;
	row.unit = names_tests[sort].unit;
	row.is_rate = strcmp(row.unit, "s") != 0;
	row.is_loss = 0;
	return row;
}

int
court_sort_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(mesh_sorts); i++)
		if (strcmp(mesh_sorts[i].name, name) == 0)
			return TEST_MAX + (int)i;
	return names_test_find(name);
}

void
court_mesh(struct court *c, const json_t *record)
{
	/* Its second passes are as the last canaries were. */
	struct court_source from = { member_text(record, "run"), "mesh",
		COURT_MESH_CLASS, c->mpi, c->launcher, c->slurm };
	int class = mesh_class_find(member_text(record, "test"));

	if (class < 0)
		return;
	court_hear(c, &from, record, COURT_ECHO_LEAF + class);
	court_hear(c, &from, record, COURT_LOSS_LEAF + class);
	court_mesh_conclude(c);
}

/* How a place or leaf is in the rounds of a sort: suspect 1, not 0, too little
 * is known -1. */
static int
is_suspect(struct court *c, const struct court_case *k, int sort)
{
	struct court_series *s = court_series_of(c, COURT_MESH_CLASS, sort,
	    PARTNERS_RING);
	const struct judge_track *t = s == NULL
	    ? NULL
	    : judge_track(s->judge, k->kind, k->index);

	if (t == NULL || t->known < c->o.judge.votes)
		return -1;
	return t->state >= JUDGE_SUSPECT;
}

static void
conclude(struct court *c, struct court_case *k)
{
	enum confirm_finding f = loss_finding(k->kind,
	    is_suspect(c, k, COURT_LOSS_LEAF),
	    is_suspect(c, k, COURT_LOSS_SPINE));

	if (f == CONFIRM_UNCLEAR || (k->passed && k->finding == f))
		return;
	k->passed = 1;
	k->finding = f;
	k->what = words_what_found(f);
	k->verdict = VERDICT_BAD;
	court_case_write(c, k);
	court_case_tell(c, k);
}

void
court_mesh_conclude(struct court *c)
{
	struct court_case *k;

	TAILQ_FOREACH (k, &c->cases, link)
		if (court_sort(k->series->sort).is_loss &&
		    k->what != WORDS_HOST)
			conclude(c, k);
}
