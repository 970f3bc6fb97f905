/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meshes.h - sparse matrices that are made, not downloaded: of the groups and
 * with the numbers of rows and nonzeros of Table III of "ROCm-Aware
 * Leader-based Designs for MPI Neighbourhood Collectives".
 *
 * All are symmetric and without diagonal: two nonzeros an edge. Values are
 * small whole numbers, so products of whole numbers are exact.
 */
#ifndef PROBES_NEIGHBOR_MESHES_H
#define PROBES_NEIGHBOR_MESHES_H

#include "probes/neighbor/csr.h"

enum mesh_numbering {
	MESH_DRAWN,  /* rows as they are made */
	MESH_MORTON, /* rows along a curve through the plane */
};

struct mesh_row {
	const char *name;
	uint32_t rows;
	size_t nonzeros;
	int planar; /* has places, so a numbering can follow them */
	void (*make)(enum mesh_numbering numbering, struct csr *ret);
};

extern const struct mesh_row meshes[]; /* ends with a NULL name */
const struct mesh_row *meshes_find(const char *name); /* NULL: none */

#endif
