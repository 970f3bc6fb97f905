/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c - which formats there are, how one is found out, and the plainest
 * of them: a table.
 */
#include "ctl/topology/formats.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/str.h"
#include "common/xalloc.h"

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
			    "rail \"%.20s\": expected 0 to %d", rail,
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
	    "switchguid=", import_ibnetdiscover, import_ibnetdiscover_scan },
	{ "ibnetdiscover", "the output of ibnetdiscover(8) without switches",
	    "caguid=", import_ibnetdiscover, import_ibnetdiscover_scan },
	{ "slurm", "Slurm's topology.conf, or scontrol show topology",
	    "SwitchName=", import_slurm, NULL },
	{ "slurm", "Slurm's topology.conf of blocks",
	    "BlockName=", import_slurm, NULL },
	{ "slurm-yaml", "Slurm's topology.yaml", "topology:", import_slurm_yaml,
	    NULL },
	{ "topograph", "JSON of Topograph's graph engine", "\"instances\"",
	    import_topograph, NULL },
	{ "lldp", "lldpctl -f json of a node, in a file NODE.json", "\"lldp\"",
	    import_lldp, import_lldp_scan },
	{ "coalmine", "a topology file of the collector: LEAF NODES ...",
	    "# coalctl topology import:", NULL, NULL },
	{ "slurm", "Slurm's topology.conf of includes", "Include ",
	    import_slurm, NULL },
	{ "table", "NODE LEAF [RAIL], one a line", NULL, formats_import_table,
	    NULL },
	{ 0 },
};

/* Outputs without a topology: the pattern of one of their lines, and the output
 * that the user should give. */
static const struct {
	const char *line, *is, *instead;
} formats_others[] = {
	{ "[CSR?][AWT?] *[0-9] *[0-9] 0x[0-9a-f]*", "ibnetdiscover -p",
	    "the output of ibnetdiscover without -p" },
	{ "Ca[ \t]*: 0x*ports*", "ibnetdiscover -l or ibnodes",
	    "the output of ibnetdiscover without options" },
	{ "Switch[ \t]*: 0x*ports*", "ibnetdiscover -l or ibnodes",
	    "the output of ibnetdiscover without options" },
	{ "CA: *:", "iblinkinfo", "the output of ibnetdiscover" },
	{ "Switch: 0x*", "iblinkinfo", "the output of ibnetdiscover" },
	{ "*==(*)==>*", "iblinkinfo", "the output of ibnetdiscover" },
	{ "{ [CSR][AWT]*Ports:*", "ibdiagnet's list",
	    "the output of ibnetdiscover" },
	{ "START_NODES*", "ibdiagnet's db_csv", "the output of ibnetdiscover" },
	{ "lldp.*=*", "lldpctl -f keyvalue", "lldpctl -f json" },
	{ "LLDP neighbors:*", "lldpctl", "lldpctl -f json" },
	{ "<?xml *", "XML", "JSON: lldpctl -f json" },
	{ "NodeName=*", "scontrol show nodes", "scontrol show topology" },
	{ "{*", "JSON with neither \"instances\" nor \"lldp\"",
	    "JSON of Topograph's graph engine or of lldpctl -f json" },
};

/* The text without comments, which the caller frees. */
static char *
formats_comments_drop(const char *text)
{
	char *ret = xstrdup(text), *to = ret;

	for (const char *at = ret; *at != '\0';) {
		at += *at == '#' ? strcspn(at, "\n") : 0;
		if (*at != '\0')
			*to++ = *at++;
	}
	*to = '\0';
	return ret;
}

/* 1 where mark's word begins a word of the text and its last character
 * follows; a last blank: where the word begins a line. */
static int
formats_word_find(const char *text, const char *mark)
{
	size_t n = strlen(mark) - 1;
	char last = mark[n];

	for (const char *at = text; *at != '\0'; at++) {
		const char *end = at + n;

		if (strncasecmp(at, mark, n) != 0 ||
		    (at > text &&
			(last == ' ' ? at[-1] != '\n'
				     : !isspace((unsigned char)at[-1]))))
			continue;
		if (last == ' ' ? isblank((unsigned char)*end)
				: end[strspn(end, " \t")] == last)
			return 1;
	}
	return 0;
}

/* 1 where the text is JSON and has the key, which is in quotes. */
static int
formats_key_find(const char *text, const char *key)
{
	const char *at = text + strspn(text, " \t\r\n");

	if (*at != '{' && *at != '[')
		return 0;
	while ((at = strstr(at, key)) != NULL) {
		at += strlen(key);
		if (at[strspn(at, " \t\r\n")] == ':')
			return 1;
	}
	return 0;
}

static int
formats_is_marked(const char *text, const char *bare, const char *mark)
{
	if (mark[0] == '#')
		return strncmp(text, mark, strlen(mark)) == 0;
	if (mark[0] != '"' && text[strspn(text, " \t\r\n")] == '{')
		return 0; /* words in texts of JSON */
	return mark[0] == '"' ? formats_key_find(text, mark)
			      : formats_word_find(bare, mark);
}

