/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - a fake store that accepts every row, stores nothing and answers
 * nothing. These functions are weak: a test defines only the calls it checks.
 */
#include "daemon/store/store.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define FAKE __attribute__((weak))

FAKE void
store_put_record(struct store *st, const json_t *record,
    const struct record_line *line, store_cb *cb, void *arg)
{
}

FAKE void
store_put_run(struct store *st, const json_t *run,
    const struct store_event *event, store_cb *cb, void *arg)
{
}

FAKE void
store_put_counters(struct store *st, const char *run, const char *node,
    int64_t border, int64_t at_unix_ns, const json_t *nics)
{
}

FAKE void
store_put_node(struct store *st, const json_t *node)
{
}

FAKE void
store_drop_node(struct store *st, const char *node)
{
}

FAKE void
store_put_inventory(struct store *st, const char *node, const json_t *inventory)
{
}

FAKE void
store_put_event(struct store *st, const char *kind, const char *subject,
    const char *text)
{
}

FAKE void
store_put_verdict(struct store *st, const json_t *verdict,
    const struct store_event *event)
{
}

FAKE void
store_put_baseline(struct store *st, const char *name, const json_t *body)
{
}

FAKE void
store_put_batch_job(struct store *st, const json_t *job)
{
}

FAKE void
store_put_in_band(struct store *st, const json_t *row)
{
}

FAKE void
store_put_occasion(struct store *st, const json_t *occasion)
{
}

FAKE void
store_put_shares(struct store *st, const json_t *shares)
{
}

FAKE void
store_put_setting(struct store *st, const char *key, const char *value,
    store_cb *cb, void *arg)
{
}

FAKE int
store_leads(const struct store *st)
{
	return 1;
}

FAKE void
store_health(struct store *st, struct store_health *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->writable = ret->leads = 1;
}
