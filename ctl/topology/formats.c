/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c - which formats there are, how one is found out, and the plainest
 * of them: a table.
 */
#include "ctl/topology/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"

/* "n001 leaf1" or "n001 leaf1 0": node, leaf and rail. */
static int
formats_table_line(struct fabric *f, char *line, struct err *err)
{
	struct fabric_port p = { .name = "", .rail = -1 };
	char *save, *rail;
	int64_t n;

	line[strcspn(line, "#\r")] = '\0';
	p.host = strtok_r(line, " \t,;", &save);
	if (p.host == NULL)
		return 0;
	p.to = strtok_r(NULL, " \t,;", &save);
	rail = strtok_r(NULL, " \t,;", &save);
	if (p.to == NULL ||
	    (rail != NULL && strtok_r(NULL, " \t,;", &save) != NULL))
		return err_set(err, -EINVAL,
		    "expected NODE LEAF or NODE LEAF RAIL");
	if (rail != NULL) {
		if (str_to_int(rail, 0, TOPOLOGY_RAILS_MAX - 1, &n) < 0)
			return err_set(err, -EINVAL,
			    "rail \"%.20s\": allowed is 0 to %d", rail,
			    TOPOLOGY_RAILS_MAX - 1);
		p.rail = (int)n;
	}
	return fabric_add_port(f, &p, err);
}

static int
formats_import_table(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	struct err reason;
	int lineno = 0, rc = 0;
	char *line;

	while (rc == 0 && (line = str_line(&text)) != NULL) {
		lineno++;
		rc = formats_table_line(f, line, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, lineno, reason.text);
	}
	return rc;
}

const struct import_format import_formats[] = {
	{ "ibnetdiscover", "the output of ibnetdiscover(8)",
	    "switchguid=", import_ibnetdiscover },
	{ "slurm", "Slurm's topology.conf, or scontrol show topology",
	    "switchname=", import_slurm },
	{ "slurm", "Slurm's topology.conf of blocks",
	    "blockname=", import_slurm },
	{ "slurm-yaml", "Slurm's topology.yaml",
	    "topology:", import_slurm_yaml },
	{ "topograph", "JSON of Topograph's graph engine", "\"instances\"",
	    import_topograph },
	{ "lldp", "lldpctl -f json of a node, in a file NODE.json", "\"lldp\"",
	    import_lldp },
	{ "coalmine", "a file of this program: LEAF NODES ...",
	    "coalctl topology import", NULL },
	{ "table", "NODE LEAF [RAIL], one a line", NULL, formats_import_table },
	{ 0 },
};

/* NULL, and which there are. */
static const struct import_format *
formats_format_find(const char *name, const char *text, struct err *err)
{
	const struct import_format *f;
	struct strbuf all = { 0 };

	for (f = import_formats; f->name != NULL; f++)
		if (name != NULL
			? strcmp(name, f->name) == 0
			: f->mark == NULL || strcasestr(text, f->mark) != NULL)
			return f;
	for (f = import_formats; f->name != NULL; f++)
		if (f == import_formats || strcmp(f[-1].name, f->name) != 0)
			strbuf_addf(&all, "%s%s",
			    f == import_formats ? "" : ", ", f->name);
	err_say(err, "format \"%.40s\": allowed are %s", name, all.text);
	strbuf_clear(&all);
	return NULL;
}

static int
formats_file_add(const struct import_order *o, const char *path,
    struct fabric *f, struct import *im, struct err *err)
{
	const struct import_format *format;
	struct err reason;
	char *text;
	size_t len;
	int rc = file_read(path, TOPOLOGY_FILE_MAX, &text, &len, err);

	if (rc < 0)
		return rc;
	format = formats_format_find(o->format, text, err);
	if (format == NULL)
		rc = -EINVAL;
	else if (strlen(text) != len)
		rc = err_set(err, -EINVAL, "%s: it is no text", path);
	else if (format->read != NULL)
		rc = format->read(f, text, path, err);
	else if (im->t != NULL || o->paths[1] != NULL)
		rc = err_set(err, -EINVAL,
		    "%s: a file of this program stands alone", path);
	else
		rc = topology_read(text, path, &im->t, err);
	free(text);
	if (rc < 0 && o->format == NULL && format != NULL &&
	    format->mark == NULL) {
		reason = *err;
		err_say(err,
		    "%s; it was taken for a table, as nothing in it tells of "
		    "another format: see --from",
		    reason.text);
	}
	return rc;
}

int
import_read(const struct import_order *o, struct import *ret, struct err *err)
{
	struct fabric *f = fabric_new(&o->choice);
	struct import im = { .t = NULL };
	int rc = 0;

	for (size_t i = 0; rc == 0 && o->paths[i] != NULL; i++)
		rc = formats_file_add(o, o->paths[i], f, &im, err);
	if (rc == 0 && im.t == NULL)
		rc = fabric_sort(f, &im.t, err);
	if (rc == 0) {
		im.guids = json_incref(f->guids);
		im.left_out = f->left_out;
		im.sideward = f->sideward;
		im.lone = f->lone;
		*ret = im;
	}
	fabric_free(f);
	return rc;
}

void
import_clear(struct import *im)
{
	topology_free(im->t);
	json_decref(im->guids);
	*im = (struct import){ 0 };
}
