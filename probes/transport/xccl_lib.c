/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_lib.c - a library is a row, its calls a table by name; it is opened
 * once, and its output is kept off standard output.
 */
#include "probes/transport/xccl_lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/plugin.h"
#include "common/str.h"

static struct row {
	const char *device;
	const char *file;
	struct xccl_lib lib; /* filled in when it was opened */
} rows[] = {
	{ "cuda", "libnccl.so.2", { .name = "NCCL", .impl = "nccl" } },
	{ "hip", "librccl.so.1", { .name = "RCCL", .impl = "rccl" } },
};

#define CALL(member, symbol, must)                                             \
	PLUGIN_CALL(struct xccl_lib, member, symbol, must)
static const struct plugin_call calls[] = {
	CALL(get_version, "ncclGetVersion", 1),
	CALL(error_string, "ncclGetErrorString", 1),
	CALL(last_error, "ncclGetLastError", 0),
	CALL(get_unique_id, "ncclGetUniqueId", 1),
	CALL(comm_init_rank, "ncclCommInitRank", 1),
	CALL(comm_finalize, "ncclCommFinalize", 0),
	CALL(comm_destroy, "ncclCommDestroy", 1),
	CALL(comm_abort, "ncclCommAbort", 1),
	CALL(comm_get_async_error, "ncclCommGetAsyncError", 1),
	CALL(group_start, "ncclGroupStart", 1),
	CALL(group_end, "ncclGroupEnd", 1),
	CALL(send, "ncclSend", 1),
	CALL(recv, "ncclRecv", 1),
	CALL(broadcast, "ncclBroadcast", 0),
	CALL(reduce, "ncclReduce", 0),
	CALL(all_reduce, "ncclAllReduce", 0),
	CALL(all_gather, "ncclAllGather", 0),
	CALL(reduce_scatter, "ncclReduceScatter", 0),
};

int
xccl_lib_open(const char *device, const struct xccl_lib **ret, struct err *err)
{
	struct xccl_lib lib;
	const char *file = getenv("COALMINE_NCCL"); /* RCCL's as well */
	struct row *row = rows;
	struct err reason;
	struct stat st;

	while (row < rows + ARRAY_LEN(rows) && strcmp(row->device, device) != 0)
		row++;
	if (row == rows + ARRAY_LEN(rows))
		return err_set(err, -ENOTSUP,
		    "xccl: NCCL and RCCL move memory of GPUs, and the device "
		    "is %s; expected device=cuda or device=hip",
		    device);
	if (row->lib.version != 0) {
		*ret = &row->lib;
		return 0;
	}
	lib = row->lib;
	/* Its messages would mix with records on standard output. It opens the
	 * name to write from the start, which empties a log that is a file. */
	setenv("NCCL_DEBUG_FILE",
	    fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode)
		? "coalmine-nccl.%h.%p"
		: "/dev/stderr",
	    0);
	if (file == NULL || file[0] == '\0')
		file = row->file;
	if (plugin_calls(file, calls, ARRAY_LEN(calls), &lib, &reason) == NULL)
		return err_set(err, -ENOTSUP, "xccl: cannot load %s: %s",
		    lib.name, reason.text);
	if (lib.get_version(&lib.version) != XCCL_SUCCESS)
		return err_set(err, -ENOTSUP,
		    "xccl: %s does not report its version", file);
	row->lib = lib;
	*ret = &row->lib;
	return 0;
}
