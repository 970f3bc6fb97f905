/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams of the mesh, and an agent's reports of it: the first byte chooses
 * the kind. Accepted reports give records that can be parsed. */
#include "common/err.h"
#include "daemon/mesh/mesh_gather.h"
#include "tests/fuzz/fuzz.h"

#include "daemon/mesh/mesh_gather.c"

#include <assert.h>

static const char *const nodes[] = { "n0", "n1", "n2" };

static long
find(void *arg, const char *node)
{
	(void)arg;
	for (long i = 0; i < 3; i++)
		if (strcmp(nodes[i], node) == 0)
			return i;
	return -ENOENT;
}

static const char *
name(void *arg, size_t id)
{
	(void)arg;
	return nodes[id];
}

static void
datagram(const uint8_t *data, size_t len_bytes)
{
	uint8_t raw[MESH_PACKET_BYTES], again[MESH_PACKET_BYTES];
	struct mesh_packet p;

	if (len_bytes < sizeof(raw))
		return;
	memcpy(raw, data, sizeof(raw));
	if (mesh_packet_get(raw, &p) < 0)
		return;
	mesh_packet_put(again, &p);
	assert(memcmp(raw, again, MESH_MAC_AT) == 0);
}

static void
record_check_one(const struct mesh_gather *g, enum mesh_class class)
{
	json_t *r = mesh_gather_record(g, class), *back;
	struct record_head head;
	char *line;
	struct err err;

	if (r == NULL)
		return;
	json_object_set_new(r, "run", json_string("mesh-1"));
	json_object_set_new(r, "seq", json_integer(1));
	line = json_dumps(r, JSON_COMPACT);
	assert(line != NULL);
	assert(record_parse(line, strlen(line), &back, &head, &err) == 0);
	json_decref(back);
	json_decref(r);
	free(line);
}

static void
report(const uint8_t *data, size_t len_bytes)
{
	static const struct mesh_names names = { find, name, NULL };
	json_t *msg = json_loadb((const char *)data, len_bytes,
	    JSON_REJECT_DUPLICATES, NULL);
	struct mesh_gather *g = mesh_gather_new(5, 7, &names);
	struct err err = { 0 };
	int rc = mesh_gather_add(g, 0, msg, &err);

	assert(rc == 0 || err.text[0] != '\0');
	mesh_gather_close(g);
	for (int c = 0; rc == 0 && c < MESH_CLASS_MAX; c++)
		record_check_one(g, (enum mesh_class)c);
	mesh_gather_free(g);
	json_decref(msg);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len_bytes)
{
	char hex[MESH_HEX_BYTES];
	uint8_t key[MESH_KEY_BYTES], *text;

	if (len_bytes == 0)
		return 0;
	text = (uint8_t *)fuzz_text(data, len_bytes);
	if (data[0] == '{')
		report(text, len_bytes);
	else
		datagram(text, len_bytes);
	if (mesh_hex_get((const char *)text, key) == 0) {
		mesh_hex_put(key, hex);
		assert(strcmp(hex, (const char *)text) == 0);
	}
	free(text);
	return 0;
}
