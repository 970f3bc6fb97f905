/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_names.c - raw numbers of array tasks and parts of heterogeneous jobs, and
 * the only one of them on a node.
 */
#include "daemon/jobs/job_names.h"

#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/text.h"
#include "common/xalloc.h"

struct job_names {
	json_t *jobs, *raws;   /* job by raw number, and back */
	json_t *placed, *next; /* job by node; "": several */
};

struct job_names *
job_names_new(void)
{
	struct job_names *n = xcalloc(1, sizeof(*n));

	n->jobs = json_object();
	n->raws = json_object();
	n->placed = json_object();
	n->next = json_object();
	return n;
}

void
job_names_free(struct job_names *n)
{
	if (n == NULL)
		return;
	json_decref(n->jobs);
	json_decref(n->raws);
	json_decref(n->placed);
	json_decref(n->next);
	free(n);
}

void
job_names_set_raw(struct job_names *n, const char *job, const char *raw)
{
	const char *had = member_text(n->raws, job);

	if (strcmp(had, raw) == 0 || strcmp(job, raw) == 0)
		return;
	if (had[0] != '\0')
		json_object_del(n->jobs, had);
	json_object_set_new(n->raws, job, text_json(raw));
	json_object_set_new(n->jobs, raw, text_json(job));
}

void
job_names_place(struct job_names *n, const char *node, const char *job)
{
	if (job[strcspn(job, "_+")] != '\0')
		json_object_set_new(n->next, node,
		    json_object_get(n->next, node) == NULL ? text_json(job)
							   : json_string(""));
}

void
job_names_turn(struct job_names *n)
{
	json_decref(n->placed);
	n->placed = n->next;
	n->next = json_object();
}

void
job_names_forget(struct job_names *n, const char *job)
{
	const char *raw = member_text(n->raws, job);

	if (strcmp(member_text(n->jobs, raw), job) == 0)
		json_object_del(n->jobs, raw);
	json_object_del(n->raws, job);
}

/* Whether both are parts of one heterogeneous job. */
static int
job_names_is_other_part(const char *a, const char *b)
{
	size_t len = strcspn(a, "+");

	return a[len] == '+' && strncmp(a, b, len + 1) == 0;
}

const char *
job_names_find(struct job_names *n, const json_t *jobs, const char *node,
    const char *said)
{
	const char *placed = member_text(n->placed, node);
	const char *job = member_text(n->jobs, said);

	if (json_object_get(jobs, said) != NULL)
		return said;
	/* programs of all parts may have the number of the first */
	if (job[0] != '\0')
		return job_names_is_other_part(job, placed) ? placed : job;
	if (placed[0] == '\0' || json_object_get(jobs, placed) == NULL ||
	    said[0] == '\0' || said[strspn(said, "0123456789")] != '\0' ||
	    json_object_get(n->raws, placed) != NULL)
		return NULL;
	job_names_set_raw(n, placed, said);
	return member_text_or(n->jobs, said, NULL);
}
