/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_window.c - a window of MPI, or the words in which it refuses one.
 */
#include "probes/congestion/rma_window.h"

#include <errno.h>
#include <string.h>

#include "probes/job/world.h"

int
rma_window_open(MPI_Comm comm, size_t bytes, char **ret_base, MPI_Win *ret,
    struct err *err)
{
	MPI_Win win = MPI_WIN_NULL;
	char *base = NULL;
	char text[MPI_MAX_ERROR_STRING] = "another rank failed";
	int rc, failed, len;

	rc = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, comm, &base,
	    &win);
	failed = rc != MPI_SUCCESS;
	MPI_DO(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm));
	if (failed) {
		/* A window that only some have cannot be freed together. */
		if (rc != MPI_SUCCESS)
			MPI_Error_string(rc, text, &len);
		return err_set(err, -ENOTSUP, "MPI_Win_allocate: %s", text);
	}
	MPI_DO(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	memset(base, 0, bytes);
	MPI_DO(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	MPI_DO(MPI_Barrier(comm));
	*ret_base = base;
	*ret = win;
	return 0;
}

void
rma_window_close(MPI_Win *win)
{
	MPI_DO(MPI_Win_unlock_all(*win));
	MPI_DO(MPI_Win_free(win));
}
