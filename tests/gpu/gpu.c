/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - DEVICE CASE [BYTES [LIMIT [SHARE]]]: one case on one GPU through the
 * shipped plugin, every result verified. A line for the table of RESULTS.md:
 * "what|seen|share of the limit|". LIMIT is in bytes a second (0: not known),
 * SHARE what must be reached of it.
 *
 * Exit status: 0 good, 1 wrong data, an error or too slow, 77 no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/rng.h"
#include "common/str.h"
#include "probes/device/device.h"
#include "probes/device/host_reduce.h"
#include "probes/transport/xccl_lib.h"

#define ROUNDS 20
#define LIMIT_S                                                                \
	120 /* of a case: NCCL may hang where it is not meant to be            \
	     */
#define CHECK_BYTES (16 << 20) /* of a result compared with the host's */
#define INPUTS_MAX  4

static const struct device_ops *g;
static struct device *d;
static struct device_stream *s;
static const char *program, *device_name;
static uint64_t bytes = 2ULL << 30;
static double limit, share_wanted;
static int too_slow;

static void
die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, d != NULL ? g->error(d) : "");
	exit(1);
}

static void
must(int rc, const char *what)
{
	if (rc < 0)
		die(what);
}

static void *
on_gpu(uint64_t size)
{
	void *base;

	must(g->alloc(d, size, &base), "allocating");
	return base;
}

static void *
on_host(uint64_t size)
{
	void *base;

	must(g->host_alloc(d, size, &base), "allocating");
	return base;
}

/* A line of the table. */
static void
report(const char *what, double bytes_per_s)
{
	double share = limit > 0 ? bytes_per_s / limit : 0;

	printf("%s|%.1f GB/s, verified|", what, bytes_per_s / 1e9);
	if (limit > 0)
		printf("%.1f %%|\n", share * 100);
	else
		printf("-|\n");
	if (limit > 0 && share < share_wanted) {
		fprintf(stderr, "%s: %.1f %% of the limit, wanted %.1f %%\n",
		    what, share * 100, share_wanted * 100);
		too_slow = 1;
	}
}

/* ---- data ---- */

static void
randomise(void *to, uint64_t size, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (uint64_t i = 0; i + 8 <= size; i += 8) {
		uint64_t x = rng_next(&r);

		memcpy((char *)to + i, &x, 8);
	}
}

/* All of a large area: a random piece, again and again. */
static void
fill_from(void *to, uint64_t size, uint64_t seed)
{
	uint64_t piece = size < CHECK_BYTES ? size : CHECK_BYTES;
	void *here = on_host(piece);

	randomise(here, piece, seed);
	for (uint64_t off = 0; off < size; off += piece)
		must(g->copy(s, (char *)to + off, here,
			 size - off < piece ? size - off : piece),
		    "filling");
	must(g->stream_sync(s), "filling");
	g->host_free(d, here);
}

/* Every byte of it, piece by piece. */
static void
expect(const void *at, uint64_t size, uint64_t seed, const char *what)
{
	uint64_t piece = size < CHECK_BYTES ? size : CHECK_BYTES;
	char *here = on_host(piece), *want = on_host(piece);

	randomise(want, piece, seed);
	for (uint64_t off = 0; off < size; off += piece) {
		uint64_t n = size - off < piece ? size - off : piece;

		must(g->copy(s, here, (const char *)at + off, n), what);
		must(g->stream_sync(s), what);
		for (uint64_t i = 0; memcmp(here, want, n) != 0 && i < n; i++)
			if (here[i] != want[i]) {
				fprintf(stderr, "%s: wrong byte at %llu\n",
				    what, (unsigned long long)(off + i));
				exit(1);
			}
	}
	g->host_free(d, here);
	g->host_free(d, want);
}

/* ---- cases ---- */

