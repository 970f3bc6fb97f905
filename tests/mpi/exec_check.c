/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_check.c - the executor without the engine, on all ranks of an MPI job.
 *
 * exec_check CASE: exit with 0 on success, otherwise print the failed check.
 * transport.c is included, so that a fake transport can replace one that needs
 * a GPU.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/execute/exec.h"
#include "probes/execute/trial.h"
#include "probes/execute/exec_part.h"
#include "probes/job/world.h"
#include "probes/pattern/pattern.h"
#include "probes/catalog/patterns.h"
#include "probes/transport/backoff.h"

const struct transport_ops *original_find(enum plan_via via);
#define transport_find original_find
#include "probes/transport/transport.c" /* NOLINT: takes the file's place */
#undef transport_find

#define LEAKS_NS (40 * CLK_NS_PER_S)

static struct world world;
static struct transport_team *team;
static int as_shipped; /* every transport is its own */

#define CHECK(x)                                                               \
	do {                                                                   \
		if (!(x))                                                      \
			fatalx("%s:%d: not true: %s", __FILE__, __LINE__, #x); \
	} while (0)

static void
barrier(void)
{
	transport_agree(team, 0);
}

static struct plan *
build(const char *name, const char *const *words, int count)
{
	struct err err;
	struct plan *p;

	if (patterns_plan(name, (char *const *)words, count,
		(uint32_t)team->ranks, &p, &err) < 0)
		fatalx("%s", err.text);
	return p;
}

static struct exec *
make(const struct plan *p)
{
	struct err err;
	struct exec *e;

	if (exec_new(team, p, &e, &err) < 0)
		fatalx("%s", err.text);
	return e;
}

/* ---- leaks ---- */

static int
entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static long
resident_kb(void)
{
	FILE *fp = fopen("/proc/self/statm", "re");
	long total, resident;

	CHECK(fp != NULL && fscanf(fp, "%ld %ld", &total, &resident) == 2);
	fclose(fp);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void
cycle(const struct plan *p, uint64_t number)
{
	struct exec_fault fault;
	struct exec *e = make(p);

	CHECK(trial_prove(team, e, number, &fault) == 0);
	exec_free(e);
}

static void
refusal(const struct plan *p, uint64_t number)
{
	struct err err;
	struct exec *e;

	(void)number;
	CHECK(exec_new(team, p, &e, &err) < 0 && err.text[0] != '\0');
}

static int
late(uint64_t start_ns)
{
	return transport_agree(team,
		   clk_ns() - start_ns > LEAKS_NS ? -ETIME : 0) < 0;
}

/* Open and close a plan up to 1,000 times. Windows are slow, because ranks that
 * wait in MPI keep their cores busy, so a time limit may end the loop earlier.
 * After the first hundred cycles no more memory, descriptors or shared memory
 * may be used. */
static void
leaks_of(const char *via, void (*life)(const struct plan *p, uint64_t number))
{
	const char *words[] = { "g=2", "bytes=100003", via };
	struct plan *p = build("stripe", words, 3);
	uint64_t start_ns = clk_ns();
	int fds = 0, shm = 0, i;
	long kb = 0;

	for (i = 0; i < 1000 && !(i >= 200 && late(start_ns)); i++) {
		if (i == 100) {
			barrier();
			fds = entries("/proc/self/fd");
			shm = entries("/dev/shm");
			kb = resident_kb();
		}
		life(p, (uint64_t)i);
	}
	barrier();
	CHECK(entries("/proc/self/fd") == fds);
	CHECK(entries("/dev/shm") == shm);
	if (team->rank == 0)
		printf("%s: %d cycles: %ld KiB more\n", via, i,
		    resident_kb() - kb);
	CHECK(resident_kb() - kb < 1024);
	plan_free(p);
}

static void
case_leaks(void)
{
	leaks_of("via=ipc,mpi,ipc", cycle);
	leaks_of("via=mpi", cycle);
	leaks_of("via=ipc", cycle);
	leaks_of("via=rma", cycle);
	as_shipped = 1;
	leaks_of("via=ipc,xccl,mpi", refusal);
}

/* ---- faults: wrong data must be detected ---- */

static void
expect(struct exec *e, int rc, uint32_t rank, const char *buf, int64_t off)
{
	struct exec_fault f;

	CHECK(trial_compare(team, e, 7, &f) == rc);
	if (rc == 0)
		return;
	if (f.rank != rank || f.off != off ||
	    strcmp(e->plan->bufs[f.buf].name, buf) != 0)
		fatalx("the fault is at rank %u %s%+lld", f.rank,
		    e->plan->bufs[f.buf].name, (long long)f.off);
}

/* Spoil one byte of one rank, check that it is detected, and restore it. */
static void
spoil(struct exec *e, uint32_t rank, uint16_t buf, int64_t off)
{
	char *at = exec_at(e, buf, off);

	if (team->rank == (int)rank)
		*at ^= 0x10;
	expect(e, -EBADMSG, rank, e->plan->bufs[buf].name, off);
	if (team->rank == (int)rank)
		*at ^= 0x10;
	expect(e, 0, 0, "", 0);
}

static void
spoil_all(const char *name, const char *const *words, int count)
{
	struct plan *p = build(name, words, count);
	struct exec *e = make(p);
	struct exec_fault f;

	CHECK(trial_prove(team, e, 7, &f) == 0);
	for (uint32_t rank = 0; rank < p->ranks; rank++)
		for (uint16_t b = 0; b < p->bufs_count; b++) {
			int64_t bytes = (int64_t)p->bufs[b].bytes[rank];

			spoil(e, rank, b, bytes);
			spoil(e, rank, b, bytes + 200);
			if (b == 0)
				spoil(e, rank, b, -1);
			if (bytes == 0 || p->bufs[b].role == PLAN_TEMP)
				continue;
			spoil(e, rank, b, 0);
			spoil(e, rank, b, bytes / 2);
			spoil(e, rank, b, bytes - 1);
		}
	exec_free(e);
	plan_free(p);
}

/* A plan with a wrong transfer: data of the wrong place or rank arrives, or
 * none. The first wrong byte is at the correct destination. */
static void
wrong(void (*spoiler)(struct plan_transfer *t), int64_t off)
{
	const char *words[] = { "g=4", "bytes=400000" };
	struct plan *p = build("stripe", words, 2);
	struct exec_fault f;
	struct exec *e;

	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].src == 5)
			spoiler(&p->transfers[i]);
	e = make(p);
	CHECK(trial_prove(team, e, 7, &f) == -EBADMSG);
	CHECK(f.rank == 4 && f.off == off);
	exec_free(e);
	plan_free(p);
}

