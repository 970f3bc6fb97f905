/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmi.c - one row for each command; values travel as lines "key=value", and the
 * first value of a key counts. PMI-1 and PMI-2 share them, and differ in names
 * and in what stands between words.
 */
#include "agents/wireup/pmi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define KVS_NAME  "coalmine"
#define KEY_MAX   256
#define VAL_MAX   1024
#define THRID_MAX 32
/* What one node may put between two fences: 1000 ranks, a KiB each. */
#define PUTS_MAX (1024 * 1024)

struct entry {
	uint32_t key, value; /* offsets in text; NUL-ended */
};

struct table {
	struct strbuf text;  /* all keys and values */
	struct entry *slots; /* a hash table; key 0: free */
	size_t slot_count, used;
};

/* A request that is answered later. */
struct wait {
	enum { WAIT_NONE, WAIT_FENCE, WAIT_ATTR, WAIT_OVER } what;
	int version;
	char thrid[THRID_MAX + 1]; /* of PMI-2: names the request; or "" */
	char key[KEY_MAX + 1];     /* of WAIT_ATTR */
};

struct pmi {
	int first, local, size;
	struct wait *waits; /* by local rank */
	int fencing;        /* how many of them wait in a fence */
	struct strbuf puts;
	struct table all, node; /* of the run; attributes of this node */
};

/* ---- values ---- */

/* The slot of a key: its own, or the free one where it would be. */
static struct entry *
pmi_slot(const struct table *t, const char *key)
{
	uint64_t sum = 14695981039346656037u;
	size_t i;

	for (const char *c = key; *c != '\0'; c++)
		sum = (sum ^ (unsigned char)*c) * 1099511628211u;
	for (i = sum % t->slot_count; t->slots[i].key != 0;
	     i = (i + 1) % t->slot_count)
		if (strcmp(t->text.text + t->slots[i].key, key) == 0)
			break;
	return &t->slots[i];
}

static const char *
pmi_find(const struct table *t, const char *key)
{
	const struct entry *e;

	if (t->slot_count == 0)
		return NULL;
	e = pmi_slot(t, key);
	return e->key == 0 ? NULL : t->text.text + e->value;
}

static void
pmi_grow(struct table *t)
{
	struct entry *old = t->slots;
	size_t count = t->slot_count;

	t->slot_count = count == 0 ? 64 : 4 * count;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t i = 0; i < count; i++)
		if (old[i].key != 0)
			*pmi_slot(t, t->text.text + old[i].key) = old[i];
	free(old);
}

/* Add lines of the form "key=value"; skip others. */
static void
pmi_add(struct table *t, const char *bytes, size_t len_bytes)
{
	const char *end = bytes + len_bytes, *nl, *eq;

	if (t->text.len_bytes == 0)
		strbuf_add(&t->text, "", 1); /* offset 0 means none */
	for (; bytes < end && (nl = memchr(bytes, '\n', (size_t)(end - bytes)));
	     bytes = nl + 1) {
		struct entry e = { .key = (uint32_t)t->text.len_bytes };
		struct entry *slot;

		eq = memchr(bytes, '=', (size_t)(nl - bytes));
		if (eq == NULL || t->text.len_bytes > INT32_MAX)
			continue;
		if (t->used * 2 >= t->slot_count)
			pmi_grow(t);
		strbuf_add(&t->text, bytes, (size_t)(eq - bytes));
		strbuf_add(&t->text, "", 1);
		e.value = (uint32_t)t->text.len_bytes;
		strbuf_add(&t->text, eq + 1, (size_t)(nl - eq - 1));
		strbuf_add(&t->text, "", 1);
		slot = pmi_slot(t, t->text.text + e.key);
		if (slot->key != 0)
			continue;
		*slot = e;
		t->used++;
	}
}

static void
pmi_table_free(struct table *t)
{
	strbuf_clear(&t->text);
	free(t->slots);
}

/* ---- requests ---- */

struct request {
	int version;
	char between; /* words */
	const char *text;
	const char *name; /* of the command */
	size_t name_len;
};

/* The word behind NAME= in a request; its length, or -1. */
static long
pmi_word(const struct request *q, const char *name, const char **ret)
{
	const char end[] = { q->between, '\0' };
	const char *at = q->text;
	size_t len = strlen(name);

	while ((at = strstr(at, name)) != NULL) {
		if ((at == q->text || at[-1] == q->between) && at[len] == '=') {
			*ret = at + len + 1;
			return (long)strcspn(*ret, end);
		}
		at += len;
	}
	return -1;
}

/* The same as a text of at most cap_bytes - 1; -1 when it is not there, is
 * empty or longer. */
