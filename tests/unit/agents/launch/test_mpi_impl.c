/* SPDX-License-Identifier: Apache-2.0 */
/* test_mpi_impl.c - command lines and environments of the launchers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agents/launch/launcher.h"
#include "agents/launch/mpi_net.c"
#include "agents/process/strvec.h"
#include "common/err.h"
#include "schema/options.h"

static const char *const command[] = { "/x/coalmine-probe", "run", NULL };
static const struct mpi_impl_node nodes[] = { { "n1", "10.0.0.1" },
	{ "n2", "127.0.0.2" }, { "n3", "10.0.0.3" } };

static struct conf *
conf_of(const char *text)
{
	struct err err;
	struct conf *c;

	if (conf_parse(options_agent, "test", text, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static const char *
env_get(const struct strvec *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->list[i], name, len) == 0 &&
		    env->list[i][len] == '=')
			return env->list[i] + len + 1;
	return NULL;
}

/* The words of argv, joined by blanks. */
static char *
joined(const struct strvec *argv)
{
	static char text[1000];

	text[0] = '\0';
	for (size_t i = 0; i < argv->count; i++) {
		strcat(text, i > 0 ? " " : "");
		strcat(text, argv->list[i]);
	}
	return text;
}

static struct conf *
campaign_of(const char *text)
{
	struct err err;
	struct conf *c;

	if (conf_parse(options_campaign, "campaign", text, &c, &err) < 0 ||
	    (text[0] != '\0' && options_campaign_check(c, &err) < 0))
		fail_msg("%s", err.text);
	return c;
}

static void
env_for(const struct mpi_impl_mpi *mpi, const char *text, const char *campaign,
    int ranks, const char *net, struct strvec *env)
{
	struct conf *c = conf_of(text), *asked = campaign_of(campaign);
	struct mpi_impl_job job = { .conf = c,
		.mpi = mpi,
		.campaign = asked,
		.nodes = nodes,
		.node_count = 2,
		.ranks_per_node = ranks,
		.cores = 2,
		.net = net,
		.command = command };

	mpi_impl_rank_env(&job, env);
	conf_free(c);
	conf_free(asked);
}

/* More ranks than cores, and settings of an administrator that override
 * ours. */
static void
test_openmpi_options(void **state)
{
	struct strvec env = { 0 };

	(void)state;
	env_for(&launch_openmpi,
	    "[mpi]\nfabric = tcp\nmca = osc=ucx,pml=ucx,x_y=1\n", "", 4, "",
	    &env);
	assert_string_equal(env_get(&env, "OMPI_MCA_mpi_yield_when_idle"), "1");
	assert_string_equal(env_get(&env, "OMPI_MCA_btl"), "tcp,self,vader");
	assert_string_equal(env_get(&env, "OMPI_MCA_osc"), "ucx");
	assert_string_equal(env_get(&env, "OMPI_MCA_pml"), "ucx");
	assert_string_equal(env_get(&env, "OMPI_MCA_x_y"), "1");
	assert_null(env_get(&env, "OMPI_MCA_btl_tcp_if_include"));
	for (size_t i = 0; i < env.count; i++) /* one of each name */
		for (size_t k = i + 1; k < env.count; k++)
			assert_false(strcspn(env.list[i], "=") ==
				strcspn(env.list[k], "=") &&
			    strncmp(env.list[i], env.list[k],
				strcspn(env.list[i], "=")) == 0);
	strvec_clear(&env);
}

/* The interfaces of ranks: the site's network decides, then the collector; a
 * site's own settings take precedence. */
