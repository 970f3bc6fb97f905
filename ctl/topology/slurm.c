/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.c - Slurm's topology.conf and topology.yaml: a tree of switches, or
 * blocks of nodes; each block counts as a leaf.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/file.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/topology/formats.h"

/* A switch or block, as either file has it; texts of hosts as Slurm writes
 * them. */
struct entry {
	const char *name, *nodes, *switches; /* NULL: not told */
};

static int
slurm_entry_add(struct fabric *f, const struct entry *e, struct err *err)
{
	struct fabric_port p = { .to = e->name, .name = "", .rail = -1 };
	struct hostlist hl = { 0 };
	int rc = 0;

	f->tree = 1;
	if (e->name == NULL)
		return err_set(err, -EINVAL,
		    "the name of a switch or block is missing");
	if (e->nodes != NULL && strcasecmp(e->nodes, "ALL") == 0)
		return err_set(err, -EINVAL, "nodes ALL: expected their names");
	/* "scontrol show topology" has the nodes of all switches below too */
	if (e->nodes != NULL && e->switches == NULL)
		rc = hostlist_parse(e->nodes, &hl, err);
	for (size_t i = 0; rc == 0 && i < hl.count; i++) {
		p.host = hl.names[i];
		rc = fabric_add_port(f, &p, err);
	}
	hostlist_clear(&hl);
	if (rc == 0 && e->switches != NULL)
		rc = hostlist_parse(e->switches, &hl, err);
	for (size_t i = 0; rc == 0 && i < hl.count; i++)
		rc = fabric_add_trunk(f, hl.names[i], e->name, 0, err);
	hostlist_clear(&hl);
	return rc;
}

/* ---- topology.conf ---- */

/* A line's next KEY=VALUE, as Slurm reads it: blanks around =, the value
 * perhaps in quotes. 0: end of the line; -EINVAL: something else is at *at. */
static int
slurm_pair_next(char **at, char **ret_key, char **ret_value)
{
	char *key = *at + strspn(*at, " \t"), *end, *value;

	*at = key;
	if (*key == '\0')
		return 0;
	end = key + strcspn(key, " \t=");
	value = end + strspn(end, " \t");
	if (end == key || *value != '=')
		return -EINVAL;
	value++;
	value += strspn(value, " \t");
	*end = '\0';
	if (*value == '"') {
		value++;
		end = value + strcspn(value, "\"");
	} else {
		end = value + strcspn(value, " \t");
	}
	*at = *end == '\0' ? end : end + 1;
	*end = '\0';
	*ret_key = key;
	*ret_value = value;
	return 1;
}

static int slurm_include(struct fabric *f, const char *path, const char *from,
    struct err *err);

