/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_settings.h - lists of settings for ranks, as the options mpi.env and
 * mpi.mca have them, and the rule which settings a campaign may change.
 *
 *   UCX_TLS="rc,self" UCX_NET_DEVICES=mlx5_0:1, UCX_LOG_LEVEL=info
 *
 * Settings are separated by blanks or commas. A value that is empty or contains
 * a blank or a comma is in double quotes.
 */
#ifndef SCHEMA_MPI_SETTINGS_H
#define SCHEMA_MPI_SETTINGS_H

#include "common/conf.h"
#include "common/err.h"

#define MPI_SETTING_NAME_BYTES 128

/* A setting of the list. */
struct mpi_setting {
	char name[MPI_SETTING_NAME_BYTES];
	char value[2048];
};

/* The prefix that turns the name of a parameter of Open MPI into the
 * environment variable that sets this parameter. */
#define MPI_SETTINGS_MCA "OMPI_MCA_"

/* Read the next setting of a list and move *at behind it. Return 1; 0 at the
 * end of the list; -EINVAL, with the expected form in err. */
int mpi_settings_next(const char **at, struct mpi_setting *ret,
    struct err *err);
/* Check a whole list. Return 0, or -EINVAL with the expected form in err. */
int mpi_settings_check(const char *text, struct err *err);
/* Check mpi.env and mpi.mca of an agent or a campaign. Return 0, or -EINVAL
 * with the file, the line and the expected form in err. */
int mpi_settings_conf_check(const struct conf *c, struct err *err);
/* Check whether a campaign may set all variables of a list. prefix is put
 * before each name ("" or MPI_SETTINGS_MCA). allow: patterns separated by
 * commas; a '*' at the end of a pattern matches any rest. A variable that names
 * a file or a program is rejected even if a pattern matches: UCX_MODULE_DIR,
 * for example, would load any library. Return 0; -EACCES, with the rejected
 * variable in err; or -EINVAL for a malformed list. */
int mpi_settings_allowed(const char *text, const char *prefix,
    const char *allow, struct err *err);

#endif
