/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmpi.c - libcoalmine-pmpi.so, preloaded into an MPI program: the number and
 * time of each rank's collectives, for the agent of its node. It uses MPI's
 * profiling interface and adds a clock and a table row per call. An error here
 * is never reported and never ends the program. MPI_Init runs two more
 * collectives of all ranks: the world is split by nodes, and the nodes are
 * counted.
 *
 * COALMINE_IN_BAND names the folder; without it every call is passed on
 * directly.
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS   (60 * INT64_C(1000000000))
#define SLOTS      256
#define JOB_BYTES  64
#define HOST_BYTES 256
#define LANES      4 /* files of a rank, for programs that run side by side */

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
	int ranks, nodes; /* nodes 0: of a part of the ranks */
	int size;         /* log2 of the bytes */
	int64_t calls, bytes, ns;
} slots[SLOTS];

static const char *dir; /* NULL: nothing is counted */
static char job[JOB_BYTES], host[HOST_BYTES];
static char path[PATH_MAX], half[PATH_MAX]; /* its file, and while written */
static int world_rank, world_ranks, world_nodes;
static int64_t written_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t
pmpi_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Replace the content of this process's file, so that it is complete at any
 * time. */
static void
pmpi_write_all(void)
{
	FILE *fp;
	int fd;

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
			    s->nodes, s->calls, s->bytes, s->ns / 1000000000,
			    s->ns % 1000000000);
	if (fclose(fp) != 0 || rename(half, path) != 0)
		unlink(half);
}

/* Add calls with this many bytes in total. */
static void
pmpi_add(enum op op, int ranks, int nodes, const struct slot *more)
{
	int64_t one = more->calls > 0 ? more->bytes / more->calls : 0;
	int size = one > 0 ? 63 - __builtin_clzll((unsigned long long)one) : 0;
	unsigned first = (unsigned)op * 31 + (unsigned)size * 7 +
	    (unsigned)ranks * 17;

	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[(first + i) % SLOTS];

		if (s->op == OP_NONE)
			*s = (struct slot){ .op = op,
				.ranks = ranks,
				.nodes = nodes,
				.size = size };
		if (s->op == op && s->ranks == ranks && s->nodes == nodes &&
		    s->size == size) {
			s->calls += more->calls;
			s->bytes += more->bytes;
			s->ns += more->ns;
			return;
		}
	}
}

static void
pmpi_count(enum op op, MPI_Comm comm, int64_t bytes, int64_t from_ns)
{
	int64_t at_ns = pmpi_now();
	struct slot one = { .calls = 1,
		.bytes = bytes < 0 ? 0 : bytes,
		.ns = at_ns - from_ns };
	int ranks = 0;

	PMPI_Comm_size(comm, &ranks);
	pthread_mutex_lock(&lock);
	pmpi_add(op, ranks, ranks == world_ranks ? world_nodes : 0, &one);
	if (at_ns - written_ns > EVERY_NS) {
		written_ns = at_ns;
		pmpi_write_all();
	}
	pthread_mutex_unlock(&lock);
}

static int64_t
pmpi_bytes_of(int64_t n, MPI_Datatype type)
{
	int one = 0;

	PMPI_Type_size(type, &one);
	return n * one;
}

static int
pmpi_ranks_of(MPI_Comm comm)
{
	int n = 0;

	PMPI_Comm_size(comm, &n);
	return n;
}

/* A variable that says something, or NULL. */
static const char *
pmpi_said(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Return the batch system's ID of this job; an array task has two numbers.
 * Return 0 if not found: job is "none" then. */
static int
pmpi_job_name(void)
{
	static const char *const names[] = { "COALMINE_JOB", "SLURM_JOB_ID",
		"PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID", NULL };
	const char *array = pmpi_said("SLURM_ARRAY_JOB_ID"), *value = NULL;
	const char *task = pmpi_said("SLURM_ARRAY_TASK_ID");
	int n;

	for (int i = 0; names[i] != NULL && value == NULL; i++)
		value = pmpi_said(names[i]);
	if (array != NULL && task != NULL && pmpi_said("COALMINE_JOB") == NULL)
		n = snprintf(job, sizeof(job), "%s_%s", array, task);
	else
		n = snprintf(job, sizeof(job), "%s",
		    value == NULL ? "" : value);
	if (n <= 0 || (size_t)n >= sizeof(job)) {
		snprintf(job, sizeof(job), "none");
		return 0;
	}
	for (char *c = job; *c != '\0'; c++)
		if (strchr("/\"\\", *c) != NULL || (*c > 0 && *c < ' '))
			*c = '-';
	return 1;
}

/* Continues the counts of programs that ran before this one in the same start
 * of the job: they share one file for each rank. */
static void
pmpi_go_on(void)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	const char *since = pmpi_said("SLURM_JOB_START_TIME");
	char line[JOB_BYTES + HOST_BYTES + 300], op[20];
	struct stat st;
	FILE *fp;

	if (fd < 0)
		return;
	fp = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_uid == geteuid() &&
		(since == NULL || st.st_mtime >= strtoll(since, NULL, 10))
	    ? fdopen(fd, "r")
	    : NULL;
	if (fp == NULL) {
		close(fd);
		return;
	}
	for (int i = 0; i < SLOTS && fgets(line, sizeof(line), fp) != NULL;
	     i++) {
		struct slot s = { .op = OP_NONE };
		const char *at = strstr(line, ",\"op\":");
		int64_t seconds, ns;

		if (at == NULL ||
		    sscanf(at,
			",\"op\":\"%19[a-z-]\",\"comm_ranks\":%d,"
			"\"comm_nodes\":%d,\"calls\":%" SCNd64
			",\"bytes\":%" SCNd64 ",\"seconds\":%" SCNd64
			".%" SCNd64,
			op, &s.ranks, &s.nodes, &s.calls, &s.bytes, &seconds,
			&ns) != 7)
			continue;
		s.ns = seconds * 1000000000 + ns;
		for (int k = OP_NONE + 1; k < OP_MAX; k++)
			if (strcmp(op_names[k], op) == 0)
				pmpi_add((enum op)k, s.ranks, s.nodes, &s);
	}
	fclose(fp);
}

