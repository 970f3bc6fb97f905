/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibnetdiscover.c - the output of ibnetdiscover(8): a block for every switch
 * and channel adapter, a line for every port that leads to another. Links of
 * hosts are read from adapters, which name their ports, those of switches from
 * either.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "ctl/topology/formats.h"

#define LINE_BYTES 1024
#define LANES_MAX  16 /* InfiniBand has links of 1, 2, 4, 8 and 12 */

/* What one lane of a speed carries. */
static const struct {
	const char *name;
	double gbps;
} speeds[] = {
	{ "SDR", 2.5 },
	{ "DDR", 5 },
	{ "QDR", 10 },
	{ "FDR10", 10 },
	{ "FDR", 14 },
	{ "EDR", 25 },
	{ "HDR", 50 },
	{ "NDR", 100 },
	{ "XDR", 200 },
};

/* A block's head. */
struct device {
	char id[40]; /* "S-0002c9..." */
	char host[HOSTLIST_NAME_MAX + 1], hca[FABRIC_PORT_MAX - 8];
	int is_switch, is_other; /* a router, or a switch's own processor */
	int64_t ports;
};

struct reading {
	struct fabric *f;
	json_t *names; /* of switches, by id */
	json_t *taken; /* how often a name was given */
	struct device device;
};

/* Between the next two quotes from *at on, which is moved behind them, or
 * NULL; changes the line. */
static char *
ibnetdiscover_quoted(char **at)
{
	char *from = strchr(*at, '"');
	char *end = from == NULL ? NULL : strchr(from + 1, '"');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return from + 1;
}

/* "MF0;sw1:MQM8700/U1" is sw1, and "MF0;sw1:CS7500/L01/U1" a board of sw1. */
static void
ibnetdiscover_switch_name(const char *about, char ret[TOPOLOGY_NAME_MAX])
{
	const char *from = strchr(about, ';'), *end, *board;
	char text[200];

	end = from == NULL ? NULL : strchr(from, ':');
	board = end == NULL ? NULL : strchr(end, '/');
	if (end == NULL)
		snprintf(text, sizeof(text), "%s", about);
	else
		snprintf(text, sizeof(text), "%.*s%s", (int)(end - from - 1),
		    from + 1,
		    board == NULL || strcmp(board, "/U1") == 0 ? "" : board);
	fabric_name(text, strlen(text), ret);
}

/* 'Switch 40 "S-..." # "MF0;..." ...' or 'Ca 1 "H-..." # "n001 mlx5_0"'. */
static int
ibnetdiscover_head_read(char *line, struct device *d, char **ret_about)
{
	char *save, *kind, *ports, *id, *at;

	*d = (struct device){ .ports = 0 };
	kind = strtok_r(line, " \t", &save);
	ports = strtok_r(NULL, " \t", &save);
	if (ports == NULL || str_to_int(ports, 0, 65535, &d->ports) < 0)
		return -EINVAL;
	at = save;
	id = ibnetdiscover_quoted(&at);
	*ret_about = ibnetdiscover_quoted(&at);
	if (id == NULL || str_format(d->id, sizeof(d->id), "%s", id) < 0)
		return -EINVAL;
	d->is_switch = strcmp(kind, "Switch") == 0;
	d->is_other = strcmp(kind, "Rt") == 0;
	return 0;
}

static int
ibnetdiscover_is_head(const char *line)
{
	return strncmp(line, "Switch", 6) == 0 || strncmp(line, "Ca", 2) == 0 ||
	    strncmp(line, "Rt", 2) == 0;
}

/* First pass: what switches are called. */
static int
ibnetdiscover_name_line(struct reading *r, char *line, struct err *err)
{
	char name[TOPOLOGY_NAME_MAX], *about;
	struct device d;
	json_int_t times;

	if (!ibnetdiscover_is_head(line))
		return 0;
	if (ibnetdiscover_head_read(line, &d, &about) < 0)
		return err_set(err, -EINVAL,
		    "expected Switch, Ca or Rt, the number of ports and the "
		    "identifier in quotes");
	if (!d.is_switch)
		return 0;
	if (json_object_size(r->names) >= TOPOLOGY_SWITCHES_MAX)
		return err_set(err, -E2BIG, "more than %d switches",
		    TOPOLOGY_SWITCHES_MAX);
	ibnetdiscover_switch_name(about != NULL ? about : "", name);
	if (name[0] == '\0')
		snprintf(name, sizeof(name), "%s", d.id);
	times = member_int(r->taken, name);
	json_object_set_new(r->taken, name, json_integer(times + 1));
	json_object_set_new(r->names, d.id, json_string(name));
	return 0;
}

/* The name of a switch; of several with one name, each has its identifier
 * too. */
static int
ibnetdiscover_name_of(const struct reading *r, const char *id,
    char ret[TOPOLOGY_NAME_MAX], struct err *err)
{
	const char *name = member_text_or(r->names, id, NULL);
	const char *digits = id + strcspn(id, "-");

	if (name == NULL)
		return err_set(err, -EINVAL,
		    "no Switch of this file is \"%.40s\"", id);
	digits += strspn(digits, "-0");
	if (member_int(r->taken, name) > 1)
		snprintf(ret, TOPOLOGY_NAME_MAX, "%.40s_%.16s", name, digits);
	else
		snprintf(ret, TOPOLOGY_NAME_MAX, "%s", name);
	return 0;
}

