/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/neighbor/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "common/xalloc.h"
#include "probes/neighbor/delaunay.h"

/* ccc_G_06: a cycle of 6 at each corner of a cube of 6 dimensions. */
#define CUBE_DIMS 6
/* debr_G_08: words of 8 letters out of two. */
#define WORD_BITS 8
/* delaunay_n10. Of seeds from 1 on, 8 is the first with 13 points on the
 * hull, and so with 3 * 1024 - 3 - 13 edges, as the original has. */
#define RANDOM_POINTS 1024
#define RANDOM_SEED   8
/* crack: a triangulated disc; 337 points on its rim make the edges come out.
 * Half of those within gather about a tip in the middle. */
#define RIM_POINTS   337
#define CRACK_POINTS 10240
#define CRACK_SEED   1

/* An edge as two nonzeros of one value, 1 to 7. */
static void
edge_add(struct csr_entries *list, uint32_t a, uint32_t b)
{
	uint64_t lo = a < b ? a : b, hi = a < b ? b : a;
	double value = 1 + (double)(rng_mix(lo << 32 | hi) % 7);

	csr_entries_add(list, a, b, value);
	csr_entries_add(list, b, a, value);
}

static void
cube_make(enum mesh_numbering numbering, struct csr *ret)
{
	struct csr_entries list = { 0 };

	(void)numbering;
	for (uint32_t x = 0; x < 1U << CUBE_DIMS; x++)
		for (uint32_t i = 0; i < CUBE_DIMS; i++) {
			uint32_t at = CUBE_DIMS * x + i;
			uint32_t across = x ^ 1U << i;

			edge_add(&list, at,
			    CUBE_DIMS * x + (i + 1) % CUBE_DIMS);
			if (x < across)
				edge_add(&list, at, CUBE_DIMS * across + i);
		}
	csr_make(CUBE_DIMS << CUBE_DIMS, &list, ret);
}

/* A word leads to its two shifts; loops go, and of the two between 01..01 and
 * 10..10 one. */
static void
words_make(enum mesh_numbering numbering, struct csr *ret)
{
	struct csr_entries list = { 0 };
	uint32_t n = 1U << WORD_BITS;

	(void)numbering;
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t letter = 0; letter < 2; letter++) {
			uint32_t to = (2 * v + letter) % n;
			uint32_t back = (2 * to) % n;

			if (to == v || ((back == v || back + 1 == v) && to < v))
				continue;
			edge_add(&list, v, to);
		}
	csr_make(n, &list, ret);
}

struct drawing {
	struct delaunay_point *points;
	uint32_t *number; /* of each point, as a row */
	uint32_t count;
	struct csr_entries list;
};

static void
drawing_edge_cb(void *arg, uint32_t a, uint32_t b)
{
	struct drawing *d = arg;

	edge_add(&d->list, d->number[a], d->number[b]);
}

/* Bits of x and y by turns, those of y above those of x. */
static uint64_t
morton(const struct delaunay_point *p)
{
	uint64_t code = 0;

	for (int i = 0; i < DELAUNAY_BITS; i++)
		code |= ((uint64_t)p->x >> i & 1) << 2 * i |
		    ((uint64_t)p->y >> i & 1) << (2 * i + 1);
	return code;
}

static int
morton_compare_cb(const void *va, const void *vb, void *arg)
{
	const struct delaunay_point *points = arg;
	uint64_t a = morton(&points[*(const uint32_t *)va]);
	uint64_t b = morton(&points[*(const uint32_t *)vb]);

	return (a > b) - (a < b);
}

static void
drawing_number(struct drawing *d, enum mesh_numbering numbering)
{
	uint32_t *order = xcalloc(d->count, sizeof(*order));

	d->number = xcalloc(d->count, sizeof(*d->number));
	for (uint32_t i = 0; i < d->count; i++)
		order[i] = i;
	if (numbering == MESH_MORTON)
		qsort_r(order, d->count, sizeof(*order), morton_compare_cb,
		    d->points);
	for (uint32_t i = 0; i < d->count; i++)
		d->number[order[i]] = i;
	free(order);
}

/* Points that are drawn to a matrix; they are used up. */
static void
drawing_make(struct drawing *d, enum mesh_numbering numbering, struct csr *ret)
{
	drawing_number(d, numbering);
	delaunay(d->points, d->count, drawing_edge_cb, d);
	csr_make(d->count, &d->list, ret);
	free(d->number);
	free(d->points);
}

static void
random_make(enum mesh_numbering numbering, struct csr *ret)
{
	struct drawing d = { .count = RANDOM_POINTS };
	uint64_t state = RANDOM_SEED;

	d.points = xcalloc(d.count, sizeof(*d.points));
	for (uint32_t i = 0; i < d.count; i++) {
		d.points[i].x = (int64_t)(rng_splitmix(&state) >> 34);
		d.points[i].y = (int64_t)(rng_splitmix(&state) >> 34);
	}
	drawing_make(&d, numbering, ret);
}

/* A place at a share of the way round and of the way out. */
static struct delaunay_point
polar(double round, double out)
{
	const double pi = 3.14159265358979323846;
	const double middle = (1 << (DELAUNAY_BITS - 1)) - 1;

	return (struct delaunay_point){
		.x = (int64_t)(middle + middle * out * cos(2 * pi * round)),
		.y = (int64_t)(middle + middle * out * sin(2 * pi * round)),
	};
}

static void
crack_make(enum mesh_numbering numbering, struct csr *ret)
{
	/* within the polygon of the rim: cos(pi / 337) is above .9999 */
	const double most = .999;
	struct drawing d = { .count = CRACK_POINTS };
	struct rng r;

	d.points = xcalloc(d.count, sizeof(*d.points));
	rng_seed(&r, CRACK_SEED);
	for (uint32_t i = 0; i < RIM_POINTS; i++)
		d.points[i] = polar((double)i / RIM_POINTS, 1);
	for (uint32_t i = RIM_POINTS; i < d.count; i++) {
		double round = rng_unit(&r), u = rng_unit(&r);

		/* evenly over the disc, or ever denser towards the tip */
		d.points[i] = polar(round, most * (i % 2 ? sqrt(u) : u * u));
	}
	drawing_make(&d, numbering, ret);
}

const struct mesh_row meshes[] = {
	{ "ccc", 384, 1152, 0, cube_make },
	{ "debruijn", 256, 1018, 0, words_make },
	{ "delaunay", RANDOM_POINTS, 6112, 1, random_make },
	{ "crack", CRACK_POINTS, 60760, 1, crack_make },
	{ NULL, 0, 0, 0, NULL },
};

const struct mesh_row *
meshes_find(const char *name)
{
	for (const struct mesh_row *m = meshes; m->name != NULL; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}
