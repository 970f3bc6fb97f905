/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ras_read.c - the JSON of RAS is read by a tokenizer that needs no commas,
 * since NCCL 2.28.9 omits one where a rank is missing; the text by lines. Both
 * formats fill the same list of communicators, of limited length.
 */
#include "agents/sensor/ras_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"

#define DEPTH_MAX   8
#define WORD_BYTES  64 /* of a key or value; a longer one is cut */
#define LINE_BYTES  400
#define GROUPS_MAX  64 /* of the table of communicators, in text */
#define DEAD_MAX    64
#define COUNT_MAX   INT32_MAX
#define MAJOR       2 /* the meaning of another one's reply is unknown */
#define PROTOCOL_OF "SERVER PROTOCOL "

/* Of a communicator, so that the sum over a reply does not overflow. */
#define LAUNCHED_MAX (INT64_C(1) << 40)

enum ras_state { RAS_RUNS, RAS_SILENT, RAS_DEAD, RAS_ABSENT };
static const char *const state_names[] = { [RAS_RUNS] = "answers",
	[RAS_SILENT] = "silent",
	[RAS_DEAD] = "dead",
	[RAS_ABSENT] = "absent" };

struct ras_rank {
	int64_t rank, pid, gpu;
	char addr[INET6_ADDRSTRLEN];
	enum ras_state state;
	int is_ending;
	int64_t launched;
};

struct ras_ranks {
	struct ras_rank list[RAS_RANKS_MAX];
	size_t count;
	int64_t total; /* those without room too */
};

struct ras_comm {
	char hash[24];
	int64_t size, answered, ending;
	int64_t most, least; /* -1: not in the reply */
	int64_t local, local_least;
	struct ras_ranks missing, behind; /* behind: all at least */
};

enum ras_mode {
	MODE_NONE,
	MODE_MISSING, /* ranks of a communicator */
	MODE_DEAD,    /* processes */
	MODE_COUNTS   /* of one operation */
};

struct ras_read {
	const json_t *locals;
	int error; /* -errno */
	char version[RAS_VERSION_MAX], protocol[12];
	/* A line in the head or the text; a word in JSON. */
	char line[LINE_BYTES];
	size_t len;
	int is_json, is_text, is_whole;
	/* JSON: open containers. */
	struct {
		char key[WORD_BYTES];
		int is_array, has_key;
	} open[DEPTH_MAX];
	int depth, in_string, is_escaped, in_word;
	/* Text. */
	int64_t sizes[GROUPS_MAX]; /* of the communicators of a group */
	enum ras_mode mode;
	int64_t value;              /* of the ranks that are listed next */
	struct ras_comm *comm, *op; /* op: what one operation's counts give */
	struct ras_rank dead[DEAD_MAX];
	size_t dead_count;
	/* Both. */
	struct ras_rank rank;
	struct ras_comm *list[RAS_COMMS_MAX + 1];
	size_t count;
	int64_t comms, launched, largest;
	int has_counts;
	struct ras_reply reply;
};

struct ras_read *
ras_read_new(const json_t *locals)
{
	struct ras_read *r = xcalloc(1, sizeof(*r));

	r->locals = locals;
	r->reply.order = -1;
	return r;
}

void
ras_read_free(struct ras_read *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->count; i++)
		free(r->list[i]);
	free(r->comm);
	free(r->op);
	free(r);
}

/* ---- ranks and communicators ---- */

static void
ras_read_ranks_add(struct ras_ranks *to, const struct ras_rank *rank)
{
	to->total++;
	if (to->count < RAS_RANKS_MAX)
		to->list[to->count++] = *rank;
}

static struct ras_comm *
ras_read_comm_new(void)
{
	struct ras_comm *c = xcalloc(1, sizeof(*c));

	c->most = c->least = -1;
	return c;
}

static void
ras_read_comm_launched(struct ras_comm *c, const struct ras_rank *rank)
{
	if (rank->launched > c->most)
		c->most = rank->launched;
	if (c->least >= 0 && rank->launched > c->least)
		return;
	if (c->least < 0 || rank->launched < c->least) {
		c->behind.count = 0;
		c->behind.total = 0;
	}
	c->least = rank->launched;
	ras_read_ranks_add(&c->behind, rank);
}

