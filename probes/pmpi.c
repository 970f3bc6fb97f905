/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmpi.c - libcoalmine-pmpi.so, preloaded into a program of MPI: how often and
 * how long each rank is in its collectives, for the agent of its node. By MPI's
 * profiling interface; ours is no more than a clock and a row of a table, and
 * nothing that goes wrong here is told or ends it.
 *
 * COALMINE_IN_BAND names the folder; without it every call goes straight on.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS   (60 * INT64_C(1000000000))
#define SLOTS      256
#define SIZES      64
#define JOB_BYTES  64
#define HOST_BYTES 256

enum op {
	OP_NONE,
	OP_ALLREDUCE,
	OP_BROADCAST,
	OP_REDUCE,
	OP_ALLTOALL,
	OP_ALLGATHER,
	OP_REDUCE_SCATTER,
	OP_BARRIER,
	OP_SEND,
	OP_RECV,
	OP_MAX
};
static const char *const op_names[OP_MAX] = { "", "allreduce", "broadcast",
	"reduce", "alltoall", "allgather", "reduce-scatter", "barrier", "send",
	"recv" };

/* Calls that are alike; bytes: of a buffer with a part for every rank. */
static struct slot {
	enum op op;
	int ranks, size; /* log2 of the bytes */
	int64_t calls, bytes, ns;
} slots[SLOTS];

static const char *dir; /* NULL: nothing is counted */
static char job[JOB_BYTES], host[HOST_BYTES];
static int world_rank, world_ranks, world_nodes;
static int64_t written_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* A file of its own, which is the whole of it at any time. */
static void
write_all(void)
{
	char path[PATH_MAX], half[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s-%s-%d.jsonl", dir, job,
	    host, world_rank);
	int m = snprintf(half, sizeof(half), "%s/.%s-%s-%d.%d", dir, job, host,
	    world_rank, (int)getpid());
	FILE *fp;
	int fd;

	if (n < 0 || m < 0 || n >= PATH_MAX || m >= PATH_MAX)
		return;
	unlink(half);
	fd = open(half, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	fp = fd < 0 ? NULL : fdopen(fd, "w");
	if (fp == NULL)
		return;
	for (const struct slot *s = slots; s < slots + SLOTS; s++)
		if (s->op != OP_NONE)
			fprintf(fp,
			    "{\"job\":\"%s\",\"host\":\"%s\",\"rank\":%d,"
			    "\"op\":\"%s\",\"comm_ranks\":%d,"
			    "\"comm_nodes\":%d,\"calls\":%" PRId64
			    ",\"bytes\":%" PRId64 ",\"seconds\":%" PRId64
			    ".%09" PRId64 "}\n",
			    job, host, world_rank, op_names[s->op], s->ranks,
			    s->ranks == world_ranks ? world_nodes : 0, s->calls,
			    s->bytes, s->ns / 1000000000, s->ns % 1000000000);
	if (fclose(fp) != 0 || rename(half, path) != 0)
		unlink(half);
}

static void
count(enum op op, MPI_Comm comm, int64_t bytes, int64_t from_ns)
{
	int64_t at_ns = now();
	int ranks = 0, size;
	struct slot *s;
	unsigned first;

	PMPI_Comm_size(comm, &ranks);
	bytes = bytes < 0 ? 0 : bytes;
	size = bytes > 0 ? 63 - __builtin_clzll((unsigned long long)bytes) : 0;
	first = (unsigned)op * 31 + (unsigned)size * 7 + (unsigned)ranks * 17;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < SLOTS; i++) {
		s = &slots[(first + i) % SLOTS];
		if (s->op == OP_NONE) {
			s->op = op;
			s->ranks = ranks;
			s->size = size;
		}
		if (s->op == op && s->ranks == ranks && s->size == size) {
			s->calls++;
			s->bytes += bytes;
			s->ns += at_ns - from_ns;
			break;
		}
	}
	if (at_ns - written_ns > EVERY_NS) {
		written_ns = at_ns;
		write_all();
	}
	pthread_mutex_unlock(&lock);
}

static int64_t
bytes_of(int64_t n, MPI_Datatype type)
{
	int one = 0;

	PMPI_Type_size(type, &one);
	return n * one;
}

static int
ranks_of(MPI_Comm comm)
{
	int n = 0;

	PMPI_Comm_size(comm, &n);
	return n;
}