static void
test_net(void **state)
{
	static const struct {
		const char *agent, *campaign, *net, *name, *value;
	} rows[] = {
		{ "", "", "eth0", "OMPI_MCA_btl_tcp_if_include", "eth0" },
		{ "", "", "eth0", "NCCL_SOCKET_IFNAME", "=eth0" },
		{ "", "", "eth0", "FI_TCP_IFACE", "eth0" },
		{ "", "", "eth0,eth1", "FI_TCP_IFACE", NULL },
		{ "[mpi]\nfabric = tcp\n", "", "eth0,eth1", "UCX_NET_DEVICES",
		    "eth0,eth1" },
		{ "", "", "", "OMPI_MCA_btl_tcp_if_include", NULL },
		{ "[mpi]\nnet = 127.0.0.0/8\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", "lo" },
		{ "[mpi]\nnet = 203.0.113.0/24\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", NULL },
		{ "[mpi]\nnics = a\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", NULL },
		{ "[mpi]\nmca = btl_tcp_if_exclude=lo\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", NULL },
		{ "[mpi]\nenv = UCX_NET_DEVICES=m0:1\n", "", "eth0",
		    "UCX_NET_DEVICES", "m0:1" },
		{ "[mpi]\nenv = NCCL_SOCKET_IFNAME=bond0\n", "", "eth0",
		    "NCCL_SOCKET_IFNAME", "bond0" },
		{ "[mpi]\nenv = NCCL_SOCKET_IFNAME=bond0\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", "eth0" },
		{ "[mpi]\nports = 20000-20100\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_port_min_v4", "20000" },
		{ "[mpi]\nports = 20000-20100\n", "", "eth0",
		    "OMPI_MCA_btl_tcp_port_range_v6", "101" },
		{ "[mpi]\nports = 20000-20100\n", "", "eth0",
		    "UCX_TCP_PORT_RANGE", "20000-20100" },
		{ "[mpi]\nports = 20000-20100\n", "", "eth0",
		    "FI_TCP_PORT_HIGH_RANGE", "20100" },
		{ "", "", "eth0", "OMPI_MCA_btl_tcp_port_min_v4", NULL },
		{ "", "[mpi]\nmca = btl_tcp_if_include=eth7\n", "eth0",
		    "OMPI_MCA_btl_tcp_if_include", "eth7" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strvec env = { 0 };
		const char *value;

		env_for(&launch_openmpi, rows[i].agent, rows[i].campaign, 1,
		    rows[i].net, &env);
		value = env_get(&env, rows[i].name);
		if ((value == NULL) != (rows[i].value == NULL) ||
		    (value != NULL && strcmp(value, rows[i].value) != 0))
			fail_msg("row %zu: %s is %s", i, rows[i].name,
			    value == NULL ? "not set" : value);
		strvec_clear(&env);
	}
}

/* The files of a site: a comment is no choice. */
static void
test_net_files(void **state)
{
	static const struct {
		const char *text;
		int is_mpi, is_nccl;
	} rows[] = {
		{ "btl_tcp_if_include = eth0\n", 1, 0 },
		{ "x = 1\n  UCX_NET_DEVICES=mlx5_0:1\n", 1, 0 },
		{ "# btl_tcp_if_include = eth0\n", 0, 0 },
		{ "NCCL_DEBUG=INFO\nNCCL_SOCKET_IFNAME=bond0\n", 0, 1 },
	};
	char dir[] = "/tmp/coalmine-net.XXXXXX", path[60];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/nccl.conf", dir);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		FILE *fp = fopen(path, "we");

		assert_non_null(fp);
		fputs(rows[i].text, fp);
		assert_int_equal(fclose(fp), 0);
		assert_int_equal(mpi_net_file(dir, "nccl.conf", chosen_mpi),
		    rows[i].is_mpi);
		assert_int_equal(mpi_net_file(dir, "nccl.conf", chosen_nccl),
		    rows[i].is_nccl);
	}
	unlink(path);
	assert_int_equal(mpi_net_file(dir, "nccl.conf", chosen_nccl), 0);
	rmdir(dir);
}

static void
test_ports(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} rows[] = { { "", 0 }, { "20000-20100", 0 }, { "20000", -EINVAL },
		{ "20000-", -EINVAL }, { "20100-20000", -EINVAL },
		{ "20000-70000", -EINVAL }, { "80-90", -EINVAL },
		{ "20000-20100x", -EINVAL } };
	char text[64];
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conf *c;

		snprintf(text, sizeof(text), "[mpi]\nports = %s\n",
		    rows[i].text);
		c = conf_of(text);
		assert_int_equal(mpi_impl_ports_check(c, &err), rows[i].rc);
		conf_free(c);
	}
	assert_non_null(strstr(err.text, "expected LOW-HIGH"));
}

