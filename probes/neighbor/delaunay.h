/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delaunay.h - the Delaunay triangulation of points in the plane, exactly.
 *
 * Divide and conquer on quad-edges (Guibas and Stolfi, "Primitives for the
 * manipulation of general subdivisions", ACM TOG 4(2), 1985). Coordinates are
 * whole numbers, so both tests are exact and no input is special: n points of
 * which h are on the hull have 3n - 3 - h edges.
 */
#ifndef PROBES_NEIGHBOR_DELAUNAY_H
#define PROBES_NEIGHBOR_DELAUNAY_H

#include <stddef.h>
#include <stdint.h>

#define DELAUNAY_BITS 30 /* of a coordinate; 128 bits hold every product */

struct delaunay_point {
	int64_t x, y; /* 0 to 2^30 - 1 */
};

/* Called once for each edge, with numbers of points. */
typedef void (*delaunay_edge_cb)(void *arg, uint32_t a, uint32_t b);

/* At least two points, all of them distinct. */
void delaunay(const struct delaunay_point *points, uint32_t count,
    delaunay_edge_cb edge, void *arg);

#endif
