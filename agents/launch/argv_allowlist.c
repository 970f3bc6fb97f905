/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argv_allowlist.c - each daemon's grammar is a table of options, read from the
 * words that real launchers wrote; a word that no row explains refuses the
 * whole request.
 */
#include "agents/launch/argv_allowlist.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/str.h"
#include "common/xalloc.h"

enum kind {
	KIND_WORD,     /* exactly text */
	KIND_DIGITS,   /* 1..max digits */
	KIND_CHARS,    /* 1..max of letters, digits and the marks in text */
	KIND_URI,      /* "J.P;tcp://IP,IP:PORT", all of the head */
	KIND_HOSTPORT, /* "IP:PORT", of the head */
	KIND_ARSH      /* an absolute path to a coalmine-arsh; replaced */
};

/* One option of a daemon; flag rows have no value. */
struct rule {
	const char *option;
	const char *name; /* of the parameter after -mca, else NULL */
	enum kind kind;
	const char *text;
	size_t max;
	int flag;
	int must; /* be there */
};

/* orted of Open MPI 4.1 with plm_rsh_pass_environ_mca_params=0. The second
 * spelling, --mca, stands before parameters of mpirun's command line: ours has
 * none. */
static const struct rule orted_rules[] = {
	{ "-mca", "ess", KIND_WORD, "env", 0, 0, 1 },
	{ "-mca", "ess_base_jobid", KIND_DIGITS, NULL, 10, 0, 1 },
	{ "-mca", "ess_base_vpid", KIND_DIGITS, NULL, 6, 0, 1 },
	{ "-mca", "ess_base_num_procs", KIND_DIGITS, NULL, 6, 0, 1 },
	{ "-mca", "orte_node_regex", KIND_CHARS, "._-[]:,@()", 4000, 0, 1 },
	{ "-mca", "orte_hnp_uri", KIND_URI, NULL, 2000, 0, 1 },
	{ "-mca", "orte_parent_uri", KIND_URI, NULL, 2000, 0, 0 },
	{ "-mca", "plm", KIND_WORD, "rsh", 0, 0, 0 },
	{ "-mca", "routed", KIND_WORD, "radix", 0, 0, 0 },
	{ "-mca", "pmix", KIND_WORD, "^s1,s2,cray,isolated", 0, 0, 0 },
	{ "--tree-spawn", NULL, KIND_WORD, NULL, 0, 1, 0 },
};

/* hydra_pmi_proxy of MPICH 4.0 with -launcher rsh -launcher-exec. */
static const struct rule hydra_rules[] = {
	{ "--control-port", NULL, KIND_HOSTPORT, NULL, 80, 0, 1 },
	{ "--rmk", NULL, KIND_WORD, "user", 0, 0, 0 },
	{ "--launcher", NULL, KIND_WORD, "rsh", 0, 0, 0 },
	{ "--launcher-exec", NULL, KIND_ARSH, NULL, 4000, 0, 0 },
	{ "--demux", NULL, KIND_WORD, "poll", 0, 0, 0 },
	{ "--iface", NULL, KIND_CHARS, "._-", 15, 0, 0 },
	{ "--pgid", NULL, KIND_WORD, "0", 0, 0, 0 },
	{ "--retries", NULL, KIND_WORD, "10", 0, 0, 0 },
	{ "--usize", NULL, KIND_WORD, "-2", 0, 0, 0 },
	{ "--pmi-port", NULL, KIND_WORD, "0", 0, 0, 0 },
	{ "--gpus-per-proc", NULL, KIND_WORD, "-2", 0, 0, 0 },
	{ "--proxy-id", NULL, KIND_DIGITS, NULL, 6, 0, 1 },
};

struct argv_allowlist {
	const char *mpi;
	const char *daemon; /* bare name */
	int path;           /* the launcher writes a path before it */
	const struct rule *rules;
	size_t count;
};

static const struct argv_allowlist grammars[] = {
	{ "openmpi", "orted", 0, orted_rules, ARRAY_LEN(orted_rules) },
	{ "mpich", "hydra_pmi_proxy", 1, hydra_rules, ARRAY_LEN(hydra_rules) },
};

/* A check under way. */
struct check {
	const struct argv_allowlist_want *want;
	const struct argv_allowlist *grammar;
	char **words; /* stripped */
	size_t count, at;
	struct err *err;
};

static int __attribute__((format(printf, 2, 3)))
refuse(struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vsay(c->err, fmt, ap);
	va_end(ap);
	return -EPERM;
}

