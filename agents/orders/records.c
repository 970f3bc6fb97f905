/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - a numbered record goes to the spool first and from there to the
 * collector, in batches of one run.
 */
#include "agents/orders/records.h"

#include <stdio.h>
#include <stdlib.h>

#include "agents/agent.h"
#include "agents/session/session.h"
#include "agents/spool/spool.h"
#include "common/str.h"

/* Records of one message; a single one may be larger (RECORD_LINE_MAX). */
#define BATCH_BYTES (128 * 1024)

/* Send a batch of one run: 1 when there was something to send. */
static int
records_send_batch(struct agent *ag, const char *run)
{
	struct strbuf lines = { 0 };
	size_t room = SIZE_MAX; /* the first may be longer than a batch */
	struct spool_entry e;

	while (spool_next(ag->spool, run, room, &e)) {
		if (lines.len_bytes > 0)
			strbuf_add(&lines, ",", 1);
		strbuf_add(&lines, e.line, e.len_bytes);
		free(e.line);
		room = lines.len_bytes < BATCH_BYTES
		    ? BATCH_BYTES - lines.len_bytes
		    : 0;
	}
	if (lines.len_bytes == 0)
		return 0;
	session_send_lines(ag->session, WIRE_RECORDS, run, &lines);
	strbuf_clear(&lines);
	return 1;
}

/* Send records of the run while the session has room, then the count of those
 * that the spool has lost. */
static void
records_send_run(struct agent *ag, const char *run)
{
	uint64_t records, bytes;

	if (!session_is_up(ag->session))
		return;
	while (session_room(ag->session) > 0 && records_send_batch(ag, run))
		;
	if (spool_lost(ag->spool, run, &records, &bytes))
		session_send(ag->session, WIRE_SPOOL_LOST,
		    json_pack("{s:s, s:I, s:I}", "run", run, "records",
			(json_int_t)records, "bytes", (json_int_t)bytes));
}

static void
records_send_each(const struct spool_run *sr, void *arg)
{
	char run[RECORD_RUN_MAX + 1];

	snprintf(run, sizeof(run), "%s", sr->run); /* may go with its file */
	records_send_run(arg, run);
}

void
records_put(const char *run, const struct record_head *head, const char *line,
    size_t len_bytes, void *arg)
{
	struct agent *ag = arg;
	/* Records are synced once a second, together: syncing each could take
	 * the disk longer than the engine takes to make it. */
	static const struct timeval sync_after = { .tv_sec = 1 };

	if (head->seq == 0) {
		struct strbuf one = { 0 };

		if (session_room(ag->session) == 0)
			return; /* the next one says more */

		strbuf_add(&one, line, len_bytes);
		session_send_lines(ag->session, WIRE_PROGRESS, run, &one);
		strbuf_clear(&one);
		return;
	}
	spool_append(ag->spool, run, head->seq, head->raw, line, len_bytes);
	if (!event_pending(ag->sync, EV_TIMEOUT, NULL))
		event_add(ag->sync, &sync_after);
	records_send_run(ag, run);
}

void
records_send(void *arg)
{
	struct agent *ag = arg;

	spool_walk(ag->spool, records_send_each, ag);
}
