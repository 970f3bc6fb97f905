/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a rank.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "probes/job/nic.h"
#include "common/str.h"
#include "probes/job/rank_env.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void
expect(const char *list, int local, const char *want)
{
	char name[NIC_NAME_BYTES] = "";

	assert_int_equal(nic_choose(list, local, name), 0);
	assert_string_equal(name, want);
}

static void
test_choose(void **state)
{
	char name[NIC_NAME_BYTES] = "as it was", lengthy[2 * NIC_NAME_BYTES];

	(void)state;
	for (int i = 0; i < 4; i++)
		expect("eth0", i, "eth0");
	expect("a, b,c", 1, "b");
	expect("a,b,c", 5, "c");
	expect("a,a,b,b", 1, "a");
	expect("a,a,b,b", 2, "b");
	memset(lengthy, 'x', sizeof(lengthy));
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_int_equal(nic_choose("", 0, name), -ENOENT);
	assert_int_equal(nic_choose("a,,b", 0, name), -EINVAL);
	assert_int_equal(nic_choose(lengthy, 0, name), -EINVAL);
	assert_string_equal(name, "as it was");
}

/* In the formats of launchers and of implementations. */
static void
test_set(void **state)
{
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rank_envs); i++)
		if (rank_envs[i].local != NULL)
			unsetenv(rank_envs[i].local);
	unsetenv("COALMINE_NICS");
	unsetenv("UCX_NET_DEVICES");
	assert_int_equal(nic_set(&err), 0);
	assert_null(getenv("UCX_NET_DEVICES"));
	setenv("COALMINE_NICS", "a,b", 1);
	assert_int_equal(nic_set(&err), -EINVAL);
	assert_non_null(strstr(err.text, "COALMINE_NICS"));
	setenv("MPI_LOCALRANKID", "3", 1);
	assert_int_equal(nic_set(&err), 0);
	assert_string_equal(getenv("UCX_NET_DEVICES"), "b");
	assert_string_equal(getenv("OMPI_MCA_btl_tcp_if_include"), "b");
	assert_string_equal(getenv("NCCL_SOCKET_IFNAME"), "=b");
	/* a site's settings stay */
	setenv("COALMINE_NICS", "c", 1);
	setenv("UCX_NET_DEVICES", "site:1", 1);
	unsetenv("FI_TCP_IFACE");
	assert_int_equal(nic_set(&err), 0);
	assert_string_equal(getenv("UCX_NET_DEVICES"), "site:1");
	assert_string_equal(getenv("FI_TCP_IFACE"), "c");
	setenv("COALMINE_NICS", "a,", 1);
	assert_int_equal(nic_set(&err), -EINVAL);
	assert_non_null(strstr(err.text, "expected"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
