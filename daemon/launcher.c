/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/launcher.h"

#include <string.h>

#include "common/str.h"

static const struct launcher launchers[] = {
	/* The limit is what fits into one launch message. */
	{ "agents", 12000, 1 },
	{ "local", 1, 0 },
};

const struct launcher *
launcher_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (strcmp(launchers[i].name, name) == 0)
			return &launchers[i];
	return NULL;
}
