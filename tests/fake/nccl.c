/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.c - a stand-in for libnccl.so.2, for memory that the processor can
 * read: ranks meet in a shared file, each pair has a small pipe in it, and a
 * group moves on only when its communicator is asked for errors, as one of
 * NCCL's that does not block may. A collective is such a group too: each rank
 * sends to those who need it, and reduces what it got once all is there.
 *
 * COALMINE_FAKE_NCCL: "join" or "group" fails on the last rank, "old" lacks
 * what NCCL had not before 2.17, "wrong" spoils a byte of every collective.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/device/host_reduce.h"
#include "probes/transport/xccl_lib.h"

#define RANKS_MAX    16
#define PIPE_BYTES   8192
#define OPS_MAX      4096
#define SYSTEM_ERROR 2
#define REMOTE_ERROR 6
#define PUBLIC       __attribute__((visibility("default")))

struct tube {
	_Atomic uint64_t put, got;
	char bytes[PIPE_BYTES];
};

struct meeting {
	atomic_int joined;
	atomic_int failed;
	struct tube tubes[RANKS_MAX][RANKS_MAX]; /* from, to */
};

struct op {
	char *at;
	size_t bytes, done;
	int peer, receive;
};

/* What is left of a reduction when everything has come. */
struct folding {
	char *inputs[RANKS_MAX], *to; /* to NULL: nothing */
	size_t count;
	int type, op;
};

struct comm {
	struct meeting *m;
	int rank, ranks;
	struct op ops[OPS_MAX];
	int ops_count;
	struct folding fold;
};

static struct comm *grouped; /* that the open group is for */

PUBLIC int ncclGetVersion(int *ret);
PUBLIC const char *ncclGetErrorString(int result);
PUBLIC const char *ncclGetLastError(void *comm);
PUBLIC int ncclGetUniqueId(struct xccl_id *ret);
PUBLIC int ncclCommInitRank(void **ret, int ranks, struct xccl_id id, int rank);
PUBLIC int ncclCommInitRankConfig(void **ret, int ranks, struct xccl_id id,
    int rank, struct xccl_config *config);
PUBLIC int ncclCommFinalize(void *comm);
PUBLIC int ncclCommDestroy(void *comm);
PUBLIC int ncclCommAbort(void *comm);
PUBLIC int ncclCommGetAsyncError(void *comm, int *ret);
PUBLIC int ncclGroupStart(void);
PUBLIC int ncclGroupEnd(void);
PUBLIC int ncclSend(const void *from, size_t count, int type, int peer,
    void *comm, void *stream);
PUBLIC int ncclRecv(void *to, size_t count, int type, int peer, void *comm,
    void *stream);
PUBLIC int ncclBroadcast(const void *from, void *to, size_t count, int type,
    int root, void *comm, void *stream);
PUBLIC int ncclReduce(const void *from, void *to, size_t count, int type,
    int op, int root, void *comm, void *stream);
PUBLIC int ncclAllReduce(const void *from, void *to, size_t count, int type,
    int op, void *comm, void *stream);
PUBLIC int ncclAllGather(const void *from, void *to, size_t count, int type,
    void *comm, void *stream);
PUBLIC int ncclReduceScatter(const void *from, void *to, size_t count, int type,
    int op, void *comm, void *stream);

static int
told_to(const char *what)
{
	const char *text = getenv("COALMINE_FAKE_NCCL");

	return text != NULL && strcmp(text, what) == 0;
}

int
ncclGetVersion(int *ret)
{
	*ret = told_to("old") ? 21000 : 22809;
	return 0;
}

const char *
ncclGetErrorString(int result)
{
	return result == REMOTE_ERROR ? "stand-in remote error"
				      : "stand-in error";
}

const char *
ncclGetLastError(void *comm)
{
	(void)comm;
	return "as it was told to";
}

int
ncclGetUniqueId(struct xccl_id *ret)
{
	int fd;

	snprintf(ret->bytes, sizeof(ret->bytes), "/dev/shm/fake-nccl-XXXXXX");
	fd = mkstemp(ret->bytes);
	if (fd < 0 || ftruncate(fd, sizeof(struct meeting)) < 0)
		return SYSTEM_ERROR;
	close(fd);
	return 0;
}

