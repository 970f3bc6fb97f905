/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mesh/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Stamps are hours modulo this, plus 1; 0 is never. An hourly sweep clears
 * what is older than a day, so a stamp means one hour only. */
#define STAMPS 200

struct cells {
	uint8_t *stamp;
	size_t count;
	uint64_t by_stamp[STAMPS + 1]; /* how many cells have it */
};

enum kind { PAIRS, LEAVES, LINKS, UPLINKS, KINDS };

struct coverage {
	struct cells cells[KINDS];
	uint64_t swept_hour; /* 0: never */
};

struct coverage *
coverage_new(void)
{
	return xcalloc(1, sizeof(struct coverage));
}

void
coverage_free(struct coverage *c)
{
	if (c == NULL)
		return;
	for (int k = 0; k < KINDS; k++)
		free(c->cells[k].stamp);
	free(c);
}

/* Of an unordered pair, a and b alike allowed: rows of a triangle, so that
 * more nodes only add to the end. */
static size_t
pair_at(size_t a, size_t b)
{
	return a < b ? b * (b + 1) / 2 + a : a * (a + 1) / 2 + b;
}

static int
is_recent(uint8_t stamp, uint64_t hour)
{
	if (stamp == 0)
		return 0;
	return (hour % STAMPS + STAMPS - (stamp - 1u)) % STAMPS <
	    COVERAGE_HOURS;
}

static int
has(const struct coverage *c, enum kind kind, uint64_t hour, size_t at)
{
	const struct cells *cells = &c->cells[kind];

	return at < cells->count && is_recent(cells->stamp[at], hour);
}

static void
sweep(struct coverage *c, uint64_t hour)
{
	int clear;

	if (hour <= c->swept_hour)
		return;
	/* After a jump beyond what stamps tell apart, nothing is recent. */
	clear = hour - c->swept_hour >= STAMPS - COVERAGE_HOURS;
	for (int k = 0; k < KINDS; k++) {
		struct cells *cells = &c->cells[k];

		for (size_t i = 0; i < cells->count; i++) {
			uint8_t stamp = cells->stamp[i];

			if (stamp == 0 || (!clear && is_recent(stamp, hour)))
				continue;
			cells->by_stamp[stamp]--;
			cells->stamp[i] = 0;
		}
	}
	c->swept_hour = hour;
}

static void
set(struct coverage *c, enum kind kind, uint64_t hour, size_t at)
{
	struct cells *cells = &c->cells[kind];
	uint8_t stamp = (uint8_t)(hour % STAMPS + 1);

	if (at >= cells->count) {
		size_t count = at + at / 2 + 64;

		cells->stamp = xreallocarray(cells->stamp, count, 1);
		memset(cells->stamp + cells->count, 0, count - cells->count);
		cells->count = count;
	}
	if (cells->stamp[at] != 0)
		cells->by_stamp[cells->stamp[at]]--;
	cells->stamp[at] = stamp;
	cells->by_stamp[stamp]++;
}

void
coverage_node(struct coverage *c, uint64_t hour, size_t node, size_t leaf,
    int far)
{
	sweep(c, hour);
	set(c, LINKS, hour, node);
	if (far)
		set(c, UPLINKS, hour, leaf);
}

void
coverage_pair(struct coverage *c, uint64_t hour, size_t a, size_t la, size_t b,
    size_t lb)
{
	coverage_node(c, hour, a, la, la != lb);
	coverage_node(c, hour, b, lb, la != lb);
	set(c, PAIRS, hour, pair_at(a, b));
	set(c, LEAVES, hour, pair_at(la, lb));
}

int
coverage_has_pair(const struct coverage *c, uint64_t hour, size_t a, size_t b)
{
	return has(c, PAIRS, hour, pair_at(a, b));
}

int
coverage_has_leaves(const struct coverage *c, uint64_t hour, size_t la,
    size_t lb)
{
	return has(c, LEAVES, hour, pair_at(la, lb));
}

int
coverage_has_link(const struct coverage *c, uint64_t hour, size_t node)
{
	return has(c, LINKS, hour, node);
}

int
coverage_has_uplink(const struct coverage *c, uint64_t hour, size_t leaf)
{
	return has(c, UPLINKS, hour, leaf);
}

void
coverage_count(struct coverage *c, uint64_t hour, struct coverage_counts *ret)
{
	uint64_t sum[KINDS] = { 0 };

	sweep(c, hour);
	for (int k = 0; k < KINDS; k++)
		for (int s = 1; s <= STAMPS; s++)
			sum[k] += c->cells[k].by_stamp[s];
	ret->pairs = sum[PAIRS];
	ret->leaves = sum[LEAVES];
	ret->links = sum[LINKS];
	ret->uplinks = sum[UPLINKS];
}
