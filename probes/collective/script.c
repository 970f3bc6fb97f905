/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.c - reads and runs in one pass: a loop's body is read again for
 * every value of its variable.
 */
#include "probes/collective/script.h"
#include "probes/collective/compose_tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"

#define WORD_BYTES    32
#define VARIABLES_MAX 8
#define NESTING_MAX   32
#define NUMBER_MAX    (1LL << 40)
#define PRIMS_MAX     (4 << 20) /* of all loops */

struct variable {
	char name[WORD_BYTES];
	int64_t value;
};

/* A set of ranks; others means all except the root. */
struct set {
	uint8_t *in; /* by rank */
	int others;
};

struct script {
	const struct script_ask *ask;
	const char *at;
	struct variable variables[VARIABLES_MAX];
	int variables_count;
	int nesting;
	int line;
	uint64_t prims;
	uint32_t *leaves; /* of the primitive that is being read */
	struct err *err;
};

static int __attribute__((format(printf, 2, 3)))
script_complain(struct script *s, const char *fmt, ...)
{
	size_t rest = strcspn(s->at, "\n|");
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	if (rest == 0)
		return err_set(s->err, -EINVAL, "statement %d, at its end: %s",
		    s->line, what.text);
	return err_set(s->err, -EINVAL, "statement %d, at \"%.*s\": %s",
	    s->line, rest > 24 ? 24 : (int)rest, s->at, what.text);
}

/* ---- words and numbers ---- */

static void
script_blanks(struct script *s)
{
	while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
		s->at++;
	if (*s->at == '#')
		s->at += strcspn(s->at, "\n");
}

static int
script_accept_sign(struct script *s, const char *sign)
{
	size_t n = strlen(sign);

	script_blanks(s);
	if (strncmp(s->at, sign, n) != 0)
		return 0;
	s->at += n;
	return 1;
}

/* The length of the word here, 0 if none. */
static size_t
script_word_length(struct script *s)
{
	size_t n = 0;

	script_blanks(s);
	if (!isalpha((unsigned char)*s->at) && *s->at != '_')
		return 0;
	while (isalnum((unsigned char)s->at[n]) || s->at[n] == '_')
		n++;
	return n;
}

static int
script_accept_word(struct script *s, const char *word)
{
	size_t n = script_word_length(s);

	if (n != strlen(word) || strncmp(s->at, word, n) != 0)
		return 0;
	s->at += n;
	return 1;
}

static int
script_need_word(struct script *s, const char *word)
{
	return script_accept_word(s, word)
	    ? 0
	    : script_complain(s, "expected \"%s\"", word);
}

static int
script_read_word(struct script *s, char ret[WORD_BYTES], const char *what)
{
	size_t n = script_word_length(s);

	if (n == 0 || n >= WORD_BYTES)
		return script_complain(s, "expected %s, at most %d characters",
		    what, WORD_BYTES - 1);
	memcpy(ret, s->at, n);
	ret[n] = '\0';
	s->at += n;
	return 0;
}

static int script_value(struct script *s, int is_product, int64_t *ret);

static int
script_atom(struct script *s, int64_t *ret)
{
	char name[WORD_BYTES];
	const char *from;
	int rc;

	script_blanks(s);
	from = s->at;
	if (isdigit((unsigned char)*from)) {
		for (*ret = 0; isdigit((unsigned char)*s->at); s->at++) {
			*ret = *ret * 10 + (*s->at - '0');
			if (*ret > NUMBER_MAX)
				return script_complain(s,
				    "the number is too large");
		}
		return 0;
	}
	if (script_accept_sign(s, "(")) {
		if (++s->nesting > NESTING_MAX)
			return script_complain(s,
			    "more than %d nested brackets", NESTING_MAX);
		rc = script_value(s, 0, ret);
		s->nesting--;
		if (rc == 0 && !script_accept_sign(s, ")"))
			rc = script_complain(s, "expected \")\"");
		return rc;
	}
	rc = script_read_word(s, name, "a number, ranks, root or a variable");
	if (rc < 0)
		return rc;
	for (int i = s->variables_count - 1; i >= 0; i--)
		if (strcmp(s->variables[i].name, name) == 0) {
			*ret = s->variables[i].value;
			return 0;
		}
	*ret = strcmp(name, "ranks") == 0 ? s->ask->ranks : s->ask->root;
	if (strcmp(name, "ranks") == 0 || strcmp(name, "root") == 0)
		return 0;
	s->at = from;
	return script_complain(s,
	    "unknown variable: expected a number, ranks, root or a variable of "
	    "for");
}

