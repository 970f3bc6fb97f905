/* SPDX-License-Identifier: Apache-2.0 */
/* Files and a folder that cannot be read for a time: no campaign is lost, and
 * they are read again. */
#include "daemon/schedule/campaign.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "tests/unit/inject.h"

static int folder_fails;

/* In place of the C library's. */
struct dirent *
readdir(DIR *d)
{
	struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *))
	    dlsym(RTLD_NEXT, "readdir64");

	errno = folder_fails ? EIO : errno;
	return folder_fails ? NULL : real(d);
}

static void
test_read_fails(void **state)
{
	char dir[] = "/tmp/coalmine-campaign-XXXXXX", *path;
	struct inject_calls calls;
	const struct campaign *c;
	struct campaigns *cs;
	FILE *fp;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/quick.conf", dir);
	fp = fopen(path, "w");
	fputs("[campaign]\nmpi = mpich\n", fp);
	fclose(fp);
	cs = campaigns_new(dir);
	memset(&calls, 0, sizeof(calls));
	injected.stays = 1;
	inject_arm(&calls, KIND_OPEN, 1);
	assert_int_equal(campaigns_scan(cs), 1);
	c = campaigns_find(cs, "quick");
	assert_non_null(strstr(c->error, path));
	assert_non_null(strstr(c->error, "Input/output error"));
	assert_int_equal(campaigns_scan(cs), 0); /* the same error */
	inject_arm(NULL, KIND_NONE, 0);
	assert_int_equal(campaigns_scan(cs), 1);
	assert_null(c->error);
	assert_non_null(c->conf);
	assert_int_equal(campaigns_scan(cs), 0);
	folder_fails = 1;
	assert_int_equal(campaigns_scan(cs), 0);
	assert_ptr_equal(campaigns_find(cs, "quick"), c);
	assert_non_null(strstr(campaigns_error(cs), "Input/output error"));
	folder_fails = 0;
	assert_int_equal(campaigns_scan(cs), 0);
	assert_string_equal(campaigns_error(cs), "");
	unlink(path);
	assert_int_equal(campaigns_scan(cs), 1);
	assert_null(campaigns_find(cs, "quick"));
	campaigns_free(cs);
	free(path);
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_fails),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
