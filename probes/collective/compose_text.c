/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compose_text.c - a user's own composition, from text.
 *
 * The text is read twice: once for its meaning, which is what the plan then
 * has to promise, and at the same time into the composer, which factorises it.
 * That both agree is for check to prove.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "probes/pattern/builders.h"
#include "probes/collective/compose.h"
#include "probes/collective/semantics.h"
#include "probes/pattern/numbers.h"
#include "probes/collective/script.h"

#define SECTION     "compose"
#define BUFFERS_MAX 64

struct text {
	const struct conf *c;
	struct plan *p;
	struct compose *composer;
	struct semantics *meaning;
	struct compose_shape shape;
	uint32_t ranks, root;
	uint64_t count;       /* elements of a block */
	uint64_t block_bytes; /* of them */
	char *steps;
	uint32_t bufs; /* of the user; the composer's follow */
};

/* ---- buffers ---- */

static int
refuse_buffers(const struct text *t, struct err *err)
{
	return pattern_refuse(t->c, SECTION, "buffers", err,
	    "up to %d different name:role:blocks with commas, role in, out or "
	    "temp, blocks 1 or more or ranks, not the name temp",
	    BUFFERS_MAX);
}

static int
buffer_known(const struct text *t, const char *name)
{
	for (uint32_t b = 0; b < t->p->bufs_count; b++)
		if (strcmp(t->p->bufs[b].name, name) == 0)
			return (int)b;
	return -ENOENT;
}

/* "send:in:ranks" */
static int
buffer_add(struct text *t, char *word)
{
	static const char *const roles
	    [] = { [PLAN_IN] = "in", [PLAN_OUT] = "out", [PLAN_TEMP] = "temp" };
	char *save = NULL, *name = strtok_r(word, ":", &save);
	char *role = strtok_r(NULL, ":", &save);
	char *blocks = strtok_r(NULL, ":", &save);
	int64_t n = t->ranks;
	size_t at = 0;
	uint16_t buf;

	if (blocks == NULL || strtok_r(NULL, ":", &save) != NULL)
		return -EINVAL;
	while (at < ARRAY_LEN(roles) && strcmp(roles[at], role) != 0)
		at++;
	if (at == ARRAY_LEN(roles) || strlen(name) > 31 ||
	    strcmp(name, "temp") == 0 || buffer_known(t, name) >= 0)
		return -EINVAL;
	if (strcmp(blocks, "ranks") != 0 &&
	    str_to_int(blocks, 1, PLAN_RANKS_MAX * 16LL, &n) < 0)
		return -EINVAL;
	if ((double)n * (double)t->block_bytes * t->ranks >
	    (double)PLAN_BYTES_MAX)
		return -EINVAL;
	buf = plan_buf_add(t->p, name, (enum plan_role)at);
	for (uint32_t r = 0; r < t->ranks; r++)
		plan_buf_need(t->p, buf, r, (uint64_t)n * t->block_bytes);
	return 0;
}

static int
buffers(struct text *t, struct err *err)
{
	size_t count = 0;
	char **words = str_list_parse(conf_string(t->c, SECTION, "buffers"),
	    &count);
	int rc = words != NULL && count > 0 && count <= BUFFERS_MAX ? 0
								    : -EINVAL;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = buffer_add(t, words[i]);
	str_list_free(words);
	t->bufs = t->p->bufs_count;
	return rc < 0 ? refuse_buffers(t, err) : 0;
}

/* ---- primitives ---- */

static int
find_place(const struct text *t, const struct script_place *from,
    uint64_t blocks, struct semantics_place *ret, struct err *err)
{
	int buf = buffer_known(t, from->buffer);
	uint64_t have;

	if (buf < 0 || (uint32_t)buf >= t->bufs)
		return err_set(err, -EINVAL,
		    "no buffer %s: compose.buffers is %s", from->buffer,
		    conf_string(t->c, SECTION, "buffers"));
	have = t->p->bufs[buf].bytes[0] / t->block_bytes;
	if (from->block < 0 || blocks > have ||
	    (uint64_t)from->block > have - blocks)
		return err_set(err, -EINVAL,
		    "%s[%lld] with %llu blocks: the buffer has %llu",
		    from->buffer, (long long)from->block,
		    (unsigned long long)blocks, (unsigned long long)have);
	*ret = (struct semantics_place){ (uint16_t)buf, (uint64_t)from->block };
	return 0;
}

static struct plan_place
bytes_of(const struct text *t, struct semantics_place at)
{
	return (struct plan_place){ at.block * t->block_bytes, at.buf };
}

