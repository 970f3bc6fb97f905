/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - one byte a cell, an hour modulo 200: recent cells are found by
 * comparing, old ones cleared by an hourly sweep.
 */
#include "daemon/mesh/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Stamps are hours modulo this, plus 1; 0 is never. An hourly sweep clears
 * stamps older than a day, so that a stamp identifies one hour. */
#define STAMPS 200

struct cells {
	uint8_t *stamp;
	size_t count;
	uint64_t by_stamp[STAMPS + 1]; /* number of cells with it */
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

/* Return the index of an unordered pair; a and b may be equal. The rows form a
 * triangle, so that new nodes are appended. */
static size_t
coverage_pair_at(size_t a, size_t b)
{
	return a < b ? b * (b + 1) / 2 + a : a * (a + 1) / 2 + b;
}

static int
coverage_is_recent(uint8_t stamp, uint64_t hour)
{
	if (stamp == 0)
		return 0;
	return (hour % STAMPS + STAMPS - (stamp - 1u)) % STAMPS <
	    COVERAGE_HOURS;
}

static int
coverage_has(const struct coverage *c, enum kind kind, uint64_t hour, size_t at)
{
	const struct cells *cells = &c->cells[kind];

	return at < cells->count && coverage_is_recent(cells->stamp[at], hour);
}

static void
coverage_sweep(struct coverage *c, uint64_t hour)
{
	int clear;

	if (hour <= c->swept_hour)
		return;
	/* After a jump beyond the range of stamps nothing is recent. */
	clear = hour - c->swept_hour >= STAMPS - COVERAGE_HOURS;
	for (int k = 0; k < KINDS; k++) {
		struct cells *cells = &c->cells[k];

		for (size_t i = 0; i < cells->count; i++) {
			uint8_t stamp = cells->stamp[i];

			if (stamp == 0 ||
			    (!clear && coverage_is_recent(stamp, hour)))
				continue;
			cells->by_stamp[stamp]--;
			cells->stamp[i] = 0;
		}
	}
	c->swept_hour = hour;
}

static void
coverage_set(struct coverage *c, enum kind kind, uint64_t hour, size_t at)
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
coverage_link(struct coverage *c, uint64_t hour, size_t link)
{
	coverage_sweep(c, hour);
	coverage_set(c, LINKS, hour, link);
}

void
coverage_uplink(struct coverage *c, uint64_t hour, size_t leaf)
{
	coverage_sweep(c, hour);
	coverage_set(c, UPLINKS, hour, leaf);
}

void
coverage_pair(struct coverage *c, uint64_t hour, size_t a, size_t la, size_t b,
    size_t lb)
{
	coverage_sweep(c, hour);
	if (la != lb) {
		coverage_set(c, UPLINKS, hour, la);
		coverage_set(c, UPLINKS, hour, lb);
	}
	coverage_set(c, PAIRS, hour, coverage_pair_at(a, b));
	coverage_set(c, LEAVES, hour, coverage_pair_at(la, lb));
}

int
coverage_has_pair(const struct coverage *c, uint64_t hour, size_t a, size_t b)
{
	return coverage_has(c, PAIRS, hour, coverage_pair_at(a, b));
}

int
coverage_has_leaves(const struct coverage *c, uint64_t hour, size_t la,
    size_t lb)
{
	return coverage_has(c, LEAVES, hour, coverage_pair_at(la, lb));
}

int
coverage_has_link(const struct coverage *c, uint64_t hour, size_t link)
{
	return coverage_has(c, LINKS, hour, link);
}

int
coverage_has_uplink(const struct coverage *c, uint64_t hour, size_t leaf)
{
	return coverage_has(c, UPLINKS, hour, leaf);
}

static void
coverage_meet(struct coverage_met *who, size_t other)
{
	who->others++;
	who->one = other;
}

/* One pass through the triangle; most of its cells are free, or all are set. */
void
coverage_met(const struct coverage *c, uint64_t hour, const uint32_t *leaf_of,
    size_t nodes, struct coverage_met *ret_nodes,
    struct coverage_met *ret_leaves)
{
	const struct cells *pairs = &c->cells[PAIRS];
	uint8_t recent[STAMPS + 1];

	for (int stamp = 0; stamp <= STAMPS; stamp++)
		recent[stamp] = (uint8_t)coverage_is_recent((uint8_t)stamp,
		    hour);
	for (size_t b = 0, at = 0; b < nodes; b++, at++) /* over b, b */
		for (size_t a = 0; a < b; a++, at++) {
			if (at >= pairs->count || !recent[pairs->stamp[at]])
				continue;
			coverage_meet(&ret_nodes[a], b);
			coverage_meet(&ret_nodes[b], a);
			if (leaf_of[a] == leaf_of[b])
				ret_nodes[a].inside = ret_nodes[b].inside = 1;
		}
	for (size_t i = 0; i < nodes; i++) {
		struct coverage_met *leaf = &ret_leaves[leaf_of[i]];

		if (leaf->others > 0)
			continue; /* done with an earlier node of it */
		for (size_t l = 0; l * (l + 1) / 2 < c->cells[LEAVES].count;
		     l++)
			if (l != leaf_of[i] &&
			    coverage_has(c, LEAVES, hour,
				coverage_pair_at(l, leaf_of[i])))
				coverage_meet(leaf, l);
	}
}

void
coverage_between(const struct coverage *c, uint64_t hour,
    const uint32_t *leaf_of, const uint32_t *group_of, size_t nodes,
    size_t groups, uint64_t *ret)
{
	const struct cells *pairs = &c->cells[PAIRS];
	uint8_t recent[STAMPS + 1];

	for (int stamp = 0; stamp <= STAMPS; stamp++)
		recent[stamp] = (uint8_t)coverage_is_recent((uint8_t)stamp,
		    hour);
	for (size_t b = 0, at = 0; b < nodes; b++, at++) /* over b, b */
		for (size_t a = 0; a < b; a++, at++) {
			size_t x = group_of[a], y = group_of[b];

			if (at >= pairs->count || !recent[pairs->stamp[at]] ||
			    leaf_of[a] == leaf_of[b] || x >= groups ||
			    y >= groups)
				continue;
			ret[x < y ? x * groups + y : y * groups + x]++;
		}
}

void
coverage_count(struct coverage *c, uint64_t hour, struct coverage_counts *ret)
{
	uint64_t sum[KINDS] = { 0 };

	coverage_sweep(c, hour);
	for (int k = 0; k < KINDS; k++)
		for (int s = 1; s <= STAMPS; s++)
			sum[k] += c->cells[k].by_stamp[s];
	ret->pairs = sum[PAIRS];
	ret->leaves = sum[LEAVES];
	ret->links = sum[LINKS];
	ret->uplinks = sum[UPLINKS];
}
