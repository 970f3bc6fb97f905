/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compositions as text: compositions of the collectives must give the plans of
 * the collectives; their meaning is proven; errors are reported with their
 * place.
 */
#include <errno.h>

#include "probes/collective/script.h"

#include "common/err.h"
#include "common/str.h"
#include "probes/catalog/patterns.h"
#include "tests/unit/probes/plan/cases.h"

static struct plan *
text_plan(const char *steps, const char *buffers, const char *shape,
    uint32_t ranks, struct err *err)
{
	char *words[10] = { xasprintf("steps=%s", steps),
		xasprintf("buffers=%s", buffers) };
	char *copy = xstrdup(shape), *save = NULL;
	struct plan *p = NULL;
	int n = 2;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < 10;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	if (patterns_plan("compose", words, n, ranks, &p, err) < 0)
		p = NULL;
	free(words[0]);
	free(words[1]);
	free(copy);
	return p;
}

static struct plan *
text_proven(const char *steps, const char *buffers, const char *shape,
    uint32_t ranks)
{
	struct err err = { 0 };
	struct check_fault fault;
	struct plan *p = text_plan(steps, buffers, shape, ranks, &err);

	if (p == NULL)
		fail_msg("%s: %s", steps, err.text);
	if (check_plan(p, &fault) < 0)
		fail_msg("%s, %s: %s", steps, shape, fault.text);
	return p;
}

static const struct {
	const char *name, *buffers, *steps;
} collectives[] = {
	{ "broadcast", "send:in:ranks,recv:out:ranks",
	    "multicast send of root to recv of all x ranks" },
	{ "reduce", "send:in:ranks,recv:out:ranks",
	    "reduce send of all to recv of root x ranks" },
	{ "allgather", "send:in:1,recv:out:ranks",
	    "for i in all: multicast send of i to recv[i] of all" },
	{ "reduce-scatter", "send:in:ranks,recv:out:1",
	    "for i in all: reduce send[i] of all to recv of i" },
	{ "alltoall", "send:in:ranks,recv:out:ranks",
	    "for i in all: for j in all: "
	    "multicast send[j] of i to recv[i] of j" },
	{ "allreduce", "send:in:ranks,recv:out:ranks",
	    "for i in all: reduce send[i] of all to recv[i] of i | fence | "
	    "for i in all: multicast recv[i] of i to recv[i] of others" },
};

static const char *const shapes[] = { "", "hierarchy=2,2,3",
	"hierarchy=4,3 stripe=3", "hierarchy=2,2,3 stripe=3 depth=4",
	"hierarchy=4,3 ring=4 stripe=3 depth=2",
	"hierarchy=3,4 stripe=2 depth=16 lean=no" };

static size_t
same_transfers(const struct plan *a, const struct plan *b)
{
	size_t same = 0;

	for (size_t i = 0; i < a->transfers_count; i++)
		same += a->transfers[i].src == b->transfers[i].src &&
		    a->transfers[i].dst == b->transfers[i].dst &&
		    a->transfers[i].step == b->transfers[i].step &&
		    a->transfers[i].bytes == b->transfers[i].bytes &&
		    a->transfers[i].to_off == b->transfers[i].to_off &&
		    a->transfers[i].from_off == b->transfers[i].from_off;
	return same;
}

static void
test_collectives_as_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(collectives); i++)
		for (size_t k = 0; k < ARRAY_LEN(shapes); k++) {
			struct plan *own, *built;
			char *text = xasprintf("collective name=%s count=7 "
					       "root=5 %s",
			    collectives[i].name, shapes[k]);
			char *shape = xasprintf("count=7 root=5 %s", shapes[k]);

			own = text_proven(collectives[i].steps,
			    collectives[i].buffers, shape, 12);
			built = case_proven(text, 12);
			assert_int_equal(own->transfers_count,
			    built->transfers_count);
			assert_int_equal(own->locals_count,
			    built->locals_count);
			assert_int_equal(same_transfers(own, built),
			    built->transfers_count);
			plan_free(own);
			plan_free(built);
			free(text);
			free(shape);
		}
}

/* A shift on a ring, then forwarding of received data: expressions, sets, steps
 * of ranges and values that are sums of sums. */
