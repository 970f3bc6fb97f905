/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - select the NIC of a counters message that represents its node,
 * and its counters of losses.
 */
#include "daemon/evidence/counters.h"

#include <errno.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/utf8.h"

static int
counters_is_loss(const char *counter)
{
	static const char *const words[] = { "drop", "discard", "_errors" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(counter, words[i]) != NULL)
			return 1;
	return 0;
}

static int64_t
counters_bytes(const json_t *counters)
{
	return member_int(counters, "rx_bytes") +
	    member_int(counters, "tx_bytes");
}

int
counters_read(const json_t *nics, struct nic_counters *ret)
{
	const json_t *nic, *most = NULL;
	const char *key;
	json_t *v;
	size_t i;

	json_array_foreach (nics, i, nic)
		if (most == NULL ||
		    counters_bytes(json_object_get(nic, "counters")) >
			counters_bytes(json_object_get(most, "counters")))
			most = nic;
	if (most == NULL)
		return -ENOENT;
	utf8_format(ret->nic, sizeof(ret->nic), "%s", member_text(most, "nic"));
	ret->drops = 0;
	json_object_foreach (json_object_get(most, "counters"), key, v)
		if (counters_is_loss(key))
			ret->drops += json_integer_value(v);
	return 0;
}
