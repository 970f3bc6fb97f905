/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_stream.c - streams, their operations, and events.
 *
 * Waiting for a stream sleeps: the runtime's own wait spins on a core that a
 * rank needs. Other events are only polled: each event that can wake a thread
 * raises an interrupt.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "probes/device/gpu/gpu_stream.h"
#include "probes/device/gpu/gpu.h"

/* ---- streams ---- */

int
gpu_stream_new(struct device *d, struct device_stream **ret)
{
	struct device_stream *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->d = d;
	rc = gpu_use(d);
	if (rc == 0)
		rc = gpu_check(d,
		    GPU(StreamCreateWithFlags)(&s->native,
			GPU(StreamNonBlocking)),
		    "cannot create a stream");
	if (rc == 0)
		rc = gpu_check(d,
		    GPU(EventCreateWithFlags)(&s->asleep, GPU_BLOCKING_EVENT),
		    "cannot create an event");
	if (rc < 0) {
		gpu_stream_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void
gpu_stream_free(struct device_stream *s)
{
	if (s == NULL)
		return;
	gpu_use(s->d);
	if (s->native != NULL && s->asleep != NULL)
		gpu_stream_sync(s);
	if (s->asleep != NULL)
		(void)GPU(EventDestroy)(s->asleep);
	if (s->native != NULL)
		(void)GPU(StreamDestroy)(s->native);
	if (s->scratch != NULL)
		(void)GPU(Free)(s->scratch);
	free(s);
}

void *
gpu_stream_native(struct device_stream *s)
{
	return s->native;
}

int
gpu_stream_sync(struct device_stream *s)
{
	int rc = gpu_use(s->d);

	if (rc == 0)
		rc = gpu_check(s->d, GPU(EventRecord)(s->asleep, s->native),
		    "cannot wait for a stream");
	if (rc == 0)
		rc = gpu_check(s->d, GPU(EventSynchronize)(s->asleep),
		    "cannot wait for a stream");
	return rc;
}

int
gpu_copy(struct device_stream *s, void *to, const void *from, uint64_t bytes)
{
	int rc = gpu_use(s->d);

	if (rc == 0 && bytes > 0)
		rc = gpu_check(s->d,
		    GPU(MemcpyAsync)(to, from, bytes, GPU(MemcpyDefault),
			s->native),
		    "copying");
	return rc;
}

int
gpu_fill(struct device_stream *s, void *to, int byte, uint64_t bytes)
{
	int rc = gpu_use(s->d);

	if (rc == 0 && bytes > 0)
		rc = gpu_check(s->d,
		    GPU(MemsetAsync)(to, byte, bytes, s->native), "filling");
	return rc;
}

/* ---- reductions ---- */

struct reduction {
	enum plan_op op;
	enum plan_type type;
	void *to;
	const void *const *inputs;
	uint32_t inputs_count;
	uint64_t elements;
};

static int
gpu_stream_launch(struct device_stream *s, const struct reduction *r)
{
	return gpu_check(s->d,
	    gpu_kernels_reduce(s->native, r->op, r->type, r->to, r->inputs,
		r->inputs_count, r->elements),
	    "cannot start a reduction");
}

/* More inputs than a launch takes: several, the result so far is the first
 * input of the next. It stands aside until the last, as to may be any input.
 */
static int
gpu_stream_launch_many(struct device_stream *s, const struct reduction *all)
{
	uint64_t bytes = all->elements * gpu_kernels_bytes[all->type];
	const void *inputs[GPU_INPUTS_MAX];
	struct reduction part = *all;
	uint32_t done = 0;
	int rc = 0;

	/* Grows only. What still uses the old one comes to its end first. */
	if (s->scratch_bytes < bytes) {
		rc = gpu_stream_sync(s);
		if (rc == 0 && s->scratch != NULL)
			rc = gpu_check(s->d, GPU(Free)(s->scratch), "freeing");
		if (rc < 0)
			return rc;
		s->scratch = NULL;
		s->scratch_bytes = 0;
		rc = gpu_check(s->d, GPU(Malloc)(&s->scratch, bytes),
		    "cannot allocate a buffer for partial results");
		if (rc == 0)
			s->scratch_bytes = bytes;
	}
	while (rc == 0 && done < all->inputs_count) {
		uint32_t n = 0;

		if (done > 0)
			inputs[n++] = s->scratch;
		while (n < GPU_INPUTS_MAX && done < all->inputs_count)
			inputs[n++] = all->inputs[done++];
		part.to = done < all->inputs_count ? s->scratch : all->to;
		part.inputs = inputs;
		part.inputs_count = n;
		rc = gpu_stream_launch(s, &part);
	}
	return rc;
}

int
gpu_reduce(struct device_stream *s, enum plan_op op, enum plan_type type,
    void *to, const void *const *inputs, uint32_t inputs_count,
    uint64_t elements)
{
	const struct reduction all = { op, type, to, inputs, inputs_count,
		elements };
	int rc;

	if (op == PLAN_COPY || op >= PLAN_OP_MAX || type >= PLAN_BYTE ||
	    inputs_count == 0)
		return gpu_fail(s->d, -EINVAL, "not a reduction");
	rc = gpu_use(s->d);
	if (rc < 0 || elements == 0)
		return rc;
	if (inputs_count == 1)
		return to == inputs[0]
		    ? 0
		    : gpu_copy(s, to, inputs[0],
			  elements * gpu_kernels_bytes[type]);
	return inputs_count <= GPU_INPUTS_MAX ? gpu_stream_launch(s, &all)
					      : gpu_stream_launch_many(s, &all);
}

/* ---- events ---- */

int
gpu_event_new(struct device *d, struct device_event **ret)
{
	struct device_event *e = calloc(1, sizeof(*e));
	int rc;

	if (e == NULL)
		return -ENOMEM;
	e->d = d;
	rc = gpu_use(d);
	if (rc == 0)
		rc = gpu_check(d,
		    GPU(EventCreateWithFlags)(&e->native, GPU_ASKED_EVENT),
		    "cannot create an event");
	if (rc < 0) {
		free(e);
		return rc;
	}
	*ret = e;
	return 0;
}

void
gpu_event_free(struct device_event *e)
{
	if (e == NULL)
		return;
	gpu_use(e->d);
	(void)GPU(EventDestroy)(e->native);
	free(e);
}

int
gpu_event_record(struct device_event *e, struct device_stream *s)
{
	int rc = gpu_use(e->d);

	if (rc == 0)
		rc = gpu_check(e->d, GPU(EventRecord)(e->native, s->native),
		    "cannot record an event");
	return rc;
}

int
gpu_event_query(struct device_event *e)
{
	int code = GPU(EventQuery)(e->native), rc;

	if (code == GPU(ErrorNotReady)) {
		(void)GPU(GetLastError)();
		return 0;
	}
	rc = gpu_check(e->d, code, "in a stream");
	return rc < 0 ? rc : 1;
}

int
gpu_event_wait(struct device_event *e)
{
	const struct timespec nap = { .tv_nsec = 50 * 1000 };
	int rc;

	while ((rc = gpu_event_query(e)) == 0)
		nanosleep(&nap, NULL);
	return rc < 0 ? rc : 0;
}

int
gpu_stream_wait(struct device_stream *s, struct device_event *e)
{
	int rc = gpu_use(s->d);

	if (rc == 0)
		rc = gpu_check(s->d,
		    GPU(StreamWaitEvent)(s->native, e->native, 0),
		    "cannot make a stream wait for an event");
	return rc;
}