static int
take_multicast(struct text *t, const struct script_prim *s,
    struct semantics_place from, struct semantics_place to, struct err *err)
{
	compose_multicast(t->composer, s->root, bytes_of(t, from),
	    bytes_of(t, to), s->blocks * t->count, s->leaves, s->leaves_count);
	return semantics_multicast(t->meaning, s->root, from, to, s->blocks,
	    s->leaves, s->leaves_count, err);
}

static int
take_reduce(struct text *t, const struct script_prim *s,
    struct semantics_place from, struct semantics_place to, struct err *err)
{
	compose_reduction(t->composer, s->leaves, s->leaves_count,
	    bytes_of(t, from), s->root, bytes_of(t, to), s->blocks * t->count);
	return semantics_reduce(t->meaning, s->leaves, s->leaves_count, from,
	    s->root, to, s->blocks, err);
}

static int
take(void *arg, const struct script_prim *s, struct err *err)
{
	struct semantics_place from, to;
	struct text *t = arg;
	int rc;

	if (s->kind == SCRIPT_FENCE) {
		compose_fence(t->composer);
		semantics_fence(t->meaning);
		return 0;
	}
	rc = find_place(t, &s->from, s->blocks, &from, err);
	if (rc == 0)
		rc = find_place(t, &s->to, s->blocks, &to, err);
	if (rc < 0)
		return rc;
	return s->kind == SCRIPT_MULTICAST ? take_multicast(t, s, from, to, err)
					   : take_reduce(t, s, from, to, err);
}

/* ---- the builder ---- */

static int
options(struct text *t, const struct pattern_site *site, struct err *err)
{
	const char *path = conf_string(t->c, SECTION, "file");
	const char *steps = conf_string(t->c, SECTION, "steps");
	size_t len;
	int rc;

	if ((path[0] != '\0') == (steps[0] != '\0'))
		return pattern_refuse(t->c, SECTION, "steps", err,
		    "primitives here, or compose.file, not both");
	rc = compose_options(t->c, SECTION, site, &t->shape, err);
	if (rc < 0)
		return rc;
	t->ranks = t->shape.ranks;
	t->root = (uint32_t)conf_int(t->c, SECTION, "root");
	if (t->root >= t->ranks)
		return pattern_refuse(t->c, SECTION, "root", err, "0 to %u",
		    t->ranks - 1);
	t->count = (uint64_t)conf_int(t->c, SECTION, "count");
	t->block_bytes = t->count * plan_types[t->shape.type].bytes;
	if (path[0] != '\0')
		return file_read(path, NUMBERS_FILE_MAX, &t->steps, &len, err);
	t->steps = xstrdup(steps);
	return 0;
}

/* Complaints of the text begin with where it stands. */
static int
run(struct text *t, struct err *err)
{
	const char *path = conf_string(t->c, SECTION, "file");
	struct script_ask ask = { .text = t->steps,
		.ranks = t->ranks,
		.root = t->root,
		.take = take,
		.arg = t };
	struct err text;
	int rc;

	t->meaning = semantics_new(t->p, t->block_bytes, t->shape.op,
	    t->shape.type);
	if (t->meaning == NULL)
		return pattern_refuse(t->c, SECTION, "buffers", err,
		    "what makes at most 64 Mi blocks on all ranks");
	t->composer = compose_new(t->p, &t->shape);
	rc = script_run(&ask, &text);
	if (rc < 0)
		err_say(err, "%s: %s",
		    path[0] != '\0' ? path : conf_where(t->c, SECTION, "steps"),
		    text.text);
	return rc;
}

static void
finish(struct text *t)
{
	compose_build(t->composer);
	semantics_promise(t->meaning);
	plan_note_add(t->p, "footprint", "bytes", plan_volume(t->p));
	plan_sort(t->p);
}

static int
build(const struct conf *c, const struct pattern_site *site, struct plan **ret,
    struct err *err)
{
	struct text t = { .c = c };
	int rc = options(&t, site, err);
	char *title;

	if (rc < 0)
		return rc;
	title = pattern_title(c, SECTION);
	t.p = plan_new(t.ranks, title);
	free(title);
	rc = buffers(&t, err);
	if (rc == 0)
		rc = run(&t, err);
	if (rc == 0)
		finish(&t);
	compose_free(t.composer);
	semantics_free(t.meaning);
	free(t.steps);
	if (rc < 0)
		plan_free(t.p);
	else
		*ret = t.p;
	return rc;
}

const struct pattern pattern_compose = {
	.name = SECTION,
	.text = "A composition of multicasts, reductions and fences, written "
		"as text.",
	.build = build,
};
