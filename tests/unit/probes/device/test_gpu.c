/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gpu.c - the rules of device.h, checked for a plugin:
 * COALMINE_TEST_DEVICE is its name ("cuda"), COALMINE_PLUGIN_DIR its folder.
 * The same tests run on stand-in runtimes and, in tests/gpu, on a card; data is
 * therefore moved by copies only. Without a device the tests are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/device/device.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/str.h"
#include "probes/device/host_reduce.h"

#define MB     (1024 * 1024)
#define INPUTS 131 /* more than two launches can have */

static const struct device_ops *g;
static int real; /* a card, not a stand-in */

static struct device *
open_gpu(void)
{
	struct err err;
	struct device *d = NULL;

	if (g->open(0, &d, &err) != 0)
		fail_msg("%s", err.text);
	return d;
}

static void
must(const struct device *d, int rc)
{
	if (rc != 0)
		fail_msg("%d: %s", rc, g->error(d));
}

/* A device's and the host's memory of the same size. */
static void
both(struct device *d, uint64_t bytes, void *ret_there, void *ret_here)
{
	must(d, g->alloc(d, bytes, ret_there));
	must(d, g->host_alloc(d, bytes, ret_here));
}

/* ---- finding ---- */

static void
test_entry(void **state)
{
	const struct device_ops *again = NULL;
	char path[512];
	struct err err;
	device_entry_fn *entry = NULL;
	void *so;

	(void)state;
	assert_int_equal(device_find(g->name, &again, &err), 0);
	assert_ptr_equal(again, g);
	assert_int_equal(g->host_access, 0);
	snprintf(path, sizeof(path), "%s/coalmine-device-%s.so",
	    getenv("COALMINE_PLUGIN_DIR"), g->name);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(so);
	*(void **)&entry = dlsym(so, DEVICE_ENTRY);
	assert_ptr_equal(entry(DEVICE_ABI), g);
	assert_null(entry(DEVICE_ABI + 1));
	assert_null(dlsym(so, "gpu_alloc"));
	dlclose(so);
}

/* Every way to have no device is a sentence, and a count of 0. */
static void
test_none(void **state)
{
	static const char *const ways[] = { "0", "old" };
	struct err err;
	struct device *d = NULL;
	int count;

	(void)state;
	if (real)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		setenv("COALMINE_FAKE_GPUS", ways[i], 1);
		count = -1;
		err.text[0] = '\0';
		assert_int_equal(g->probe(&count, &err), -ENODEV);
		assert_int_equal(count, 0);
		assert_non_null(strstr(err.text, "stand-in error"));
		assert_int_equal(g->open(0, &d, &err), -ENODEV);
	}
	unsetenv("COALMINE_FAKE_GPUS");
	assert_int_equal(g->probe(&count, &err), 0);
	assert_int_equal(count, 2);
}

/* The contents of the driver's folder for a node of each version. */
static void
write_nodes(const char *folder, const int *versions, int count)
{
	char path[300];
	FILE *fp;

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/%d/properties", folder, i);
		fp = fopen(path, "w");
		assert_non_null(fp);
		fprintf(fp, "simd_count %d\ngfx_target_version %d\n",
		    versions[i] == 0 ? 0 : 256, versions[i]);
		fclose(fp);
	}
}

/* AMD's runtime may end the process where a card has no kernels: it is not
 * called then. */
