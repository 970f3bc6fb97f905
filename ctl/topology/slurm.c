/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.c - Slurm's topology.conf and topology.yaml: a tree of switches, or
 * blocks of nodes, each of which counts as a leaf.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/hostlist.h"
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

/* "SwitchName=s1 Nodes=n[1-2] LinkSpeed=100" */
static int
slurm_conf_line(struct fabric *f, char *line, struct err *err)
{
	struct entry e = { NULL, NULL, NULL };
	const struct {
		const char *key;
		const char **to; /* NULL: read over */
	} keys[] = {
		{ "SwitchName", &e.name },
		{ "BlockName", &e.name },
		{ "Nodes", &e.nodes },
		{ "Switches", &e.switches },
		{ "LinkSpeed", NULL },
		{ "Level", NULL },
		{ "BlockSizes", NULL },
	};
	char *save, *word;

	line[strcspn(line, "#\r")] = '\0';
	word = strtok_r(line, " \t", &save);
	if (word == NULL || strncasecmp(word, "BlockSizes=", 11) == 0)
		return 0;
	for (; word != NULL; word = strtok_r(NULL, " \t", &save)) {
		char *value = strchr(word, '=');
		size_t i = 0, n = sizeof(keys) / sizeof(keys[0]);

		if (value != NULL)
			*value++ = '\0';
		while (i < n && strcasecmp(keys[i].key, word) != 0)
			i++;
		if (value == NULL || i == n)
			return err_set(err, -EINVAL,
			    "expected SwitchName, BlockName, Nodes, Switches "
			    "or LinkSpeed with = and a value, not \"%.40s\"",
			    word);
		if (keys[i].to != NULL)
			*keys[i].to = value;
	}
	return slurm_entry_add(f, &e, err);
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
		    next[-1] == '\\') {
			next[-1] = *next = ' ';
			at = next + 1;
			lineno++;
		}
		lineno++;
		if (next != NULL)
			*next++ = '\0';
		rc = slurm_conf_line(f, line, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, first, reason.text);
	}
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

/* NULL when it is no mapping, or has no such key. */
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

		rc = slurm_entry_add(d->f, &e, &reason);
		if (rc < 0)
			slurm_refuse(d, n, reason.text);
	}
	return rc;
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
		    "no topology of it has tree or block, but all are flat");
	if (slurm_member(d, one, "tree") != NULL)
		return slurm_list_add(d,
		    slurm_member(d, slurm_member(d, one, "tree"), "switches"),
		    "switch");
	return slurm_list_add(d,
	    slurm_member(d, slurm_member(d, one, "block"), "blocks"), "block");
}

int
import_slurm_yaml(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	yaml_document_t yaml;
	struct document d = { f, &yaml, name, err };
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text,
	    strlen(text));
	if (!yaml_parser_load(&parser, &yaml)) {
		rc = err_set(err, -EINVAL, "%s:%zu: %s", name,
		    parser.problem_mark.line + 1,
		    parser.problem != NULL ? parser.problem : "no YAML");
	} else {
		rc = slurm_document_add(&d);
		yaml_document_delete(&yaml);
	}
	yaml_parser_delete(&parser);
	return rc;
}
