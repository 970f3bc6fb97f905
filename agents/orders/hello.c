/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - a hello is limited in size; inventory and runs share it.
 */
#include "agents/orders/hello.h"

#include <stdlib.h>
#include <string.h>

#include "agents/agent.h"
#include "agents/run/idle.h"
#include "agents/run/run.h"
#include "agents/sensor/inband.h"
#include "agents/sensor/inventory.h"
#include "agents/sensor/ras.h"
#include "agents/sensor/settings.h"
#include "agents/spool/spool.h"
#include "common/err.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "schema/wire.h"

/* Of a hello, besides runs in the spool. */
#define HELLO_INVENTORY_MAX (WIRE_HELLO_BYTES_MAX / 2)
#define HELLO_REST_MAX      1024

struct hello_spool {
	json_t *list;
	size_t room_bytes;
};

/* List runs while there is room; the collector learns of the others from their
 * records. */
static void
hello_put_spool(const struct spool_run *sr, void *arg)
{
	struct hello_spool *hs = arg;
	json_t *row;
	size_t bytes;

	if (sr->last_seq == 0)
		return;
	row = json_pack("{s:s, s:I}", "run", sr->run, "seq",
	    (json_int_t)sr->last_seq);
	bytes = json_dumpb(row, NULL, 0, JSON_COMPACT) + 1;
	if (bytes > hs->room_bytes) {
		json_decref(row);
		return;
	}
	hs->room_bytes -= bytes;
	json_array_append_new(hs->list, row);
}

/* Devices, addresses and settings change. If the hello is too long, drop the
 * last entries, those without hardware first. */
static void
hello_refresh(struct agent *ag)
{
	json_t *nics = inventory_nics("");
	size_t last, i;

	json_object_set_new(ag->inventory, "nics", nics);
	json_object_set_new(ag->inventory, "settings",
	    settings_read("", ag->inventory));
	while (json_dumpb(ag->inventory, NULL, 0, JSON_COMPACT) >
		HELLO_INVENTORY_MAX &&
	    json_array_size(nics) > 0) {
		last = json_array_size(nics) - 1;
		for (i = last; i > 0; i--)
			if (strcmp(member_text(json_array_get(nics, i), "kind"),
				"virtual") == 0)
				break;
		json_array_remove(nics, i > 0 ? i : last);
	}
}

void
hello_put(json_t *msg, void *arg)
{
	struct agent *ag = arg;
	json_t *runs = json_array();
	struct hello_spool hs = { .list = json_array() };
	struct run *run;
	size_t bytes;

	TAILQ_FOREACH (run, &ag->runs, next)
		if (!run->ending)
			json_array_append_new(runs, json_string(run->id));
	hello_refresh(ag);
	json_object_set(msg, "inventory", ag->inventory);
	json_object_set_new(msg, "runs", runs);
	bytes = json_dumpb(msg, NULL, 0, JSON_COMPACT) + HELLO_REST_MAX;
	if (bytes < WIRE_HELLO_BYTES_MAX)
		hs.room_bytes = WIRE_HELLO_BYTES_MAX - bytes;
	spool_walk(ag->spool, hello_put_spool, &hs);
	json_object_set_new(msg, "spool", hs.list);
}

void
hello_put_heartbeat(json_t *msg, void *arg)
{
	struct agent *ag = arg;
	static const char *const changing[] = { "nics", "settings" };
	const char *alarm = spool_alarm(ag->spool);
	json_t *links, *before, *in_band, *ras;
	struct err busy;
	double load;

	if (getloadavg(&load, 1) == 1)
		json_object_set_new(msg, "load", json_real(load));
	json_object_set_new(msg, "spool_bytes",
	    json_integer((json_int_t)spool_bytes(ag->spool)));
	json_object_set_new(msg, "host", host_read("", &ag->host_look));
	/* Every few minutes: the counters of the ports, and their properties
	 * and the settings of the node, if these have changed since the hello.
	 */
	links = link_look(&ag->link_look, "",
	    json_object_get(ag->inventory, "gpus"));
	if (links != NULL) {
		json_object_set_new(msg, "links", links);
		before = json_copy(ag->inventory);
		hello_refresh(ag);
		for (size_t i = 0; i < ARRAY_LEN(changing); i++)
			if (!json_equal(json_object_get(ag->inventory,
					    changing[i]),
				json_object_get(before, changing[i])))
				json_object_set(msg, changing[i],
				    json_object_get(ag->inventory,
					changing[i]));
		json_decref(before);
	}
	in_band = inband_look(ag->inband, ag->inband_again);
	ag->inband_again = 0;
	if (in_band != NULL)
		json_object_set_new(msg, "in_band", in_band);
	ras = ras_take(ag->ras);
	if (ras != NULL)
		json_object_set_new(msg, "ras", ras);
	if (alarm != NULL)
		json_object_set_new(msg, "alarm", json_string(alarm));
	if (TAILQ_EMPTY(&ag->runs) && idle_look(ag, &busy))
		json_object_set_new(msg, "busy", text_json(busy.text));
}
