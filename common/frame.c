/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - a head is judged by magic, version and length, in this order, so
 * that each failure has its own reason.
 */
#include "common/frame.h"

#include <assert.h>
#include <errno.h>

void
frame_head_put(uint8_t head[FRAME_HEAD_BYTES], uint32_t body_bytes)
{
	assert(body_bytes > 0 && body_bytes <= FRAME_BODY_MAX);
	head[0] = 'C';
	head[1] = 'M';
	head[2] = FRAME_VERSION;
	head[3] = 0;
	head[4] = (uint8_t)(body_bytes >> 24);
	head[5] = (uint8_t)(body_bytes >> 16);
	head[6] = (uint8_t)(body_bytes >> 8);
	head[7] = (uint8_t)body_bytes;
}

long
frame_head_get(const uint8_t head[FRAME_HEAD_BYTES], const char **ret_why)
{
	uint32_t body_bytes = (uint32_t)head[4] << 24 |
	    (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];

	if (head[0] != 'C' || head[1] != 'M') {
		*ret_why = "not a Coalmine frame";
		return -EPROTO;
	}
	if (head[2] != FRAME_VERSION || head[3] != 0) {
		*ret_why = "unsupported frame version";
		return -EPROTO;
	}
	if (body_bytes == 0 || body_bytes > FRAME_BODY_MAX) {
		*ret_why = "frame body is empty or too long";
		return -EPROTO;
	}
	return (long)body_bytes;
}
