/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.c - SVG written as text, top to bottom: each picture has its scale
 * from its own data, and colours mean left and right everywhere.
 */
#include "ctl/report.h"

#include <math.h>
#include <string.h>

#include "ctl/print.h"

#define WIDTH   760.0
#define TITLE   26.0  /* height of a title */
#define LABEL   230.0 /* width of labels before bars */
#define VALUE   190.0 /* and of values behind them */
#define ROW     22.0
#define PLOT    150.0 /* height of a histogram */
#define AXIS    22.0
#define GAP     18.0
#define AXIS_W  76.0 /* of values left of upright bars */
#define LEFT_C  "#3b6fb6"
#define RIGHT_C "#c96f16"
#define INK     "#1f2328"
#define SOFT    "#5b636c"
#define GRID    "#dcdad3"

void
picture_escape(struct strbuf *to, const char *text)
{
	static const struct {
		char c;
		const char *as;
	} rows[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
		{ '"', "&quot;" } };

	for (; *text != '\0'; text++) {
		const char *as = NULL;

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (*text == rows[i].c)
				as = rows[i].as;
		if (as != NULL)
			strbuf_add(to, as, strlen(as));
		else if ((unsigned char)*text >= ' ')
			strbuf_add(to, text, 1);
	}
}

static void
picture_text_add(struct picture *p, double x, double y, const char *anchor,
    const char *colour, const char *text)
{
	strbuf_addf(&p->body,
	    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
	    anchor, colour);
	picture_escape(&p->body, text);
	strbuf_addf(&p->body, "</text>\n");
}

static void
picture_title_add(struct picture *p, const char *title)
{
	strbuf_addf(&p->body, "<g font-weight=\"bold\">");
	picture_text_add(p, 0, p->height + 15, "start", INK, title);
	strbuf_addf(&p->body, "</g>\n");
	p->height += TITLE;
}

static void
picture_line_add(struct picture *p, double x1, double y1, double x2, double y2,
    const char *colour, double width)
{
	strbuf_addf(&p->body,
	    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
	    "stroke=\"%s\" stroke-width=\"%.1f\"/>\n",
	    x1, y1, x2, y2, colour, width);
}

static void
picture_box_add(struct picture *p, double x, double y, double w, double h,
    const char *colour)
{
	strbuf_addf(&p->body,
	    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	    "fill=\"%s\"/>\n",
	    x, y, fmax(w, 0), h, colour);
}

/* Histograms -------------------------------------------------------------- */

struct range {
	int first, last; /* buckets, relative to HIST_FIRST */
};

static void
picture_range_widen(struct range *r, const struct hist *h)
{
	for (int i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		r->first = i < r->first ? i : r->first;
		r->last = i > r->last ? i : r->last;
	}
}

static double
picture_bucket_x(const struct range *r, double i)
{
	return (i - r->first) / (r->last + 1 - r->first) * WIDTH;
}

static double
picture_top_share(const struct hist *h)
{
	uint64_t top = 0;

	for (int i = 0; i < HIST_BUCKETS; i++)
		top = h->bucket[i] > top ? h->bucket[i] : top;
	return h->count > 0 ? (double)top / (double)h->count : 0;
}

static void
picture_shape_add(struct picture *p, const struct range *r,
    const struct hist *h, double top, const char *colour)
{
	double floor_y = p->height + PLOT;

	if (h->count == 0)
		return;
	strbuf_addf(&p->body, "<path d=\"M%.1f %.1f", 0.0, floor_y);
	for (int i = r->first; i <= r->last; i++) {
		double share = (double)h->bucket[i] / (double)h->count;

		strbuf_addf(&p->body, "V%.1fH%.1f",
		    floor_y - share / top * PLOT, picture_bucket_x(r, i + 1));
	}
	strbuf_addf(&p->body,
	    "V%.1fZ\" fill=\"%s\" fill-opacity=\"0.28\" stroke=\"%s\"/>\n",
	    floor_y, colour, colour);
}

