/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_xccl_lib.c - our prototypes of NCCL are nccl.h's, where that is, and
 * NCCL itself is opened, where that is. Neither needs a GPU.
 */
#include "common/err.h"
#include "probes/transport/xccl_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<nccl.h>)
#include <nccl.h>
#define HEADER 1

#define SAME_SIZE(a, b)                                                        \
	_Static_assert(sizeof(a) == sizeof(b), #a " is another size than " #b)

SAME_SIZE(struct xccl_id, ncclUniqueId);
SAME_SIZE(int, ncclResult_t);
SAME_SIZE(int, ncclDataType_t);
SAME_SIZE(void *, ncclComm_t);
SAME_SIZE(void *, cudaStream_t);
_Static_assert((int)XCCL_SUCCESS == ncclSuccess, "success");
_Static_assert((int)XCCL_IN_PROGRESS == ncclInProgress, "in progress");
_Static_assert(XCCL_UINT8 == ncclUint8, "bytes");
_Static_assert(XCCL_INT32 == ncclInt32 && XCCL_INT64 == ncclInt64, "integers");
_Static_assert(XCCL_FLOAT16 == ncclFloat16 && XCCL_FLOAT32 == ncclFloat32 &&
	XCCL_FLOAT64 == ncclFloat64 && XCCL_BFLOAT16 == ncclBfloat16,
    "reals");
_Static_assert(XCCL_SUM == ncclSum && XCCL_PROD == ncclProd &&
	XCCL_MAX == ncclMax && XCCL_MIN == ncclMin,
    "reductions");
SAME_SIZE(int, ncclRedOp_t);

/* The types that nccl.h gives, as ours are passed: an argument that is
 * missing, moved or of another width does not compile. */
#define THEIRS(name, ...)                                                      \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name),         \
			   ncclResult_t (*)(__VA_ARGS__)),                     \
	    #name " has changed")

THEIRS(ncclGetVersion, int *);
THEIRS(ncclGetUniqueId, ncclUniqueId *);
THEIRS(ncclCommInitRank, ncclComm_t *, int, ncclUniqueId, int);
THEIRS(ncclCommFinalize, ncclComm_t);
THEIRS(ncclCommDestroy, ncclComm_t);
THEIRS(ncclCommAbort, ncclComm_t);
THEIRS(ncclCommGetAsyncError, ncclComm_t, ncclResult_t *);
THEIRS(ncclGroupStart, void);
THEIRS(ncclGroupEnd, void);
THEIRS(ncclSend, const void *, size_t, ncclDataType_t, int, ncclComm_t,
    cudaStream_t);
THEIRS(ncclRecv, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
THEIRS(ncclBroadcast, const void *, void *, size_t, ncclDataType_t, int,
    ncclComm_t, cudaStream_t);
THEIRS(ncclReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t,
    int, ncclComm_t, cudaStream_t);
THEIRS(ncclAllReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t,
    ncclComm_t, cudaStream_t);
THEIRS(ncclAllGather, const void *, void *, size_t, ncclDataType_t, ncclComm_t,
    cudaStream_t);
THEIRS(ncclReduceScatter, const void *, void *, size_t, ncclDataType_t,
    ncclRedOp_t, ncclComm_t, cudaStream_t);
#endif

/* And ours, as the table has them, with their types put in the place of
 * theirs: the same list once more. */
#define OURS(member, type, ...)                                                \
	_Static_assert(__builtin_types_compatible_p(__typeof__((               \
							(struct xccl_lib *)0)  \
								   ->member),  \
			   type(*)(__VA_ARGS__)),                              \
	    #member " has changed")

OURS(get_version, int, int *);
OURS(get_unique_id, int, struct xccl_id *);
OURS(comm_init_rank, int, void **, int, struct xccl_id, int);
OURS(comm_finalize, int, void *);
OURS(comm_destroy, int, void *);
OURS(comm_abort, int, void *);
OURS(comm_get_async_error, int, void *, int *);
OURS(group_start, int, void);
OURS(group_end, int, void);
OURS(send, int, const void *, size_t, int, int, void *, void *);
OURS(recv, int, void *, size_t, int, int, void *, void *);
OURS(broadcast, int, const void *, void *, size_t, int, int, void *, void *);
OURS(reduce, int, const void *, void *, size_t, int, int, int, void *, void *);
OURS(all_reduce, int, const void *, void *, size_t, int, int, void *, void *);
OURS(all_gather, int, const void *, void *, size_t, int, void *, void *);
OURS(reduce_scatter, int, const void *, void *, size_t, int, int, void *,
    void *);

int
main(void)
{
	const struct xccl_lib *lib = NULL;
	struct err err = { 0 };
	struct xccl_id id;
	int rc;

	rc = xccl_lib_open("host", &lib, &err);
	if (rc != -ENOTSUP || strstr(err.text, "device=cuda") == NULL) {
		printf("host: %d, %s\n", rc, err.text);
		return 1;
	}
	rc = xccl_lib_open("cuda", &lib, &err);
	if (rc == 0) {
		printf("%s %d\n", lib->name, lib->version);
		/* Needs no GPU, only a socket. */
		rc = lib->get_unique_id(&id);
		printf("an id: %d\n", rc);
		return lib->version < 2000 || rc != XCCL_SUCCESS;
	}
	if (rc != -ENOTSUP || strlen(err.text) == 0) {
		printf("cuda: %d, %s\n", rc, err.text);
		return 1;
	}
#ifdef HEADER
	return 0;
#else
	printf("skipped: no nccl.h, and %s\n", err.text);
	return 77;
#endif
}