static void
shift(struct plan_transfer *t)
{
	t->from_off++;
	t->bytes--;
}

static void
shorten(struct plan_transfer *t)
{
	t->bytes -= 3;
}

static void
misroute(struct plan_transfer *t)
{
	t->src = 6;
}

/* Data of another iteration, or the earlier contents, are detected as wrong. */
static void
stale(void)
{
	const char *words[] = { "g=4", "bytes=400000" };
	struct plan *p = build("stripe", words, 2);
	struct exec *e = make(p);
	struct exec_fault f;

	CHECK(trial_prove(team, e, 6, &f) == 0);
	CHECK(trial_compare(team, e, 7, &f) == -EBADMSG);
	exec_fill(e, 7);
	barrier();
	CHECK(trial_compare(team, e, 7, &f) == -EBADMSG);
	CHECK(f.rank == 4 && f.off == 0);
	exec_free(e);
	plan_free(p);
}

static void
case_faults(void)
{
	const char *stripe[] = { "g=4", "bytes=300001" };
	const char *sum[] = { "name=allreduce", "count=103", "hierarchy=2,4" };

	spoil_all("stripe", stripe, 2);
	spoil_all("collective", sum, 3);
	wrong(shift, 100000);
	wrong(shorten, 199997);
	wrong(misroute, 100000);
	stale();
}

/* ---- a transport that starts whole steps ---- */

struct stepped {
	struct transport *inner;
	struct transport_share share;
	struct transport_end *ends;
	const struct transport_share *outer;
	uint32_t batch; /* next: they come in order */
};

static int
step_prepare(const struct transport_team *tm,
    const struct transport_share *share, struct transport **ret,
    struct err *err)
{
	struct stepped *st = xcalloc(1, sizeof(*st));

	st->outer = share;
	st->share = *share;
	st->ends = xcalloc(share->ends_count + (size_t)1, sizeof(*st->ends));
	for (uint32_t i = 0; i < share->ends_count; i++) {
		st->ends[i] = share->ends[i];
		st->ends[i].batch = i;
		CHECK(
		    i == 0 || share->ends[i].batch >= share->ends[i - 1].batch);
		CHECK(i == 0 || share->ends[i].step >= share->ends[i - 1].step);
	}
	st->share.ends = st->ends;
	st->share.batches_count = share->ends_count;
	*ret = (struct transport *)st;
	return transport_mpi.prepare(tm, &st->share, &st->inner, err);
}