static void
test_free_compositions(void **state)
{
	struct plan *p;

	(void)state;
	p = text_proven("for i in all: multicast send of i to recv of "
			"(i - 1) % ranks | fence | "
			"for i in 0..ranks-1 by 2: multicast recv of i to "
			"recv[1] of i + 1",
	    "send:in:1,recv:out:2", "count=3 hierarchy=2,3", 6);
	assert_int_equal(p->promises_count, 6 + 3);
	plan_free(p);
	p = text_proven("for i in 0,3: reduce send of i..i+2 to part of i | "
			"fence | reduce part of 0,3 to recv of root",
	    "send:in:2,part:temp:1,recv:out:1", "root=4 op=max depth=2", 6);
	assert_int_equal(p->promises_count, 1);
	assert_int_equal(p->promises[0].sources, 6);
	assert_int_equal(p->promises[0].op, PLAN_MAX);
	plan_free(p);
	p = text_proven("reduce send of all to send of 2", "send:in:2", "", 4);
	plan_free(p);
}

static void
refused(const char *steps, const char *words)
{
	struct err err = { 0 };
	struct plan *p = text_plan(steps, "send:in:ranks,recv:out:2", "", 4,
	    &err);

	assert_null(p);
	if (strstr(err.text, words) == NULL)
		fail_msg("%s: %s", steps, err.text);
}

static void
test_refusals(void **state)
{
	(void)state;
	refused("", "compose.steps = : expected primitives");
	refused("fence", "no primitive");
	refused("gather send", "at \"gather send\": expected multicast");
	refused("fence | multicast send of 4 to recv of all",
	    "statement 2, at \"4 to recv of all\": invalid rank 4: expected 0 "
	    "to 3");
	refused("multicast sent of 0 to recv of all", "unknown buffer sent");
	refused("multicast temp of 0 to recv of all", "unknown buffer temp");
	refused("multicast send[4] of 0 to recv of all",
	    "the buffer, which has 4");
	refused("multicast send[0-1] of 0 to recv of all",
	    "the buffer, which has 4");
	refused("multicast send of 0 to recv of all x 3",
	    "the buffer, which has 2");
	refused("multicast send of 0 to recv of all x 0", "1 block or more");
	refused("multicast send of i to recv of all", "unknown variable");
	refused("multicast send of 1/0 to recv of all", "division by 0");
	refused("multicast send of 9999999999999 to recv of all", "too large");
	refused("multicast send of 0 to recv of 2..1", "ascending");
	refused("multicast send of 0 to recv of 0..3 by 0", "ascending");
	refused("multicast send of 0 to recv", "at its end: expected \"of\"");
	refused("multicast send of 0 to recv of all all", "unexpected text");
	refused("for i in others: fence", "only as the leaves");
	refused("for i in all fence", "expected \":\"");
	refused("multicast recv of 0 to recv[1] of 0", "before it is written");
	refused("multicast send of 0 to recv of 1 | multicast recv of 1 to "
		"recv of 2",
	    "statement 2: recv[0] of rank 1 was written in the same step");
	refused("for i in all: multicast send of i to recv of 0",
	    "recv[0] of rank 0 is written twice");
	refused("multicast send of 0 to recv of 1 | reduce send of all to "
		"send of 0 | multicast send of 2 to send of 1",
	    "send[0] of rank 1 was read in the same step");
}

/* A file has lines and comments, and is named in errors. */
static void
test_file(void **state)
{
	static const char text[] = "# to the neighbour\n"
				   "for i in all:  # each\n"
				   "multicast send of 0 to recv of 9\n";
	static const char good[] = "\n# all\n\n"
				   "multicast send of 0 to recv of all\n";
	char path[] = "/tmp/coalmine-test-XXXXXX";
	struct err err;
	int fd = mkstemp(path);
	char *word = xasprintf("file=%s", path);
	struct plan *p = NULL;

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(patterns_plan("compose", &word, 1, 4, &p, &err),
	    -EINVAL);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "statement 2, at its end: expected"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, good, sizeof(good) - 1, 0),
	    sizeof(good) - 1);
	assert_int_equal(patterns_plan("compose", &word, 1, 4, &p, &err), 0);
	assert_int_equal(p->promises_count, 1);
	plan_free(p);
	close(fd);
	unlink(path);
	free(word);
}

static void
test_buffers(void **state)
{
	static const char *const wrong[] = { "send:in", "send:in:0",
		"send:in:x", "send:both:1", "send:in:1,send:in:1", "temp:in:1",
		"send:in:1:1" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_null(text_plan("multicast send of 0 to send of 1",
		    wrong[i], "", 4, &err));
		assert_non_null(strstr(err.text, "compose.buffers = "));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collectives_as_text),
		cmocka_unit_test(test_free_compositions),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
