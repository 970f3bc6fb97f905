/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made matrices: rows, nonzeros, symmetry, degrees, the triangulations against
 * their definition, and who needs rows of whom, which the document counted
 * from another program's matrices.
 */
#include "probes/neighbor/meshes.c"
#include "probes/neighbor/delaunay.c"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

/* The value at a place, 0 where there is none. */
static double
value_at(const struct csr *m, uint32_t row, uint32_t column)
{
	for (size_t i = m->starts[row]; i < m->starts[row + 1]; i++)
		if (m->columns[i] == column)
			return m->values[i];
	return 0;
}

static void
check_matrix(const struct csr *m, size_t least, size_t most)
{
	for (uint32_t row = 0; row < m->rows; row++) {
		size_t degree = m->starts[row + 1] - m->starts[row];

		assert_true(degree >= least && degree <= most);
		for (size_t i = m->starts[row]; i < m->starts[row + 1]; i++) {
			assert_true(m->columns[i] < m->rows);
			assert_true(m->columns[i] != row);
			assert_true(i == m->starts[row] ||
			    m->columns[i] > m->columns[i - 1]);
			assert_true(m->values[i] >= 1 && m->values[i] <= 7);
			assert_true(
			    m->values[i] == value_at(m, m->columns[i], row));
		}
	}
}

static void
test_sizes(void **state)
{
	static const size_t degrees[][2] = { { 3, 3 }, { 2, 4 }, { 3, 20 },
		{ 3, 20 } };

	(void)state;
	for (int i = 0; meshes[i].name != NULL; i++)
		for (int numbering = 0; numbering <= meshes[i].planar;
		     numbering++) {
			struct csr m;

			meshes[i].make((enum mesh_numbering)numbering, &m);
			assert_int_equal(m.rows, meshes[i].rows);
			assert_int_equal(m.nonzeros, meshes[i].nonzeros);
			assert_int_equal(m.starts[m.rows], m.nonzeros);
			check_matrix(&m, degrees[i][0], degrees[i][1]);
			csr_clear(&m);
		}
	assert_ptr_equal(meshes_find("crack"), &meshes[3]);
	assert_null(meshes_find("cracks"));
}

#define FEW 30

struct few {
	struct delaunay_point points[FEW];
	uint32_t count;
	struct mesh mesh; /* for turn and in_circle */
	uint32_t edges[3 * FEW][2];
	size_t edges_count;
};

static void
few_edge_cb(void *arg, uint32_t a, uint32_t b)
{
	struct few *f = arg;

	assert_true(f->edges_count < 3 * FEW);
	f->edges[f->edges_count][0] = a;
	f->edges[f->edges_count++][1] = b;
}

/* Distinct points; in a small square many lie on one circle or line. */
static void
few_draw(struct few *f, uint64_t seed)
{
	uint64_t wide = seed % 3 == 0 ? 7 : 1U << 30;
	uint32_t want = 2 + (uint32_t)(seed % (FEW - 1));
	struct rng r;

	memset(f, 0, sizeof(*f));
	f->mesh.points = f->points;
	rng_seed(&r, seed);
	while (f->count < want) {
		struct delaunay_point p;
		int known = 0;

		p.x = (int64_t)rng_below(&r, wide);
		p.y = (int64_t)rng_below(&r, wide);
		for (uint32_t i = 0; i < f->count; i++)
			known |= f->points[i].x == p.x && f->points[i].y == p.y;
		if (!known)
			f->points[f->count++] = p;
	}
}

/* Some circle through a and b holds no other point; circles through a third
 * one are enough to try. */
static int
has_empty_circle(const struct few *f, uint32_t a, uint32_t b)
{
	for (uint32_t c = 0; c < f->count; c++) {
		int64_t t = turn(&f->mesh, a, b, c);
		int empty = t != 0;

		for (uint32_t d = 0; empty && d < f->count; d++)
			empty = t > 0 ? !in_circle(&f->mesh, a, b, c, d)
				      : !in_circle(&f->mesh, b, a, c, d);
		if (empty)
			return 1;
	}
	return 0;
}

/* Points that lie on a line with all others on one side of it. */
static uint32_t
few_hull(const struct few *f, int *ret_line)
{
	uint32_t count = 0;

	*ret_line = 1;
	for (uint32_t a = 0; a < f->count; a++) {
		int outside = 0;

		for (uint32_t b = 0; b < f->count; b++) {
			int left = 0, right = 0;

			for (uint32_t c = 0; c < f->count; c++) {
				left |= turn(&f->mesh, a, b, c) > 0;
				right |= turn(&f->mesh, a, b, c) < 0;
			}
			outside |= b != a && !(left && right);
			*ret_line &= !left && !right;
		}
		count += outside;
	}
	return count;
}

static void
test_delaunay(void **state)
{
	static struct few f;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint32_t hull;
		int line;

		few_draw(&f, seed);
		delaunay(f.points, f.count, few_edge_cb, &f);
		hull = few_hull(&f, &line);
		assert_int_equal(f.edges_count,
		    line ? f.count - 1 : 3 * f.count - 3 - hull);
		for (size_t i = 0; !line && i < f.edges_count; i++)
			assert_true(
			    has_empty_circle(&f, f.edges[i][0], f.edges[i][1]));
	}
}

/* docs/algorithms-neighbor-multipath.md, 5: 32 ranks, 8 on a node. */
static void
test_blocks(void **state)
{
	static const struct {
		const char *name;
		enum mesh_numbering numbering;
		size_t edges, direct, leader;
	} rows[] = {
		{ "ccc", MESH_DRAWN, 160, 64, 64 },
		{ "debruijn", MESH_DRAWN, 122, 94, 64 },
		{ "delaunay", MESH_DRAWN, 992, 768, 96 },
		{ "delaunay", MESH_MORTON, 202, 78, 43 },
		{ "crack", MESH_DRAWN, 992, 768, 96 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t asked[32][4] = { 0 };
		size_t direct = 0, leader = 0;
		struct graph g;
		struct csr m;

		meshes_find(rows[i].name)->make(rows[i].numbering, &m);
		csr_graph(&m, 32, &g);
		for (size_t k = 0; k < g.count; k++) {
			uint32_t src = g.edges[k].src, to = g.edges[k].dst / 8;

			if (src / 8 == to)
				continue;
			direct++;
			leader += !asked[src][to];
			asked[src][to] = 1;
		}
		assert_int_equal(g.count, rows[i].edges);
		assert_int_equal(direct, rows[i].direct);
		assert_int_equal(leader, rows[i].leader);
		graph_clear(&g);
		csr_clear(&m);
	}
}

static void
test_owner(void **state)
{
	struct csr m = { 0 };

	(void)state;
	for (m.rows = 1; m.rows < 40; m.rows++)
		for (uint32_t ranks = 1; ranks < 50; ranks++)
			for (uint32_t row = 0; row < m.rows; row++) {
				uint32_t p = csr_owner(&m, ranks, row);

				assert_true(csr_block(&m, ranks, p) <= row);
				assert_true(csr_block(&m, ranks, p + 1) > row);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_delaunay),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