static void
case_facts(void)
{
	struct device_facts f;

	must(g->facts(d, &f), "facts");
	printf("device|%s %s, %.1f GB, rated %.0f GB/s|-|\n", f.pci, f.name,
	    (double)f.memory_bytes / 1e9, f.memory_bytes_per_s / 1e9);
}

static void
case_copy(void)
{
	void *a = on_gpu(bytes), *b = on_gpu(bytes);
	uint64_t start = 0;

	fill_from(a, bytes, 1);
	for (int i = -3; i < ROUNDS; i++) {
		if (i == 0) {
			must(g->stream_sync(s), "copying");
			start = clk_ns();
		}
		must(g->copy(s, b, a, bytes), "copying");
	}
	must(g->stream_sync(s), "copying");
	start = clk_ns() - start;
	expect(b, bytes, 1, "copy");
	report("self copy, bytes read and written",
	    2.0 * ROUNDS * (double)bytes * 1e9 / (double)start);
}

/* Random bits: every NaN, infinity and number too small to be normal. */
static void
compare_with_host(enum plan_op op, enum plan_type type, uint32_t inputs,
    void *const *there, void *to)
{
	uint64_t size = bytes < CHECK_BYTES ? bytes : CHECK_BYTES;
	uint64_t n = size / plan_types[type].bytes - 3; /* and a rest */
	void *here[INPUTS_MAX], *got = on_host(size), *want = on_host(size);

	for (uint32_t k = 0; k < inputs; k++) {
		here[k] = on_host(size);
		randomise(here[k], size, k + 1);
	}
	must(g->reduce(s, op, type, to, (const void *const *)there, inputs, n),
	    "reducing");
	must(g->copy(s, got, to, size), "reducing");
	must(g->stream_sync(s), "reducing");
	host_reduce(op, type, want, (const void *const *)here, inputs, n);
	if (memcmp(got, want, n * plan_types[type].bytes) != 0) {
		fprintf(stderr, "%s of %s differs from the host's\n",
		    plan_ops[op], plan_types[type].name);
		exit(1);
	}
	for (uint32_t k = 0; k < inputs; k++)
		g->host_free(d, here[k]);
	g->host_free(d, got);
	g->host_free(d, want);
}

static double
time_reduce(enum plan_op op, enum plan_type type, uint32_t inputs,
    void *const *there, void *to)
{
	uint64_t n = bytes / plan_types[type].bytes, start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			must(g->stream_sync(s), "reducing");
			start = clk_ns();
		}
		must(g->reduce(s, op, type, to, (const void *const *)there,
			 inputs, n),
		    "reducing");
	}
	must(g->stream_sync(s), "reducing");
	return (inputs + 1.0) * ROUNDS * (double)bytes * 1e9 /
	    (double)(clk_ns() - start);
}

static void
case_reduce(void)
{
	void *in[INPUTS_MAX], *to = on_gpu(bytes);
	char what[100];

	for (uint64_t k = 0; k < INPUTS_MAX; k++) {
		in[k] = on_gpu(bytes);
		fill_from(in[k], bytes, k + 1);
	}
	for (int type = 0; type < PLAN_BYTE; type++)
		for (int op = PLAN_SUM; op < PLAN_OP_MAX; op++)
			for (uint32_t n = 2; n <= INPUTS_MAX; n += 2) {
				compare_with_host(op, type, n, in, to);
				snprintf(what, sizeof(what),
				    "%s of %s, %u inputs, bit for bit the "
				    "host's",
				    plan_ops[op], plan_types[type].name, n);
				report(what, time_reduce(op, type, n, in, to));
			}
}

/* ---- two processes ---- */

struct other {
	pid_t pid;
	int to, from;
};

