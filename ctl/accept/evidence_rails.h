/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_rails.h - the rails of nodes, and the planes. A rail is the nth NIC
 * of a node; a plane is the nth NIC of all nodes. Records of pairs of nodes
 * report the rate of each rail of each node.
 *
 * Two nodes exchange messages by the same rail of both. So the path of a rail
 * is as fast as the slowest of three parts: the two rails, and the plane. A
 * plane holds if one of its paths holds. It fails if most of its paths fail and
 * none holds, which a few slow rails do not cause.
 */
#ifndef CTL_ACCEPT_EVIDENCE_RAILS_H
#define CTL_ACCEPT_EVIDENCE_RAILS_H

#include "ctl/accept/evidence.h"

#define EVIDENCE_NO_PATH SIZE_MAX

/* Return the path between two of n neighbours, from 0; or EVIDENCE_NO_PATH. */
size_t evidence_ring_path(size_t n, size_t a, size_t b);
/* Set the parts of the paths of rails and planes, and their names. */
void evidence_rails_connect(struct evidence *e);
/* Add the rates of rails in two records of one run of pairs of nodes, for the
 * small and the large message. sizes: bytes of both. doubt: by path. */
void evidence_rails_add(struct evidence *e, double nic_per_s,
    const json_t *sizes, const json_t *const records[2], const double *doubt);
/* How slow planes make all nodes, as logarithms of shares; 0: not slower. */
struct evidence_slow {
	double fails; /* the slowest plane that fails */
	double open;  /* how much slower the slowest undetermined one is */
};
/* Compare rails and planes with the rate of typical rails, and judge them
 * alone. */
struct evidence_slow evidence_rails_judge(struct evidence *e);
/* Complete the results of rails and planes after everything was judged. */
void evidence_rails_finish(struct evidence *e);
/* Return 1 if more runs would change no result of rails and planes. */
int evidence_rails_settled(const struct evidence *e);

#endif
