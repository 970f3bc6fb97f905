/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expectation.c - the engine predicts a time, which the collector's
 * measurements correct.
 */
#include "ctl/lib/expectation.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/member.h"
#include "common/program.h"
#include "common/robust.h"
#include "common/xalloc.h"
#include "ctl/lib/ctl.h"
#include "ctl/lib/print.h"
#include "ctl/lib/reference.h"
#include "ctl/lib/spread.h"
#include "schema/names_agent.h"

#define ANSWER_MAX     (64U << 20)
#define PAST_MAX       "200" /* runs that are looked at */
#define PAST_ASKED     50    /* the newest of them that can be compared */
#define PAST_LEAST     SPREAD_SIZED_MIN
#define PAST_TIMES     4.0  /* factor between larger and smaller data */
#define SPREAD_ASSUMED 0.15 /* of the logarithm; nothing was compared yet */

int
expectation_options(struct ctl *c, struct expectation_spec *ret)
{
	const char *bytes = opts_value(&c->opts, OPT_BYTES);

	*ret = (struct expectation_spec){ .machine = opts_value(&c->opts,
					      OPT_MACHINE),
		.op = opts_value(&c->opts, OPT_OP),
		.plan = opts_value(&c->opts, OPT_PLAN),
		.bytes = 1 << 30,
		.ranks_per_node = (int)opts_number(&c->opts, OPT_RANKS_PER_NODE,
		    1) };
	if (ret->op != NULL && ret->plan != NULL)
		return ctl_fail(
		    "--op and --plan cannot be combined: give one of them");
	if (ret->op == NULL && ret->plan == NULL)
		ret->op = "allreduce";
	if (bytes != NULL)
		(void)str_to_bytes(bytes, &ret->bytes);
	return EXIT_CODE_OK;
}

int
expectation_facts(struct ctl *c, json_t **ret)
{
	json_t *shares, *speedups;
	int rc;

	if (!opts_given(&c->opts, OPT_MACHINE))
		return ctl_fail("missing --machine: expected a name, such as "
				"perlmutter, or a file");
	rc = ctl_get(c, "shares", NULL, &shares);
	if (rc != 0)
		return rc;
	rc = ctl_list(c, &speedups, "speedups", "limit", PAST_MAX, NULL);
	if (rc == 0) {
		json_object_set_new(shares, "speedups", speedups);
		*ret = shares; /* handed over */
		return 0;
	}
	json_decref(shares);
	return rc;
}

/* ---- the engine ---- */

/* All that comes from fd, or NULL where that takes too long. */
static char *
expectation_engine_read(int fd, uint64_t until_ns)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct strbuf sb = { 0 };
	char part[65536];
	ssize_t n = 1;

	strbuf_add(&sb, "", 0);
	while (n > 0) {
		uint64_t now_ns = clk_ns();
		int left_ms = until_ns == 0 ? -1
		    : now_ns >= until_ns
		    ? 0
		    : (int)((until_ns - now_ns) / CLK_NS_PER_MS) + 1;
		int rc = poll(&ready, 1, left_ms);

		if (rc == 0) {
			strbuf_clear(&sb);
			return NULL;
		}
		n = rc < 0 ? -1 : read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0 && sb.len_bytes < ANSWER_MAX)
			strbuf_add(&sb, part, (size_t)n);
	}
	return sb.text;
}

/* Run coalmine-probe expect; its errors go to the caller's stderr. */
static int
expectation_engine_ask(const json_t *question, uint64_t until_ns, json_t **ret,
    struct err *err)
{
	char *program = ctl_beside("bin/coalmine-probe"), verb[] = "expect";
	char path[32], *text;
	char *argv[] = { program, verb, path, NULL };
	int in = memfd_create("expect", 0), out[2] = { -1, -1 }, status = 0;
	char *asked = json_dumps(question, JSON_COMPACT);
	json_error_t error;
	pid_t pid;
	int rc;