static void
start(void)
{
	/* The batch system's name of this job; a part of an array has two
	 * numbers. */
	static const char *const names[] = { "COALMINE_JOB", "SLURM_JOB_ID",
		"PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID", NULL };
	const char *array = getenv("SLURM_ARRAY_JOB_ID"), *value = NULL;
	const char *task = getenv("SLURM_ARRAY_TASK_ID");
	int one = 0, local;
	MPI_Comm node;

	dir = getenv("COALMINE_IN_BAND");
	if (dir != NULL && dir[0] == '\0')
		dir = NULL;
	/* All ranks or none are in these calls, even if only some count. */
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
	if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
		MPI_INFO_NULL, &node) == MPI_SUCCESS) {
		PMPI_Comm_rank(node, &local);
		one = local == 0;
		PMPI_Comm_free(&node);
	}
	PMPI_Allreduce(&one, &world_nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; names[i] != NULL && value == NULL; i++)
		value = getenv(names[i]);
	if (array != NULL && task != NULL && getenv("COALMINE_JOB") == NULL)
		snprintf(job, sizeof(job), "%.30s_%.30s", array, task);
	else
		snprintf(job, sizeof(job), "%.60s",
		    value == NULL ? "none" : value);
	for (char *c = job; *c != '\0'; c++)
		if (strchr("/\"\\", *c) != NULL || *c < ' ')
			*c = '-';
	if (gethostname(host, sizeof(host) - 1) != 0)
		dir = NULL;
	written_ns = now();
}

int
MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	if (rc == MPI_SUCCESS)
		start();
	return rc;
}

int
MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
	int rc = PMPI_Init_thread(argc, argv, wanted, given);

	if (rc == MPI_SUCCESS)
		start();
	return rc;
}

static void
finish(void)
{
	if (dir == NULL)
		return;
	pthread_mutex_lock(&lock);
	write_all();
	pthread_mutex_unlock(&lock);
}

int
MPI_Finalize(void)
{
	finish();
	return PMPI_Finalize();
}

/* name(parameters) goes to PMPI_name(arguments) between two looks at a clock:
 * a call of op on comm, of so many bytes. */
#define COUNTED(op, name, comm, bytes, parameters, arguments)                  \
	int name parameters                                                    \
	{                                                                      \
		int64_t from_ns;                                               \
		int rc;                                                        \
                                                                               \
		if (dir == NULL)                                               \
			return P##name arguments;                              \
		from_ns = now();                                               \
		rc = P##name arguments;                                        \
		count(op, comm, bytes, from_ns);                               \
		return rc;                                                     \
	}

COUNTED(OP_ALLREDUCE, MPI_Allreduce, comm, bytes_of(n, type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm),
    (out, in, n, type, op, comm))
