/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of MPICH's ranks, and the replies. */
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
	struct strbuf sb = { 0 };

	assert_int_equal(pmi_message(p, i, line, &sb, text), event);
	assert_string_equal(sb.text == NULL ? "" : sb.text, reply);
	strbuf_clear(&sb);
}

/* The reply that local rank i has waited for. */
static void
gets(struct pmi *p, int i, const char *reply)
{
	struct strbuf sb = { 0 };

	pmi_waited(p, i, &sb);
	assert_string_equal(sb.text == NULL ? "" : sb.text, reply);
	strbuf_clear(&sb);
}

static void
test_session(void **state)
{
	struct pmi *p = pmi_new(2, 2, 6);

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
	/* A value may contain blanks and text that looks like words. */
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
	gets(p, 0, "");
	pmi_fenced(p, "a=x y key=b value=c\nb=2\nz=9\na=late\nodd\n", 40);
	for (int i = 0; i < 2; i++)
		gets(p, i, "cmd=barrier_out rc=0 msg=success\n");
	gets(p, 0, "");
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

/* The same in PMI-2, whose messages begin with their length. */
static void
second(struct pmi *p, int i, const char *body, enum pmi_event event,
    const char *reply)
{
	char sent[400], want[400] = "";

	snprintf(sent, sizeof(sent), "%6zu%s", strlen(body), body);
	if (reply[0] != '\0')
		snprintf(want, sizeof(want), "%6zu%s", strlen(reply), reply);
	says(p, i, sent, event, want);
}

static void
second_gets(struct pmi *p, int i, const char *reply)
{
	char want[400];

	snprintf(want, sizeof(want), "%6zu%s", strlen(reply), reply);
	gets(p, i, want);
}

/* PMI-2, as the libraries of MPICH 5 and Slurm 22 write it. */
static void
test_second(void **state)
{
	struct pmi *p = pmi_new(2, 2, 6);

	(void)state;
	says(p, 0, "cmd=init pmi_version=2 pmi_subversion=0", PMI_JOIN,
	    "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
	second(p, 1, "cmd=fullinit;pmirank=3;thrid=0x7ffd12345;", PMI_REPLY,
	    "cmd=fullinit-response;thrid=0x7ffd12345;rc=0;pmi-version=2;"
	    "pmi-subversion=0;rank=3;size=6;appnum=0;debugged=FALSE;"
	    "pmiverbose=FALSE;");
	second(p, 0, "cmd=job-getid;", PMI_REPLY,
	    "cmd=job-getid-response;rc=0;jobid=coalmine;");
	second(p, 0, "cmd=info-getjobattr;key=PMI_process_mapping;", PMI_REPLY,
	    "cmd=info-getjobattr-response;rc=0;found=TRUE;"
	    "value=(vector,(0,3,2));");
	second(p, 0, "cmd=info-getjobattr;key=universeSize;", PMI_REPLY,
	    "cmd=info-getjobattr-response;rc=0;found=TRUE;value=6;");
	second(p, 0, "cmd=info-getjobattr;key=x;", PMI_REPLY,
	    "cmd=info-getjobattr-response;rc=0;found=FALSE;");
	second(p, 0, "cmd=kvs-put;key=a;value=1;", PMI_REPLY,
	    "cmd=kvs-put-response;rc=0;");
	second(p, 0, "cmd=kvs-fence;thrid=0x1;", PMI_REPLY, "");
	second(p, 0, "cmd=kvs-fence;", PMI_BAD, ""); /* it waits already */
	/* One rank may speak the one version and another one the other. */
	says(p, 1, "cmd=barrier_in", PMI_FENCE, "");
	pmi_fenced(p, "a=1\nb=2\n", 8);
	second_gets(p, 0, "cmd=kvs-fence-response;thrid=0x1;rc=0;");
	gets(p, 1, "cmd=barrier_out rc=0 msg=success\n");
	second(p, 1, "cmd=kvs-get;jobid=coalmine;srcid=-1;key=b;", PMI_REPLY,
	    "cmd=kvs-get-response;rc=0;found=TRUE;value=2;");
	/* An attribute of the node is sent to a rank that waits for it. */
	second(p, 1, "cmd=info-getnodeattr;key=s;wait=FALSE;", PMI_REPLY,
	    "cmd=info-getnodeattr-response;rc=0;found=FALSE;");
	second(p, 1, "cmd=info-getnodeattr;key=s;wait=TRUE;", PMI_REPLY, "");
	gets(p, 1, "");
	second(p, 0, "cmd=info-putnodeattr;key=s;value=/x;", PMI_ATTR,
	    "cmd=info-putnodeattr-response;rc=0;");
	gets(p, 0, "");
	second_gets(p, 1,
	    "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=/x;");
	gets(p, 1, "");
	second(p, 0, "cmd=spawn;ncmds=1;subcmd=/bin/x", PMI_REPLY,
	    "cmd=spawn-response;rc=1;errmsg=unsupported;");
	second(p, 0, "cmd=abort;isworld=TRUE;msg=no such device;", PMI_ABORT,
	    "");
	assert_string_equal(text, "MPI_Abort, code ?: no such device");
	second(p, 1, "cmd=abort;exitcode=7;message=a b;", PMI_ABORT, "");
	assert_string_equal(text, "MPI_Abort, code 7: a b");
	second(p, 0, "cmd=finalize;", PMI_REPLY, "cmd=finalize-response;rc=0;");
	/* unsupported requests */
	second(p, 0, "cmd=nothing;", PMI_BAD, "");
	says(p, 0, "    10", PMI_BAD, "");
	says(p, 0, "    10xcmd=finalize;", PMI_BAD, "");
	second(p, 0, "cmd=kvs-put;key=;value=1;", PMI_BAD, "");
	second(p, 0, "cmd=kvs-get;", PMI_BAD, "");
	pmi_free(p);
}

static void
test_length(void **state)
{
	(void)state;
	assert_int_equal(pmi_length("cmd=in"), 0);
	assert_int_equal(pmi_length("    30"), 30);
	assert_int_equal(pmi_length("30    "), 30);
	assert_int_equal(pmi_length("004096"), 4096);
	assert_int_equal(pmi_length("  4097"), -1);
	assert_int_equal(pmi_length("      "), -1);
	assert_int_equal(pmi_length("     0"), -1);
	assert_int_equal(pmi_length("   1 2"), -1);
	assert_int_equal(pmi_length("mcmd=s"), -1);
	assert_int_equal(pmi_length("\0\0\0\0\0\0"), -1);
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
	assert_non_null(strstr(text, "unsupported request"));
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
	pmi_fenced(p, all.text, all.len_bytes);
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
		cmocka_unit_test(test_second),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