	snprintf(path, sizeof(path), "/dev/fd/%d", in);
	/* In one piece: json_dumpfd writes each word on its own. */
	if (in < 0 || pipe(out) < 0 || asked == NULL ||
	    dprintf(in, "%s", asked) < 0) {
		rc = err_set(err, -EIO,
		    "cannot store the request to coalmine-probe: %s",
		    strerror(errno));
		goto out;
	}
	rc = program_start(argv, environ, out[1], STDERR_FILENO, &pid);
	if (rc < 0) {
		err_say(err, "%s: %s", program, strerror(-rc));
		goto out;
	}
	close(out[1]);
	out[1] = -1;
	text = expectation_engine_read(out[0], until_ns);
	if (text == NULL)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (text == NULL) {
		rc = err_set(err, -ETIMEDOUT, "%s did not answer in time",
		    program);
		goto out;
	}
	*ret = json_loads(text, 0, &error);
	free(text);
	if (program_exit(status) != 0 || !json_is_array(*ret)) {
		json_decref(*ret);
		rc = err_set(err, -EREMOTEIO,
		    "%s failed to predict the time: exit status %d", program,
		    program_exit(status));
	}
out:
	for (int i = 0; i < 2; i++)
		if (out[i] >= 0)
			close(out[i]);
	if (in >= 0)
		close(in);
	free(asked);
	free(program);
	return rc;
}

/* ---- requests ---- */

struct work {
	const struct expectation_spec *spec;
	const json_t *facts;
	json_t *rows, *leaves; /* by name */
	json_t *asks, *asked;  /* asked: index of each request by its text */
	json_t *past;          /* those of facts that can be compared */
	json_t *past_asks;     /* where in asks each of past is */
	struct err *err;
};

static json_t *
expectation_by_name(const json_t *rows, const char *key)
{
	json_t *ret = json_object(), *o;
	size_t i;

	json_array_foreach (rows, i, o)
		json_object_set(ret, member_text(o, key), o);
	return ret;
}

/* Return the index of a request in asks; an equal one is added only once. slow:
 * the slow nodes of another time, or NULL; handed over. */
static size_t
expectation_ask(struct work *w, const char *nodes, double bytes, json_t *slow)
{
	json_t *o = json_pack("{s:s, s:f, s:o*}", "nodes", nodes, "bytes",
	    bytes, "slow", slow);
	char *key = json_dumps(o, JSON_COMPACT);
	size_t at = json_array_size(w->asks);
	const json_t *had = json_object_get(w->asked, key);

	if (had != NULL) {
		at = (size_t)json_integer_value(had);
	} else {
		json_object_set_new(w->asked, key,
		    json_integer((json_int_t)at));
		json_array_append(w->asks, o);
	}
	json_decref(o);
	free(key);
	return at;
}

/* As an allocation has them; each is one that the collector knows. */
static int
expectation_nodes_sort(const struct work *w, const char *list,
    char **ret_sorted, size_t *ret_n, struct err *err)
{
	struct hostlist hl = { 0 };
	struct err reason;
	int rc = hostlist_parse(list, &hl, &reason);

	if (rc < 0)
		(void)err_set(err, rc, "%.100s: %s", list, reason.text);
	for (size_t i = 0; rc == 0 && i < hl.count; i++)
		if (json_object_get(w->rows, hl.names[i]) == NULL)
			rc = err_set(err, -ENOENT,
			    "%.80s: no agent of this name has ever connected; "
			    "coalctl node list shows the nodes",
			    hl.names[i]);
	if (rc == 0) {
		hostlist_sort((const char **)hl.names, hl.count);
		*ret_sorted = hostlist_format((const char *const *)hl.names,
		    hl.count);
		*ret_n = hl.count;
	}
	hostlist_clear(&hl);
	return rc;
}

/* Runs of the same collective with about as many bytes, and as many ranks a
 * node: as what their nodes and leaves gave at that time, where the collector
 * knows it, else as they are described, for most runs are of sound ones. */
