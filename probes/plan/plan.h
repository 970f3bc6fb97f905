/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - the exact list of the transfers of a probe.
 *
 * A plan is data. Ranks have named buffers; transfers copy a range of a buffer
 * of one rank into a range of a buffer of another; local operations copy or
 * reduce within a rank. Each belongs to a step. On every rank, and without any
 * global barrier:
 *
 *   - the transfers of a step, its own sends and receives, run at once;
 *   - the local operations of the step follow them, also at once;
 *   - then comes the next step of the same channel.
 *
 * Channels are pipelines: a rank need not finish a step of one before it starts
 * a later step of another, except where buffer ranges overlap and one of the
 * two writes. Those dependencies are computed (rank_graph.h), never stated, and
 * two accesses that overlap at the same time are an error (check.h), so that
 * the result of a plan does not depend on how an executor overlaps its
 * channels.
 *
 * Offsets and sizes are bytes, 64 bits wide. The struct is open for readers;
 * only the functions here change it. Allocation never fails softly: callers
 * bound a plan with PLAN_TRANSFERS_MAX before they build it. No locking.
 */
#ifndef PROBES_PLAN_PLAN_H
#define PROBES_PLAN_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PLAN_RANKS_MAX     65536
#define PLAN_TRANSFERS_MAX 100000000ULL /* 4.8 GB of list */
#define PLAN_BYTES_MAX     (1ULL << 62) /* size of a buffer: sums stay in range */

/* The transport of a transfer: how its bytes move. */
enum plan_via {
	PLAN_VIA_MPI,
	PLAN_VIA_RMA,
	PLAN_VIA_IPC, /* put or get, as the executor finds better */
	PLAN_VIA_IPC_PUT,
	PLAN_VIA_IPC_GET,
	PLAN_VIA_XCCL,
	PLAN_VIA_AUTO, /* replaced by plan_choose_vias before the plan runs */
	PLAN_VIA_MAX
};
extern const char *const plan_vias[PLAN_VIA_MAX];

/* The type of the elements of a reduction. */
enum plan_type {
	PLAN_INT32,
	PLAN_INT64,
	PLAN_FLOAT,
	PLAN_DOUBLE,
	PLAN_HALF,
	PLAN_BFLOAT16,
	PLAN_BYTE, /* can be copied, but not reduced */
	PLAN_TYPE_MAX
};
/* The properties of a type. */
struct plan_type_row {
	const char *name;
	unsigned bytes; /* size of an element */
};
extern const struct plan_type_row plan_types[PLAN_TYPE_MAX];

/* The operation of a local operation on its inputs. */
enum plan_op {
	PLAN_COPY, /* has one input */
	PLAN_SUM,
	PLAN_PROD,
	PLAN_MIN,
	PLAN_MAX,
	PLAN_LAND,
	PLAN_LOR,
	PLAN_OP_MAX
};
extern const char *const plan_ops[PLAN_OP_MAX];

/* The contents of a buffer before the plan runs, and the contents that are
 * valid after. */
enum plan_role {
	PLAN_IN,   /* the user's data, unchanged except for promised ranges */
	PLAN_OUT,  /* empty before; exactly the promised bytes after */
	PLAN_TEMP, /* empty before; anything after */
};

/* A buffer, which can have another size on each rank. */
struct plan_buf {
	char *name;
	enum plan_role role;
	uint8_t on_host; /* in pinned memory of the host, not on the device */
	uint64_t *bytes; /* size on each rank; 0: the rank has none */
};

/* A transfer of bytes from rank src to rank dst: from buffer number `from` at
 * from_off, to buffer number `to` at to_off. Offsets are bytes. */
struct plan_transfer {
	uint64_t from_off, to_off;
	uint64_t bytes; /* > 0 */
	uint32_t src, dst;
	uint32_t step;
	uint16_t from, to; /* buffers */
	uint16_t channel;
	uint8_t via; /* enum plan_via */
};

/* A place in a buffer of a rank; off is in bytes. */
struct plan_place {
	uint64_t off;
	uint16_t buf;
};

/* A local operation: range [to_off, to_off + bytes) of buffer `to` becomes op
 * of the inputs, in their order. */
struct plan_local {
	uint64_t to_off;
	uint64_t bytes;  /* > 0, whole elements of type */
	size_t input;    /* position of the first input in plan.inputs */
	uint32_t inputs; /* number of inputs */
	uint32_t rank;
	uint32_t step;
	uint16_t to;
	uint16_t channel;
	uint8_t op;   /* enum plan_op */
	uint8_t type; /* enum plan_type */
};

/* Ranks lo to hi - 1; for a source also the buffer and the offset at which
 * their data starts. */
struct plan_span {
	uint32_t lo, hi;
};
struct plan_source {
	uint64_t off;
	uint32_t lo, hi;
	uint16_t buf;
};

