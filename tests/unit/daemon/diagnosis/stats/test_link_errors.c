/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that count errors: the time until they are raised, no false alarm by
 * chance, by a replugged cable or if all ports count some, and the end of a
 * case. Seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/rng.h"
#include "daemon/diagnosis/stats/link_errors.h"
#include "schema/names_link.h"

#define NODES 1000
#define DAY   288 /* looks */

struct cluster {
	struct link_watch w;
	struct rng rng;
	double base;   /* share of readings with errors at a port */
	double count;  /* typical count then */
	int own;       /* count of node 7, */
	int own_every; /* every N readings; 0: never */
	int look;
};

static int
setup(void **state)
{
	struct cluster *c = calloc(1, sizeof(*c));

	rng_seed(&c->rng, 7);
	c->base = 3e-4;
	c->count = 1;
	*state = c;
	return 0;
}

static int
teardown(void **state)
{
	struct cluster *c = *state;

	link_clear(&c->w);
	free(c);
	return 0;
}

/* Two ports a node; the counts of a reading spread over a decade. */
static void
look(struct cluster *c)
{
	c->look++;
	for (uint32_t n = 0; n < NODES; n++) {
		struct link_port ports[2] = { { .name = "eth0" },
			{ .name = "ib0/1" } };
		uint64_t *errors = &ports[0].of[LINK_CORRUPTION].errors;

		if (rng_unit(&c->rng) < c->base)
			*errors = (uint64_t)ceil(
			    c->count * pow(10, rng_unit(&c->rng) - 0.5));
		if (n == 7 && c->own_every > 0 && c->look % c->own_every == 0)
			*errors += (uint64_t)c->own;
		ports[0].of[LINK_CORRUPTION].counter = "rx_crc_errors";
		link_look(&c->w, n, 300, ports, 2);
	}
}

static int
raised(const struct cluster *c)
{
	int n = 0;

	for (uint32_t i = 0; i < NODES; i++)
		n += link_worst(&c->w, i) != NULL;
	return n;
}

/* Return the readings until node 7 is raised; -1: not within most. No other
 * node may be. */
static int
until(struct cluster *c, int most)
{
	for (int i = 1; i <= most; i++) {
		look(c);
		if (link_worst(&c->w, 7) != NULL) {
			assert_int_equal(raised(c), 1);
			return i;
		}
	}
	return -1;
}

static void
test_always(void **state)
{
	struct cluster *c = *state;
	const struct link_sum *s;
	int looks;

	for (int i = 0; i < DAY; i++)
		look(c);
	c->own = 40;
	c->own_every = 1;
	looks = until(c, DAY);
	assert_in_range(looks, 4, 12); /* within an hour */
	s = link_worst(&c->w, 7);
	assert_string_equal(s->port, "eth0");
	assert_string_equal(s->counter, "rx_crc_errors");
	assert_int_equal(s->errors, 40 * looks);
	assert_int_equal(s->span_s, 300 * looks);
	/* Mended: two hours later it is over. */
	c->own_every = 0;
	for (int i = 0; i < LINK_CLEAN; i++) {
		assert_int_equal(raised(c), 1);
		look(c);
	}
	assert_int_equal(raised(c), 0);
}

/* A cable that flaps every three hours is found within two days, and does not
 * count as fixed after two quiet hours. */
static void
test_now_and_then(void **state)
{
	struct cluster *c = *state;
	int looks;

	c->own = 2;
	c->own_every = 36;
	looks = until(c, 7 * DAY);
	print_message("every 36 looks: %d\n", looks);
	assert_in_range(looks, 36, 2 * DAY);
	for (int i = 0; i < DAY; i++) {
		look(c);
		assert_int_equal(raised(c), 1);
	}
	c->own_every = 0;
	for (int i = 0; i < DAY; i++)
		look(c);
	assert_int_equal(raised(c), 0);
}

/* A cable is replugged; a switch is restarted three times in an hour. */
static void
test_replugged(void **state)
{
	struct cluster *c = *state;

	c->base = 0;
	look(c);
	for (int i = 0; i < 3; i++) {
		c->base = 1;
		look(c);
		c->base = 0;
		for (int k = 0; k < 4; k++)
			look(c);
		assert_int_equal(raised(c), 0);
	}
}