static int
attach(void **ret, int ranks, struct xccl_id id, int rank)
{
	struct comm *c = calloc(1, sizeof(*c));
	int fd = open(id.bytes, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ranks > RANKS_MAX)
		return SYSTEM_ERROR;
	c->m = mmap(NULL, sizeof(*c->m), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	close(fd);
	c->rank = rank;
	c->ranks = ranks;
	*ret = c;
	if (told_to("join") && rank == ranks - 1)
		c->m->failed = 1;
	if (atomic_fetch_add(&c->m->joined, 1) + 1 == ranks)
		unlink(id.bytes);
	return c->m->failed ? SYSTEM_ERROR : XCCL_IN_PROGRESS;
}

int
ncclCommInitRankConfig(void **ret, int ranks, struct xccl_id id, int rank,
    struct xccl_config *config)
{
	if (config->magic != XCCL_CONFIG_MAGIC || config->blocking != 0)
		return SYSTEM_ERROR;
	return attach(ret, ranks, id, rank);
}

int
ncclCommInitRank(void **ret, int ranks, struct xccl_id id, int rank)
{
	int result = attach(ret, ranks, id, rank);

	while (result == XCCL_IN_PROGRESS) {
		usleep(200);
		ncclCommGetAsyncError(*ret, &result);
	}
	return result;
}

int
ncclCommFinalize(void *comm)
{
	(void)comm;
	return 0;
}

int
ncclCommDestroy(void *comm)
{
	struct comm *c = comm;

	munmap(c->m, sizeof(*c->m));
	free(c);
	return 0;
}

int
ncclCommAbort(void *comm)
{
	((struct comm *)comm)->m->failed = 1;
	return ncclCommDestroy(comm);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void
move_on(struct comm *c, struct op *op)
{
	struct tube *t = op->receive ? &c->m->tubes[op->peer][c->rank]
				     : &c->m->tubes[c->rank][op->peer];
	uint64_t put = t->put, got = t->got;
	uint64_t at = (op->receive ? got : put) % PIPE_BYTES;
	size_t n = op->receive ? put - got : PIPE_BYTES - (put - got);

	n = least(least(n, PIPE_BYTES - at), op->bytes - op->done);
	if (op->receive) {
		memcpy(op->at + op->done, t->bytes + at, n);
		t->got = got + n;
	} else {
		memcpy(t->bytes + at, op->at + op->done, n);
		t->put = put + n;
	}
	op->done += n;
}

/* Is an earlier one between the same two still under way? */
static int
must_wait(const struct comm *c, int i)
{
	for (int k = 0; k < i; k++)
		if (c->ops[k].done < c->ops[k].bytes &&
		    c->ops[k].peer == c->ops[i].peer &&
		    c->ops[k].receive == c->ops[i].receive)
			return 1;
	return 0;
}

static const enum plan_type types[] = { [XCCL_UINT8] = PLAN_BYTE,
	[XCCL_INT32] = PLAN_INT32,
	[XCCL_INT64] = PLAN_INT64,
	[XCCL_FLOAT16] = PLAN_HALF,
	[XCCL_FLOAT32] = PLAN_FLOAT,
	[XCCL_FLOAT64] = PLAN_DOUBLE,
	[XCCL_BFLOAT16] = PLAN_BFLOAT16 };
static const enum plan_op plan_op_of[] = { [XCCL_SUM] = PLAN_SUM,
	[XCCL_PROD] = PLAN_PROD,
	[XCCL_MAX] = PLAN_MAX,
	[XCCL_MIN] = PLAN_MIN };

static void
fold(struct comm *c)
{
	struct folding *f = &c->fold;

	if (f->to == NULL)
		return;
	host_reduce(plan_op_of[f->op], types[f->type], f->to,
	    (const void *const *)f->inputs, (uint32_t)c->ranks, f->count);
	for (int i = 0; i < c->ranks; i++)
		free(f->inputs[i]);
	if (told_to("wrong"))
		f->to[0] ^= 1;
	memset(f, 0, sizeof(*f));
}

int
ncclCommGetAsyncError(void *comm, int *ret)
{
	struct comm *c = comm;
	int left = c->m->joined < c->ranks;

	for (int i = 0; i < c->ops_count; i++) {
		if (c->ops[i].done == c->ops[i].bytes)
			continue;
		if (!must_wait(c, i))
			move_on(c, &c->ops[i]);
		left |= c->ops[i].done < c->ops[i].bytes;
	}
	if (!left) {
		c->ops_count = 0;
		fold(c);
	}
	*ret = left ? XCCL_IN_PROGRESS : XCCL_SUCCESS;
	if (c->m->failed)
		*ret = REMOTE_ERROR;
	return 0;
}

int
ncclGroupStart(void)
{
	grouped = NULL;
	return 0;
}

/* Nothing moves yet: that is seen when someone asks. */
int
ncclGroupEnd(void)
{
	if (grouped == NULL)
		return 0;
	if (told_to("group") && grouped->rank == grouped->ranks - 1) {
		grouped->m->failed = 1;
		return SYSTEM_ERROR;
	}
	return told_to("old") ? 0 : XCCL_IN_PROGRESS;
}

static int
add(void *comm, struct op op)
{
	struct comm *c = comm;

	if (c->ops_count == OPS_MAX || op.peer < 0 || op.peer >= c->ranks)
		return SYSTEM_ERROR;
	c->ops[c->ops_count++] = op;
	grouped = c;
	return 0;
}

int
ncclSend(const void *from, size_t count, int type, int peer, void *comm,
    void *stream)
{
	if (type != XCCL_UINT8 || stream == NULL)
		return SYSTEM_ERROR;
	return add(comm, (struct op){ (char *)from, count, 0, peer, 0 });
}

int
ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	if (type != XCCL_UINT8 || stream == NULL)
		return SYSTEM_ERROR;
	return add(comm, (struct op){ to, count, 0, peer, 1 });
}

/* ---- collectives ---- */

static size_t
bytes_of(size_t count, int type)
{
	return count * plan_types[types[type]].bytes;
}

static int
give(struct comm *c, int to, const void *from, size_t bytes)
{
	return add(c, (struct op){ (char *)from, bytes, 0, to, 0 });
}

static int
take(struct comm *c, int from, void *to, size_t bytes)
{
	return add(c, (struct op){ to, bytes, 0, from, 1 });
}

/* Everybody's part of so many elements, to be reduced into to. */
static int
take_all(struct comm *c, void *to, size_t count, int type, int op)
{
	int result = 0;

	c->fold = (struct folding){ .to = to,
		.count = count,
		.type = type,
		.op = op };
	for (int i = 0; result == 0 && i < c->ranks; i++) {
		c->fold.inputs[i] = malloc(bytes_of(count, type) + 1);
		result = take(c, i, c->fold.inputs[i], bytes_of(count, type));
	}
	return result;
}

int
ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = stream == NULL ? SYSTEM_ERROR : 0;

	for (int i = 0; result == 0 && c->rank == root && i < c->ranks; i++)
		result = give(c, i, from, bytes_of(count, type));
	if (result == 0)
		result = take(c, root, to, bytes_of(count, type));
	return result;
}