static long
pmi_copy(const struct request *q, const char *name, char *ret, size_t cap_bytes)
{
	const char *at;
	long len = pmi_word(q, name, &at);

	if (len < 1 || (size_t)len >= cap_bytes)
		return -1;
	memcpy(ret, at, (size_t)len);
	ret[len] = '\0';
	return len;
}

static int
pmi_is(const struct request *q, const char *name)
{
	return q->name_len == strlen(name) &&
	    memcmp(q->name, name, q->name_len) == 0;
}

/* A key and its value as a line. In PMI-1 the value is last, for it may hold
 * anything. */
static int
pmi_put(const struct request *q, struct strbuf *puts)
{
	char key[KEY_MAX + 1];
	const char *value;
	long len;

	if (q->version == 1) {
		value = strstr(q->text, " value=");
		value = value == NULL ? NULL : value + strlen(" value=");
		len = value == NULL ? -1 : (long)strlen(value);
	} else {
		len = pmi_word(q, "value", &value);
	}
	if (len < 0 || len > VAL_MAX || puts->len_bytes > PUTS_MAX ||
	    pmi_copy(q, "key", key, sizeof(key)) < 0 ||
	    strchr(key, '=') != NULL)
		return -1;
	strbuf_addf(puts, "%s=%.*s\n", key, (int)len, value);
	return 0;
}

static enum pmi_event
pmi_wait(struct pmi *p, int i, const struct request *q, const char *thrid,
    const char *key)
{
	struct wait *w = &p->waits[i];

	w->what = key == NULL ? WAIT_FENCE : WAIT_ATTR;
	w->version = q->version;
	snprintf(w->thrid, sizeof(w->thrid), "%s", thrid);
	snprintf(w->key, sizeof(w->key), "%s", key == NULL ? "" : key);
	if (key != NULL)
		return PMI_REPLY;
	return ++p->fencing == p->local ? PMI_FENCE : PMI_REPLY;
}

static enum pmi_event
pmi_abort(const struct request *q, char text[PMI_TEXT_MAX])
{
	char code[12], why[200];

	if (pmi_copy(q, "exitcode", code, sizeof(code)) < 0)
		snprintf(code, sizeof(code), "?");
	if (pmi_copy(q, "message", why, sizeof(why)) < 0 &&
	    pmi_copy(q, "msg", why, sizeof(why)) < 0)
		why[0] = '\0';
	snprintf(text, PMI_TEXT_MAX, "MPI_Abort, code %s%s%s", code,
	    why[0] == '\0' ? "" : ": ", why);
	return PMI_ABORT;
}

/* ---- PMI-1 ---- */

#define BARRIER_OUT "cmd=barrier_out rc=0 msg=success\n"

/* Commands that are always answered with the same. */
static const struct {
	const char *name, *reply;
} fixed1[] = {
	{ "get_maxes",
	    "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=1024 rc=0\n" },
	{ "get_appnum", "cmd=appnum appnum=0 rc=0\n" },
	{ "get_my_kvsname", "cmd=my_kvsname kvsname=" KVS_NAME " rc=0\n" },
	{ "finalize", "cmd=finalize_ack rc=0\n" },
	/* MPI_Comm_spawn and MPI_Publish_name: not in a probe */
	{ "publish_name", "cmd=publish_result rc=-1 msg=unsupported\n" },
	{ "unpublish_name", "cmd=unpublish_result rc=-1 msg=unsupported\n" },
	{ "lookup_name", "cmd=lookup_result rc=-1 msg=unsupported\n" },
	{ "create_kvs", "cmd=newkvs rc=-1 msg=unsupported\n" },
};

static enum pmi_event
pmi_serve_1(struct pmi *p, int i, const struct request *q, struct strbuf *reply)
{
	char key[KEY_MAX + 1], version[8];
	const char *value;
	int is_2;

	for (size_t k = 0; k < ARRAY_LEN(fixed1); k++)
		if (pmi_is(q, fixed1[k].name)) {
			strbuf_addf(reply, "%s", fixed1[k].reply);
			return PMI_REPLY;
		}
	if (pmi_is(q, "init")) {
		is_2 = pmi_copy(q, "pmi_version", version, sizeof(version)) ==
			1 &&
		    version[0] == '2';
		strbuf_addf(reply,
		    "cmd=response_to_init pmi_version=%d pmi_subversion=%d "
		    "rc=0\n",
		    is_2 ? 2 : 1, is_2 ? 0 : 1);
		return PMI_JOIN;
	}
	if (pmi_is(q, "put")) {
		if (pmi_put(q, &p->puts) < 0)
			return PMI_BAD;
		strbuf_addf(reply, "cmd=put_result rc=0 msg=success\n");
		return PMI_REPLY;
	}
	if (pmi_is(q, "get")) {
		if (pmi_copy(q, "key", key, sizeof(key)) < 0)
			return PMI_BAD;
		value = pmi_find(&p->all, key);
		strbuf_addf(reply, "cmd=get_result rc=%s value=%s\n",
		    value == NULL ? "-1 msg=key_not_found" : "0 msg=success",
		    value == NULL ? "unknown" : value);
		return PMI_REPLY;
	}
	if (pmi_is(q, "get_universe_size")) {
		strbuf_addf(reply, "cmd=universe_size size=%d rc=0\n", p->size);
		return PMI_REPLY;
	}
	return pmi_is(q, "barrier_in") ? pmi_wait(p, i, q, "", NULL) : PMI_BAD;
}

