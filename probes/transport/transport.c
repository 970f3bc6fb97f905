/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/transport/transport.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "probes/transport/backoff.h"

/* Well below the 2 GiB that an int counts, and a multiple of every page. */
#define PIECE_BYTES_MAX (1ULL << 30)

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

uint64_t
transport_piece_bytes(const struct transport_share *share)
{
	uint64_t asked = share->piece_bytes;

	return asked > 0 && asked < PIECE_BYTES_MAX ? asked : PIECE_BYTES_MAX;
}

int
transport_pieces_fit(const struct transport_ops *ops,
    const struct transport_team *team, const struct transport_share *share,
    struct err *err)
{
	uint64_t piece = transport_piece_bytes(share), pieces = 0;

	for (uint32_t i = 0; i < share->ends_count; i++)
		pieces += (share->ends[i].bytes + piece - 1) / piece;
	if (pieces <= INT_MAX)
		return 0;
	return err_set(err, -ENOTSUP,
	    "%s: %llu messages of rank %d are too many", ops->name,
	    (unsigned long long)pieces, team->rank);
}

static void
finish(MPI_Request *req)
{
	if (backoff_request(req) != MPI_SUCCESS)
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
    struct err *err)
{
	int mine[3], all[3];
	MPI_Request req;

	mine[0] = rc;
	mine[1] = rc < 0 && err->text[0] != '\0' ? team->rank : INT_MAX;
	mine[2] = max == NULL ? 0 : -(int)*max;
	MPI_Iallreduce(mine, all, 3, MPI_INT, MPI_MIN, team->comm, &req);
	finish(&req);
	if (max != NULL)
		*max = (uint32_t)-all[2];
	if (all[0] >= 0)
		return 0;
	if (all[1] == INT_MAX) {
		err_say(err, "%s", strerror(-all[0]));
		return all[0];
	}
	MPI_Ibcast(err->text, sizeof(err->text), MPI_CHAR, all[1], team->comm,
	    &req);
	finish(&req);
	return all[0];
}
