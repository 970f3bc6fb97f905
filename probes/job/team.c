/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.c - all ranks of the job with one device each, or none.
 */
#include "probes/job/team.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/xalloc.h"

int
team_open(const struct world *w, const char *device,
    struct transport_team **ret, struct err *err)
{
	struct transport_team *tm = xcalloc(1, sizeof(*tm));
	int *nodes = xcalloc((size_t)w->size, sizeof(*nodes)), count = 0, rc;

	tm->rank = w->rank;
	tm->ranks = w->size;
	MPI_DO(
	    MPI_Allgather(&w->node, 1, MPI_INT, nodes, 1, MPI_INT, w->control));
	tm->nodes = nodes;
	MPI_DO(MPI_Comm_dup(w->control, &tm->comm));
	MPI_DO(MPI_Comm_split(w->control, w->node, w->rank, &tm->node_comm));
	err->text[0] = '\0';
	rc = device_find(device, &tm->ops, err);
	if (rc == 0)
		rc = tm->ops->probe(&count, err);
	if (rc == 0) {
		tm->device_index = w->local % count;
		rc = tm->ops->open(tm->device_index, &tm->device, err);
	}
	rc = transport_agree_why(tm, rc, NULL, err);
	if (rc < 0) {
		team_close(tm);
		return rc;
	}
	*ret = tm; /* handed over */
	return 0;
}

void
team_close(struct transport_team *tm)
{
	if (tm == NULL)
		return;
	if (tm->device != NULL)
		tm->ops->close(tm->device);
	MPI_Comm_free(&tm->node_comm);
	MPI_Comm_free(&tm->comm);
	free((int *)tm->nodes);
	free(tm);
}
