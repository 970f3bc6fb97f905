/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - the cores of this node that a rank is bound to.
 */
#ifndef AGENTS_WIREUP_CPUS_H
#define AGENTS_WIREUP_CPUS_H

/* For rank local of a node, "0-3,8": with "core" a core of its own in their
 * order, with "numa" the NUMA nodes in turn. NULL: not bound, or not known. The
 * caller frees. root: "" or a copy of /sys. */
char *cpus_of(const char *root, const char *bind, int local);

#endif
