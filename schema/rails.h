/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h - the names of a NIC, and the environment variables that make each
 * network library use it.
 *
 * A rail is one of a node's NICs. One rail can have several names: mlx5_0,
 * mlx5_0:1 and its network interface ens1f0, for example, or cxi0 and hsi0. A
 * name that sysfs does not contain is taken for the name of an interface.
 */
#ifndef SCHEMA_RAILS_H
#define SCHEMA_RAILS_H

#include "schema/mpi_settings.h"

#define RAIL_NAME_BYTES 64

/* The names of a rail. */
struct rail {
	char netdev[RAIL_NAME_BYTES]; /* interface, or "" */
	char rdma[RAIL_NAME_BYTES];   /* RDMA device, "mlx5_0:1", or "" */
	char cxi[RAIL_NAME_BYTES];    /* Slingshot device, "cxi0", or "" */
};

/* Find all names of a rail in sysfs. root: the folder that contains sys/, ""
 * for this machine. *ret is always filled; a name that is not found is "". */
void rail_find(const char *root, const char *name, struct rail *ret);

/* The name of a rail that a variable has as its value. */
enum rail_form {
	RAIL_NETDEV,
	/* The interface, only if the rail has no RDMA device. */
	RAIL_NETDEV_ALONE,
	RAIL_RDMA,
	RAIL_RDMA_OR_NETDEV, /* the RDMA device, or else the interface */
	RAIL_CXI
};
/* An environment variable of a network library. */
struct rail_variable {
	const char *name; /* name of the environment variable */
	/* Values of mpi.fabric for which it is set, separated by commas. */
	const char *fabrics;
	enum rail_form form;
	const char *prefix; /* text before the first name in its value */
};
/* The variables. The last row is { 0 }. */
extern const struct rail_variable rail_variables[];

/* Return the value of variable v for a comma-separated list of rails and a
 * value of mpi.fabric; the caller frees it. Return NULL if the variable does
 * not apply to the fabric or to any rail of the list. root: see rail_find. */
char *rail_value(const struct rail_variable *v, const char *root,
    const char *fabric, const char *list);
/* Return the list, followed by the other names of the same rails; the caller
 * frees it. */
char *rail_names(const char *root, const char *list);
/* Return 1 if mpi.env or mpi.mca sets one of the variables, so that the site
 * has chosen the NICs itself; 0 if not. */
int rail_is_chosen(const struct conf *c);

#endif
