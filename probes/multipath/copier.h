/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.h - send one message over several ways at once.
 *
 * A staged way stores chunks in slots of its own memory: chunk i is brought
 * into slot i mod slots as soon as that is empty, and brought out as soon as it
 * is there. How bytes move is a table of calls (wires): links of an emulated
 * node in virtual or in real time (wires_emul.h), or streams of a device.
 *
 * Cuts are those of the plan of the same shares and chunks (pattern/ways.h).
 */
#ifndef PROBES_MULTIPATH_COPIER_H
#define PROBES_MULTIPATH_COPIER_H

#include <stdint.h>

#include "probes/multipath/tuner.h"

/* One copy of one range. */
struct wires_move {
	uint32_t id;    /* of this move in its message */
	uint32_t way;   /* 0 direct */
	uint32_t stage; /* 0: in, or direct; 1: out */
	uint32_t slot;
	int first; /* of its way: what starting it costs is due */
	void *to;
	const void *from;
	uint64_t bytes;
};

struct wires_ops {
	const char *name;
	/* Start a move; those of one way and stage end in this order. */
	int (*start)(void *wires, const struct wires_move *mv);
	/* Wait for any of them: its id and when it ended. */
	int (*wait)(void *wires, uint32_t *ret_id, double *ret_s);
	double (*now_s)(void *wires);
};

/* Memory of a staged way. */
struct copier_store {
	void *base;
	uint64_t bytes;
	uint32_t slots;
};

struct copier {
	const struct wires_ops *ops;
	void *wires;
	uint64_t unit; /* bytes; cuts lie at multiples */
	uint32_t count;
	struct copier_store stores[TUNER_WAYS_MAX]; /* [1] to [count] */
};

/* from and to do not overlap. Chunks that would not fit their slots are made
 * smaller. 0, or -errno of the wires: *ret_way is the way that broke. */
int copier_send(struct copier *cp, void *to, const void *from, uint64_t bytes,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_way);

#endif