static void
test_other_cards(void **state)
{
	static const struct {
		int versions[3];
		const char *visible, *refused;
	} rows[] = {
		{ { 0, 90010, 90010 }, NULL, NULL },
		{ { 0, 90010, 990010 }, NULL, "gfx990a" },
		{ { 0, 90010, 990010 }, "0", NULL },
		{ { 0, 990010, 991203 }, "0", "gfx99c3" },
		{ { 0, 0, 0 }, NULL, NULL },
	};
	char folder[] = "/tmp/coalmine-kfd-XXXXXX", path[64];
	struct err err;
	int count;

	(void)state;
	if (strcmp(g->name, "hip") != 0 || real)
		skip();
	assert_non_null(mkdtemp(folder));
	setenv("COALMINE_KFD", folder, 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		write_nodes(folder, rows[i].versions, 3);
		if (rows[i].visible != NULL)
			setenv("HIP_VISIBLE_DEVICES", rows[i].visible, 1);
		assert_int_equal(g->probe(&count, &err),
		    rows[i].refused == NULL ? 0 : -ENODEV);
		if (rows[i].refused != NULL)
			assert_non_null(strstr(err.text, rows[i].refused));
		unsetenv("HIP_VISIBLE_DEVICES");
	}
	unsetenv("COALMINE_KFD");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%d/properties", folder, i);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		rmdir(path);
	}
	rmdir(folder);
}

/* Devices hidden by the vendor's variable have no number here; the addresses of
 * the others stay. */
static void
test_hidden(void **state)
{
	const char *variable = strcmp(g->name, "cuda") == 0
	    ? "CUDA_VISIBLE_DEVICES"
	    : "HIP_VISIBLE_DEVICES";
	struct device_facts facts;
	struct device *d;
	struct err err;
	int count;

	(void)state;
	if (real)
		skip();
	setenv(variable, "1,7", 1);
	assert_int_equal(g->probe(&count, &err), 0);
	assert_int_equal(count, 1);
	d = open_gpu();
	must(d, g->facts(d, &facts));
	assert_string_equal(facts.pci, "0000:1b:00.0");
	/* The hidden one may still be opened by handle. */
	assert_int_equal(g->ipc_usable(d, "0000:1a:00.0", "", &err), 0);
	g->close(d);
	unsetenv(variable);
}

/* Host memory allocated elsewhere. */
static void
test_pinned(void **state)
{
	struct device *d = open_gpu();
	struct device_stream *s;
	char *there, *here;

	(void)state;
	must(d, g->alloc(d, MB, (void **)&there));
	must(d, g->stream_new(d, &s));
	assert_int_equal(posix_memalign((void **)&here, 4096, MB), 0);
	must(d, g->host_pin(d, here, MB));
	must(d, g->fill(s, there, 7, MB));
	must(d, g->copy(s, here, there, MB));
	must(d, g->stream_sync(s));
	assert_int_equal(here[MB - 1], 7);
	g->host_unpin(d, here);
	if (!real) /* pageable memory would make a copy wait */
		assert_int_equal(g->copy(s, here, there, MB), -EINVAL);
	free(here);
	g->stream_free(s);
	g->close(d);
}

/* The error of a stream is permanent, and every later query returns it. */
static void
test_broken(void **state)
{
	struct device *d;
	struct device_stream *s;
	struct device_event *e;
	char *x;
	int rc;

	(void)state;
	if (real)
		skip();
	if (fork() != 0) {
		int status;

		wait(&status);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		return;
	}
	setenv("COALMINE_FAKE_FAULT", "1", 1);
	d = open_gpu();
	if (g->alloc(d, MB, (void **)&x) != 0 || g->stream_new(d, &s) != 0 ||
	    g->event_new(d, &e) != 0 || g->fill(s, x, 1, MB) != 0 ||
	    g->event_record(e, s) != 0)
		_exit(1);
	while ((rc = g->event_query(e)) == 0)
		;
	_exit(rc == -EIO && strstr(g->error(d), "700") != NULL &&
		    g->fill(s, x, 1, MB) == -EIO
		? 0
		: 2);
}

