/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links_shipped.h - the files of etc/topologies as texts; the build makes the
 * source from them, so that a program needs no file to know them.
 */
#ifndef PROBES_PATTERN_LINKS_SHIPPED_H
#define PROBES_PATTERN_LINKS_SHIPPED_H

struct links_file {
	const char *name; /* without ".links" */
	const char *text;
};

extern const struct links_file links_files[]; /* ends with a NULL name */

#endif