/* "SwitchName=s1 Nodes=n[1-2] LinkSpeed=100" */
static int
slurm_conf_line(struct fabric *f, char *line, const char *file, struct err *err)
{
	struct entry e = { NULL, NULL, NULL };
	const char *ignored = NULL, *aggregate = NULL;
	const struct {
		const char *key;
		const char **to;
	} keys[] = {
		{ "SwitchName", &e.name },
		{ "BlockName", &e.name },
		{ "Nodes", &e.nodes },
		{ "Switches", &e.switches },
		{ "LinkSpeed", &ignored },
		{ "Level", &ignored },
		{ "BlockIndex", &ignored },
		{ "BlockSize", &ignored },
		/* what holds blocks, which have lines of their own */
		{ "AggregatedBlock", &aggregate },
		{ "BlockSizes", &aggregate },
	};
	char *at = line, *key, *value;
	int rc;

	line[strcspn(line, "#\r")] = '\0';
	at += strspn(at, " \t");
	if (strncasecmp(at, "Include", 7) == 0 &&
	    isblank((unsigned char)at[7])) {
		at = strtok_r(at + 7, " \t", &value);
		return at == NULL
		    ? err_set(err, -EINVAL, "Include without a file name")
		    : slurm_include(f, at, file, err);
	}
	while ((rc = slurm_pair_next(&at, &key, &value)) > 0) {
		size_t i = 0;

		while (i < ARRAY_LEN(keys) && strcasecmp(keys[i].key, key) != 0)
			i++;
		if (i < ARRAY_LEN(keys))
			*keys[i].to = value[0] == '\0' ||
				strcmp(value, "(null)") == 0
			    ? NULL
			    : value;
		else
			rc = fabric_skip(f, "keys skipped, unknown", err,
			    "%.40s", key);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return fabric_skip(f, "lines skipped, not understood", err,
		    "expected SwitchName, BlockName, Nodes, Switches or "
		    "LinkSpeed with = and a value, not \"%.40s\"",
		    at);
	if (aggregate != NULL ||
	    (e.name == NULL && e.nodes == NULL && e.switches == NULL))
		return 0;
	rc = slurm_entry_add(f, &e, err);
	return fabric_skip_refused(f, rc, "lines skipped, not understood", err);
}

int
import_slurm(struct fabric *f, char *text, const char *name, struct err *err)
{
	struct err reason;
	int lineno = 1, rc = 0;
	char *next;

	for (char *line = text; rc == 0 && line != NULL; line = next) {
		int first = lineno;
		char *at = line;

		/* a backslash at its end continues a line */
		while ((next = strchr(at, '\n')) != NULL && next > at &&
		    (next[-1] == '\\' ||
			(next[-1] == '\r' && next - at > 1 &&
			    next[-2] == '\\'))) {
			next[next[-1] == '\r' ? -2 : -1] = ' ';
			next[-1] = *next = ' ';
			at = next + 1;
			lineno++;
		}
		lineno++;
		if (next != NULL)
			*next++ = '\0';
		f->file = name;
		f->line = first;
		rc = slurm_conf_line(f, line, name, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, first, reason.text);
	}
	return rc;
}

static const char *
slurm_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* 1 when the included file is an argument too; one that is not where it should
 * be is the argument with its name. */
static int
slurm_is_argument(const struct fabric *f, const char *full, const char *real)
{
	int is = 0;

	for (size_t i = 0; !is && f->paths[i] != NULL; i++) {
		char *one = real == NULL ? NULL : realpath(f->paths[i], NULL);

		if (real == NULL)
			is = strcmp(slurm_base_of(f->paths[i]),
				 slurm_base_of(full)) == 0;
		else
			is = one != NULL && strcmp(one, real) == 0;
		free(one);
	}
	return is;
}

/* Read a file once, as Slurm from the folder of the one that includes it. */
static int
slurm_include(struct fabric *f, const char *path, const char *from,
    struct err *err)
{
	char *full, *real, *text;
	size_t len;
	int rc = 0;

	if (f->paths == NULL)
		return fabric_skip(f, "files not included", err, "%s", path);
	full = path[0] == '/'
	    ? xstrdup(path)
	    : xasprintf("%.*s%s", (int)(slurm_base_of(from) - from), from,
		  path);
	real = realpath(full, NULL);
	if (!slurm_is_argument(f, full, real) &&
	    json_object_get(f->included, real == NULL ? full : real) == NULL) {
		json_object_set_new(f->included, real == NULL ? full : real,
		    json_true());
		rc = file_read(full, TOPOLOGY_FILE_MAX, &text, &len, err);
		if (rc < 0) {
			err_say(err,
			    "cannot include %s; give the included files as "
			    "arguments too",
			    err->text);
		} else {
			rc = import_slurm(f, text, full, err);
			free(text);
		}
	}
	free(full);
	free(real);
	return rc;
}

/* ---- topology.yaml ---- */

struct document {
	struct fabric *f;
	yaml_document_t *yaml;
	const char *name; /* of the file */
	struct err *err;
};

static int
slurm_refuse(const struct document *d, const yaml_node_t *at, const char *text)
{
	return err_set(d->err, -EINVAL, "%s:%zu: %s", d->name,
	    at == NULL ? 1 : at->start_mark.line + 1, text);
}

/* Return NULL if it is not a mapping, or has no such key. */
static yaml_node_t *
slurm_member(const struct document *d, const yaml_node_t *map, const char *key)
{
	const yaml_node_pair_t *p;

	if (map == NULL || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *k = yaml_document_get_node(d->yaml, p->key);

		if (k->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)k->data.scalar.value, key) == 0)
			return yaml_document_get_node(d->yaml, p->value);
	}
	return NULL;
}

static const char *
slurm_text_of(const yaml_node_t *n)
{
	return n == NULL || n->type != YAML_SCALAR_NODE
	    ? NULL
	    : (const char *)n->data.scalar.value;
}

/* Names the keys of an entry that are not read. */
static int
slurm_keys_check(const struct document *d, const yaml_node_t *map,
    const char *word, struct err *err)
{
	int rc = 0;

	if (map == NULL || map->type != YAML_MAPPING_NODE)
		return 0;
	for (const yaml_node_pair_t *p = map->data.mapping.pairs.start;
	     rc == 0 && p < map->data.mapping.pairs.top; p++) {
		const char *key = slurm_text_of(
		    yaml_document_get_node(d->yaml, p->key));

		if (key == NULL ||
		    (strcmp(key, word) != 0 && strcmp(key, "nodes") != 0 &&
			strcmp(key, "children") != 0))
			rc = fabric_skip(d->f, "keys skipped, unknown", err,
			    "%.40s", key == NULL ? "?" : key);
	}
	return rc;
}

