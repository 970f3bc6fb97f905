/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "daemon/slurm/slurm_int.h"

/* One line: what is said of a list of nodes. */
struct row {
	char *state;     /* "idle*"; NULL: a reservation */
	char *partition; /* or the reservation's name */
	char *reason;
};

/* A node in a row; sorted by name. */
struct place {
	char *name;
	size_t row;
};

struct slurm_table {
	struct row *rows;
	size_t row_count;
	struct place *places;
	size_t place_count, place_cap;
};

static void
place_add(struct slurm_table *t, const char *name, size_t row)
{
	if (t->place_count == t->place_cap) {
		t->place_cap = t->place_cap == 0 ? 64 : 2 * t->place_cap;
		t->places = xreallocarray(t->places, t->place_cap,
		    sizeof(t->places[0]));
	}
	t->places[t->place_count].name = xstrdup(name);
	t->places[t->place_count++].row = row;
}

/* Takes the texts of row. */
static void
row_add(struct slurm_table *t, struct row row, const char *nodes)
{
	struct hostlist hl = { 0 };

	t->rows = xreallocarray(t->rows, t->row_count + 1, sizeof(t->rows[0]));
	t->rows[t->row_count] = row;
	if (hostlist_parse(nodes, &hl, NULL) == 0)
		for (size_t i = 0; i < hl.count; i++)
			place_add(t, hl.names[i], t->row_count);
	hostlist_clear(&hl);
	t->row_count++;
}

/* STATE|PARTITION|NODES|REASON */
static void
sinfo_line(struct slurm_table *t, char *line)
{
	char *state = strsep(&line, "|"), *partition = strsep(&line, "|");
	char *nodes = strsep(&line, "|");
	struct row row;

	if (nodes == NULL)
		return;
	row.state = xstrdup(state);
	row.partition = xstrdup(partition);
	row.reason = xstrdup(line == NULL ? "" : line);
	row_add(t, row, nodes);
}

/* The value of " NAME=" in a line of scontrol; the caller frees. */
static char *
value_of(const char *line, const char *name)
{
	size_t len = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == line || at[-1] == ' ') && at[len] == '=')
			return xstrndup(at + len + 1,
			    strcspn(at + len + 1, " \n"));
		at += len;
	}
	return xstrdup("");
}

static void
reservation_line(struct slurm_table *t, const char *line)
{
	struct row row = { NULL, value_of(line, "ReservationName"), NULL };
	char *nodes = value_of(line, "Nodes");
	char *state = value_of(line, "State");

	if (row.partition[0] != '\0' && strcmp(state, "ACTIVE") == 0)
		row_add(t, row, nodes);
	else
		free(row.partition);
	free(nodes);
	free(state);
}

static int
place_compare(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name,
	    ((const struct place *)b)->name);
}

struct slurm_table *
slurm_table_parse(const char *sinfo, const char *reservations)
{
	struct slurm_table *t = xcalloc(1, sizeof(*t));
	char *text = xstrdup(sinfo), *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		sinfo_line(t, line);
	free(text);
	text = rest = xstrdup(reservations);
	while ((line = strsep(&rest, "\n")) != NULL)
		reservation_line(t, line);
	free(text);
	if (t->place_count > 0)
		qsort(t->places, t->place_count, sizeof(t->places[0]),
		    place_compare);
	return t;
}

void
slurm_table_free(struct slurm_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->row_count; i++) {
		free(t->rows[i].state);
		free(t->rows[i].partition);
		free(t->rows[i].reason);
	}
	for (size_t i = 0; i < t->place_count; i++)
		free(t->places[i].name);
	free(t->rows);
	free(t->places);
	free(t);
}

/* The first place of a node, or place_count. */
static size_t
place_find(const struct slurm_table *t, const char *node)
{
	size_t lo = 0, hi = t->place_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(t->places[mid].name, node) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Flags stand behind the word: * no answer, ~ # % ! power, $ maintenance,
 * @ ^ reboot, - planned for another. Nodes of a reservation are idle for the
 * runs in it. */
static enum slurm_node
state_judge(const char *state, int in_reservation)
{
	static const struct {
		const char *state;
		enum slurm_node means, inside;
	} words[] = {
		{ "idle", SLURM_IDLE, SLURM_IDLE },
		{ "idle$", SLURM_HELD, SLURM_IDLE },
		{ "idle-", SLURM_HELD, SLURM_HELD },
		{ "idle~", SLURM_HELD, SLURM_HELD },
		{ "idle#", SLURM_HELD, SLURM_HELD },
		{ "reserved", SLURM_HELD, SLURM_IDLE },
		{ "maint", SLURM_HELD, SLURM_IDLE },
		{ "allocated", SLURM_HELD, SLURM_HELD },
		{ "allocated+", SLURM_HELD, SLURM_HELD },
		{ "allocated-", SLURM_HELD, SLURM_HELD },
		{ "allocated$", SLURM_HELD, SLURM_HELD },
		{ "mixed", SLURM_HELD, SLURM_HELD },
		{ "mixed-", SLURM_HELD, SLURM_HELD },
		{ "mixed$", SLURM_HELD, SLURM_HELD },
		{ "completing", SLURM_HELD, SLURM_HELD },
		{ "completing$", SLURM_HELD, SLURM_HELD },
		{ "planned", SLURM_HELD, SLURM_HELD },
		{ "blocked", SLURM_HELD, SLURM_HELD },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(state, words[i].state) == 0)
			return in_reservation ? words[i].inside
					      : words[i].means;
	return SLURM_OUT;
}

/* What its rows say, as far as partition and reservation go. */
static const struct row *
row_of(const struct slurm_table *t, const char *node, const char *partition,
    const char *reservation, int *ret_reserved)
{
	const struct row *found = NULL;

	*ret_reserved = 0;
	for (size_t i = place_find(t, node);
	     i < t->place_count && strcmp(t->places[i].name, node) == 0; i++) {
		const struct row *row = &t->rows[t->places[i].row];

		if (row->state == NULL)
			*ret_reserved |= strcmp(row->partition, reservation) ==
			    0;
		else if (partition[0] == '\0' ||
		    strcmp(row->partition, partition) == 0)
			found = row;
	}
	return found;
}

enum slurm_node
slurm_table_look(const struct slurm_table *t, const char *node,
    const char *partition, const char *reservation, struct err *err)
{
	enum slurm_node is;
	int reserved;
	const struct row *row = row_of(t, node, partition, reservation,
	    &reserved);

	if (row == NULL) {
		err_say(err, "%.60s is not in Slurm%s%.60s", node,
		    partition[0] == '\0' ? "" : "'s partition ", partition);
		return SLURM_OUT;
	}
	if (reservation[0] != '\0' && !reserved) {
		err_say(err, "%.60s is not in Slurm's reservation %.60s", node,
		    reservation);
		return SLURM_OUT;
	}
	is = state_judge(row->state, reserved);
	if (is != SLURM_IDLE)
		err_say(err, "%.60s is %.20s in Slurm%s%.80s", node, row->state,
		    strcmp(row->reason, "none") == 0 ? "" : ": ",
		    strcmp(row->reason, "none") == 0 ? "" : row->reason);
	return is;
}
