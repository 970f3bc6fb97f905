/* SPDX-License-Identifier: Apache-2.0 */
/* test_mpi_impl.c - command lines and environments of the launchers. */
#include "common/err.h"
#include "agents/launch/mpi_mpich.c"
#include "agents/process/strvec.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "agents/launch/launcher.h"
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
	    options_campaign_check(c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static void
build_for(const struct mpi_impl_mpi *mpi, const char *text,
    const char *campaign, int ranks, size_t count, struct strvec *argv,
    struct strvec *env)
{
	struct conf *c = conf_of(text), *asked = campaign_of(campaign);
	struct mpi_impl_job job = { .conf = c,
		.mpi = mpi,
		.campaign = asked,
		.nodes = nodes,
		.node_count = count,
		.ranks_per_node = ranks,
		.cores = 2,
		.arsh = "/x/coalmine-arsh",
		.command = command };

	mpi->build(&job, argv, env);
	conf_free(c);
	conf_free(asked);
}

static void
build(const struct mpi_impl_mpi *mpi, const char *text, int ranks, size_t count,
    struct strvec *argv, struct strvec *env)
{
	build_for(mpi, text, "", ranks, count, argv, env);
}

static void
test_openmpi(void **state)
{
	struct strvec argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_openmpi, "[mpi]\nnet = 10.0.0.0/8\nfabric = tcp\n", 1, 3,
	    &argv, &env);
	assert_string_equal(joined(&argv),
	    "--host n1:1,n2:1,n3:1 -np 3 "
	    "/x/coalmine-probe run");
	assert_string_equal(env_get(&env, "OMPI_MCA_plm_rsh_agent"),
	    "/x/coalmine-arsh");
	assert_string_equal(env_get(&env, "OMPI_MCA_routed_radix"), "4");
	assert_string_equal(env_get(&env, "OMPI_MCA_osc"), "pt2pt");
	assert_string_equal(env_get(&env, "OMPI_MCA_btl"), "tcp,self");
	assert_string_equal(env_get(&env, "OMPI_MCA_oob_tcp_if_include"),
	    "10.0.0.0/8");
	assert_string_equal(env_get(&env,
				"OMPI_MCA_plm_rsh_pass_environ_mca_params"),
	    "0");
	assert_null(env_get(&env, "OMPI_MCA_mpi_yield_when_idle"));
	assert_null(env_get(&env, "OMPI_ALLOW_RUN_AS_ROOT"));
	strvec_clear(&argv);
	strvec_clear(&env);
}

/* More ranks than cores, and an administrator who knows better. */
static void
test_openmpi_options(void **state)
{
	struct strvec argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_openmpi,
	    "[mpi]\nfabric = tcp\nmca = osc=ucx,pml=ucx,x_y=1\n", 4, 2, &argv,
	    &env);
	assert_string_equal(joined(&argv),
	    "--host n1:4,n2:4 -np 8 "
	    "/x/coalmine-probe run");
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
	strvec_clear(&argv);
	strvec_clear(&env);
}

static void
test_mpich(void **state)
{
	struct strvec argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_mpich, "[mpi]\nucx_tls = tcp,self\n", 2, 2, &argv, &env);
	assert_string_equal(joined(&argv),
	    "-launcher rsh -launcher-exec /x/coalmine-arsh -genvlist "
	    "UCX_LOG_LEVEL,UCX_TLS,COALMINE_FABRIC -localhost 127.0.0.1 -hosts "
	    "n1:2,n2:2 -n 4 "
	    "/x/coalmine-probe run");
	assert_string_equal(env_get(&env, "UCX_TLS"), "tcp,self");
	strvec_clear(&argv);
	strvec_clear(&env);
	build(&launch_mpich, "", 1, 1, &argv, &env); /* as the collector says */
	assert_string_equal(joined(&argv),
	    "-launcher rsh -launcher-exec /x/coalmine-arsh -genvlist "
	    "UCX_LOG_LEVEL,COALMINE_FABRIC -localhost 10.0.0.1 -hosts n1:1 -n "
	    "1 "
	    "/x/coalmine-probe run");
	assert_null(env_get(&env, "UCX_TLS"));
	strvec_clear(&argv);
	strvec_clear(&env);
}

/* The engine sets what binds a rank; it has to hear of it everywhere. */
static void
test_nics(void **state)
{
	struct strvec argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_openmpi, "[mpi]\nnics = a,b\n", 2, 2, &argv, &env);
	assert_string_equal(env_get(&env, "COALMINE_NICS"), "a,b");
	assert_string_equal(env_get(&env, "OMPI_MCA_mca_base_env_list"),
	    "COALMINE_NICS;COALMINE_FABRIC");
	strvec_clear(&argv);
	strvec_clear(&env);
	build(&launch_mpich, "[mpi]\nnics = a,b\n", 2, 2, &argv, &env);
	assert_string_equal(env_get(&env, "COALMINE_NICS"), "a,b");
	assert_non_null(strstr(joined(&argv),
	    "-genvlist UCX_LOG_LEVEL,COALMINE_NICS,COALMINE_FABRIC "));
	strvec_clear(&argv);
	strvec_clear(&env);
}

