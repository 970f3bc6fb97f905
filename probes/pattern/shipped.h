/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shipped.h - files of etc/topologies and etc/patterns as texts; the build
 * makes the sources from them, so that a program needs no file to know them.
 */
#ifndef PROBES_PATTERN_SHIPPED_H
#define PROBES_PATTERN_SHIPPED_H

struct shipped {
	const char *name; /* of the file, up to its first dot */
	const char *text;
};

/* Each ends with a NULL name. */
extern const struct shipped links_files[];
extern const struct shipped matrix_files[];

#endif
