/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.h - the networks of a run.
 */
#ifndef DAEMON_RUN_NETWORKS_H
#define DAEMON_RUN_NETWORKS_H

#include <stddef.h>

struct run;
struct run_node;

/* Choose the networks that all nodes of the run share: r->networks. */
void networks_choose(struct run *r);
/* Interfaces of a node for its ranks, commas between; "": as the MPI chooses.
 * The caller frees. */
char *networks_nics(const struct run *r, const struct run_node *rn);
/* Those of all nodes, where they have the same names; else "". For launchers,
 * which give all ranks one environment. The caller frees. */
char *networks_nics_same(const struct run *r);
/* 1 and a text where several networks qualify and nothing decides. */
int networks_undecided(const struct run *r, char *ret, size_t cap_bytes);

#endif