static void
test_open(void **state)
{
	struct err err = { 0 };
	struct device_facts facts;
	struct device *d = NULL;

	(void)state;
	assert_int_equal(g->open(99, &d, &err), -ENODEV);
	assert_non_null(strstr(err.text, "not 99"));
	assert_int_equal(g->open(-1, &d, &err), -ENODEV);
	assert_null(d);
	d = open_gpu();
	must(d, g->facts(d, &facts));
	assert_true(facts.memory_bytes >= facts.free_bytes);
	assert_true(facts.free_bytes > 0);
	assert_true(facts.memory_bytes_per_s > 1e9);
	assert_int_equal(strlen(facts.pci), 12);
	for (const char *c = facts.pci; *c != '\0'; c++)
		assert_false(*c >= 'A' && *c <= 'Z');
	printf("%s %s, %.1f GB, rated %.0f GB/s\n", facts.pci, facts.name,
	    (double)facts.memory_bytes / 1e9, facts.memory_bytes_per_s / 1e9);
	g->close(d);
	g->close(NULL);
}

/* ---- streams ---- */

static void
test_streams(void **state)
{
	struct device *d = open_gpu();
	struct device_stream *a, *b;
	struct device_event *e, *last;
	char *x, *y, *here;
	int polls = 0;

	(void)state;
	both(d, 8 * MB, &x, &here);
	must(d, g->alloc(d, 8 * MB, (void **)&y));
	must(d, g->stream_new(d, &a));
	must(d, g->stream_new(d, &b));
	assert_non_null(g->stream_native(a));
	must(d, g->event_new(d, &e));
	must(d, g->event_new(d, &last));
	assert_int_equal(g->event_query(e), 1);
	for (int i = 1; i <= 20; i++) {
		must(d, g->fill(a, x, i, 8 * MB));
		must(d, g->event_record(e, a));
		must(d, g->stream_wait(b, e));
		must(d, g->copy(b, y, x, 8 * MB));
		must(d, g->event_record(last, b));
		must(d, g->stream_wait(a, last));
	}
	must(d, g->copy(b, here, y, 8 * MB));
	must(d, g->event_record(last, b));
	while (g->event_query(last) == 0 && polls++ < 1000000)
		;
	assert_int_equal(g->event_wait(last), 0);
	assert_int_equal(g->event_query(e), 1);
	assert_int_equal(here[0], 20);
	assert_int_equal(here[8 * MB - 1], 20);
	must(d, g->copy(a, here, y, 0)); /* an empty copy is not an error */
	must(d, g->fill(a, here, 1, 0));
	must(d, g->stream_sync(a));
	g->event_free(e);
	g->event_free(last);
	g->event_free(NULL);
	g->stream_free(a);
	g->stream_free(b);
	g->stream_free(NULL);
	g->host_free(d, here);
	g->close(d); /* with x and y */
}

/* ---- reductions ---- */

struct lab {
	struct device *d;
	struct device_stream *s;
	unsigned char *there, *here, *want;
	uint64_t pitch; /* between two inputs */
};

/* All bit patterns: NaN, infinity, subnormal numbers. */
static void
make_random(struct lab *l, uint64_t bytes)
{
	struct rng r;

	rng_seed(&r, 20261121);
	for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t x = rng_next(&r);

		memcpy(l->here + i, &x, 8);
		/* near to each other, or sums of halves are all infinite */
		if ((x & 3) == 0)
			memset(l->here + i, (int)(x >> 8 & 0x3f), 8);
	}
}

/* to: which input the result overwrites, -1 none. off: bytes from alignment.
 */
static void
compare(struct lab *l, enum plan_op op, enum plan_type type, uint32_t inputs,
    int to, uint64_t off, uint64_t n)
{
	uint64_t bytes = n * plan_types[type].bytes;
	uint64_t room = (INPUTS + 1) * l->pitch;
	const void *there[INPUTS], *here[INPUTS];
	uint64_t at = (to < 0 ? INPUTS : (unsigned)to) * l->pitch + off;

	for (uint32_t k = 0; k < inputs; k++) {
		there[k] = l->there + k * l->pitch + off;
		here[k] = l->here + k * l->pitch + off;
	}
	make_random(l, room);
	must(l->d, g->copy(l->s, l->there, l->here, room));
	must(l->d, g->reduce(l->s, op, type, l->there + at, there, inputs, n));
	memset(there, 0, sizeof(there)); /* it was copied */
	must(l->d, g->copy(l->s, l->want, l->there, room));
	must(l->d, g->stream_sync(l->s));
	host_reduce(op, type, l->here + at, here, inputs, n);
	for (uint64_t i = 0; i < room; i++)
		if (l->want[i] != l->here[i])
			fail_msg("%s of %s, %u inputs, to %d, off %d, %d "
				 "elements: byte %lld of the result is %02x, "
				 "not %02x",
			    plan_ops[op], plan_types[type].name, inputs, to,
			    (int)off, (int)n, (long long)i - (long long)at,
			    l->want[i], l->here[i]);
	(void)bytes;
}

