/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moe.c - a layer of a mixture of experts: each rank sends its tokens to the
 * ranks of the experts that they are routed to (dispatch, step 0), and gets
 * them back (combine, step 1). An all-to-all whose blocks are as unequal as the
 * experts' popularity.
 *
 * Experts are on the ranks in blocks. The expert of popularity rank i has the
 * weight (i + 1)^-zipf, or the file's weight; a token goes to top_k different
 * experts, so that an expert gets each token at most once. The excess is shared
 * among the others. Whole numbers by largest remainders: the same for each
 * sender.
 */
#include "probes/pattern/builders.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/file.h"
#include "common/rng.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/numbers.h"

#define SECTION     "moe"
#define EXPERTS_MAX 65536

struct moe {
	uint32_t ranks, experts, top_k;
	uint64_t tokens, bytes;
	double *weights;  /* by expert */
	uint64_t *routed; /* by expert: tokens of one rank */
};

/* Popularity by expert: from a file of whole numbers, or Zipf's, in the order
 * of experts or as the seed draws it. */
static int
moe_weights(const struct conf *c, struct moe *m, struct err *err)
{
	const char *path = conf_string(c, SECTION, "loads");
	uint64_t seed = (uint64_t)conf_int(c, SECTION, "seed");
	double zipf = conf_real(c, SECTION, "zipf");
	struct numbers n = { .name = path, .max = 1ULL << 50, .err = err };
	int *order = xcalloc(m->experts, sizeof(*order)), rc;
	uint32_t used = 0;
	size_t len_bytes;
	struct rng rng;
	char *text;

	m->weights = xcalloc(m->experts, sizeof(*m->weights));
	for (uint32_t e = 0; e < m->experts; e++)
		order[e] = (int)e;
	rng_seed(&rng, seed);
	if (seed > 0)
		rng_shuffle(&rng, order, m->experts);
	for (uint32_t e = 0; e < m->experts; e++)
		m->weights[order[e]] = pow(e + 1.0, -zipf);
	free(order);
	if (path[0] == '\0')
		return 0;
	rc = file_read(path, NUMBERS_FILE_MAX, &text, &len_bytes, err);
	if (rc < 0)
		return rc;
	rc = numbers_read(&n, text, len_bytes);
	free(text);
	if (rc == 0 && n.count != m->experts)
		rc = pattern_refuse(c, SECTION, "loads", err,
		    "a file of %u numbers, one for each expert", m->experts);
	for (size_t e = 0; rc == 0 && e < n.count; e++) {
		m->weights[e] = (double)n.all[e];
		used += n.all[e] > 0;
	}
	if (rc == 0 && used < m->top_k)
		rc = pattern_refuse(c, SECTION, "loads", err,
		    "a file with at least top_k = %u numbers above 0",
		    m->top_k);
	numbers_clear(&n);
	return rc;
}

/* Share out the rest by weight; an expert whose share exceeds all tokens gets
 * all tokens, until none does. Return 1 if an expert was filled. */
static int
moe_fill(struct moe *m, double *left)
{
	double sum = 0, each;
	int filled = 0;

	for (uint32_t e = 0; e < m->experts; e++)
		sum += m->routed[e] == 0 ? m->weights[e] : 0;
	each = sum > 0 ? *left / sum : 0;
	for (uint32_t e = 0; e < m->experts; e++)
		if (m->routed[e] == 0 && m->tokens > 0 &&
		    m->weights[e] * each >= (double)m->tokens) {
			m->routed[e] = m->tokens;
			*left -= (double)m->tokens;
			filled = 1;
		}
	return filled;
}

static int
moe_compare_cb(const void *a, const void *b, void *arg)
{
	const double *rest = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (rest[x] != rest[y])
		return rest[x] > rest[y] ? -1 : 1;
	return x < y ? -1 : 1;
}

/* The tokens of a rank by expert. */
static void
moe_route(struct moe *m)
{
	uint32_t *order = xcalloc(m->experts, sizeof(*order)), rest_count = 0;
	double *rest = xcalloc(m->experts, sizeof(*rest)), sum = 0;
	double left = (double)m->tokens * m->top_k;
	uint64_t whole;

	m->routed = xcalloc(m->experts, sizeof(*m->routed));
	while (moe_fill(m, &left))
		;
	whole = (uint64_t)llround(left);
	for (uint32_t e = 0; e < m->experts; e++)
		sum += m->routed[e] == 0 ? m->weights[e] : 0;
	for (uint32_t e = 0; e < m->experts; e++) {
		double part;

		if (m->routed[e] > 0 || m->weights[e] <= 0)
			continue;
		part = m->weights[e] / sum * left;
		m->routed[e] = (uint64_t)part;
		rest[e] = part - floor(part);
		whole -= m->routed[e];
		order[rest_count++] = e;
	}
	qsort_r(order, rest_count, sizeof(*order), moe_compare_cb, rest);
	for (uint32_t i = 0; i < rest_count && whole > 0; i++, whole--)
		m->routed[order[i]]++;
	free(order);
	free(rest);
}

