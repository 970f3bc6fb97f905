/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - parts that need a library which not every machine has lie beside
 * the programs as shared objects.
 */
#ifndef COMMON_PLUGIN_H
#define COMMON_PLUGIN_H

#include "common/err.h"

/* The function entry of coalmine-NAME.so, asked for an ABI; what it gives, or
 * NULL with the reason. It stays open. Looked for in $COALMINE_PLUGIN_DIR,
 * beside the program in the folder of helpers of the same tree, wherever that
 * was moved to, and in that of the build's prefix. */
const void *plugin_find(const char *name, const char *entry, int abi,
    struct err *err);

#endif
