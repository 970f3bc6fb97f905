/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_part.h - inside of check.h, for its own files: check.c follows the
 * bytes, check_rows.c looks at the rows by themselves, check_order.c at what
 * happens at one time, check_promise.c at what is there in the end.
 */
#ifndef PROBES_PLAN_CHECK_PART_H
#define PROBES_PLAN_CHECK_PART_H

#include "probes/plan/check.h"
#include "probes/plan/index.h"
#include "probes/plan/spanmap.h"
#include "probes/plan/value.h"

/* item.mark of what needs no reader any more, and of what never did. */
#define PROOF_WAS_READ 1

/* One range that a rank reads or writes at one time. Only an access of the
 * same owner to the very same range may meet a write: a reduction in place. */
struct access {
	uint64_t lo, hi;
	uint32_t owner;
	uint16_t buf;
};

struct accesses {
	struct access *at;
	size_t count, cap;
};

/* What a transfer or local operation is about to write. */
struct piece {
	uint64_t lo, hi;
	struct spanmap_item item;
};

struct proof {
	const struct plan *p;
	struct value_table *vt;
	struct spanmap *maps; /* [rank * bufs + buf] */
	uint64_t *promised;   /* bytes, likewise */
	struct index *by_src, *by_dst, *by_rank;
	struct accesses reads, writes;
	struct piece *pieces;
	size_t pieces_count, pieces_cap;
	struct spanmap_item *inputs;
	size_t inputs_cap;
	uint32_t step;
	struct check_fault fault;
};

static inline size_t
proof_slot(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return (size_t)rank * pf->p->bufs_count + buf;
}

static inline struct spanmap *
proof_map(const struct proof *pf, uint32_t rank, uint16_t buf)
{
	return &pf->maps[proof_slot(pf, rank, buf)];
}

/* What is in a buffer before the first step. */
struct spanmap_item proof_initial(const struct proof *pf, uint32_t rank,
    uint16_t buf);

/* check_rows.c. Keep the fault if it lies before the one known so far. */
void proof_offend(struct proof *pf, enum check_kind kind, uint32_t rank,
    uint16_t buf, uint64_t off, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Ranges, steps, transports and operations exist. */
void proof_rows(struct proof *pf);

/* check_order.c: accesses at one time, of the step pf is at. */
void proof_order_transfers(struct proof *pf);
void proof_order_locals(struct proof *pf);

/* check_promise.c, after the last step: every promise is kept, and nothing is
 * there beside them. */
void proof_promises(struct proof *pf);
void proof_unpromised(struct proof *pf);

#endif