/* auto is the MPI's own choice; of a site's MPI, the choice in its files. */
static void
test_fabric(void **state)
{
	static const struct {
		const struct mpi_impl_mpi *mpi;
		const char *agent, *campaign, *name, *value;
	} rows[] = {
		{ &launch_openmpi, "", "", "OMPI_MCA_pml", "^monitoring" },
		{ &launch_openmpi, "", "", "OMPI_MCA_btl", NULL },
		{ &launch_openmpi, "", "", "COALMINE_FABRIC", "auto" },
		{ &launch_openmpi, "[children]\nopenmpi = /opt/o/bin\n", "",
		    "OMPI_MCA_pml", NULL },
		{ &launch_openmpi, "", "fabric = tcp\n", "OMPI_MCA_osc",
		    "^ucx" },
		{ &launch_openmpi, "", "fabric = tcp\n", "OMPI_MCA_pml",
		    "ob1" },
		{ &launch_openmpi, "[mpi]\nfabric = tcp\n", "fabric = auto\n",
		    "OMPI_MCA_pml", "^monitoring" },
		/* a site's settings apply with auto, but not if a fabric is
		 * required */
		{ &launch_openmpi, "[mpi]\nmca = pml=ucx\n", "fabric = auto\n",
		    "OMPI_MCA_pml", "ucx" },
		{ &launch_openmpi, "[mpi]\nmca = pml=ucx\n", "fabric = tcp\n",
		    "OMPI_MCA_pml", "ob1" },
		{ &launch_openmpi, "", "fabric = ucx\n",
		    "OMPI_MCA_pml_ucx_devices", "any" },
		{ &launch_openmpi, "", "fabric = psm\n", "OMPI_MCA_mtl",
		    "psm2,psm" },
		{ &launch_openmpi, "", "fabric = cray\n",
		    "OMPI_MCA_mtl_ofi_provider_include", "cxi" },
		{ &launch_mpich, "", "", "UCX_TLS", NULL },
		{ &launch_mpich, "", "fabric = tcp\n", "UCX_TLS", "tcp,self" },
		{ &launch_mpich, "", "fabric = ofi\n", "MPIR_CVAR_CH4_NETMOD",
		    "ofi" },
		/* devices, named as each library expects */
		{ &launch_openmpi, "[mpi]\nnics = a\n",
		    "fabric = ucx\ndevices = m0:1, m1:1\n", "UCX_NET_DEVICES",
		    "m0:1,m1:1" },
		{ &launch_openmpi, "[mpi]\nnics = a\n", "devices = m0\n",
		    "COALMINE_NICS", NULL },
		{ &launch_openmpi, "[mpi]\nnet = 10.0.0.0/8\n",
		    "fabric = tcp\ndevices = eth1\n",
		    "OMPI_MCA_btl_tcp_if_include", "eth1" },
		{ &launch_openmpi, "", "devices = eth1\n", "FI_CXI_DEVICE_NAME",
		    NULL },
		{ &launch_openmpi, "[mpi]\nenv = UCX_NET_DEVICES=m1:1\n",
		    "devices = m0\n", "UCX_NET_DEVICES", "m1:1" },
		{ &launch_openmpi, "[mpi]\nnet = 10.0.0.0/8\nnics = a\n", "",
		    "OMPI_MCA_btl_tcp_if_include", NULL },
		/* commas in values; the campaign speaks last */
		{ &launch_openmpi, "[mpi]\nenv = UCX_TLS=\"rc,self\",A=1\n", "",
		    "UCX_TLS", "rc,self" },
		{ &launch_openmpi, "[mpi]\nenv = UCX_TLS=\"rc,self\",A=1\n",
		    "env = UCX_TLS=all B=\"\"\n", "UCX_TLS", "all" },
		{ &launch_openmpi, "", "mca = btl=\"self,tcp\", x=1\n",
		    "OMPI_MCA_btl", "self,tcp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strvec env = { 0 };
		const char *value;
		char text[300];

		snprintf(text, sizeof(text), "[mpi]\n%s", rows[i].campaign);
		env_for(rows[i].mpi, rows[i].agent, text, 1, "", &env);
		value = env_get(&env, rows[i].name);
		if ((value == NULL) != (rows[i].value == NULL) ||
		    (value != NULL && strcmp(value, rows[i].value) != 0))
			fail_msg("row %zu: %s is %s", i, rows[i].name,
			    value == NULL ? "not set" : value);
		strvec_clear(&env);
	}
}

/* No setting of a campaign can run or load a file. */
static void
test_allowed(void **state)
{
	static const char *const bad[] = { "env = LD_PRELOAD=/x.so\n",
		"env = PATH=/x\n", "env = UCX_MODULE_DIR=/x\n",
		"env = UCX_TLS=rc UCX_GDB_COMMAND=x\n",
		"env = FI_PROVIDER_PATH=/x\n", "env = NCCL_NET_PLUGIN=x\n",
		"env = OMPI_MCA_orte_fork_agent=x\n",
		"env = COALMINE_FABRIC=tcp\n", "mca = plm_rsh_agent=/bin/sh\n",
		"mca = mca_base_component_path=/x\n",
		"mca = coll_tuned_dynamic_rules_filename=/x\n" };
	struct conf *c = conf_of(""), *none = conf_of("[mpi]\nallow =\n");
	struct conf *asked;
	char text[200];
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(text, sizeof(text), "[mpi]\n%s", bad[i]);
		asked = campaign_of(text);
		if (mpi_impl_allowed(c, asked, &err) != -EACCES)
			fail_msg("%s passes", bad[i]);
		conf_free(asked);
	}
	asked = campaign_of("[mpi]\nenv = UCX_NET_DEVICES=\"m0:1,m1:1\"\n"
			    "mca = pml=ucx\n");
	assert_int_equal(mpi_impl_allowed(c, asked, &err), 0);
	assert_int_equal(mpi_impl_allowed(none, asked, &err), -EACCES);
	assert_string_equal(err.text,
	    "mpi.env: UCX_NET_DEVICES may not be set by a campaign: expected "
	    "none");
	conf_free(asked);
	conf_free(none);
	conf_free(c);
}

