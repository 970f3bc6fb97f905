/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy made of the store's bytes is the store: whatever is written, deleted
 * and tidied meanwhile, in pieces as they come, and cut off at any of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>

#include "common/member.h"
#include "daemon/store/store_sqlite.h"
#include "daemon/store/store_sqlite_ship.c"

#include "tests/unit/daemon/store/store_fix.h"

/* What follow.c does, with its folder beside the store's. */
struct copy {
	char dir[96], path[128], log[160];
	uint64_t hold, generation, from;
	unsigned begun; /* logs */
};

static int
setup(void **state)
{
	static struct fix f;

	fix_folder(&f);
	f.options.copy_wait_ns = 3600 * CLK_NS_PER_S;
	fix_open(&f);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fix_close(*state);
	return 0;
}

static json_t *
ship_ask(struct fix *f, struct copy *c, int log, int want)
{
	struct answer a = { 0 };
	json_t *o = json_pack("{s:I, s:b, s:I, s:I}", "hold",
	    (json_int_t)c->hold, "log", log, "generation",
	    (json_int_t)c->generation, "from", (json_int_t)c->from);

	store_ship(f->st, o, answer_cb, &a);
	json_decref(o);
	fix_wait(f, &a.got, 1);
	assert_int_equal(a.status, want);
	return a.result;
}

static void
put(const char *path, uint64_t at, const json_t *bytes)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, json_string_value(bytes),
			     json_string_length(bytes), (off_t)at),
	    json_string_length(bytes));
	close(fd);
}

/* The file, as it was when this began. */
static void
copy_begin(struct fix *f, struct copy *c)
{
	uint64_t end;

	memset(c, 0, sizeof(*c));
	snprintf(c->dir, sizeof(c->dir), "%s/copy", f->dir);
	snprintf(c->path, sizeof(c->path), "%s/coalmine.db", c->dir);
	snprintf(c->log, sizeof(c->log), "%s-wal", c->path);
	(void)unlink(c->path);
	(void)unlink(c->log);
	(void)mkdir(c->dir, 0700);
	do {
		json_t *o = ship_ask(f, c, 0, 0);

		c->hold = member_unsigned(o, "hold");
		end = member_unsigned(o, "end");
		put(c->path, c->from, json_object_get(o, "bytes"));
		c->from += json_string_length(json_object_get(o, "bytes"));
		json_decref(o);
	} while (c->from < end);
	c->from = 0;
}

/* One piece of the log; 1: there may be more. */
static int
copy_piece(struct fix *f, struct copy *c)
{
	json_t *o = ship_ask(f, c, 1, 0);
	const json_t *bytes = json_object_get(o, "bytes");
	uint64_t end = member_unsigned(o, "end");
	struct err err;

	if (member_unsigned(o, "generation") != c->generation) {
		if (c->generation != 0)
			assert_int_equal(store_copy_apply(c->path, &err), 0);
		(void)unlink(c->log);
		c->generation = member_unsigned(o, "generation");
		c->from = 0;
		c->begun++;
	}
	put(c->log, c->from, bytes);
	c->from += json_string_length(bytes);
	json_decref(o);
	return c->from < end;
}

static void
copy_all(struct fix *f, struct copy *c)
{
	copy_piece(f, c);
	while (copy_piece(f, c))
		;
}

/* Which records of a run are in a store: a bit each. */
static uint64_t
seqs_of(struct fix *f, const char *run)
{
	json_t *list = fix_ask(f, STORE_RECORDS, json_pack("{s:s}", "run", run),
	    0);
	uint64_t seen = 0;
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		seen |= 1ULL << member_int(o, "seq");
	json_decref(list);
	return seen;
}

/* The copy as a collector would open it, and is it sound? */
static uint64_t
copy_open(struct fix *f, const struct copy *c, const char *run)
{
	struct fix at = { .base = f->base, .options = f->options };
	uint64_t seen;
	json_t *o;

	at.options.dir = c->dir;
	fix_open(&at);
	o = fix_ask(&at, STORE_CHECK, NULL, 0);
	assert_true(member_bool(o, "ok"));
	json_decref(o);
	seen = seqs_of(&at, run);
	store_close(at.st);
	return seen;
}

static void
put_record(struct fix *f, const char *run, int seq)
{
	assert_int_equal(fix_put_record(f,
			     fix_canary(run, seq, "lat", "isolated", 1)),
	    0);
}

