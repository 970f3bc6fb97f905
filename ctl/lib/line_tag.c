/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_tag.c - tags of launchers and of log readers, as expressions.
 */
#include "ctl/lib/line_tag.h"

#include <regex.h>
#include <string.h>

#include "common/str.h"

#define DAY   "[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
#define CLOCK "[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?"
#define MONTH "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

static const struct {
	const char *expression;
	int is_time; /* differs from line to line of a source */
} tags[] = {
	/* Open MPI, PRRTE: "[1,0]<stdout>:", "[prterun-n1-7@1,0]<stdout>: ",
	 * with a time before it "<stdout>:" alone, or host and pid inside */
	{ "^(\\[[^],]*,[0-9]+\\])?(\\[[^]]*\\])*<std(out|err|diag)>: ?", 0 },
	/* RFC 3339; "[...]" too */
	{ "^\\[?" DAY "[T ]" CLOCK "(Z|[+-][0-9]{2}:?[0-9]{2})?\\]?:?( |$)",
	    1 },
	/* ctime, which Open MPI sets directly before its own tag */
	{ "^([A-Z][a-z]{2} )?" MONTH " +[0-9]+ " CLOCK "( [0-9]{4})? ?", 1 },
	{ "^\\[?" CLOCK "\\]?( |$)", 1 },
	/* CRI: full and partial lines */
	{ "^(stdout|stderr) [FP]( |$)", 1 },
	/* srun -l, also of heterogeneous jobs */
	{ "^ *[0-9]+(\\+[0-9]+)?:( |$)", 0 },
	/* mpiexec -l of MPICH and Intel MPI */
	{ "^\\[[0-9]+\\]( |$)", 0 },
	/* kubectl logs --prefix: "[pod/NAME/CONTAINER] " */
	{ "^\\[[^] ]+/[^] ]+\\]( |$)", 0 },
	/* docker compose */
	{ "^[A-Za-z0-9][A-Za-z0-9_.-]* *\\|( |$)", 0 },
};

/* Compiled when first needed; for the life of the program. */
static regex_t expressions[ARRAY_LEN(tags)];
static int is_compiled;

static void
line_tag_clean(char *line)
{
	char *to = line;

	for (const char *at = line; *at != '\0'; at++) {
		if (*at == '\033' && at[1] == '[') {
			at += 2 + strspn(at + 2, "0123456789;?");
			if (*at == '\0')
				break;
		} else if (*at != '\r')
			*to++ = *at;
	}
	*to = '\0';
}

char *
line_tag_cut(char *line, char ret_tag[LINE_TAG_BYTES])
{
	size_t len = 0, i = 0;

	ret_tag[0] = '\0';
	for (; !is_compiled && i < ARRAY_LEN(tags); i++)
		if (regcomp(&expressions[i], tags[i].expression,
			REG_EXTENDED) != 0)
			return line;
	is_compiled = 1;
	line_tag_clean(line);
	for (i = 0; i < ARRAY_LEN(tags);) {
		regmatch_t m;
		size_t n;

		if (regexec(&expressions[i], line, 1, &m, 0) != 0 ||
		    m.rm_eo <= 0) {
			i++;
			continue;
		}
		n = (size_t)m.rm_eo;
		if (!tags[i].is_time && len + n < LINE_TAG_BYTES) {
			memcpy(ret_tag + len, line, n);
			len += n;
			ret_tag[len] = '\0';
		}
		line += n;
		i = 0;
	}
	/* A tag's blank may be the first of a row's. */
	while (len > 0 && ret_tag[len - 1] == ' ')
		ret_tag[--len] = '\0';
	return line;
}
