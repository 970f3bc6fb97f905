/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.h - send one message over several paths at once, by streams of a
 * device.
 *
 * Path 0, the direct one, is a stream. A staged path is two, in and out, and
 * slots in a store: chunk i is brought into slot i mod slots once that is
 * empty, and out once it is there. The whole pipeline is enqueued at once and
 * ordered by events, so no host code runs between two chunks.
 *
 * Works with every device of device.h. The pieces are the same as in the plan
 * with these shares and chunks (paths.h).
 */
#ifndef PROBES_MULTIPATH_COPIER_H
#define PROBES_MULTIPATH_COPIER_H

#include <stdint.h>

#include "probes/device/device.h"
#include "probes/multipath/tuner.h"

/* Wait between two checks of events; NULL in struct copier: real time. */
struct copier_clock {
	double (*now_s)(struct device *d);
	void (*nap)(struct device *d); /* until something may have ended */
};

/* Memory of a staged path. */
struct copier_store {
	void *base;
	uint64_t bytes;
	uint32_t slots; /* 1 to PATHS_SLOTS_MAX */
};

struct copier_streams {
	struct device_stream *in, *out; /* the direct path has in only */
	struct device_event *filled[PATHS_SLOTS_MAX];
	struct device_event *emptied[PATHS_SLOTS_MAX];
	struct device_event *done;
};

struct copier {
	const struct device_ops *ops;
	struct device *device;
	const struct copier_clock *clock;
	uint64_t unit;  /* bytes; cuts lie at multiples */
	uint32_t count; /* of staged paths */
	struct copier_store stores[TUNER_PATHS_MAX];    /* [1] to [count] */
	struct copier_streams streams[TUNER_PATHS_MAX]; /* copier_open */
};

struct copier_message {
	void *to;
	const void *from; /* does not overlap with to */
	uint64_t bytes;
};

/* Makes the streams, path after path, in before out. 0, or -errno of the
 * device; copier_close in either case. */
int copier_open(struct copier *cp);
void copier_close(struct copier *cp);

/* Chunks that do not fit into their slots are made smaller. Return 0, or -errno
 * of the device: *ret_path is the path that failed, and no transfer is active.
 */
int copier_send(struct copier *cp, const struct copier_message *m,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_path);

/* Fit a model of every path to timed copies on one stream at a time, for
 * messages up to this size. Return -EINVAL if the times are inconsistent. */
int copier_fits(struct copier *cp, const struct copier_message *m,
    struct paths_links *ret);

#endif
