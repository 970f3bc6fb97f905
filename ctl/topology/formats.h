/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - a topology out of files in a foreign format, and the formats.
 *
 * A reader adds the contents of a file to a fabric. It gets the file's text,
 * which it may change, and its name. Unknown parts go to fabric_skip; a file in
 * another format is rejected with "NAME:LINE: ..." and -EINVAL, too much of
 * anything with -E2BIG.
 */
#ifndef CTL_TOPOLOGY_FORMATS_H
#define CTL_TOPOLOGY_FORMATS_H

#include "ctl/topology/fabric.h"

typedef int import_reader(struct fabric *f, char *text, const char *name,
    struct err *err);

struct import_format {
	const char *name;
	const char *about; /* where such files come from */
	/* A word, with the character after it, that is in every file of this
	 * format and in none of the formats above, outside comments; NULL:
	 * none. "\"NAME\"" is a key of JSON, "#..." the first line. */
	const char *mark;
	import_reader *read; /* NULL: it is a topology already */
	/* Declares the switches, in all files before any is read; it does not
	 * change the text and reports no error. */
	void (*scan)(struct fabric *f, const char *text);
};
extern const struct import_format import_formats[]; /* ends without a name */

import_reader import_ibnetdiscover, import_slurm, import_slurm_yaml,
    import_topograph, import_lldp;
void import_ibnetdiscover_scan(struct fabric *f, const char *text);
void import_lldp_scan(struct fabric *f, const char *text);

struct import_order {
	char *const *paths; /* ends with NULL */
	const char *format; /* NULL: found out */
	struct fabric_choice choice;
};

struct import {
	struct topology *t;
	json_t *guids, *skipped; /* as of struct fabric */
	/* counts as in struct fabric */
	size_t left_out, sideward, lone, stations;
};

/* The files together. -EINVAL, -E2BIG or what file_read says. */
int import_read(const struct import_order *o, struct import *ret,
    struct err *err);
void import_clear(struct import *im);

#endif
