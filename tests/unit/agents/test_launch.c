/* SPDX-License-Identifier: Apache-2.0 */
/* test_launch.c - command lines and environments of the launchers. */
#include "agents/launch_mpich.c"
#include "agents/words.c"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "schema/options.h"

static const char *const command[] = { "/x/coalmine-probe", "run", NULL };
static const struct launch_node nodes[] = { { "n1", "10.0.0.1" },
	{ "n2", "127.0.0.2" }, { "n3", "10.0.0.3" } };

static struct conf *
conf_of(const char *text)
{
	char why[200];
	struct conf *c;

	if (conf_parse(options_agent, "test", text, &c, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	return c;
}

static const char *
env_get(const struct words *env, const char *name)
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
joined(const struct words *argv)
{
	static char text[1000];

	text[0] = '\0';
	for (size_t i = 0; i < argv->count; i++) {
		strcat(text, i > 0 ? " " : "");
		strcat(text, argv->list[i]);
	}
	return text;
}

static void
build(const struct launch_mpi *mpi, const char *text, int ranks, size_t count,
    struct words *argv, struct words *env)
{
	struct conf *c = conf_of(text);
	struct launch_job job = { .conf = c,
		.nodes = nodes,
		.node_count = count,
		.ranks_per_node = ranks,
		.cores = 2,
		.arsh = "/x/coalmine-arsh",
		.command = command };

	mpi->build(&job, argv, env);
	conf_free(c);
}

static void
test_openmpi(void **state)
{
	struct words argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_openmpi, "[mpi]\nnet = 10.0.0.0/8\n", 1, 3, &argv, &env);
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
	words_clear(&argv);
	words_clear(&env);
}

/* More ranks than cores, and an administrator who knows better. */
static void
test_openmpi_options(void **state)
{
	struct words argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_openmpi, "[mpi]\nmca = osc=ucx,pml=ucx,x_y=1\n", 4, 2,
	    &argv, &env);
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
	words_clear(&argv);
	words_clear(&env);
}

static void
test_mpich(void **state)
{
	struct words argv = { 0 }, env = { 0 };

	(void)state;
	build(&launch_mpich, "[mpi]\nucx_tls = tcp,self\n", 2, 2, &argv, &env);
	assert_string_equal(joined(&argv),
	    "-launcher rsh -launcher-exec /x/coalmine-arsh -genvlist "
	    "UCX_TLS,UCX_LOG_LEVEL -localhost 127.0.0.1 -hosts n1:2,n2:2 -n 4 "
	    "/x/coalmine-probe run");
	assert_string_equal(env_get(&env, "UCX_TLS"), "tcp,self");
	words_clear(&argv);
	words_clear(&env);
	build(&launch_mpich, "", 1, 1, &argv, &env); /* as the collector says */
	assert_string_equal(joined(&argv),
	    "-launcher rsh -launcher-exec /x/coalmine-arsh -genvlist "
	    "UCX_LOG_LEVEL -localhost 10.0.0.1 -hosts n1:1 -n 1 "
	    "/x/coalmine-probe run");
	assert_null(env_get(&env, "UCX_TLS"));
	words_clear(&argv);
	words_clear(&env);
}

/* What is not there is said by name. */
static void
test_missing(void **state)
{
	char launcher[200], engine[200], why[200];
	struct conf *c = conf_of("[children]\nopenmpi =\nmpich = /nowhere\n");

	(void)state;
	assert_int_equal(launch_path(&launch_openmpi, c, launcher, engine,
			     sizeof(launcher), why, sizeof(why)),
	    -ENOENT);
	assert_string_equal(why, "openmpi is not offered");
	assert_int_equal(launch_path(&launch_mpich, c, launcher, engine,
			     sizeof(launcher), why, sizeof(why)),
	    -ENOENT);
	assert_string_equal(why, "/nowhere/mpiexec.hydra is missing");
	assert_int_equal(launch_daemon(&launch_openmpi, c, launcher,
			     sizeof(launcher)),
	    -ENOENT);
	assert_null(launch_find("lam"));
	assert_ptr_equal(launch_find("mpich"), &launch_mpich);
	conf_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmpi),
		cmocka_unit_test(test_openmpi_options),
		cmocka_unit_test(test_mpich),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