/* A missing part is reported by name. */
static void
test_missing(void **state)
{
	char engine[200];
	struct err err;
	struct conf *c = conf_of("[children]\nopenmpi =\nlibexec = /nowhere\n");

	(void)state;
	assert_int_equal(mpi_impl_path(&launch_openmpi, c, engine,
			     sizeof(engine), &err),
	    -ENOENT);
	assert_string_equal(err.text,
	    "openmpi is not available on this node: children.openmpi is empty");
	assert_int_equal(mpi_impl_path(&launch_mpich, c, engine, sizeof(engine),
			     &err),
	    -ENOENT);
	assert_string_equal(err.text,
	    "the probe engine /nowhere/mpich/coalmine-probe is missing or "
	    "not executable");
	assert_int_equal(mpi_impl_launcher(&launch_openmpi, c, engine,
			     sizeof(engine)),
	    -ENOENT);
	assert_null(mpi_impl_find("lam"));
	assert_ptr_equal(mpi_impl_find("mpich"), &launch_mpich);
	conf_free(c);
}

/* A job in a separate directory, whose MPI is in /usr/bin. */
struct made {
	char dir[64], path[200];
	struct err err;
	struct conf *conf, *campaign;
	struct strvec argv, env;
	struct mpi_impl_job job;
};