int
ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = stream == NULL
	    ? SYSTEM_ERROR
	    : give(c, root, from, bytes_of(count, type));

	if (result == 0 && c->rank == root)
		result = take_all(c, to, count, type, op);
	return result;
}

int
ncclAllReduce(const void *from, void *to, size_t count, int type, int op,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = stream == NULL ? SYSTEM_ERROR : 0;

	for (int i = 0; result == 0 && i < c->ranks; i++)
		result = give(c, i, from, bytes_of(count, type));
	return result != 0 ? result : take_all(c, to, count, type, op);
}

int
ncclAllGather(const void *from, void *to, size_t count, int type, void *comm,
    void *stream)
{
	struct comm *c = comm;
	size_t bytes = bytes_of(count, type);
	int result = stream == NULL ? SYSTEM_ERROR : 0;

	for (int i = 0; result == 0 && i < c->ranks; i++) {
		result = give(c, i, from, bytes);
		if (result == 0)
			result = take(c, i, (char *)to + (size_t)i * bytes,
			    bytes);
	}
	return result;
}

int
ncclReduceScatter(const void *from, void *to, size_t count, int type, int op,
    void *comm, void *stream)
{
	struct comm *c = comm;
	size_t bytes = bytes_of(count, type);
	int result = stream == NULL ? SYSTEM_ERROR : 0;

	for (int i = 0; result == 0 && i < c->ranks; i++)
		result = give(c, i, (const char *)from + (size_t)i * bytes,
		    bytes);
	return result != 0 ? result : take_all(c, to, count, type, op);
}