/* A month of 1000 healthy nodes. */
static void
test_healthy(void **state)
{
	struct cluster *c = *state;

	for (int i = 0; i < 30 * DAY; i++) {
		look(c);
		assert_int_equal(raised(c), 0);
	}
}

/* Where two in five do, the one that always does is raised, later. */
static void
test_many_count(void **state)
{
	struct cluster *c = *state;

	c->base = 0.4;
	c->count = 100;
	for (int i = 0; i < 7 * DAY; i++)
		look(c);
	assert_int_equal(raised(c), 0);
	c->own = 100;
	c->own_every = 1;
	assert_in_range(until(c, DAY), 12, 48);
}

/* One of four ports is bad: its counts do not become the normal ones. */
static void
test_few(void **state)
{
	struct cluster *c = *state;
	const struct link_port good = { .name = "eth0" };
	struct link_port bad = good;
	int looks = 0;

	bad.of[LINK_FLAP].errors = 2;
	bad.of[LINK_FLAP].counter = "carrier_changes";
	while (link_worst(&c->w, 2) == NULL && looks++ < 20)
		for (uint32_t n = 0; n < 4; n++)
			link_look(&c->w, n, 300, n == 2 ? &bad : &good, 1);
	assert_in_range(looks, 3, 6);
	assert_int_equal(raised(c), 1);
}

/* Where all send again now and then, more is not enough: much more is. */
static void
test_all_count(void **state)
{
	struct cluster *c = *state;

	c->base = 0.8;
	c->count = 100;
	for (int i = 0; i < 2 * DAY; i++)
		look(c);
	assert_int_equal(raised(c), 0);
	c->own = 200;
	c->own_every = 1;
	assert_int_equal(until(c, DAY), -1);
	c->own = 20000;
	assert_in_range(until(c, DAY), 4, 12);
}

/* Kinds and ports are separate; the worst is first; a port that is gone does
 * not count as fixed. */
static void
test_kinds(void **state)
{
	struct cluster *c = *state;
	struct link_port ports[2] = { { .name = "ib0/1" },
		{ .name = "ib1/1" } };

	for (int i = 0; i < 2; i++) {
		ports[i].of[LINK_FLAP].errors = 1;
		ports[i].of[LINK_FLAP].counter = "link_downed";
	}
	ports[0].of[LINK_CORRUPTION].errors = 31;
	ports[0].of[LINK_CORRUPTION].counter = "symbol_error";
	link_look(&c->w, 3, 300, ports, 2);
	assert_int_equal(c->w.places[3].count, 3);
	ports[0].of[LINK_FLAP].errors = ports[1].of[LINK_FLAP].errors = 0;
	for (int i = 0; i < 12; i++)
		link_look(&c->w, 3, 300, ports, 2);
	assert_string_equal(link_worst(&c->w, 3)->counter, "symbol_error");
	assert_int_equal(link_worst(&c->w, 3)->errors, 31 * 13);
	for (int i = 0; i < DAY; i++)
		link_look(&c->w, 3, 300, &ports[1], 1);
	assert_non_null(link_worst(&c->w, 3));
	assert_null(link_worst(&c->w, 4));
	assert_null(link_worst(&c->w, 4000000));
}

/* An error that no healthy machine has needs no second reading; it counts as
 * fixed after many readings. */
static void
test_fact(void **state)
{
	struct cluster *c = *state;
	struct link_port gpu = { .name = "0000:1b:00.0" };

	link_look(&c->w, 5, 300, &gpu, 1);
	gpu.of[LINK_DEVICE].errors = 1;
	gpu.of[LINK_DEVICE].counter = "xid_63";
	link_look(&c->w, 5, 300, &gpu, 1);
	assert_null(link_worst(&c->w, 5));
	gpu.of[LINK_DEVICE].counter = "xid_79";
	gpu.of[LINK_DEVICE].is_fact = 1;
	link_look(&c->w, 5, 300, &gpu, 1);
	assert_non_null(link_worst(&c->w, 5));
	assert_string_equal(link_worst(&c->w, 5)->counter, "xid_79");
	gpu.of[LINK_DEVICE].errors = 0;
	for (int i = 0; i < LINK_CLEAN + 4; i++)
		link_look(&c->w, 5, 300, &gpu, 1);
	assert_null(link_worst(&c->w, 5));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_always, setup, teardown),
		cmocka_unit_test_setup_teardown(test_now_and_then, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_replugged, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_healthy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_count, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_few, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_count, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fact, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
