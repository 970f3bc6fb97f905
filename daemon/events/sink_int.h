/* SPDX-License-Identifier: Apache-2.0 */
/* sink_int.h - one sink and its thread, for events.c. */
#ifndef DAEMON_EVENTS_SINK_INT_H
#define DAEMON_EVENTS_SINK_INT_H

#include <jansson.h>

#include "daemon/events/events.h"
#include "daemon/events/sink.h"

struct sink;

/* The sink to open. */
struct sink_start {
	const struct sink_ops *ops;
	const char *name;
	const char *source; /* member "source" of CloudEvents */
	const char *only;   /* the only kind that is sent; NULL: all */
	uint64_t keep_ns;   /* older events expire */
	struct sink_options options;
};

/* Open a sink and start its thread. The texts of start must outlive it. Return
 * 0, or -errno with err. */
int sink_open(const struct sink_start *start, struct sink **ret,
    struct err *err);
/* Return 1 if the sink accepts another page. */
int sink_has_room(struct sink *s);
/* Pass rows of STORE_EVENTS with bodies, newer than all earlier ones; taken. */
void sink_give(struct sink *s, json_t *rows);
/* Pass a row that is not stored; taken. */
void sink_give_unstored(struct sink *s, json_t *row);
/* Return the id of the last row that was sent, or of sink_position_set. */
int64_t sink_position(struct sink *s);
void sink_position_set(struct sink *s, int64_t id);
/* Read the state of the sink. */
void sink_look(struct sink *s, struct events_sink *ret);
/* End the thread and free the sink. Return its last position. */
int64_t sink_close(struct sink *s);

#endif