static void
expectation_ask_past(struct work *w)
{
	const json_t *o;
	size_t i;

	member_foreach (w->facts, "speedups", i, o) {
		json_t *slow = json_object_get(json_object_get(o, "shares"),
		    "slow");
		double bytes = member_number(o, "bytes");
		struct err unknown;
		size_t count;
		char *list;

		if (w->spec->op == NULL ||
		    json_array_size(w->past) == PAST_ASKED ||
		    strcmp(member_text(o, "collective"), w->spec->op) != 0 ||
		    !(member_number(o, "seconds") > 0) ||
		    !(bytes * PAST_TIMES >= (double)w->spec->bytes &&
			bytes <= PAST_TIMES * (double)w->spec->bytes) ||
		    expectation_nodes_sort(w, member_text(o, "nodes"), &list,
			&count, &unknown) < 0)
			continue;
		if (count > 1 &&
		    (json_int_t)count * w->spec->ranks_per_node ==
			member_int(o, "ranks")) {
			json_array_append(w->past, (json_t *)(uintptr_t)o);
			json_array_append_new(w->past_asks,
			    json_integer(
				(json_int_t)expectation_ask(w, list, bytes,
				    json_is_array(slow) ? json_incref(slow)
							: json_array())));
		}
		free(list);
	}
}

/* ---- the best nodes ---- */

struct candidate {
	const char *name, *leaf;
	int is_kept;
	double share;
	size_t leaf_sound; /* how many sound ones its leaf has */
};

static int
expectation_candidate_compare(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;
	int sound = (b->share >= EXPECTATION_SOUND) -
	    (a->share >= EXPECTATION_SOUND),
	    leaf;

	if (a->is_kept != b->is_kept)
		return a->is_kept ? -1 : 1;
	if (sound != 0)
		return sound;
	if (a->leaf_sound != b->leaf_sound)
		return a->leaf_sound > b->leaf_sound ? -1 : 1;
	leaf = strcmp(a->leaf, b->leaf);
	return leaf != 0 ? leaf : hostlist_compare(a->name, b->name);
}

/* As many as possible of one leaf, none that is slow or away; nodes of kept,
 * which may be NULL, first. NULL where there are too few. Caller frees. */
static char *
expectation_best_nodes(const struct work *w, const struct hostlist *kept,
    size_t count)
{
	const json_t *rows = json_object_get(w->facts, "nodes"), *o;
	struct candidate *all = xcalloc(json_array_size(rows) + 1,
	    sizeof(*all));
	json_t *sound = json_object();
	const char **names;
	size_t n = 0, i;
	char *ret = NULL;

	json_array_foreach (rows, i, o) {
		const char *leaf = member_text(o, "leaf");
		double leaf_share = member_number(json_object_get(w->leaves,
						      leaf),
		    "share");
		int is_kept = kept != NULL && !member_bool(o, "gone") &&
		    hostlist_has(kept, member_text(o, "node"));

		if (!is_kept &&
		    strcmp(member_text(o, "state"),
			names_agent_states[AGENT_OK]) != 0)
			continue;
		all[n] = (struct candidate){ member_text(o, "node"), leaf,
			is_kept, fmin(member_number(o, "share"), leaf_share),
			0 };
		if (all[n++].share >= EXPECTATION_SOUND)
			json_object_set_new(sound, leaf,
			    json_integer(member_int(sound, leaf) + 1));
	}
	for (i = 0; i < n; i++)
		all[i].leaf_sound = (size_t)member_int(sound, all[i].leaf);
	qsort(all, n, sizeof(*all), expectation_candidate_compare);
	if (n >= count) {
		names = xcalloc(count + 1, sizeof(*names));
		for (i = 0; i < count; i++)
			names[i] = all[i].name;
		hostlist_sort(names, count);
		ret = hostlist_format(names, count);
		free(names);
	}
	json_decref(sound);
	free(all);
	return ret;
}

/* ---- results ---- */

/* How measured times lie about predicted ones, as logarithms, for as many ranks
 * and bytes as are asked about. */
struct residue {
	double centre, spread, t;
	size_t compared;
};

