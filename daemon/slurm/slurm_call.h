/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_call.h - run one of Slurm's programs. They are run, not linked: their
 * library changes its binary interface with every release.
 */
#ifndef DAEMON_SLURM_SLURM_CALL_H
#define DAEMON_SLURM_SLURM_CALL_H

#include "daemon/slurm/spawn.h"

struct slurm_site {
	const char *dir;  /* of the programs */
	const char *conf; /* their slurm.conf; "": they find it */
};

#define SLURM_WORDS_MAX 12

/* As spawn_start; words: the arguments, NULL-ended, at most
 * SLURM_WORDS_MAX. */
struct spawned *slurm_call(struct event_base *base,
    const struct slurm_site *site, const char *program, char *const *words,
    spawn_cb *cb, void *arg);

#endif