/* A product of atoms, or a sum of products. All are at most NUMBER_MAX: none
 * leaves 128 bits. */
static int
script_value(struct script *s, int is_product, int64_t *ret)
{
	const char *signs = is_product ? "*/%" : "+-";
	int rc = is_product ? script_atom(s, ret) : script_value(s, 1, ret);

	while (rc == 0) {
		int64_t b = 0;
		__int128 x;
		char sign;

		script_blanks(s);
		sign = *s->at;
		if (sign == '\0' || strchr(signs, sign) == NULL)
			return 0;
		s->at++;
		rc = is_product ? script_atom(s, &b) : script_value(s, 1, &b);
		if (rc < 0)
			return rc;
		if (b == 0 && (sign == '/' || sign == '%'))
			return script_complain(s, "a division by 0");
		x = *ret;
		x = sign == '+'   ? x + b
		    : sign == '-' ? x - b
		    : sign == '*' ? x * b
		    : sign == '/' ? x / b
				  : ((x % b) + b) % b; /* round the ring */
		if (x > NUMBER_MAX || x < -NUMBER_MAX)
			return script_complain(s, "the number is too large");
		*ret = (int64_t)x;
	}
	return rc;
}

static int
script_rank(struct script *s, int64_t *ret)
{
	const char *from;
	int rc;

	script_blanks(s);
	from = s->at;
	rc = script_value(s, 0, ret);
	if (rc < 0)
		return rc;
	if (*ret >= 0 && *ret < s->ask->ranks)
		return 0;
	s->at = from;
	return script_complain(s, "invalid rank %lld: expected 0 to %u",
	    (long long)*ret, s->ask->ranks - 1);
}

/* ---- sets ---- */

/* Clear and fill set: "others", "all", or a comma-separated list of first,
 * first..last or first..last by step. */
static int
script_read_set(struct script *s, struct set *set)
{
	memset(set->in, 0, s->ask->ranks);
	set->others = script_accept_word(s, "others");
	if (set->others || script_accept_word(s, "all")) {
		memset(set->in, 1, s->ask->ranks);
		return 0;
	}
	do {
		int64_t first = 0, last = 0, step = 1;
		int rc = script_rank(s, &first);

		last = first;
		if (rc == 0 && script_accept_sign(s, "..")) {
			rc = script_rank(s, &last);
			if (rc == 0 && script_accept_word(s, "by"))
				rc = script_value(s, 0, &step);
		}
		if (rc < 0)
			return rc;
		if (last < first || step < 1)
			return script_complain(s,
			    "invalid range: expected FIRST to LAST, ascending, "
			    "with a step of 1 or more");
		for (int64_t r = first; r <= last; r += step)
			set->in[r] = 1;
	} while (script_accept_sign(s, ","));
	return 0;
}

/* ---- statements ---- */

/* buffer[block] of its root, or of the leaves */
static int
script_side(struct script *s, struct script_place *ret, int is_root,
    int64_t *root, struct set *leaves)
{
	int rc = script_read_word(s, ret->buffer, "the name of a buffer");

	ret->block = 0;
	if (rc == 0 && script_accept_sign(s, "[")) {
		rc = script_value(s, 0, &ret->block);
		if (rc == 0 && !script_accept_sign(s, "]"))
			rc = script_complain(s, "expected \"]\"");
	}
	if (rc == 0)
		rc = script_need_word(s, "of");
	if (rc == 0)
		rc = is_root ? script_rank(s, root)
			     : script_read_set(s, leaves);
	return rc;
}