/* This program again, with another case; a GPU does not survive fork. */
static struct other
start_other(const char *name, const char *hostid)
{
	int to[2], from[2];
	struct other o;
	char size[32];

	if (pipe(to) < 0 || pipe(from) < 0)
		die("pipe");
	snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	o.pid = fork();
	if (o.pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		if (hostid != NULL)
			setenv("NCCL_HOSTID", hostid, 1);
		execl("/proc/self/exe", program, device_name, name, size, NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	o.to = to[1];
	o.from = from[0];
	return o;
}

static void
tell(int fd, const void *what, size_t size)
{
	if (write(fd, what, size) != (ssize_t)size)
		die("telling the other process");
}

static void
hear(int fd, void *what, size_t size)
{
	if (read(fd, what, size) != (ssize_t)size)
		die("the other process ended");
}

static void
end_other(const struct other *o)
{
	int status;

	if (waitpid(o->pid, &status, 0) != o->pid || status != 0)
		die("the other process failed");
}

/* The owner: its memory is read and overwritten by the other. */
static void
case_ipc(void)
{
	void *mine = on_gpu(bytes);
	struct device_ipc handle;
	double rates[2];
	struct other o = start_other("ipc-other", NULL);

	fill_from(mine, bytes, 11);
	must(g->ipc_export(d, mine, &handle), "exporting");
	tell(o.to, &handle, sizeof(handle));
	hear(o.from, rates, sizeof(rates));
	expect(mine, bytes, 12, "put by the other process");
	end_other(&o);
	report("IPC get between two processes, bytes read and written",
	    rates[0]);
	report("IPC put between two processes, bytes read and written",
	    rates[1]);
}

static double
time_copy(void *to, const void *from)
{
	uint64_t start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			must(g->stream_sync(s), "copying");
			start = clk_ns();
		}
		must(g->copy(s, to, from, bytes), "copying");
	}
	must(g->stream_sync(s), "copying");
	return 2.0 * ROUNDS * (double)bytes * 1e9 / (double)(clk_ns() - start);
}

static void
case_ipc_other(void)
{
	void *mine = on_gpu(bytes), *theirs;
	struct device_ipc handle;
	double rates[2];

	hear(0, &handle, sizeof(handle));
	must(g->ipc_open(d, &handle, &theirs), "opening");
	rates[0] = time_copy(mine, theirs);
	expect(mine, bytes, 11, "got from the other process");
	fill_from(mine, bytes, 12);
	rates[1] = time_copy(theirs, mine);
	must(g->ipc_close(d, theirs), "closing");
	tell(1, rates, sizeof(rates));
}

/* ---- NCCL ---- */

static const struct xccl_lib *lib;

static void
xccl_must(int result, const char *what)
{
	if (result == XCCL_SUCCESS || result == XCCL_IN_PROGRESS)
		return;
	fprintf(stderr, "%s: %s\n", what, lib->error_string(result));
	exit(1);
}

/* As the transport does it: without blocking, asked until done. */
static void
settle(void *comm, const char *what)
{
	int result = XCCL_IN_PROGRESS;

	while (result == XCCL_IN_PROGRESS) {
		xccl_must(lib->comm_get_async_error(comm, &result), what);
		clk_sleep_ns(20 * CLK_NS_PER_US);
	}
	xccl_must(result, what);
}

static void *
join(int ranks, int rank, struct xccl_id id)
{
	struct xccl_config config = { sizeof(config), XCCL_CONFIG_MAGIC,
		XCCL_CONFIG_VERSION, 0, XCCL_CONFIG_UNDEFINED,
		XCCL_CONFIG_UNDEFINED, XCCL_CONFIG_UNDEFINED, NULL };
	void *comm = NULL;

	xccl_must(lib->comm_init_rank_config(&comm, ranks, id, rank, &config),
	    "joining");
	settle(comm, "joining");
	return comm;
}