/* Clear a text that is not an address, such as "unknown". */
static void
ras_read_addr_check(struct ras_rank *rank)
{
	unsigned char scratch[16];

	if (inet_pton(AF_INET, rank->addr, scratch) != 1 &&
	    inet_pton(AF_INET6, rank->addr, scratch) != 1)
		rank->addr[0] = '\0';
}

static void
ras_read_rank_end(struct ras_read *r)
{
	struct ras_comm *c = r->comm;
	struct ras_rank *rank = &r->rank;

	ras_read_addr_check(rank);
	if (rank->state != RAS_RUNS) {
		ras_read_ranks_add(&c->missing, rank);
		return;
	}
	if (json_object_get(r->locals, rank->addr) != NULL) {
		if (c->local++ == 0)
			c->local_least = c->answered;
		if (r->reply.pid_count < RAS_PIDS_MAX && rank->pid > 0)
			r->reply.pids[r->reply.pid_count++] = rank->pid;
	}
	c->answered++;
	c->ending += rank->is_ending;
	ras_read_comm_launched(c, rank);
}

/* Those with missing ranks come first, then those that are apart, then the
 * largest. */
static int64_t
ras_read_comm_weight(const struct ras_comm *c)
{
	return (c->missing.total > 0 ? 4 * (int64_t)COUNT_MAX : 0) +
	    (c->most > c->least ? 2 * (int64_t)COUNT_MAX : 0) + c->size;
}

static int
ras_read_comm_compare(const void *a, const void *b)
{
	int64_t x = ras_read_comm_weight(*(struct ras_comm *const *)a);
	int64_t y = ras_read_comm_weight(*(struct ras_comm *const *)b);

	return (x < y) - (x > y);
}

/* The communicator's part of the sum of all. */
static int64_t
ras_read_comm_sum(const struct ras_comm *c)
{
	return c->most < 0           ? 0
	    : c->most < LAUNCHED_MAX ? c->most
				     : LAUNCHED_MAX;
}

/* Takes c. */
static void
ras_read_comm_end(struct ras_read *r, struct ras_comm *c)
{
	r->launched += ras_read_comm_sum(c);
	r->has_counts |= c->most >= 0;
	if (c->size > r->largest && c->local > 0) {
		r->largest = c->size;
		r->reply.order = c->local_least / c->local;
	}
	r->list[r->count++] = c;
	qsort(r->list, r->count, sizeof(r->list[0]), ras_read_comm_compare);
	if (r->count > RAS_COMMS_MAX)
		free(r->list[--r->count]);
}

/* ---- JSON ---- */

/* The key of the container that is open at a depth, in the one around it. */
static int
ras_read_json_is_in(const struct ras_read *r, int depth, const char *key)
{
	return r->depth > depth && strcmp(r->open[depth - 1].key, key) == 0;
}

static int64_t
ras_read_count(const char *text)
{
	int64_t x;

	return str_to_int(text, -1, INT64_MAX / 4, &x) == 0 ? x : -1;
}

static void
ras_read_json_rank_value(struct ras_read *r, const char *key, const char *text)
{
	struct ras_rank *rank = &r->rank;

	if (strcmp(key, "rank") == 0)
		rank->rank = ras_read_count(text);
	else if (strcmp(key, "host") == 0)
		snprintf(rank->addr, sizeof(rank->addr), "%.45s", text);
	else if (strcmp(key, "pid") == 0)
		rank->pid = ras_read_count(text);
	else if (strcmp(key, "nvml_dev") == 0)
		rank->gpu = ras_read_count(text);
}

static void
ras_read_json_status_value(struct ras_read *r, const char *key,
    const char *text)
{
	struct ras_rank *rank = &r->rank;
	int is_true = strcmp(text, "true") == 0;

	if (strcmp(key, "unresponsive") == 0 && is_true &&
	    rank->state == RAS_ABSENT)
		rank->state = RAS_SILENT;
	else if (strcmp(key, "considered_dead") == 0 && is_true)
		rank->state = RAS_DEAD;
	else if ((strcmp(key, "finalize_called") == 0 ||
		     strcmp(key, "destroy_flag") == 0 ||
		     strcmp(key, "abort_flag") == 0) &&
	    is_true)
		rank->is_ending = 1;
}

