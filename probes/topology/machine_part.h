/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_part.h - what the parts of machine share.
 */
#ifndef PROBES_TOPOLOGY_MACHINE_PART_H
#define PROBES_TOPOLOGY_MACHINE_PART_H

#include "probes/topology/machine.h"

/* Find the ways between all parts of a node: m->next. */
void machine_route(struct machine *m);

#endif