static void
pmpi_start(void)
{
	const char *step = pmpi_said("SLURM_STEP_ID");
	int one = 0, local, lane = 0, is_named, n, m;
	MPI_Comm node;

	dir = pmpi_said("COALMINE_IN_BAND");
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
	written_ns = pmpi_now();
	if (dir == NULL)
		return;
	is_named = pmpi_job_name();
	/* Consecutive steps get consecutive numbers. */
	if (step != NULL)
		lane = (int)(strtoul(step, NULL, 10) % LANES);
	if (gethostname(host, sizeof(host) - 1) != 0) {
		dir = NULL;
		return;
	}
	n = snprintf(path, sizeof(path), "%s/%s-%s-%d-%d.jsonl", dir, job, host,
	    world_rank, lane);
	m = snprintf(half, sizeof(half), "%s/.%s-%s-%d-%d.%d", dir, job, host,
	    world_rank, lane, (int)getpid());
	if (n < 0 || m < 0 || n >= PATH_MAX || m >= PATH_MAX)
		dir = NULL;
	else if (is_named)
		pmpi_go_on();
}

int
MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	if (rc == MPI_SUCCESS)
		pmpi_start();
	return rc;
}

int
MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
	int rc = PMPI_Init_thread(argc, argv, wanted, given);

	if (rc == MPI_SUCCESS)
		pmpi_start();
	return rc;
}

static void
pmpi_finish(void)
{
	if (dir == NULL)
		return;
	pthread_mutex_lock(&lock);
	pmpi_write_all();
	pthread_mutex_unlock(&lock);
}

int
MPI_Finalize(void)
{
	pmpi_finish();
	return PMPI_Finalize();
}

/* Define name(parameters), which calls PMPI_name(arguments) and times it: a
 * call of op on comm with this many bytes. */
#define COUNTED(op, name, comm, bytes, parameters, arguments)                  \
	int name parameters                                                    \
	{                                                                      \
		int64_t from_ns;                                               \
		int rc;                                                        \
                                                                               \
		if (dir == NULL)                                               \
			return P##name arguments;                              \
		from_ns = pmpi_now();                                          \
		rc = P##name arguments;                                        \
		pmpi_count(op, comm, bytes, from_ns);                          \
		return rc;                                                     \
	}

COUNTED(OP_ALLREDUCE, MPI_Allreduce, comm, pmpi_bytes_of(n, type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm),
    (out, in, n, type, op, comm))
