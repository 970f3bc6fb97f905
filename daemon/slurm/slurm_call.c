/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/slurm/slurm_call.h"

#include <assert.h>
#include <stdio.h>

static char path_env[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char locale_env[] = "LC_ALL=C";

struct spawned *
slurm_call(struct event_base *base, const struct slurm_site *site,
    const char *program, char *const *words, spawn_cb *cb, void *arg)
{
	char path[4100], conf[4100], *argv[SLURM_WORDS_MAX + 2] = { path };
	char *env[] = { path_env, locale_env, conf, NULL };
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", site->dir, program);
	snprintf(conf, sizeof(conf), "SLURM_CONF=%s", site->conf);
	if (site->conf[0] == '\0')
		env[2] = NULL;
	for (i = 0; words[i] != NULL; i++) {
		assert(i < SLURM_WORDS_MAX);
		argv[i + 1] = words[i];
	}
	return spawn_start(base, argv, env, cb, arg);
}
