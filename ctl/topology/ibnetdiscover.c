/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibnetdiscover.c - the output of ibnetdiscover(8): a block for every switch
 * and channel adapter, a line for every port that leads to another. Links of
 * hosts are read from adapters, which name their ports, those of switches from
 * either. A device is its GUID: one that is in a file twice (as with -g) or in
 * several files is read once, and a description that several adapters have
 * names no host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/member.h"
#include "common/str.h"
#include "common/text.h"
#include "common/xalloc.h"
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

/* First words of descriptions that are the firmware's, not a host's; of those
 * in vendors the later words too. */
static const char *const vendors[] = { "Mellanox", "NVIDIA", "Voltaire",
	"QLogic", "InfiniHost", "InfiniPath", "Topspin", "Cisco" };
static const char *const no_hosts[] = { "localhost", "localhost.localdomain",
	"localhost4", "localhost6" };
/* Beginnings of the names of devices, before a number. */
static const char *const devices[] = { "mlx4_", "mlx5_", "mlx5_bond_", "mthca",
	"hfi1_", "qib", "HCA-", "ConnectX-", "ConnectX" };

/* Headings of -g, which say nothing of links. */
static const char *const headings[] = { "Chassis ", "Non-Chassis Nodes",
	"Hostname: " };

#define KIND_LINES   "lines skipped, not understood"
#define KIND_DEFAULT "adapters skipped, description without a host name"
#define KIND_SHARED  "adapters skipped, description of several adapters"

/* A block's head. */
struct device {
	char id[40]; /* "S-0002c9..." */
	char host[HOSTLIST_NAME_MAX + 1], hca[FABRIC_PORT_MAX - 8];
	int is_switch, is_other; /* a router, or a switch's own processor */
	int is_left_out;         /* its description names no host */
	int64_t ports;
};

struct reading {
	struct fabric *f;
	struct device device;
	char image[40]; /* sysimgguid of the block, or "" */
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
	/* a description may have quotes in it */
	*ret_about = id == NULL ? NULL : strchr(at, '"');
	if (*ret_about != NULL) {
		char *end = strrchr(*ret_about, '"');

		*ret_about = end == *ret_about ? NULL : *ret_about + 1;
		*end = '\0';
	}
	if (id == NULL || str_format(d->id, sizeof(d->id), "%s", id) < 0)
		return -EINVAL;
	d->is_switch = strcmp(kind, "Switch") == 0;
	d->is_other = strcmp(kind, "Rt") == 0;
	return 0;
}

static int
ibnetdiscover_is_head(const char *line)
{
	static const char *const kinds[] = { "Switch", "Ca", "Rt" };
	size_t n = strcspn(line, " \t");

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strlen(kinds[i]) == n && strncmp(kinds[i], line, n) == 0)
			return 1;
	return 0;
}

/* "vendid=0x2c9", "switchguid=0xa1(a1)" */
static int
ibnetdiscover_is_value(const char *line)
{
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz?");

	return n > 0 && strncmp(line + n, "=0x", 3) == 0;
}

static int
ibnetdiscover_is_heading(const char *line)
{
	for (size_t i = 0; i < ARRAY_LEN(headings); i++)
		if (strncmp(line, headings[i], strlen(headings[i])) == 0)
			return 1;
	return 0;
}

/* The key of a description in owners: with a device's name it is that of one
 * adapter in all files; the plain name of a host may come once in each. The
 * caller frees. */
static char *
ibnetdiscover_key(const struct fabric *f, const char *about)
{
	char *key = xasprintf("%s|%s",
	    strchr(about, ' ') != NULL || f->file == NULL ? "" : f->file,
	    about);

	utf8_clean(key);
	return key;
}

/* ---- first pass: what devices are called ---- */

static void
ibnetdiscover_scan_line(struct reading *r, char *line)
{
	char name[TOPOLOGY_NAME_MAX], *about;
	struct device d;
	const char *image;

	if (strncmp(line, "vendid=", 7) == 0)
		r->image[0] = '\0';
	if (strncmp(line, "sysimgguid=", 11) == 0)
		snprintf(r->image, sizeof(r->image), "%.*s",
		    (int)strcspn(line + 11, " \t"), line + 11);
	if (!ibnetdiscover_is_head(line) ||
	    ibnetdiscover_head_read(line, &d, &about) < 0)
		return;
	if (!d.is_switch && about != NULL) {
		char *key = ibnetdiscover_key(r->f, about);

		/* the functions of one card are one adapter */
		image = r->image[0] != '\0' ? r->image : d.id;
		if (json_object_get(r->f->owners, key) == NULL)
			json_object_set_new(r->f->owners, key,
			    text_json(image));
		else if (strcmp(member_text(r->f->owners, key), image) != 0)
			json_object_set_new(r->f->owners, key, text_json(""));
		free(key);
		return;
	}
	if (!d.is_switch)
		return;
	ibnetdiscover_switch_name(about != NULL ? about : "", name);
	fabric_declare(r->f, d.id, name[0] != '\0' ? name : d.id);
}