COUNTED(OP_BROADCAST, MPI_Bcast, comm, pmpi_bytes_of(n, type),
    (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
    (data, n, type, root, comm))
COUNTED(OP_REDUCE, MPI_Reduce, comm, pmpi_bytes_of(n, type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root,
	MPI_Comm comm),
    (out, in, n, type, op, root, comm))
/* The receive side is counted, since the send side may be MPI_IN_PLACE. */
COUNTED(OP_ALLTOALL, MPI_Alltoall, comm,
    pmpi_bytes_of((int64_t)in_n *pmpi_ranks_of(comm), in_type),
    (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
	MPI_Datatype in_type, MPI_Comm comm),
    (out, out_n, out_type, in, in_n, in_type, comm))
COUNTED(OP_ALLGATHER, MPI_Allgather, comm,
    pmpi_bytes_of((int64_t)in_n *pmpi_ranks_of(comm), in_type),
    (const void *out, int out_n, MPI_Datatype out_type, void *in, int in_n,
	MPI_Datatype in_type, MPI_Comm comm),
    (out, out_n, out_type, in, in_n, in_type, comm))
COUNTED(OP_REDUCE_SCATTER, MPI_Reduce_scatter_block, comm,
    pmpi_bytes_of((int64_t)n *pmpi_ranks_of(comm), type),
    (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op,
	MPI_Comm comm),
    (out, in, n, type, op, comm))
COUNTED(OP_BARRIER, MPI_Barrier, comm, 0, (MPI_Comm comm), (comm))
COUNTED(OP_SEND, MPI_Send, comm, pmpi_bytes_of(n, type),
    (const void *data, int n, MPI_Datatype type, int to, int tag,
	MPI_Comm comm),
    (data, n, type, to, tag, comm))
COUNTED(OP_RECV, MPI_Recv, comm, pmpi_bytes_of(n, type),
    (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Status *status),
    (data, n, type, from, tag, comm, status))

static int64_t
pmpi_sum_of(const int *parts, MPI_Comm comm)
{
	int64_t sum = 0;

	for (int i = 0, n = pmpi_ranks_of(comm); i < n; i++)
		sum += parts[i];
	return sum;
}

COUNTED(OP_REDUCE_SCATTER, MPI_Reduce_scatter, comm,
    pmpi_bytes_of(pmpi_sum_of(parts, comm), type),
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
		int64_t from_ns = pmpi_now();                                  \
                                                                               \
		target arguments;                                              \
		if (dir != NULL)                                               \
			pmpi_count(op, MPI_Comm_f2c(*comm), bytes, from_ns);   \
	}
#define FORTRAN(op, name, ...)                                                 \
	FORTRAN_ONE(op, mpi_##name##_, pmpi_##name##_, __VA_ARGS__)            \
	FORTRAN_ONE(op, mpi_##name##_f08_, pmpi_##name##_f08_, __VA_ARGS__)

static int64_t
pmpi_bytes_in(int64_t n, const int *type)
{
	return pmpi_bytes_of(n, MPI_Type_f2c(*type));
}

FORTRAN(OP_ALLREDUCE, allreduce, comm, pmpi_bytes_in(*n, type),
    (void *out, void *in, int *n, int *type, int *op, int *comm, int *rc),
    (out, in, n, type, op, comm, rc))
FORTRAN(OP_BROADCAST, bcast, comm, pmpi_bytes_in(*n, type),
    (void *data, int *n, int *type, int *root, int *comm, int *rc),
    (data, n, type, root, comm, rc))
FORTRAN(OP_REDUCE, reduce, comm, pmpi_bytes_in(*n, type),
    (void *out, void *in, int *n, int *type, int *op, int *root, int *comm,
	int *rc),
    (out, in, n, type, op, root, comm, rc))
FORTRAN(OP_ALLTOALL, alltoall, comm,
    pmpi_bytes_in((int64_t)*in_n *pmpi_ranks_of(MPI_Comm_f2c(*comm)), in_type),
    (void *out, int *out_n, int *out_type, void *in, int *in_n, int *in_type,
	int *comm, int *rc),
    (out, out_n, out_type, in, in_n, in_type, comm, rc))
FORTRAN(OP_ALLGATHER, allgather, comm,
    pmpi_bytes_in((int64_t)*in_n *pmpi_ranks_of(MPI_Comm_f2c(*comm)), in_type),
    (void *out, int *out_n, int *out_type, void *in, int *in_n, int *in_type,
	int *comm, int *rc),
    (out, out_n, out_type, in, in_n, in_type, comm, rc))
FORTRAN(OP_REDUCE_SCATTER, reduce_scatter_block, comm,
    pmpi_bytes_in((int64_t)*n *pmpi_ranks_of(MPI_Comm_f2c(*comm)), type),
    (void *out, void *in, int *n, int *type, int *op, int *comm, int *rc),
    (out, in, n, type, op, comm, rc))
FORTRAN(OP_REDUCE_SCATTER, reduce_scatter, comm,
    pmpi_bytes_in(pmpi_sum_of(parts, MPI_Comm_f2c(*comm)), type),
    (void *out, void *in, int *parts, int *type, int *op, int *comm, int *rc),
    (out, in, parts, type, op, comm, rc))
FORTRAN(OP_BARRIER, barrier, comm, 0, (int *comm, int *rc), (comm, rc))
FORTRAN(OP_SEND, send, comm, pmpi_bytes_in(*n, type),
    (void *data, int *n, int *type, int *to, int *tag, int *comm, int *rc),
    (data, n, type, to, tag, comm, rc))
FORTRAN(OP_RECV, recv, comm, pmpi_bytes_in(*n, type),
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
		pmpi_start();                                                  \
	}                                                                      \
	void mpi_init_thread##suffix(int *wanted, int *given, int *rc)         \
	{                                                                      \
		pmpi_init_thread##suffix(wanted, given, rc);                   \
		pmpi_start();                                                  \
	}                                                                      \
	void mpi_finalize##suffix(int *rc)                                     \
	{                                                                      \
		pmpi_finish();                                                 \
		pmpi_finalize##suffix(rc);                                     \
	}

FORTRAN_ENDS(_)
FORTRAN_ENDS(_f08_)
#endif