static void
made_start(struct made *m, const char *agent, const char *campaign)
{
	memset(m, 0, sizeof(*m));
	snprintf(m->dir, sizeof(m->dir), "/tmp/coalmine-launch-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	m->conf = conf_of(agent);
	assert_int_equal(conf_parse(options_campaign, "c", campaign,
			     &m->campaign, &m->err),
	    0);
	m->job = (struct mpi_impl_job){ .conf = m->conf,
		.mpi = &launch_openmpi,
		.run = "r1",
		.dir = m->dir,
		.campaign = m->campaign,
		.nodes = nodes,
		.node_count = 2,
		.ranks_per_node = 2,
		.cores = 2,
		.net = "",
		.command = command };
	strvec_env(&m->env, "HOME", "it's/here");
}

static int
made_build(struct made *m, const char *name)
{
	return launcher_find(name)->build(&m->job, m->path, sizeof(m->path),
	    &m->argv, &m->env, &m->err);
}

static void
made_end(struct made *m)
{
	char cmd[100];

	conf_free(m->conf);
	conf_free(m->campaign);
	strvec_clear(&m->argv);
	strvec_clear(&m->env);
	snprintf(cmd, sizeof(cmd), "rm -r '%s'", m->dir);
	assert_int_equal(system(cmd), 0);
}

static char *
text_of(const char *path)
{
	static char text[8000];
	FILE *fp = fopen(path, "re");
	size_t len;

	assert_non_null(fp);
	len = fread(text, 1, sizeof(text) - 1, fp);
	fclose(fp);
	text[len] = '\0';
	return text;
}

/* A program of that name, in the job's directory. */
static void
srun_make(struct made *m)
{
	char text[200], path[100];

	snprintf(path, sizeof(path), "%s/srun", m->dir);
	assert_int_equal(symlink("/bin/true", path), 0);
	snprintf(text, sizeof(text),
	    "[children]\nslurm = %s\nslurm_conf = /x/slurm.conf\n", m->dir);
	conf_free(m->conf);
	m->job.conf = m->conf = conf_of(text);
}

static void
test_slurm(void **state)
{
	struct made m;

	(void)state;
	made_start(&m, "[children]\nslurm = /x\n", "");
	assert_int_equal(made_build(&m, "slurm"), -ENOENT);
	assert_string_equal(m.err.text,
	    "/x/srun is missing or not executable; set children.slurm to the "
	    "folder of srun");
	made_end(&m);
	made_start(&m, "",
	    "[campaign]\ndeadline = 90s\n[slurm]\naccount = net\n"
	    "reservation = mine\n");
	srun_make(&m);
	assert_int_equal(made_build(&m, "slurm"), 0);
	assert_string_equal(joined(&m.argv),
	    "srun --job-name=coalmine-r1 --ntasks=4 "
	    "--distribution=arbitrary --exclusive --kill-on-bad-exit=1 "
	    "--mpi=pmix --input=none --chdir=/ --time=3 --account=net "
	    "--reservation=mine /x/coalmine-probe run");
	assert_string_equal(text_of(env_get(&m.env, "SLURM_HOSTFILE")),
	    "n1\nn1\nn2\nn2\n");
	assert_string_equal(env_get(&m.env, "SLURM_CONF"), "/x/slurm.conf");
	assert_string_equal(env_get(&m.env, "SLURM_PMIX_FENCE"), "tree");
	assert_string_equal(env_get(&m.env, "OMPI_MCA_osc"), "^monitoring");
	made_end(&m);
}

static void
test_command(void **state)
{
	static struct mpi_impl_node many[2200];
	static char names[ARRAY_LEN(many)][63];
	char want[200];
	struct made m;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		memset(names[i], 'x', 58);
		snprintf(names[i] + 58, 5, "%04zu", i);
		many[i] = (struct mpi_impl_node){ names[i], "10.0.0.1" };
	}
	made_start(&m, "", "");
	assert_int_equal(made_build(&m, "command"), -ENOENT);
	assert_string_equal(m.err.text,
	    "children.command is empty: in coalmine-agent.conf, set it to the "
	    "command that starts the ranks of a run");
	made_end(&m);
	made_start(&m,
	    "[children]\ncommand = /bin/true -n{nodes} {ranks} -h={hosts} "
	    "{hostlist}  {run} {seconds} {script} -- {command}\n",
	    "[campaign]\ndeadline = 90s\n");
	assert_int_equal(made_build(&m, "command"), 0);
	assert_string_equal(m.path, "/bin/true");
	snprintf(want, sizeof(want),
	    "/bin/true -n2 4 -h=n1,n2 n[1-2] r1 90 %s/script -- "
	    "/x/coalmine-probe run",
	    m.dir);
	assert_string_equal(joined(&m.argv), want);
	assert_true(launcher_wants_script(m.conf));
	made_end(&m);
	/* More names than an argument of a program may have. */
	made_start(&m, "[children]\ncommand = /bin/true {hosts} {command}\n",
	    "");
	m.job.nodes = many;
	m.job.node_count = ARRAY_LEN(many);
	assert_int_equal(made_build(&m, "command"), -E2BIG);
	assert_non_null(
	    strstr(m.err.text, "the names of 2200 nodes has 138599 bytes"));
	made_end(&m);
	made_start(&m, "[children]\ncommand = /bin/true {hostlist}\n", "");
	m.job.nodes = many;
	m.job.node_count = ARRAY_LEN(many);
	assert_int_equal(made_build(&m, "command"), 0);
	made_end(&m);
}

static void
test_command_line(void **state)
{
	static const char *const bad[] = { "flux run {command}",
		"/x/flux {comand}", "/x/flux run={command}", "/x/flux {",
		"/x/flux {command}s", NULL };
	struct err err;

	(void)state;
	for (size_t i = 0; bad[i] != NULL; i++)
		assert_int_equal(launcher_line_check(bad[i], &err), -EINVAL);
	assert_int_equal(launcher_line_check("", &err), 0);
	assert_int_equal(launcher_line_check("/x/flux {command} {hosts}x",
			     &err),
	    0);
	assert_null(launcher_find("pbs"));
}

/* mpi.bind of the campaign before the agent's, for as many ranks as there are
 * cores. */
