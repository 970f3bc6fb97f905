/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c - one plan as list, matrix, JSON and picture.
 */
#include "probes/plan/print.h"
#include "probes/plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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
print_digits(uint64_t x)
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
print_note_value(const struct plan_note *n, FILE *to)
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
			print_row_of(row, p->ranks, print_digits(most), to);
		}
	}
	most = 0;
	for (size_t i = 0; i < cells; i++)
		most = sum[i] > most ? sum[i] : most;
	fprintf(to, "# sum: %zu transfers, %" PRIu64 " bytes\n",
	    p->transfers_count, plan_volume(p));
	for (uint32_t src = 0; src < p->ranks; src++)
		print_row_of(sum + (size_t)src * p->ranks, p->ranks,
		    print_digits(most), to);
	if (p->remark != NULL)
		fprintf(to, "# %s\n", p->remark);
	for (size_t i = 0; i < p->notes_count; i++) {
		fprintf(to, "# %s: ", p->notes[i].name);
		print_note_value(&p->notes[i], to);
		fprintf(to, " %s\n", p->notes[i].unit);
	}
	free(row);
	free(sum);
	return 0;
}

/* Titles contain user input; names and words are constants. */
static void
print_json_text(const char *text, FILE *to)
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
print_json_rows(const struct plan *p, FILE *to)
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

static int
print_json(const struct plan *p, FILE *to)
{
	fputs("{\"title\":", to);
	print_json_text(p->title, to);
	fprintf(to, ",\"ranks\":%u,\"steps\":%u", p->ranks, p->steps);
	print_json_rows(p, to);
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
	if (p->remark != NULL) {
		fputs(",\n\"remark\":", to);
		print_json_text(p->remark, to);
	}
	fputs(",\n\"notes\":{", to);
	for (size_t i = 0; i < p->notes_count; i++) {
		fprintf(to, "%s\"%s\":{\"value\":", i == 0 ? "" : ",",
		    p->notes[i].name);
		print_note_value(&p->notes[i], to);
		fprintf(to, ",\"unit\":\"%s\"}", p->notes[i].unit);
	}
	fputs("}}\n", to);
	return 0;
}

/*
 * A picture: time runs to the right, one line per rank.
 *
 * An arrow leaves the sender's line at the start of its step and reaches the
 * receiver's before the end; the rest of the column belongs to the local
 * operations. Width grows with the root of the bytes, colour shows the
 * transport. A tooltip names each transfer.
 */
#define LEFT_PX   64.0
#define TOP_PX    58.0
#define LANE_PX   24.0
#define STEP_PX   150.0
#define REACH     0.72 /* share of a column that arrows take */
#define FOOT_PX   34.0
#define LEGEND_PX 90.0

static const char *const colours[PLAN_VIA_MAX] = {
	[PLAN_VIA_MPI] = "#1f5fa8",
	[PLAN_VIA_RMA] = "#7a3fa0",
	[PLAN_VIA_IPC] = "#1b8a5a",
	[PLAN_VIA_IPC_PUT] = "#2aa7a0",
	[PLAN_VIA_IPC_GET] = "#8a9a1b",
	[PLAN_VIA_XCCL] = "#c2571a",
	[PLAN_VIA_AUTO] = "#1f5fa8",
};

static double
print_lane_y(uint32_t rank)
{
	return TOP_PX + LANE_PX * (rank + 0.5);
}

static double
print_step_x(uint32_t step)
{
	return LEFT_PX + STEP_PX * step + 14;
}

static void
print_put_tip(const struct plan *p, const struct plan_transfer *t, FILE *to)
{
	fprintf(to,
	    "<title>step %u: %u to %u, %s+%" PRIu64 " to %s+%" PRIu64
	    ", %" PRIu64 " bytes by %s</title>",
	    t->step, t->src, t->dst, p->bufs[t->from].name, t->from_off,
	    p->bufs[t->to].name, t->to_off, t->bytes, plan_vias[t->via]);
}

static void
print_put_transfer(const struct plan *p, const struct plan_transfer *t,
    uint64_t most, FILE *to)
{
	double x0 = print_step_x(t->step), x1 = x0 + STEP_PX * REACH;
	double y0 = print_lane_y(t->src), y1 = print_lane_y(t->dst);
	double width = 1 + 2 * sqrt((double)t->bytes / (double)most);
	double len, ux, uy;
	const char *c = colours[t->via];

	if (t->src == t->dst) {
		fprintf(to,
		    "<path d=\"M%.1f %.1fq%.1f -13 %.1f 0\" fill=\"none\" "
		    "stroke=\"%s\" stroke-width=\"%.2f\">",
		    x0, y0, 13.0, 26.0, c, width);
		print_put_tip(p, t, to);
		fputs("</path>\n", to);
		return;
	}
	len = hypot(x1 - x0, y1 - y0);
	ux = (x1 - x0) / len;
	uy = (y1 - y0) / len;
	fprintf(to, "<g stroke=\"%s\" fill=\"%s\">", c, c);
	print_put_tip(p, t, to);
	fprintf(to, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke-width=\"%.2f\"/>",
	    x0, y0, x1 - 6 * ux, y1 - 6 * uy, width);
	fprintf(to,
	    "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" "
	    "stroke=\"none\"/></g>\n",
	    x1, y1, x1 - 8 * ux - 3.5 * uy, y1 - 8 * uy + 3.5 * ux,
	    x1 - 8 * ux + 3.5 * uy, y1 - 8 * uy - 3.5 * ux);
}

