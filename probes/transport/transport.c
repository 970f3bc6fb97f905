/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c - the table of transports, and their common parts: pieces of long
 * messages, active requests, and agreement of all ranks on an error.
 */
#include "probes/transport/transport.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/transport/backoff.h"

/* 100 GB/s for 40 us, in windows of the host's. */
#define DEVICE_WINDOW 32

/* Open MPI sends messages up to this size at once over TCP. */
#define EAGER_BYTES (64ULL << 10)

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

void
transport_choose_vias(const struct transport_team *team, struct plan *p)
{
	plan_choose_vias(p, team->nodes, team->within, team->across);
}

uint64_t
transport_piece_bytes(const struct transport_share *share)
{
	uint64_t asked = share->piece_bytes;

	return asked > 0 && asked < PIECE_BYTES_MAX ? asked : PIECE_BYTES_MAX;
}

int
transport_pieces_fit(const char *name, const struct transport_team *team,
    const struct transport_share *share, struct err *err)
{
	uint64_t piece = transport_piece_bytes(share), pieces = 0;

	for (uint32_t i = 0; i < share->ends_count; i++)
		pieces += (share->ends[i].bytes + piece - 1) / piece;
	if (pieces <= INT_MAX)
		return 0;
	return err_set(err, -ENOTSUP, "%s: too many messages (%llu) of rank %d",
	    name, (unsigned long long)pieces, team->rank);
}

int
transport_mpi_fail(const struct transport_share *share, int rc,
    const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	text[0] = '\0';
	MPI_Error_string(rc, text, &len);
	return err_set(share->err, -EIO, "%s: %.200s", what, text);
}

int
transport_fail(const struct transport_team *team,
    const struct transport_share *share, int rc)
{
	return err_set(share->err, rc, "%s", team->ops->error(team->device));
}

/* ---- requests under way ---- */

void
transport_requests_open(struct transport_requests *r, size_t cap)
{
	r->list = xcalloc(cap + 1, sizeof(*r->list));
	r->ends = xcalloc(cap + 1, sizeof(*r->ends));
	r->done = xcalloc(cap + 1, sizeof(*r->done));
	r->found = xcalloc(cap + 1, sizeof(*r->found));
}

void
transport_requests_close(struct transport_requests *r)
{
	free(r->list);
	free(r->ends);
	free(r->done);
	free(r->found);
}

static int
transport_compare_falling_cb(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

int
transport_requests_test(struct transport_requests *r,
    const struct transport_share *share, const uint32_t **ret_ends)
{
	int n = 0, rc;

	*ret_ends = r->found;
	if (r->count == 0)
		return 0;
	rc = MPI_Testsome(r->count, r->list, &n, r->done, MPI_STATUSES_IGNORE);
	if (rc != MPI_SUCCESS)
		return transport_mpi_fail(share, rc, "MPI_Testsome");
	if (n == MPI_UNDEFINED)
		return 0;
	/* From the end, so that the last one, which fills the gap, is never one
	 * that is still to be removed. */
	qsort(r->done, (size_t)n, sizeof(*r->done),
	    transport_compare_falling_cb);
	for (int i = 0; i < n; i++) {
		int at = r->done[i];

		r->found[i] = r->ends[at];
		r->count--;
		r->list[at] = r->list[r->count];
		r->ends[at] = r->ends[r->count];
	}
	return n;
}

/* ---- agreeing ---- */

static void
transport_finish(MPI_Request *req)
{
	if (backoff_request(req) != MPI_SUCCESS)
		fatalx("ranks cannot agree on the result: MPI failed");
}

int
transport_agree(const struct transport_team *team, int rc)
{
	MPI_Request req;

	MPI_Iallreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, team->comm,
	    &req);
	transport_finish(&req);
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
	transport_finish(&req);
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
	transport_finish(&req);
	return all[0];
}

int
transport_is_offered(uint64_t bytes)
{
	return bytes > EAGER_BYTES;
}

uint64_t
transport_window_bytes(const struct transport_team *team,
    const struct transport_ops *ops)
{
	return ops->window_bytes * (team->ops->host_access ? 1 : DEVICE_WINDOW);
}
