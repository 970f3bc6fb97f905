/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_mpich.c - mpiexec.hydra of MPICH 4.
 *
 * Hydra does not notice an rsh agent that fails and its exit codes say little;
 * both are seen by the agents and the collector. -localhost makes the control
 * address a number, which the other nodes check.
 */
#include <netdb.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/launch/mpi_impl.h"
#include "common/str.h"

/* The local address of the route to another node; nothing is sent. */
static int
source_to(const char *addr, char *ret, size_t cap_bytes)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
		.ai_socktype = SOCK_DGRAM };
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct addrinfo *ai;
	int fd, rc = -1;

	if (getaddrinfo(addr, "9", &hints, &ai) != 0)
		return -1;
	fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		rc = getnameinfo((struct sockaddr *)&ss, len, ret,
		    (socklen_t)cap_bytes, NULL, 0, NI_NUMERICHOST);
	if (fd >= 0)
		close(fd);
	freeaddrinfo(ai);
	return rc == 0 ? 0 : -1;
}

/* One build has one network module, or chooses among several; what it took is
 * asked of it once it runs. */
static const struct mpi_impl_fabric fabrics[] = {
	{ "tcp", "UCX_TLS", "tcp,self", "tcp,self,sm", 0 },
	{ "tcp", "FI_PROVIDER", "tcp", NULL, 0 },
	{ "ucx", "MPIR_CVAR_CH4_NETMOD", "ucx", NULL, 0 },
	{ "ofi", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "psm", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "psm", "FI_PROVIDER", "psm2,psm3", NULL, 0 },
	{ "cray", "MPIR_CVAR_CH4_NETMOD", "ofi", NULL, 0 },
	{ "cray", "FI_PROVIDER", "cxi", NULL, 0 },
	{ 0 },
};

static void
mpich_build(const struct mpi_impl_job *job, struct strvec *argv,
    struct strvec *env)
{
	struct strbuf hosts = { 0 };
	struct strvec names = { 0 };
	char addr[NI_MAXHOST], *list;

	/* its warnings about a busy machine are no news */
	strvec_env(env, "UCX_LOG_LEVEL", "error");
	strvec_add(&names, "UCX_LOG_LEVEL");
	mpi_impl_settings(job, env, &names);
	for (size_t i = 0; i < job->node_count; i++)
		strbuf_addf(&hosts, "%s%s:%d", i > 0 ? "," : "",
		    job->nodes[i].node, job->ranks_per_node);
	strvec_add(argv, "-launcher");
	strvec_add(argv, "rsh");
	strvec_add(argv, "-launcher-exec");
	strvec_add(argv, "%s", job->arsh);
	strvec_add(argv, "-genvlist");
	list = mpi_impl_join(&names, ",");
	strvec_add(argv, "%s", list);
	free(list);
	strvec_clear(&names);
	/* Where the other nodes reach us. The collector knows an address, but
	 * one of loopback when it runs here. */
	if (job->node_count < 2 ||
	    source_to(job->nodes[1].addr, addr, sizeof(addr)) < 0)
		snprintf(addr, sizeof(addr), "%s", job->nodes[0].addr);
	if (addr[0] != '\0') {
		strvec_add(argv, "-localhost");
		strvec_add(argv, "%s", addr);
	}
	if (mpi_impl_bind(job) != NULL) {
		strvec_add(argv, "-bind-to");
		strvec_add(argv, "%s", mpi_impl_bind(job));
	}
	strvec_add(argv, "-hosts");
	strvec_add(argv, "%s", hosts.text);
	strvec_add(argv, "-n");
	strvec_add(argv, "%zu", job->node_count * (size_t)job->ranks_per_node);
	for (size_t i = 0; job->command[i] != NULL; i++)
		strvec_add(argv, "%s", job->command[i]);
	strbuf_clear(&hosts);
}

static const char *const launchers[] = { "mpiexec.hydra", NULL };

const struct mpi_impl_mpi launch_mpich = {
	.name = "mpich",
	.family = "mpich",
	.launchers = launchers,
	.argv0 = "mpiexec.hydra",
	.daemon = "hydra_pmi_proxy",
	.slurm = "pmi2",
	.version_mark = "Version:",
	.fabrics = fabrics,
	.build = mpich_build,
};
