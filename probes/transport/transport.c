/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/transport.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "probes/transport/patience.h"

static const struct transport_ops *const transports[PLAN_VIA_MAX] = {
	[PLAN_VIA_MPI] = &transport_mpi,
	[PLAN_VIA_RMA] = &transport_rma,
	[PLAN_VIA_IPC] = &transport_ipc,
	[PLAN_VIA_IPC_PUT] = &transport_ipc,
	[PLAN_VIA_IPC_GET] = &transport_ipc,
	[PLAN_VIA_XCCL] = &transport_xccl,
};

const struct transport_ops *
transport_find(enum plan_via via)
{
	assert(via < PLAN_VIA_MAX);
	return transports[via];
}

const char *
transport_staging_none(const struct transport *t)
{
	(void)t;
	return "";
}

static void
finish(MPI_Request *req)
{
	if (patience_request(req) != MPI_SUCCESS)
		fatalx("ranks cannot agree: MPI failed");
}

int
transport_agree(const struct transport_team *team, int rc)
{
	MPI_Request req;

	MPI_Iallreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, team->comm,
	    &req);
	finish(&req);
	return rc;
}

int
transport_agree_why(const struct transport_team *team, int rc, uint32_t *max,
    char *why, size_t why_bytes)
{
	int mine[3], all[3];
	MPI_Request req;

	mine[0] = rc;
	mine[1] = rc < 0 && why[0] != '\0' ? team->rank : INT_MAX;
	mine[2] = max == NULL ? 0 : -(int)*max;
	MPI_Iallreduce(mine, all, 3, MPI_INT, MPI_MIN, team->comm, &req);
	finish(&req);
	if (max != NULL)
		*max = (uint32_t)-all[2];
	if (all[0] >= 0)
		return 0;
	if (all[1] == INT_MAX) {
		snprintf(why, why_bytes, "%s", strerror(-all[0]));
		return all[0];
	}
	MPI_Ibcast(why, (int)why_bytes, MPI_CHAR, all[1], team->comm, &req);
	finish(&req);
	return all[0];
}