COUNTED(OP_BROADCAST, MPI_Bcast, comm, bytes_of(n, type),
    (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
    (data, n, type, root, comm))
COUNTED(OP_REDUCE, MPI_Reduce, comm, bytes_of(n, type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root,
	MPI_Comm comm),
    (out, in, n, type, op, root, comm))
/* What is sent counts for nothing where it is MPI_IN_PLACE. */
COUNTED(OP_ALLTOALL, MPI_Alltoall, comm,
    bytes_of((int64_t)in_n *ranks_of(comm), in_type),
    (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
	MPI_Datatype in_type, MPI_Comm comm),
    (out, out_n, out_type, in, in_n, in_type, comm))
COUNTED(OP_ALLGATHER, MPI_Allgather, comm,
    bytes_of((int64_t)in_n *ranks_of(comm), in_type),
    (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
	MPI_Datatype in_type, MPI_Comm comm),
    (out, out_n, out_type, in, in_n, in_type, comm))
COUNTED(OP_REDUCE_SCATTER, MPI_Reduce_scatter_block, comm,
    bytes_of((int64_t)n *ranks_of(comm), type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm),
    (out, in, n, type, op, comm))
COUNTED(OP_BARRIER, MPI_Barrier, comm, 0, (MPI_Comm comm), (comm))
COUNTED(OP_SEND, MPI_Send, comm, bytes_of(n, type),
    (const void *data, int n, MPI_Datatype type, int to, int tag,
	MPI_Comm comm),
    (data, n, type, to, tag, comm))
COUNTED(OP_RECV, MPI_Recv, comm, bytes_of(n, type),
    (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Status *status),
    (data, n, type, from, tag, comm, status))

static int64_t
sum_of(const int *parts, MPI_Comm comm)
{
	int64_t sum = 0;

	for (int i = 0, n = ranks_of(comm); i < n; i++)
		sum += parts[i];
	return sum;
}

COUNTED(OP_REDUCE_SCATTER, MPI_Reduce_scatter, comm,
    bytes_of(sum_of(parts, comm), type),
    (const void *out, void *in, const int *parts, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm),
    (out, in, parts, type, op, comm))

/* MPICH's Fortran calls C and is counted there. Open MPI's calls PMPI: what a
 * program calls is taken in its place, of mpif.h and mpi_f08 alike, for all
 * that they pass are addresses. Not there, in a program of C, they are not
 * called. */
#ifdef OPEN_MPI
#define FORTRAN_ONE(op, name, target, comm, bytes, parameters, arguments)      \
	void target parameters __attribute__((weak));                          \
	void name parameters;                                                  \
	void name parameters                                                   \
	{                                                                      \
		int64_t from_ns = now();                                       \
                                                                               \
		target arguments;                                              \
		if (dir != NULL)                                               \
			count(op, MPI_Comm_f2c(*comm), bytes, from_ns);        \
	}
#define FORTRAN(op, name, ...)                                                 \
	FORTRAN_ONE(op, mpi_##name##_, pmpi_##name##_, __VA_ARGS__)            \
	FORTRAN_ONE(op, mpi_##name##_f08_, pmpi_##name##_f08_, __VA_ARGS__)

static int64_t
bytes_in(int64_t n, const int *type)
{
	return bytes_of(n, MPI_Type_f2c(*type));
}

FORTRAN(OP_ALLREDUCE, allreduce, comm, bytes_in(*n, type),
    (void *out, void *in, int *n, int *type, int *op, int *comm, int *rc),
    (out, in, n, type, op, comm, rc))
FORTRAN(OP_BROADCAST, bcast, comm, bytes_in(*n, type),
    (void *data, int *n, int *type, int *root, int *comm, int *rc),
    (data, n, type, root, comm, rc))
FORTRAN(OP_REDUCE, reduce, comm, bytes_in(*n, type),
    (void *out, void *in, int *n, int *type, int *op, int *root, int *comm,
	int *rc),
    (out, in, n, type, op, root, comm, rc))
FORTRAN(OP_ALLTOALL, alltoall, comm,
    bytes_in((int64_t)*in_n *ranks_of(MPI_Comm_f2c(*comm)), in_type),
    (void *out, int *out_n, int *out_type, void *in, int *in_n, int *in_type,
	int *comm, int *rc),
    (out, out_n, out_type, in, in_n, in_type, comm, rc))
FORTRAN(OP_ALLGATHER, allgather, comm,
    bytes_in((int64_t)*in_n *ranks_of(MPI_Comm_f2c(*comm)), in_type),
    (void *out, int *out_n, int *out_type, void *in, int *in_n, int *in_type,
	int *comm, int *rc),
    (out, out_n, out_type, in, in_n, in_type, comm, rc))
FORTRAN(OP_REDUCE_SCATTER, reduce_scatter_block, comm,
    bytes_in((int64_t)*n *ranks_of(MPI_Comm_f2c(*comm)), type),
    (void *out, void *in, int *n, int *type, int *op, int *comm, int *rc),
    (out, in, n, type, op, comm, rc))
FORTRAN(OP_REDUCE_SCATTER, reduce_scatter, comm,
    bytes_in(sum_of(parts, MPI_Comm_f2c(*comm)), type),
    (void *out, void *in, int *parts, int *type, int *op, int *comm, int *rc),
    (out, in, parts, type, op, comm, rc))
FORTRAN(OP_BARRIER, barrier, comm, 0, (int *comm, int *rc), (comm, rc))
FORTRAN(OP_SEND, send, comm, bytes_in(*n, type),
    (void *data, int *n, int *type, int *to, int *tag, int *comm, int *rc),
    (data, n, type, to, tag, comm, rc))
FORTRAN(OP_RECV, recv, comm, bytes_in(*n, type),
    (void *data, int *n, int *type, int *from, int *tag, int *comm,
	void *status, int *rc),
    (data, n, type, from, tag, comm, status, rc))

/* The first and the last call. */
#define FORTRAN_ENDS(suffix)                                                   \
	void pmpi_init##suffix(int *rc) __attribute__((weak));                 \
	void pmpi_init_thread##suffix(int *wanted, int *given, int *rc)        \
	    __attribute__((weak));                                             \
	void pmpi_finalize##suffix(int *rc) __attribute__((weak));             \
	void mpi_init##suffix(int *rc);                                        \
	void mpi_init_thread##suffix(int *wanted, int *given, int *rc);        \
	void mpi_finalize##suffix(int *rc);                                    \
	void mpi_init##suffix(int *rc)                                         \
	{                                                                      \
		pmpi_init##suffix(rc);                                         \
		start();                                                       \
	}                                                                      \
	void mpi_init_thread##suffix(int *wanted, int *given, int *rc)         \
	{                                                                      \
		pmpi_init_thread##suffix(wanted, given, rc);                   \
		start();                                                       \
	}                                                                      \
	void mpi_finalize##suffix(int *rc)                                     \
	{                                                                      \
		finish();                                                      \
		pmpi_finalize##suffix(rc);                                     \
	}

FORTRAN_ENDS(_)
FORTRAN_ENDS(_f08_)
#endif