/* Letters and digits of ASCII, whatever the locale, and marks. */
static int
all_plain(const char *text, size_t max, const char *marks)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t len = strlen(text), at = 0, run;

	do {
		run = strspn(text + at, plain);
		run += strspn(text + at + run, marks);
		at += run;
	} while (run > 0);
	return len >= 1 && len <= max && at == len;
}

static size_t
digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* Removes leading blanks and one pair of quotes, which were meant for a shell.
 * The rest must be ASCII, since answers quote it, and hold nothing that a shell
 * would act on. NULL: refused. */
static char *
strip(const char *word)
{
	size_t len;

	word += strspn(word, " ");
	len = strlen(word);
	if (len >= 2 && word[0] == '"' && word[len - 1] == '"') {
		word++;
		len -= 2;
	}
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)word[i] < ' ' ||
		    (unsigned char)word[i] >= 0x7f ||
		    strchr("\"'\\$`", word[i]) != NULL)
			return NULL;
	return xstrndup(word, len);
}

/* Is the len bytes at text an address of the head? */
static int
is_head_addr(const struct check *c, const char *text, size_t len)
{
	char addr[INET6_ADDRSTRLEN];
	struct in6_addr got, want;

	if (len == 0 || len >= sizeof(addr))
		return 0;
	memcpy(addr, text, len);
	addr[len] = '\0';
	for (size_t i = 0; i < c->want->addr_count; i++) {
		const char *head = c->want->addrs[i];

		if (inet_pton(AF_INET, addr, &got) == 1) {
			if (inet_pton(AF_INET, head, &want) == 1 &&
			    memcmp(&got, &want, 4) == 0)
				return 1;
		} else if (inet_pton(AF_INET6, addr, &got) == 1 &&
		    inet_pton(AF_INET6, head, &want) == 1 &&
		    memcmp(&got, &want, 16) == 0)
			return 1;
	}
	return 0;
}

static int
is_port(const char *text)
{
	int64_t port;

	return digits(text) == strlen(text) &&
	    str_to_int(text, 1, 65535, &port) == 0;
}

/* "IP,IP", each the head's; len bytes at text. */
static int
check_addrs(struct check *c, const char *text, size_t len)
{
	const char *end = text + len;

	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma != NULL ? comma : end;
		size_t n = (size_t)(stop - text);

		if (!is_head_addr(c, text, n))
			return refuse(c,
			    "control address %.*s is not the "
			    "head's",
			    n < 60 ? (int)n : 60, text);
		if (comma == NULL)
			return 0;
		text = comma + 1;
	}
}

/* "1035796480.0;tcp://10.78.0.1,10.79.0.1:43507;tcp6://[fd00::2]:56339" */
static int
check_uri(struct check *c, const char *text)
{
	size_t job = digits(text), rank;
	char *parts, *part, *save = NULL;
	int rc = 0, count = 0;

	if (job < 1 || job > 10 || text[job] != '.')
		return refuse(c, "uri without job");
	rank = digits(text + job + 1);
	if (rank < 1 || rank > 6 || text[job + 1 + rank] != ';')
		return refuse(c, "uri without rank");
	parts = xstrdup(text + job + 1 + rank + 1);
	for (part = strtok_r(parts, ";", &save); part != NULL && rc == 0;
	     part = strtok_r(NULL, ";", &save)) {
		char *colon = strrchr(part, ':');

		count++;
		if (colon == NULL || !is_port(colon + 1)) {
			rc = refuse(c, "uri without port");
			continue;
		}
		*colon = '\0';
		if (strncmp(part, "tcp://", 6) == 0)
			rc = check_addrs(c, part + 6, strlen(part) - 6);
		else if (strncmp(part, "tcp6://[", 8) == 0 && colon[-1] == ']')
			rc = check_addrs(c, part + 8, strlen(part) - 9);
		else
			rc = refuse(c, "uri with %.60s", part);
	}
	free(parts);
	return count > 0 ? rc : refuse(c, "uri without address");
}

/* One value, by the kind that its rule names. */
static int
check_value(struct check *c, const struct rule *r, const char *value)
{
	static const char arsh[] = "/coalmine-arsh";
	size_t len = strlen(value);
	const char *colon;

	switch (r->kind) {
	case KIND_WORD:
		if (strcmp(value, r->text) == 0)
			return 0;
		break;
	case KIND_DIGITS:
		if (len > 0 && len <= r->max && digits(value) == len)
			return 0;
		break;
	case KIND_CHARS:
		if (all_plain(value, r->max, r->text) && value[0] != '-')
			return 0;
		break;
	case KIND_URI:
		return check_uri(c, value);
	case KIND_HOSTPORT:
		colon = strrchr(value, ':');
		if (colon == NULL || !is_port(colon + 1))
			return refuse(c, "control address is not IP:PORT");
		if (!is_head_addr(c, value, (size_t)(colon - value)))
			return refuse(c,
			    "control address %.60s is not the head's", value);
		return 0;
	case KIND_ARSH:
		if (value[0] != '/' || !all_plain(value, 4000, "/._-+") ||
		    len < strlen(arsh) ||
		    strcmp(value + len - strlen(arsh), arsh) != 0)
			return refuse(c, "launcher-exec %.60s", value);
		return 0;
	}
	return refuse(c, "%s: value %.60s",
	    r->name != NULL ? r->name : r->option, value);
}

