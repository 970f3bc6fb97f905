/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.c - adaptive group testing: split slow groups until a node, or a path
 * between nodes, is isolated. Pure.
 *
 * A group is as slow as its slowest member, or as the slowest path between its
 * members. A fast group therefore clears all of its members. A slow group whose
 * parts are all fast has a slow path between the parts. A single node cannot be
 * measured alone: it gets partners from the cleared nodes. A search ends when a
 * node or a path was slow twice, the second time with other partners if there
 * are any. A node that its pairs exposed while all were measured together
 * counts as slow once. Rounds run one after another, and a network that is
 * slower in later rounds is slower for all: slow means beyond twice the
 * deviation of the fast groups.
 */
#include "common/bisect.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define Z_MIN     3.0 /* of the measurement's own deviations */
#define SMALL     4   /* is split into single ones at once */
#define PARTNERS  3   /* of one that is measured alone */
#define TRIES_MAX 2   /* of a group that gave no number */
/* Factor over the deviation of a fast group, which is chance too. */
#define FINE_MORE 2.0
#define CLEAR     2.0 /* times the least */
#define NONE      SIZE_MAX

enum hint { HINT_NONE, HINT_DOUBTFUL, HINT_SURE };

enum part_state {
	PART_ASKED,
	PART_SPLIT, /* slow, and its children are looked at */
	PART_FINE,
	PART_NAMED,  /* a node */
	PART_WAY,    /* slow, and its children are not */
	PART_UNKNOWN /* it cannot be told */
};

struct part {
	size_t from, count;     /* members, of the order */
	size_t first, children; /* the first of them; they follow each other */
	size_t end_of;          /* a path, whose end this is; NONE: no end */
	enum part_state state;
	int slow, fine, unknown; /* measurements that were so */
	int again;               /* after children that are fine: which step */
	double effect;           /* the last that was slow */
};

struct group {
	size_t part,
	    other; /* other: NONE, or one node to measure together with part */
	double effect, spread, doubt;
};

struct bisect {
	struct bisect_options o;
	size_t n;
	size_t *order;
	struct part *parts;
	size_t parts_count;
	struct group *groups;
	size_t groups_count;
	struct bisect_group *shown;
	size_t *members; /* of all groups of this round */
	unsigned char *used, *cleared;
	unsigned char *hinted; /* enum hint */
	size_t hints, rounds, turn, pairings;
	double fine_most; /* off, of all groups that were fine */
};

/* Pointers to parts are void then. */
static void
bisect_part_add(struct bisect *b, struct part p)
{
	if ((b->parts_count & (b->parts_count - 1)) == 0)
		b->parts = xreallocarray(b->parts, 2 * b->parts_count + 1,
		    sizeof(*b->parts));
	b->parts[b->parts_count++] = p;
}

struct bisect *
bisect_new(const struct bisect_options *o, size_t n)
{
	struct bisect *b = xcalloc(1, sizeof(*b));

	b->o = *o;
	b->n = n;
	b->order = xcalloc(n, sizeof(*b->order));
	b->members = xcalloc(n, sizeof(*b->members));
	b->groups = xcalloc(n, sizeof(*b->groups));
	b->shown = xcalloc(n, sizeof(*b->shown));
	b->used = xcalloc(n, 1);
	b->cleared = xcalloc(n, 1);
	b->hinted = xcalloc(n, 1);
	for (size_t i = 0; i < n; i++)
		b->order[i] = i;
	bisect_part_add(b, (struct part){ .count = n, .end_of = NONE });
	return b;
}

void
bisect_free(struct bisect *b)
{
	free(b->order);
	free(b->members);
	free(b->parts);
	free(b->groups);
	free(b->shown);
	free(b->used);
	free(b->cleared);
	free(b->hinted);
	free(b);
}

void
bisect_hint(struct bisect *b, size_t member, int is_sure)
{
	b->hints += !b->hinted[member];
	if (is_sure || !b->hinted[member])
		b->hinted[member] = is_sure ? HINT_SURE : HINT_DOUBTFUL;
}

void
bisect_hear(struct bisect *b, size_t group, double effect, double spread,
    double doubt)
{
	b->groups[group].doubt = doubt;
	b->groups[group].effect = effect;
	b->groups[group].spread = spread;
}

double
bisect_least(const struct bisect_options *o, double spread)
{
	return fmax(o->effect_min, Z_MIN * spread);
}

int
bisect_pair(size_t count, size_t round, size_t i, size_t *ret_a, size_t *ret_b)
{
	size_t others = count + count % 2 - 1; /* seats, without the first */

	/* The first stays, the others move by one seat each round. */
	*ret_a = i == 0 ? 0 : (i - 1 + round) % others + 1;
	*ret_b = (others - 1 - i + round) % others + 1;
	return *ret_a < count && *ret_b < count;
}

/* ---- results of a round ---- */

static int
bisect_is_slow(const struct bisect *b, const struct group *g, double doubt)
{
	return g->effect - doubt >
	    fmax(bisect_least(&b->o, g->spread), FINE_MORE * b->fine_most);
}

