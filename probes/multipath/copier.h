/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.h - send one message over several paths at once, by streams of a
 * device.
 *
 * Path 0, the direct path, is one stream. A staged path has two streams, in and
 * out, and a store with slots. Chunk i is copied into slot i mod slots as soon
 * as that slot is empty, and out of it as soon as the chunk is complete. The
 * whole pipeline is enqueued at once and ordered by events, so that no host
 * code runs between two chunks.
 *
 * It works with every device of device.h. The pieces are the same as in a plan
 * with these shares and chunks (paths.h).
 */
#ifndef PROBES_MULTIPATH_COPIER_H
#define PROBES_MULTIPATH_COPIER_H

#include <stdint.h>

#include "probes/device/device.h"
#include "probes/multipath/tuner.h"

/* The clock, and how to wait between two checks of events. In struct copier
 * NULL means real time; tests use virtual time. */
struct copier_clock {
	double (*now_s)(struct device *d);
	/* Wait until an operation may have ended. */
	void (*nap)(struct device *d);
};

/* The memory of a staged path. */
struct copier_store {
	void *base;
	uint64_t bytes;
	uint32_t slots; /* 1 to PATHS_SLOTS_MAX */
};

/* The streams and events of a path. */
struct copier_streams {
	struct device_stream *in, *out; /* the direct path has only `in` */
	struct device_event *filled[PATHS_SLOTS_MAX];
	struct device_event *emptied[PATHS_SLOTS_MAX];
	struct device_event *done;
};

/* A sender over several paths within one device. */
struct copier {
	const struct device_ops *ops;
	struct device *device;
	const struct copier_clock *clock;
	/* The message is cut only at multiples of this many bytes. */
	uint64_t unit;
	uint32_t count; /* number of staged paths */
	struct copier_store stores[TUNER_PATHS_MAX];    /* [1] to [count] */
	struct copier_streams streams[TUNER_PATHS_MAX]; /* set by copier_open */
};

/* A message within the device. */
struct copier_message {
	void *to;
	const void *from; /* does not overlap with to */
	uint64_t bytes;
};

/* Create the streams, path after path, `in` before `out`. Return 0, or -errno
 * of the device. Call copier_close in either case. */
int copier_open(struct copier *cp);
void copier_close(struct copier *cp);

/* Send a message with the shares and chunks of c. Chunks that are larger than a
 * slot are made smaller. Return 0, or -errno of the device; then *ret_path is
 * the path that failed, and no transfer is active. */
int copier_send(struct copier *cp, const struct copier_message *m,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_path);

/* Fit a model of every path to timed copies, on one stream at a time, for
 * messages up to the size of m. Return 0; -EINVAL if the times are
 * inconsistent; or -errno of the device. */
int copier_fits(struct copier *cp, const struct copier_message *m,
    struct paths_links *ret);

#endif
