/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.c - the interface that COALMINE_NICS gives this rank, said to every MPI.
 */
#include "probes/job/nic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"

#define LOCAL_MAX 65535

/* Where launchers say which rank of its node a process is. */
static const char *const locals[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK",
	"MPI_LOCALRANKID",
	"SLURM_LOCALID",
};

/* What implementations ask: Open MPI, UCX, libfabric, NCCL. */
static const char *const settings[] = {
	"OMPI_MCA_btl_tcp_if_include",
	"UCX_NET_DEVICES",
	"FI_TCP_IFACE",
	"NCCL_SOCKET_IFNAME",
};

int
nic_choose(const char *list, int local, char ret[NIC_NAME_BYTES])
{
	size_t count = 0;
	char **names = str_list_parse(list, &count);
	int rc = 0;

	if (names == NULL)
		rc = -EINVAL;
	else if (count == 0)
		rc = -ENOENT;
	else if (strlen(names[(size_t)local % count]) >= NIC_NAME_BYTES)
		rc = -EINVAL;
	else
		strcpy(ret, names[(size_t)local % count]);
	str_list_free(names);
	return rc;
}

int
nic_set(struct err *err)
{
	const char *list = getenv("COALMINE_NICS");
	char name[NIC_NAME_BYTES];
	int64_t local = -1;
	int rc;

	if (list == NULL)
		return 0;
	for (size_t i = 0; local < 0 && i < ARRAY_LEN(locals); i++)
		if (getenv(locals[i]) != NULL)
			(void)str_to_int(getenv(locals[i]), 0, LOCAL_MAX,
			    &local);
	if (local < 0)
		return err_set(err, -EINVAL,
		    "COALMINE_NICS is set, but no launcher says which rank of "
		    "its node this is");
	rc = nic_choose(list, (int)local, name);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0) {
		err_say(err,
		    "COALMINE_NICS = %.80s: allowed are names of interfaces "
		    "with commas between",
		    list);
		return rc;
	}
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		setenv(settings[i], name, 1);
	return 0;
}