/* Take a value that is not a container. */
static void
ras_read_json_value(struct ras_read *r, const char *text)
{
	const char *key = r->open[r->depth - 1].key;

	if (r->depth == 1 && strcmp(key, "nccl_version") == 0)
		snprintf(r->version, sizeof(r->version), "%.31s", text);
	else if (r->comm != NULL && r->depth == 3 && strcmp(key, "hash") == 0)
		snprintf(r->comm->hash, sizeof(r->comm->hash), "%.23s", text);
	else if (r->comm != NULL && r->depth == 3 && strcmp(key, "size") == 0)
		r->comm->size = ras_read_count(text);
	else if (r->comm == NULL || r->depth < 5)
		return;
	else if (r->depth == 5)
		ras_read_json_rank_value(r, key, text);
	else if (r->depth == 6 && ras_read_json_is_in(r, 5, "status"))
		ras_read_json_status_value(r, key, text);
	else if (r->depth == 6 &&
	    ras_read_json_is_in(r, 5, "collective_counts")) {
		int64_t more = ras_read_count(text);

		if (more > 0 && r->rank.launched < INT64_MAX / 4)
			r->rank.launched += more;
	}
}

static int
ras_read_json_open(struct ras_read *r, int is_array)
{
	if (r->depth == DEPTH_MAX ||
	    (r->depth > 0 && !r->open[r->depth - 1].is_array &&
		!r->open[r->depth - 1].has_key))
		return -EBADMSG;
	r->open[r->depth].is_array = is_array;
	r->open[r->depth].has_key = 0;
	r->open[r->depth].key[0] = '\0';
	r->depth++;
	if (r->depth == 3 && !is_array && r->comm == NULL &&
	    ras_read_json_is_in(r, 1, "communicators"))
		r->comm = ras_read_comm_new();
	if (r->depth == 5 && !is_array)
		r->rank = (struct ras_rank){ .rank = -1,
			.pid = -1,
			.gpu = -1,
			.state = ras_read_json_is_in(r, 3, "missing_ranks")
			    ? RAS_ABSENT
			    : RAS_RUNS };
	return 0;
}

static int
ras_read_json_close(struct ras_read *r, int is_array)
{
	if (r->depth == 0 || r->open[r->depth - 1].is_array != is_array)
		return -EBADMSG;
	if (r->depth == 5 && !is_array && r->comm != NULL &&
	    (ras_read_json_is_in(r, 3, "ranks") ||
		ras_read_json_is_in(r, 3, "missing_ranks"))) {
		if (r->rank.rank < 0 || r->rank.rank > COUNT_MAX)
			return -EBADMSG;
		ras_read_rank_end(r);
	}
	if (r->depth == 3 && !is_array && r->comm != NULL) {
		if (r->comm->hash[0] == '\0' || r->comm->size < 1 ||
		    r->comm->size > COUNT_MAX)
			return -EBADMSG;
		r->comms++;
		ras_read_comm_end(r, r->comm);
		r->comm = NULL;
	}
	r->depth--;
	if (r->depth > 0)
		r->open[r->depth - 1].has_key = 0;
	else
		r->is_whole = 1;
	return 0;
}

/* A string or a word is over: a key, or a value. */
static int
ras_read_json_word(struct ras_read *r, int is_string)
{
	if (r->depth == 0)
		return -EBADMSG;
	r->line[r->len] = '\0';
	r->len = 0;
	if (!r->open[r->depth - 1].is_array && !r->open[r->depth - 1].has_key) {
		if (!is_string)
			return -EBADMSG;
		snprintf(r->open[r->depth - 1].key, WORD_BYTES, "%.63s",
		    r->line);
		r->open[r->depth - 1].has_key = 1;
		return 0;
	}
	ras_read_json_value(r, r->line);
	r->open[r->depth - 1].has_key = 0;
	return 0;
}

static int
ras_read_json_string(struct ras_read *r, char ch)
{
	if (ch == '"' && !r->is_escaped) {
		r->in_string = 0;
		return ras_read_json_word(r, 1);
	}
	r->is_escaped = ch == '\\' && !r->is_escaped;
	if (!r->is_escaped && r->len < WORD_BYTES - 1)
		r->line[r->len++] = ch;
	return 0;
}

