/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.c - measure whether reductions run concurrently with copies.
 *
 * Parts arrive on one stream, from pinned memory of the host as with a
 * transport, or from elsewhere on the card. Another stream reduces each part as
 * soon as it has arrived. Events before and after every operation give the
 * timeline: the host polls them and records their time. If all operations ran
 * in sequence, no reduction would overlap with a copy. At best only the
 * reduction of the last part does not overlap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/str.h"
#include "probes/device/host_reduce.h"
#include "tests/gpu/card.h"

#define PARTS   8
#define COLUMNS 60 /* of the timeline */

enum { COPY, REDUCE, LANES };
static const char *const lane_names[] = { "copy", "reduce" };

struct lane {
	struct device_stream *stream;
	struct device_event *events[2 * PARTS]; /* begin and end of each part */
	uint64_t at_ns[2 * PARTS];
};

struct overlap {
	void *from, *arrived, *mine, *to;
	struct lane lanes[LANES];
	int with[LANES];
};

static uint64_t
part_off(int part)
{
	return plan_cut(card.bytes / sizeof(int32_t), PARTS, (uint64_t)part) *
	    sizeof(int32_t);
}

static void
mark(struct lane *l, int event)
{
	card_must(card.ops->event_record(l->events[event], l->stream),
	    "recording");
}

static void
copy_part(struct overlap *o, int part)
{
	struct lane *l = &o->lanes[COPY];
	uint64_t off = part_off(part);

	mark(l, 2 * part);
	if (o->with[COPY])
		card_must(card.ops->copy(l->stream, (char *)o->arrived + off,
			      (char *)o->from + off, part_off(part + 1) - off),
		    "copying");
	mark(l, 2 * part + 1);
}

static void
reduce_part(struct overlap *o, int part)
{
	struct lane *l = &o->lanes[REDUCE];
	uint64_t off = part_off(part);
	const void *in[] = { (char *)o->mine + off, (char *)o->arrived + off };

	card_must(card.ops->stream_wait(l->stream,
		      o->lanes[COPY].events[2 * part + 1]),
	    "waiting for a copy");
	mark(l, 2 * part);
	if (o->with[REDUCE])
		card_must(card.ops->reduce(l->stream, PLAN_SUM, PLAN_INT32,
			      (char *)o->to + off, in, 2,
			      (part_off(part + 1) - off) / sizeof(int32_t)),
		    "reducing");
	mark(l, 2 * part + 1);
}

/* Record the time of each event of both lanes; a lane's events are in order. */
static void
watch(struct overlap *o)
{
	int next[LANES] = { 0 };

	while (next[COPY] < 2 * PARTS || next[REDUCE] < 2 * PARTS)
		for (int k = 0; k < LANES; k++) {
			struct lane *l = &o->lanes[k];
			int rc = next[k] == 2 * PARTS
			    ? 0
			    : card.ops->event_query(l->events[next[k]]);

			card_must(rc, "in a stream");
			if (rc == 1)
				l->at_ns[next[k]++] = clk_ns();
		}
}

/* Return the nanoseconds from the first to the last event. While the first lane
 * clears the destination, which takes some time, the host enqueues all other
 * operations. */
static uint64_t
run(struct overlap *o, int copies, int reductions)
{
	o->with[COPY] = copies;
	o->with[REDUCE] = reductions;
	card_must(card.ops->fill(o->lanes[COPY].stream, o->arrived, 0,
		      card.bytes),
	    "filling");
	for (int i = 0; i < PARTS; i++) {
		copy_part(o, i);
		reduce_part(o, i);
	}
	watch(o);
	return o->lanes[REDUCE].at_ns[2 * PARTS - 1] - o->lanes[COPY].at_ns[0];
}

/* Return the share of the reductions' time in which a copy was in progress. */
static double
beside(const struct overlap *o)
{
	const uint64_t *c = o->lanes[COPY].at_ns, *r = o->lanes[REDUCE].at_ns;
	uint64_t all_ns = 0, both_ns = 0;

	for (int i = 0; i < 2 * PARTS; i += 2) {
		all_ns += r[i + 1] - r[i];
		for (int k = 0; k < 2 * PARTS; k += 2) {
			uint64_t lo = r[i] > c[k] ? r[i] : c[k];
			uint64_t hi = r[i + 1] < c[k + 1] ? r[i + 1] : c[k + 1];

			both_ns += hi > lo ? hi - lo : 0;
		}
	}
	return all_ns > 0 ? (double)both_ns / (double)all_ns : 0;
}

/* ---- output ---- */

