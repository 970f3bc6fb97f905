/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_net.c - the interfaces of ranks, as each library expects them. The site's
 * own mpi.net decides, else the collector, which knows the interfaces of all
 * nodes of the run. Settings in a site's MPI files take precedence.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/launch/mpi_impl.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/mesh.h"
#include "schema/rails.h"

/* Every form of a choice that a site may have made: of one for an MPI's
 * library, and of one for NCCL. */
static const char *const chosen_mpi[] = { "btl_tcp_if_include",
	"btl_tcp_if_exclude", "UCX_NET_DEVICES", "FI_TCP_IFACE", NULL };
static const char *const chosen_nccl[] = { "NCCL_SOCKET_IFNAME", NULL };

static int
mpi_net_is_in(const struct ifaddrs *ifa, char *const *nets, size_t count)
{
	char text[INET6_ADDRSTRLEN];
	const void *raw = NULL;
	struct in6_addr addr;
	struct mesh_net net;

	if (ifa->ifa_addr != NULL && ifa->ifa_addr->sa_family == AF_INET)
		raw = &((struct sockaddr_in *)(void *)ifa->ifa_addr)->sin_addr;
	else if (ifa->ifa_addr != NULL && ifa->ifa_addr->sa_family == AF_INET6)
		raw =
		    &((struct sockaddr_in6 *)(void *)ifa->ifa_addr)->sin6_addr;
	if (raw == NULL ||
	    inet_ntop(ifa->ifa_addr->sa_family, raw, text, sizeof(text)) ==
		NULL ||
	    mesh_addr_parse(text, &addr) < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (mesh_net_parse(nets[i], &net) == 0 &&
		    mesh_net_has(&net, &addr))
			return 1;
	return 0;
}

/* Interfaces of this node with an address in one of the networks. */
static char *
mpi_net_nics(const char *networks)
{
	struct strbuf sb = { 0 };
	struct ifaddrs *all, *ifa;
	size_t count = 0;
	char **nets = str_list_parse(networks, &count);

	strbuf_add(&sb, "", 0);
	if (getifaddrs(&all) < 0)
		all = NULL;
	for (ifa = all; ifa != NULL; ifa = ifa->ifa_next) {
		size_t len = strlen(ifa->ifa_name);
		const char *had = strstr(sb.text, ifa->ifa_name);

		if (!mpi_net_is_in(ifa, nets, count) ||
		    (had != NULL && (had == sb.text || had[-1] == ',') &&
			(had[len] == ',' || had[len] == '\0')))
			continue;
		strbuf_addf(&sb, "%s%s", sb.len_bytes == 0 ? "" : ",",
		    ifa->ifa_name);
	}
	if (all != NULL)
		freeifaddrs(all);
	str_list_free(nets);
	return sb.text;
}

/* Whether a file of parameters, "name = value" by line, has made a choice. */
static int
mpi_net_file(const char *dir, const char *file, const char *const *chosen)
{
	char path[4400], line[1000];
	int found = 0;
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fp = fopen(path, "re");
	while (fp != NULL && fgets(line, sizeof(line), fp) != NULL) {
		const char *at = line + strspn(line, " \t");

		for (size_t i = 0; chosen[i] != NULL; i++)
			found |= strncmp(at, chosen[i], strlen(chosen[i])) == 0;
	}
	if (fp == NULL ? errno != ENOENT : ferror(fp))
		log_warn("cannot read %s", path);
	if (fp != NULL)
		fclose(fp);
	return found;
}

/* Whether an option of the agent or of the campaign has made a choice. */
static int
mpi_net_option(const struct mpi_impl_job *job, const char *const *chosen)
{
	const struct conf *confs[] = { job->conf, job->campaign };

	for (size_t i = 0; i < ARRAY_LEN(confs); i++)
		for (size_t k = 0; chosen[k] != NULL; k++)
			if (strstr(conf_string(confs[i], "mpi", "mca"),
				chosen[k]) != NULL ||
			    strstr(conf_string(confs[i], "mpi", "env"),
				chosen[k]) != NULL)
				return 1;
	return 0;
}

static int
mpi_net_is_chosen(const struct mpi_impl_job *job, const char *bin)
{
	char dir[4300];

	snprintf(dir, sizeof(dir), "%s/../etc", bin);
	return mpi_net_option(job, chosen_mpi) ||
	    mpi_net_file("/etc/openmpi", "openmpi-mca-params.conf",
		chosen_mpi) ||
	    mpi_net_file(dir, "openmpi-mca-params.conf", chosen_mpi) ||
	    mpi_net_file("/etc/ucx", "ucx.conf", chosen_mpi);
}

/* A variable would override NCCL's own file. */
static int
mpi_net_is_chosen_nccl(const struct mpi_impl_job *job, const char *etc)
{
	return mpi_net_option(job, chosen_nccl) ||
	    mpi_net_file(etc, "nccl.conf", chosen_nccl);
}

/* RDMA ports that are up, for UCX, which would use no other device than those
 * that it is given: "mlx5_0:1,". A port that leads to the switches between GPUs
 * (NVSwitch) is not a way to other nodes; its product data say SW_MNG. */
static void
mpi_net_rdma(const char *root, struct strbuf *sb)
{
	char path[4400], line[256];
	struct dirent **list = NULL;
	int n;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; free(list[i++])) {
		FILE *fp;
		int inner = 0;

		if (list[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path),
		    "%s/sys/class/infiniband/%s/device/vpd", root,
		    list[i]->d_name);
		fp = fopen(path, "re");
		if (fp != NULL) {
			size_t len = fread(line, 1, sizeof(line), fp);

			inner = memmem(line, len, "SW_MNG", 6) != NULL;
			fclose(fp);
		}
		for (int port = 1; port <= 4 && !inner; port++) {
			snprintf(path, sizeof(path),
			    "%s/sys/class/infiniband/%s/ports/%d/state", root,
			    list[i]->d_name, port);
			fp = fopen(path, "re");
			if (fp == NULL)
				break;
			if (fgets(line, sizeof(line), fp) != NULL &&
			    strstr(line, "ACTIVE") != NULL)
				strbuf_addf(sb, "%s:%d,", list[i]->d_name,
				    port);
			fclose(fp);
		}
	}
	free(list);
}

void
mpi_net_env(const struct mpi_impl_job *job, const char *bin, const char *fabric,
    struct strvec *env)
{
	const char *own = conf_string(job->conf, "mpi", "net");
	char *nics;
	struct strbuf ucx = { 0 };

	/* With mpi.nics and mpi.devices each rank has an interface already. */
	if (conf_string(job->conf, "mpi", "nics")[0] != '\0' ||
	    conf_string(job->campaign, "mpi", "devices")[0] != '\0' ||
	    mpi_net_is_chosen(job, bin))
		return;
	nics = own[0] != '\0' ? mpi_net_nics(own) : xstrdup(job->net);
	if (nics[0] != '\0') {
		strvec_env(env, "OMPI_MCA_btl_tcp_if_include", "%s", nics);
		if (!mpi_net_is_chosen_nccl(job, "/etc"))
			strvec_env(env, "NCCL_SOCKET_IFNAME", "=%s", nics);
		if (strchr(nics, ',') == NULL)
			strvec_env(env, "FI_TCP_IFACE", "%s", nics);
		if (strcmp(fabric, "tcp") != 0)
			mpi_net_rdma("", &ucx);
		strbuf_addf(&ucx, "%s", nics);
		strvec_env(env, "UCX_NET_DEVICES", "%s", ucx.text);
	}
	strbuf_clear(&ucx);
	free(nics);
}