static void
picture_mark_add(struct picture *p, const struct range *r, double value,
    const char *unit)
{
	/* A bucket's number is that of its upper bound: HIST_FIRST - 1 is the
	 * lower bound of the first. */
	double x = picture_bucket_x(r,
	    log2(value) * HIST_PER_OCTAVE - (HIST_FIRST - 1));
	char text[PRINT_BYTES];

	if (x < 0 || x > WIDTH)
		return;
	picture_line_add(p, x, p->height, x, p->height + PLOT, GRID, 1);
	print_quantity(value, unit, text);
	picture_text_add(p, x, p->height + PLOT + 15,
	    x < 40               ? "start"
		: x > WIDTH - 40 ? "end"
				 : "middle",
	    SOFT, text);
}

/* Lines at 1, 2 and 5 of every power of ten; over three of these at 1. */
static void
picture_axis_add(struct picture *p, const struct range *r, const char *unit)
{
	double octaves = (double)(r->last + 1 - r->first) / HIST_PER_OCTAVE;
	double lo = exp2((double)(HIST_FIRST - 1 + r->first) / HIST_PER_OCTAVE);
	static const double steps[] = { 1, 2, 5 };

	for (double d = floor(log10(lo)); d <= log10(lo) + octaves / log2(10);
	     d++)
		for (size_t i = 0; i < ARRAY_LEN(steps); i++)
			if (i == 0 || octaves < 3 * log2(10))
				picture_mark_add(p, r, steps[i] * pow(10, d),
				    unit);
}

static void
picture_legend_add(struct picture *p, double x, const struct hist *h,
    const char *name, const char *unit, const char *colour)
{
	char p50[PRINT_BYTES], p99[PRINT_BYTES], text[256];

	if (h->count == 0)
		return;
	print_quantity(hist_quantile(h, 0.5), unit, p50);
	print_quantity(hist_quantile(h, 0.99), unit, p99);
	snprintf(text, sizeof(text), "%s: p50 %s, p99 %s, %llu samples", name,
	    p50, p99, (unsigned long long)h->count);
	picture_box_add(p, x, p->height + PLOT + AXIS + 2, 10, 10, colour);
	picture_text_add(p, x + 15, p->height + PLOT + AXIS + 11, "start", SOFT,
	    text);
}

void
picture_histograms(struct picture *p, const char *title, const char *unit,
    const struct hist *left, const char *left_name, const struct hist *right,
    const char *right_name)
{
	struct range r = { HIST_BUCKETS, -1 };
	double top = fmax(picture_top_share(left), picture_top_share(right));

	picture_range_widen(&r, left);
	picture_range_widen(&r, right);
	if (r.last < r.first)
		return;
	picture_title_add(p, title);
	picture_axis_add(p, &r, unit);
	picture_shape_add(p, &r, left, top, LEFT_C);
	picture_shape_add(p, &r, right, top, RIGHT_C);
	picture_legend_add(p, 0, left, left_name, unit, LEFT_C);
	picture_legend_add(p, WIDTH / 2, right, right_name, unit, RIGHT_C);
	p->height += PLOT + AXIS + 16 + GAP;
}

/* Points ------------------------------------------------------------------- */

struct span {
	double lo, hi;
};

static double
picture_span_x(const struct span *s, double v)
{
	return LABEL +
	    log(v / s->lo) / log(s->hi / s->lo) * (WIDTH - LABEL - VALUE);
}

static void
picture_span_widen(struct span *s, double v)
{
	if (!isfinite(v) || v <= 0)
		return;
	s->lo = fmin(s->lo, v / 1.1);
	s->hi = fmax(s->hi, v * 1.1);
}