static void
test_reduce(void **state)
{
	static const uint32_t counts[] = { 1, 2, 3, 8, 64, 65, INPUTS };
	struct lab l = { .d = open_gpu(), .pitch = 32768 };

	(void)state;
	both(l.d, (INPUTS + 1) * l.pitch, &l.there, &l.here);
	must(l.d, g->host_alloc(l.d, (INPUTS + 1) * l.pitch, (void **)&l.want));
	must(l.d, g->stream_new(l.d, &l.s));
	for (int op = PLAN_SUM; op < PLAN_OP_MAX; op++)
		for (int type = 0; type < PLAN_BYTE; type++) {
			compare(&l, op, type, 2, -1, 0, 4001);
			compare(&l, op, type, 3, 1, 8, 1025);
		}
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		int last = (int)counts[i] - 1;

		compare(&l, PLAN_SUM, PLAN_FLOAT, counts[i], -1, 0, 4096);
		compare(&l, PLAN_PROD, PLAN_HALF, counts[i], 0, 2, 1);
		compare(&l, PLAN_SUM, PLAN_BFLOAT16, counts[i], last, 0, 4095);
	}
	must(l.d,
	    g->reduce(l.s, PLAN_SUM, PLAN_INT32, l.there,
		(const void *const[]){ l.there, l.there }, 2, 0));
	assert_int_equal(g->reduce(l.s, PLAN_COPY, PLAN_INT32, l.there,
			     (const void *const[]){ l.there }, 1, 1),
	    -EINVAL);
	assert_int_equal(g->reduce(l.s, PLAN_SUM, PLAN_BYTE, l.there,
			     (const void *const[]){ l.there }, 1, 1),
	    -EINVAL);
	g->stream_free(l.s);
	g->host_free(l.d, l.here);
	g->host_free(l.d, l.want);
	g->close(l.d);
}

/* ---- memory of others ---- */

static void
test_ipc_misuse(void **state)
{
	struct device *d = open_gpu();
	struct device_ipc handle;
	void *y;
	char *x;

	(void)state;
	must(d, g->alloc(d, 100, (void **)&x));
	assert_int_equal((uintptr_t)x & 255, 0);
	assert_int_equal(g->ipc_export(d, x + 64, &handle), -EINVAL);
	assert_non_null(strstr(g->error(d), "base"));
	must(d, g->ipc_export(d, x, &handle));
	assert_int_equal(g->ipc_open(d, &handle, &y), -EINVAL);
	assert_int_equal(g->ipc_close(d, x), -EINVAL);
	memset(&handle, 0, sizeof(handle));
	assert_int_equal(g->ipc_open(d, &handle, &y), -EINVAL);
	assert_int_equal(g->alloc(d, 0, &y), -EINVAL);
	assert_int_equal(g->alloc(d, 1ULL << 50, &y), -ENOMEM);
	assert_true(strlen(g->error(d)) > 0);
	g->free(d, NULL);
	g->free(d, x + 64); /* not our memory: ignored */
	g->free(d, x);
	g->close(d);
}