static void
test_bind(void **state)
{
	static const struct {
		const char *agent, *campaign, *bound;
		int ranks;
	} rows[] = {
		{ "", "", NULL, 1 },
		{ "core", "", "core", 2 },
		{ "core", "numa", "numa", 2 },
		{ "core", "none", NULL, 2 },
		{ "core", "", NULL, 3 },
	};
	char agent[100], campaign[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strvec env = { 0 };
		struct mpi_impl_job job = { .ranks_per_node = rows[i].ranks,
			.cores = 2 };
		const char *bind;

		snprintf(agent, sizeof(agent), "[mpi]\n%s%s\n",
		    rows[i].agent[0] != '\0' ? "bind = " : "", rows[i].agent);
		snprintf(campaign, sizeof(campaign), "[mpi]\n%s%s\n",
		    rows[i].campaign[0] != '\0' ? "bind = " : "",
		    rows[i].campaign);
		env_for(&launch_openmpi, agent, campaign, rows[i].ranks, "",
		    &env);
		if (i == 0)
			assert_null(env_get(&env, "COALMINE_BIND"));
		else
			assert_string_equal(env_get(&env, "COALMINE_BIND"),
			    rows[i].campaign[0] != '\0' ? rows[i].campaign
							: rows[i].agent);
		strvec_clear(&env);
		job.conf = conf_of(agent);
		job.campaign = campaign_of(campaign);
		bind = mpi_impl_bind(&job);
		assert_int_equal(bind == NULL, rows[i].bound == NULL);
		if (bind != NULL)
			assert_string_equal(bind, rows[i].bound);
		conf_free((struct conf *)(uintptr_t)job.conf);
		conf_free((struct conf *)(uintptr_t)job.campaign);
	}
}

static void
file_write(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *fp;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fp = fopen(path, "we");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
}

/* Registrations by coalmine-build-probe: a different name, a different launcher
 * or none; a malformed file adds nothing. */
static void
test_sites(void **state)
{
	char dir[] = "/tmp/coalmine-XXXXXX", text[400], cmd[200];
	char launcher[100], engine[100];
	const struct mpi_impl_mpi *mpi;
	struct strvec env = { 0 };
	struct conf *c;
	struct err err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(text, sizeof(text),
	    "[probe]\nmpi = openmpi\nengine = %s/mpirun\nbin = %s\n"
	    "slurm = \nversion = " COALMINE_VERSION "\n",
	    dir, dir);
	file_write(dir, "ompi-5.conf", text);
	file_write(dir, "mpirun", "");
	file_write(dir, "orted", "");
	file_write(dir, "cray.conf",
	    "[probe]\nmpi = mpich\nengine = /bin/true\n"
	    "slurm = cray_shasta\nwireup = pmix\n");
	file_write(dir, "mpich.conf", text);
	file_write(dir, "wrong.conf", "[probe]\nmpi = lam\n");
	file_write(dir, "x.conf.dpkg-old", text);
	snprintf(cmd, sizeof(cmd), "chmod +x %s/mpirun %s/orted", dir, dir);
	assert_int_equal(system(cmd), 0);
	snprintf(text, sizeof(text), "[children]\nprobes = %s\n", dir);
	c = conf_of(text);
	mpi_impl_load(c);

	mpi = mpi_impl_find("ompi-5");
	assert_non_null(mpi);
	assert_string_equal(mpi->family, "openmpi");
	assert_string_equal(mpi->slurm, "pmix");
	assert_string_equal(mpi->wireup, "pmix");
	assert_int_equal(mpi_impl_path(mpi, c, engine, sizeof(engine), &err),
	    0);
	assert_int_equal(mpi_impl_launcher(mpi, c, launcher, sizeof(launcher)),
	    0);
	assert_int_equal(strncmp(launcher, dir, strlen(dir)), 0);
	assert_string_equal(launcher, engine);
	mpi_impl_env(mpi, c, &env);
	assert_int_equal(strncmp(env_get(&env, "LD_LIBRARY_PATH"), dir,
			     strlen(dir)),
	    0);
	strvec_clear(&env);

	mpi = mpi_impl_find("cray");
	assert_non_null(mpi);
	assert_string_equal(mpi->slurm, "cray_shasta");
	assert_string_equal(mpi->wireup, "pmix");
	assert_int_equal(mpi_impl_path(mpi, c, engine, sizeof(engine), &err),
	    0);
	assert_int_equal(mpi_impl_launcher(mpi, c, launcher, sizeof(launcher)),
	    -ENOENT);
	assert_string_equal(engine, "/bin/true");

	assert_ptr_equal(mpi_impl_find("mpich"), &launch_mpich);
	assert_null(mpi_impl_find("wrong"));
	assert_null(mpi_impl_at(4));
	conf_free(c);
	snprintf(cmd, sizeof(cmd), "rm -r '%s'", dir);
	assert_int_equal(system(cmd), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bind),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_openmpi_options),
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_net_files),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_slurm),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
