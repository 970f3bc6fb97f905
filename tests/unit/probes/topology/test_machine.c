/* SPDX-License-Identifier: Apache-2.0 */
/* Machine files: their contents, errors, and the paths of bytes. */
#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "probes/topology/machine.h"
#include "common/str.h"
#include "probes/topology/machine_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct machine *
parsed(const char *text)
{
	struct err err = { 0 };
	struct machine *m;

	if (machine_parse("test.conf", text, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static void
refused(const char *text, const char *words)
{
	struct err err = { 0 };
	struct machine *m;

	assert_int_equal(machine_parse("test.conf", text, &m, &err), -EINVAL);
	if (strstr(err.text, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, err.text);
}

/* The names of the resources from one rank to another, in order. */
static void
way(const struct machine *m, uint32_t ranks, uint32_t src, uint32_t dst,
    const char *want)
{
	uint32_t nodes = machine_nodes(m, ranks);
	struct strbuf sb = { 0 };
	struct machine_path path;
	char name[80];

	assert_int_equal(machine_path(m,
			     &(struct machine_ends){ nodes, src, dst,
				 machine_rank_vertex(m, src),
				 machine_rank_vertex(m, dst) },
			     MACHINES_MPI, &path),
	    0);
	for (uint32_t i = 0; i < path.count; i++) {
		machine_resource_name(m, nodes, path.resources[i], name,
		    sizeof(name));
		strbuf_addf(&sb, "%s%s", i > 0 ? ", " : "", name);
	}
	assert_string_equal(sb.text == NULL ? "" : sb.text, want);
	strbuf_clear(&sb);
}

static void
test_ways_follow_the_links(void **state)
{
	/* two sockets with two devices each, as on one node of Mist */
	struct machine *m = parsed("[node]\ndevices = 4\nhosts = 2\n"
				   "[memory]\nrate = 900\n"
				   "[nvlink]\nrate = 25\n"
				   "pairs = 0-1*3,d0-h0*3,d1-h0*3,2-3*3,"
				   "2-h1*3,3-h1*3\n"
				   "[xbus]\nrate = 64\npairs = h0-h1\n"
				   "[nic]\ncount = 0\n");

	(void)state;
	way(m, 4, 0, 1, "node0 d0>d1 nvlink");
	way(m, 4, 1, 0, "node0 d1>d0 nvlink");
	way(m, 4, 0, 3,
	    "node0 d0>h0 nvlink, node0 h0>h1 xbus, node0 h1>d3 nvlink");
	way(m, 4, 2, 2, "node0 d2 memory");
	assert_true(m->links[0].rate_per_s == 75e9);
	machine_free(m);
}

static void
test_the_widest_of_the_shortest_ways(void **state)
{
	struct machine *m = parsed("[node]\ndevices = 4\n"
				   "[xgmi]\nrate = 50\n"
				   "pairs = 0-1,1-3,0-2*2,2-3*4\n");

	(void)state;
	way(m, 4, 0, 3, "node0 d0>d2 xgmi, node0 d2>d3 xgmi");
	machine_free(m);
}

static void
test_nics_by_binding(void **state)
{
	static const char text[] = "[node]\ndevices = 6\n[nic]\ncount = %s\n"
				   "binding = %s\nout = 12.5\n";
	static const struct {
		const char *count, *binding;
		uint32_t nics[6];
	} rows[] = {
		{ "2", "packed", { 0, 0, 0, 1, 1, 1 } },
		{ "2", "round-robin", { 0, 1, 0, 1, 0, 1 } },
		{ "4", "round-robin", { 0, 1, 2, 3, 0, 1 } },
		{ "6", "one-to-one", { 0, 1, 2, 3, 4, 5 } },
	};
	char buf[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct machine *m;

		snprintf(buf, sizeof(buf), text, rows[i].count,
		    rows[i].binding);
		m = parsed(buf);
		for (uint32_t d = 0; d < 6; d++)
			assert_int_equal(machine_nic(m, d), rows[i].nics[d]);
		way(m, 12, 5, 6,
		    i == 3       ? "node0 n5 out, node1 n0 in"
			: i == 2 ? "node0 n1 out, node1 n0 in"
				 : "node0 n1 out, node1 n0 in");
		machine_free(m);
	}
}

static void
test_leaves_share_uplinks(void **state)
{
	struct machine *m = parsed("[node]\nnodes = 12\nranks = 2\n"
				   "[nic]\nout = 0.025\nboth = 0.04\n"
				   "[network]\nleaf = 4\nuplink = 0.05\n"
				   "latency = 1ms\nhop = 2ms\n");
	struct machine_path path;

	(void)state;
	way(m, 24, 0, 2,
	    "node0 n0 out, node0 n0 both, node1 n0 in, node1 n0 both");
	way(m, 24, 0, 8,
	    "node0 n0 out, node0 n0 both, leaf0 up, leaf1 down, node4 n0 in, "
	    "node4 n0 both");
	assert_int_equal(machine_path(m,
			     &(struct machine_ends){ 12, 0, 8, 0, 0 },
			     MACHINES_MPI, &path),
	    0);
	assert_int_equal(path.latency_ps, 3000000000);
	/* ranks of one host meet in its memory, which has no limit here */
	way(m, 24, 0, 1, "");
	machine_free(m);
}

static void
test_transports_have_their_reach(void **state)
{
	struct machine *m = parsed("[node]\ndevices = 2\n[nic]\nout = 10\n"
				   "[nvlink]\nrate = 20\npairs = all\n"
				   "[ipc]\nwithin = 0.5\nlatency = 3us\n");
	struct machine_path path;

	(void)state;
	assert_int_equal(machine_path(m,
			     &(struct machine_ends){ 2, 0, 2, 0, 0 },
			     MACHINES_IPC, &path),
	    -EOPNOTSUPP);
	assert_int_equal(machine_path(m,
			     &(struct machine_ends){ 2, 0, 1, 0, 1 },
			     MACHINES_XCCL, &path),
	    -EOPNOTSUPP);
	assert_int_equal(machine_path(m,
			     &(struct machine_ends){ 2, 0, 1, 0, 1 },
			     MACHINES_IPC, &path),
	    0);
	assert_true(path.rate_max_per_s == 10e9);
	assert_int_equal(path.latency_ps, 3000000);
	machine_free(m);
}

static void
test_bad_files_are_refused_with_their_place(void **state)
{
	(void)state;
	refused("[node]\ndevices = 0\n", "test.conf:2: node.devices");
	refused("[node]\ngpus = 4\n", "test.conf:2: unknown key gpus");
	refused("[node]\ndevices = 4\n[nic]\ncount = 2\nbinding = one-to-one\n",
	    "test.conf:5: nic.binding");
	refused("[nvlink]\npairs = all\n", "nvlink.rate");
	refused("[nvlink]\nrate = 1\npairs = 0-1\n",
	    "test.conf:3: nvlink.pairs");
	refused("[node]\ndevices = 2\n[nvlink]\nrate = 1\npairs = 0-1*0\n",
	    "test.conf:5");
	refused("[node]\ndevices = 2\n[nvlink]\nrate = 1\npairs = 0-1*\n",
	    "test.conf:5");
	refused("[node]\ndevices = 2\n[nvlink]\nrate = 1\npairs = 0-0\n",
	    "test.conf:5");
	refused("[node]\ndevices = 2\n[nvlink]\nrate = 1\npairs = 0-h1\n",
	    "test.conf:5");
	refused("[nic]\nout = -1\n", "test.conf:2");
}

static void
test_files_are_found_and_changed(void **state)
{
	char *sets[] = { (char *)"node.ranks=4", (char *)"network.leaf=2" };
	char *wrong[] = { (char *)"node.ranks" };
	char *worse[] = { (char *)"node.ranks=many" };
	struct err err = { 0 };
	struct machine *m;

	(void)state;
	/* etc/machines of the source, next to the build tree */
	assert_int_equal(machine_load("lab", sets, 2, &m, &err), 0);
	assert_string_equal(m->name, "lab");
	assert_int_equal(m->ranks, 4);
	assert_int_equal(m->leaf_nodes, 2);
	machine_free(m);
	assert_true(machine_load("lab", wrong, 1, &m, &err) < 0);
	assert_non_null(strstr(err.text, "section.key=value"));
	assert_true(machine_load("lab", worse, 1, &m, &err) < 0);
	assert_non_null(strstr(err.text, "command line: node.ranks = many"));
	assert_true(machine_load("nowhere", NULL, 0, &m, &err) < 0);
	assert_non_null(strstr(err.text, "--machine = nowhere"));
	assert_true(machine_load("./nowhere.conf", NULL, 0, &m, &err) < 0);
	assert_non_null(strstr(err.text, "./nowhere.conf"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways_follow_the_links),
		cmocka_unit_test(test_the_widest_of_the_shortest_ways),
		cmocka_unit_test(test_nics_by_binding),
		cmocka_unit_test(test_leaves_share_uplinks),
		cmocka_unit_test(test_transports_have_their_reach),
		cmocka_unit_test(test_bad_files_are_refused_with_their_place),
		cmocka_unit_test(test_files_are_found_and_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
