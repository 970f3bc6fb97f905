/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - length-prefixed frames in plain memory. Pure.
 *
 * Header, 8 bytes: 'C' 'M' version(1) 0, then the body's length as u32 big
 * endian. A body is 1..FRAME_BODY_MAX bytes.
 */
#ifndef COMMON_FRAME_H
#define COMMON_FRAME_H

#include <stdint.h>

#define FRAME_VERSION    1
#define FRAME_HEAD_BYTES 8
#define FRAME_BODY_MAX   (1024 * 1024)

void frame_head_put(uint8_t head[FRAME_HEAD_BYTES], uint32_t body_bytes);
/* Body length; -EPROTO for a foreign magic, version or length; why then is a
 * constant sentence. */
long frame_head_get(const uint8_t head[FRAME_HEAD_BYTES], const char **ret_why);

#endif