static void
print_lane(const struct overlap *o, int lane, FILE *to)
{
	uint64_t start_ns = o->lanes[COPY].at_ns[0];
	uint64_t all_ns = o->lanes[REDUCE].at_ns[2 * PARTS - 1] - start_ns + 1;

	for (int i = 0; i < PARTS; i++) {
		uint64_t lo_ns = o->lanes[lane].at_ns[2 * i] - start_ns;
		uint64_t hi_ns = o->lanes[lane].at_ns[2 * i + 1] - start_ns;
		char bar[COLUMNS + 1];

		memset(bar, ' ', COLUMNS);
		bar[COLUMNS] = '\0';
		for (uint64_t k = lo_ns * COLUMNS / all_ns;
		     k <= hi_ns * COLUMNS / all_ns; k++)
			bar[k] = '#';
		fprintf(to, "%-6s %d %9.3f %9.3f |%s|\n", lane_names[lane], i,
		    (double)lo_ns / CLK_NS_PER_MS,
		    (double)hi_ns / CLK_NS_PER_MS, bar);
	}
}

/* Into the file that the environment names, for RESULTS.md. */
static void
print_timeline(const struct overlap *o, const char *kind)
{
	const char *path = getenv("COALMINE_GPU_TIMELINE");
	FILE *to = path == NULL ? NULL : fopen(path, "ae");

	if (to == NULL)
		return;
	fprintf(to, "%s: copies %s; part, begin and end in ms\n", card.name,
	    kind);
	for (int lane = 0; lane < LANES; lane++)
		print_lane(o, lane, to);
	fputc('\n', to);
	fclose(to);
}

static void
expect_sums(const struct overlap *o)
{
	void *in[2], *want = card_host_alloc(CARD_PIECE_BYTES);

	for (uint64_t k = 0; k < ARRAY_LEN(in); k++) {
		in[k] = card_host_alloc(CARD_PIECE_BYTES);
		card_randomise(in[k], CARD_PIECE_BYTES, 41 + k);
	}
	host_reduce(PLAN_SUM, PLAN_INT32, want, (const void *const *)in, 2,
	    CARD_PIECE_BYTES / sizeof(int32_t));
	card_expect_piece(o->to, card.bytes, want, "reduced during copies");
	for (size_t k = 0; k < ARRAY_LEN(in); k++)
		card.ops->host_free(card.device, in[k]);
	card.ops->host_free(card.device, want);
}

/* After a warm-up measure copies and reductions alone, then both, which is the
 * result. */
static double
measure(struct overlap *o, const char *kind)
{
	uint64_t copies_ns, reductions_ns, both_ns;
	double share;

	run(o, 1, 1);
	copies_ns = run(o, 1, 0);
	reductions_ns = run(o, 0, 1);
	card_must(card.ops->fill(card.stream, o->to, 0, card.bytes), "filling");
	card_must(card.ops->stream_sync(card.stream), "filling");
	both_ns = run(o, 1, 1);
	share = beside(o);
	expect_sums(o);
	print_timeline(o, kind);
	printf("reductions during copies %s, %d parts of %.1f MiB|"
	       "copies alone %.3f ms, reductions alone %.3f ms, together "
	       "%.3f ms: %.0f %% of the reductions' time during a copy, "
	       "verified|-|\n",
	    kind, PARTS, (double)part_off(1) / (1 << 20),
	    (double)copies_ns / CLK_NS_PER_MS,
	    (double)reductions_ns / CLK_NS_PER_MS,
	    (double)both_ns / CLK_NS_PER_MS, share * 100);
	return share;
}

static void
lanes_open(struct overlap *o)
{
	for (int k = 0; k < LANES; k++) {
		struct lane *l = &o->lanes[k];

		card_must(card.ops->stream_new(card.device, &l->stream),
		    "a stream");
		for (int i = 0; i < 2 * PARTS; i++)
			card_must(card.ops->event_new(card.device,
				      &l->events[i]),
			    "an event");
	}
}

static void
lanes_close(struct overlap *o)
{
	for (int k = 0; k < LANES; k++) {
		for (int i = 0; i < 2 * PARTS; i++)
			card.ops->event_free(o->lanes[k].events[i]);
		card.ops->stream_free(o->lanes[k].stream);
	}
}

void
overlap_case(void)
{
	struct overlap o = { .from = card_host_alloc(card.bytes) };
	void *here = o.from;
	double share;

	o.arrived = card_alloc(card.bytes);
	o.mine = card_alloc(card.bytes);
	o.to = card_alloc(card.bytes);
	card_fill(o.mine, card.bytes, 41);
	card_fill(here, card.bytes, 42);
	lanes_open(&o);
	share = measure(&o, "from the host");
	if (share < card.share_wanted) {
		fprintf(stderr,
		    "%.0f %% of the reductions' time is during a "
		    "copy, expected %.0f %%\n",
		    share * 100, card.share_wanted * 100);
		card.too_slow = 1;
	}
	/* Both use the card's memory, so no share is required. */
	o.from = card_alloc(card.bytes);
	card_fill(o.from, card.bytes, 42);
	measure(&o, "on the card");
	lanes_close(&o);
	card.ops->host_free(card.device, here);
}
