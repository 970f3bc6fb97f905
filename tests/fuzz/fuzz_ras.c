/* SPDX-License-Identifier: Apache-2.0 */
/* Replies on NCCL's RAS port, whole and in two parts, give the same result. */
#include "agents/sensor/ras_read.h"

#include "tests/fuzz/fuzz.h"

#include <assert.h>

static int
reply_read(const uint8_t *data, size_t len_bytes, size_t part, json_t **ret)
{
	json_t *locals = json_pack("{s:b}", "127.0.0.1", 1);
	struct ras_read *r = ras_read_new(locals);
	struct ras_reply reply;
	struct err err;
	int rc;

	(void)ras_read_feed(r, (const char *)data, part);
	(void)ras_read_feed(r, (const char *)data + part, len_bytes - part);
	rc = ras_read_end(r, &reply, &err);
	if (rc == 0) {
		assert(reply.pid_count <= RAS_PIDS_MAX);
		assert(json_array_size(json_object_get(reply.report, "list")) <=
		    RAS_COMMS_MAX);
		*ret = reply.report;
	} else {
		assert(err.text[0] != '\0');
	}
	ras_read_free(r);
	json_decref(locals);
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	json_t *whole = NULL, *parts = NULL;
	int rc = reply_read(data, len_bytes, len_bytes, &whole);

	assert(reply_read(data, len_bytes, len_bytes / 2, &parts) == rc);
	assert(rc < 0 || json_equal(whole, parts));
	json_decref(whole);
	json_decref(parts);
	return 0;
}
