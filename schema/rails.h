/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h - a NIC by any name that a site has for it, and what each library
 * wants to hear to use that one.
 *
 * mlx5_0, mlx5_0:1 and its interface ens1f0 are one rail, as are cxi0 and
 * hsi0. A name that sysfs does not know is taken for that of an interface.
 */
#ifndef SCHEMA_RAILS_H
#define SCHEMA_RAILS_H

#include "schema/mpi_settings.h"

#define RAIL_NAME_BYTES 64

struct rail {
	char netdev[RAIL_NAME_BYTES]; /* "": it has none */
	char rdma[RAIL_NAME_BYTES];   /* "mlx5_0:1", or "" */
	char cxi[RAIL_NAME_BYTES];    /* "cxi0", or "" */
};

/* root: "" for this machine. */
void rail_find(const char *root, const char *name, struct rail *ret);

enum rail_form {
	RAIL_NETDEV,
	RAIL_NETDEV_ALONE, /* interface of a rail without an RDMA device */
	RAIL_RDMA,
	RAIL_RDMA_OR_NETDEV,
	RAIL_CXI
};
struct rail_variable {
	const char *name;    /* of the environment */
	const char *fabrics; /* of mpi.fabric, those that it is for */
	enum rail_form form;
	const char *prefix; /* of the value */
};
extern const struct rail_variable rail_variables[]; /* ends with { 0 } */

/* Return the value of that variable for a comma-separated list of rails; the
 * caller frees. NULL: the variable does not apply to the list or the fabric. */
char *rail_value(const struct rail_variable *v, const char *root,
    const char *fabric, const char *list);
/* The list with all other names of the same rails behind it; new. */
char *rail_names(const char *root, const char *list);
/* mpi.env or mpi.mca has one of the variables: the site has chosen. */
int rail_is_chosen(const struct conf *c);

#endif