static void
test_copy_is_the_store(void **state)
{
	struct fix *f = *state;
	struct copy c;

	for (int i = 1; i <= 10; i++)
		put_record(f, "r-1", i);
	copy_begin(f, &c);
	for (int i = 11; i <= 20; i++)
		put_record(f, "r-1", i);
	copy_all(f, &c);
	for (int i = 21; i <= 30; i++) {
		put_record(f, "r-1", i);
		copy_piece(f, &c);
	}
	copy_all(f, &c);
	assert_true(copy_open(f, &c, "r-1") == seqs_of(f, "r-1"));
	assert_true(seqs_of(f, "r-1") == ((1ULL << 31) - 1 - 1));
}

/* The log is emptied when the copy has all of it, and only then. */
static void
test_log_begins_anew(void **state)
{
	struct fix *f = *state;
	char run[16], big[60001] = "";
	struct copy c;

	memset(big, 'x', sizeof(big) - 1);
	copy_begin(f, &c);
	for (int i = 0; i < 150; i++) {
		json_t *o = fix_run("", "quick", "finished", 5);

		snprintf(run, sizeof(run), "b-%d", i);
		/* nothing that can be deflated to nothing */
		for (size_t k = 0; k < sizeof(big) - 1; k++)
			big[k] = (char)(' ' + rng_entropy() % 90);
		json_object_set_new(o, "run", json_string(run));
		json_object_set_new(o, "campaign_text", json_string(big));
		assert_int_equal(fix_put_run(f, o), 0);
		if (i % 50 == 0)
			put_record(f, run, 1);
		if (i % 20 == 0)
			copy_all(f, &c);
	}
	copy_all(f, &c);
	copy_piece(f, &c); /* this says that it has all */
	put_record(f, "b-149", 2);
	copy_all(f, &c);
	assert_true(c.begun >= 2);
	assert_true(copy_open(f, &c, "b-50") == 2);
	assert_true(copy_open(f, &c, "b-149") == 4);
}

/* Torn in the middle of a piece: what was whole before it is there. */
static void
test_torn_copy(void **state)
{
	struct fix *f = *state;
	struct copy c;
	uint64_t whole;
	int fd;

	copy_begin(f, &c);
	put_record(f, "r-1", 1);
	copy_all(f, &c);
	whole = c.from;
	put_record(f, "r-1", 2);
	copy_all(f, &c);
	fd = open(c.log, O_RDWR);
	assert_int_equal(ftruncate(fd, (off_t)(whole + (c.from - whole) / 2)),
	    0);
	close(fd);
	assert_true(copy_open(f, &c, "r-1") == 2);
}

static void
tally_cb(int status, json_t *result, void *arg)
{
	int *told = arg;

	json_decref(result);
	*told += status == 0 ? 1 : 1000;
}

/* What is put before is told when the copy has it, not earlier. */
static void
test_waits_for_the_copy(void **state)
{
	struct timeval while_ = { .tv_usec = 500000 };
	struct fix *f = *state;
	struct copy c, other;
	int told = 0;

	copy_begin(f, &c);
	copy_all(f, &c);
	put_record(f, "r-1", 1);
	store_when_copied(f->st, tally_cb, &told);
	event_base_loopexit(f->base, &while_);
	event_base_dispatch(f->base);
	assert_int_equal(told, 0);
	copy_all(f, &c);
	copy_piece(f, &c); /* this asks for what is behind it */
	fix_wait(f, &told, 1);
	assert_int_equal(told, 1);
	/* A second copy takes the first one's place. */
	other = c;
	copy_begin(f, &other);
	json_decref(ship_ask(f, &c, 1, -ESTALE));
	copy_all(f, &other);
	/* At the end nobody is left waiting. */
	store_when_copied(f->st, tally_cb, &told);
	put_record(f, "r-1", 2);
	store_when_copied(f->st, tally_cb, &told);
	fix_reopen(f);
	assert_true(told > 1000);
}

static void
test_nonsense(void **state)
{
	struct fix *f = *state;
	struct copy c;

	copy_begin(f, &c);
	put_record(f, "r-1", 1);
	copy_all(f, &c);
	c.from += 1000;
	json_decref(ship_ask(f, &c, 1, -ESTALE));
	c.from = 1ULL << 50;
	json_decref(ship_ask(f, &c, 0, -EINVAL));
	c.generation ^= 2;
	json_decref(ship_ask(f, &c, 1, -ESTALE));
	c.hold ^= 2;
	json_decref(ship_ask(f, &c, 1, -ESTALE));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copy_is_the_store, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_log_begins_anew, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_torn_copy, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_waits_for_the_copy, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
