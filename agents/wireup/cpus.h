/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - the cores of this node to which a rank is bound.
 */
#ifndef AGENTS_WIREUP_CPUS_H
#define AGENTS_WIREUP_CPUS_H

/* Return the CPU list of rank number `local` of this node, "0-3,8": with bind
 * "core" each rank gets one core, in order; with "numa" the ranks get the NUMA
 * nodes in turn. Return NULL if the rank is not bound, or the cores are
 * unknown. The caller frees the list. root: "", or a folder with a copy of
 * /sys. */
char *cpus_of(const char *root, const char *bind, int local);

#endif