static void
test_ipc_usable(void **state)
{
	struct device *d = open_gpu();
	struct err err = { 0 };
	struct device_facts facts;

	(void)state;
	must(d, g->facts(d, &facts));
	assert_int_equal(g->ipc_usable(d, facts.pci, facts.part, &err), 0);
	if (!real) {
		setenv("COALMINE_FAKE_GPUS", "3", 1);
		setenv("COALMINE_FAKE_PEERS", "2", 1);
		assert_int_equal(g->ipc_usable(d, "0000:1b:00.0", "", &err), 0);
		assert_int_equal(g->ipc_usable(d, "0000:1c:00.0", "", &err),
		    -ENOTSUP);
		assert_non_null(strstr(err.text, "0000:1c:00.0"));
		unsetenv("COALMINE_FAKE_GPUS");
		unsetenv("COALMINE_FAKE_PEERS");
	}
	g->close(d);
}

#define WANT(condition)                                                        \
	if (!(condition))                                                      \
	return __LINE__ & 255

/* The other process, with two handles on its standard input: it reads "hello"
 * through the first and "again" through the second, writes "world" 3 MB further
 * on, and finds the first one stale after a message. */
static int
stranger(void)
{
	struct device *d = open_gpu();
	struct device_stream *s;
	struct device_ipc handle, second;
	char *x, *again, *here, c;

	WANT(read(0, &handle, sizeof(handle)) == sizeof(handle));
	WANT(read(0, &second, sizeof(second)) == sizeof(second));
	WANT(g->host_alloc(d, 64, (void **)&here) == 0);
	WANT(g->stream_new(d, &s) == 0);
	WANT(g->ipc_open(d, &handle, (void **)&x) == 0);
	WANT(g->ipc_open(d, &handle, (void **)&again) == 0);
	WANT(again == x);
	WANT(g->copy(s, here, x, 6) == 0 && g->stream_sync(s) == 0);
	WANT(strcmp(here, "hello") == 0);
	WANT(g->ipc_open(d, &second, (void **)&again) == 0 && again != x);
	WANT(g->copy(s, here, again, 6) == 0 && g->stream_sync(s) == 0);
	WANT(strcmp(here, "again") == 0);
	WANT(g->ipc_close(d, again) == 0);
	strcpy(here, "world");
	WANT(g->copy(s, x + 3 * MB, here, 6) == 0 && g->stream_sync(s) == 0);
	WANT(g->ipc_close(d, x) == 0);
	WANT(g->ipc_close(d, x) == 0);
	WANT(g->ipc_close(d, x) == -EINVAL);
	WANT(write(1, "x", 1) == 1 && read(0, &c, 1) == 1);
	WANT(g->ipc_open(d, &handle, (void **)&x) < 0);
	g->stream_free(s);
	g->host_free(d, here);
	g->close(d);
	return 0;
}

/* A GPU does not survive fork: the program is executed again. */
static pid_t
start_stranger(int *ret_to, int *ret_from)
{
	int to[2], from[2];
	pid_t pid;

	assert_int_equal(pipe(to) | pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl("/proc/self/exe", "stranger", "stranger", NULL);
		_exit(254);
	}
	close(to[0]);
	close(from[1]);
	*ret_to = to[1];
	*ret_from = from[0];
	return pid;
}