static struct residue
expectation_residue_of(const struct work *w, const char *key,
    const json_t *answers, const json_t *own)
{
	double ranks = member_number(own, "ranks");
	struct residue r = { 0, SPREAD_ASSUMED,
		robust_normal_quantile(0.5 + EXPECTATION_LEVEL / 2), 0 };
	struct sized *runs = xcalloc(json_array_size(w->past) + 1,
	    sizeof(*runs));
	struct doubt d;
	const json_t *o;
	size_t i;

	json_array_foreach (w->past, i, o) {
		double seconds = member_number(o, key);
		const json_t *at = json_array_get(w->past_asks, i);

		if (seconds > 0)
			runs[r.compared++] = (struct sized){
				log(seconds /
				    member_number(json_array_get(answers,
						      (size_t)
							  json_integer_value(
							      at)),
					"time_s")),
				{ log(member_number(o, "ranks") / ranks),
				    log(member_number(o, "bytes") /
					(double)w->spec->bytes) }
			};
	}
	if (r.compared >= PAST_LEAST) {
		r.centre = spread_of_sizes(runs, r.compared, &d);
		r.spread = d.se;
		r.t = robust_t_quantile(0.5 + EXPECTATION_LEVEL / 2, d.df);
	}
	free(runs);
	return r;
}

static void
expectation_put_seconds(json_t *o, double predicted_s, const struct residue *r,
    double spread)
{
	double s = predicted_s * exp(r->centre);
	double reach = exp(
	    r->t * sqrt(r->spread * r->spread + spread * spread));

	json_object_update_new(o,
	    json_pack("{s:f, s:{s:f, s:f, s:f}, s:i, s:s}", "seconds", s,
		"interval", "level", EXPECTATION_LEVEL, "lo", s / reach, "hi",
		s * reach, "compared", (int)r->compared, "basis",
		r->compared >= PAST_LEAST ? "measured" : "assumed"));
}

/* The row of what limits: "node5 n0 out", "leaf2 up". */
static const json_t *
expectation_limit_row(const struct work *w, const char *limit)
{
	char *name = xstrndup(limit, strcspn(limit, " "));
	const json_t *row = json_object_get(w->rows, name);

	if (row == NULL)
		row = json_object_get(w->leaves, name);
	free(name);
	return row;
}

/* Report the slow and the unknown nodes of the list. */
static void
expectation_put_state(const struct work *w, json_t *o, const char *list)
{
	json_t *slow = json_array(), *unknown = json_array();
	json_t *seen = json_object(), *row;
	struct hostlist hl = { 0 };

	(void)hostlist_parse(list, &hl, NULL);
	for (size_t i = 0; i < hl.count; i++) {
		const char *leaf;

		row = json_object_get(w->rows, hl.names[i]);
		leaf = member_text(row, "leaf");
		if (member_number(row, "share") < EXPECTATION_SOUND)
			json_array_append(slow, row);
		if (member_int(row, "rounds") == 0)
			json_array_append_new(unknown,
			    json_string(hl.names[i]));
		row = json_object_get(w->leaves, leaf);
		if (member_number(row, "share") < EXPECTATION_SOUND &&
		    json_object_get(seen, leaf) == NULL)
			json_array_append(slow, row);
		json_object_set_new(seen, leaf, json_true());
	}
	json_object_set_new(o, "slow", slow);
	json_object_set_new(o, "unknown", unknown);
	json_decref(seen);
	hostlist_clear(&hl);
}

/* Add the published results of this class of machine, if there are any. */
static void
expectation_put_published(const struct work *w, json_t *o, const json_t *answer)
{
	struct reference_class class = { member_text(answer, "gpu"),
		member_text(answer, "fabric"), w->spec->op,
		member_number(answer, "node_gbps"), (double)w->spec->bytes,
		(int)member_int(answer, "nodes"),
		(int)member_int(answer, "ranks") };
	json_t *rows;

	if (class.op == NULL || class.ranks < 2)
		return;
	rows = reference_match(w->spec->reference, &class);
	if (json_array_size(rows) > 0)
		json_object_set(o, "published", rows);
	json_decref(rows);
}