/* A promise: at the end, `bytes` bytes at to_off of buffer `to`, on every rank
 * of the spans, are the initial bytes of the only source (op PLAN_COPY), or op
 * over the initial bytes of all sources. */
struct plan_promise {
	uint64_t to_off, bytes;
	/* Position of the first one in plan.spans and plan.sources. */
	size_t span, source;
	uint32_t spans, sources;
	uint16_t to;
	uint8_t op, type;
};

/* A number that the probe reports with its result, such as "footprint". */
struct plan_note {
	char *name;
	const char *unit;
	uint64_t value; /* the number, if it is whole */
	double real;    /* the number, if is_real is 1 */
	int is_real;
};

/* A plan. The lists have count used entries of cap. */
struct plan {
	char *title; /* the probe with the options that the user gave */
	uint32_t ranks;
	uint32_t steps; /* 1 + the last step that is used */
	/* Transport mpi cuts longer messages into pieces of this many bytes. 0:
	 * it cuts only messages that MPI cannot send whole. */
	uint64_t piece_bytes;
	struct plan_buf *bufs;
	uint32_t bufs_count;
	struct plan_transfer *transfers;
	size_t transfers_count, transfers_cap;
	struct plan_local *locals;
	size_t locals_count, locals_cap;
	struct plan_place *inputs;
	size_t inputs_count, inputs_cap;
	struct plan_promise *promises;
	size_t promises_count, promises_cap;
	struct plan_span *spans;
	size_t spans_count, spans_cap;
	struct plan_source *sources;
	size_t sources_count, sources_cap;
	char *remark; /* an explanation for people; NULL: none */
	struct plan_note *notes;
	size_t notes_count, notes_cap;
};

/* Return an empty plan, which the caller frees; title is copied. 1 <= ranks <=
 * PLAN_RANKS_MAX. */
struct plan *plan_new(uint32_t ranks, const char *title);
void plan_free(struct plan *p); /* p can be NULL */

/* Add a buffer with this name, of 0 bytes on every rank. Return its number. */
uint16_t plan_buf_add(struct plan *p, const char *name, enum plan_role role);
/* Place the buffer in pinned host memory of its rank. */
void plan_buf_on_host(struct plan *p, uint16_t buf);
/* Enlarge the buffer on this rank to at least this many bytes. */
void plan_buf_need(struct plan *p, uint16_t buf, uint32_t rank, uint64_t bytes);

/* Append the transfer t. The buffers must already be large enough. A transfer
 * of 0 bytes is ignored. */
void plan_transfer_add(struct plan *p, const struct plan_transfer *t);
/* Replace PLAN_VIA_AUTO: by `within` in transfers between ranks of one node, by
 * `across` in all others. nodes: number of the node of each rank; NULL: each
 * rank is on a node of its own. */
void plan_choose_vias(struct plan *p, const int *nodes, enum plan_via within,
    enum plan_via across);
/* Append the local operation l with its inputs; the function sets l->input and
 * l->inputs in the copy. */
void plan_local_add(struct plan *p, const struct plan_local *l,
    const struct plan_place *inputs, uint32_t inputs_count);
/* Append a promise with its spans and sources; the function sets the members
 * span, spans, source and sources in the copy. */
void plan_promise_add(struct plan *p, const struct plan_promise *m,
    const struct plan_span *spans, uint32_t spans_count,
    const struct plan_source *sources, uint32_t sources_count);
/* Append the usual promise: the range of one rank is a copy of another rank's
 * range, as in the transfer t. */
void plan_promise_copy(struct plan *p, const struct plan_transfer *t);
/* Append a number; name is copied, unit must stay valid. */
void plan_note_add(struct plan *p, const char *name, const char *unit,
    uint64_t value);
void plan_note_real(struct plan *p, const char *name, const char *unit,
    double value);

/* Replace the remark of the plan (printf format). */
void plan_remark(struct plan *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Sort the rows into the order of a listing: transfers by step, src, dst, name
 * of `to`, to_off; local operations by step, rank, name of `to`, to_off. */
void plan_sort(struct plan *p);

/* Return the bytes of all transfers together, including those from a rank to
 * itself. */
uint64_t plan_volume(const struct plan *p);

/* Return the offset of piece i if count is cut into parts as equal as possible,
 * the longer ones first. Piece i is [plan_cut(i), plan_cut(i + 1)). */
uint64_t plan_cut(uint64_t count, uint64_t parts, uint64_t i);
/* Return the offset at which the share acc of sum ends in a message of this
 * many bytes: the last multiple of unit that is not beyond it, or the end of
 * the message if acc is sum. Unlike with plan_cut, any of the pieces can be the
 * longer ones. */
uint64_t plan_cut_share(uint64_t bytes, uint64_t unit, uint64_t acc,
    uint64_t sum);

#endif