static int
step_begin(struct transport *t)
{
	((struct stepped *)t)->batch = 0;
	return 0;
}

static int
step_start(struct transport *t, uint32_t batch)
{
	struct stepped *st = (struct stepped *)t;
	int rc = 0;

	CHECK(batch >= st->batch);
	st->batch = batch + 1;
	for (uint32_t i = 0; rc == 0 && i < st->outer->ends_count; i++)
		if (st->outer->ends[i].batch == batch)
			rc = transport_mpi.start(st->inner, i);
	return rc;
}

static int
step_test(struct transport *t, uint32_t *ret_ends, uint32_t cap)
{
	return transport_mpi.test(((struct stepped *)t)->inner, ret_ends, cap);
}

static void
step_release(struct transport *t)
{
	struct stepped *st = (struct stepped *)t;

	transport_mpi.release(st->inner);
	free(st->ends);
	free(st);
}

static struct transport_ops transport_step = {
	.name = "step",
	.by_step = 1,
	.prepare = step_prepare,
	.begin = step_begin,
	.start = step_start,
	.test = step_test,
	.release = step_release,
};

const struct transport_ops *
transport_find(enum plan_via via)
{
	if (via != PLAN_VIA_XCCL || as_shipped)
		return original_find(via);
	transport_step.usable = transport_mpi.usable;
	return &transport_step;
}

static void
stepped(const char *name, const char *const *words, int count)
{
	struct plan *p = build(name, words, count);
	struct exec *e = make(p);
	struct exec_fault f;

	for (uint64_t i = 0; i < 5; i++)
		CHECK(trial_prove(team, e, i, &f) == 0);
	for (uint32_t step = 0; step < p->steps; step++) {
		exec_start(e, step, step + 1);
		exec_wait(e);
	}
	CHECK(trial_prove(team, e, 9, &f) == 0);
	exec_free(e);
	plan_free(p);
}

static void
case_steps(void)
{
	const char *mixed[] = { "name=allreduce", "count=507", "hierarchy=2,4",
		"depth=4", "via=xccl,ipc" };
	const char *all[] = { "name=reduce-scatter", "count=96",
		"hierarchy=2,4", "depth=3", "via=xccl", "lean=no" };
	const char *stripe[] = { "g=4", "bytes=100003", "via=ipc,xccl,mpi" };
	const char *self[] = { "bytes=10000", "via=xccl" };

	stepped("collective", mixed, 5);
	stepped("collective", all, 6);
	stepped("stripe", stripe, 3);
	stepped("self", self, 2);
}

/* ---- effects of devices ---- */

/* Return the number of naps of a rank that waits 50 ms for a message. */
static long
naps(int awake)
{
	struct backoff b = { .awake = awake };
	uint64_t end_ns = clk_ns() + 50 * CLK_NS_PER_MS;
	struct rusage before, now;

	getrusage(RUSAGE_SELF, &before);
	while (clk_ns() < end_ns)
		backoff_wait(&b);
	getrusage(RUSAGE_SELF, &now);
	return now.ru_nvcsw - before.ru_nvcsw;
}

/* A rank with its own core does not nap, and more bytes are in flight to a
 * device. */
static void
case_devices(void)
{
	const struct device_ops gpu = { .host_access = 0 };
	struct transport_team other = { .ops = &gpu };

	CHECK(naps(1) * 4 < naps(0));
	CHECK(transport_window_bytes(&other, &transport_mpi) >= 4 << 20);
	CHECK(transport_window_bytes(team, &transport_mpi) < 1 << 20);
	CHECK(transport_window_bytes(&other, &transport_xccl) == 0);
}

/* An end has many requests, which wait for the last one of another end: all are
 * tested, since the other rank may wait for that one. */
static void
case_requests(void)
{
	enum { MANY = 1000 };
	struct transport_requests r = { 0 };
	struct transport_share share = { .ends_count = 2 };
	const uint32_t *found;
	char byte[MANY + 1] = "";

	transport_requests_open(&r, MANY + 1);
	for (int i = 0; i <= MANY; i++) {
		CHECK(MPI_Irecv(&byte[i], 1, MPI_BYTE, 0, i, MPI_COMM_SELF,
			  &r.list[r.count]) == MPI_SUCCESS);
		r.ends[r.count++] = i == MANY;
	}
	MPI_Send("", 1, MPI_BYTE, 0, MANY, MPI_COMM_SELF);
	CHECK(transport_requests_test(&r, &share, &found) == 1);
	CHECK(found[0] == 1 && r.count == MANY);
	for (int i = 0; i < MANY; i++)
		MPI_Send("", 1, MPI_BYTE, 0, i, MPI_COMM_SELF);
	while (r.count > 0) {
		int n = transport_requests_test(&r, &share, &found);

		CHECK(n >= 0);
		for (int i = 0; i < n; i++)
			CHECK(found[i] == 0);
	}
	transport_requests_close(&r);
}

