/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.c - records travel to rank 0, which takes them while it waits.
 */

#include "probes/job/relay.h"

#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "probes/job/control.h"
#include "probes/job/emit.h"
#include "probes/job/world.h"

#define TAG_LINE    701
#define TAG_FINISH  702
#define POLL_GAP_NS (50 * CLK_NS_PER_MS)

static struct {
	struct world *world;
	relay_sink *sink;
	void *arg;
	uint64_t polled_ns;
	int finished; /* set by the message of the root whose turn it is */
	char *soon;   /* text on its way */
	MPI_Request soon_req;
} rl;

/* One message, if there is one. */
static int
relay_take(void)
{
	MPI_Message msg;
	MPI_Status st;
	json_t *record;
	char *text;
	int there, len;

	MPI_DO(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, rl.world->control,
	    &there, &msg, &st));
	if (!there)
		return 0;
	MPI_DO(MPI_Get_count(&st, MPI_CHAR, &len));
	text = xcalloc((size_t)len + 1, 1);
	MPI_DO(MPI_Mrecv(text, len, MPI_CHAR, &msg, MPI_STATUS_IGNORE));
	if (st.MPI_TAG == TAG_FINISH) {
		rl.finished++;
	} else {
		record = json_loadb(text, (size_t)len, 0, NULL);
		if (record == NULL)
			fatalx("rank %d relayed a malformed record",
			    st.MPI_SOURCE);
		rl.sink(rl.arg, record);
	}
	free(text);
	return 1;
}

void
relay_poll(void)
{
	uint64_t now = clk_ns();

	if (rl.world->rank != 0 || now - rl.polled_ns < POLL_GAP_NS)
		return;
	rl.polled_ns = now;
	while (relay_take())
		;
}

static void
relay_poll_hook(void *arg)
{
	(void)arg;
	relay_poll();
}

void
relay_open(struct world *w, relay_sink *sink, void *arg)
{
	memset(&rl, 0, sizeof(rl));
	rl.world = w;
	rl.sink = sink;
	rl.arg = arg;
	rl.soon_req = MPI_REQUEST_NULL;
	control_set_idle(relay_poll_hook, NULL);
}

void
relay_close(void)
{
	if (rl.soon != NULL)
		control_wait(&rl.soon_req);
	free(rl.soon);
	rl.soon = NULL;
	control_set_idle(NULL, NULL);
}

static char *
relay_text_of(json_t *record)
{
	char *text = json_dumps(record, EMIT_JSON);

	if (text == NULL)
		fatalx("cannot write a record");
	json_decref(record);
	return text;
}

void
relay_put(json_t *record)
{
	MPI_Request req;
	char *text;

	if (rl.world->rank == 0) {
		rl.sink(rl.arg, record);
		return;
	}
	text = relay_text_of(record);
	MPI_DO(MPI_Isend(text, (int)strlen(text), MPI_CHAR, 0, TAG_LINE,
	    rl.world->control, &req));
	control_wait(&req);
	free(text);
}

void
relay_put_soon(json_t *record)
{
	if (rl.world->rank == 0) {
		rl.sink(rl.arg, record);
		return;
	}
	if (rl.soon != NULL && !control_done(&rl.soon_req)) {
		json_decref(record);
		return;
	}
	free(rl.soon);
	rl.soon = relay_text_of(record);
	MPI_DO(MPI_Isend(rl.soon, (int)strlen(rl.soon), MPI_CHAR, 0, TAG_LINE,
	    rl.world->control, &rl.soon_req));
}

void
relay_turn(int root)
{
	if (root != 0 && rl.world->rank == root)
		MPI_DO(MPI_Send(NULL, 0, MPI_CHAR, 0, TAG_FINISH,
		    rl.world->control));
	if (root != 0 && rl.world->rank == 0) {
		while (rl.finished == 0)
			if (!relay_take())
				clk_sleep_ns(CLK_NS_PER_MS);
		rl.finished = 0;
	}
	control_barrier(rl.world->control);
}
