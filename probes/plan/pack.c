/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - a plan as bytes: one walk over its members writes and reads them, so
 * that both ways agree.
 */
#include "probes/plan/pack.h"
#include "probes/plan/plan.h"

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
pack_move(struct cursor *c, void *data, size_t bytes)
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
pack_move_list(struct cursor *c, void *list, size_t *count, size_t item_bytes)
{
	void *items;

	pack_move(c, count, sizeof(*count));
	memcpy(&items, list, sizeof(items)); /* whatever it points to */
	if (c->in != NULL) {
		items = xcalloc(*count + 1, item_bytes);
		memcpy(list, &items, sizeof(items));
	}
	pack_move(c, items, *count * item_bytes);
}

static void
pack_move_text(struct cursor *c, char **text)
{
	size_t bytes = c->in != NULL ? 0 : strlen(*text) + 1;

	pack_move_list(c, text, &bytes, 1);
}

/* Names of notes are constants of the program; another process of it may have
 * them elsewhere. Notes are for rank 0, which built them: they stay there. */
static void
pack_move_plan(struct cursor *c, struct plan *p)
{
	pack_move(c, &p->ranks, sizeof(p->ranks));
	pack_move(c, &p->steps, sizeof(p->steps));
	pack_move(c, &p->piece_bytes, sizeof(p->piece_bytes));
	pack_move_text(c, &p->title);
	pack_move(c, &p->bufs_count, sizeof(p->bufs_count));
	if (c->in != NULL)
		p->bufs = xcalloc(p->bufs_count + (size_t)1, sizeof(*p->bufs));
	for (uint32_t i = 0; i < p->bufs_count; i++) {
		struct plan_buf *b = &p->bufs[i];
		size_t ranks = p->ranks;

		pack_move_text(c, &b->name);
		pack_move(c, &b->role, sizeof(b->role));
		pack_move(c, &b->on_host, sizeof(b->on_host));
		pack_move_list(c, &b->bytes, &ranks, sizeof(*b->bytes));
	}
	pack_move_list(c, &p->transfers, &p->transfers_count,
	    sizeof(*p->transfers));
	pack_move_list(c, &p->locals, &p->locals_count, sizeof(*p->locals));
	pack_move_list(c, &p->inputs, &p->inputs_count, sizeof(*p->inputs));
	pack_move_list(c, &p->promises, &p->promises_count,
	    sizeof(*p->promises));
	pack_move_list(c, &p->spans, &p->spans_count, sizeof(*p->spans));
	pack_move_list(c, &p->sources, &p->sources_count, sizeof(*p->sources));
}

/* The packed format: the uncompressed length, then the compressed plan. */
void *
plan_pack(const struct plan *p, size_t *ret_bytes)
{
	struct plan copy = *p; /* lists are only read */
	struct cursor c = { 0 };
	uLongf bytes;
	char *ret;

	pack_move_plan(&c, &copy);
	c.out = xcalloc(c.at, 1);
	c.at = 0;
	pack_move_plan(&c, &copy);
	bytes = compressBound(c.at);
	ret = xcalloc(sizeof(c.at) + bytes, 1);
	memcpy(ret, &c.at, sizeof(c.at));
	if (compress2((Bytef *)ret + sizeof(c.at), &bytes, (Bytef *)c.out, c.at,
		LEVEL) != Z_OK)
		fatalx("a plan of %zu bytes cannot be packed", c.at);
	free(c.out);
	*ret_bytes = sizeof(c.at) + bytes;
	return ret;
}

struct plan *
plan_unpack(const void *packed, size_t bytes)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	struct cursor c = { 0 };
	uLongf raw_bytes;
	char *raw;

	memcpy(&c.cap, packed, sizeof(c.cap));
	raw_bytes = c.cap;
	raw = xcalloc(c.cap + 1, 1);
	if (uncompress((Bytef *)raw, &raw_bytes,
		(const Bytef *)packed + sizeof(c.cap),
		bytes - sizeof(c.cap)) != Z_OK ||
	    raw_bytes != c.cap)
		fatalx("the received plan of %zu bytes is damaged", c.cap);
	c.in = raw;
	pack_move_plan(&c, p);
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
