/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_look.c - accept known counters of a heartbeat, with plausible values, of
 * at most as many ports as a machine may have.
 */
#include "daemon/cluster/port_look.h"

#include <stdlib.h>

#include "common/member.h"
#include "common/xalloc.h"
#include "schema/names_link.h"

/* Limits of one look. */
#define PORTS_MAX  256
#define ERRORS_MAX (1LL << 40)

static void
port_look_counters_read(const json_t *counters, struct port_counters *ret)
{
	const char *name;
	json_t *v;

	ret->list = xcalloc(json_object_size(counters) + 1, sizeof(*ret->list));
	json_object_foreach ((json_t *)(uintptr_t)counters, name, v) {
		const struct link_counter *c = names_link_counter_find(name);
		json_int_t errors = json_integer_value(v);

		if (c != NULL && errors > 0 && errors <= ERRORS_MAX)
			ret->list[ret->count++] = (struct port_counter){ c,
				(uint64_t)errors };
	}
}

struct port_look *
port_look_read(const json_t *links)
{
	const json_t *rows = json_object_get(links, "ports"), *row;
	struct port_look *look = xcalloc(1, sizeof(*look));
	size_t i;

	look->span_s = member_int(links, "span_s");
	look->ports = xcalloc(json_array_size(rows) + 1, sizeof(*look->ports));
	json_array_foreach (rows, i, row) {
		const char *name = member_text(row, "port");
		struct port_counters *p = &look->ports[look->count];

		if (name[0] == '\0' || look->count == PORTS_MAX)
			continue;
		look->count++;
		p->name = xstrdup(name);
		port_look_counters_read(json_object_get(row, "counters"), p);
	}
	return look;
}

void
port_look_free(struct port_look *look)
{
	if (look == NULL)
		return;
	for (size_t i = 0; i < look->count; i++) {
		free(look->ports[i].name);
		free(look->ports[i].list);
	}
	free(look->ports);
	free(look);
}
