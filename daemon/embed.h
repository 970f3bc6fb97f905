/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - files that were made part of the program when it was built.
 */
#ifndef DAEMON_HTTP_EMBED_H
#define DAEMON_HTTP_EMBED_H

#include <stddef.h>

struct embed {
	const char *name; /* the file's, without folder; NULL ends a table */
	const unsigned char *bytes; /* a NUL follows the last one */
	size_t size_bytes;
};

extern const struct embed embed_steps[]; /* schema/migrate, in order */
extern const struct embed embed_page[];  /* daemon/page, gzipped */

#endif