/* ---- PMI-2 ---- */

static const struct {
	const char *name, *reply;
} fixed2[] = {
	{ "job-getid", "rc=0;jobid=" KVS_NAME ";" },
	{ "finalize", "rc=0;" },
	/* not in a probe */
	{ "name-publish", "rc=1;errmsg=unsupported;" },
	{ "name-unpublish", "rc=1;errmsg=unsupported;" },
	{ "name-lookup", "rc=1;errmsg=unsupported;" },
	{ "job-connect", "rc=1;errmsg=unsupported;" },
	{ "job-disconnect", "rc=1;errmsg=unsupported;" },
	{ "spawn", "rc=1;errmsg=unsupported;" },
};

static void
pmi_second_reply(const char *name, size_t name_len, const char *thrid,
    const char *what, struct strbuf *reply)
{
	struct strbuf body = { 0 };

	strbuf_addf(&body, "cmd=%.*s-response;", (int)name_len, name);
	if (thrid[0] != '\0')
		strbuf_addf(&body, "thrid=%s;", thrid);
	strbuf_addf(&body, "%s", what);
	strbuf_addf(reply, "%*zu%s", PMI_HEAD_BYTES, body.len_bytes, body.text);
	strbuf_clear(&body);
}

static void
pmi_second_value(const char *name, const char *thrid, const char *value,
    struct strbuf *reply)
{
	char what[VAL_MAX + 64];

	snprintf(what, sizeof(what), "rc=0;found=%s%s%s",
	    value == NULL ? "FALSE;" : "TRUE;value=",
	    value == NULL ? "" : value, value == NULL ? "" : ";");
	pmi_second_reply(name, strlen(name), thrid, what, reply);
}

/* A value of the run or an attribute of the node, which may be waited for. */
static enum pmi_event
pmi_second_get(struct pmi *p, int i, const struct request *q, const char *thrid,
    struct strbuf *reply)
{
	char key[KEY_MAX + 1], waits[8] = "";
	int of_node = pmi_is(q, "info-getnodeattr");
	const char *value;

	if (pmi_copy(q, "key", key, sizeof(key)) < 0)
		return PMI_BAD;
	value = pmi_find(of_node ? &p->node : &p->all, key);
	(void)pmi_copy(q, "wait", waits, sizeof(waits));
	if (of_node && value == NULL && strcmp(waits, "TRUE") == 0)
		return pmi_wait(p, i, q, thrid, key);
	pmi_second_value(of_node       ? "info-getnodeattr"
		: pmi_is(q, "kvs-get") ? "kvs-get"
				       : "info-getjobattr",
	    thrid, value, reply);
	return PMI_REPLY;
}

static enum pmi_event
pmi_serve_2(struct pmi *p, int i, const struct request *q, struct strbuf *reply)
{
	char thrid[THRID_MAX + 1] = "", what[200] = "rc=0;";
	struct strbuf attr = { 0 };
	enum pmi_event event = PMI_REPLY;

	(void)pmi_copy(q, "thrid", thrid, sizeof(thrid));
	for (size_t k = 0; k < ARRAY_LEN(fixed2); k++)
		if (pmi_is(q, fixed2[k].name)) {
			pmi_second_reply(q->name, q->name_len, thrid,
			    fixed2[k].reply, reply);
			return PMI_REPLY;
		}
	if (pmi_is(q, "kvs-fence"))
		return pmi_wait(p, i, q, thrid, NULL);
	if (pmi_is(q, "kvs-get") || pmi_is(q, "info-getjobattr") ||
	    pmi_is(q, "info-getnodeattr"))
		return pmi_second_get(p, i, q, thrid, reply);
	if (pmi_is(q, "fullinit")) {
		snprintf(what, sizeof(what),
		    "rc=0;pmi-version=2;pmi-subversion=0;rank=%d;size=%d;"
		    "appnum=0;debugged=FALSE;pmiverbose=FALSE;",
		    p->first + i, p->size);
	} else if (pmi_is(q, "kvs-put")) {
		if (pmi_put(q, &p->puts) < 0)
			return PMI_BAD;
	} else if (pmi_is(q, "info-putnodeattr")) {
		if (p->node.text.len_bytes > PUTS_MAX || pmi_put(q, &attr) < 0)
			return PMI_BAD;
		pmi_add(&p->node, attr.text, attr.len_bytes);
		strbuf_clear(&attr);
		event = PMI_ATTR;
	} else {
		return PMI_BAD;
	}
	pmi_second_reply(q->name, q->name_len, thrid, what, reply);
	return event;
}