/* The option at c->at with all its words. */
static int
check_option(struct check *c, unsigned char *seen)
{
	const char *option = c->words[c->at];
	const char *name = c->at + 1 < c->count ? c->words[c->at + 1] : NULL;
	const struct rule *r = NULL;
	size_t words;

	for (size_t i = 0; r == NULL && i < c->grammar->count; i++) {
		const struct rule *k = &c->grammar->rules[i];

		if (strcmp(k->option, option) == 0 &&
		    (k->name == NULL ||
			(name != NULL && strcmp(k->name, name) == 0)))
			r = k;
	}
	if (r == NULL)
		return refuse(c, "option %.60s %.60s is not allowed", option,
		    name != NULL ? name : "");
	if (seen[r - c->grammar->rules]++)
		return refuse(c, "option %.60s twice",
		    r->name != NULL ? r->name : option);
	words = r->flag ? 1 : r->name != NULL ? 3 : 2;
	if (c->at + words > c->count)
		return refuse(c, "option %.60s without value", option);
	c->at += words;
	if (r->flag)
		return 0;
	if (check_value(c, r, c->words[c->at - 1]) < 0)
		return -EPERM;
	if (r->kind == KIND_ARSH) {
		free(c->words[c->at - 1]);
		c->words[c->at - 1] = xstrdup(c->want->arsh);
	}
	return 0;
}

/* The words, stripped: at most so many, and of no use to a shell. */
static int
words_make(struct check *c, const char *const *argv, size_t argc)
{
	size_t bytes = 0;

	if (argc < 1 || argc > ARGV_ALLOWLIST_ARGS_MAX)
		return refuse(c, "%zu arguments", argc);
	for (size_t i = 0; i < argc; i++)
		bytes += strlen(argv[i]) + 1;
	if (bytes > ARGV_ALLOWLIST_BYTES_MAX)
		return refuse(c, "%zu bytes of arguments", bytes);
	c->words = xcalloc(argc + 1, sizeof(*c->words));
	for (; c->count < argc; c->count++) {
		c->words[c->count] = strip(argv[c->count]);
		if (c->words[c->count] == NULL)
			return refuse(c,
			    "argument %zu has a character of a shell",
			    c->count);
	}
	return 0;
}

/* "orted", or "/usr/bin/hydra_pmi_proxy", whose path we do not use; then
 * options, each allowed, and all that must be there. */
static int
check_words(struct check *c)
{
	unsigned char seen[32] = { 0 };
	char *word = c->words[0], *base = word;

	if (c->grammar->path) {
		char *slash = strrchr(word, '/');

		if (slash == NULL || word[0] != '/')
			return refuse(c, "%.60s is not a path", word);
		base = slash + 1;
	}
	if (strcmp(base, c->grammar->daemon) != 0)
		return refuse(c, "%.60s is not %s", word, c->grammar->daemon);
	c->words[0] = xstrdup(c->grammar->daemon);
	free(word);
	for (c->at = 1; c->at < c->count;)
		if (check_option(c, seen) < 0)
			return -EPERM;
	for (size_t i = 0; i < c->grammar->count; i++) {
		const struct rule *r = &c->grammar->rules[i];

		if (r->must && !seen[i])
			return refuse(c, "option %s is missing",
			    r->name != NULL ? r->name : r->option);
	}
	return 0;
}

int
argv_allowlist_check(const struct argv_allowlist_want *want,
    const char *const *argv, size_t argc, char ***ret_argv, struct err *err)
{
	struct check c = { .want = want, .err = err };
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(grammars); i++)
		if (strcmp(grammars[i].mpi, want->mpi) == 0)
			c.grammar = &grammars[i];
	if (c.grammar == NULL)
		return refuse(&c, "mpi %.60s has no daemons", want->mpi);
	rc = words_make(&c, argv, argc);
	if (rc == 0)
		rc = check_words(&c);
	if (rc == 0) {
		*ret_argv = c.words;
		return 0;
	}
	argv_allowlist_free(c.words);
	return rc;
}

void
argv_allowlist_free(char **argv)
{
	if (argv == NULL)
		return;
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}
