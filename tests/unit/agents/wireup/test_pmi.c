/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that MPICH's ranks write, and what they are answered. */
#include "agents/wireup/pmi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char text[PMI_TEXT_MAX];

/* One line of a rank: its event, and the reply. */
static void
says(struct pmi *p, int i, const char *line, enum pmi_event event,
    const char *reply)
{
	char copy[PMI_LINE_MAX];
	struct strbuf sb = { 0 };

	snprintf(copy, sizeof(copy), "%s", line);
	assert_int_equal(pmi_line(p, i, copy, &sb, text), event);
	assert_string_equal(sb.text == NULL ? "" : sb.text, reply);
	strbuf_clear(&sb);
}

static void
test_session(void **state)
{
	struct pmi *p = pmi_new(2, 2, 6);
	struct strbuf reply = { 0 };

	(void)state;
	says(p, 0, "cmd=init pmi_version=1 pmi_subversion=1", PMI_JOIN,
	    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	says(p, 0, "cmd=get_my_kvsname", PMI_REPLY,
	    "cmd=my_kvsname kvsname=coalmine rc=0\n");
	says(p, 0, "cmd=get_universe_size", PMI_REPLY,
	    "cmd=universe_size size=6 rc=0\n");
	says(p, 0, "cmd=get kvsname=coalmine key=PMI_process_mapping",
	    PMI_REPLY,
	    "cmd=get_result rc=0 msg=success value=(vector,(0,3,2))\n");
	/* A value may hold blanks and what looks like words. */
	says(p, 0, "cmd=put kvsname=coalmine key=a value=x y key=b value=c",
	    PMI_REPLY, "cmd=put_result rc=0 msg=success\n");
	says(p, 1, "cmd=put kvsname=coalmine key=b value=2", PMI_REPLY,
	    "cmd=put_result rc=0 msg=success\n");
	says(p, 1, "cmd=get kvsname=coalmine key=a", PMI_REPLY,
	    "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
	says(p, 1, "cmd=barrier_in", PMI_REPLY, "");
	says(p, 1, "cmd=barrier_in", PMI_BAD, ""); /* it waits already */
	says(p, 0, "cmd=barrier_in", PMI_FENCE, "");
	assert_string_equal(pmi_puts(p)->text, "a=x y key=b value=c\nb=2\n");
	pmi_fenced(p, "a=x y key=b value=c\nb=2\nz=9\na=late\nodd\n", 40,
	    &reply);
	assert_string_equal(reply.text, "cmd=barrier_out rc=0 msg=success\n");
	strbuf_clear(&reply);
	assert_int_equal(pmi_puts(p)->len_bytes, 0);
	says(p, 1, "cmd=get kvsname=coalmine key=a", PMI_REPLY,
	    "cmd=get_result rc=0 msg=success value=x y key=b value=c\n");
	says(p, 0, "cmd=get kvsname=coalmine key=z", PMI_REPLY,
	    "cmd=get_result rc=0 msg=success value=9\n");
	says(p, 0, "cmd=finalize", PMI_REPLY, "cmd=finalize_ack rc=0\n");
	says(p, 0, "cmd=abort exitcode=5", PMI_ABORT, "");
	assert_string_equal(text, "MPI_Abort, code 5");
	pmi_free(p);
}

static void
test_bad(void **state)
{
	static const char *const bad[] = { "", "cmd=", "mcmd=spawn",
		"cmd=put kvsname=x value=1", "cmd=put key=a",
		"cmd=put key=a=b value=1", "cmd=get kvsname=x", "cmd=init2",
		"cmd=get\x01 key=a" };
	struct pmi *p = pmi_new(0, 1, 1);
	char line[PMI_LINE_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		says(p, 0, bad[i], PMI_BAD, "");
	assert_non_null(strstr(text, "is not served"));
	memset(line, 'x', sizeof(line));
	memcpy(line, "cmd=put key=a value=", 20);
	line[20 + 1025] = '\0';
	says(p, 0, line, PMI_BAD, "");
	pmi_free(p);
}

/* As many keys as there are ranks. */
static void
test_many(void **state)
{
	struct pmi *p = pmi_new(0, 1, 20000);
	struct strbuf all = { 0 };
	char line[80], want[80];

	(void)state;
	for (int i = 0; i < 20000; i++)
		strbuf_addf(&all, "bc-%d=v%d\n", i, i);
	pmi_fenced(p, all.text, all.len_bytes, NULL);
	strbuf_clear(&all);
	for (int i = 0; i < 20000; i += 77) {
		snprintf(line, sizeof(line), "cmd=get key=bc-%d", i);
		snprintf(want, sizeof(want),
		    "cmd=get_result rc=0 msg=success value=v%d\n", i);
		says(p, 0, line, PMI_REPLY, want);
	}
	pmi_free(p);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
