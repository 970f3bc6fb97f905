/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - parts that need a library which not every machine has lie beside
 * the programs as shared objects, or find its calls by name.
 */
#ifndef COMMON_PLUGIN_H
#define COMMON_PLUGIN_H

#include <stddef.h>

#include "common/err.h"

/* The function entry of coalmine-NAME.so, asked for an ABI; what it gives, or
 * NULL with the reason. It stays open. Looked for in $COALMINE_PLUGIN_DIR,
 * beside the program in the folder of helpers of the same tree, wherever that
 * was moved to, and in that of the build's prefix. */
const void *plugin_find(const char *name, const char *entry, int abi,
    struct err *err);

/* A call of a library, and where in a struct of such its address goes. */
struct plugin_call {
	const char *symbol;
	size_t at;
	int must; /* 0: NULL where it is missing */
};
#define PLUGIN_CALL(type, member, symbol, must)                                \
	{                                                                      \
		symbol, offsetof(type, member), must                           \
	}

/* Opens the library and fills in ret, which only then is written. What it
 * gives is for dlclose(); NULL with the reason: there is no such library, or it
 * lacks a call. */
void *plugin_calls(const char *library, const struct plugin_call *calls,
    size_t count, void *ret, struct err *err);

#endif
