/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_stream.c - a stream counts its operations: number n is done when `done`
 * has reached n. An event is a stream and such a number.
 *
 * Jobs lie in a ring that grows; the caller puts, the thread takes. Both sides
 * hold the lock only to move an index.
 */
#include "probes/device/host_stream.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "probes/device/host_copy.h"
#include "probes/device/host_reduce.h"

/* Where ranks share cores, a thread waits longer for its turn than shorter
 * work takes: 24 ranks on two cores reduce 4 MiB in 219 ms, with 16 KiB here
 * in 235. */
#define INLINE_BYTES (256ULL << 10)
#define RING_FIRST   16
#define THREAD_STACK (256 * 1024)

struct job {
	void (*run)(const struct job *job);
	void *to;
	const void *from;    /* of a copy */
	const void **inputs; /* of a reduction; owned */
	uint64_t count;      /* bytes, elements, or an event's number */
	uint32_t inputs_count;
	int byte;
	enum plan_op op;
	enum plan_type type;
	struct device_stream *other; /* of a wait */
};

struct device_stream {
	pthread_mutex_t lock;
	pthread_cond_t work;  /* something to do, or the end */
	pthread_cond_t moved; /* done has grown */
	pthread_t thread;
	int threaded, ending;
	struct job *ring;
	size_t ring_cap;    /* a power of two */
	uint64_t put, done; /* operations so far */
};

struct device_event {
	struct device_stream *stream; /* NULL: never recorded */
	uint64_t number;
};

/* ---- jobs ---- */

static void
run_copy(const struct job *j)
{
	host_copy(j->to, j->from, j->count);
}

static void
run_fill(const struct job *j)
{
	memset(j->to, j->byte, j->count);
}

static void
run_reduce(const struct job *j)
{
	host_reduce(j->op, j->type, j->to, j->inputs, j->inputs_count,
	    j->count);
}

static void
wait_for(struct device_stream *s, uint64_t number)
{
	pthread_mutex_lock(&s->lock);
	while (s->done < number)
		pthread_cond_wait(&s->moved, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void
run_wait(const struct job *j)
{
	wait_for(j->other, j->count);
}

/* ---- the thread ---- */

static void *
stream_thread(void *arg)
{
	struct device_stream *s = arg;
	struct job j;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (s->done == s->put && !s->ending)
			pthread_cond_wait(&s->work, &s->lock);
		if (s->done == s->put)
			break;
		j = s->ring[s->done & (s->ring_cap - 1)];
		pthread_mutex_unlock(&s->lock);
		j.run(&j);
		free(j.inputs);
		pthread_mutex_lock(&s->lock);
		s->done++;
		pthread_cond_broadcast(&s->moved);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Signals are the main thread's. */
static int
thread_start(struct device_stream *s)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, &attr, stream_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	s->threaded = rc == 0;
	return -rc;
}

static void
ring_grow(struct device_stream *s)
{
	size_t cap = s->ring_cap == 0 ? RING_FIRST : 2 * s->ring_cap;
	struct job *ring = xcalloc(cap, sizeof(*ring));

	for (uint64_t i = s->done; i < s->put; i++)
		ring[i & (cap - 1)] = s->ring[i & (s->ring_cap - 1)];
	free(s->ring);
	s->ring = ring;
	s->ring_cap = cap;
}

/* Takes j->inputs, also on failure. */
static int
put(struct device_stream *s, const struct job *j)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (!s->threaded)
		rc = thread_start(s);
	if (rc == 0) {
		if (s->put - s->done == s->ring_cap)
			ring_grow(s);
		s->ring[s->put++ & (s->ring_cap - 1)] = *j;
		pthread_cond_signal(&s->work);
	} else {
		free(j->inputs);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Only the caller puts, so a stream that is idle stays so until it does. */
static int
put_or_run(struct device_stream *s, const struct job *j, uint64_t bytes)
{
	int idle;

	if (bytes > INLINE_BYTES)
		return put(s, j);
	pthread_mutex_lock(&s->lock);
	idle = s->done == s->put;
	pthread_mutex_unlock(&s->lock);
	if (!idle)
		return put(s, j);
	j->run(j);
	free(j->inputs);
	return 0;
}

/* ---- streams ---- */

int
host_stream_new(struct device *d, struct device_stream **ret)
{
	struct device_stream *s = xcalloc(1, sizeof(*s));

	(void)d;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->moved, NULL);
	*ret = s;
	return 0;
}

void
host_stream_free(struct device_stream *s)
{
	if (s == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	s->ending = 1;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	if (s->threaded)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->moved);
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
	free(s->ring);
	free(s);
}

int
host_stream_sync(struct device_stream *s)
{
	wait_for(s, s->put);
	return 0;
}

int
host_stream_copy(struct device_stream *s, void *to, const void *from,
    uint64_t bytes)
{
	struct job j = { .run = run_copy,
		.to = to,
		.from = from,
		.count = bytes };

	return put_or_run(s, &j, bytes);
}

int
host_stream_fill(struct device_stream *s, void *to, int byte, uint64_t bytes)
{
	struct job j = { .run = run_fill,
		.to = to,
		.byte = byte,
		.count = bytes };

	return put_or_run(s, &j, bytes);
}

int
host_stream_reduce(struct device_stream *s, enum plan_op op,
    enum plan_type type, void *to, const void *const *inputs,
    uint32_t inputs_count, uint64_t elements)
{
	struct job j = { .run = run_reduce,
		.to = to,
		.inputs_count = inputs_count,
		.count = elements,
		.op = op,
		.type = type };

	if (op == PLAN_COPY || op >= PLAN_OP_MAX || type >= PLAN_BYTE ||
	    inputs_count == 0)
		return -EINVAL;
	j.inputs = xcalloc(inputs_count, sizeof(*j.inputs));
	memcpy(j.inputs, inputs, inputs_count * sizeof(*inputs));
	return put_or_run(s, &j,
	    elements * plan_types[type].bytes * inputs_count);
}

/* ---- events ---- */

int
host_event_new(struct device *d, struct device_event **ret)
{
	(void)d;
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}

void
host_event_free(struct device_event *e)
{
	free(e);
}

int
host_event_record(struct device_event *e, struct device_stream *s)
{
	e->stream = s;
	e->number = s->put; /* only the caller changes it */
	return 0;
}

int
host_event_query(struct device_event *e)
{
	int done;

	if (e->stream == NULL)
		return 1;
	pthread_mutex_lock(&e->stream->lock);
	done = e->stream->done >= e->number;
	pthread_mutex_unlock(&e->stream->lock);
	return done;
}

int
host_event_wait(struct device_event *e)
{
	if (e->stream != NULL)
		wait_for(e->stream, e->number);
	return 0;
}

int
host_stream_wait(struct device_stream *s, struct device_event *e)
{
	struct job j = { .run = run_wait,
		.other = e->stream,
		.count = e->number };

	if (e->stream == NULL || e->stream == s || host_event_query(e))
		return 0;
	return put(s, &j);
}