/* auto is the MPI's own choice, that of a site's MPI what its files say. */
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
		{ &launch_openmpi, "", "fabric = tcp\n", "OMPI_MCA_pml",
		    "ob1" },
		{ &launch_openmpi, "[mpi]\nfabric = tcp\n", "fabric = auto\n",
		    "OMPI_MCA_pml", "^monitoring" },
		/* what a site sets stays under auto, and not under a demand */
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
		/* devices, in the words of who uses them */
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
		/* control ports: the mesh's networks, as far as it is in them
		 */
		{ &launch_openmpi,
		    "[mesh]\nnet = 203.0.113.0/24,127.0.0.0/8,::1/128\n", "",
		    "OMPI_MCA_oob_tcp_if_include", "127.0.0.0/8" },
		{ &launch_openmpi, "[mesh]\nnet = 127.0.0.0/8\n", "",
		    "OMPI_MCA_btl_tcp_if_include", NULL },
		{ &launch_openmpi,
		    "[mpi]\nnet = 10.0.0.0/8\n[mesh]\nnet = 127.0.0.0/8\n", "",
		    "OMPI_MCA_oob_tcp_if_include", "10.0.0.0/8" },
		{ &launch_openmpi, "[mesh]\nnet = 203.0.113.0/24\n", "",
		    "OMPI_MCA_oob_tcp_if_include", NULL },
		{ &launch_openmpi, "", "", "OMPI_MCA_oob_tcp_if_include",
		    NULL },
		/* commas in values; the campaign speaks last */
		{ &launch_openmpi, "[mpi]\nenv = UCX_TLS=\"rc,self\",A=1\n", "",
		    "UCX_TLS", "rc,self" },
		{ &launch_openmpi, "[mpi]\nenv = UCX_TLS=\"rc,self\",A=1\n",
		    "env = UCX_TLS=all B=\"\"\n", "UCX_TLS", "all" },
		{ &launch_openmpi, "[mpi]\nenv = UCX_TLS=\"rc,self\",A=1\n",
		    "env = UCX_TLS=all B=\"\"\n", "OMPI_MCA_mca_base_env_list",
		    "UCX_TLS;A;B;COALMINE_FABRIC" },
		{ &launch_openmpi, "", "mca = btl=\"self,tcp\", x=1\n",
		    "OMPI_MCA_btl", "self,tcp" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strvec argv = { 0 }, env = { 0 };
		const char *value;
		char text[300];

		snprintf(text, sizeof(text), "[mpi]\n%s", rows[i].campaign);
		build_for(rows[i].mpi, rows[i].agent, text, 1, 2, &argv, &env);
		value = env_get(&env, rows[i].name);
		if ((value == NULL) != (rows[i].value == NULL) ||
		    (value != NULL && strcmp(value, rows[i].value) != 0))
			fail_msg("row %zu: %s is %s", i, rows[i].name,
			    value == NULL ? "not set" : value);
		strvec_clear(&argv);
		strvec_clear(&env);
	}
}

/* A campaign runs nothing and loads nothing by what it sets. */
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
	    "mpi.env: UCX_NET_DEVICES is not for campaigns to set: allowed are "
	    "none");
	conf_free(asked);
	conf_free(none);
	conf_free(c);
}

/* What is not there is said by name. */
static void
test_missing(void **state)
{
	char launcher[200], engine[200];
	struct err err;
	struct conf *c = conf_of("[children]\nopenmpi =\nmpich = /nowhere\n");

	(void)state;
	assert_int_equal(mpi_impl_path(&launch_openmpi, c, launcher, engine,
			     sizeof(launcher), &err),
	    -ENOENT);
	assert_string_equal(err.text, "openmpi is not offered");
	assert_int_equal(mpi_impl_path(&launch_mpich, c, launcher, engine,
			     sizeof(launcher), &err),
	    -ENOENT);
	assert_string_equal(err.text, "/nowhere/mpiexec.hydra is missing");
	assert_int_equal(mpi_impl_daemon(&launch_openmpi, c, launcher,
			     sizeof(launcher)),
	    -ENOENT);
	assert_null(mpi_impl_find("lam"));
	assert_ptr_equal(mpi_impl_find("mpich"), &launch_mpich);
	conf_free(c);
}