/* Commas and colons are skipped: the order of words is enough. */
static int
ras_read_json_char(struct ras_read *r, char ch)
{
	static const char blanks[] = " \t\r\n,:", marks[] = "{}[]\"";
	int rc = 0;

	if (r->in_string)
		return ras_read_json_string(r, ch);
	if (ch == '\0')
		return -EBADMSG;
	if (r->in_word &&
	    (strchr(blanks, ch) != NULL || strchr(marks, ch) != NULL)) {
		r->in_word = 0;
		rc = ras_read_json_word(r, 0);
	}
	if (rc < 0 || strchr(blanks, ch) != NULL)
		return rc;
	if (ch == '{' || ch == '[')
		return ras_read_json_open(r, ch == '[');
	if (ch == '}' || ch == ']')
		return ras_read_json_close(r, ch == ']');
	if (ch == '"') {
		r->in_string = 1;
		return 0;
	}
	r->in_word = 1;
	if (r->len < WORD_BYTES - 1)
		r->line[r->len++] = ch;
	return 0;
}

/* ---- text ---- */

/* "... -- GPU 0 managed by process 448 on node 10.0.0.7", the GPU perhaps with
 * " (NVML 1)" behind. */
static void
ras_read_text_place(struct ras_read *r, const char *line)
{
	const char *gpu = strstr(line, " -- GPU ");
	const char *nvml = strstr(line, "(NVML ");
	const char *process = strstr(line, "rocess "); /* or P */
	const char *node = strstr(line, " on node ");

	r->rank.pid = r->rank.gpu = -1;
	r->rank.addr[0] = '\0';
	if (gpu != NULL)
		(void)sscanf(gpu, " -- GPU %9ld", &r->rank.gpu);
	if (nvml != NULL)
		(void)sscanf(nvml, "(NVML %9ld", &r->rank.gpu);
	if (process != NULL)
		(void)sscanf(process, "rocess %9ld", &r->rank.pid);
	if (node != NULL)
		(void)sscanf(node, " on node %45s", r->rank.addr);
	ras_read_addr_check(&r->rank);
}

/* Counts of one operation are over. They are the communicator's where ranks are
 * further apart than in the operations before. */
static void
ras_read_text_op_end(struct ras_read *r)
{
	struct ras_comm *c = r->comm, *op = r->op;

	if (op == NULL)
		return;
	if (c != NULL && op->most - op->least > c->most - c->least) {
		c->most = op->most;
		c->least = op->least;
		c->behind = op->behind;
	}
	free(op);
	r->op = NULL;
}

static void
ras_read_text_comm_put(struct ras_read *r)
{
	ras_read_text_op_end(r);
	if (r->comm != NULL)
		ras_read_comm_end(r, r->comm);
	r->comm = NULL;
}

/* "#0-0 (14c0626c9f13fb69) INCOMPLETE": of its group's size. A communicator has
 * a heading for each of its kinds of errors. */
static void
ras_read_text_comm(struct ras_read *r, const char *line)
{
	char hash[20] = "", kind[16] = "", name[24];
	long group = -1, i;

	if (sscanf(line, "#%9ld-%9ld (%16[0-9a-f]) %15s", &group, &i, hash,
		kind) != 4 ||
	    group < 0 || group >= GROUPS_MAX)
		return;
	snprintf(name, sizeof(name), "0x%s", hash);
	ras_read_text_op_end(r);
	if (r->comm == NULL || strcmp(r->comm->hash, name) != 0) {
		ras_read_text_comm_put(r);
		for (size_t k = 0; k < r->count; k++)
			if (strcmp(r->list[k]->hash, name) == 0) {
				r->comm = r->list[k];
				r->launched -= ras_read_comm_sum(r->comm);
				r->list[k] = r->list[--r->count];
				break;
			}
		if (r->comm == NULL)
			r->comm = ras_read_comm_new();
	}
	snprintf(r->comm->hash, sizeof(r->comm->hash), "%s", name);
	r->comm->size = r->sizes[group];
	r->comm->answered = r->comm->size - r->comm->missing.total;
	r->mode = strcmp(kind, "INCOMPLETE") == 0 ? MODE_MISSING : MODE_NONE;
}

/* A process that the rest of the job considers dead. */
static void
ras_read_text_dead(struct ras_read *r, const char *line)
{
	ras_read_text_place(r, line);
	if (r->dead_count < DEAD_MAX)
		r->dead[r->dead_count++] = r->rank;
}