static json_t *
expectation_answer_make(const struct work *w, const char *list,
    const json_t *answer, const struct residue *r, const struct residue *mpi)
{
	json_t *o = json_pack("{s:s, s:O, s:O, s:O, s:O, s:O}", "nodes", list,
	    "ranks", json_object_get(answer, "ranks"), "predicted_seconds",
	    json_object_get(answer, "time_s"), "limit",
	    json_object_get(answer, "limit"), "busy",
	    json_object_get(answer, "busy"), "rate_bytes_per_s",
	    json_object_get(answer, "rate_bytes_per_s"));
	const json_t *row = expectation_limit_row(w,
	    member_text(answer, "limit"));
	double spread = member_number(row, "spread"), share;
	double predicted_s = member_number(answer, "time_s");

	share = member_number(row, "share");
	if (share > 0)
		json_object_set_new(o, "limit_share", json_real(share));
	/* A normal node has no spread. */
	if (!(share < 1) || !(spread > 0))
		spread = 0;
	expectation_put_seconds(o, predicted_s, r, spread);
	if (w->spec->op != NULL)
		json_object_set_new(o, "throughput_bytes_per_s",
		    json_real(
			(double)w->spec->bytes / member_number(o, "seconds")));
	if (mpi->compared >= PAST_LEAST) {
		json_t *own = json_object();

		expectation_put_seconds(own, predicted_s, mpi, spread);
		json_object_set_new(o, "mpi", own);
	}
	expectation_put_state(w, o, list);
	expectation_put_published(w, o, answer);
	return o;
}

/* The words of a plan. */
static json_t *
expectation_plan_words(const char *text)
{
	char *copy = text == NULL ? NULL : xstrdup(text), *save = NULL;
	json_t *words = json_array();

	for (char *w = copy == NULL ? NULL : strtok_r(copy, " ", &save);
	     w != NULL; w = strtok_r(NULL, " ", &save))
		json_array_append_new(words, json_string(w));
	free(copy);
	return words;
}

/* All at once, for the start of the engine is what takes time. */
static int
expectation_ask_all(const struct work *w, json_t **ret)
{
	const struct expectation_spec *spec = w->spec;
	json_t *question = json_pack("{s:s, s:i, s:s*, s:o, s:O, s:O, s:O}",
	    "machine", spec->machine, "ranks_per_node", spec->ranks_per_node,
	    "op", spec->op, "plan", expectation_plan_words(spec->plan), "nodes",
	    json_object_get(w->facts, "nodes"), "leaves",
	    json_object_get(w->facts, "leaves"), "asks", w->asks);
	int rc = question == NULL
	    ? err_set(w->err, -EPROTO,
		  "cannot make the request: a name is not UTF-8, or the "
		  "collector's answer is incomplete")
	    : expectation_engine_ask(question, spec->until_ns, ret, w->err);

	json_decref(question);
	if (rc < 0 || json_array_size(*ret) == json_array_size(w->asks))
		return rc;
	json_decref(*ret);
	return err_set(w->err, -EPROTO,
	    "the answer of coalmine-probe is incomplete");
}

static struct work
expectation_work_begin(const struct expectation_spec *spec, const json_t *facts,
    struct err *err)
{
	return (struct work){ spec, facts,
		expectation_by_name(json_object_get(facts, "nodes"), "node"),
		expectation_by_name(json_object_get(facts, "leaves"), "leaf"),
		json_array(), json_object(), json_array(), json_array(), err };
}

static void
expectation_work_end(struct work *w)
{
	json_decref(w->rows);
	json_decref(w->leaves);
	json_decref(w->asks);
	json_decref(w->asked);
	json_decref(w->past);
	json_decref(w->past_asks);
}

/* A list of nodes, the best ones in place of them, and their indices in asks.
 */
struct listed {
	char *sorted, *best;
	size_t at, best_at;
};

static int
expectation_listed_make(struct work *w, const char *nodes, struct listed *ret)
{
	double bytes = (double)w->spec->bytes;
	size_t count;
	int rc = expectation_nodes_sort(w, nodes, &ret->sorted, &count, w->err);

	if (rc < 0)
		return rc;
	ret->at = expectation_ask(w, ret->sorted, bytes, NULL);
	ret->best = expectation_best_nodes(w, NULL, count);
	if (ret->best != NULL)
		ret->best_at = expectation_ask(w, ret->best, bytes, NULL);
	return 0;
}

