/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - the table of launchers.
 */
#include "agents/launch/launcher.h"

#include <string.h>

#include "common/str.h"

static const struct launcher *const launchers[] = { &launcher_slurm,
	&launcher_command };

const struct launcher *
launcher_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(launchers); i++)
		if (strcmp(launchers[i]->name, name) == 0)
			return launchers[i];
	return NULL;
}
