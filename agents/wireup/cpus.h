/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - the cores of this node that a rank is bound to.
 */
#ifndef AGENTS_WIREUP_CPUS_H
#define AGENTS_WIREUP_CPUS_H

/* Return the CPU list of rank local of a node, "0-3,8": with "core" one core
 * each in order, with "numa" the NUMA nodes in turn. NULL: not bound, or
 * unknown. The caller frees. root: "" or a copy of /sys. */
char *cpus_of(const char *root, const char *bind, int local);

#endif
