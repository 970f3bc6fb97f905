/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - DEVICE CASE [BYTES [LIMIT [SHARE]]]: one case on one GPU through the
 * shipped plugin, every result verified. A line for the table of RESULTS.md:
 * "what|seen|share of the limit|". LIMIT is in bytes a second (0: not known),
 * SHARE what must be reached of it.
 *
 * Exit status: 0 good, 1 wrong data, an error or too slow, 77 no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/str.h"
#include "probes/device/host_reduce.h"
#include "probes/transport/xccl_lib.h"
#include "tests/gpu/card.h"

#define LIMIT_S 120 /* of a case: NCCL may hang where it is not meant to be */
#define ROUNDS  20

#define INPUTS_MAX 4

/* ---- cases ---- */

static void
case_facts(void)
{
	struct device_facts f;

	card_must(card.ops->facts(card.device, &f), "facts");
	printf("device|%s %s, %.1f GB, rated %.0f GB/s|-|\n", f.pci, f.name,
	    (double)f.memory_bytes / 1e9, f.memory_bytes_per_s / 1e9);
}

static void
case_copy(void)
{
	void *a = card_alloc(card.bytes), *b = card_alloc(card.bytes);
	uint64_t start = 0;

	card_fill(a, card.bytes, 1);
	for (int i = -3; i < ROUNDS; i++) {
		if (i == 0) {
			card_must(card.ops->stream_sync(card.stream),
			    "copying");
			start = clk_ns();
		}
		card_must(card.ops->copy(card.stream, b, a, card.bytes),
		    "copying");
	}
	card_must(card.ops->stream_sync(card.stream), "copying");
	start = clk_ns() - start;
	card_expect(b, card.bytes, 1, "copy");
	card_report("self copy, bytes read and written",
	    2.0 * ROUNDS * (double)card.bytes * 1e9 / (double)start);
}

/* Random bits: every NaN, infinity and number too small to be normal. */
static void
compare_with_host(enum plan_op op, enum plan_type type, uint32_t inputs,
    void *const *there, void *to)
{
	uint64_t size = card.bytes < CARD_PIECE_BYTES ? card.bytes
						      : CARD_PIECE_BYTES;
	uint64_t n = size / plan_types[type].bytes - 3; /* and a rest */
	void *here[INPUTS_MAX], *got = card_host_alloc(size),
				*want = card_host_alloc(size);

	for (uint32_t k = 0; k < inputs; k++) {
		here[k] = card_host_alloc(size);
		card_randomise(here[k], size, k + 1);
	}
	card_must(card.ops->reduce(card.stream, op, type, to,
		      (const void *const *)there, inputs, n),
	    "reducing");
	card_must(card.ops->copy(card.stream, got, to, size), "reducing");
	card_must(card.ops->stream_sync(card.stream), "reducing");
	host_reduce(op, type, want, (const void *const *)here, inputs, n);
	if (memcmp(got, want, n * plan_types[type].bytes) != 0) {
		fprintf(stderr, "%s of %s differs from the host's\n",
		    plan_ops[op], plan_types[type].name);
		exit(1);
	}
	for (uint32_t k = 0; k < inputs; k++)
		card.ops->host_free(card.device, here[k]);
	card.ops->host_free(card.device, got);
	card.ops->host_free(card.device, want);
}

static double
time_reduce(enum plan_op op, enum plan_type type, uint32_t inputs,
    void *const *there, void *to)
{
	uint64_t n = card.bytes / plan_types[type].bytes, start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			card_must(card.ops->stream_sync(card.stream),
			    "reducing");
			start = clk_ns();
		}
		card_must(card.ops->reduce(card.stream, op, type, to,
			      (const void *const *)there, inputs, n),
		    "reducing");
	}
	card_must(card.ops->stream_sync(card.stream), "reducing");
	return (inputs + 1.0) * ROUNDS * (double)card.bytes * 1e9 /
	    (double)(clk_ns() - start);
}