/* Of one rank for the experts of another. */
static uint64_t
moe_bytes(const struct moe *m, uint32_t dst)
{
	uint32_t a_rank = m->experts / m->ranks;
	uint64_t tokens = 0;

	for (uint32_t e = dst * a_rank; e < (dst + 1) * a_rank; e++)
		tokens += m->routed[e];
	return tokens * m->bytes;
}

/* Blocks by receiver in send and recv, by sender in work. */
static struct plan *
moe_plan(const struct conf *c, const struct moe *m, uint8_t via)
{
	struct plan *p = pattern_begin(c, SECTION, m->ranks);
	uint16_t send = plan_buf_add(p, "send", PLAN_IN);
	uint16_t recv = plan_buf_add(p, "recv", PLAN_OUT);
	uint16_t work = plan_buf_add(p, "work", PLAN_TEMP);
	uint64_t at = 0, most = 0, all = 0;

	for (uint32_t dst = 0; dst < m->ranks; dst++) {
		uint64_t bytes = moe_bytes(m, dst);

		for (uint32_t src = 0; src < m->ranks; src++) {
			struct plan_transfer out = { .src = src,
				.dst = dst,
				.from = send,
				.to = work,
				.from_off = at,
				.to_off = src * bytes,
				.bytes = bytes,
				.via = via };
			struct plan_transfer back = out, whole = out;

			back.step = 1;
			back.src = dst;
			back.dst = whole.dst = src;
			back.from = work;
			back.to = whole.to = recv;
			back.from_off = out.to_off;
			back.to_off = whole.to_off = at;
			plan_buf_need(p, send, src, at + bytes);
			plan_buf_need(p, recv, src, at + bytes);
			plan_buf_need(p, work, dst, out.to_off + bytes);
			plan_transfer_add(p, &out);
			plan_transfer_add(p, &back);
			if (bytes > 0)
				plan_promise_copy(p, &whole);
		}
		at += bytes;
		all += bytes * m->ranks;
		most = bytes * m->ranks > most ? bytes * m->ranks : most;
	}
	plan_note_add(p, "footprint", "bytes", plan_volume(p));
	plan_note_real(p, "imbalance", "1",
	    (double)most * m->ranks / (double)all);
	plan_sort(p);
	return p;
}

static int
moe_build(const struct conf *c, const struct pattern_site *site,
    struct plan **ret, struct err *err)
{
	struct moe m = { .ranks = site->ranks,
		.experts = (uint32_t)conf_int(c, SECTION, "experts"),
		.top_k = (uint32_t)conf_int(c, SECTION, "top_k"),
		.tokens = (uint64_t)conf_int(c, SECTION, "tokens"),
		.bytes = conf_bytes(c, SECTION, "bytes") };
	uint8_t via = (uint8_t)STR_FIND(plan_vias,
	    conf_string(c, SECTION, "via"));
	int rc = pattern_ranks(c, SECTION, "experts", m.ranks == 0 ? 2 : 1,
	    &m.ranks, err);

	if (rc == 0)
		rc = pattern_transfers(c, SECTION, "experts",
		    2 * (uint64_t)m.ranks * m.ranks, err);
	if (rc < 0)
		return rc;
	if (m.experts == 0)
		m.experts = m.ranks;
	if (m.experts % m.ranks != 0 || m.experts > EXPERTS_MAX)
		rc = pattern_refuse(c, SECTION, "experts", err,
		    "a multiple of the %u ranks, at most %d", m.ranks,
		    EXPERTS_MAX);
	else if (m.top_k > m.experts)
		rc = pattern_refuse(c, SECTION, "top_k", err,
		    "at most the %u experts", m.experts);
	if (rc == 0)
		rc = moe_weights(c, &m, err);
	if (rc == 0) {
		moe_route(&m);
		*ret = moe_plan(c, &m, via);
	}
	free(m.weights);
	free(m.routed);
	return rc;
}

const struct pattern pattern_moe = {
	.name = SECTION,
	.text = "Mixture of experts: tokens to the ranks of their experts and "
		"back, an all-to-all of unequal blocks.",
	.build = moe_build,
};
