/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delaunay.c - quad-edges are numbers: e and its three rotations are four
 * consecutive ones, of which the even two run along the edge and the odd two
 * along its dual.
 */
#include "probes/neighbor/delaunay.h"

#include <assert.h>
#include <stdlib.h>

#include "common/xalloc.h"

struct mesh {
	const struct delaunay_point *points;
	uint32_t *order; /* points by x, then y */
	uint32_t *next;  /* by quad-edge: counter-clockwise round its origin */
	uint32_t *origin;
	uint8_t *dead; /* by edge */
	uint32_t count, cap;
};

/* The outermost edges of a part: counter-clockwise out of its leftmost point,
 * clockwise out of its rightmost. */
struct hull {
	uint32_t left, right;
};

static uint32_t
rot(uint32_t e)
{
	return (e & ~3U) | ((e + 1) & 3);
}

static uint32_t
unrot(uint32_t e)
{
	return (e & ~3U) | ((e + 3) & 3);
}

static uint32_t
sym(uint32_t e)
{
	return e ^ 2;
}

static uint32_t
org(const struct mesh *m, uint32_t e)
{
	return m->origin[e];
}

static uint32_t
dest(const struct mesh *m, uint32_t e)
{
	return m->origin[sym(e)];
}

static uint32_t
onext(const struct mesh *m, uint32_t e)
{
	return m->next[e];
}

static uint32_t
oprev(const struct mesh *m, uint32_t e)
{
	return rot(m->next[rot(e)]);
}

static uint32_t
lnext(const struct mesh *m, uint32_t e)
{
	return rot(m->next[unrot(e)]);
}

static uint32_t
edge_new(struct mesh *m, uint32_t from, uint32_t to)
{
	uint32_t e = m->count;

	if (m->count + 4 > m->cap) {
		m->cap = m->cap * 2 + 4096;
		m->next = xreallocarray(m->next, m->cap, sizeof(*m->next));
		m->origin = xreallocarray(m->origin, m->cap,
		    sizeof(*m->origin));
		m->dead = xreallocarray(m->dead, m->cap / 4, sizeof(*m->dead));
	}
	m->count += 4;
	m->dead[e / 4] = 0;
	m->next[e] = e;
	m->next[e + 1] = e + 3;
	m->next[e + 2] = e + 2;
	m->next[e + 3] = e + 1;
	m->origin[e] = from;
	m->origin[e + 2] = to;
	return e;
}

static void
swap(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;

	*a = *b;
	*b = kept;
}

static void
splice(struct mesh *m, uint32_t a, uint32_t b)
{
	uint32_t alpha = rot(m->next[a]), beta = rot(m->next[b]);

	swap(&m->next[a], &m->next[b]);
	swap(&m->next[alpha], &m->next[beta]);
}

/* A new edge from the end of a to the start of b, left of both. */
static uint32_t
connect(struct mesh *m, uint32_t a, uint32_t b)
{
	uint32_t e = edge_new(m, dest(m, a), org(m, b));

	splice(m, e, lnext(m, a));
	splice(m, sym(e), b);
	return e;
}

static void
edge_drop(struct mesh *m, uint32_t e)
{
	splice(m, e, oprev(m, e));
	splice(m, sym(e), oprev(m, sym(e)));
	m->dead[e / 4] = 1;
}

/* > 0 when a, b and c turn left. Below 2^62. */
static int64_t
turn(const struct mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
	const struct delaunay_point *p = m->points;

	return (p[b].x - p[a].x) * (p[c].y - p[a].y) -
	    (p[b].y - p[a].y) * (p[c].x - p[a].x);
}

/* Whether d lies inside the circle through a, b and c, which turn left.
 * Differences are below 2^30, their squares' sums and products' differences
 * below 2^61, each of three terms below 2^122. */
static int
in_circle(const struct mesh *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t at[3] = { a, b, c };
	int64_t x[3], y[3], square[3];
	__int128 sum = 0;

	for (int i = 0; i < 3; i++) {
		x[i] = m->points[at[i]].x - m->points[d].x;
		y[i] = m->points[at[i]].y - m->points[d].y;
		square[i] = x[i] * x[i] + y[i] * y[i];
	}
	for (int i = 0; i < 3; i++) {
		int k = (i + 1) % 3, l = (i + 2) % 3;

		sum += (__int128)square[i] * (x[k] * y[l] - x[l] * y[k]);
	}
	return sum > 0;
}