static void
ras_read_text_missing(struct ras_read *r, const char *line)
{
	long x;

	if (sscanf(line, "  Missing communicator data from %9ld rank", &x) ==
	    1) {
		r->comm->missing.total = x;
		r->comm->answered = r->comm->size - x;
	} else if (sscanf(line, "  Rank %9ld -- ", &x) == 1 &&
	    r->comm->missing.count < RAS_RANKS_MAX) {
		r->rank = (struct ras_rank){ .rank = x, .state = RAS_SILENT };
		ras_read_text_place(r, line);
		for (size_t i = 0; i < r->dead_count; i++)
			if (r->dead[i].pid == r->rank.pid &&
			    strcmp(r->dead[i].addr, r->rank.addr) == 0)
				r->rank.state = RAS_DEAD;
		r->comm->missing.list[r->comm->missing.count++] = r->rank;
	}
}

static void
ras_read_text_op_add(struct ras_read *r, int64_t launched, int64_t ranks)
{
	struct ras_comm *op = r->op;

	if (launched > op->most)
		op->most = launched;
	if (op->least < 0 || launched < op->least) {
		op->least = launched;
		op->behind.count = 0;
		op->behind.total = ranks;
	}
}

static void
ras_read_text_counts(struct ras_read *r, const char *line)
{
	const char *up = strstr(line, " launched up to operation ");
	int is_none = strstr(line, " have not launched ") != NULL ||
	    strstr(line, " has not launched ") != NULL;
	long x, value = 0;

	if (up != NULL)
		(void)sscanf(up, " launched up to operation %18ld", &value);
	if (r->op == NULL)
		return;
	if (sscanf(line, "  %9ld ranks have", &x) == 1 &&
	    (up != NULL || is_none)) {
		r->value = value;
		ras_read_text_op_add(r, value, x);
	} else if (sscanf(line, "  Rank %9ld ", &x) == 1) {
		if (up != NULL || is_none) {
			r->value = value;
			ras_read_text_op_add(r, value, 1);
		}
		r->rank = (struct ras_rank){ .rank = x, .launched = r->value };
		ras_read_text_place(r, line);
		if (r->value == r->op->least &&
		    r->op->behind.count < RAS_RANKS_MAX)
			r->op->behind.list[r->op->behind.count++] = r->rank;
	}
}

/* "    0         1         1         2         2         1   RUNNING  OK": the
 * group, its communicators, and as the fifth the ranks of each. */
static void
ras_read_text_group(struct ras_read *r, const char *line)
{
	long of[6];
	char per_node[24];

	if (sscanf(line, "%9ld %9ld %9ld %23s %9ld %9ld", &of[0], &of[1],
		&of[2], per_node, &of[4], &of[5]) != 6 ||
	    of[0] < 0 || of[0] >= GROUPS_MAX || of[1] < 1 || of[4] < 1)
		return;
	r->sizes[of[0]] = of[4];
	r->comms += of[1];
}

static void
ras_read_text_line(struct ras_read *r, const char *line)
{
	if (line[0] == '#') {
		ras_read_text_comm(r, line);
	} else if (strcmp(line, "Warnings") == 0) {
		r->is_whole = 1;
	} else if (strcmp(line, "DEAD") == 0) {
		r->mode = MODE_DEAD;
	} else if (strcmp(line, "INCOMPLETE") == 0) {
		r->mode = MODE_NONE;
	} else if (strncmp(line, "  Communicator ranks have different ", 36) ==
		0 &&
	    r->comm != NULL) {
		ras_read_text_op_end(r);
		r->mode = strstr(line, " operation counts") != NULL
		    ? MODE_COUNTS
		    : MODE_NONE;
		if (r->mode == MODE_COUNTS)
			r->op = ras_read_comm_new();
	} else if (r->mode == MODE_DEAD &&
	    strncmp(line, "  Process ", 10) == 0) {
		ras_read_text_dead(r, line);
	} else if (r->mode == MODE_MISSING && r->comm != NULL) {
		ras_read_text_missing(r, line);
	} else if (r->mode == MODE_COUNTS) {
		ras_read_text_counts(r, line);
	} else if (!r->is_whole && r->comm == NULL && line[0] == ' ') {
		ras_read_text_group(r, line);
	}
}