/* ---- both ---- */

struct pmi *
pmi_new(int first, int local, int size)
{
	struct pmi *p = xcalloc(1, sizeof(*p));
	struct strbuf known = { 0 };

	p->first = first;
	p->local = local;
	p->size = size;
	p->waits = xcalloc((size_t)local, sizeof(*p->waits));
	strbuf_addf(&known,
	    "PMI_process_mapping=(vector,(0,%d,%d))\nuniverseSize=%d\n",
	    size / local, local, size);
	pmi_add(&p->all, known.text, known.len_bytes);
	strbuf_clear(&known);
	return p;
}

void
pmi_free(struct pmi *p)
{
	if (p == NULL)
		return;
	strbuf_clear(&p->puts);
	pmi_table_free(&p->all);
	pmi_table_free(&p->node);
	free(p->waits);
	free(p);
}

const struct strbuf *
pmi_puts(const struct pmi *p)
{
	return &p->puts;
}

void
pmi_fenced(struct pmi *p, const char *bytes, size_t len_bytes)
{
	pmi_add(&p->all, bytes, len_bytes);
	strbuf_clear(&p->puts);
	for (int i = 0; i < p->local; i++)
		if (p->waits[i].what == WAIT_FENCE)
			p->waits[i].what = WAIT_OVER;
	p->fencing = 0;
}

void
pmi_waited(struct pmi *p, int i, struct strbuf *reply)
{
	static const char fence[] = "kvs-fence";
	struct wait *w = &p->waits[i];
	const char *value = w->what == WAIT_ATTR ? pmi_find(&p->node, w->key)
						 : NULL;

	if (w->what == WAIT_OVER && w->version == 1)
		strbuf_addf(reply, BARRIER_OUT);
	else if (w->what == WAIT_OVER)
		pmi_second_reply(fence, strlen(fence), w->thrid, "rc=0;",
		    reply);
	else if (value != NULL)
		pmi_second_value("info-getnodeattr", w->thrid, value, reply);
	else
		return;
	w->what = WAIT_NONE;
}

long
pmi_length(const char head[PMI_HEAD_BYTES])
{
	long len = 0;
	int i = 0;

	if (memcmp(head, "cmd=", 4) == 0)
		return 0;
	while (i < PMI_HEAD_BYTES && head[i] == ' ')
		i++;
	for (; i < PMI_HEAD_BYTES && head[i] >= '0' && head[i] <= '9'; i++)
		len = 10 * len + (head[i] - '0');
	while (i < PMI_HEAD_BYTES && head[i] == ' ')
		i++;
	return i == PMI_HEAD_BYTES && len > 0 && len <= PMI_LINE_MAX ? len : -1;
}

enum pmi_event
pmi_message(struct pmi *p, int i, const char *message, struct strbuf *reply,
    char text[PMI_TEXT_MAX])
{
	struct request q = { .version = 1, .between = ' ', .text = message };
	long len;
	int ok;

	if (strncmp(message, "cmd=", 4) != 0) {
		q = (struct request){ .version = 2, .between = ';' };
		q.text = message + strnlen(message, PMI_HEAD_BYTES);
	}
	len = pmi_word(&q, "cmd", &q.name);
	q.name_len = len < 0 ? 0 : (size_t)len;
	ok = len > 0 && strncmp(q.text, "cmd=", 4) == 0;
	for (const char *c = q.text; *c != '\0'; c++)
		ok = ok && (unsigned char)*c >= ' ';
	snprintf(text, PMI_TEXT_MAX, "PMI: unsupported request \"%.100s\"",
	    q.text);
	if (ok && pmi_is(&q, "abort"))
		return pmi_abort(&q, text);
	if (!ok || p->waits[i].what != WAIT_NONE)
		return PMI_BAD;
	return q.version == 1 ? pmi_serve_1(p, i, &q, reply)
			      : pmi_serve_2(p, i, &q, reply);
}
