/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts_check.c - the checks of values that the rows of options name.
 */
#include "ctl/lib/opts_check.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/conf.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "ctl/lib/change.h"
#include "ctl/lib/client.h"
#include "pki/pki.h"
#include "schema/names_agent.h"
#include "schema/names_run.h"
#include "schema/options.h"
#include "schema/topology.h"
#include "schema/window.h"

/* ---- numbers ---- */

int
opts_check_span(const struct opt_row *row, const char *value, struct err *err)
{
	uint64_t span_ns;

	(void)err;
	return clk_span_parse(value, &span_ns) < 0 ||
		span_ns < (uint64_t)row->least || span_ns > (uint64_t)row->most
	    ? -EINVAL
	    : 0;
}

int
opts_check_ago(const struct opt_row *row, const char *value, struct err *err)
{
	uint64_t span_ns;

	(void)row;
	(void)err;
	return clk_span_parse(value, &span_ns) < 0 || span_ns >= clk_unix_ns()
	    ? -EINVAL
	    : 0;
}

int
opts_check_bytes(const struct opt_row *row, const char *value, struct err *err)
{
	uint64_t bytes;

	(void)row;
	(void)err;
	return str_to_bytes(value, &bytes) < 0 || bytes == 0 ? -EINVAL : 0;
}

int
opts_check_gbps(const struct opt_row *row, const char *value, struct err *err)
{
	double gbps;

	(void)row;
	(void)err;
	return str_to_double(value, 0.001, TOPOLOGY_GBPS_MAX, &gbps);
}

int
opts_share_parse(const char *text, double *ret)
{
	char number[32];
	size_t n = strlen(text);
	int percent = n > 0 && text[n - 1] == '%';

	if (n >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, n + 1);
	number[n - (size_t)percent] = '\0';
	if (str_to_double(number, 0, percent ? 100 : 1, ret) < 0)
		return -EINVAL;
	*ret /= percent ? 100 : 1;
	return 0;
}

int
opts_check_share(const struct opt_row *row, const char *value, struct err *err)
{
	double share;

	(void)row;
	(void)err;
	return opts_share_parse(value, &share);
}

int
opts_check_window(const struct opt_row *row, const char *value, struct err *err)
{
	struct window_list windows;

	(void)row;
	(void)err;
	return window_parse(value, &windows) < 0 || windows.count == 0 ? -EINVAL
								       : 0;
}

/* ---- names ---- */

int
opts_check_name(const struct opt_row *row, const char *value, struct err *err)
{
	(void)row;
	(void)err;
	if (value[0] == '-' || value[0] == '.')
		return -EINVAL;
	/* The collector accepts ASCII only, isalnum other letters of the
	 * locale too. */
	for (const char *p = value; *p != '\0'; p++)
		if (!isascii((unsigned char)*p) ||
		    (!isalnum((unsigned char)*p) && strchr("-_.", *p) == NULL))
			return -EINVAL;
	return 0;
}

int
opts_check_hosts(const struct opt_row *row, const char *value, struct err *err)
{
	struct hostlist hl;
	struct err why;

	if (hostlist_parse(value, &hl, &why) < 0)
		return err_set(err, -EINVAL,
		    "--%s %.100s: invalid host list: %s", row->name, value,
		    why.text);
	hostlist_clear(&hl);
	return 0;
}

/* Names of switches come from the fabric: only a host list has brackets. */
int
opts_check_part(const struct opt_row *row, const char *value, struct err *err)
{
	return strchr(value, '[') != NULL ? opts_check_hosts(row, value, err)
					  : 0;
}

int
opts_check_slow(const struct opt_row *row, const char *value, struct err *err)
{
	double share;
	char *part;
	int rc = change_share_parse(value, &share);

	if (rc < 0)
		return rc;
	part = xstrndup(value, (size_t)(strrchr(value, '=') - value));
	rc = opts_check_part(row, part, err);
	free(part);
	return rc;
}

int
opts_check_san(const struct opt_row *row, const char *value, struct err *err)
{
	(void)row;
	return pki_san_check(value, err) < 0 ? -EINVAL : 0;
}