static void
test_ipc(void **state)
{
	struct device *d = open_gpu();
	struct device_stream *s;
	struct device_ipc handle, second;
	char *x, *y, *here, c;
	int to, from, status;
	pid_t pid;

	(void)state;
	both(d, 4 * MB, &x, &here);
	must(d, g->stream_new(d, &s));
	strcpy(here, "hello");
	must(d, g->copy(s, x, here, 6));
	must(d, g->stream_sync(s));
	must(d, g->alloc(d, 6, (void **)&y));
	strcpy(here, "again");
	must(d, g->copy(s, y, here, 6));
	must(d, g->stream_sync(s));
	must(d, g->ipc_export(d, x, &handle));
	must(d, g->ipc_export(d, y, &second));
	pid = start_stranger(&to, &from);
	assert_int_equal(write(to, &handle, sizeof(handle)), sizeof(handle));
	assert_int_equal(write(to, &second, sizeof(second)), sizeof(second));
	if (read(from, &c, 1) == 1) {
		must(d, g->copy(s, here, x + 3 * MB, 6));
		must(d, g->stream_sync(s));
		assert_string_equal(here, "world");
	}
	g->free(d, x);
	assert_int_equal(write(to, &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0); /* else WEXITSTATUS is the line */
	close(to);
	close(from);
	g->stream_free(s);
	g->host_free(d, here);
	g->close(d);
}

/* ---- errors ---- */

/* A bit of everything; the first error. */
static int
session(void)
{
	struct device_stream *s = NULL;
	struct device_event *e = NULL;
	struct err err = { 0 };
	void *x = NULL, *y = NULL, *here = NULL;
	struct device_facts facts;
	struct device_ipc handle;
	struct device *d = NULL;
	int rc;

	rc = g->open(0, &d, &err);
	if (rc < 0) {
		assert_true(strlen(err.text) > 0);
		return rc;
	}
	rc = g->facts(d, &facts);
	if (rc == 0)
		rc = g->alloc(d, MB, &x);
	if (rc == 0)
		rc = g->alloc(d, MB, &y);
	if (rc == 0)
		rc = g->host_alloc(d, MB, &here);
	if (rc == 0)
		rc = g->stream_new(d, &s);
	if (rc == 0)
		rc = g->event_new(d, &e);
	if (rc == 0)
		rc = g->fill(s, x, 7, MB);
	if (rc == 0)
		rc = g->copy(s, y, x, MB);
	if (rc == 0)
		rc = g->reduce(s, PLAN_SUM, PLAN_INT32, x,
		    (const void *const[]){ x, y }, 2, 1000);
	if (rc == 0)
		rc = g->event_record(e, s);
	if (rc == 0)
		rc = g->event_wait(e);
	if (rc == 0)
		rc = g->ipc_export(d, x, &handle);
	if (rc < 0)
		assert_true(strlen(g->error(d)) > 0);
	g->event_free(e);
	g->stream_free(s);
	g->host_free(d, here);
	g->free(d, x);
	g->close(d);
	return rc;
}

/* For each call that fails: an error, and no crash. Sanitizers detect leaks. */
static void
test_every_call_fails_once(void **state)
{
	int failures = 0;
	char n[16];

	(void)state;
	if (real)
		skip();
	for (int i = 1; i < 60; i++) {
		snprintf(n, sizeof(n), "%d", i);
		setenv("COALMINE_FAKE_FAIL", n, 1);
		failures += session() < 0;
	}
	unsetenv("COALMINE_FAKE_FAIL");
	assert_int_equal(session(), 0);
	assert_true(failures >= 12);
}

static int
descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void
test_leaves_nothing(void **state)
{
	int before;

	(void)state;
	session(); /* memory that the runtime keeps */
	before = descriptors();
	for (int i = 0; i < 20; i++)
		assert_int_equal(session(), 0);
	assert_int_equal(descriptors(), before);
}

/* The plugin, or the end: 77 without one or without its device. */
static void
find(void)
{
	const char *name = getenv("COALMINE_TEST_DEVICE");
	struct err err = { 0 };
	int count;

	if (name == NULL || device_find(name, &g, &err) < 0 ||
	    g->probe(&count, &err) < 0) {
		printf("skipped: %s\n",
		    name == NULL ? "COALMINE_TEST_DEVICE is not set"
				 : err.text);
		exit(77);
	}
	real = getenv("COALMINE_TEST_STANDIN") == NULL;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_other_cards),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_ipc_misuse),
		cmocka_unit_test(test_ipc_usable),
		cmocka_unit_test(test_ipc),
		cmocka_unit_test(test_every_call_fails_once),
		cmocka_unit_test(test_leaves_nothing),
	};

	find();
	if (argc > 1 && strcmp(argv[1], "stranger") == 0)
		return stranger();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
