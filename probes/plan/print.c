/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c - one plan as list, matrix and JSON; svg.c draws it.
 */
#include "probes/plan/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

static int
print_list(const struct plan *p, FILE *to)
{
	size_t t = 0, l = 0;

	for (uint32_t step = 0; step < p->steps; step++) {
		for (; t < p->transfers_count && p->transfers[t].step == step;
		     t++) {
			const struct plan_transfer *x = &p->transfers[t];

			fprintf(to,
			    "%u %u %u %s+%" PRIu64 " %s+%" PRIu64 " %" PRIu64
			    " %s\n",
			    x->step, x->src, x->dst, p->bufs[x->from].name,
			    x->from_off, p->bufs[x->to].name, x->to_off,
			    x->bytes, plan_vias[x->via]);
		}
		for (; l < p->locals_count && p->locals[l].step == step; l++) {
			const struct plan_local *x = &p->locals[l];
			const struct plan_place *in = &p->inputs[x->input];

			fprintf(to, "%u %s %u ", x->step,
			    x->op == PLAN_COPY ? "copy" : "reduce", x->rank);
			for (uint32_t i = 0; i < x->inputs; i++)
				fprintf(to, "%s%s+%" PRIu64, i == 0 ? "" : ",",
				    p->bufs[in[i].buf].name, in[i].off);
			fprintf(to, " %s+%" PRIu64 " %" PRIu64,
			    p->bufs[x->to].name, x->to_off, x->bytes);
			if (x->op != PLAN_COPY)
				fprintf(to, " %s %s", plan_ops[x->op],
				    plan_types[x->type].name);
			fputc('\n', to);
		}
	}
	return 0;
}

static int
digits(uint64_t x)
{
	int n = 1;

	for (; x >= 10; x /= 10)
		n++;
	return n;
}

static void
print_row_of(const uint64_t *row, uint32_t ranks, int width, FILE *to)
{
	for (uint32_t i = 0; i < ranks; i++)
		fprintf(to, "%s%*" PRIu64, i == 0 ? "" : " ", width, row[i]);
	fputc('\n', to);
}

static void
note_value(const struct plan_note *n, FILE *to)
{
	if (n->is_real)
		fprintf(to, "%.6g", n->real);
	else
		fprintf(to, "%" PRIu64, n->value);
}

static int
print_matrix(const struct plan *p, FILE *to)
{
	size_t cells = (size_t)p->ranks * p->ranks, lo = 0, hi;
	uint64_t *row = xcalloc(p->ranks, sizeof(*row));
	uint64_t *sum = xcalloc(cells, sizeof(*sum));
	uint64_t most;

	fprintf(to, "# %s: bytes, senders are rows, receivers columns\n",
	    p->title);
	for (; lo < p->transfers_count; lo = hi) {
		const struct plan_transfer *t = p->transfers;
		uint64_t bytes = 0;

		most = 0;
		for (hi = lo;
		     hi < p->transfers_count && t[hi].step == t[lo].step;
		     hi++) {
			bytes += t[hi].bytes;
			sum[(size_t)t[hi].src * p->ranks + t[hi].dst] +=
			    t[hi].bytes;
			most = t[hi].bytes > most ? t[hi].bytes : most;
		}
		fprintf(to, "# step %u: %zu transfers, %" PRIu64 " bytes\n",
		    t[lo].step, hi - lo, bytes);
		/* transfers are sorted by sender within their step */
		for (uint32_t src = 0, at = 0; src < p->ranks; src++) {
			memset(row, 0, p->ranks * sizeof(*row));
			for (; lo + at < hi && t[lo + at].src == src; at++)
				row[t[lo + at].dst] += t[lo + at].bytes;
			print_row_of(row, p->ranks, digits(most), to);
		}
	}
	most = 0;
	for (size_t i = 0; i < cells; i++)
		most = sum[i] > most ? sum[i] : most;
	fprintf(to, "# sum: %zu transfers, %" PRIu64 " bytes\n",
	    p->transfers_count, plan_volume(p));
	for (uint32_t src = 0; src < p->ranks; src++)
		print_row_of(sum + (size_t)src * p->ranks, p->ranks,
		    digits(most), to);
	if (p->remark != NULL)
		fprintf(to, "# %s\n", p->remark);
	for (size_t i = 0; i < p->notes_count; i++) {
		fprintf(to, "# %s: ", p->notes[i].name);
		note_value(&p->notes[i], to);
		fprintf(to, " %s\n", p->notes[i].unit);
	}
	free(row);
	free(sum);
	return 0;
}

/* Titles hold what a user typed; names and words are ours. */
static void
json_text(const char *text, FILE *to)
{
	fputc('"', to);
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(to, "\\%c", *c);
		else if ((unsigned char)*c < 0x20)
			fprintf(to, "\\u%04x", *c);
		else
			fputc(*c, to);
	}
	fputc('"', to);
}

static const char *const roles[] = {
	[PLAN_IN] = "in",
	[PLAN_OUT] = "out",
	[PLAN_TEMP] = "temp",
};

