/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - frames with a length prefix, in memory. The functions are pure.
 *
 * A header has 8 bytes: 'C' 'M' version(1) 0, then the length of the body as a
 * 32-bit big-endian integer. A body has 1 to FRAME_BODY_MAX bytes.
 */
#ifndef COMMON_FRAME_H
#define COMMON_FRAME_H

#include <stdint.h>

#define FRAME_VERSION    1
#define FRAME_HEAD_BYTES 8
#define FRAME_BODY_MAX   (1024 * 1024)

/* Write the header of a body of this length. */
void frame_head_put(uint8_t head[FRAME_HEAD_BYTES], uint32_t body_bytes);
/* Return the length of the body; -EPROTO, with a constant sentence in *ret_why,
 * if the magic, version or length is invalid. */
long frame_head_get(const uint8_t head[FRAME_HEAD_BYTES], const char **ret_why);

#endif