static void
print_put_local(const struct plan *p, const struct plan_local *l, FILE *to)
{
	double x = print_step_x(l->step) + STEP_PX * REACH + 8;
	double y = print_lane_y(l->rank);

	if (l->op == PLAN_COPY)
		fprintf(to,
		    "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" "
		    "fill=\"#ffffff\" stroke=\"#444444\">",
		    x, y - 4);
	else
		fprintf(to,
		    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" "
		    "fill=\"#b3202c\">",
		    x + 4, y);
	fprintf(to,
	    "<title>step %u, rank %u: %s of %u to %s+%" PRIu64 ", %" PRIu64
	    " bytes</title></%s>\n",
	    l->step, l->rank, plan_ops[l->op], l->inputs, p->bufs[l->to].name,
	    l->to_off, l->bytes, l->op == PLAN_COPY ? "rect" : "circle");
}

/* The transports and local operations that occur, under the picture. */
static void
print_put_legend(const struct plan *p, FILE *to)
{
	double x = LEFT_PX, y = TOP_PX + LANE_PX * p->ranks + 20;
	int used[PLAN_VIA_MAX] = { 0 }, copies = 0, reduces = 0;

	for (size_t i = 0; i < p->transfers_count; i++)
		used[p->transfers[i].via] = 1;
	for (size_t i = 0; i < p->locals_count; i++) {
		copies |= p->locals[i].op == PLAN_COPY;
		reduces |= p->locals[i].op != PLAN_COPY;
	}
	for (int v = 0; v < PLAN_VIA_MAX; v++) {
		if (!used[v])
			continue;
		fprintf(to,
		    "<path d=\"M%.0f %.0fh24\" stroke=\"%s\" "
		    "stroke-width=\"3\"/><text x=\"%.0f\" y=\"%.0f\">%s"
		    "</text>\n",
		    x, y - 4, colours[v], x + 30, y, plan_vias[v]);
		x += LEGEND_PX;
	}
	if (copies) {
		fprintf(to,
		    "<rect x=\"%.0f\" y=\"%.0f\" width=\"8\" height=\"8\" "
		    "fill=\"#ffffff\" stroke=\"#444444\"/><text x=\"%.0f\" "
		    "y=\"%.0f\">copy</text>\n",
		    x, y - 8, x + 14, y);
		x += LEGEND_PX;
	}
	if (reduces)
		fprintf(to,
		    "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"5\" "
		    "fill=\"#b3202c\"/><text x=\"%.0f\" y=\"%.0f\">reduce"
		    "</text>\n",
		    x + 4, y - 4, x + 14, y);
}

static int
print_svg(const struct plan *p, FILE *to)
{
	double width = LEFT_PX + STEP_PX * p->steps + 16;
	double height = TOP_PX + LANE_PX * p->ranks + FOOT_PX;
	uint64_t most = 1;

	if (p->transfers_count > PRINT_SVG_MAX ||
	    p->locals_count > PRINT_SVG_MAX)
		return -E2BIG;
	if (width < 480)
		width = 480;
	for (size_t i = 0; i < p->transfers_count; i++)
		if (p->transfers[i].bytes > most)
			most = p->transfers[i].bytes;
	fprintf(to,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
	    "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
	    "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
	    "<text x=\"%.0f\" y=\"22\" font-size=\"14\">",
	    width, height, width, height, 12.0);
	for (const char *c = p->title; *c != '\0'; c++) {
		if (*c == '<')
			fputs("&lt;", to);
		else if (*c == '&')
			fputs("&amp;", to);
		else if ((unsigned char)*c >= 0x20)
			fputc(*c, to);
	}
	fprintf(to, "</text>\n<text x=\"12\" y=\"%.0f\">rank</text>\n",
	    TOP_PX - 8);
	for (uint32_t s = 0; s < p->steps; s++) {
		double x = LEFT_PX + STEP_PX * s;

		fprintf(to,
		    "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
		    "height=\"%.0f\" fill=\"%s\"/>\n",
		    x, TOP_PX, STEP_PX, LANE_PX * p->ranks,
		    s % 2 == 0 ? "#f4f5f7" : "#ffffff");
		fprintf(to,
		    "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">"
		    "step %u</text>\n",
		    x + STEP_PX / 2, TOP_PX - 8, s);
	}
	for (uint32_t r = 0; r < p->ranks; r++) {
		fprintf(to,
		    "<path d=\"M%.0f %.1fH%.0f\" stroke=\"#c8ccd2\"/>\n",
		    LEFT_PX, print_lane_y(r), LEFT_PX + STEP_PX * p->steps);
		fprintf(to,
		    "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">"
		    "%u</text>\n",
		    LEFT_PX - 8, print_lane_y(r) + 4, r);
	}
	for (size_t i = 0; i < p->transfers_count; i++)
		print_put_transfer(p, &p->transfers[i], most, to);
	for (size_t i = 0; i < p->locals_count; i++)
		print_put_local(p, &p->locals[i], to);
	print_put_legend(p, to);
	fputs("</svg>\n", to);
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