/* Of the whole, those that something else speaks against are one half. */
static void
bisect_split(struct bisect *b, size_t index)
{
	struct part p = b->parts[index];
	size_t left = p.count / 2, size, first = 0, then = b->hints;
	int by_hints = index == 0 && b->hints > 0 && b->hints < b->n;

	if (by_hints) {
		size_t *order = xcalloc(b->n, sizeof(*order));

		for (size_t i = 0; i < b->n; i++)
			order[b->hinted[b->order[i]] ? first++ : then++] =
			    b->order[i];
		free(b->order);
		b->order = order;
		left = b->hints;
	}
	p.state = PART_SPLIT;
	p.first = b->parts_count;
	p.children = 0;
	for (size_t at = 0; at < p.count; at += size, p.children++) {
		size = p.count <= SMALL && !by_hints ? 1
		    : at == 0                        ? left
						     : p.count - left;
		bisect_part_add(b,
		    (struct part){ .from = p.from + at,
			.count = size,
			.end_of = NONE });
	}
	b->parts[index] = p;
}

/* One measurement of a part: is it settled, or asked again? */
static void
bisect_part_hear(struct bisect *b, size_t index, const struct group *g)
{
	struct part *p = &b->parts[index];
	int slow = bisect_is_slow(b, g, 0),
	    sure = bisect_is_slow(b, g, g->doubt);
	/* More than a network that gives less since all were measured. */
	int clear = sure &&
	    g->effect - g->doubt > CLEAR * bisect_least(&b->o, g->spread);

	if (isnan(g->effect)) {
		if (++p->unknown >= TRIES_MAX)
			p->state = PART_UNKNOWN;
		return;
	}
	p->slow += sure;
	p->fine += !slow;
	p->effect = slow ? g->effect : p->effect;
	if (p->end_of != NONE || p->again == 1) {
		/* settled with the path that it belongs to */
		p->state = sure ? PART_SPLIT : slow ? PART_UNKNOWN : PART_FINE;
		/* who may be on a slow path is not fine */
		for (size_t i = 0; slow && !sure && i < p->count; i++)
			b->cleared[b->order[p->from + i]] = 0;
		return;
	}
	for (size_t i = 0; i < p->count; i++)
		b->cleared[b->order[p->from + i]] = !slow;
	if (!slow)
		p->state = PART_FINE;
	else if (p->count > 1)
		bisect_split(b, index);
	else if (p->slow >= 2 ||
	    (clear && b->hinted[b->order[p->from]] == HINT_SURE))
		p->state = PART_NAMED;
	else if (!sure && ++p->unknown >= TRIES_MAX)
		p->state = PART_UNKNOWN;
}

/* A slow part all of whose children are fine: it is measured again, then its
 * children are, and only what holds is called a path. Of a path's two ends each
 * is measured with as many of the cleared, if there are other ones. */
static void
bisect_look_again(struct bisect *b, size_t index)
{
	struct part *p = &b->parts[index];
	struct part ends[2];

	for (size_t i = 0; i < p->children; i++)
		if (b->parts[p->first + i].state != PART_FINE)
			return;
	switch (p->again++) {
	case 0:
		p->state = PART_ASKED;
		break;
	case 1:
		for (size_t i = 0; i < p->children; i++)
			b->parts[p->first + i].state = PART_ASKED;
		break;
	default:
		p->state = PART_WAY;
		if (p->children != 2)
			break;
		memcpy(ends, &b->parts[p->first], sizeof(ends));
		for (size_t i = 0; i < 2; i++)
			bisect_part_add(b,
			    (struct part){ .from = ends[i].from,
				.count = ends[i].count,
				.end_of = index });
	}
}

/* ---- tasks of the next round ---- */

/* Add a group of the members of a part and up to partners of the free cleared
 * nodes. Consecutive groups begin at different cleared nodes. */
static size_t
bisect_put(struct bisect *b, size_t part, size_t other, size_t partners,
    size_t at)
{
	const struct part *p = &b->parts[part];
	size_t from = at, turn = b->turn;

	for (size_t i = 0; i < p->count; i++)
		b->members[at++] = b->order[p->from + i];
	if (other != NONE)
		b->members[at++] = b->order[b->parts[other].from];
	for (size_t i = 0; i < b->n && partners > 0; i++) {
		size_t m = (i + turn) % b->n;

		if (!b->cleared[m] || b->used[m])
			continue;
		b->members[at++] = m;
		b->turn = m + 1;
		partners--;
	}
	for (size_t i = from; i < at; i++)
		b->used[b->members[i]] = 1;
	b->groups[b->groups_count] = (struct group){ part, other, NAN, 0, 0 };
	b->shown[b->groups_count] = (struct bisect_group){ b->members + from,
		at - from };
	b->groups_count++;
	return at;
}

/* Pair up single nodes while none is cleared: each time in other pairs. A fast
 * pair clears both. */
