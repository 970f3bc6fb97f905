/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - files that embed.cmake makes part of a program. The program
 * declares its tables.
 */
#ifndef COMMON_EMBED_H
#define COMMON_EMBED_H

#include <stddef.h>

struct embed {
	const char *name; /* the file's, without folder; NULL ends a table */
	const unsigned char *bytes; /* a NUL follows the last one */
	size_t size_bytes;
};

#endif