static void
case_reduce(void)
{
	void *in[INPUTS_MAX], *to = card_alloc(card.bytes);
	char what[100];

	for (uint64_t k = 0; k < INPUTS_MAX; k++) {
		in[k] = card_alloc(card.bytes);
		card_fill(in[k], card.bytes, k + 1);
	}
	for (int type = 0; type < PLAN_BYTE; type++)
		for (int op = PLAN_SUM; op < PLAN_OP_MAX; op++)
			for (uint32_t n = 2; n <= INPUTS_MAX; n += 2) {
				compare_with_host(op, type, n, in, to);
				snprintf(what, sizeof(what),
				    "%s of %s, %u inputs, bit for bit the "
				    "host's",
				    plan_ops[op], plan_types[type].name, n);
				card_report(what,
				    time_reduce(op, type, n, in, to));
			}
}

/* ---- two processes ---- */

/* Run the owner: the other process reads and overwrites its memory. */
static void
case_ipc(void)
{
	void *mine = card_alloc(card.bytes);
	struct device_ipc handle;
	double rates[2];
	struct card_other o = card_other_start("ipc-other", NULL);

	card_fill(mine, card.bytes, 11);
	card_must(card.ops->ipc_export(card.device, mine, &handle),
	    "exporting");
	card_tell(o.to, &handle, sizeof(handle));
	card_hear(o.from, rates, sizeof(rates));
	card_expect(mine, card.bytes, 12, "put by the other process");
	card_other_end(&o);
	card_report("IPC get between two processes, bytes read and written",
	    rates[0]);
	card_report("IPC put between two processes, bytes read and written",
	    rates[1]);
}

static double
time_copy(void *to, const void *from)
{
	uint64_t start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			card_must(card.ops->stream_sync(card.stream),
			    "copying");
			start = clk_ns();
		}
		card_must(card.ops->copy(card.stream, to, from, card.bytes),
		    "copying");
	}
	card_must(card.ops->stream_sync(card.stream), "copying");
	return 2.0 * ROUNDS * (double)card.bytes * 1e9 /
	    (double)(clk_ns() - start);
}

static void
case_ipc_other(void)
{
	void *mine = card_alloc(card.bytes), *theirs;
	struct device_ipc handle;
	double rates[2];

	card_hear(0, &handle, sizeof(handle));
	card_must(card.ops->ipc_open(card.device, &handle, &theirs), "opening");
	rates[0] = time_copy(mine, theirs);
	card_expect(mine, card.bytes, 11, "got from the other process");
	card_fill(mine, card.bytes, 12);
	rates[1] = time_copy(theirs, mine);
	card_must(card.ops->ipc_close(card.device, theirs), "closing");
	card_tell(1, rates, sizeof(rates));
}

/* ---- NCCL ---- */

static const struct xccl_lib *lib;

static void
xccl_must(int result, const char *what)
{
	if (result == XCCL_SUCCESS || result == XCCL_IN_PROGRESS)
		return;
	fprintf(stderr, "%s: %s\n", what, lib->error_string(result));
	exit(1);
}

static void *
join(int ranks, int rank, struct xccl_id id)
{
	void *comm = NULL;

	xccl_must(lib->comm_init_rank(&comm, ranks, id, rank), "joining");
	return comm;
}

static double
exchange(void *comm, int peer, void *to, const void *from)
{
	uint64_t start = 0;

	for (int i = -2; i < ROUNDS; i++) {
		if (i == 0) {
			card_must(card.ops->stream_sync(card.stream),
			    "exchanging");
			start = clk_ns();
		}
		xccl_must(lib->group_start(), "a group");
		xccl_must(lib->recv(to, card.bytes, XCCL_UINT8, peer, comm,
			      card.ops->stream_native(card.stream)),
		    "receiving");
		xccl_must(lib->send(from, card.bytes, XCCL_UINT8, peer, comm,
			      card.ops->stream_native(card.stream)),
		    "sending");
		xccl_must(lib->group_end(), "a group");
	}
	card_must(card.ops->stream_sync(card.stream), "exchanging");
	return ROUNDS * (double)card.bytes * 1e9 / (double)(clk_ns() - start);
}

