/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuned paths on streams of a device, COALMINE_TEST_DEVICE or the host: bytes,
 * chunks and records are checked, but no times.
 */
#include "probes/multipath/tuned.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/rng.h"
#include "probes/multipath/copier.h"
#include "schema/options.h"

static const char *
device_name(void)
{
	const char *name = getenv("COALMINE_TEST_DEVICE");

	return name == NULL ? "host" : name;
}

/* For any shares, chunks and slots over two staged paths: every byte arrives,
 * each path carries its share, and no byte outside of the message is written.
 */
static void
test_streams(void **state)
{
	enum { BYTES = 3000001, EDGE = 64 };
	struct copier cp = { .count = 2 };
	struct device_stream *s;
	struct err err;
	struct rng r;
	char *from, *to, *want, *got;
	int rc;

	(void)state;
	if (device_find(device_name(), &cp.ops, &err) < 0 ||
	    cp.ops->open(0, &cp.device, &err) < 0)
		fail_msg("%s", err.text);
	rng_seed(&r, 7);
	assert_int_equal(cp.ops->alloc(cp.device, BYTES, (void **)&from), 0);
	assert_int_equal(cp.ops->alloc(cp.device, BYTES + EDGE, (void **)&to),
	    0);
	assert_int_equal(cp.ops->host_alloc(cp.device, BYTES, (void **)&want),
	    0);
	assert_int_equal(cp.ops->host_alloc(cp.device, BYTES + EDGE,
			     (void **)&got),
	    0);
	for (uint32_t i = 1; i <= 2; i++)
		assert_int_equal(cp.ops->host_alloc(cp.device, BYTES,
				     &cp.stores[i].base),
		    0);
	for (size_t i = 0; i < BYTES; i++)
		want[i] = (char)rng_below(&r, 256);
	for (int k = 0; k < 30; k++) {
		double a = (double)rng_below(&r, 11) / 20;
		double b = (double)rng_below(&r, 11) / 20;
		struct tuner_choice c = { .share = { 1 - a - b, a, b },
			.chunks = { 0, 1 + (uint32_t)rng_below(&r, 40),
			    1 + (uint32_t)rng_below(&r, 9) } };
		uint64_t n = 1 + rng_below(&r, BYTES);
		struct copier_message m = { to, from, n };
		struct tuner_seen seen;
		uint32_t path;

		cp.unit = 1 + rng_below(&r, 64);
		for (uint32_t i = 1; i <= 2; i++) {
			cp.stores[i].slots = 1 + (uint32_t)rng_below(&r, 5);
			cp.stores[i].bytes = n / (1 + rng_below(&r, 4)) + 512;
		}
		assert_int_equal(copier_open(&cp), 0);
		s = cp.streams[0].in;
		assert_int_equal(cp.ops->copy(s, from, want, BYTES), 0);
		assert_int_equal(cp.ops->fill(s, to, 0x55, BYTES + EDGE), 0);
		assert_int_equal(cp.ops->stream_sync(s), 0);
		rc = copier_send(&cp, &m, &c, &seen, &path);
		if (rc < 0)
			fail_msg("path %u: %s", path, cp.ops->error(cp.device));
		assert_int_equal(cp.ops->copy(s, got, to, BYTES + EDGE), 0);
		assert_int_equal(cp.ops->stream_sync(s), 0);
		assert_memory_equal(got, want, n);
		assert_int_equal(got[n], 0x55);
		assert_int_equal(seen.bytes[0] + seen.bytes[1] + seen.bytes[2],
		    n);
		for (int i = 0; i < 3; i++) {
			double off = (double)seen.bytes[i] -
			    c.share[i] * (double)n;

			assert_true(fabs(off) <= 2.0 * (double)cp.unit);
			assert_true((seen.s[i] > 0) == (seen.bytes[i] > 0));
		}
		copier_close(&cp);
	}
	for (uint32_t i = 1; i <= 2; i++)
		cp.ops->host_free(cp.device, cp.stores[i].base);
	cp.ops->host_free(cp.device, want);
	cp.ops->host_free(cp.device, got);
	cp.ops->free(cp.device, from);
	cp.ops->free(cp.device, to);
	cp.ops->close(cp.device);
}

struct heard {
	const char *choice; /* that every record must have; NULL: any */
	uint64_t bytes;     /* of the last */
	int records, lines;
};

static void
record_cb(void *arg, json_t *record)
{
	struct heard *h = arg;
	json_t *paths = json_object_get(record, "ways");
	const char *choice = json_string_value(
	    json_object_get(record, "choice"));
	double sum = 0;

	assert_int_equal(json_array_size(paths), 3);
	for (size_t i = 0; i < 3; i++)
		sum += json_number_value(
		    json_object_get(json_array_get(paths, i), "share"));
	assert_true(fabs(sum - 1) < 1e-9);
	assert_string_equal(json_string_value(
				json_object_get(json_array_get(paths, 2),
				    "way")),
	    "relay2");
	assert_string_equal(json_string_value(
				json_object_get(record, "pair_class")),
	    device_name());
	assert_true(json_number_value(json_object_get(record, "seconds")) > 0);
	assert_non_null(choice);
	if (h->choice != NULL)
		assert_string_equal(choice, h->choice);
	h->bytes = (uint64_t)json_integer_value(
	    json_object_get(record, "bytes"));
	h->records++;
	json_decref(record);
}

static void
line_cb(void *arg, const char *text)
{
	((struct heard *)arg)->lines += text[0] != '\0';
}

/* The complete probe: a record for every size, and a table from which a frozen
 * run repeats the choices. */
static void
test_device(void **state)
{
	static const uint64_t last = (4 << 20) - 3;
	char dir[] = "/tmp/coalmine-tuned-XXXXXX", table[60], text[400];
	struct heard heard = { NULL, 0, 0, 0 };
	struct tuned_out out = { record_cb, line_cb, &heard };
	struct tuner_table tt = { .count = 0 };
	struct tuner *t;
	struct err err = { 0 };
	struct conf *c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(table, sizeof(table), "%s/table", dir);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
		    "[multipath]\ntune = yes\nbytes = %llu\nrelays = 1\n"
		    "table = %s\nfrozen = %s\n[measure]\ndevice = %s\n",
		    (unsigned long long)last, table, i == 0 ? "no" : "yes",
		    device_name());
		if (conf_parse(options_campaign, "test", text, &c, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(tuned_wanted(c));
		heard.records = heard.lines = 0;
		heard.choice = i == 0 ? NULL : "frozen";
		if (tuned_run(c, &out, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(heard.records, 4);
		assert_true(heard.lines >= 4);
		assert_int_equal(heard.bytes, last);
		conf_free(c);
	}
	assert_int_equal(tuner_load(&tt, table, &err), -ESTALE);
	assert_non_null(strstr(err.text, device_name()));
	snprintf(tt.machine, sizeof(tt.machine), "%s",
	    strstr(err.text, "measured on machine ") + 20);
	strstr(tt.machine, ", but this machine is")[0] = '\0';
	assert_int_equal(tuner_load(&tt, table, &err), 0);
	t = tuner_table_get(&tt, 0, 1);
	assert_int_equal(t->fits.count, 2);
	/* settling and turns, measured once or twice, and all of it again */
	assert_true(
	    t->rows[21].transfers >= 28 && t->rows[21].transfers % 14 == 0);
	assert_int_equal(t->rows[21].carried[0] + t->rows[21].carried[1] +
		t->rows[21].carried[2],
	    t->rows[21].transfers * last);
	tuner_table_clear(&tt);
	assert_int_equal(unlink(table), 0);
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