/* ---- several plans open and in flight concurrently ---- */

static void
case_together(void)
{
	const char *a[] = { "g=4", "bytes=1000003" };
	const char *b[] = { "name=allgather", "count=1000", "hierarchy=2,4",
		"via=mpi,ipc" };
	const char *c[] = { "pattern=symmetric", "n=2", "g=4", "k=3",
		"count=5003", "direction=omni" };
	struct plan *p[3];
	struct exec *e[3];
	struct exec_fault f;

	p[0] = build("stripe", a, 2);
	p[1] = build("collective", b, 4);
	p[2] = build("group", c, 6);
	for (int i = 0; i < 3; i++)
		e[i] = make(p[i]);
	for (uint64_t turn = 0; turn < 20; turn++) {
		for (int i = 0; i < 3; i++)
			exec_fill(e[i], turn);
		barrier();
		exec_run_all(e, 3);
		barrier();
		for (int i = 0; i < 3; i++)
			CHECK(trial_compare(team, e[i], turn, &f) == 0);
	}
	for (int i = 0; i < 3; i++) {
		exec_free(e[i]);
		plan_free(p[i]);
	}
}

/* ---- set-up time of a plan ---- */

/* All but a few pairs of ranks, as in an application's matrix. */
static struct plan *
pattern_48(enum plan_via via)
{
	struct plan *p = plan_new((uint32_t)team->ranks, "matrix");
	uint16_t send = plan_buf_add(p, "send", PLAN_IN);
	uint16_t recv = plan_buf_add(p, "recv", PLAN_OUT);

	for (uint32_t src = 0; src < p->ranks; src++)
		for (uint32_t dst = 0; dst < p->ranks; dst++) {
			struct plan_transfer t = { .src = src,
				.dst = dst,
				.from = send,
				.to = recv,
				.from_off = p->bufs[send].bytes[src],
				.to_off = p->bufs[recv].bytes[dst],
				.bytes = 64 + (src * 7 + dst) % 1000,
				.via = (uint8_t)via };

			if ((src * 5 + dst * 3) % 7 > 2)
				continue;
			plan_buf_need(p, send, src, t.from_off + t.bytes);
			plan_buf_need(p, recv, dst, t.to_off + t.bytes);
			plan_transfer_add(p, &t);
			plan_promise_copy(p, &t);
		}
	plan_sort(p);
	return p;
}

/* Print the set-up time. The documented limit holds on an idle machine
 * (tests/bench); the limit here is much larger. */
static void
setup_of(enum plan_via via)
{
	struct plan *p = pattern_48(via);
	double best_s = 1e9;

	for (int i = 0; i < 5; i++) {
		uint64_t start_ns;
		MPI_Request req;
		struct exec *e;
		double s;

		barrier();
		start_ns = clk_ns();
		e = make(p);
		s = (double)(clk_ns() - start_ns) / 1e9;
		/* Sleep: a spinning rank would use the cores of ranks that
		 * are still being timed. */
		MPI_Iallreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_MAX,
		    team->comm, &req);
		backoff_request(&req);
		best_s = s < best_s ? s : best_s;
		exec_free(e);
	}
	if (team->rank == 0)
		printf("%s: %d ranks, %zu transfers ready in %.1f ms\n",
		    plan_vias[via], team->ranks, p->transfers_count,
		    best_s * 1e3);
	CHECK(best_s < 5);
	plan_free(p);
}

static void
case_setup(void)
{
	setup_of(PLAN_VIA_MPI);
	setup_of(PLAN_VIA_IPC);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "leaks", case_leaks },
	{ "faults", case_faults },
	{ "steps", case_steps },
	{ "requests", case_requests },
	{ "devices", case_devices },
	{ "together", case_together },
	{ "setup", case_setup },
};

int
main(int argc, char **argv)
{
	struct err err;

	log_init("exec_check", LOG_LEVEL_INFO);
	world_open(&world, &argc, &argv);
	if (argc != 2 || team_open(&world, "host", "auto", &team, &err) < 0)
		fatalx("usage: exec_check CASE");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			cases[i].run();
	team_close(team);
	world_close(&world, 0);
	return 0;
}
