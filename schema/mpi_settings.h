/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_settings.h - lists of settings for ranks, as in mpi.env and mpi.mca, and
 * which of them a campaign may set.
 *
 *   UCX_TLS="rc,self" UCX_NET_DEVICES=mlx5_0:1, UCX_LOG_LEVEL=info
 *
 * Settings are separated by blanks or commas; a value that contains one, or is
 * empty, is in double quotes.
 */
#ifndef SCHEMA_MPI_SETTINGS_H
#define SCHEMA_MPI_SETTINGS_H

#include "common/conf.h"
#include "common/err.h"

#define MPI_SETTING_NAME_BYTES 128

struct mpi_setting {
	char name[MPI_SETTING_NAME_BYTES];
	char value[2048];
};

/* Before the name of a parameter of Open MPI, it is the variable that sets
 * it. */
#define MPI_SETTINGS_MCA "OMPI_MCA_"

/* Read the next setting and move *at behind it. Return 1; 0 at the end; -EINVAL
 * and the expected form. */
int mpi_settings_next(const char **at, struct mpi_setting *ret,
    struct err *err);
/* Check a whole list. Return 0, or -EINVAL and the expected form. */
int mpi_settings_check(const char *text, struct err *err);
/* Of mpi.env and mpi.mca of an agent or campaign: 0, or -EINVAL with place. */
int mpi_settings_conf_check(const struct conf *c, struct err *err);
/* May a campaign set variables of a list, each with prefix before its name? 0,
 * or -EACCES and which it may not. allow: patterns with commas between, with a
 * '*' at the end of one for any rest. Whatever it says, nothing passes that
 * names a file or a program: UCX_MODULE_DIR would load any library. */
int mpi_settings_allowed(const char *text, const char *prefix,
    const char *allow, struct err *err);

#endif
