/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "probes/device/device.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (1024 * 1024)

static const struct device_ops *const h = &device_host;

static struct device *
open_host(void)
{
	struct err err;
	struct device *d = NULL;

	assert_int_equal(h->open(0, &d, &err), 0);
	return d;
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
test_find(void **state)
{
	const struct device_ops *ops = NULL;
	struct err err = { 0 };
	int count = -1;

	(void)state;
	assert_int_equal(device_find("host", &ops, &err), 0);
	assert_ptr_equal(ops, &device_host);
	assert_int_equal(ops->probe(&count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(device_find("nope", &ops, &err), -ENODEV);
	assert_non_null(strstr(err.text, "coalmine-device-nope.so"));
	assert_int_equal(device_find("../host", &ops, &err), -ENODEV);
}

/* A file that is not a plugin gives an error, not a crash. */
static void
test_broken_plugin(void **state)
{
	char dir[] = "/tmp/coalmine-test-XXXXXX", path[64];
	struct err err = { 0 };
	const struct device_ops *ops = NULL;
	FILE *fp;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/coalmine-device-odd.so", dir);
	fp = fopen(path, "w");
	fputs("not a library\n", fp);
	fclose(fp);
	setenv("COALMINE_PLUGIN_DIR", dir, 1);
	assert_int_equal(device_find("odd", &ops, &err), -ENODEV);
	assert_true(strlen(err.text) > 0);
	unlink(path);
	rmdir(dir);
}

/* Operations on one stream keep their order; another can wait for them. */
static void
test_streams(void **state)
{
	struct device *d = open_host();
	struct device_stream *a, *b;
	struct device_event *e, *last;
	char *x, *y;

	(void)state;
	assert_int_equal(h->alloc(d, 8 * MB, (void **)&x), 0);
	assert_int_equal(h->alloc(d, 8 * MB, (void **)&y), 0);
	h->stream_new(d, &a);
	h->stream_new(d, &b);
	h->event_new(d, &e);
	h->event_new(d, &last);
	assert_int_equal(h->event_query(e), 1);
	for (int i = 1; i <= 20; i++) {
		h->fill(a, x, i, 8 * MB);
		h->event_record(e, a);
		h->stream_wait(b, e);
		h->copy(b, y, x, 8 * MB);
		h->event_record(last, b);
		h->stream_wait(a, last);
	}
	assert_int_equal(h->event_wait(last), 0);
	assert_int_equal(h->event_query(e), 1);
	assert_int_equal(y[0], 20);
	assert_int_equal(y[8 * MB - 1], 20);
	h->copy(b, y + 1, x, 1); /* small, idle: at once */
	h->event_record(last, b);
	assert_int_equal(h->event_query(last), 1);
	h->event_free(e);
	h->event_free(last);
	h->stream_free(a);
	h->stream_free(b);
	h->close(d);
}

static void
test_stream_reduce(void **state)
{
	struct device *d = open_host();
	struct device_stream *s;
	int32_t *x;
	const void *in[3];

	(void)state;
	assert_int_equal(h->alloc(d, 4 * MB, (void **)&x), 0);
	h->stream_new(d, &s);
	for (int i = 0; i < MB; i++)
		x[i] = i;
	for (int k = 0; k < 3; k++)
		in[k] = x + k * 1000;
	assert_int_equal(h->reduce(s, PLAN_SUM, PLAN_INT32, x + 500000, in, 3,
			     400000),
	    0);
	in[0] = in[1] = NULL; /* the array was copied */
	assert_int_equal(h->stream_sync(s), 0);
	for (int i = 0; i < 400000; i++)
		assert_int_equal(x[500000 + i], 3 * i + 3000);
	assert_int_equal(h->reduce(s, PLAN_COPY, PLAN_INT32, x, in, 1, 1),
	    -EINVAL);
	assert_int_equal(h->reduce(s, PLAN_SUM, PLAN_BYTE, x, in, 1, 1),
	    -EINVAL);
	h->stream_free(s);
	h->close(d);
}

/* Operations that fail on a GPU fail here too. */
static void
test_ipc_misuse(void **state)
{
	struct device *d = open_host();
	struct device_ipc handle;
	char *x;
	void *y;

	(void)state;
	assert_int_equal(h->alloc(d, 100, (void **)&x), 0);
	assert_int_equal(h->ipc_export(d, x + 64, &handle), -EINVAL);
	assert_non_null(strstr(h->error(d), "base"));
	assert_int_equal(h->ipc_export(d, x, &handle), 0);
	assert_int_equal(h->ipc_open(d, &handle, &y), -EINVAL);
	assert_int_equal(h->ipc_close(d, x), -EINVAL);
	memset(&handle, 0, sizeof(handle));
	assert_int_equal(h->ipc_open(d, &handle, &y), -EINVAL);
	assert_int_equal(h->alloc(d, 0, &y), -EINVAL);
	h->close(d);
}

/* The other process: 0 when all is as it should be, else a line number. */
static int
stranger(const struct device_ipc *handle, int from, int to)
{
	struct device *d = open_host();
	char *x, *again, c = 'r';

	if (h->ipc_open(d, handle, (void **)&x) != 0)
		return __LINE__ & 127;
	if (h->ipc_open(d, handle, (void **)&again) != 0 || again != x)
		return __LINE__ & 127;
	if (strcmp(x, "hello") != 0)
		return __LINE__ & 127;
	strcpy(x + 3 * MB, "world");
	if (h->ipc_close(d, x) != 0 || h->ipc_close(d, x) != 0 ||
	    h->ipc_close(d, x) != -EINVAL)
		return __LINE__ & 127;
	if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
		return __LINE__ & 127;
	if (h->ipc_open(d, handle, (void **)&x) != -ESTALE)
		return __LINE__ & 127;
	h->close(d);
	return 0;
}

static void
test_ipc(void **state)
{
	struct device *d = open_host();
	struct device_ipc handle;
	int up[2], down[2], status;
	char *x, *y, c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(up) | pipe(down), 0);
	assert_int_equal(h->alloc(d, 4 * MB, (void **)&x), 0);
	strcpy(x, "hello");
	assert_int_equal(h->ipc_export(d, x, &handle), 0);
	pid = fork();
	if (pid == 0)
		_exit(stranger(&handle, down[0], up[1]));
	assert_int_equal(read(up[0], &c, 1), 1);
	assert_string_equal(x + 3 * MB, "world");
	/* The memory is freed, and its descriptor is reused: the handle is
	 * stale. */
	h->free(d, x);
	assert_int_equal(h->alloc(d, 4 * MB, (void **)&y), 0);
	assert_int_equal(write(down[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	h->close(d);
	for (int i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
}

static void
test_leaves_nothing(void **state)
{
	int before = descriptors();

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct device *d = open_host();
		struct device_stream *s;
		void *x, *y;

		h->alloc(d, MB, &x);
		h->alloc(d, MB, &y);
		h->stream_new(d, &s);
		h->copy(s, x, y, MB);
		h->stream_free(s);
		h->free(d, y);
		h->close(d); /* with x */
	}
	assert_int_equal(descriptors(), before);
}

/* ---- every byte of a copy, and no other ---- */

#define GUARD_BYTES 64
#define LARGE       ((size_t)1 << 20) /* from there on past the caches */

struct copies {
	struct device_stream *stream;
	char *from, *to, *want;
};

/* Wherever both ranges begin. */
static void
expect_copy(struct copies *c, size_t to_off, size_t from_off, size_t bytes)
{
	size_t all = bytes + 2 * GUARD_BYTES + to_off;

	memset(c->to, 0x5c, all);
	memset(c->want, 0x5c, all);
	memcpy(c->want + GUARD_BYTES + to_off, c->from + from_off, bytes);
	assert_int_equal(h->copy(c->stream, c->to + GUARD_BYTES + to_off,
			     c->from + from_off, bytes),
	    0);
	assert_int_equal(h->stream_sync(c->stream), 0);
	assert_memory_equal(c->to, c->want, all);
}

static void
test_copy(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 4096, LARGE - 1, LARGE,
		LARGE + 1, LARGE + 63, LARGE + 64, 3 * LARGE + 129 };
	struct device *d = open_host();
	size_t room = 4 * LARGE;
	struct copies c = { NULL, malloc(room), malloc(room), malloc(room) };

	(void)state;
	assert_int_equal(h->stream_new(d, &c.stream), 0);
	assert_true(c.from != NULL && c.to != NULL && c.want != NULL);
	for (size_t i = 0; i < room; i++)
		c.from[i] = (char)(i * 2654435761U >> 11);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t off = 0; off < 64; off += 7) {
			expect_copy(&c, off, 0, sizes[i]);
			expect_copy(&c, 0, off, sizes[i]);
			expect_copy(&c, off, off, sizes[i]);
		}
	h->stream_free(c.stream);
	h->close(d);
	free(c.from);
	free(c.to);
	free(c.want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_broken_plugin),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_stream_reduce),
		cmocka_unit_test(test_ipc_misuse),
		cmocka_unit_test(test_ipc),
		cmocka_unit_test(test_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