/* ---- second pass: links ---- */

static int
ibnetdiscover_name_of(const struct reading *r, const char *id,
    char ret[TOPOLOGY_NAME_MAX], struct err *err)
{
	if (fabric_declared_name(r->f, id, ret) < 0)
		return err_set(err, -EINVAL,
		    "no Switch of this file is \"%.40s\"", id);
	return 0;
}

static int
ibnetdiscover_is_word(const char *const *words, size_t count, const char *word,
    size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len &&
		    strncasecmp(words[i], word, len) == 0)
			return 1;
	return 0;
}

/* "mlx5_0" */
static int
ibnetdiscover_is_device(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		size_t n = strlen(devices[i]);

		if (len > n && strncmp(word, devices[i], n) == 0 &&
		    strspn(word + n, "0123456789") >= len - n)
			return 1;
	}
	return 0;
}

/* "MT4129 ConnectX7   Mellanox Technologies" is the firmware's. */
static int
ibnetdiscover_is_default(const char *about)
{
	size_t n = strcspn(about, " ");

	if (ibnetdiscover_is_word(no_hosts, ARRAY_LEN(no_hosts), about, n) ||
	    ibnetdiscover_is_device(about, n))
		return 1;
	if (n >= 6 && strncmp(about, "MT", 2) == 0 &&
	    strspn(about + 2, "0123456789") == n - 2 &&
	    strncmp(about + n, " mlx", 4) != 0 &&
	    strncmp(about + n, " HCA", 4) != 0)
		return 1;
	for (const char *at = about; *at != '\0'; at += strspn(at, " ")) {
		n = strcspn(at, " ");
		if (ibnetdiscover_is_word(vendors, ARRAY_LEN(vendors), at, n))
			return 1;
		at += n;
	}
	return 0;
}

/* Read the host and device of an adapter, or the reason why it is skipped. */
static int
ibnetdiscover_adapter_read(struct reading *r, const char *about,
    struct err *err)
{
	struct device *d = &r->device;
	const char *kind = NULL;
	const char *whole = about;
	char *key = ibnetdiscover_key(r->f, about);
	size_t n = strcspn(about, " ");

	if (str_format(d->host, sizeof(d->host), "%.*s", (int)n, about) < 0 ||
	    hostlist_name_check(d->host) < 0 || ibnetdiscover_is_default(about))
		kind = KIND_DEFAULT;
	else if (member_text(r->f->owners, key)[0] == '\0')
		kind = KIND_SHARED;
	free(key);
	about += n + strspn(about + n, " ");
	snprintf(d->hca, sizeof(d->hca), "%.*s", (int)strcspn(about, " "),
	    about);
	if (kind == NULL)
		return 0;
	d->is_left_out = 1;
	return fabric_skip(r->f, kind, err, "\"%.60s\" (%s)", whole, d->id);
}

static int
ibnetdiscover_head_line(struct reading *r, char *line, struct err *err)
{
	struct device *d = &r->device;
	char *about;

	if (ibnetdiscover_head_read(line, d, &about) < 0) {
		d->is_other = 1;
		return fabric_skip(r->f, "blocks skipped, not understood", err,
		    "expected Switch, Ca or Rt, the number of ports and the "
		    "identifier in quotes");
	}
	if (d->is_switch || d->is_other)
		return 0;
	if (about != NULL && strstr(about, "Aggregation Node") != NULL) {
		d->is_other = 1;
		return 0;
	}
	return ibnetdiscover_adapter_read(r, about == NULL ? "" : about, err);
}

/* "4xHDR" behind the last quote, where -f adds words; 0 for others. */
static double
ibnetdiscover_gbps_of(const char *line)
{
	const char *word = strrchr(line, '"');

	for (word = word == NULL ? line : word + 1; *word != '\0';
	     word += strspn(word, " \t")) {
		size_t n = strcspn(word, " \t");
		char *x;
		long lanes = strtol(word, &x, 10);

		for (size_t i = 0; *x == 'x' && i < ARRAY_LEN(speeds); i++)
			if (lanes >= 1 && lanes <= LANES_MAX &&
			    word + n == x + 1 + strlen(speeds[i].name) &&
			    strncmp(x + 1, speeds[i].name,
				strlen(speeds[i].name)) == 0)
				return speeds[i].gbps * (double)lanes;
		word += n;
	}
	return 0;
}

