/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rails.c - a NIC by each of its names, and its name for every library, on
 * a node with InfiniBand, RoCE, Slingshot and plain Ethernet.
 */
#include "schema/rails.h"
#include "common/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/options.h"
#include "tests/unit/tree.h"

#define CLASS "sys/class/"

static int
setup(void **state)
{
	if (tree_setup(state) < 0)
		return -1;
	tree_put(CLASS "infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	tree_put(CLASS "infiniband/mlx5_0/device/net/ib0/dev_port", "0\n");
	tree_put(CLASS "net/ib0/device/infiniband/mlx5_0/x", "");
	/* two ports, each with its interface */
	tree_put(CLASS "infiniband/mlx4_0/ports/1/state", "");
	tree_put(CLASS "infiniband/mlx4_0/ports/2/state", "");
	tree_put(CLASS "infiniband/mlx4_0/device/net/ens1/dev_port", "1\n");
	tree_put(CLASS "infiniband/mlx4_0/device/net/ens2/dev_port", "0\n");
	tree_put(CLASS "net/ens1/device/infiniband/mlx4_0/x", "");
	tree_put(CLASS "net/ens2/device/infiniband/mlx4_0/x", "");
	tree_put(CLASS "cxi/cxi1/device/net/hsi1/x", "");
	tree_put(CLASS "net/hsi1/device/cxi/cxi1/x", "");
	tree_put(CLASS "net/eth1/device/vendor", "");
	return 0;
}

static void
test_names(void **state)
{
	static const struct {
		const char *name, *netdev, *rdma, *cxi;
	} rows[] = {
		{ "mlx5_0", "ib0", "mlx5_0:1", "" },
		{ "mlx5_0:1", "ib0", "mlx5_0:1", "" },
		{ "ib0", "ib0", "mlx5_0:1", "" },
		{ "mlx4_0:2", "ens1", "mlx4_0:2", "" },
		{ "ens1", "ens1", "mlx4_0:2", "" },
		{ "ens2", "ens2", "mlx4_0:1", "" },
		{ "cxi1", "hsi1", "", "cxi1" },
		{ "hsi1", "hsi1", "", "cxi1" },
		{ "eth1", "eth1", "", "" },
		{ "not-here", "not-here", "", "" },
		{ "../net/eth1", "../net/eth1", "", "" },
	};
	char *all;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rail r;

		rail_find(tree, rows[i].name, &r);
		if (strcmp(r.netdev, rows[i].netdev) != 0 ||
		    strcmp(r.rdma, rows[i].rdma) != 0 ||
		    strcmp(r.cxi, rows[i].cxi) != 0)
			fail_msg("%s is '%s' '%s' '%s'", rows[i].name, r.netdev,
			    r.rdma, r.cxi);
	}
	all = rail_names(tree, "mlx5_0,eth1");
	assert_string_equal(all, "mlx5_0,eth1,mlx5_0:1,ib0");
	free(all);
}

/* Each row of the table: the value for each kind of NIC. */
static void
test_values(void **state)
{
	static const struct {
		const char *fabric, *list, *name, *value;
	} rows[] = {
		{ "auto", "mlx5_0", "UCX_NET_DEVICES", "mlx5_0:1" },
		{ "ucx", "mlx5_0,ens1", "UCX_NET_DEVICES",
		    "mlx5_0:1,mlx4_0:2" },
		{ "ucx", "eth1", "UCX_NET_DEVICES", "eth1" },
		{ "tcp", "mlx5_0", "UCX_NET_DEVICES", "ib0" },
		{ "ofi", "mlx5_0", "UCX_NET_DEVICES", NULL },
		{ "auto", "mlx5_0", "NCCL_IB_HCA", "=mlx5_0:1" },
		{ "auto", "mlx5_0,mlx4_0:2", "NCCL_IB_HCA",
		    "=mlx5_0:1,mlx4_0:2" },
		{ "auto", "eth1", "NCCL_IB_HCA", NULL },
		{ "tcp", "mlx5_0", "NCCL_IB_HCA", NULL },
		{ "auto", "eth1", "NCCL_SOCKET_IFNAME", "=eth1" },
		{ "auto", "mlx5_0", "NCCL_SOCKET_IFNAME", NULL },
		{ "tcp", "mlx5_0", "NCCL_SOCKET_IFNAME", "=ib0" },
		{ "cray", "hsi1", "NCCL_SOCKET_IFNAME", "=hsi1" },
		{ "cray", "hsi1", "FI_CXI_DEVICE_NAME", "cxi1" },
		{ "auto", "cxi1", "FI_CXI_DEVICE_NAME", "cxi1" },
		{ "auto", "eth1", "FI_CXI_DEVICE_NAME", NULL },
		{ "auto", "mlx5_0", "OMPI_MCA_btl_tcp_if_include", "ib0" },
		{ "tcp", "eth1,cxi1", "OMPI_MCA_btl_tcp_if_include",
		    "eth1,hsi1" },
		{ "ucx", "eth1", "OMPI_MCA_btl_tcp_if_include", NULL },
		{ "ofi", "eth1", "FI_TCP_IFACE", "eth1" },
		{ "psm", "eth1", "FI_TCP_IFACE", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *value = NULL;

		for (const struct rail_variable *v = rail_variables;
		     value == NULL && v->name != NULL; v++)
			if (strcmp(v->name, rows[i].name) == 0)
				value = rail_value(v, tree, rows[i].fabric,
				    rows[i].list);
		if ((value == NULL) != (rows[i].value == NULL) ||
		    (value != NULL && strcmp(value, rows[i].value) != 0))
			fail_msg("row %zu: %s is %s", i, rows[i].name,
			    value == NULL ? "not set" : value);
		free(value);
	}
}

static void
test_chosen(void **state)
{
	static const struct {
		const char *text;
		int chosen;
	} rows[] = {
		{ "", 0 },
		{ "[mpi]\nenv = UCX_TLS=all\n", 0 },
		{ "[mpi]\nenv = A=1,UCX_NET_DEVICES=mlx5_0:1\n", 1 },
		{ "[mpi]\nmca = btl_tcp_if_include=eth0\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conf *c;
		struct err err;

		assert_int_equal(conf_parse(options_agent, "test", rows[i].text,
				     &c, &err),
		    0);
		assert_int_equal(rail_is_chosen(c), rows[i].chosen);
		conf_free(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup,
		    tree_teardown),
		cmocka_unit_test_setup_teardown(test_values, setup,
		    tree_teardown),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