/* A job in a directory of its own, whose MPI is in /usr/bin. */
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
		.launcher = "/usr/bin/orterun",
		.run = "r1",
		.dir = m->dir,
		.campaign = m->campaign,
		.nodes = nodes,
		.node_count = 2,
		.ranks_per_node = 2,
		.cores = 2,
		.arsh = "/x/coalmine-arsh",
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
	assert_string_equal(m.err.text, "/x/srun is missing");
	made_end(&m);
	made_start(&m, "",
	    "[campaign]\ndeadline = 90s\n[slurm]\naccount = net\n"
	    "reservation = mine\n");
	srun_make(&m);
	assert_int_equal(made_build(&m, "slurm"), 0);
	assert_string_equal(joined(&m.argv),
	    "srun --job-name=coalmine-r1 --nodes=2 --ntasks=4 "
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
	char want[200];
	struct made m;

	(void)state;
	made_start(&m, "", "");
	assert_int_equal(made_build(&m, "command"), -ENOENT);
	assert_string_equal(m.err.text, "children.command is not set");
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
	snprintf(want, sizeof(want), "%s/script", m.dir);
	assert_non_null(strstr(text_of(want), "export HOME='it'\\''s/here'\n"));
	assert_non_null(strstr(text_of(want),
	    "\nexport OMPI_MCA_plm_rsh_agent='/x/coalmine-arsh'\n"));
	assert_non_null(strstr(text_of(want),
	    "\nexec orterun '--host' 'n1:2,n2:2' '-np' '4' "
	    "'/x/coalmine-probe' 'run'\n"));
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
		const char *agent, *campaign, *binding, *mapping, *mpich;
		int ranks;
	} rows[] = {
		{ "", "", "none", "slot", NULL, 1 },
		{ "core", "", "core", "slot", "-bind-to core", 2 },
		{ "core", "numa", "numa", "numa", "-bind-to numa", 2 },
		{ "core", "none", "none", "slot", NULL, 2 },
		{ "core", "", "none", "slot", NULL, 3 },
	};
	char agent[100], campaign[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strvec argv = { 0 }, env = { 0 };

		snprintf(agent, sizeof(agent), "[mpi]\n%s%s\n",
		    rows[i].agent[0] != '\0' ? "bind = " : "", rows[i].agent);
		snprintf(campaign, sizeof(campaign), "[mpi]\n%s%s\n",
		    rows[i].campaign[0] != '\0' ? "bind = " : "",
		    rows[i].campaign);
		build_for(&launch_openmpi, agent, campaign, rows[i].ranks, 1,
		    &argv, &env);
		assert_string_equal(env_get(&env,
					"OMPI_MCA_hwloc_base_binding_policy"),
		    rows[i].binding);
		assert_string_equal(env_get(&env,
					"OMPI_MCA_rmaps_base_mapping_policy"),
		    rows[i].mapping);
		if (i == 0)
			assert_null(env_get(&env, "COALMINE_BIND"));
		else
			assert_string_equal(env_get(&env, "COALMINE_BIND"),
			    rows[i].campaign[0] != '\0' ? rows[i].campaign
							: rows[i].agent);
		strvec_clear(&argv);
		strvec_clear(&env);
		build_for(&launch_mpich, agent, campaign, rows[i].ranks, 1,
		    &argv, &env);
		assert_int_equal(strstr(joined(&argv), "-bind-to") != NULL,
		    rows[i].mpich != NULL);
		assert_true(rows[i].mpich == NULL ||
		    strstr(joined(&argv), rows[i].mpich) != NULL);
		strvec_clear(&argv);
		strvec_clear(&env);
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

/* What coalmine-build-probe has registered: a name of its own, a launcher of
 * its own or none, and nothing of a file that is wrong. */
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
	    "slurm = cray_shasta\n");
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
	assert_int_equal(mpi_impl_path(mpi, c, launcher, engine,
			     sizeof(launcher), &err),
	    0);
	assert_int_equal(strncmp(launcher, dir, strlen(dir)), 0);
	assert_string_equal(launcher, engine);
	assert_int_equal(mpi_impl_daemon(mpi, c, launcher, sizeof(launcher)),
	    0);
	mpi_impl_env(mpi, c, &env);
	assert_int_equal(strncmp(env_get(&env, "LD_LIBRARY_PATH"), dir,
			     strlen(dir)),
	    0);
	strvec_clear(&env);

	mpi = mpi_impl_find("cray");
	assert_non_null(mpi);
	assert_string_equal(mpi->slurm, "cray_shasta");
	assert_int_equal(mpi_impl_path(mpi, c, launcher, engine,
			     sizeof(launcher), &err),
	    0);
	assert_string_equal(launcher, "");
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
		cmocka_unit_test(test_openmpi),
		cmocka_unit_test(test_openmpi_options),
		cmocka_unit_test(test_mpich),
		cmocka_unit_test(test_nics),
		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_slurm),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
