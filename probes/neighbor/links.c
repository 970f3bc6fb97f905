/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/neighbor/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/file.h"
#include "probes/pattern/numbers.h"
#include "probes/pattern/shipped.h"

/* Breadth first from every device, along links in their direction. */
void
links_hops(struct links *l)
{
	uint32_t n = l->devices, queue[LINKS_DEVICES_MAX];

	for (uint32_t from = 0; from < n; from++) {
		uint16_t *hops = l->hops[from];
		uint32_t head = 0, tail = 0;

		for (uint32_t i = 0; i < n; i++)
			hops[i] = (uint16_t)n;
		hops[from] = 0;
		queue[tail++] = from;
		while (head < tail) {
			uint32_t at = queue[head++];

			for (uint32_t i = 0; i < n; i++) {
				if (l->links[at][i] == 0 || hops[i] < n)
					continue;
				hops[i] = (uint16_t)(hops[at] + 1);
				queue[tail++] = i;
			}
		}
	}
}

static uint16_t
links_most(const struct links *l)
{
	uint16_t most = 1;

	for (uint32_t i = 0; i < l->devices; i++)
		for (uint32_t k = 0; k < l->devices; k++)
			if (l->links[i][k] > most)
				most = l->links[i][k];
	return most;
}

/* The device that at has that many links to, both ways; at where there is
 * none, LINKS_DEVICES_MAX where there are several. */
static uint32_t
partner(const struct links *l, uint32_t at, uint16_t count)
{
	uint32_t found = at;

	for (uint32_t i = 0; i < l->devices; i++) {
		if (i == at || l->links[at][i] != count ||
		    l->links[i][at] != count)
			continue;
		if (found != at)
			return LINKS_DEVICES_MAX;
		found = i;
	}
	return found;
}

/* Numbers of devices change with what a job may see, the wiring does not: the
 * two of a package have the most links, and one whose other device is hidden
 * is alone. Where that tells nothing, the numbers must do. */
void
links_mates(struct links *l)
{
	uint16_t most = links_most(l);
	uint32_t pairs = 0, unclear = 0;

	for (uint32_t i = 0; i < l->devices; i++) {
		l->mate[i] = partner(l, i, most);
		unclear |= l->mate[i] == LINKS_DEVICES_MAX;
		pairs += l->mate[i] != i;
	}
	if (!unclear && pairs > 0)
		return;
	for (uint32_t i = 0; i < l->devices; i++)
		l->mate[i] = (i ^ 1) < l->devices ? i ^ 1 : i;
}

static int
rows_check(const struct numbers *n)
{
	size_t columns = n->rows_count > 0 ? numbers_columns(n, 0) : 0;

	if (columns == 0)
		return numbers_refuse(n, n->line > 0 ? n->line : 1,
		    "no numbers: allowed is a matrix of links");
	if (columns > LINKS_DEVICES_MAX)
		return numbers_refuse(n, n->lines[0],
		    "%zu devices: allowed are at most %d", columns,
		    LINKS_DEVICES_MAX);
	for (size_t i = 1; i < n->rows_count; i++)
		if (numbers_columns(n, i) != columns)
			return numbers_refuse(n, n->lines[i],
			    "%zu numbers: allowed is what line %ld has, %zu",
			    numbers_columns(n, i), n->lines[0], columns);
	if (n->rows_count != columns && n->rows_count != 2 * columns)
		return numbers_refuse(n, n->lines[n->rows_count - 1],
		    "%zu lines of %zu numbers: allowed is a square, or two "
		    "of them",
		    n->rows_count, columns);
	for (size_t i = 0; i < n->rows_count; i++)
		if (n->all[i * columns + i % columns] != 0)
			return numbers_refuse(n, n->lines[i],
			    "device %zu to itself: allowed is 0", i % columns);
	return 0;
}

static void
rows_take(const struct numbers *n, struct links *ret)
{
	uint32_t devices = (uint32_t)numbers_columns(n, 0);

	memset(ret, 0, sizeof(*ret));
	ret->devices = devices;
	for (size_t i = 0; i < devices; i++)
		for (size_t k = 0; k < devices; k++)
			ret->links[i][k] = (uint16_t)n->all[i * devices + k];
	links_hops(ret);
	for (size_t i = devices; i < n->rows_count; i++)
		for (size_t k = 0; k < devices; k++)
			ret->hops[i - devices][k] = (uint16_t)
							n->all[i * devices + k];
	links_mates(ret);
}

int
links_parse(const char *name, const char *text, size_t len_bytes,
    struct links *ret, struct err *err)
{
	struct numbers n = { .name = name,
		.max = LINKS_NUMBER_MAX,
		.most = 2 * LINKS_DEVICES_MAX * LINKS_DEVICES_MAX,
		.err = err };
	int rc = numbers_read(&n, text, len_bytes);

	if (rc == 0)
		rc = rows_check(&n);
	if (rc == 0)
		rows_take(&n, ret);
	numbers_clear(&n);
	return rc;
}

int
links_load(const char *path, struct links *ret, struct err *err)
{
	size_t len = 0;
	char *text = NULL;
	int rc = file_read(path, NUMBERS_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	rc = links_parse(path, text, len, ret, err);
	free(text);
	return rc;
}

int
links_shipped(const char *name, struct links *ret)
{
	struct err err;

	for (const struct shipped *f = links_files; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return links_parse(name, f->text, strlen(f->text), ret,
			    &err);
	return -ENOENT;
}

void
links_none(uint32_t devices, struct links *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->devices = devices;
	links_hops(ret);
	links_mates(ret);
}