/* NULL, and which there are. */
static const struct import_format *
formats_format_find(const char *name, const char *text, struct err *err)
{
	const struct import_format *f;
	char *bare = formats_comments_drop(text);
	struct strbuf all = { 0 };

	for (f = import_formats; f->name != NULL; f++)
		if (name != NULL ? strcmp(name, f->name) == 0
				 : f->mark == NULL ||
			    formats_is_marked(text, bare, f->mark))
			break;
	free(bare);
	if (f->name != NULL)
		return f;
	for (f = import_formats; f->name != NULL; f++)
		if (f == import_formats || strcmp(f[-1].name, f->name) != 0)
			strbuf_addf(&all, "%s%s",
			    f == import_formats ? "" : ", ", f->name);
	err_say(err, "format \"%.40s\": expected %s", name, all.text);
	strbuf_clear(&all);
	return NULL;
}

/* ---- the files together ---- */

struct source {
	const char *path;
	char *text; /* NULL: nothing is in it */
	const struct import_format *format;
};

/* -EINVAL: a line of the text is in formats_others. */
static int
formats_other_refuse(const char *path, const char *text, struct err *err)
{
	char line[200];
	int lineno = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		lineno++;
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		line[strcspn(line, "\r")] = '\0';
		for (size_t i = 0; i < ARRAY_LEN(formats_others); i++)
			if (fnmatch(formats_others[i].line, line, 0) == 0)
				return err_set(err, -EINVAL,
				    "%s:%d: this is %s: give %s", path, lineno,
				    formats_others[i].is,
				    formats_others[i].instead);
		text += n + (text[n] == '\n');
	}
	return 0;
}

static int
formats_source_load(const struct import_order *o, const char *path,
    struct fabric *f, struct source *ret, struct err *err)
{
	struct source s = { .path = path };
	size_t len;
	int rc = file_read(path, TOPOLOGY_FILE_MAX, &s.text, &len, err);

	if (rc < 0)
		return rc;
	s.format = formats_format_find(o->format, s.text, err);
	f->file = path;
	f->line = 0;
	if (s.format == NULL) {
		rc = -EINVAL;
	} else if (strlen(s.text) != len) {
		rc = err_set(err, -EINVAL, "%s: file contains a NUL byte",
		    path);
	} else if (s.text[strspn(s.text, " \t\r\n{}")] == '\0') {
		rc = fabric_skip(f, "files without content", err, "%s", "");
		if (rc < 0)
			err_say(err, "%s: %s", path, err->text);
		free(s.text);
		s.text = NULL;
	} else if (s.format->read == NULL && o->paths[1] != NULL) {
		rc = err_set(err, -EINVAL,
		    "%s: an imported topology file cannot be combined with "
		    "other files",
		    path);
	} else if (o->format == NULL && s.format->mark == NULL) {
		rc = formats_other_refuse(path, s.text, err);
	}
	if (rc < 0)
		free(s.text);
	else
		*ret = s;
	return rc;
}

static int
formats_source_add(const struct import_order *o, struct source *s,
    struct fabric *f, struct import *im, struct err *err)
{
	struct err reason;
	int rc;

	f->file = s->path;
	f->line = 0;
	if (s->format->read == NULL)
		rc = topology_read(s->text, s->path, &im->t, err);
	else
		rc = s->format->read(f, s->text, s->path, err);
	if (rc < 0 && o->format == NULL && s->format->mark == NULL) {
		reason = *err;
		err_say(err,
		    "%s; it was read as a table, since no other format was "
		    "recognized: see --from",
		    reason.text);
	}
	return rc;
}

int
import_read(const struct import_order *o, struct import *ret, struct err *err)
{
	struct fabric *f = fabric_new(&o->choice);
	struct import im = { .t = NULL };
	struct source *all = NULL, one;
	size_t count = 0;
	int rc = 0;

	f->paths = o->paths;
	for (size_t i = 0; rc == 0 && o->paths[i] != NULL; i++) {
		rc = formats_source_load(o, o->paths[i], f, &one, err);
		if (rc < 0 || one.text == NULL)
			continue;
		all = xmore(all, count, sizeof(*all));
		all[count++] = one;
	}
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (all[i].format->scan != NULL) {
			f->file = all[i].path;
			all[i].format->scan(f, all[i].text);
		}
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = formats_source_add(o, &all[i], f, &im, err);
	if (rc == 0 && im.t == NULL)
		rc = fabric_sort(f, &im.t, err);
	if (rc == 0) {
		im.guids = json_incref(f->guids);
		im.skipped = json_incref(f->skipped);
		im.left_out = f->left_out;
		im.sideward = f->sideward;
		im.lone = f->lone;
		im.stations = f->stations;
		*ret = im;
	}
	for (size_t i = 0; i < count; i++)
		free(all[i].text);
	free(all);
	fabric_free(f);
	return rc;
}

void
import_clear(struct import *im)
{
	topology_free(im->t);
	json_decref(im->guids);
	json_decref(im->skipped);
	*im = (struct import){ 0 };
}
