/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meant.c - a word counts as mistyped for another one if few letters differ:
 * one of a short word, two of a longer one.
 */
#include "ctl/lib/meant.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define WORD_MAX 40 /* longer words are not compared */

/* Return the count of letters that are added, missing, changed, or swapped with
 * the next one. */
static size_t
meant_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1], n = strlen(b);

	if (strlen(a) > WORD_MAX || n > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t *now = rows[i % 3];
		const size_t *up = rows[(i - 1) % 3],
			     *upper = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t least = up[j - 1] + (a[i - 1] != b[j - 1]);

			least = up[j] + 1 < least ? up[j] + 1 : least;
			least = now[j - 1] + 1 < least ? now[j - 1] + 1 : least;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && upper[j - 2] + 1 < least)
				least = upper[j - 2] + 1;
			now[j] = least;
		}
	}
	return rows[strlen(a) % 3][n];
}

char *
meant_find(const char *word, const char *names)
{
	size_t best = strlen(word) > 4 ? 3 : 2, found; /* less than this */
	char *meant = NULL, *name;

	for (const char *p = names; *p != '\0'; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		name = xstrndup(p, n);
		found = meant_distance(word, name);
		if (found < best) {
			best = found;
			free(meant);
			meant = name;
		} else {
			free(name);
		}
		p += n;
	}
	return meant;
}
