/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.c - a stand-in for libnccl.so.2, on streams of gpu_runtime.h: ranks
 * share a file with a small pipe for each pair, and a group is an operation of
 * its stream. Like NCCL, the end of a group waits for peers that were not
 * connected before: a plan in which these wait for something else first hangs.
 * A collective is such a group too: each rank sends its data to the ranks that
 * need them, and reduces received data when all have arrived.
 *
 * COALMINE_FAKE_NCCL: "join" fails to join on the last rank, "group" fails on
 * the last rank in the second group, "wrong" spoils a byte of every collective.
 * COALMINE_FAKE_STATS=FILE: write a line for every new communicator.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/device/host_reduce.h"
#include "probes/transport/xccl_lib.h"
#include "tests/fake/gpu_runtime.h"

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
	atomic_int connected[RANKS_MAX][RANKS_MAX][2]; /* who, with, receives */
	struct tube tubes[RANKS_MAX][RANKS_MAX];       /* from, to */
};

struct op {
	char *at;
	size_t bytes, done;
	int peer, receive;
	int own; /* memory of this library, not of the device */
};

/* The reduction that follows the receives of a batch. */
struct folding {
	char *inputs[RANKS_MAX], *to; /* to NULL: nothing */
	size_t count;
	int type, op;
};

struct comm {
	struct meeting *m;
	int rank, ranks, groups;
	int under_way, ended; /* batches; destroyed meanwhile */
	struct batch *open;   /* being put together */
};

/* The operations of a group in progress. */
struct batch {
	struct comm *c;
	void *stream;
	struct op ops[OPS_MAX];
	int ops_count;
	struct folding fold;
};

static int depth;            /* of groups */
static struct comm *grouped; /* that the open group is for */

PUBLIC int ncclGetVersion(int *ret);
PUBLIC const char *ncclGetErrorString(int result);
PUBLIC const char *ncclGetLastError(void *comm);
PUBLIC int ncclGetUniqueId(struct xccl_id *ret);
PUBLIC int ncclCommInitRank(void **ret, int ranks, struct xccl_id id, int rank);
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
	*ret = 22809;
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
	return "as requested";
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

int
ncclCommInitRank(void **ret, int ranks, struct xccl_id id, int rank)
{
	struct comm *c = calloc(1, sizeof(*c));
	const char *stats = getenv("COALMINE_FAKE_STATS");
	int fd = open(id.bytes, O_RDWR | O_CLOEXEC);
	FILE *fp = stats == NULL ? NULL : fopen(stats, "ae");

	if (fp != NULL) {
		fprintf(fp, "nccl rank %d of %d\n", rank, ranks);
		fclose(fp);
	}
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
	while (c->m->joined < ranks && !c->m->failed)
		usleep(200);
	return c->m->failed ? SYSTEM_ERROR : 0;
}

int
ncclCommFinalize(void *comm)
{
	(void)comm;
	return 0;
}

static void
comm_free(struct comm *c)
{
	munmap(c->m, sizeof(*c->m));
	free(c);
}

int
ncclCommDestroy(void *comm)
{
	struct comm *c = comm;

	c->ended = 1;
	if (c->under_way == 0)
		comm_free(c);
	return 0;
}

int
ncclCommAbort(void *comm)
{
	((struct comm *)comm)->m->failed = 1;
	return ncclCommDestroy(comm);
}