static json_t *
expectation_listed_answer(const struct work *w, const struct listed *l,
    const json_t *answers)
{
	/* The correction is for the number of ranks of the request. */
	json_t *own = json_array_get(answers, l->at), *ret;
	struct residue r = expectation_residue_of(w, "seconds", answers, own);
	struct residue mpi = expectation_residue_of(w, "baseline_seconds",
	    answers, own);

	ret = expectation_answer_make(w, l->sorted, own, &r, &mpi);
	if (l->best != NULL)
		json_object_set_new(ret, "best",
		    expectation_answer_make(w, l->best,
			json_array_get(answers, l->best_at), &r, &mpi));
	return ret;
}

int
expectation_make_all(const struct expectation_spec *spec, const json_t *facts,
    const char *const *lists, size_t count, json_t **ret, struct err *err)
{
	struct work w = expectation_work_begin(spec, facts, err);
	struct listed *all = xcalloc(count + 1, sizeof(*all));
	json_t *answers = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = expectation_listed_make(&w, lists[i], &all[i]);
	expectation_ask_past(&w);
	if (rc == 0)
		rc = expectation_ask_all(&w, &answers);
	if (rc == 0) {
		*ret = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(*ret,
			    expectation_listed_answer(&w, &all[i], answers));
		json_decref(answers);
	}
	for (size_t i = 0; i < count; i++) {
		free(all[i].sorted);
		free(all[i].best);
	}
	free(all);
	expectation_work_end(&w);
	return rc;
}

int
expectation_make(const struct expectation_spec *spec, const json_t *facts,
    const char *nodes, json_t **ret, struct err *err)
{
	json_t *all;
	int rc = expectation_make_all(spec, facts, &nodes, 1, &all, err);

	if (rc == 0) {
		*ret = json_incref(json_array_get(all, 0));
		json_decref(all);
	}
	return rc;
}

char *
expectation_replace(const json_t *facts, const char *nodes)
{
	struct expectation_spec spec = { .op = NULL };
	struct work w = expectation_work_begin(&spec, facts, NULL);
	struct hostlist kept = { 0 };
	char *ret = NULL;

	if (hostlist_parse(nodes, &kept, NULL) == 0)
		for (size_t n = kept.count; ret == NULL && n > 0; n--)
			ret = expectation_best_nodes(&w, &kept, n);
	hostlist_clear(&kept);
	expectation_work_end(&w);
	return ret;
}

void
expectation_print(const json_t *o)
{
	const json_t *interval = json_object_get(o, "interval");
	char s[PRINT_BYTES], lo[PRINT_BYTES], hi[PRINT_BYTES];
	int compared = (int)member_int(o, "compared");

	print_quantity(member_number(o, "seconds"), "s", s);
	print_quantity(member_number(interval, "lo"), "s", lo);
	print_quantity(member_number(interval, "hi"), "s", hi);
	printf("%s, in 95 of 100 runs %s to %s", s, lo, hi);
	if (strcmp(member_text(o, "basis"), "measured") == 0)
		printf(" (from %d earlier runs)\n", compared);
	else if (compared > 0)
		printf(" (interval assumed: %d earlier runs, %d needed)\n",
		    compared, PAST_LEAST);
	else
		printf(" (interval assumed: no earlier runs)\n");
}

void
expectation_print_published(const json_t *o)
{
	const char *title = "elsewhere";
	char bytes[PRINT_BYTES];
	const json_t *row;
	size_t i;

	member_foreach (o, "published", i, row) {
		str_bytes_format(member_number(row, "bytes"), bytes,
		    sizeof(bytes));
		printf("%-9s %.4g GB/s of bus bandwidth published: %s, %s, "
		       "%.0f ranks, %s: %s\n",
		    title, member_number(row, "busbw_bytes_per_s") / 1e9,
		    member_text_or(row, "gpu", "any GPU"),
		    member_text_or(row, "fabric", "fabric not stated"),
		    member_number(row, "ranks"), bytes,
		    member_text(row, "source"));
		title = "";
	}
}
