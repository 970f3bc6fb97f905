/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argv_allowlist.h - what a launcher may ask a node to run. Pure.
 *
 * The words come from another node's launcher and are not trusted. Only the
 * forms that our own mpirun and mpiexec.hydra were seen to write pass; every
 * option is a row with a pattern for its value, anything else is refused. The
 * daemon obeys its control connection, so that address must be one of the
 * run's head. No shell ever sees a word.
 */
#ifndef AGENTS_LAUNCH_ARGV_ALLOWLIST_H
#define AGENTS_LAUNCH_ARGV_ALLOWLIST_H

#include <stddef.h>

#include "common/err.h"

#define ARGV_ALLOWLIST_ARGS_MAX  256
#define ARGV_ALLOWLIST_BYTES_MAX (64 * 1024)

struct argv_allowlist_want {
	const char *mpi;          /* of the run: "openmpi" or "mpich" */
	const char *const *addrs; /* numeric; where control may come from */
	size_t addr_count;
	const char *arsh; /* path that replaces the head's own */
};

/* argv as the launcher wrote it, without the host: argv[0] is " orted" or
 * "\"/usr/bin/hydra_pmi_proxy\"". On success *ret_argv is the daemon's, [0]
 * its bare name, NULL at its end; the caller frees it with argv_allowlist_free.
 * -EPERM and a reason in why for everything else. */
int argv_allowlist_check(const struct argv_allowlist_want *want,
    const char *const *argv, size_t argc, char ***ret_argv, struct err *err);
void argv_allowlist_free(char **argv); /* NULL is allowed */

#endif
