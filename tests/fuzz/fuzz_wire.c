/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and messages: a header, then a body, read as from an agent when the
 * first byte is even and as from the collector when it is odd. */
#include "tests/fuzz/fuzz.h"

#include <assert.h>

#include "common/err.h"
#include "common/frame.h"
#include "common/text.h"
#include "schema/wire.h"

/* An accepted message can be forwarded, and is accepted again. */
static void
send_on(enum wire_type type, json_t *msg, enum wire_from from)
{
	char *frame;
	struct err err;
	const char *head_why;
	json_t *back;
	long len = wire_build(type, json_incref(msg), &frame);
	long body = frame_head_get((const uint8_t *)frame, &head_why);

	assert(body > 0 && body + FRAME_HEAD_BYTES == len);
	assert(wire_parse(frame + FRAME_HEAD_BYTES, (size_t)body, from, &back,
		   &err) == (int)type);
	assert(json_equal(msg, back));
	json_decref(back);
	free(frame);
}

/* A rejected message is answered with the reason, which quotes it. */
static void
refuse(const struct err *err)
{
	json_t *why = json_pack("{s:s, s:o}", "cause", "internal", "text",
	    text_json(err->text));
	char *frame;

	assert(err->text[0] != '\0' &&
	    err->text[utf8_check(err->text, strlen(err->text))] == '\0');
	assert(wire_build(WIRE_REFUSE, why, &frame) > 0);
	free(frame);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	enum wire_from from;
	const char *head_why = NULL;
	char *body;
	struct err err = { 0 };
	json_t *msg;
	int type;

	if (len_bytes < 1 + FRAME_HEAD_BYTES)
		return 0;
	from = data[0] % 2 == 0 ? WIRE_AGENT : WIRE_COLLECTOR;
	if (frame_head_get(data + 1, &head_why) < 0)
		assert(head_why != NULL);
	len_bytes -= 1 + FRAME_HEAD_BYTES;
	body = fuzz_text(data + 1 + FRAME_HEAD_BYTES, len_bytes);
	type = wire_parse(body, len_bytes, from, &msg, &err);
	if (type < 0) {
		refuse(&err);
	} else {
		send_on((enum wire_type)type, msg, from);
		json_decref(msg);
	}
	free(body);
	return 0;
}
