/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_data.c - fill before a run, compare after it.
 *
 * The promised data is recomputed from the sources, which any rank can generate
 * for any other (fill.h). Outside of promised ranges, results must be blank and
 * sources unchanged; all buffers have guards.
 *
 * The cost of checking a reduction grows with its ranks, so a long one is
 * sampled in blocks, including both ends, up to INPUTS_MAX bytes of input;
 * copies are compared completely.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/execute/exec_data.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/device/host_reduce.h"
#include "probes/execute/exec.h"
#include "probes/execute/exec_part.h"

#define BLANK        0xa5
#define GUARD        0x5c
#define BLOCK_BYTES  (64 * 1024)
#define DEVICE_BYTES (4 << 20) /* of a device: each block is waited for */
#define INPUTS_MAX   (256ULL << 20)

void
exec_device_check(const struct exec *e, int rc, const char *what)
{
	const struct transport_team *tm = e->team;

	if (rc < 0)
		fatalx("%s: %s failed: %s", tm->ops->name, what,
		    tm->ops->error(tm->device));
}

int
exec_data_open(struct exec *e, struct err *err)
{
	const struct transport_team *tm = e->team;
	int rc = 0;

	if (!tm->ops->host_access)
		rc = tm->ops->host_alloc(tm->device, DEVICE_BYTES, &e->staging);
	if (rc < 0)
		return err_set(err, rc,
		    "%s: cannot allocate host memory: %.200s", tm->ops->name,
		    tm->ops->error(tm->device));
	rc = fill_of_plan(e->plan, &e->fill);
	if (rc < 0)
		err_say(err,
		    "%.200s: uses several reduction operations; its data "
		    "cannot be verified",
		    e->plan->title);
	return rc;
}

void
exec_data_close(struct exec *e)
{
	if (e->staging != NULL)
		e->team->ops->host_free(e->team->device, e->staging);
	e->staging = NULL;
}

/* ---- to memory and back, at most a block ---- */

static void
exec_data_staged(struct exec *e, void *to, const void *from, size_t bytes)
{
	exec_device_check(e, e->team->ops->copy(e->stream, to, from, bytes),
	    "copy");
	exec_device_check(e, e->team->ops->stream_sync(e->stream), "copy");
}

static uint64_t
exec_data_block_bytes(const struct exec *e)
{
	return e->staging == NULL ? BLOCK_BYTES : DEVICE_BYTES;
}

static size_t
exec_data_block_of(const struct exec *e, uint64_t rest)
{
	return (size_t)(rest < exec_data_block_bytes(e)
		? rest
		: exec_data_block_bytes(e));
}

/* ---- fill ---- */

static uint64_t
exec_data_bytes_of(const struct exec *e, uint32_t buf)
{
	return e->plan->bufs[buf].bytes[e->view.rank];
}

/* Return the bytes from the end of a buffer to the start of the next one in its
 * area. */
static uint64_t
exec_data_guard_bytes(const struct exec *e, uint32_t buf)
{
	uint64_t bytes = exec_data_bytes_of(e, buf);

	return (bytes + EXEC_GUARD_BYTES - 1) / EXEC_GUARD_BYTES *
	    EXEC_GUARD_BYTES -
	    bytes + EXEC_GUARD_BYTES;
}

static int
exec_data_is_first(const struct exec *e, uint32_t buf)
{
	return e->places[buf] == EXEC_GUARD_BYTES;
}

/* Bytes from off, which may be before the buffer. */
static void
exec_data_set_bytes(struct exec *e, uint16_t buf, int64_t off, uint64_t bytes,
    int byte)
{
	char *at = exec_at(e, buf, 0) + off;

	if (exec_is_on_host(e, buf)) {
		memset(at, byte, bytes);
		return;
	}
	exec_device_check(e, e->team->ops->fill(e->stream, at, byte, bytes),
	    "fill");
}

