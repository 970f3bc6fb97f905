/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.c - coalmine-figures FOLDER: the figures of the papers, from
 * predictions, as SVG files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "tests/figures/plot.h"
#include "tests/figures/series.h"

static void
draw_profiles(FILE *to)
{
	struct plot_panel panels[SERIES_PROFILES];

	memset(panels, 0, sizeof(panels));
	for (size_t i = 0; i < SERIES_PROFILES; i++) {
		const struct series_profile *p = &series_profiles[i];
		struct plot_panel *pp = &panels[i];

		snprintf(pp->title, sizeof(pp->title), "%s, %s", p->machine,
		    p->pattern);
		pp->x_title = "k, active devices of a node";
		pp->y_title = "GB/s";
		pp->points = p->devices;
		pp->rows_count = 2;
		pp->rows[0].name = "predicted";
		pp->rows[1].name = "eqs. 1 and 2";
		pp->rows[1].line = 1;
		for (uint32_t k = 1; k <= p->devices; k++) {
			snprintf(pp->x[k - 1], sizeof(pp->x[0]), "%u", k);
			pp->rows[0].y[k - 1] = series_profile_gb_per_s(p, k);
			pp->rows[1].y[k - 1] = series_profile_model(p, k);
		}
	}
	plot_draw(panels, SERIES_PROFILES, 3,
	    "Bandwidth between two nodes (as CommBench, Figure 10)", to);
}

static void
draw_order(FILE *to)
{
	static const char *const names[SERIES_COLLECTIVES] = { "bcast", "red.",
		"gath.", "scat.", "allg.", "r-s", "allr.", "a2a" };
	struct plot_panel panels[SERIES_SYSTEMS];

	memset(panels, 0, sizeof(panels));
	for (size_t i = 0; i < SERIES_SYSTEMS; i++) {
		const struct series_system *s = &series_systems[i];
		struct plot_panel *pp = &panels[i];

		snprintf(pp->title, sizeof(pp->title), "%s, four nodes",
		    s->machine);
		pp->x_title = "";
		pp->y_title = "GB/s";
		pp->points = SERIES_COLLECTIVES;
		pp->rows_count = SERIES_STEPS + 1;
		pp->rows[SERIES_STEPS].name = "Table III";
		pp->rows[SERIES_STEPS].line = 1;
		for (int k = 0; k < SERIES_STEPS; k++)
			pp->rows[k].name = series_steps[k];
		for (int c = 0; c < SERIES_COLLECTIVES; c++) {
			const char *name = series_collectives[c];

			snprintf(pp->x[c], sizeof(pp->x[0]), "%s", names[c]);
			for (int k = 0; k < SERIES_STEPS; k++)
				pp->rows[k].y[c] = series_collective_gb_per_s(s,
				    name, (enum series_step)k);
			pp->rows[SERIES_STEPS].y[c] = series_collective_bound(s,
			    name);
		}
	}
	plot_draw(panels, SERIES_SYSTEMS, 2,
	    "Throughput of collectives, buffers of 1 GiB (as HiCCL, Figure 8)",
	    to);
}

static void
depth_row(struct plot_panel *pp, const struct series_curve *c, uint64_t bytes,
    const char *name)
{
	struct plot_row *row = &pp->rows[pp->rows_count++];

	row->name = name;
	row->line = 1;
	for (uint32_t i = 0; i < SERIES_DEPTHS; i++)
		row->y[i] = series_depth_gb_per_s(c, bytes, 1U << i);
}

static void
draw_depth(FILE *to)
{
	struct plot_panel panels[SERIES_CURVES];

	memset(panels, 0, sizeof(panels));
	for (size_t i = 0; i < SERIES_CURVES; i++) {
		const struct series_curve *c = &series_curves[i];
		struct plot_panel *pp = &panels[i];

		snprintf(pp->title, sizeof(pp->title), "%s, %s", c->collective,
		    c->ring ? "ring and tree" : "tree");
		pp->x_title = "pipeline depth";
		pp->y_title = "GB/s";
		pp->points = SERIES_DEPTHS;
		for (uint32_t d = 0; d < SERIES_DEPTHS; d++)
			snprintf(pp->x[d], sizeof(pp->x[0]), "%u", 1U << d);
		depth_row(pp, c, 1 << 20, "1 MiB");
		depth_row(pp, c, 1 << 25, "32 MiB");
		depth_row(pp, c, 1 << 28, "256 MiB");
		depth_row(pp, c, 1 << 30, "1 GiB");
	}
	plot_draw(panels, SERIES_CURVES, 2,
	    "Throughput on four nodes of perlmutter by buffer and depth (as "
	    "HiCCL, Figure 9)",
	    to);
}

static void
draw_ring(FILE *to)
{
	static const char *const shapes[] = { "hierarchy=2,2,4 via=mpi,mpi,ipc",
		"hierarchy=4,4 ring=4 via=mpi,ipc" };
	struct plot_panel pp = { .title = "broadcast of 1 GiB, striped",
		.x_title = "pipeline depth",
		.y_title = "GB/s",
		.points = SERIES_DEPTHS,
		.rows_count = 2,
		.rows = { { .name = "tree", .line = 1 },
		    { .name = "ring", .line = 1 } } };

	for (uint32_t d = 0; d < SERIES_DEPTHS; d++) {
		char probe[160];

		snprintf(pp.x[d], sizeof(pp.x[0]), "%u", 1U << d);
		for (int k = 0; k < 2; k++) {
			snprintf(probe, sizeof(probe),
			    "collective name=broadcast type=float "
			    "count=16777216 stripe=4 depth=%u %s",
			    1U << d, shapes[k]);
			pp.rows[k].y[d] = series_gb_per_s("perlmutter", probe);
		}
	}
	plot_draw(&pp, 1, 1, "Ring and tree on four nodes of perlmutter", to);
}

static void
draw_scale(FILE *to)
{
	struct plot_panel pp = { .title = "all-reduce of 8 GiB",
		.x_title = "nodes",
		.y_title = "GB/s",
		.points = SERIES_SCALES,
		.rows_count = 2,
		.rows = { { .name = "predicted" },
		    { .name = "Table III", .line = 1 } } };

	for (uint32_t i = 0; i < SERIES_SCALES; i++) {
		snprintf(pp.x[i], sizeof(pp.x[0]), "%u", 2U << i);
		pp.rows[0].y[i] = series_scale_gb_per_s(2U << i);
		pp.rows[1].y[i] = series_scale_bound(2U << i);
	}
	plot_draw(&pp, 1, 1, "Weak scaling on perlmutter (as HiCCL, Figure 10)",
	    to);
}

static const struct {
	const char *name;
	void (*draw)(FILE *to);
} figures[] = {
	{ "profiles", draw_profiles },
	{ "order", draw_order },
	{ "depth", draw_depth },
	{ "ring", draw_ring },
	{ "scale", draw_scale },
};

int
main(int argc, char **argv)
{
	char path[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: coalmine-figures FOLDER\n");
		return 3;
	}
	for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
		FILE *to;

		snprintf(path, sizeof(path), "%s/%s.svg", argv[1],
		    figures[i].name);
		to = fopen(path, "w");
		if (to == NULL) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return 3;
		}
		figures[i].draw(to);
		if (fclose(to) != 0)
			return 1;
	}
	return 0;
}
