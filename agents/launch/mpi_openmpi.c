/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_openmpi.c - mpirun of Open MPI 4.
 *
 * All settings are in the environment: what stands on mpirun's command line is
 * copied into the arguments of every orted, and those have to match the
 * grammar. mpirun is started by its bare name, for with a path it would write
 * a shell script instead of " orted".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/launch/mpi_impl.h"
#include "common/str.h"

/* Rows that never change, each with its reason. */
static const struct {
	const char *name, *value;
} fixed[] = {
	/* short arguments of orted, all within the grammar */
	{ "OMPI_MCA_plm_rsh_pass_environ_mca_params", "0" },
	/* also within a job of a batch system that it could use instead */
	{ "OMPI_MCA_plm", "rsh" },
	/* hosts are asked for by the names that we gave */
	{ "OMPI_MCA_orte_keep_fqdn_hostnames", "1" },
	/* a node that is gone is seen in about ten seconds, not in 480 */
	{ "OMPI_MCA_oob_tcp_keepalive_time", "5" },
	{ "OMPI_MCA_oob_tcp_keepalive_intvl", "2" },
	{ "OMPI_MCA_oob_tcp_keepalive_probes", "3" },
	{ "OMPI_MCA_odls_base_sigkill_timeout", "1" },
	{ "OMPI_MCA_rmaps_base_oversubscribe", "1" },
};

/* Debian's file of parameters excludes UCX, to avoid warnings on machines
 * without a fabric, and with it all one-sided components that work on TCP. auto
 * is the choice that Open MPI makes without that file: an exclude list that
 * names only an unused component overrides it. */
static const struct mpi_impl_fabric fabrics[] = {
	{ "auto", "OMPI_MCA_pml", "^monitoring", NULL, 1 },
	{ "auto", "OMPI_MCA_osc", "^monitoring", NULL, 1 },
	{ "tcp", "OMPI_MCA_pml", "ob1", NULL, 0 },
	/* no shared memory files that outlive a killed rank, where they would
	 * carry nothing */
	{ "tcp", "OMPI_MCA_btl", "tcp,self", "tcp,self,vader", 0 },
	{ "tcp", "OMPI_MCA_osc", "pt2pt", NULL, 0 },
	/* any device that UCX has: by default Open MPI uses UCX for Mellanox
	 * only */
	{ "ucx", "OMPI_MCA_pml", "ucx", NULL, 0 },
	{ "ucx", "OMPI_MCA_pml_ucx_tls", "any", NULL, 0 },
	{ "ucx", "OMPI_MCA_pml_ucx_devices", "any", NULL, 0 },
	{ "ucx", "OMPI_MCA_osc", "ucx", NULL, 0 },
	{ "ofi", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "ofi", "OMPI_MCA_mtl", "ofi", NULL, 0 },
	{ "ofi", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ "psm", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "psm", "OMPI_MCA_mtl", "psm2,psm", NULL, 0 },
	{ "psm", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ "cray", "OMPI_MCA_pml", "cm", NULL, 0 },
	{ "cray", "OMPI_MCA_mtl", "ofi", NULL, 0 },
	{ "cray", "OMPI_MCA_mtl_ofi_provider_include", "cxi", NULL, 0 },
	{ "cray", "OMPI_MCA_osc", "^ucx", NULL, 0 },
	{ 0 },
};

static void
settings(const struct mpi_impl_job *job, struct strvec *env)
{
	const char *net = conf_string(job->conf, "mpi", "net");
	char *control = mpi_impl_control_nets(job->conf);
	const char *bind = mpi_impl_bind(job);
	struct strvec names = { 0 };
	char *list;

	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		strvec_env(env, fixed[i].name, "%s", fixed[i].value);
	/* by itself it binds a node's only rank to the first core */
	strvec_env(env, "OMPI_MCA_hwloc_base_binding_policy", "%s",
	    bind != NULL ? bind : "none");
	strvec_env(env, "OMPI_MCA_rmaps_base_mapping_policy", "%s",
	    bind != NULL && strcmp(bind, "numa") == 0 ? "numa" : "slot");
	strvec_env(env, "OMPI_MCA_plm_rsh_agent", "%s", job->arsh);
	/* Open MPI looks at the name only: for sh it would wrap " orted" in a
	 * script that reads a profile, and it refuses nologin */
	strvec_env(env, "SHELL", "/bin/bash");
	/* a star: every daemon is started from here */
	strvec_env(env, "OMPI_MCA_routed_radix", "%zu", job->node_count + 1);
	strvec_env(env, "OMPI_MCA_plm_rsh_num_concurrent", "%zu",
	    job->node_count + 1);
	if (control[0] != '\0')
		strvec_env(env, "OMPI_MCA_oob_tcp_if_include", "%s", control);
	/* with mpi.nics each rank chooses its own interface */
	if (net[0] != '\0' && conf_string(job->conf, "mpi", "nics")[0] == '\0')
		strvec_env(env, "OMPI_MCA_btl_tcp_if_include", "%s", net);
	free(control);
	if (job->ranks_per_node > job->cores)
		strvec_env(env, "OMPI_MCA_mpi_yield_when_idle", "1");
	if (job->as_root) {
		strvec_env(env, "OMPI_ALLOW_RUN_AS_ROOT", "1");
		strvec_env(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
	}
	mpi_impl_settings(job, env, &names);
	list = mpi_impl_join(&names, ";");
	strvec_env(env, "OMPI_MCA_mca_base_env_list", "%s", list);
	free(list);
	strvec_clear(&names);
}

static void
openmpi_build(const struct mpi_impl_job *job, struct strvec *argv,
    struct strvec *env)
{
	struct strbuf hosts = { 0 };

	settings(job, env);
	for (size_t i = 0; i < job->node_count; i++)
		strbuf_addf(&hosts, "%s%s:%d", i > 0 ? "," : "",
		    job->nodes[i].node, job->ranks_per_node);
	strvec_add(argv, "--host");
	strvec_add(argv, "%s", hosts.text);
	strvec_add(argv, "-np");
	strvec_add(argv, "%zu", job->node_count * (size_t)job->ranks_per_node);
	for (size_t i = 0; job->command[i] != NULL; i++)
		strvec_add(argv, "%s", job->command[i]);
	strbuf_clear(&hosts);
}

static const char *const launchers[] = { "orterun", "mpirun.openmpi", "mpirun",
	NULL };

const struct mpi_impl_mpi launch_openmpi = {
	.name = "openmpi",
	.family = "openmpi",
	.launchers = launchers,
	.argv0 = "mpirun",
	.daemon = "orted",
	.slurm = "pmix",
	.version_mark = "(Open MPI) ",
	.fabrics = fabrics,
	.build = openmpi_build,
};