void
exec_blank(struct exec *e)
{
	for (uint16_t i = 0; i < e->plan->bufs_count; i++) {
		uint64_t bytes = exec_data_bytes_of(e, i);

		if (exec_data_is_first(e, i))
			exec_data_set_bytes(e, i, -(int64_t)EXEC_GUARD_BYTES,
			    EXEC_GUARD_BYTES, GUARD);
		if (e->plan->bufs[i].role != PLAN_IN && bytes > 0)
			exec_data_set_bytes(e, i, 0, bytes, BLANK);
		exec_data_set_bytes(e, i, (int64_t)bytes,
		    exec_data_guard_bytes(e, i), GUARD);
	}
	exec_device_check(e, e->team->ops->stream_sync(e->stream), "fill");
}

void
exec_fill(struct exec *e, uint64_t iteration)
{
	char *block = xcalloc(1, exec_data_block_bytes(e));

	exec_blank(e);
	for (uint32_t i = 0; i < e->plan->bufs_count; i++) {
		uint64_t bytes = exec_data_bytes_of(e, i);
		size_t n;

		if (e->plan->bufs[i].role != PLAN_IN)
			continue;
		for (uint64_t off = 0; off < bytes; off += n) {
			n = exec_data_block_of(e, bytes - off);
			fill_make(&e->fill, iteration, e->view.rank,
			    (uint16_t)i, off, block, n);
			if (e->staging == NULL)
				memcpy(exec_at(e, (uint16_t)i, off), block, n);
			else
				exec_data_staged(e,
				    exec_at(e, (uint16_t)i, off),
				    memcpy(e->staging, block, n), n);
		}
	}
	free(block);
}

/* ---- verify ---- */

struct verify {
	struct exec *e;
	uint64_t iteration;
	char *want; /* a block */
	char *one;  /* of one input */
	int bad;
	struct exec_fault fault; /* the first in order of buffer and offset */
};

/* A range of a buffer that a promise covers. */
struct piece {
	uint64_t lo, hi;
	const struct plan_promise *promise;
	uint16_t buf;
};

/* Memory at off of buf against v->want. */
static void
exec_data_compare(struct verify *v, uint16_t buf, int64_t off, size_t bytes)
{
	struct exec_fault *f = &v->fault;
	size_t i = 0;
	const char *got = exec_at(v->e, buf, 0) + off;

	if (v->e->staging != NULL && !exec_is_on_host(v->e, buf)) {
		exec_data_staged(v->e, v->e->staging, got, bytes);
		got = v->e->staging;
	}
	if (memcmp(got, v->want, bytes) == 0)
		return;
	while (got[i] == v->want[i])
		i++;
	if (v->bad &&
	    (f->buf < buf || (f->buf == buf && f->off <= off + (int64_t)i)))
		return;
	v->bad = 1;
	*f = (struct exec_fault){ .rank = v->e->view.rank,
		.buf = buf,
		.off = off + (int64_t)i,
		.want = (uint8_t)v->want[i],
		.got = (uint8_t)got[i] };
}

static void
exec_data_compare_same(struct verify *v, uint16_t buf, int64_t off,
    uint64_t bytes, int byte)
{
	memset(v->want, byte, exec_data_block_of(v->e, bytes));
	while (bytes > 0) {
		size_t n = exec_data_block_of(v->e, bytes);

		exec_data_compare(v, buf, off, n);
		off += (int64_t)n;
		bytes -= n;
	}
}

/* Compute n promised bytes from `off` in the range. */
static void
exec_data_promised(struct verify *v, const struct plan_promise *m, uint64_t off,
    size_t n)
{
	const struct plan *p = v->e->plan;
	int first = 1;

	for (uint32_t k = 0; k < m->sources; k++) {
		const struct plan_source *s = &p->sources[m->source + k];

		for (uint32_t rank = s->lo; rank < s->hi; rank++) {
			const void *in[2] = { v->want, v->one };

			fill_make(&v->e->fill, v->iteration, rank, s->buf,
			    s->off + off, first ? v->want : v->one, n);
			if (!first)
				host_reduce((enum plan_op)m->op,
				    (enum plan_type)m->type, v->want, in, 2,
				    n / plan_types[m->type].bytes);
			first = 0;
		}
	}
}

