/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - files that embed.cmake compiles into a program. The program
 * declares its tables.
 */
#ifndef COMMON_EMBED_H
#define COMMON_EMBED_H

#include <stddef.h>

/* A file in a program. */
struct embed {
	/* Name of the file, without folder; NULL ends a table. */
	const char *name;
	const unsigned char *bytes; /* contents; a NUL follows */
	size_t size_bytes;
};

#endif