int
ncclCommGetAsyncError(void *comm, int *ret)
{
	*ret = ((struct comm *)comm)->m->failed ? REMOTE_ERROR : XCCL_SUCCESS;
	return 0;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void
move_on(struct batch *b, struct op *op)
{
	const struct fake_stream *stream = b->stream;
	struct comm *c = b->c;
	struct tube *t = op->receive ? &c->m->tubes[op->peer][c->rank]
				     : &c->m->tubes[c->rank][op->peer];
	uint64_t put = t->put, got = t->got;
	uint64_t at = (op->receive ? got : put) % PIPE_BYTES;
	size_t n = op->receive ? put - got : PIPE_BYTES - (put - got);
	char *mine = op->at + op->done;

	n = least(least(n, PIPE_BYTES - at), op->bytes - op->done);
	if (!op->own)
		mine = stream->reach(mine, n);
	if (op->receive) {
		memcpy(mine, t->bytes + at, n);
		t->got = got + n;
	} else {
		memcpy(t->bytes + at, mine, n);
		t->put = put + n;
	}
	op->done += n;
}

/* Is an earlier operation between the same two ranks still in progress? */
static int
must_wait(const struct batch *c, int i)
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
fold(struct batch *b)
{
	const struct fake_stream *stream = b->stream;
	struct folding *f = &b->fold;
	char *to;

	if (f->to == NULL)
		return;
	to = stream->reach(f->to, f->count * plan_types[types[f->type]].bytes);
	host_reduce(plan_op_of[f->op], types[f->type], to,
	    (const void *const *)f->inputs, (uint32_t)b->c->ranks, f->count);
	for (int i = 0; i < b->c->ranks; i++)
		free(f->inputs[i]);
	if (told_to("wrong"))
		to[0] ^= 1;
}

/* Of the stream. */
static int
batch_move(void *arg)
{
	struct batch *b = arg;
	struct comm *c = b->c;
	int left = 0;

	for (int i = 0; i < b->ops_count && !c->ended; i++) {
		if (b->ops[i].done == b->ops[i].bytes)
			continue;
		if (!must_wait(b, i))
			move_on(b, &b->ops[i]);
		left |= b->ops[i].done < b->ops[i].bytes;
	}
	if (left) {
		sched_yield();
		return 0;
	}
	if (!c->ended)
		fold(b);
	if (--c->under_way == 0 && c->ended)
		comm_free(c);
	free(b);
	return 1;
}

static int
connect_all(const struct batch *b)
{
	struct meeting *m = b->c->m;
	int me = b->c->rank;

	for (int i = 0; i < b->ops_count; i++)
		m->connected[me][b->ops[i].peer][b->ops[i].receive] = 1;
	for (int i = 0; i < b->ops_count; i++)
		while (!m->connected[b->ops[i].peer][me][!b->ops[i].receive]) {
			if (m->failed)
				return REMOTE_ERROR;
			usleep(100);
		}
	return 0;
}

int
ncclGroupStart(void)
{
	depth++;
	return 0;
}

int
ncclGroupEnd(void)
{
	struct comm *c = grouped;
	struct fake_stream *stream;
	struct batch *b;
	int result;

	if (--depth > 0 || c == NULL)
		return 0;
	b = c->open;
	c->open = NULL;
	grouped = NULL;
	if (told_to("group") && c->rank == c->ranks - 1 && ++c->groups == 2) {
		c->m->failed = 1;
		return SYSTEM_ERROR;
	}
	result = connect_all(b);
	if (result != 0)
		return result;
	stream = b->stream;
	c->under_way++;
	stream->enqueue(stream, batch_move, b);
	return 0;
}

/* Start a call, which is its own group if none is open. Stream NULL, the
 * default stream, is not supported. */
static int
begin(void *comm, void *stream)
{
	struct comm *c = comm;

	if (stream == NULL)
		return SYSTEM_ERROR;
	ncclGroupStart();
	if (c->open == NULL)
		c->open = calloc(1, sizeof(*c->open));
	c->open->c = c;
	c->open->stream = stream;
	grouped = c;
	return 0;
}

static int
end(int result)
{
	int ended = ncclGroupEnd();

	return result != 0 ? result : ended;
}

static int
add(struct comm *c, struct op op)
{
	const struct fake_stream *stream = c->open->stream;

	if (c->open->ops_count == OPS_MAX || op.peer < 0 ||
	    op.peer >= c->ranks ||
	    (!op.own && stream->reach(op.at, op.bytes) == NULL))
		return SYSTEM_ERROR;
	c->open->ops[c->open->ops_count++] = op;
	return 0;
}

int
ncclSend(const void *from, size_t count, int type, int peer, void *comm,
    void *stream)
{
	if (type != XCCL_UINT8 || begin(comm, stream) != 0)
		return SYSTEM_ERROR;
	return end(
	    add(comm, (struct op){ (char *)from, count, 0, peer, 0, 0 }));
}

int
ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	if (type != XCCL_UINT8 || begin(comm, stream) != 0)
		return SYSTEM_ERROR;
	return end(add(comm, (struct op){ to, count, 0, peer, 1, 0 }));
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
	return add(c, (struct op){ (char *)from, bytes, 0, to, 0, 0 });
}

static int
take(struct comm *c, int from, void *to, size_t bytes)
{
	return add(c, (struct op){ to, bytes, 0, from, 1, 0 });
}

/* Receive count elements of every rank, and reduce them into to. */
static int
take_all(struct comm *c, void *to, size_t count, int type, int op)
{
	struct folding *f = &c->open->fold;
	size_t bytes = bytes_of(count, type);
	int result = 0;

	*f = (struct folding){ .to = to,
		.count = count,
		.type = type,
		.op = op };
	for (int i = 0; result == 0 && i < c->ranks; i++) {
		f->inputs[i] = malloc(bytes + 1);
		result = add(c, (struct op){ f->inputs[i], bytes, 0, i, 1, 1 });
	}
	return result;
}

int
ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = begin(c, stream);

	if (result != 0)
		return result;
	for (int i = 0; result == 0 && c->rank == root && i < c->ranks; i++)
		result = give(c, i, from, bytes_of(count, type));
	if (result == 0)
		result = take(c, root, to, bytes_of(count, type));
	return end(result);
}

int
ncclReduce(const void *from, void *to, size_t count, int type, int op, int root,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = begin(c, stream);

	if (result != 0)
		return result;
	result = give(c, root, from, bytes_of(count, type));
	if (result == 0 && c->rank == root)
		result = take_all(c, to, count, type, op);
	return end(result);
}

int
ncclAllReduce(const void *from, void *to, size_t count, int type, int op,
    void *comm, void *stream)
{
	struct comm *c = comm;
	int result = begin(c, stream);

	if (result != 0)
		return result;
	for (int i = 0; result == 0 && i < c->ranks; i++)
		result = give(c, i, from, bytes_of(count, type));
	return end(result != 0 ? result : take_all(c, to, count, type, op));
}

int
ncclAllGather(const void *from, void *to, size_t count, int type, void *comm,
    void *stream)
{
	struct comm *c = comm;
	size_t bytes = bytes_of(count, type);
	int result = begin(c, stream);

	if (result != 0)
		return result;
	for (int i = 0; result == 0 && i < c->ranks; i++) {
		result = give(c, i, from, bytes);
		if (result == 0)
			result = take(c, i, (char *)to + (size_t)i * bytes,
			    bytes);
	}
	return end(result);
}

int
ncclReduceScatter(const void *from, void *to, size_t count, int type, int op,
    void *comm, void *stream)
{
	struct comm *c = comm;
	size_t bytes = bytes_of(count, type);
	int result = begin(c, stream);

	if (result != 0)
		return result;
	for (int i = 0; result == 0 && i < c->ranks; i++)
		result = give(c, i, (const char *)from + (size_t)i * bytes,
		    bytes);
	return end(result != 0 ? result : take_all(c, to, count, type, op));
}
