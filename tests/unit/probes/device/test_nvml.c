/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/err.h"
#include "probes/device/device.h"

static const char *const pci[] = { "0000:1a:00.0", "0000:99:00.0",
	"0000:1b:00.0" };

static void
test_links(void **state)
{
	struct nvml_gpu g[3];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(nvml_read(pci, 3, g, &err), 0);
	assert_string_equal(g[0].name, "Stand-in 1a");
	assert_string_equal(g[1].name, "");
	assert_string_equal(g[2].name, "Stand-in 1b");
	assert_int_equal(g[0].links, 4);
	assert_int_equal(g[0].to[2], 3);
	assert_int_equal(g[2].to[0], 3);
	assert_int_equal(g[0].to[1], 0);
	assert_int_equal(g[0].to_switch, 1);
	assert_true(g[0].link_bytes_per_s == 25e9);
	assert_int_equal(g[1].links, 0);
}

static void
test_none(void **state)
{
	struct nvml_gpu g[3];
	struct err err = { 0 };

	(void)state;
	setenv("COALMINE_FAKE_NVML", "fail", 1);
	assert_int_equal(nvml_read(pci, 3, g, &err), -ENODEV);
	assert_string_equal(err.text, "NVML: stand-in driver not loaded");
	assert_string_equal(g[0].name, "");
	unsetenv("COALMINE_FAKE_NVML");
	assert_int_equal(nvml_read(pci, 0, g, &err), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