/* rows: words, or structures that begin with a word. */
static int
opts_check_word(const struct opt_row *row, const char *value, const void *rows,
    size_t count, size_t row_bytes, struct err *err)
{
	struct strbuf words = { 0 };

	if (str_find(rows, count, row_bytes, value) >= 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		strbuf_addf(&words, "%s%s", i == 0 ? "" : ", ",
		    *(const char *const *)((const char *)rows + i * row_bytes));
	err_say(err, "--%s %.40s: expected %s", row->name, value, words.text);
	strbuf_clear(&words);
	return -EINVAL;
}

int
opts_check_agent(const struct opt_row *row, const char *value, struct err *err)
{
	return opts_check_word(row, value, names_agent_states,
	    ARRAY_LEN(names_agent_states), sizeof(names_agent_states[0]), err);
}

int
opts_check_run(const struct opt_row *row, const char *value, struct err *err)
{
	return opts_check_word(row, value, names_run_states,
	    ARRAY_LEN(names_run_states), sizeof(names_run_states[0]), err);
}

/* ---- files ---- */

/* rc: the result of access, with errno. A folder is an error. */
static int
opts_check_file(const struct opt_row *row, const char *value, int rc,
    struct err *err)
{
	struct stat st = { 0 };

	if (rc == 0 && stat(value, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		rc = -1;
	}
	return rc == 0 ? 0
		       : err_set(err, -EINVAL, "--%s %.200s: %s: expected %s",
			     row->name, value, strerror(errno), row->expected);
}

int
opts_check_input(const struct opt_row *row, const char *value, struct err *err)
{
	return opts_check_file(row, value, access(value, R_OK), err);
}

int
opts_check_stdin(const struct opt_row *row, const char *value, struct err *err)
{
	return strcmp(value, "-") == 0 ? 0 : opts_check_input(row, value, err);
}

/* The file is replaced (ctl_write): its folder must be writable. */
int
opts_check_output(const struct opt_row *row, const char *value, struct err *err)
{
	const char *slash = strrchr(value, '/');
	char *folder = slash == NULL
	    ? xstrdup(".")
	    : xstrndup(value, (size_t)(slash - value) + 1);
	int rc = strcmp(value, "-") == 0 ? 0 : access(folder, W_OK | X_OK);

	free(folder);
	return opts_check_file(row, value, rc, err);
}

int
opts_check_machine(const struct opt_row *row, const char *value,
    struct err *err)
{
	return opts_check_name(row, value, err) == 0
	    ? 0
	    : opts_check_input(row, value, err);
}

/* ---- texts ---- */

int
opts_check_override(const struct opt_row *row, const char *value,
    struct err *err)
{
	struct conf *conf = NULL;
	char *from = xasprintf("--%s", row->name);
	int rc = conf_parse(options_campaign, "default", "", &conf, err);

	if (rc == 0)
		rc = conf_override(conf, value, from, err);
	conf_free(conf);
	free(from);
	return rc;
}

int
opts_check_patterns(const struct opt_row *row, const char *value,
    struct err *err)
{
	size_t count = 0;
	char **list = str_list_parse(value, &count);

	(void)row;
	(void)err;
	str_list_free(list);
	return count > 0 && list != NULL ? 0 : -EINVAL;
}

int
opts_check_plan(const struct opt_row *row, const char *value, struct err *err)
{
	const char *word = value + strspn(value, " ");
	int is_option = 0;

	(void)row;
	(void)err;
	do {
		size_t n = strcspn(word, " "), at = strcspn(word, "= ");

		if (at == 0 || (at < n) != is_option)
			return -EINVAL;
		is_option = 1;
		word += n;
		word += strspn(word, " ");
	} while (*word != '\0');
	return 0;
}

int
opts_check_text(const struct opt_row *row, const char *value, struct err *err)
{
	size_t len = strlen(value);

	(void)err;
	return (row->most != 0 && len > (size_t)row->most) ||
		utf8_check(value, len) < len
	    ? -EINVAL
	    : 0;
}

int
opts_check_url(const struct opt_row *row, const char *value, struct err *err)
{
	(void)row;
	(void)err;
	return client_url_check(value);
}

int
opts_check_where(const struct opt_row *row, const char *clause, struct err *err)
{
	size_t at = strcspn(clause, "=!<>");
	const char *how = clause + at, *bracket = strchr(how, '['), *why = NULL;
	double than;

	if (at == 0 || at >= OPTS_MEMBER_MAX)
		why = "the name of a member, as shown by --json,";
	else if (*how == '\0' || (*how == '!' && how[1] != '='))
		why = "=, !=, < or >";
	else if (*how == '<' || *how == '>') {
		if (str_to_double(how + 1, -DBL_MAX, DBL_MAX, &than) < 0)
			why = "a number";
		at++;
	} else if (how[*how == '!' ? 2 : 1] == '=') {
		why = "a pattern in place of the second =";
		at += *how == '!' ? 2 : 1;
	} else if (bracket != NULL && strchr(bracket, ']') == NULL) {
		why = "a closing bracket";
		at = (size_t)(bracket - clause);
	}
	if (why == NULL)
		return 0;
	return err_set(err, -EINVAL,
	    "--where %.40s: invalid at character %zu%s%.20s: %s is "
	    "missing; expected %s",
	    clause, at + 1, clause[at] == '\0' ? " (the end)" : ", ",
	    clause + at, why, row->expected);
}

int
opts_check_sort(const struct opt_row *row, const char *value, struct err *err)
{
	const char *name = value + (*value == '-');
	size_t len = strlen(name);

	(void)row;
	(void)err;
	return len == 0 || len >= OPTS_MEMBER_MAX ||
		strcspn(name, " =!<>") < len
	    ? -EINVAL
	    : 0;
}