/* A link to the switch called id, of the block's device by its port. */
static int
ibnetdiscover_link_add(struct reading *r, const char *id, long number,
    double gbps, uint64_t guid, struct err *err)
{
	const struct device *d = &r->device;
	char port[FABRIC_PORT_MAX], to[TOPOLOGY_NAME_MAX];
	char from[TOPOLOGY_NAME_MAX];
	struct fabric_port p = { d->host, to, port, -1, gbps, guid };
	int rc = ibnetdiscover_name_of(r, id, to, err);

	if (rc == 0 && d->is_switch)
		rc = ibnetdiscover_name_of(r, d->id, from, err);
	if (rc < 0)
		return fabric_skip_refused(r->f, rc,
		    "links skipped, switch without a block", err);
	if (gbps <= 0)
		rc = fabric_skip(r->f, "links with an unknown rate", err,
		    "%s[%ld]", d->id, number);
	if (rc < 0 || fabric_is_seen(r->f, d->id, number))
		return rc;
	if (d->is_switch)
		return fabric_add_trunk(r->f, from, to, gbps, err);
	if (d->is_left_out)
		return fabric_add_other(r->f, to, err);
	if (d->hca[0] == '\0' || d->ports > 1)
		snprintf(port, sizeof(port), "%s%s%ld", d->hca,
		    d->hca[0] == '\0' ? "" : "/", number);
	else
		snprintf(port, sizeof(port), "%s", d->hca);
	return fabric_add_port(r->f, &p, err);
}

/* '[1](100003) "S-..."[2] # lid 8 lmc 0 "leaf01" lid 2 4xSDR' */
static int
ibnetdiscover_port_line(struct reading *r, char *line, struct err *err)
{
	const struct device *d = &r->device;
	double gbps = ibnetdiscover_gbps_of(line);
	uint64_t guid = 0;
	char *at = line + 1, *id;
	long number = strtol(at, &at, 10);

	if (*at == ']' && at[1] == '(')
		guid = strtoull(at + 2, NULL, 16);
	id = *at != ']' || number < 0 || number > 65535
	    ? NULL
	    : ibnetdiscover_quoted(&at);
	if (id == NULL)
		return fabric_skip(r->f, KIND_LINES, err,
		    "expected [PORT] \"OTHER\"[PORT]");
	if (d->id[0] == '\0' && !d->is_other)
		return fabric_skip(r->f, KIND_LINES, err,
		    "a port before the first Switch, Ca or Rt");
	/* each link of switches is listed twice */
	if (id[0] != 'S' || d->is_other ||
	    (d->is_switch && strcmp(d->id, id) >= 0))
		return 0;
	return ibnetdiscover_link_add(r, id, number, gbps, guid, err);
}

static int
ibnetdiscover_line_read(struct reading *r, char *line, struct err *err)
{
	if (ibnetdiscover_is_head(line))
		return ibnetdiscover_head_line(r, line, err);
	if (line[0] == '[')
		return ibnetdiscover_port_line(r, line, err);
	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, " \t")] == '\0' || ibnetdiscover_is_value(line) ||
	    ibnetdiscover_is_heading(line) || strncmp(line, "DR path", 7) == 0)
		return 0;
	return fabric_skip(r->f, KIND_LINES, err, "\"%.40s\"", line);
}

/* The next line of *text without its end into line, or -1 where it is too
 * long. */
static int
ibnetdiscover_next_line(const char **text, char line[LINE_BYTES])
{
	size_t n = strcspn(*text, "\n");
	int rc = str_format(line, LINE_BYTES, "%.*s", (int)n, *text);

	*text += n + ((*text)[n] == '\n');
	line[strcspn(line, "\r")] = '\0';
	return rc < 0 ? -1 : 0;
}

void
import_ibnetdiscover_scan(struct fabric *f, const char *text)
{
	struct reading r = { .f = f };
	char line[LINE_BYTES];

	while (*text != '\0')
		if (ibnetdiscover_next_line(&text, line) == 0)
			ibnetdiscover_scan_line(&r, line);
}

int
import_ibnetdiscover(struct fabric *f, char *text, const char *name,
    struct err *err)
{
	struct reading r = { .f = f };
	const char *at = text;
	char line[LINE_BYTES];
	struct err reason;
	int rc = 0;

	f->line = 0;
	while (rc == 0 && *at != '\0') {
		f->line++;
		rc = ibnetdiscover_next_line(&at, line) < 0
		    ? fabric_skip(f, KIND_LINES, &reason,
			  "the line is longer than %d bytes", LINE_BYTES - 1)
		    : ibnetdiscover_line_read(&r, line, &reason);
		if (rc < 0)
			err_say(err, "%s:%d: %s", name, f->line, reason.text);
	}
	return rc;
}
