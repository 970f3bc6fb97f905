/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - optional libraries: parts of Coalmine that need one are shared
 * objects (plugins) next to the programs, or look up the library's functions by
 * name at run time.
 */
#ifndef COMMON_PLUGIN_H
#define COMMON_PLUGIN_H

#include <stddef.h>

#include "common/err.h"

/* Load coalmine-NAME.so, call its function entry with the ABI number, and
 * return the result. Return NULL with the reason in err if that fails. The
 * object stays loaded. It is searched in $COALMINE_PLUGIN_DIR, in the libexec
 * folder of the program's tree, and in the libexec folder of the build's
 * prefix. */
const void *plugin_find(const char *name, const char *entry, int abi,
    struct err *err);

/* A function of a library, and the offset of its pointer in a struct of such
 * pointers. */
struct plugin_call {
	const char *symbol;
	size_t at;
	/* 1: required; 0: its pointer is NULL if the library does not have
	 * it. */
	int must;
};
#define PLUGIN_CALL(type, member, symbol, must)                                \
	{                                                                      \
		symbol, offsetof(type, member), must                           \
	}

/* Open a library and fill in the struct ret, which is written only on success.
 * Return a handle for dlclose(), or NULL with the reason in err: the library,
 * or a required function, is missing. */
void *plugin_calls(const char *library, const struct plugin_call *calls,
    size_t count, void *ret, struct err *err);

#endif