static void
exec_data_compare_piece(struct verify *v, const struct piece *pc)
{
	const struct plan_promise *m = pc->promise;
	uint64_t bytes = pc->hi - pc->lo, cost = bytes;
	uint64_t block = exec_data_block_bytes(v->e), step = block, off = 0;

	if (m->op != PLAN_COPY) {
		const struct plan_source *s = &v->e->plan->sources[m->source];
		uint64_t inputs = 0;

		for (uint32_t k = 0; k < m->sources; k++)
			inputs += s[k].hi - s[k].lo;
		cost *= inputs;
	}
	if (m->op != PLAN_COPY && cost > INPUTS_MAX)
		step *= (cost + INPUTS_MAX - 1) / INPUTS_MAX;
	for (;;) {
		size_t n = exec_data_block_of(v->e, bytes - off);

		exec_data_promised(v, m, off, n);
		exec_data_compare(v, pc->buf, (int64_t)(pc->lo + off), n);
		if (off + n >= bytes)
			break;
		off += step;
		if (off + block > bytes && step > block)
			off = (bytes - 1) / block * block;
	}
}

static int
exec_data_compare_pieces_cb(const void *va, const void *vb)
{
	const struct piece *a = va, *b = vb;

	if (a->buf != b->buf)
		return a->buf < b->buf ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Between promises: [lo, hi) of buf. */
static void
exec_data_compare_gap(struct verify *v, uint16_t buf, uint64_t lo, uint64_t hi)
{
	if (lo >= hi || v->e->plan->bufs[buf].role == PLAN_TEMP)
		return;
	if (v->e->plan->bufs[buf].role != PLAN_IN) {
		exec_data_compare_same(v, buf, (int64_t)lo, hi - lo, BLANK);
		return;
	}
	/* A source is as it was filled. */
	for (size_t n; lo < hi; lo += n) {
		n = exec_data_block_of(v->e, hi - lo);
		fill_make(&v->e->fill, v->iteration, v->e->view.rank, buf, lo,
		    v->want, n);
		exec_data_compare(v, buf, (int64_t)lo, n);
	}
}

int
exec_verify(struct exec *e, uint64_t iteration, struct exec_fault *ret)
{
	struct verify v = { .e = e, .iteration = iteration };
	const struct plan *p = e->plan;
	struct piece *list = xcalloc(p->promises_count + 1, sizeof(*list));
	struct piece *pc = list, *end = list;

	for (size_t i = 0; i < p->promises_count; i++) {
		const struct plan_promise *m = &p->promises[i];
		const struct plan_span *s = &p->spans[m->span];
		uint32_t k = 0;

		while (k < m->spans &&
		    !(s[k].lo <= e->view.rank && e->view.rank < s[k].hi))
			k++;
		if (k < m->spans)
			*end++ = (struct piece){ m->to_off,
				m->to_off + m->bytes, m, m->to };
	}
	qsort(list, (size_t)(end - list), sizeof(*list),
	    exec_data_compare_pieces_cb);
	v.want = xcalloc(1, exec_data_block_bytes(e));
	v.one = xcalloc(1, exec_data_block_bytes(e));
	for (uint16_t i = 0; i < p->bufs_count; i++) {
		uint64_t at = 0, bytes = exec_data_bytes_of(e, i);

		if (exec_data_is_first(e, i))
			exec_data_compare_same(&v, i,
			    -(int64_t)EXEC_GUARD_BYTES, EXEC_GUARD_BYTES,
			    GUARD);
		for (; pc < end && pc->buf == i; pc++) {
			exec_data_compare_gap(&v, i, at, pc->lo);
			exec_data_compare_piece(&v, pc);
			if (pc->hi > at)
				at = pc->hi;
		}
		exec_data_compare_gap(&v, i, at, bytes);
		exec_data_compare_same(&v, i, (int64_t)bytes,
		    exec_data_guard_bytes(e, i), GUARD);
	}
	free(v.want);
	free(v.one);
	free(list);
	if (!v.bad)
		return 0;
	*ret = v.fault;
	return -EBADMSG;
}
