/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective_feed.c - rows of shares between the diagnosis, the store and the
 * objectives.
 */
#include "daemon/objective_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/cluster/roster.h"
#include "daemon/objective/share_rows.h"
#include "daemon/store/store.h"

#define ROWS_EVERY_NS  (10 * CLK_NS_PER_S)
#define STATE_EVERY_NS (5 * CLK_NS_PER_S)
#define ROWS_MAX       10000

struct objective_feed {
	struct objective_feed_options o;
	struct objectives *objectives; /* NULL: none */
	json_t *last;                  /* the newest row, or NULL */
	int round;                     /* one has arrived since */
	uint64_t row_ns, state_ns;
	int asked; /* the store has not answered yet */
};

static const char *
objective_feed_leaf_of(void *arg, const char *node)
{
	const struct objective_feed *f = arg;
	const struct node *n = roster_find(f->o.roster, node);

	return n != NULL ? n->leaf : "";
}

static void
objective_feed_changed(void *arg, const char *name, const char *state,
    const char *text)
{
	struct objective_feed *f = arg;
	char *line = xasprintf("objective %s: %s: %s", name, state, text);

	log_info("%s", line);
	store_put_event(f->o.store, "alarm", name, line);
	free(line);
}

struct objective_feed *
objective_feed_new(const struct objective_feed_options *o)
{
	struct objective_feed *f;

	if (o->count == 0 && !o->has_jobs)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->o = *o;
	if (o->count > 0)
		f->objectives = objectives_new(o->list, o->count,
		    &(struct objectives_ops){ objective_feed_leaf_of,
			objective_feed_changed, f });
	return f;
}

void
objective_feed_free(struct objective_feed *f)
{
	if (f == NULL)
		return;
	objectives_free(f->objectives);
	json_decref(f->last);
	free(f);
}

static void objective_feed_ask(struct objective_feed *f, int again);

static void
objective_feed_rows_cb(int status, json_t *rows, void *arg)
{
	struct objective_feed *f = arg;

	f->asked = 0;
	if (status == 0) {
		objectives_load(f->objectives, rows, clk_unix_ns());
		objective_feed_ask(f, 0);
	} else if (status != -ECANCELED) {
		log_warnx("cannot load objectives from the store: %s; retrying",
		    strerror(-status));
	}
	json_decref(rows);
}

/* Load the next slice; again: also after the last one. */
static void
objective_feed_ask(struct objective_feed *f, int again)
{
	uint64_t from_unix_ns, to_unix_ns;
	json_t *args;

	if (f->objectives == NULL || f->asked ||
	    !objectives_slice(f->objectives, again, clk_unix_ns(),
		&from_unix_ns, &to_unix_ns))
		return;
	args = json_pack("{s:I, s:I, s:i}", "from_unix_ns",
	    (json_int_t)from_unix_ns, "to_unix_ns", (json_int_t)to_unix_ns,
	    "limit", ROWS_MAX);
	f->asked = 1;
	store_ask(f->o.store, STORE_SHARES, args, objective_feed_rows_cb, f);
	json_decref(args);
}

void
objective_feed_load(struct objective_feed *f)
{
	if (f != NULL)
		objective_feed_ask(f, 1);
}

void
objective_feed_round(struct objective_feed *f)
{
	if (f == NULL)
		return;
	f->round = 1;
	if (f->objectives != NULL)
		objectives_round(f->objectives, clk_ns());
}

static void
objective_feed_row(struct objective_feed *f)
{
	json_t *shares = f->o.shares(f->o.arg);
	json_t *row = share_rows_make(shares, f->o.promised, f->last,
	    clk_unix_ns());

	json_decref(shares);
	if (row == NULL)
		return;
	store_put_shares(f->o.store, row);
	if (f->objectives != NULL)
		objectives_row(f->objectives, row);
	json_decref(f->last);
	f->last = row;
}

void
objective_feed_tick(struct objective_feed *f)
{
	uint64_t now_ns = clk_ns();

	if (f == NULL)
		return;
	if (f->round && now_ns - f->row_ns >= ROWS_EVERY_NS) {
		f->round = 0;
		f->row_ns = now_ns;
		objective_feed_row(f);
	}
	if (f->objectives == NULL || now_ns - f->state_ns < STATE_EVERY_NS)
		return;
	f->state_ns = now_ns;
	objective_feed_ask(f, 0); /* if the store failed */
	objectives_tick(f->objectives, clk_unix_ns());
}

struct objectives *
objective_feed_objectives(const struct objective_feed *f)
{
	return f == NULL ? NULL : f->objectives;
}