static double
exchange(void *comm, int peer, void *to, const void *from)
{
	uint64_t start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			must(g->stream_sync(s), "exchanging");
			start = clk_ns();
		}
		xccl_must(lib->group_start(), "a group");
		xccl_must(lib->recv(to, bytes, XCCL_UINT8, peer, comm,
			      g->stream_native(s)),
		    "receiving");
		xccl_must(lib->send(from, bytes, XCCL_UINT8, peer, comm,
			      g->stream_native(s)),
		    "sending");
		xccl_must(lib->group_end(), "a group");
		settle(comm, "a group");
	}
	must(g->stream_sync(s), "exchanging");
	return ROUNDS * (double)bytes * 1e9 / (double)(clk_ns() - start);
}

static void
open_lib(void)
{
	char why[320];

	if (xccl_lib_open(g->name, &lib, why, sizeof(why)) == 0)
		return;
	printf("skipped: %s\n", why);
	exit(77);
}

static void
case_xccl_self(void)
{
	void *a = on_gpu(bytes), *b = on_gpu(bytes), *comm;
	struct xccl_id id;
	char what[64];
	double rate;

	open_lib();
	fill_from(a, bytes, 21);
	xccl_must(lib->get_unique_id(&id), "an id");
	comm = join(1, 0, id);
	rate = exchange(comm, 0, b, a);
	expect(b, bytes, 21, "sent to itself");
	lib->comm_destroy(comm);
	snprintf(what, sizeof(what), "%s %d to itself", lib->name,
	    lib->version);
	report(what, rate);
}

/* Two ranks on one GPU pass for two nodes: what is seen is that the data is
 * right; it goes through sockets. */
static void
pair(int rank, struct xccl_id id, double *ret_rate)
{
	void *a = on_gpu(bytes), *b = on_gpu(bytes), *comm;

	fill_from(a, bytes, 31 + (uint64_t)rank);
	comm = join(2, rank, id);
	*ret_rate = exchange(comm, 1 - rank, b, a);
	expect(b, bytes, 31 + (uint64_t)(1 - rank), "sent by the other rank");
	lib->comm_destroy(comm);
}

static void
case_xccl_pair(void)
{
	struct xccl_id id;
	struct other o;
	double rate;

	open_lib();
	setenv("NCCL_HOSTID", "coalmine-a", 1);
	o = start_other("xccl-pair-other", "coalmine-b");
	xccl_must(lib->get_unique_id(&id), "an id");
	tell(o.to, &id, sizeof(id));
	pair(0, id, &rate);
	end_other(&o);
	report("NCCL between two processes with host ids of their own", rate);
}

static void
case_xccl_pair_other(void)
{
	struct xccl_id id;
	double rate;

	open_lib();
	hear(0, &id, sizeof(id));
	pair(1, id, &rate);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "facts", case_facts },
	{ "copy", case_copy },
	{ "reduce", case_reduce },
	{ "ipc", case_ipc },
	{ "ipc-other", case_ipc_other },
	{ "xccl-self", case_xccl_self },
	{ "xccl-pair", case_xccl_pair },
	{ "xccl-pair-other", case_xccl_pair_other },
};

static void
open_device(void)
{
	char why[DEVICE_WHY_BYTES] = "";

	if (device_find(device_name, &g, why, sizeof(why)) < 0 ||
	    g->open(0, &d, why, sizeof(why)) < 0) {
		printf("skipped: %s\n", why);
		exit(77);
	}
	must(g->stream_new(d, &s), "a stream");
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 3;
	program = argv[0];
	device_name = argv[1];
	if (argc > 3)
		bytes = strtoull(argv[3], NULL, 10);
	if (argc > 5) {
		limit = strtod(argv[4], NULL);
		share_wanted = strtod(argv[5], NULL);
	}
	alarm(LIMIT_S);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (strcmp(cases[i].name, argv[2]) != 0)
			continue;
		open_device();
		cases[i].run();
		fflush(stdout);
		/* What is still allocated goes with the device. */
		g->stream_free(s);
		g->close(d);
		return too_slow;
	}
	fprintf(stderr, "no case %s\n", argv[2]);
	return 3;
}