static int
ibnetdiscover_head_line(struct reading *r, char *line, struct err *err)
{
	struct device *d = &r->device;
	char *about;
	size_t n;

	if (ibnetdiscover_head_read(line, d, &about) < 0)
		return -EINVAL; /* the first pass has said so */
	if (d->is_switch || d->is_other)
		return 0;
	if (about == NULL || strstr(about, "Aggregation Node") != NULL) {
		d->is_other = 1;
		return 0;
	}
	n = strcspn(about, " ");
	if (str_format(d->host, sizeof(d->host), "%.*s", (int)n, about) < 0 ||
	    hostlist_name_check(d->host) < 0)
		return err_set(err, -EINVAL,
		    "the adapter's description \"%.60s\" does not begin with "
		    "the name of its host, as \"n001 mlx5_0\"",
		    about);
	about += n + strspn(about + n, " ");
	snprintf(d->hca, sizeof(d->hca), "%.*s", (int)strcspn(about, " "),
	    about);
	return 0;
}

/* "4xHDR", the last word of a line; 0 for others. */
static double
ibnetdiscover_gbps_of(const char *line)
{
	const char *word = strrchr(line, ' ');
	char *x;
	long lanes;

	word = word == NULL ? line : word + 1;
	lanes = strtol(word, &x, 10);
	if (*x != 'x' || lanes < 1 || lanes > LANES_MAX)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(speeds); i++)
		if (strcmp(x + 1, speeds[i].name) == 0)
			return speeds[i].gbps * (double)lanes;
	return 0;
}

/* '[1](100003) "S-..."[2] # lid 8 lmc 0 "leaf01" lid 2 4xSDR' */
static int
ibnetdiscover_port_line(struct reading *r, char *line, struct err *err)
{
	const struct device *d = &r->device;
	char port[FABRIC_PORT_MAX], to[TOPOLOGY_NAME_MAX];
	char from[TOPOLOGY_NAME_MAX], *at = line + 1, *guid, *id;
	double gbps = ibnetdiscover_gbps_of(line);
	struct fabric_port p = { d->host, to, port, -1, gbps, 0 };
	long number = strtol(at, &at, 10);
	int rc;

	guid = *at == ']' && at[1] == '(' ? at + 2 : NULL;
	if (*at != ']' || number < 0 || number > 65535)
		return err_set(err, -EINVAL, "expected [PORT] \"OTHER\"[PORT]");
	if (guid != NULL)
		p.guid = strtoull(guid, NULL, 16);
	id = ibnetdiscover_quoted(&at);
	if (id == NULL)
		return err_set(err, -EINVAL, "expected [PORT] \"OTHER\"[PORT]");
	if (d->id[0] == '\0')
		return err_set(err, -EINVAL,
		    "a port before the first Switch, Ca or Rt");
	/* each link of switches stands there twice */
	if (id[0] != 'S' || d->is_other ||
	    (d->is_switch && strcmp(d->id, id) >= 0))
		return 0;
	rc = ibnetdiscover_name_of(r, id, to, err);
	if (rc < 0)
		return rc;
	if (d->is_switch) {
		rc = ibnetdiscover_name_of(r, d->id, from, err);
		return rc < 0 ? rc
			      : fabric_add_trunk(r->f, from, to, gbps, err);
	}
	if (d->hca[0] == '\0' || d->ports > 1)
		snprintf(port, sizeof(port), "%s%s%ld", d->hca,
		    d->hca[0] == '\0' ? "" : "/", number);
	else
		snprintf(port, sizeof(port), "%s", d->hca);
	return fabric_add_port(r->f, &p, err);
}

static int
ibnetdiscover_line_read(struct reading *r, char *line, struct err *err)
{
	if (ibnetdiscover_is_head(line))
		return ibnetdiscover_head_line(r, line, err);
	if (line[0] == '[')
		return ibnetdiscover_port_line(r, line, err);
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, " \t")] == '\0' || strchr(line, '=') != NULL ||
	    strncmp(line, "DR path", 7) == 0)
		return 0;
	return err_set(err, -EINVAL,
	    "expected Switch, Ca, Rt, [PORT] or NAME=VALUE, not \"%.40s\"",
	    line);
}

static int
ibnetdiscover_pass(struct reading *r, const char *text, const char *name,
    int (*one)(struct reading *r, char *line, struct err *err), struct err *err)
{
	char line[LINE_BYTES];
	struct err reason;
	int lineno = 0, rc = 0;

	while (rc == 0 && *text != '\0') {
		size_t n = strcspn(text, "\n");

		lineno++;
		if (str_format(line, sizeof(line), "%.*s", (int)n, text) < 0) {
			rc = err_set(&reason, -EINVAL,
			    "the line is longer than %d bytes", LINE_BYTES - 1);
		} else {
			line[strcspn(line, "\r")] = '\0';
			rc = one(r, line, &reason);
		}
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, lineno, reason.text);
		text += n + (text[n] == '\n');
	}
	return rc;
}

int
import_ibnetdiscover(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	struct reading r = { .f = f,
		.names = json_object(),
		.taken = json_object() };
	int rc = ibnetdiscover_pass(&r, text, name, ibnetdiscover_name_line,
	    err);

	if (rc == 0)
		rc = ibnetdiscover_pass(&r, text, name, ibnetdiscover_line_read,
		    err);
	json_decref(r.names);
	json_decref(r.taken);
	return rc;
}
