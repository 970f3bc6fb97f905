/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.c - the paths of a multi-path copy on one card, by the number of
 * chunks: the cost of a chunk on each path, and the number of chunks from which
 * the two halves of the path through the host overlap.
 */
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/str.h"
#include "tests/gpu/card.h"

#define CHUNKS_MAX  64
#define ROUNDS      5
#define STREAMS_MAX 4

static const uint32_t counts[] = { 1, 2, 4, 8, 16, 32, 64 };
static const uint32_t streams[] = { 1, STREAMS_MAX };

/* Buffers of a path; the stage is pinned memory of the host. */
struct way {
	char *from, *to, *stage;
	struct device_stream *streams[STREAMS_MAX]; /* the first two: out, in */
	struct device_event *staged[CHUNKS_MAX];
};

/* Copy lo to hi in chunks over this many streams, the last ones: the first two
 * may be in use. */
static void
direct(struct way *w, uint64_t lo, uint64_t hi, uint32_t chunks, uint32_t over)
{
	for (uint32_t i = 0; i < chunks; i++) {
		uint64_t a = lo + plan_cut(hi - lo, chunks, i);
		uint64_t b = lo + plan_cut(hi - lo, chunks, i + 1);

		card_must(card.ops->copy(w->streams[STREAMS_MAX - 1 - i % over],
			      w->to + a, w->from + a, b - a),
		    "copying");
	}
}

/* Each chunk out to the host, and in again as soon as it is there. */
static void
staged(struct way *w, uint64_t lo, uint64_t hi, uint32_t chunks)
{
	struct device_stream *out = w->streams[0], *in = w->streams[1];

	for (uint32_t i = 0; i < chunks; i++) {
		uint64_t a = lo + plan_cut(hi - lo, chunks, i);
		uint64_t b = lo + plan_cut(hi - lo, chunks, i + 1);

		card_must(card.ops->copy(out, w->stage + a, w->from + a, b - a),
		    "copying to the host");
		card_must(card.ops->event_record(w->staged[i], out),
		    "copying to the host");
		card_must(card.ops->stream_wait(in, w->staged[i]),
		    "copying from the host");
		card_must(card.ops->copy(in, w->to + a, w->stage + a, b - a),
		    "copying from the host");
	}
}

/* Wait for the last stream first. Streams of a stand-in advance only when they
 * are queried, so this order detects a missing wait between streams there
 * too. */
static void
settle(struct way *w)
{
	for (size_t i = STREAMS_MAX; i > 0; i--)
		card_must(card.ops->stream_sync(w->streams[i - 1]), "copying");
}

/* Copy `host` bytes through the host, in chunks, and the others directly: in
 * chunks over `over` streams if host is 0, otherwise as one. */
static void
move(struct way *w, uint64_t host, uint32_t chunks, uint32_t over)
{
	if (host > 0)
		staged(w, 0, host, chunks);
	if (host < card.bytes)
		direct(w, host, card.bytes, host > 0 ? 1 : chunks, over);
	settle(w);
}

/* Copy again into cleared memory, and verify the result. */
static void
prove(struct way *w, uint64_t host, uint32_t chunks, uint32_t over)
{
	if (w->stage != NULL)
		memset(w->stage, 0, card.bytes);
	card_must(card.ops->fill(card.stream, w->to, 0, card.bytes), "filling");
	card_must(card.ops->stream_sync(card.stream), "filling");
	move(w, host, chunks, over);
	card_expect(w->to, card.bytes, 51, "copied in chunks");
}

/* Bytes a second, each counted once. */
static double
rate(struct way *w, uint64_t host, uint32_t chunks, uint32_t over)
{
	uint64_t start_ns = 0, end_ns;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0)
			start_ns = clk_ns();
		move(w, host, chunks, over);
	}
	end_ns = clk_ns();
	prove(w, host, chunks, over);
	return ROUNDS * (double)card.bytes * 1e9 / (double)(end_ns - start_ns);
}

