/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/plan/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/log.h"
#include "common/xalloc.h"

/* The fastest: all ranks wait. */
#define LEVEL 1

/* Both ways by one walk over the members: writing where out is set. */
struct cursor {
	char *out;
	const char *in;
	size_t at, cap;
};

static void
move(struct cursor *c, void *data, size_t bytes)
{
	if (bytes == 0)
		return;
	assert(c->in == NULL || c->at + bytes <= c->cap);
	if (c->in != NULL)
		memcpy(data, c->in + c->at, bytes);
	if (c->out != NULL)
		memcpy(c->out + c->at, data, bytes);
	c->at += bytes;
}

static void
move_list(struct cursor *c, void *list, size_t *count, size_t item_bytes)
{
	void *items;

	move(c, count, sizeof(*count));
	memcpy(&items, list, sizeof(items)); /* whatever it points to */
	if (c->in != NULL) {
		items = xcalloc(*count + 1, item_bytes);
		memcpy(list, &items, sizeof(items));
	}
	move(c, items, *count * item_bytes);
}

static void
move_text(struct cursor *c, char **text)
{
	size_t bytes = c->in != NULL ? 0 : strlen(*text) + 1;

	move_list(c, text, &bytes, 1);
}

static void
move_bufs(struct cursor *c, struct plan *p)
{
	size_t count = p->bufs_count;

	move(c, &count, sizeof(count));
	if (c->in != NULL) {
		p->bufs = xcalloc(count + 1, sizeof(*p->bufs));
		p->bufs_count = (uint32_t)count;
	}
	for (size_t i = 0; i < count; i++) {
		struct plan_buf *b = &p->bufs[i];
		size_t ranks = p->ranks;

		move_text(c, &b->name);
		move(c, &b->role, sizeof(b->role));
		move_list(c, &b->bytes, &ranks, sizeof(*b->bytes));
	}
}

/* Names of notes are constants of the program; another process of it may have
 * them elsewhere. Notes are for rank 0, which built them: they stay there. */
static void
move_plan(struct cursor *c, struct plan *p)
{
	move(c, &p->ranks, sizeof(p->ranks));
	move(c, &p->steps, sizeof(p->steps));
	move(c, &p->piece_bytes, sizeof(p->piece_bytes));
	move_text(c, &p->title);
	move_bufs(c, p);
	move_list(c, &p->transfers, &p->transfers_count, sizeof(*p->transfers));
	move_list(c, &p->locals, &p->locals_count, sizeof(*p->locals));
	move_list(c, &p->inputs, &p->inputs_count, sizeof(*p->inputs));
	move_list(c, &p->promises, &p->promises_count, sizeof(*p->promises));
	move_list(c, &p->spans, &p->spans_count, sizeof(*p->spans));
	move_list(c, &p->sources, &p->sources_count, sizeof(*p->sources));
}

/* What is packed: the length of all, and what is left of it. */
static void *
deflated(const char *raw, size_t raw_bytes, size_t *ret_bytes)
{
	uLongf bytes = compressBound(raw_bytes);
	char *out = xcalloc(sizeof(raw_bytes) + bytes, 1);

	memcpy(out, &raw_bytes, sizeof(raw_bytes));
	if (compress2((Bytef *)out + sizeof(raw_bytes), &bytes,
		(const Bytef *)raw, raw_bytes, LEVEL) != Z_OK)
		fatalx("a plan of %zu bytes cannot be packed", raw_bytes);
	*ret_bytes = sizeof(raw_bytes) + bytes;
	return out;
}

static char *
inflated(const char *packed, size_t bytes, size_t *ret_raw_bytes)
{
	uLongf raw_bytes;
	char *raw;

	memcpy(ret_raw_bytes, packed, sizeof(*ret_raw_bytes));
	raw_bytes = *ret_raw_bytes;
	raw = xcalloc(raw_bytes + 1, 1);
	if (uncompress((Bytef *)raw, &raw_bytes,
		(const Bytef *)packed + sizeof(*ret_raw_bytes),
		bytes - sizeof(*ret_raw_bytes)) != Z_OK ||
	    raw_bytes != *ret_raw_bytes)
		fatalx("a plan of %zu bytes came damaged", *ret_raw_bytes);
	return raw;
}

void *
plan_pack(const struct plan *p, size_t *ret_bytes)
{
	struct plan copy = *p; /* lists are only read */
	struct cursor c = { 0 };
	void *ret;

	move_plan(&c, &copy);
	c.out = xcalloc(c.at, 1);
	c.at = 0;
	move_plan(&c, &copy);
	ret = deflated(c.out, c.at, ret_bytes);
	free(c.out);
	return ret;
}

struct plan *
plan_unpack(const void *packed, size_t bytes)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	struct cursor c = { 0 };
	char *raw = inflated(packed, bytes, &c.cap);

	c.in = raw;
	move_plan(&c, p);
	assert(c.at == c.cap);
	free(raw);
	p->transfers_cap = p->transfers_count;
	p->locals_cap = p->locals_count;
	p->inputs_cap = p->inputs_count;
	p->promises_cap = p->promises_count;
	p->spans_cap = p->spans_count;
	p->sources_cap = p->sources_count;
	return p;
}
