/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/figures/plot.h"

#include <math.h>

#define WIDTH   300.0
#define HEIGHT  200.0
#define LEFT    46.0
#define RIGHT   10.0
#define TOP     24.0
#define BOTTOM  38.0
#define LEGEND  22.0
#define CAPTION 20.0
#define TICKS   4

static const char *const colours[PLOT_ROWS_MAX] = { "#c0504d", "#e69f3c",
	"#5a9e5a", "#e8c840", "#4878b0", "#8064a2", "#777777", "#333333" };

/* The frame of one panel: where values lie. */
struct frame {
	const struct plot_panel *p;
	double x, y; /* upper left corner of the panel */
	double top;  /* value at the upper edge */
	double step; /* between points */
};

static void
text(FILE *to, double x, double y, const char *anchor, const char *what)
{
	fprintf(to,
	    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
	    anchor, what);
}

/* The least of 1, 2, 2.5, 5 times a power of ten that TICKS of them reach. */
static double
tick_of(double most)
{
	static const double steps[] = { 1, 2, 2.5, 5, 10 };
	double unit = pow(10, floor(log10(most / TICKS)));

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] * unit * TICKS >= most * 0.999)
			return steps[i] * unit;
	return 10 * unit;
}

static double
most_of(const struct plot_panel *p)
{
	double most = 0;

	for (size_t r = 0; r < p->rows_count; r++)
		for (size_t i = 0; i < p->points; i++)
			if (p->rows[r].y[i] > most)
				most = p->rows[r].y[i];
	return most > 0 ? most : 1;
}

static double
y_at(const struct frame *f, double value)
{
	return f->y + TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / f->top);
}

static double
x_at(const struct frame *f, size_t point)
{
	return f->x + LEFT + f->step * ((double)point + 0.5);
}

static void
axes(const struct frame *f, FILE *to)
{
	double right = f->x + WIDTH - RIGHT, tick = f->top / TICKS;
	char number[24];

	for (int i = 0; i <= TICKS; i++) {
		double y = y_at(f, tick * i);

		fprintf(to,
		    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
		    "stroke=\"#ccc\"/>\n",
		    f->x + LEFT, y, right, y);
		snprintf(number, sizeof(number), "%g", tick * i);
		text(to, f->x + LEFT - 4, y + 3, "end", number);
	}
	for (size_t i = 0; i < f->p->points; i++)
		text(to, x_at(f, i), f->y + HEIGHT - BOTTOM + 12, "middle",
		    f->p->x[i]);
	text(to, f->x + (LEFT + WIDTH) / 2, f->y + HEIGHT - 10, "middle",
	    f->p->x_title);
	text(to, f->x + LEFT, f->y + TOP - 6, "end", f->p->y_title);
	text(to, f->x + (LEFT + WIDTH) / 2, f->y + TOP - 8, "middle",
	    f->p->title);
}

static void
line(const struct frame *f, size_t row, FILE *to)
{
	const struct plot_row *r = &f->p->rows[row];

	fprintf(to,
	    "<polyline fill=\"none\" stroke=\"%s\" "
	    "stroke-width=\"2\" points=\"",
	    colours[row]);
	for (size_t i = 0; i < f->p->points; i++)
		if (r->y[i] > 0)
			fprintf(to, "%.1f,%.1f ", x_at(f, i), y_at(f, r->y[i]));
	fprintf(to, "\"/>\n");
	for (size_t i = 0; i < f->p->points; i++)
		if (r->y[i] > 0)
			fprintf(to,
			    "<circle cx=\"%.1f\" cy=\"%.1f\" "
			    "r=\"2.5\" fill=\"%s\"/>\n",
			    x_at(f, i), y_at(f, r->y[i]), colours[row]);
}

static void
bars(const struct frame *f, size_t row, size_t at, size_t of, FILE *to)
{
	const struct plot_row *r = &f->p->rows[row];
	double width = f->step * 0.8 / (double)of;

	for (size_t i = 0; i < f->p->points; i++) {
		double y = y_at(f, r->y[i]);

		if (!(r->y[i] > 0))
			continue;
		fprintf(to,
		    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		    "height=\"%.1f\" fill=\"%s\"/>\n",
		    x_at(f, i) - f->step * 0.4 + width * (double)at, y, width,
		    y_at(f, 0) - y, colours[row]);
	}
}

static void
panel(const struct plot_panel *p, double x, double y, FILE *to)
{
	struct frame f = { .p = p, .x = x, .y = y };
	size_t of = 0, at = 0;

	f.top = TICKS * tick_of(most_of(p));
	f.step = (WIDTH - LEFT - RIGHT) / (double)p->points;
	axes(&f, to);
	for (size_t r = 0; r < p->rows_count; r++)
		of += !p->rows[r].line;
	for (size_t r = 0; r < p->rows_count; r++)
		if (!p->rows[r].line)
			bars(&f, r, at++, of, to);
	for (size_t r = 0; r < p->rows_count; r++)
		if (p->rows[r].line)
			line(&f, r, to);
}

static void
legend(const struct plot_panel *p, double y, FILE *to)
{
	double x = LEFT;

	for (size_t r = 0; r < p->rows_count; r++) {
		fprintf(to,
		    "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"%d\" "
		    "fill=\"%s\"/>\n",
		    x, p->rows[r].line ? y - 5 : y - 9,
		    p->rows[r].line ? 3 : 10, colours[r]);
		text(to, x + 14, y, "start", p->rows[r].name);
		x += 110;
	}
}

void
plot_draw(const struct plot_panel *panels, size_t count, size_t in_row,
    const char *caption, FILE *to)
{
	size_t rows = (count + in_row - 1) / in_row;
	double width = WIDTH * (double)in_row;
	double height = CAPTION + HEIGHT * (double)rows + LEGEND;

	if (width < 110.0 * (double)panels[0].rows_count + LEFT)
		width = 110.0 * (double)panels[0].rows_count + LEFT;
	fprintf(to,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
	    "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"10\">\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
	    width, height);
	text(to, LEFT, CAPTION - 6, "start", caption);
	for (size_t i = 0; i < count; i++)
		panel(&panels[i], WIDTH * (double)(i % in_row),
		    CAPTION + HEIGHT * (double)(i / in_row), to);
	legend(&panels[0], height - 8, to);
	fprintf(to, "</svg>\n");
}
