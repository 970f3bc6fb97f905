/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - optional libraries: parts that need one are shared objects next to
 * the programs, or look up its calls by name.
 */
#ifndef COMMON_PLUGIN_H
#define COMMON_PLUGIN_H

#include <stddef.h>

#include "common/err.h"

/* Load coalmine-NAME.so, call its function entry with the ABI number, and
 * return the result, or NULL and the reason. The object stays loaded. It is
 * searched in $COALMINE_PLUGIN_DIR, in the libexec folder of the program's
 * tree, and in the libexec folder of the build's prefix. */
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

/* Open the library and fill in ret, which is written only on success. Return a
 * handle for dlclose(), or NULL and the reason: the library, or a required
 * call, is missing. */
void *plugin_calls(const char *library, const struct plugin_call *calls,
    size_t count, void *ret, struct err *err);

#endif
