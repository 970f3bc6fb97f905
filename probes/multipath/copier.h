/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.h - send one message over several paths at once, by streams of a
 * device.
 *
 * Path 0, the direct one, is a stream. A staged path is two, in and out, and
 * slots in a store: chunk i is brought into slot i mod slots once that is
 * empty, and out once it is there. The whole pipeline is enqueued at once and
 * ordered by events, so nobody stands between two chunks.
 *
 * Any device of device.h does: the host's streams, a GPU's, or those of
 * emulated links, which are streams that are slow. Cuts are
 * those of the plan of the same shares and chunks (paths.h).
 */
#ifndef PROBES_MULTIPATH_COPIER_H
#define PROBES_MULTIPATH_COPIER_H

#include <jansson.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "probes/device/device.h"
#include "probes/multipath/tuner.h"

/* Between two looks at events; NULL in struct copier: real time. */
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

/* Chunks that would not fit their slots are made smaller. 0, or -errno of the
 * device: *ret_path is the path that broke, and nothing is under way. */
int copier_send(struct copier *cp, const struct copier_message *m,
    const struct tuner_choice *c, struct tuner_seen *ret, uint32_t *ret_path);

/* What is known of every path from copies on one stream at a time, for
 * messages up to this one. -EINVAL when times make no sense. */
int copier_fits(struct copier *cp, const struct copier_message *m,
    struct paths_links *ret);

/* ---- emulated links: emulated_links.c ----
 *
 * A device whose streams are links that are not there. The k-th stream that is
 * made runs over link k, which carries one copy after another; each takes the
 * link's overhead and its bytes at the link's rate. In virtual time nobody
 * sleeps and results are exact; in real time bytes are copied, and an event is
 * done when its link says so. Memory is the host's. Only what copies need is
 * there: no reductions, nothing is shared. */

#define EMULATED_LINKS_MAX (2 * TUNER_PATHS_MAX - 1)

struct emulated_link {
	double setup_s;     /* of a copy that finds the link idle, */
	double overhead_s;  /* of every copy */
	double bytes_per_s; /* 0: broken, copies give -ENOLINK */
};

struct emulated_links {
	int real; /* else virtual time */
	struct emulated_link links[EMULATED_LINKS_MAX];
};

extern const struct device_ops emulated_ops;
extern const struct copier_clock emulated_clock;

/* links: the caller's, may change between messages. End with
 * emulated_ops.close. */
struct device *emulated_open(const struct emulated_links *links);
/* Links 2i - 1 and 2i are those of staged path i, as a copier makes streams. */
void emulated_state(struct emulated_links *links, const struct paths_links *f);

/* ---- the probe that measures over sizes: curve.c ---- */

struct curve_out {
	void (*record)(void *arg, json_t *record); /* takes it */
	void (*line)(void *arg, const char *text); /* for people */
	void *arg;
};

/* Is the probe multipath asked to run like this, and not as a plan? */
int curve_wanted(const struct conf *c);
/* Sizes from 64 KiB, or the message itself where it is smaller, to multipath
 * bytes, a record for each. 0; -EINVAL for wrong options, -ENODEV for a device
 * that is not there, -ESTALE for another machine's table, -EBADMSG when a wrong
 * byte came, each with why. */
int curve_run(const struct conf *c, const struct curve_out *out,
    struct err *err);

#endif