/* Buffers, transfers and local operations. */
static void
json_rows(const struct plan *p, FILE *to)
{
	fputs(",\n\"buffers\":[", to);
	for (uint32_t i = 0; i < p->bufs_count; i++) {
		fprintf(to,
		    "%s\n{\"name\":\"%s\",\"role\":\"%s\",%s\"bytes\":[",
		    i == 0 ? "" : ",", p->bufs[i].name, roles[p->bufs[i].role],
		    p->bufs[i].on_host ? "\"memory\":\"host\"," : "");
		for (uint32_t r = 0; r < p->ranks; r++)
			fprintf(to, "%s%" PRIu64, r == 0 ? "" : ",",
			    p->bufs[i].bytes[r]);
		fputs("]}", to);
	}
	fputs("],\n\"transfers\":[", to);
	for (size_t i = 0; i < p->transfers_count; i++) {
		const struct plan_transfer *t = &p->transfers[i];

		fprintf(to,
		    "%s\n{\"step\":%u,\"channel\":%u,\"src\":%u,\"dst\":%u,"
		    "\"from\":\"%s\",\"from_offset\":%" PRIu64
		    ",\"to\":\"%s\",\"to_offset\":%" PRIu64
		    ",\"bytes\":%" PRIu64 ",\"via\":\"%s\"}",
		    i == 0 ? "" : ",", t->step, t->channel, t->src, t->dst,
		    p->bufs[t->from].name, t->from_off, p->bufs[t->to].name,
		    t->to_off, t->bytes, plan_vias[t->via]);
	}
	fputs("],\n\"locals\":[", to);
	for (size_t i = 0; i < p->locals_count; i++) {
		const struct plan_local *l = &p->locals[i];

		fprintf(to,
		    "%s\n{\"step\":%u,\"channel\":%u,\"rank\":%u,"
		    "\"op\":\"%s\",\"type\":\"%s\",\"from\":[",
		    i == 0 ? "" : ",", l->step, l->channel, l->rank,
		    plan_ops[l->op], plan_types[l->type].name);
		for (uint32_t k = 0; k < l->inputs; k++) {
			const struct plan_place *in = &p->inputs[l->input + k];

			fprintf(to, "%s[\"%s\",%" PRIu64 "]", k == 0 ? "" : ",",
			    p->bufs[in->buf].name, in->off);
		}
		fprintf(to,
		    "],\"to\":\"%s\",\"to_offset\":%" PRIu64
		    ",\"bytes\":%" PRIu64 "}",
		    p->bufs[l->to].name, l->to_off, l->bytes);
	}
	fputc(']', to);
}

static void
json_promises(const struct plan *p, FILE *to)
{
	fputs(",\n\"promises\":[", to);
	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];

		fprintf(to,
		    "%s\n{\"to\":\"%s\",\"to_offset\":%" PRIu64
		    ",\"bytes\":%" PRIu64 ",\"op\":\"%s\",\"ranks\":[",
		    i == 0 ? "" : ",", p->bufs[m->to].name, m->to_off, m->bytes,
		    plan_ops[m->op]);
		for (uint32_t k = 0; k < m->spans; k++)
			fprintf(to, "%s[%u,%u]", k == 0 ? "" : ",",
			    p->spans[m->span + k].lo,
			    p->spans[m->span + k].hi - 1);
		fputs("],\"sources\":[", to);
		for (uint32_t k = 0; k < m->sources; k++) {
			const struct plan_source *s =
			    &p->sources[m->source + k];

			fprintf(to,
			    "%s{\"ranks\":[%u,%u],\"from\":\"%s\","
			    "\"from_offset\":%" PRIu64 "}",
			    k == 0 ? "" : ",", s->lo, s->hi - 1,
			    p->bufs[s->buf].name, s->off);
		}
		fputs("]}", to);
	}
	fputc(']', to);
}

static int
print_json(const struct plan *p, FILE *to)
{
	fputs("{\"title\":", to);
	json_text(p->title, to);
	fprintf(to, ",\"ranks\":%u,\"steps\":%u", p->ranks, p->steps);
	json_rows(p, to);
	json_promises(p, to);
	if (p->remark != NULL) {
		fputs(",\n\"remark\":", to);
		json_text(p->remark, to);
	}
	fputs(",\n\"notes\":{", to);
	for (size_t i = 0; i < p->notes_count; i++) {
		fprintf(to, "%s\"%s\":{\"value\":", i == 0 ? "" : ",",
		    p->notes[i].name);
		note_value(&p->notes[i], to);
		fprintf(to, ",\"unit\":\"%s\"}", p->notes[i].unit);
	}
	fputs("}}\n", to);
	return 0;
}

const struct print_row print_formats[] = {
	{ "list", print_list },
	{ "matrix", print_matrix },
	{ "json", print_json },
	{ "svg", print_svg },
	{ NULL, NULL },
};

const struct print_row *
print_find(const char *name)
{
	for (const struct print_row *f = print_formats; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}