/* ---- both ---- */

/* A line before the report: answers to the commands, or the text's first. */
static void
ras_read_head_line(struct ras_read *r, const char *line)
{
	if (strncmp(line, PROTOCOL_OF, strlen(PROTOCOL_OF)) == 0)
		snprintf(r->protocol, sizeof(r->protocol), "%.11s",
		    line + strlen(PROTOCOL_OF));
	else if (sscanf(line, "NCCL version %31s", r->version) == 1)
		r->is_text = 1;
	else if (line[0] != '\0' && strcmp(line, "OK") != 0)
		r->error = -EBADMSG;
}

int
ras_read_feed(struct ras_read *r, const char *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes && r->error == 0; i++) {
		char ch = bytes[i];

		if (!r->is_json && !r->is_text && r->len == 0 && ch == '{')
			r->is_json = 1;
		if (r->is_json) {
			r->error = r->is_whole && strchr(" \r\n", ch) == NULL
			    ? -EBADMSG
			    : ras_read_json_char(r, ch);
			continue;
		}
		if (ch == '\0')
			r->error = -EBADMSG;
		if (ch != '\n') {
			if (r->len < LINE_BYTES - 1 && ch != '\r')
				r->line[r->len++] = ch;
			continue;
		}
		r->line[r->len] = '\0';
		r->len = 0;
		if (r->is_text)
			ras_read_text_line(r, r->line);
		else
			ras_read_head_line(r, r->line);
	}
	return r->error;
}

static json_t *
ras_read_ranks_json(const struct ras_ranks *ranks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ranks->count; i++) {
		const struct ras_rank *k = &ranks->list[i];

		json_array_append_new(list,
		    json_pack("{s:I, s:s, s:I, s:I, s:s}", "rank",
			(json_int_t)k->rank, "addr", k->addr, "pid",
			(json_int_t)k->pid, "gpu", (json_int_t)k->gpu, "state",
			state_names[k->state]));
	}
	return list;
}

static json_t *
ras_read_comm_json(const struct ras_comm *c)
{
	json_t *o = json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "hash",
	    text_json(c->hash), "size", (json_int_t)c->size, "answered",
	    (json_int_t)c->answered, "ending", (json_int_t)c->ending,
	    "missing_count", (json_int_t)c->missing.total, "missing",
	    ras_read_ranks_json(&c->missing));

	if (c->most < 0)
		return o;
	json_object_set_new(o, "most", json_integer(c->most));
	json_object_set_new(o, "least", json_integer(c->least));
	if (c->most == c->least)
		return o;
	json_object_set_new(o, "behind_count", json_integer(c->behind.total));
	json_object_set_new(o, "behind", ras_read_ranks_json(&c->behind));
	return o;
}

/* "2.28.9" is of a known major version. */
static int
ras_read_version_is_known(const char *version)
{
	char *end;

	return strtol(version, &end, 10) == MAJOR && *end == '.';
}

int
ras_read_end(struct ras_read *r, struct ras_reply *ret, struct err *err)
{
	json_t *list;

	if (r->is_text && !r->is_json)
		ras_read_text_comm_put(r);
	if (r->version[0] == '\0' && r->error == 0 && !r->is_json)
		return err_set(err, -EBADMSG, "no reply");
	if (r->error == 0 && !r->is_whole)
		return err_set(err, -EBADMSG,
		    "the reply of NCCL %.31s is incomplete",
		    r->version[0] != '\0' ? r->version : "?");
	if (r->error != 0 || !ras_read_version_is_known(r->version) ||
	    (r->comms == 0 && r->count > 0))
		return err_set(err, -EBADMSG,
		    "cannot interpret the reply of NCCL %.31s, protocol %.11s",
		    r->version[0] != '\0' ? r->version : "?",
		    r->protocol[0] != '\0' ? r->protocol : "?");
	list = json_array();
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(list, ras_read_comm_json(r->list[i]));
	*ret = r->reply;
	ret->report = json_pack("{s:o, s:I, s:o}", "version",
	    text_json(r->version), "comms", (json_int_t)r->comms, "list", list);
	/* Text has only communicators whose ranks differ. */
	if (r->has_counts)
		json_object_set_new(ret->report, "launched",
		    json_integer(r->launched));
	return 0;
}
