/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of settings: their syntax, and the settings that a campaign may use.
 */
#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "schema/mpi_settings.h"
#include "common/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Every setting of it, as NAME<value>. */
static void
expect(const char *text, const char *want)
{
	struct mpi_setting s;
	char got[4096] = "";
	struct err err = { 0 };
	int rc;

	while ((rc = mpi_settings_next(&text, &s, &err)) > 0) {
		strcat(strcat(got, s.name), "<");
		strcat(strcat(got, s.value), ">");
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_string_equal(got, want);
}

static void
test_lists(void **state)
{
	static const char *const bad[] = { "A", "=1", "A=", "1A=1", "A=\"x",
		"A=\"x\"y", "A=x\"y\"", "btl=tcp,self", "A-B=1", "A=1 \"" };
	char lengthy[MPI_SETTING_NAME_BYTES + 10];
	struct err err;

	(void)state;
	expect("", "");
	expect(" , ", "");
	expect("A=1", "A<1>");
	expect("osc=ucx,pml=ucx", "osc<ucx>pml<ucx>");
	expect("A=\"x, y\" , _b2=\"\",C=a:1/2=3", "A<x, y>_b2<>C<a:1/2=3>");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (mpi_settings_check(bad[i], &err) != -EINVAL)
			fail_msg("%s passes", bad[i]);
		assert_non_null(strstr(err.text, "expected NAME=value"));
	}
	memset(lengthy, 'A', sizeof(lengthy));
	strcpy(lengthy + MPI_SETTING_NAME_BYTES, "=1");
	assert_int_equal(mpi_settings_check(lengthy, &err), -EINVAL);
	assert_int_equal(mpi_settings_check(lengthy + 1, &err), 0);
}

static void
test_allowed(void **state)
{
	static const char allow[] = "UCX_*, ONE,OMPI_MCA_pml*";
	struct err err;

	(void)state;
	assert_int_equal(mpi_settings_allowed("UCX_TLS=x ONE=1", "", allow,
			     &err),
	    0);
	assert_int_equal(mpi_settings_allowed("pml=x", "OMPI_MCA_", allow,
			     &err),
	    0);
	assert_int_equal(mpi_settings_allowed("ONES=1", "", allow, &err),
	    -EACCES);
	assert_int_equal(mpi_settings_allowed("AUCX_=1", "", allow, &err),
	    -EACCES);
	/* whatever is listed, no setting that reads, loads or runs a file */
	assert_int_equal(mpi_settings_allowed("UCX_Module_Dir=/x", "", "*",
			     &err),
	    -EACCES);
	assert_non_null(
	    strstr(err.text, "a variable that names a file is never"));
	assert_int_equal(mpi_settings_allowed("LD_PRELOAD=/x", "", "*", &err),
	    -EACCES);
	assert_int_equal(mpi_settings_allowed("UCX_MODULES=ib", "", "*", &err),
	    0);
	assert_int_equal(mpi_settings_allowed("bad", "", "*", &err), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
