/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h - plans for tests, from the words of a command line.
 */
#ifndef TESTS_UNIT_PLAN_CASES_H
#define TESTS_UNIT_PLAN_CASES_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "probes/pattern/pattern.h"
#include "probes/catalog/patterns.h"
#include "probes/plan/check.h"
#include "probes/plan/plan.h"

/* "group pattern=rail n=2" to a plan, or NULL and why. */
static inline struct plan *
case_plan_on(const char *text, const struct pattern_site *site, struct err *err)
{
	char *copy = xstrdup(text), *words[32], *save = NULL;
	const struct pattern *pt;
	struct plan *p = NULL;
	struct conf *c;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w != NULL && n < 32;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	pt = patterns_find(words[0]);
	if (pt == NULL)
		fail_msg("%s: no such probe", words[0]);
	if (pattern_options(pt, words + 1, n - 1, &c, err) == 0) {
		if (pattern_build(pt, c, site, &p, err) < 0)
			p = NULL;
		conf_free(c);
	}
	free(copy);
	return p;
}

static inline struct plan *
case_plan(const char *text, uint32_t ranks, struct err *err)
{
	return case_plan_on(text, &(struct pattern_site){ .ranks = ranks },
	    err);
}

/* The same, which must work and be proven. */
static inline struct plan *
case_proven_on(const char *text, const struct pattern_site *site)
{
	struct err err = { 0 };
	struct check_fault fault;
	struct plan *p = case_plan_on(text, site, &err);

	if (p == NULL)
		fail_msg("%s: %s", text, err.text);
	if (check_plan(p, &fault) < 0)
		fail_msg("%s: %s", text, fault.text);
	return p;
}

static inline struct plan *
case_proven(const char *text, uint32_t ranks)
{
	return case_proven_on(text, &(struct pattern_site){ .ranks = ranks });
}

/* A plan that must be rejected, with these words in the error. */
static inline void
case_refused(const char *text, uint32_t ranks, const char *words)
{
	struct err err = { 0 };
	struct plan *p = case_plan(text, ranks, &err);

	if (p != NULL)
		fail_msg("%s: was not refused", text);
	if (strstr(err.text, words) == NULL)
		fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text,
		    words);
}

/* Transfers of a step as "0>1 0>2", in the order of the listing. */
static inline char *
case_pairs(const struct plan *p, uint32_t step)
{
	static char text[65536];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].step == step)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%u>%u", n > 0 ? " " : "", p->transfers[i].src,
			    p->transfers[i].dst);
	return text;
}

static inline uint64_t
case_note(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->notes_count; i++)
		if (strcmp(p->notes[i].name, name) == 0)
			return p->notes[i].value;
	fail_msg("no note %s", name);
	return 0;
}

static inline double
case_real(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->notes_count; i++)
		if (strcmp(p->notes[i].name, name) == 0 && p->notes[i].is_real)
			return p->notes[i].real;
	fail_msg("no note %s", name);
	return 0;
}

#endif