static void
open_lib(void)
{
	struct err err;

	if (xccl_lib_open(card.ops->name, &lib, &err) == 0)
		return;
	printf("skipped: %s\n", err.text);
	exit(77);
}

static void
case_xccl_self(void)
{
	void *a = card_alloc(card.bytes), *b = card_alloc(card.bytes), *comm;
	struct xccl_id id;
	char what[64];
	double rate;

	open_lib();
	card_fill(a, card.bytes, 21);
	xccl_must(lib->get_unique_id(&id), "an id");
	comm = join(1, 0, id);
	rate = exchange(comm, 0, b, a);
	card_expect(b, card.bytes, 21, "sent to itself");
	lib->comm_destroy(comm);
	snprintf(what, sizeof(what), "%s %d to itself", lib->name,
	    lib->version);
	card_report(what, rate);
}

/* Two ranks on one GPU act as two nodes and use sockets: only the data are
 * checked. */
static void
pair(int rank, struct xccl_id id, double *ret_rate)
{
	void *a = card_alloc(card.bytes), *b = card_alloc(card.bytes), *comm;

	card_fill(a, card.bytes, 31 + (uint64_t)rank);
	comm = join(2, rank, id);
	*ret_rate = exchange(comm, 1 - rank, b, a);
	card_expect(b, card.bytes, 31 + (uint64_t)(1 - rank),
	    "sent by the other rank");
	lib->comm_destroy(comm);
}

static void
case_xccl_pair(void)
{
	struct xccl_id id;
	struct card_other o;
	double rate;

	open_lib();
	setenv("NCCL_HOSTID", "coalmine-a", 1);
	o = card_other_start("xccl-pair-other", "coalmine-b");
	xccl_must(lib->get_unique_id(&id), "an id");
	card_tell(o.to, &id, sizeof(id));
	pair(0, id, &rate);
	card_other_end(&o);
	card_report("NCCL between two processes with host ids of their own",
	    rate);
}

static void
case_xccl_pair_other(void)
{
	struct xccl_id id;
	double rate;

	open_lib();
	card_hear(0, &id, sizeof(id));
	pair(1, id, &rate);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "facts", case_facts },
	{ "copy", case_copy },
	{ "reduce", case_reduce },
	{ "ipc", case_ipc },
	{ "ipc-other", case_ipc_other },
	{ "overlap", overlap_case },
	{ "chunks", chunks_case },
	{ "chunks-ipc", chunks_ipc_case },
	{ "chunks-ipc-other", chunks_ipc_other_case },
	{ "xccl-self", case_xccl_self },
	{ "xccl-pair", case_xccl_pair },
	{ "xccl-pair-other", case_xccl_pair_other },
};

static void
open_device(void)
{
	struct err err = { 0 };

	if (device_find(card.name, &card.ops, &err) < 0 ||
	    card.ops->open(0, &card.device, &err) < 0) {
		printf("skipped: %s\n", err.text);
		exit(77);
	}
	card_must(card.ops->stream_new(card.device, &card.stream), "a stream");
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 3;
	card.program = argv[0];
	card.name = argv[1];
	if (argc > 3)
		card.bytes = strtoull(argv[3], NULL, 10);
	if (argc > 5) {
		card.limit = strtod(argv[4], NULL);
		card.share_wanted = strtod(argv[5], NULL);
	}
	alarm(LIMIT_S);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (strcmp(cases[i].name, argv[2]) != 0)
			continue;
		open_device();
		cases[i].run();
		fflush(stdout);
		/* Closing the device frees its remaining memory. */
		card.ops->stream_free(card.stream);
		card.ops->close(card.device);
		return card.too_slow;
	}
	fprintf(stderr, "no case %s\n", argv[2]);
	return 3;
}
