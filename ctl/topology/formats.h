/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.h - read a topology from files in other formats; the table of
 * formats.
 *
 * A reader adds the contents of a file to a fabric. It gets the text of the
 * file, which it can change, and its name. Parts that it does not know go to
 * fabric_skip. A file in another format is rejected with "NAME:LINE: ..." and
 * -EINVAL; too many parts with -E2BIG.
 */
#ifndef CTL_TOPOLOGY_FORMATS_H
#define CTL_TOPOLOGY_FORMATS_H

#include "ctl/topology/fabric.h"

typedef int import_reader(struct fabric *f, char *text, const char *name,
    struct err *err);

/* A format. */
struct import_format {
	const char *name;
	const char *about; /* where such files come from */
	/* A word, with the character after it, that is in every file of this
	 * format, outside comments, and in no file of the formats above. NULL:
	 * none. "\"NAME\"" is a key of JSON, "#..." the first line. */
	const char *mark;
	import_reader *read; /* NULL: the file is a topology file already */
	/* Declare the switches; called for all files before any is read. It
	 * does not change the text and reports no error. */
	void (*scan)(struct fabric *f, const char *text);
};
extern const struct import_format import_formats[]; /* ends without a name */

import_reader import_ibnetdiscover, import_slurm, import_slurm_yaml,
    import_topograph, import_lldp;
void import_ibnetdiscover_scan(struct fabric *f, const char *text);
void import_lldp_scan(struct fabric *f, const char *text);

/* The files to import, and how to read them. */
struct import_order {
	char *const *paths; /* ends with NULL */
	const char *format; /* NULL: recognise it */
	struct fabric_choice choice;
};

/* The result of an import. */
struct import {
	struct topology *t;
	json_t *guids, *skipped; /* see struct fabric */
	/* counts as in struct fabric */
	size_t left_out, sideward, lone, stations;
};

/* Import files as one topology. Return 0 and the result, which the caller frees
 * with import_clear; or -EINVAL, -E2BIG or an error of file_read, with err. */
int import_read(const struct import_order *o, struct import *ret,
    struct err *err);
void import_clear(struct import *im);

#endif