/* The list of switches or blocks. */
static int
slurm_list_add(const struct document *d, const yaml_node_t *list,
    const char *word)
{
	struct err reason;
	int rc = 0;

	if (list == NULL || list->type != YAML_SEQUENCE_NODE)
		return slurm_refuse(d, list,
		    "expected tree with a list of switches, or block with one "
		    "of blocks");
	for (const yaml_node_item_t *i = list->data.sequence.items.start;
	     rc == 0 && i < list->data.sequence.items.top; i++) {
		const yaml_node_t *n = yaml_document_get_node(d->yaml, *i);
		const struct entry e = { slurm_text_of(
					     slurm_member(d, n, word)),
			slurm_text_of(slurm_member(d, n, "nodes")),
			slurm_text_of(slurm_member(d, n, "children")) };

		d->f->line = n == NULL ? 0 : (int)n->start_mark.line + 1;
		rc = slurm_keys_check(d, n, word, &reason);
		if (rc == 0)
			rc = fabric_skip_refused(d->f,
			    slurm_entry_add(d->f, &e, &reason),
			    "entries skipped, not understood", &reason);
		if (rc < 0)
			slurm_refuse(d, n, reason.text);
	}
	return rc;
}

/* Names the topologies that are not read, but for flat ones. */
static int
slurm_others_name(const struct document *d, const yaml_node_t *root,
    const yaml_node_t *one)
{
	struct err reason;

	for (const yaml_node_item_t *i = root->data.sequence.items.start;
	     i < root->data.sequence.items.top; i++) {
		const yaml_node_t *n = yaml_document_get_node(d->yaml, *i);
		const char *name = slurm_text_of(
		    slurm_member(d, n, "topology"));

		d->f->line = n == NULL ? 0 : (int)n->start_mark.line + 1;
		if (n != one && slurm_member(d, n, "flat") == NULL &&
		    fabric_skip(d->f, "topologies skipped, another is read",
			&reason, "%.60s", name == NULL ? "?" : name) < 0)
			return slurm_refuse(d, n, reason.text);
	}
	return 0;
}

/* Of several topologies the cluster's default counts, else the first that is
 * not flat. */
static int
slurm_document_add(const struct document *d)
{
	const yaml_node_t *root = yaml_document_get_root_node(d->yaml);
	const yaml_node_t *one = NULL;

	if (root == NULL || root->type != YAML_SEQUENCE_NODE)
		return slurm_refuse(d, root, "expected a list of topologies");
	for (const yaml_node_item_t *i = root->data.sequence.items.start;
	     i < root->data.sequence.items.top; i++) {
		const yaml_node_t *n = yaml_document_get_node(d->yaml, *i);
		const char *is = slurm_text_of(
		    slurm_member(d, n, "cluster_default"));

		if (slurm_member(d, n, "tree") == NULL &&
		    slurm_member(d, n, "block") == NULL)
			continue;
		if (is != NULL && strcasecmp(is, "true") == 0) {
			one = n;
			break;
		}
		one = one == NULL ? n : one;
	}
	if (one == NULL)
		return slurm_refuse(d, root,
		    "no topology in this file has a tree or blocks");
	if (slurm_others_name(d, root, one) < 0)
		return -EINVAL;
	if (slurm_member(d, one, "tree") != NULL)
		return slurm_list_add(d,
		    slurm_member(d, slurm_member(d, one, "tree"), "switches"),
		    "switch");
	return slurm_list_add(d,
	    slurm_member(d, slurm_member(d, one, "block"), "blocks"), "block");
}

/* libyaml's time grows with the square of the depth. -EINVAL: it is nested more
 * than DEPTH_MAX deep; other errors are found when it is loaded. */
#define DEPTH_MAX 64

static int
slurm_depth_check(const char *text, const char *name, struct err *err)
{
	yaml_parser_t parser;
	yaml_event_t event;
	int depth = 0, rc = 0, end = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
	    strlen(text));
	while (rc == 0 && !end && yaml_parser_parse(&parser, &event)) {
		switch (event.type) {
		case YAML_SEQUENCE_START_EVENT:
		case YAML_MAPPING_START_EVENT:
			if (++depth > DEPTH_MAX)
				rc = err_set(err, -EINVAL,
				    "%s:%zu: nested more than %d deep", name,
				    event.start_mark.line + 1, DEPTH_MAX);
			break;
		case YAML_SEQUENCE_END_EVENT:
		case YAML_MAPPING_END_EVENT:
			depth--;
			break;
		default:
			end = event.type == YAML_STREAM_END_EVENT;
		}
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return rc;
}

int
import_slurm_yaml(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	yaml_document_t yaml;
	struct document d = { f, &yaml, name, err };
	yaml_parser_t parser;
	int rc = slurm_depth_check(text, name, err);

	if (rc < 0)
		return rc;
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
	    strlen(text));
	if (!yaml_parser_load(&parser, &yaml)) {
		rc = err_set(err, -EINVAL, "%s:%zu: %s", name,
		    parser.problem_mark.line + 1,
		    parser.problem != NULL ? parser.problem : "not valid YAML");
	} else {
		rc = slurm_document_add(&d);
		yaml_document_delete(&yaml);
	}
	yaml_parser_delete(&parser);
	return rc;
}
