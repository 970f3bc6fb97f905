/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_verdicts.c - a series for every open case, of which there are few,
 * and one number for each verdict of all nodes: a cluster in which all is well
 * adds four series, however large it is.
 */
#include <string.h>

#include "daemon/diagnosis/judge/verdict_text.h"
#include "daemon/export/metrics_int.h"
#include "daemon/view/view.h"

#define CASES_MAX 512 /* of more, the counts tell */

static void
render_counts(const struct metrics_in *in, struct strbuf *to)
{
	size_t counts[VERDICT_MAX];

	view_verdict_counts(in->view, counts);
	exposition_family(to, "coalmine_nodes", "gauge",
	    "Nodes by verdict; unknown is without data.");
	for (int i = 0; i < VERDICT_MAX; i++)
		exposition_sample(to, "coalmine_nodes",
		    EXPOSITION_LABELS({ "verdict", names_verdicts[i] }),
		    (double)counts[i]);
}

static void
render_suspects(const struct diagnosis_open *cases, size_t count,
    struct strbuf *to)
{
	exposition_family(to, "coalmine_outliers", "gauge",
	    "Outliers that are not cleared yet, by what is slow.");
	for (size_t w = 0; w < ARRAY_LEN(words_whats); w++) {
		int n = 0;

		for (size_t i = 0; i < count; i++)
			n += strcmp(cases[i].what, words_whats[w]) == 0;
		exposition_sample(to, "coalmine_outliers",
		    EXPOSITION_LABELS({ "what", words_whats[w] }), n);
	}
}

static void
render_cases(const struct diagnosis_open *cases, size_t count, const char *kind,
    const char *family, struct strbuf *to)
{
	exposition_family(to, family, "gauge",
	    "1 for every outlier; bad: a confirmation run agrees.");
	for (size_t i = 0; i < count; i++)
		if (strcmp(cases[i].kind, kind) == 0)
			exposition_sample(to, family,
			    EXPOSITION_LABELS({ kind, cases[i].subject },
				{ "verdict", names_verdicts[cases[i].verdict] },
				{ "what", cases[i].what }),
			    1);
}

void
metrics_verdicts(const struct metrics_in *in, struct strbuf *to)
{
	static struct diagnosis_open cases[CASES_MAX];
	size_t count = view_open_cases(in->view, cases, CASES_MAX);

	render_counts(in, to);
	render_suspects(cases, count, to);
	render_cases(cases, count, "node", "coalmine_node_verdict", to);
	render_cases(cases, count, "leaf", "coalmine_leaf_verdict", to);
}