static void
picture_point_add(struct picture *p, const struct span *s,
    const struct picture_point *o)
{
	double y = p->height + ROW / 2, x;
	char text[128];

	picture_text_add(p, 0, y + 4, "start", INK, o->label);
	if (!isfinite(o->value) || o->value <= 0) {
		picture_text_add(p, WIDTH, y + 4, "end", SOFT, "-");
		p->height += ROW;
		return;
	}
	x = picture_span_x(s, o->value);
	if (o->lo > 0 && isfinite(o->hi)) {
		picture_line_add(p, picture_span_x(s, o->lo), y,
		    picture_span_x(s, o->hi), y, RIGHT_C, 3);
		snprintf(text, sizeof(text), "%.3g (%.3g to %.3g)", o->value,
		    o->lo, o->hi);
	} else {
		snprintf(text, sizeof(text), "%.3g", o->value);
	}
	picture_line_add(p, x, y - 7, x, y + 7, RIGHT_C, 3);
	picture_text_add(p, WIDTH, y + 4, "end", INK, text);
	p->height += ROW;
}

void
picture_points(struct picture *p, const char *title,
    const struct picture_point *points, size_t count)
{
	static const double marks[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100,
		200, 500, 1000 };
	struct span s = { 0.9, 2 };
	double bottom;
	char text[32];

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		picture_span_widen(&s, points[i].value);
		picture_span_widen(&s, points[i].lo);
		picture_span_widen(&s, points[i].hi);
	}
	picture_title_add(p, title);
	bottom = p->height + (double)count * ROW;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		double x = picture_span_x(&s, marks[i]);

		if (marks[i] < s.lo || marks[i] > s.hi)
			continue;
		picture_line_add(p, x, p->height, x, bottom,
		    marks[i] == 1 ? SOFT : GRID, 1);
		snprintf(text, sizeof(text), "%gx", marks[i]);
		picture_text_add(p, x, bottom + 15, "middle", SOFT, text);
	}
	for (size_t i = 0; i < count; i++)
		picture_point_add(p, &s, &points[i]);
	p->height += AXIS + GAP;
}

/* Bars --------------------------------------------------------------------- */

void
picture_bars(struct picture *p, const char *title, const char *unit,
    const struct picture_bar *bars, size_t count)
{
	double full = 0;

	for (size_t i = 0; i < count; i++) {
		if (isfinite(bars[i].value))
			full = fmax(full, bars[i].value);
		if (isfinite(bars[i].model))
			full = fmax(full, bars[i].model);
	}
	if (count == 0)
		return;
	picture_title_add(p, title);
	if (full <= 0)
		full = 1;
	for (const struct picture_bar *b = bars; b < bars + count; b++) {
		double room = WIDTH - LABEL - VALUE, y = p->height;
		char value[PRINT_BYTES], model[PRINT_BYTES], text[160];

		p->height += ROW;
		picture_text_add(p, 0, y + 15, "start", INK, b->label);
		if (!isfinite(b->value)) {
			picture_text_add(p, WIDTH, y + 15, "end", SOFT, "-");
			continue;
		}
		picture_box_add(p, LABEL, y + 4, room, ROW - 8, "#eeece6");
		picture_box_add(p, LABEL, y + 4, b->value / full * room,
		    ROW - 8, LEFT_C);
		print_quantity(b->value, unit, value);
		snprintf(text, sizeof(text), "%s", value);
		if (isfinite(b->model) && b->model > 0) {
			double x = LABEL + b->model / full * room;

			picture_line_add(p, x, y + 1, x, y + ROW - 1, INK, 2);
			print_quantity(b->model, unit, model);
			snprintf(text, sizeof(text), "%s of %s, %.0f %%", value,
			    model, b->value / b->model * 100);
		}
		picture_text_add(p, WIDTH, y + 15, "end", INK, text);
	}
	p->height += GAP;
}

/* Groups of bars ----------------------------------------------------------- */

static const char *const side_colours[PICTURE_SIDES] = { LEFT_C, RIGHT_C };

/* Lines at values that are round as they are printed: 200 KiB/s, 1 MiB/s. */
static void
picture_group_axis(struct picture *p, double top, const char *unit)
{
	double of = pow(1024, floor(log2(top) / 10));
	double step = of * pow(10, floor(log10(top / of)));
	char text[PRINT_BYTES];

	if (top / step < 2)
		step /= 5;
	else if (top / step < 5)
		step /= 2;
	for (double v = 0; v <= top; v += step) {
		double y = p->height + PLOT * (1 - v / top);

		picture_line_add(p, AXIS_W, y, WIDTH, y, GRID, 1);
		print_quantity(v, unit, text);
		picture_text_add(p, AXIS_W - 6, y + 4, "end", SOFT, text);
	}
}