static void
way_open(struct way *w)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		card_must(card.ops->stream_new(card.device, &w->streams[i]),
		    "a stream");
	for (size_t i = 0; i < CHUNKS_MAX; i++)
		card_must(card.ops->event_new(card.device, &w->staged[i]),
		    "an event");
}

static void
way_close(struct way *w)
{
	for (size_t i = 0; i < STREAMS_MAX; i++)
		card.ops->stream_free(w->streams[i]);
	for (size_t i = 0; i < CHUNKS_MAX; i++)
		card.ops->event_free(w->staged[i]);
}

/* Measure all chunk counts of a path. Return the best rate. */
static double
sweep(struct way *w, uint64_t host, const char *name)
{
	double best = 0;

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		char what[100];
		double got;

		got = rate(w, host, counts[i], 1);
		snprintf(what, sizeof(what), "%s in %u chunks", name,
		    counts[i]);
		card_report(what, got);
		best = got > best ? got : best;
	}
	return best;
}

/* Both paths concurrently. They share the bytes by their separate rates, so
 * that they end together if neither slows the other down. */
static void
together(struct way *w, double direct_rate, double host_rate)
{
	double share = host_rate / (direct_rate + host_rate);
	uint64_t host = (uint64_t)(share * (double)card.bytes);
	char what[100];
	double got;

	got = rate(w, host, 16, STREAMS_MAX);
	snprintf(what, sizeof(what),
	    "both at once, %.1f %% through the host in 16 chunks", share * 100);
	card_report(what, got);
}

void
chunks_case(void)
{
	struct way w = { .from = card_alloc(card.bytes),
		.to = card_alloc(card.bytes),
		.stage = card_host_alloc(card.bytes) };
	double direct_rate, host_rate;

	card_fill(w.from, card.bytes, 51);
	way_open(&w);
	direct_rate = sweep(&w, 0, "a copy on the card");
	host_rate = sweep(&w, card.bytes, "a copy through pinned memory");
	together(&w, direct_rate, host_rate);
	way_close(&w);
	card.ops->host_free(card.device, w.stage);
}

/* ---- between two processes ---- */

typedef double rates_table[ARRAY_LEN(streams)][ARRAY_LEN(counts)];

/* Run the owner of the memory; the other process copies it. */
void
chunks_ipc_case(void)
{
	struct card_other o = card_other_start("chunks-ipc-other", NULL);
	void *mine = card_alloc(card.bytes);
	struct device_ipc handle;
	rates_table rates;
	char what[100];

	card_fill(mine, card.bytes, 51);
	card_must(card.ops->ipc_export(card.device, mine, &handle),
	    "exporting");
	card_tell(o.to, &handle, sizeof(handle));
	card_hear(o.from, rates, sizeof(rates));
	card_other_end(&o);
	for (size_t k = 0; k < ARRAY_LEN(streams); k++)
		for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
			snprintf(what, sizeof(what),
			    "IPC get in %u chunks over %u streams", counts[i],
			    streams[k]);
			card_report(what, rates[k][i]);
		}
}

void
chunks_ipc_other_case(void)
{
	struct way w = { .to = card_alloc(card.bytes) };
	struct device_ipc handle;
	rates_table rates;
	void *theirs;

	way_open(&w);
	card_hear(0, &handle, sizeof(handle));
	card_must(card.ops->ipc_open(card.device, &handle, &theirs), "opening");
	w.from = theirs;
	for (size_t k = 0; k < ARRAY_LEN(streams); k++)
		for (size_t i = 0; i < ARRAY_LEN(counts); i++)
			rates[k][i] = rate(&w, 0, counts[i], streams[k]);
	way_close(&w);
	card_must(card.ops->ipc_close(card.device, theirs), "closing");
	card_tell(1, rates, sizeof(rates));
}