static int
left_of(const struct mesh *m, uint32_t point, uint32_t e)
{
	return turn(m, point, org(m, e), dest(m, e)) > 0;
}

static int
right_of(const struct mesh *m, uint32_t point, uint32_t e)
{
	return turn(m, point, dest(m, e), org(m, e)) > 0;
}

static struct hull
two(struct mesh *m, const uint32_t *s)
{
	uint32_t a = edge_new(m, s[0], s[1]);

	return (struct hull){ a, sym(a) };
}

static struct hull
three(struct mesh *m, const uint32_t *s)
{
	uint32_t a = edge_new(m, s[0], s[1]), b = edge_new(m, s[1], s[2]), c;
	int64_t t = turn(m, s[0], s[1], s[2]);

	splice(m, sym(a), b);
	if (t == 0)
		return (struct hull){ a, sym(b) };
	c = connect(m, b, a);
	if (t > 0)
		return (struct hull){ a, sym(b) };
	return (struct hull){ sym(c), c };
}

/* The next edge upwards on the left side of base, without those that the
 * right side makes invalid. */
static uint32_t
left_candidate(struct mesh *m, uint32_t base)
{
	uint32_t e = onext(m, sym(base));

	if (!right_of(m, dest(m, e), base))
		return e;
	while (in_circle(m, dest(m, base), org(m, base), dest(m, e),
	    dest(m, onext(m, e)))) {
		uint32_t then = onext(m, e);

		edge_drop(m, e);
		e = then;
	}
	return e;
}

static uint32_t
right_candidate(struct mesh *m, uint32_t base)
{
	uint32_t e = oprev(m, base);

	if (!right_of(m, dest(m, e), base))
		return e;
	while (in_circle(m, dest(m, base), org(m, base), dest(m, e),
	    dest(m, oprev(m, e)))) {
		uint32_t then = oprev(m, e);

		edge_drop(m, e);
		e = then;
	}
	return e;
}

/* Sew two parts together from their lower common tangent upwards. */
static void
zip(struct mesh *m, uint32_t base)
{
	for (;;) {
		uint32_t l = left_candidate(m, base);
		uint32_t r = right_candidate(m, base);
		int has_l = right_of(m, dest(m, l), base);
		int has_r = right_of(m, dest(m, r), base);

		if (!has_l && !has_r)
			return;
		if (!has_l ||
		    (has_r &&
			in_circle(m, dest(m, l), org(m, l), org(m, r),
			    dest(m, r))))
			base = connect(m, r, sym(base));
		else
			base = connect(m, sym(base), sym(l));
	}
}

static struct hull
merge(struct mesh *m, struct hull a, struct hull b)
{
	uint32_t l = a.right, r = b.left, base;

	for (;;) {
		if (left_of(m, org(m, r), l))
			l = lnext(m, l);
		else if (right_of(m, org(m, l), r))
			r = onext(m, sym(r));
		else
			break;
	}
	base = connect(m, sym(r), l);
	if (org(m, l) == org(m, a.left))
		a.left = sym(base);
	if (org(m, r) == org(m, b.right))
		b.right = base;
	zip(m, base);
	return (struct hull){ a.left, b.right };
}

static struct hull
divide(struct mesh *m, const uint32_t *s, uint32_t count)
{
	struct hull a, b;

	if (count == 2)
		return two(m, s);
	if (count == 3)
		return three(m, s);
	a = divide(m, s, count / 2);
	b = divide(m, s + count / 2, count - count / 2);
	return merge(m, a, b);
}

static int
point_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct delaunay_point *points = arg;
	const struct delaunay_point *a = &points[*(const uint32_t *)va];
	const struct delaunay_point *b = &points[*(const uint32_t *)vb];

	if (a->x != b->x)
		return (a->x > b->x) - (a->x < b->x);
	return (a->y > b->y) - (a->y < b->y);
}

void
delaunay(const struct delaunay_point *points, uint32_t count,
    delaunay_edge_cb edge, void *arg)
{
	struct mesh m = { .points = points };

	assert(count >= 2);
	m.order = xcalloc(count, sizeof(*m.order));
	for (uint32_t i = 0; i < count; i++)
		m.order[i] = i;
	qsort_r(m.order, count, sizeof(*m.order), point_compare_cb,
	    (void *)points);
	divide(&m, m.order, count);
	for (uint32_t e = 0; e < m.count; e += 4)
		if (!m.dead[e / 4])
			edge(arg, org(&m, e), dest(&m, e));
	free(m.order);
	free(m.next);
	free(m.origin);
	free(m.dead);
}
