/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf_print.c - the rows as the shipped file and as a part of the manual.
 */
#include "common/conf_print.h"

#include <string.h>

#include "common/conf_type.h"
#include "common/table.h"

/* The sentence of a row as comment lines of at most 76 characters. */
static void
conf_print_comment(const char *text, FILE *to)
{
	const char *next;

	for (; *text != '\0'; text = next) {
		size_t bytes = table_wrap(text, 74, &next);

		fprintf(to, "# %.*s\n", (int)bytes, text);
	}
}

/* Return the unit of a number, to be printed after its range; "" for values
 * that have none or include it. */
static const char *
conf_print_unit(const struct conf_row *row)
{
	int is_number = row->type == CONF_INT || row->type == CONF_REAL;

	return is_number && strcmp(row->unit, "1") != 0 ? row->unit : "";
}

void
conf_print_defaults(const struct conf_row *rows, FILE *to)
{
	char allowed[256];
	const char *unit;

	for (size_t i = 0; rows[i].key != NULL; i++) {
		if (conf_section_starts(rows, i))
			fprintf(to, "%s[%s]\n", i == 0 ? "" : "\n",
			    rows[i].section);
		else
			fputc('\n', to);
		conf_print_comment(rows[i].text, to);
		conf_type_allowed(&rows[i], allowed, sizeof(allowed));
		unit = conf_print_unit(&rows[i]);
		fprintf(to, "# Values: %s%s%s\n", allowed,
		    unit[0] == '\0' ? "" : " ", unit);
		if (rows[i].fallback == NULL)
			fprintf(to, "%s =\n", rows[i].key);
		else if (rows[i].fallback[0] == '\0')
			fprintf(to, "#%s =\n", rows[i].key);
		else
			fprintf(to, "#%s = %s\n", rows[i].key,
			    rows[i].fallback);
	}
}

/* mdoc text: a leading '.' or '\'' and every '\\' are escaped, each sentence
 * begins a line, and a list without blanks may be broken. */
static void
conf_print_mdoc_text(const char *text, FILE *to)
{
	const char *from = text;

	if (*text == '.' || *text == '\'')
		fputs("\\&", to);
	for (; *text != '\0'; text++) {
		if (*text == '\\')
			fputs("\\e", to);
		else if (*text == ' ' && text > from && text[-1] == '.')
			fputc('\n', to);
		else
			fputc(*text, to);
		if (*text == ',' && text[1] != ' ' && text[1] != '\0')
			fputs("\\:", to);
	}
}

void
conf_print_mdoc(const struct conf_row *rows, FILE *to)
{
	char allowed[256];
	const char *unit;

	for (size_t i = 0; rows[i].key != NULL; i++) {
		if (conf_section_starts(rows, i))
			fprintf(to, "%s.Ss \\&[%s]\n.Bl -tag -width Ds\n",
			    i == 0 ? "" : ".El\n", rows[i].section);
		fprintf(to, ".It Ic %s\n", rows[i].key);
		conf_print_mdoc_text(rows[i].text, to);
		fputc('\n', to);
		conf_type_allowed(&rows[i], allowed, sizeof(allowed));
		unit = conf_print_unit(&rows[i]);
		fputs(".br\n", to);
		if (rows[i].type != CONF_STRING) {
			fputs("Values: ", to);
			conf_print_mdoc_text(allowed, to);
			fprintf(to, "%s%s.\n", unit[0] == '\0' ? "" : " ",
			    unit);
		}
		if (rows[i].fallback == NULL)
			fputs("Required.\n", to);
		else if (rows[i].fallback[0] == '\0')
			fputs("Default: empty.\n", to);
		else {
			fputs("Default:\n.Ql ", to);
			conf_print_mdoc_text(rows[i].fallback, to);
			fputs(" .\n", to);
		}
	}
	fputs(".El\n", to);
}
