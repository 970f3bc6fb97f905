/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_limit.c - decide which lines about a peer are logged, and which are only
 * counted.
 */
#include "daemon/agents/log_limit.h"
#include "daemon/agents/session.h"

#define MINUTE_NS (60 * 1000000000ULL)

/* FNV-1a, 64 bits. */
static uint64_t
log_limit_hash(uint64_t h, const char *text)
{
	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

int
log_limit_tell(struct log_limit *o, const char *who, const char *what,
    uint64_t now_ns, uint64_t *ret_hidden)
{
	uint64_t h = log_limit_hash(log_limit_hash(0xcbf29ce484222325ULL, who) ^
		'|',
	    what);
	size_t i = h % LOG_LIMIT_SLOTS;

	if (now_ns - o->minute_ns >= MINUTE_NS) {
		o->minute_ns = now_ns;
		o->lines = 0;
	}
	/* The limit of lines a minute is for all peers together. */
	if ((o->slot[i].hash == h && o->slot[i].told_ns != 0 &&
		now_ns - o->slot[i].told_ns < LOG_LIMIT_AGAIN_NS) ||
	    o->lines >= LOG_LIMIT_LINES_MINUTE) {
		o->hidden++;
		return 0;
	}
	o->slot[i].hash = h;
	o->slot[i].told_ns = now_ns;
	o->lines++;
	*ret_hidden = o->hidden;
	o->hidden = 0;
	return 1;
}
