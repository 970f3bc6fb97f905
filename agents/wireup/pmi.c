/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmi.c - one row for each command; values travel as lines "key=value", and the
 * first value of a key counts.
 */
#include "agents/wireup/pmi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define KVS_NAME "coalmine"
#define KEY_MAX  256
#define VAL_MAX  1024
/* What one node may put between two barriers: 1000 ranks, a KiB each. */
#define PUTS_MAX (1024 * 1024)

struct entry {
	uint32_t key, value; /* offsets in text; NUL-ended */
};

struct pmi {
	int first, local, size;
	uint8_t *waits; /* local ranks in the barrier */
	int waiting;    /* their number */
	struct strbuf puts;
	struct strbuf text;  /* all keys and values */
	struct entry *slots; /* a hash table; key 0: free */
	size_t slot_count, used;
};

struct pmi *
pmi_new(int first, int local, int size)
{
	struct pmi *p = xcalloc(1, sizeof(*p));
	struct strbuf map = { 0 };

	p->first = first;
	p->local = local;
	p->size = size;
	p->waits = xcalloc((size_t)local, 1);
	strbuf_add(&p->text, "", 1); /* offset 0 means none */
	strbuf_addf(&map, "PMI_process_mapping=(vector,(0,%d,%d))\n",
	    size / local, local);
	pmi_fenced(p, map.text, map.len_bytes, NULL);
	strbuf_clear(&map);
	return p;
}

void
pmi_free(struct pmi *p)
{
	if (p == NULL)
		return;
	strbuf_clear(&p->puts);
	strbuf_clear(&p->text);
	free(p->slots);
	free(p->waits);
	free(p);
}

/* The slot of a key: its own, or the free one where it would be. */
static struct entry *
pmi_slot(const struct pmi *p, const char *key)
{
	uint64_t sum = 14695981039346656037u;
	size_t i;

	for (const char *c = key; *c != '\0'; c++)
		sum = (sum ^ (unsigned char)*c) * 1099511628211u;
	for (i = sum % p->slot_count; p->slots[i].key != 0;
	     i = (i + 1) % p->slot_count)
		if (strcmp(p->text.text + p->slots[i].key, key) == 0)
			break;
	return &p->slots[i];
}

static void
pmi_grow(struct pmi *p)
{
	struct entry *old = p->slots;
	size_t count = p->slot_count;

	p->slot_count = count == 0 ? 64 : 4 * count;
	p->slots = xcalloc(p->slot_count, sizeof(*p->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key != 0)
			*pmi_slot(p, p->text.text + old[i].key) = old[i];
	free(old);
}

void
pmi_fenced(struct pmi *p, const char *bytes, size_t len_bytes,
    struct strbuf *reply)
{
	const char *end = bytes + len_bytes, *nl, *eq;

	for (; bytes < end && (nl = memchr(bytes, '\n', (size_t)(end - bytes)));
	     bytes = nl + 1) {
		struct entry e = { .key = (uint32_t)p->text.len_bytes };
		struct entry *slot;

		eq = memchr(bytes, '=', (size_t)(nl - bytes));
		if (eq == NULL || p->text.len_bytes > INT32_MAX)
			continue;
		if (p->used * 2 >= p->slot_count)
			pmi_grow(p);
		strbuf_add(&p->text, bytes, (size_t)(eq - bytes));
		strbuf_add(&p->text, "", 1);
		e.value = (uint32_t)p->text.len_bytes;
		strbuf_add(&p->text, eq + 1, (size_t)(nl - eq - 1));
		strbuf_add(&p->text, "", 1);
		slot = pmi_slot(p, p->text.text + e.key);
		if (slot->key != 0)
			continue;
		*slot = e;
		p->used++;
	}
	strbuf_clear(&p->puts);
	memset(p->waits, 0, (size_t)p->local);
	p->waiting = 0;
	if (reply != NULL)
		strbuf_addf(reply, "cmd=barrier_out rc=0 msg=success\n");
}

const struct strbuf *
pmi_puts(const struct pmi *p)
{
	return &p->puts;
}

/* What a command is answered with; %d is the size of the run. */
static const struct {
	const char *name, *reply;
	enum pmi_event event;
} commands[] = {
	{ "init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
	    PMI_JOIN },
	{ "get_maxes",
	    "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=1024 rc=0\n",
	    PMI_REPLY },
	{ "get_appnum", "cmd=appnum appnum=0 rc=0\n", PMI_REPLY },
	{ "get_my_kvsname", "cmd=my_kvsname kvsname=" KVS_NAME " rc=0\n",
	    PMI_REPLY },
	{ "finalize", "cmd=finalize_ack rc=0\n", PMI_REPLY },
	/* MPI_Comm_spawn and MPI_Publish_name: not in a probe */
	{ "publish_name", "cmd=publish_result rc=-1 msg=unsupported\n",
	    PMI_REPLY },
	{ "unpublish_name", "cmd=unpublish_result rc=-1 msg=unsupported\n",
	    PMI_REPLY },
	{ "lookup_name", "cmd=lookup_result rc=-1 msg=unsupported\n",
	    PMI_REPLY },
	{ "create_kvs", "cmd=newkvs rc=-1 msg=unsupported\n", PMI_REPLY },
};

/* The word behind NAME= in a line; its length, or -1. */
static long
pmi_word(const char *line, const char *name, const char **ret)
{
	size_t len = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == line || at[-1] == ' ') && at[len] == '=') {
			*ret = at + len + 1;
			return (long)strcspn(*ret, " ");
		}
		at += len;
	}
	return -1;
}

