/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher_slurm.c - start the run as a Slurm job by one srun.
 *
 * srun creates the allocation, waits for it, starts the ranks and releases the
 * nodes; when srun is ended, its job ends too. The nodes are those that the
 * collector has chosen, in its order, so that rank 0 is on this node, which
 * reads its records. srun waits without a limit: the collector has start_limit,
 * and queries Slurm for the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/launch/launcher.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "schema/options.h"
#include "schema/wire.h"

#define MINUTE_NS (60 * CLK_NS_PER_S)

/* A line for every rank: the order of nodes is ours, not Slurm's. */
static int
launcher_slurm_hosts_write(const struct mpi_impl_job *job, const char *path)
{
	FILE *fp = fopen(path, "wxe");
	int rc = 0;

	if (fp == NULL)
		return -errno;
	for (size_t i = 0; i < job->node_count; i++)
		for (int k = 0; k < job->ranks_per_node; k++)
			fprintf(fp, "%s\n", job->nodes[i].node);
	if (ferror(fp))
		rc = -EIO;
	else if (fchmod(fileno(fp), 0644) < 0)
		rc = -errno;
	if (fclose(fp) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int
launcher_slurm_build(const struct mpi_impl_job *job, char *ret_path,
    size_t cap_bytes, struct strvec *argv, struct strvec *env, struct err *err)
{
	const char *dir = conf_string(job->conf, "children", "slurm");
	const char *conf = conf_string(job->conf, "children", "slurm_conf");
	uint64_t deadline_ns = conf_span_ns(job->campaign, "campaign",
	    "deadline");
	const struct conf_row *row;
	char hosts[4300];
	int rc;

	if (str_format(ret_path, cap_bytes, "%s/srun", dir) < 0 ||
	    access(ret_path, X_OK) < 0)
		return err_set(err, -ENOENT,
		    "%.200s/srun is missing or not executable; set "
		    "children.slurm to the folder of srun",
		    dir);
	snprintf(hosts, sizeof(hosts), "%s/hosts", job->dir);
	rc = launcher_slurm_hosts_write(job, hosts);
	if (rc < 0) {
		err_say(err, "cannot write %.200s", hosts);
		return rc;
	}
	mpi_impl_rank_env(job, env);
	strvec_env(env, "SLURM_HOSTFILE", "%s", hosts);
	if (conf[0] != '\0')
		strvec_env(env, "SLURM_CONF", "%s", conf);
	/* By default its PMIx does fences with data by a ring and those without
	 * by a tree. On busy nodes a rank of Open MPI may then get a message in
	 * MPI_Init before it can take any, and dies (docs/launch.md, 3). */
	strvec_env(env, "SLURM_PMIX_FENCE", "tree");
	strvec_add(argv, "srun");
	strvec_add(argv, "--job-name=" WIRE_JOB_PREFIX "%s", job->run);
	/* The host file sets the number of nodes; Slurm 24.11 rejects --nodes
	 * in addition to it. */
	strvec_add(argv, "--ntasks=%zu",
	    job->node_count * (size_t)job->ranks_per_node);
	strvec_add(argv, "--distribution=arbitrary");
	strvec_add(argv, "--exclusive");
	/* it would wait for the others when one rank has died */
	strvec_add(argv, "--kill-on-bad-exit=1");
	strvec_add(argv, "--mpi=%s", job->mpi->slurm);
	if (mpi_impl_bind(job) != NULL)
		strvec_add(argv, "--cpu-bind=%s",
		    strcmp(mpi_impl_bind(job), "numa") == 0 ? "ldoms"
							    : "cores");
	strvec_add(argv, "--input=none");
	strvec_add(argv, "--chdir=/");
	/* the deadline is the collector's; Slurm's limit is behind it */
	strvec_add(argv, "--time=%llu",
	    (unsigned long long)(deadline_ns / MINUTE_NS + 2));
	for (row = options_slurm(NULL); row != NULL; row = options_slurm(row)) {
		const char *value = conf_string(job->campaign, row->section,
		    row->key);

		if (value[0] != '\0')
			strvec_add(argv, "--%s=%s", row->key, value);
	}
	for (size_t i = 0; job->command[i] != NULL; i++)
		strvec_add(argv, "%s", job->command[i]);
	return 0;
}

const struct launcher launcher_slurm = { "slurm", launcher_slurm_build };