static void
picture_frame_add(struct picture *p, double x, double w, double y, double h)
{
	strbuf_addf(&p->body,
	    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	    "fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
	    x, y, w, h, INK);
}

/* What all groups of a picture have in common. */
struct plot {
	double room, top; /* pixels of a group; the highest value */
	int sides;
};

static void
picture_group_add(struct picture *p, const struct picture_group *g, double x,
    const struct plot *all)
{
	double room = all->room, top = all->top;
	double w = room * 0.8 / all->sides, floor_y = p->height + PLOT;
	char text[32];

	x += room * 0.1;
	for (int k = 0; k < all->sides; k++)
		if (isfinite(g->value[k])) {
			double h = g->value[k] / top * PLOT;

			picture_box_add(p, x + k * w + 1, floor_y - h, w - 2, h,
			    side_colours[k]);
		}
	if (isfinite(g->bound)) {
		double h = g->bound / top * PLOT;

		picture_frame_add(p, x - 2, room * 0.8 + 4, floor_y - h, h);
		if (isfinite(g->value[0])) {
			snprintf(text, sizeof(text), "%.0f %%",
			    100 * g->value[0] / g->bound);
			picture_text_add(p, x + room * 0.4, floor_y - h - 4,
			    "middle", INK, text);
		}
	}
	picture_text_add(p, x + room * 0.4, floor_y + 15, "middle", INK,
	    g->label);
}

void
picture_groups(struct picture *p, const char *title, const char *unit,
    const char *const names[PICTURE_SIDES + 1],
    const struct picture_group *groups, size_t count)
{
	struct plot all = { .room = (WIDTH - AXIS_W) /
		    (double)(count > 0 ? count : 1),
		.sides = names[1] != NULL ? PICTURE_SIDES : 1 };

	double x = AXIS_W;

	for (size_t i = 0; i < count; i++) {
		/* fmax passes NAN over */
		all.top = fmax(all.top, groups[i].bound);
		for (int k = 0; k < PICTURE_SIDES; k++)
			all.top = fmax(all.top, groups[i].value[k]);
	}
	if (count == 0 || all.top <= 0)
		return;
	picture_title_add(p, title);
	p->height += AXIS / 2; /* for what stands above a full frame */
	picture_group_axis(p, all.top, unit);
	for (size_t i = 0; i < count; i++)
		picture_group_add(p, &groups[i], AXIS_W + (double)i * all.room,
		    &all);
	p->height += PLOT + AXIS;
	for (int k = 0; k <= PICTURE_SIDES; k++) {
		if (names[k] == NULL)
			continue;
		if (k < PICTURE_SIDES)
			picture_box_add(p, x, p->height, 10, 10,
			    side_colours[k]);
		else
			picture_frame_add(p, x, 10, p->height, 10);
		picture_text_add(p, x + 15, p->height + 9, "start", SOFT,
		    names[k]);
		x += WIDTH / 4;
	}
	p->height += 10 + GAP;
}

void
picture_print(struct picture *p, FILE *to)
{
	if (p->body.len_bytes > 0)
		fprintf(to,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		    "height=\"%.0f\" viewBox=\"-10 -6 %.0f %.0f\" "
		    "font-family=\"sans-serif\" font-size=\"12\">\n"
		    "<rect x=\"-10\" y=\"-6\" width=\"%.0f\" height=\"%.0f\" "
		    "fill=\"#fff\"/>\n%s</svg>\n",
		    WIDTH + 20, p->height + 12, WIDTH + 20, p->height + 12,
		    WIDTH + 20, p->height + 12, p->body.text);
	strbuf_clear(&p->body);
	p->height = 0;
}