static int
pmi_put(struct pmi *p, const char *line)
{
	const char *key, *value = strstr(line, " value=");
	long len = pmi_word(line, "key", &key);

	if (value == NULL || len < 1 || len > KEY_MAX || key > value ||
	    memchr(key, '=', (size_t)len) != NULL)
		return -1;
	value += strlen(" value=");
	if (strlen(value) > VAL_MAX || p->puts.len_bytes > PUTS_MAX)
		return -1;
	strbuf_addf(&p->puts, "%.*s=%s\n", (int)len, key, value);
	return 0;
}

/* "value" is last, for it may hold anything. */
static int
pmi_get(const struct pmi *p, const char *line, struct strbuf *reply)
{
	char key[KEY_MAX + 1];
	const char *at;
	long len = pmi_word(line, "key", &at);
	const struct entry *e;

	if (len < 1 || len > KEY_MAX)
		return -1;
	snprintf(key, sizeof(key), "%.*s", (int)len, at);
	e = pmi_slot(p, key);
	if (e->key == 0)
		strbuf_addf(reply,
		    "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
	else
		strbuf_addf(reply, "cmd=get_result rc=0 msg=success value=%s\n",
		    p->text.text + e->value);
	return 0;
}

enum pmi_event
pmi_line(struct pmi *p, int i, char *line, struct strbuf *reply,
    char text[PMI_TEXT_MAX])
{
	const char *name, *code;
	long len = pmi_word(line, "cmd", &name);
	int ok = len > 0;

	for (char *c = line; *c != '\0'; c++)
		ok = ok && (unsigned char)*c >= ' ';
	snprintf(text, PMI_TEXT_MAX, "PMI: \"%.100s\" is not served", line);
	if (!ok)
		return PMI_BAD;
#define IS(word)                                                               \
	((size_t)len == strlen(word) && memcmp(name, word, (size_t)len) == 0)
	for (size_t k = 0; k < ARRAY_LEN(commands); k++)
		if (IS(commands[k].name)) {
			strbuf_addf(reply, "%s", commands[k].reply);
			return commands[k].event;
		}
	if (IS("put")) {
		if (pmi_put(p, line) < 0)
			return PMI_BAD;
		strbuf_addf(reply, "cmd=put_result rc=0 msg=success\n");
		return PMI_REPLY;
	}
	if (IS("get"))
		return pmi_get(p, line, reply) < 0 ? PMI_BAD : PMI_REPLY;
	if (IS("get_universe_size")) {
		strbuf_addf(reply, "cmd=universe_size size=%d rc=0\n", p->size);
		return PMI_REPLY;
	}
	if (IS("barrier_in") && !p->waits[i]) {
		p->waits[i] = 1;
		return ++p->waiting == p->local ? PMI_FENCE : PMI_REPLY;
	}
	if (IS("abort")) {
		len = pmi_word(line, "exitcode", &code);
		snprintf(text, PMI_TEXT_MAX, "MPI_Abort, code %.*s",
		    len > 0 && len < 12 ? (int)len : 1, len > 0 ? code : "?");
		return PMI_ABORT;
	}
#undef IS
	return PMI_BAD;
}