static int
script_primitive(struct script *s, enum compose_kind kind)
{
	struct script_prim prim = { .kind = kind, .leaves = s->leaves };
	struct set set = { .in = xcalloc(s->ask->ranks, 1) };
	int64_t root = 0, blocks = 1;
	struct err err = { 0 };
	int rc;

	rc = script_side(s, &prim.from, kind == COMPOSE_MULTICAST, &root, &set);
	if (rc == 0)
		rc = script_need_word(s, "to");
	if (rc == 0)
		rc = script_side(s, &prim.to, kind == COMPOSE_REDUCTION, &root,
		    &set);
	if (rc == 0 && script_accept_word(s, "x"))
		rc = script_value(s, 0, &blocks);
	if (rc == 0 && blocks < 1)
		rc = script_complain(s, "x %lld: expected 1 block or more",
		    (long long)blocks);
	prim.blocks = (uint64_t)blocks;
	prim.root = (uint32_t)root;
	for (uint32_t r = 0; rc == 0 && r < s->ask->ranks; r++)
		if (set.in[r] && !(set.others && r == prim.root))
			s->leaves[prim.leaves_count++] = r;
	free(set.in);
	if (rc < 0)
		return rc;
	if (prim.leaves_count == 0)
		return script_complain(s, "the set of ranks is empty");
	if (++s->prims > PRIMS_MAX)
		return script_complain(s, "more than %d primitives", PRIMS_MAX);
	if (s->ask->take(s->ask->arg, &prim, &err) < 0)
		return err_set(s->err, -EINVAL, "statement %d: %s", s->line,
		    err.text);
	return 0;
}

static int script_statement(struct script *s);

/* The body once for every member; it is read as often. */
static int
script_loop(struct script *s)
{
	struct set set = { .in = xcalloc(s->ask->ranks, 1) };
	struct variable *v = &s->variables[s->variables_count];
	const char *body;
	int rc = 0;

	if (s->variables_count == VARIABLES_MAX)
		rc = script_complain(s, "more than %d nested loops",
		    VARIABLES_MAX);
	if (rc == 0)
		rc = script_read_word(s, v->name, "the name of a variable");
	if (rc == 0)
		rc = script_need_word(s, "in");
	if (rc == 0)
		rc = script_read_set(s, &set);
	if (rc == 0 && set.others)
		rc = script_complain(s,
		    "the set others is valid only as the leaves of a "
		    "primitive");
	if (rc == 0 && !script_accept_sign(s, ":"))
		rc = script_complain(s, "expected \":\"");
	body = s->at;
	s->variables_count += rc == 0;
	for (uint32_t r = 0; r < s->ask->ranks && rc == 0; r++) {
		if (!set.in[r])
			continue;
		v->value = r;
		s->at = body;
		rc = script_statement(s);
	}
	/* after an error the rest is not parsed */
	s->variables_count -= rc == 0;
	free(set.in);
	return rc;
}

static int
script_statement(struct script *s)
{
	const struct script_prim fence = { .kind = COMPOSE_FENCE };

	if (script_accept_word(s, "for"))
		return script_loop(s);
	if (script_accept_word(s, "multicast"))
		return script_primitive(s, COMPOSE_MULTICAST);
	if (script_accept_word(s, "reduce"))
		return script_primitive(s, COMPOSE_REDUCTION);
	if (script_accept_word(s, "fence"))
		return s->ask->take(s->ask->arg, &fence, s->err);
	return script_complain(s, "expected multicast, reduce, fence or for");
}

int
script_run(const struct script_ask *ask, struct err *err)
{
	struct script s = { .ask = ask,
		.at = ask->text,
		.line = 1,
		.leaves = xcalloc(ask->ranks, sizeof(*s.leaves)),
		.err = err };
	int rc = 0;

	for (; rc == 0; s.at++, s.line++) {
		script_blanks(&s);
		if (*s.at != '\0' && *s.at != '\n' && *s.at != '|')
			rc = script_statement(&s);
		script_blanks(&s);
		if (rc < 0 || *s.at == '\0')
			break;
		if (*s.at != '\n' && *s.at != '|')
			rc = script_complain(&s,
			    "unexpected text after the statement");
	}
	if (rc == 0 && s.prims == 0)
		rc = script_complain(&s,
		    "no primitive: expected at least one multicast or reduce");
	free(s.leaves);
	return rc;
}