static size_t
bisect_put_pairs(struct bisect *b, const size_t *singles, size_t count,
    size_t at)
{
	size_t x, y;

	for (size_t i = 0; i < (count + 1) / 2; i++)
		if (bisect_pair(count, b->pairings, i, &x, &y) &&
		    b->groups_count < b->o.groups_max)
			at = bisect_put(b, singles[x], singles[y], 0, at);
	b->pairings++;
	return at;
}

size_t
bisect_next(struct bisect *b, const struct bisect_group **ret)
{
	size_t at = 0, count = 0, singles = 0, rest = 0;
	size_t *waiting = xcalloc(b->parts_count * 3 + 3, sizeof(*waiting));

	for (size_t i = 0; i < b->groups_count; i++)
		if (b->groups[i].effect <=
		    bisect_least(&b->o, b->groups[i].spread))
			b->fine_most = fmax(b->fine_most, b->groups[i].effect);
	for (size_t i = 0; i < b->groups_count; i++) {
		const struct group *g = &b->groups[i];
		int slow = isnan(g->effect) || bisect_is_slow(b, g, 0);

		/* Of two, neither is known to be the slow one. */
		if (g->other == NONE || !slow)
			bisect_part_hear(b, g->part, g);
		if (g->other != NONE && !slow)
			bisect_part_hear(b, g->other, g);
	}
	b->groups_count = 0;
	for (size_t i = b->parts_count; i-- > 0;)
		if (b->parts[i].state == PART_SPLIT &&
		    b->parts[i].end_of == NONE)
			bisect_look_again(b, i);
	memset(b->used, 0, b->n);
	for (size_t i = 0; i < b->parts_count; i++)
		if (b->parts[i].state == PART_ASKED) {
			const struct part *p = &b->parts[i];

			if (p->end_of == NONE && p->count == 1)
				waiting[singles++] = i;
			else if (p->end_of == NONE &&
			    b->groups_count < b->o.groups_max)
				at = bisect_put(b, i, NONE, 0, at);
		}
	count = singles;
	for (size_t i = 0; i < b->parts_count; i++)
		if (b->parts[i].state == PART_ASKED &&
		    b->parts[i].end_of != NONE)
			waiting[count++] = i;
	/* No member of what waits is a partner of another. */
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < b->parts[waiting[i]].count; k++)
			b->used[b->order[b->parts[waiting[i]].from + k]] = 1;
	for (size_t i = 0; i < b->n; i++)
		rest += b->cleared[i] && !b->used[i];
	for (size_t i = 0; i < count; i++) {
		size_t left = count - i;
		size_t want = i < singles ? PARTNERS
					  : b->parts[waiting[i]].count;

		want = rest / left < want ? (rest + left - 1) / left : want;
		if (want == 0 || b->groups_count == b->o.groups_max)
			continue;
		at = bisect_put(b, waiting[i], NONE, want, at);
		rest -= want;
	}
	if (b->groups_count == 0 && singles > 1 &&
	    b->pairings < singles + singles % 2)
		at = bisect_put_pairs(b, waiting, singles, at);
	free(waiting);
	b->rounds += b->groups_count > 0;
	*ret = b->shown;
	return b->groups_count;
}

/* ---- results so far ---- */

size_t
bisect_rounds(const struct bisect *b)
{
	return b->rounds;
}

/* 1 when a part is slow although all parts of it are fast, and it was not
 * measured again yet. */
static int
bisect_is_open(const struct bisect *b, const struct part *p)
{
	if (p->end_of != NONE || p->again == 0)
		return 0;
	for (size_t i = 0; p->state == PART_SPLIT && i < p->children; i++)
		if (b->parts[p->first + i].state == PART_ASKED)
			return 1;
	return p->state == PART_ASKED;
}

enum bisect_state
bisect_of(const struct bisect *b, size_t member, double *ret_effect)
{
	for (size_t i = 0; i < b->parts_count; i++) {
		const struct part *p = &b->parts[i];
		size_t open = bisect_is_open(b, p) ? p->count : 0;

		for (size_t k = 0; k < open; k++)
			if (b->order[p->from + k] == member)
				return BISECT_OPEN;
		if (p->state == PART_NAMED && b->order[p->from] == member) {
			*ret_effect = p->effect;
			return BISECT_SLOW;
		}
	}
	return b->cleared[member] ? BISECT_FINE : BISECT_OPEN;
}

int
bisect_path(const struct bisect *b, size_t number, struct bisect_path *ret)
{
	for (size_t i = 0; i < b->parts_count; i++) {
		const struct part *p = &b->parts[i];

		if (p->state != PART_WAY || number-- > 0)
			continue;
		*ret = (struct bisect_path){ b->order + p->from, p->count,
			p->children == 2 ? b->parts[p->first].count : 0, 0,
			p->effect };
		for (size_t k = 0; k < b->parts_count; k++)
			if (b->parts[k].end_of == i &&
			    b->parts[k].state == PART_SPLIT)
				ret->ends |= b->parts[k].from == p->from ? 1
									 : 2;
		return 1;
	}
	return 0;
}
