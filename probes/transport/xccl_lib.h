/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xccl_lib.h - NCCL or RCCL, loaded at run time and called through the
 * prototypes of this file. Neither a header is needed to build nor a library to
 * start. These calls have the same form in NCCL since 2.7 and in RCCL;
 * tests/unit/probes/transport/test_xccl_lib.c compares them with nccl.h.
 *
 * Calls return enum xccl_result. comm and stream are objects of the library.
 */
#ifndef PROBES_TRANSPORT_XCCL_LIB_H
#define PROBES_TRANSPORT_XCCL_LIB_H

#include <stddef.h>

#include "common/err.h"

#define XCCL_UINT8    1 /* ncclDataType_t */
#define XCCL_INT32    2
#define XCCL_INT64    4
#define XCCL_FLOAT16  6
#define XCCL_FLOAT32  7
#define XCCL_FLOAT64  8
#define XCCL_BFLOAT16 9
#define XCCL_SUM      0 /* ncclRedOp_t */
#define XCCL_PROD     1
#define XCCL_MAX      2
#define XCCL_MIN      3

enum xccl_result { XCCL_SUCCESS = 0, XCCL_IN_PROGRESS = 7 };

/* The id of a communicator (ncclUniqueId). */
struct xccl_id {
	char bytes[128];
};

/* The functions of the library. */
struct xccl_lib {
	const char *name; /* "NCCL" */
	const char *impl; /* name in records, one of names_impls */
	int version;      /* 22809 is 2.28.9 */
	int (*get_version)(int *ret);
	const char *(*error_string)(int result);
	const char *(*last_error)(void *comm); /* NULL before 2.13 */
	int (*get_unique_id)(struct xccl_id *ret);
	int (*comm_init_rank)(void **comm, int ranks, struct xccl_id id,
	    int rank);
	int (*comm_finalize)(void *comm); /* NULL before 2.14 */
	int (*comm_destroy)(void *comm);
	int (*comm_abort)(void *comm);
	int (*comm_get_async_error)(void *comm, int *ret_result);
	int (*group_start)(void);
	int (*group_end)(void);
	int (*send)(const void *from, size_t count, int type, int peer,
	    void *comm, void *stream);
	int (*recv)(void *to, size_t count, int type, int peer, void *comm,
	    void *stream);
	/* The library's own collectives, for comparison. NULL: it has none. */
	int (*broadcast)(const void *from, void *to, size_t count, int type,
	    int root, void *comm, void *stream);
	int (*reduce)(const void *from, void *to, size_t count, int type,
	    int op, int root, void *comm, void *stream);
	int (*all_reduce)(const void *from, void *to, size_t count, int type,
	    int op, void *comm, void *stream);
	int (*all_gather)(const void *from, void *to, size_t count, int type,
	    void *comm, void *stream);
	int (*reduce_scatter)(const void *from, void *to, size_t count,
	    int type, int op, void *comm, void *stream);
};

/* Return in *ret the library for the memory of a device ("cuda", "hip"), which
 * is opened once and never closed. Return 0, or -ENOTSUP with the reason in
 * err. */
int xccl_lib_open(const char *device, const struct xccl_lib **ret,
    struct err *err);

#endif
