/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - a file becomes a machine: where it is looked for, and what each
 * of its values means.
 */
#include "probes/topology/machine.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "common/xalloc.h"
#include "probes/topology/machine_path.h"

#define GB_PER_S    1e9
#define PS_PER_NS   1000
#define FOLDERS_UP  8
#define COUNT_LINKS 4096

/* What reading one file needs. */
struct reading {
	const struct conf *c;
	struct machine *m;
	struct err *err;
};

static int __attribute__((format(printf, 4, 5)))
machine_refuse(const struct reading *rd, const char *section, const char *key,
    const char *fmt, ...)
{
	va_list ap;
	struct err what;

	va_start(ap, fmt);
	err_vsay(&what, fmt, ap);
	va_end(ap);
	return err_set(rd->err, -EINVAL, "%s: %s.%s = %.80s: expected %s",
	    conf_where(rd->c, section, key), section, key,
	    conf_string(rd->c, section, key), what.text);
}

static double
machine_rate(const struct conf *c, const char *section, const char *key)
{
	return conf_real(c, section, key) * GB_PER_S;
}

static uint64_t
machine_span_ps(const struct conf *c, const char *section, const char *key)
{
	return conf_span_ns(c, section, key) * PS_PER_NS;
}

static uint32_t
machine_number(const struct conf *c, const char *section, const char *key)
{
	return (uint32_t)conf_int(c, section, key);
}

uint32_t
machine_vertex(const struct machine *m, const char *name)
{
	const uint32_t counts[] = { m->devices, m->hosts, m->switches,
		m->nics };
	static const char letters[] = "dhsn";
	uint32_t base = 0;
	int64_t at;

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (name[0] == letters[i])
			return str_to_int(name + 1, 0, (int64_t)counts[i] - 1,
				   &at) < 0
			    ? MACHINE_NONE
			    : base + (uint32_t)at;
		base += counts[i];
	}
	return MACHINE_NONE;
}

static void
machine_link_add(struct machine *m, const struct machine_link *l)
{
	m->links = xreallocarray(m->links, m->links_count + (size_t)1,
	    sizeof(*m->links));
	m->links[m->links_count++] = *l;
}

/* "d0-d1*4", also "0-1". */
static int
machine_pair_read(const struct machine *m, const char *word,
    struct machine_link *l)
{
	char a[16], b[16], extra;
	unsigned count = 1;
	int n = sscanf(word, "%15[a-z0-9]-%15[a-z0-9]*%u%c", a, b, &count,
	    &extra);
	char name[20];

	if ((n != 2 && n != 3) || (n == 2 && strchr(word, '*') != NULL))
		return -EINVAL;
	snprintf(name, sizeof(name), "%s%s", a[0] <= '9' ? "d" : "", a);
	l->a = machine_vertex(m, name);
	snprintf(name, sizeof(name), "%s%s", b[0] <= '9' ? "d" : "", b);
	l->b = machine_vertex(m, name);
	l->count = count;
	return l->a == MACHINE_NONE || l->b == MACHINE_NONE || l->a == l->b ||
		count < 1 || count > COUNT_LINKS
	    ? -EINVAL
	    : 0;
}

/* All links of one kind. */
static int
machine_links_read(const struct reading *rd, int kind)
{
	const struct conf *c = rd->c;
	const char *section = machines_kinds[kind];
	const char *text = conf_string(c, section, "pairs");
	struct machine *m = rd->m;
	struct machine_link l = { .kind = (uint8_t)kind,
		.latency_ps = machine_span_ps(c, section, "latency") };
	double each = machine_rate(c, section, "rate"),
	       back = machine_rate(c, section, "back");
	size_t count = 0;
	char **words;
	int rc = 0;

	if (text[0] == '\0')
		return 0;
	if (each <= 0)
		return machine_refuse(rd, section, "rate",
		    "more than 0 if there are pairs");
	if (back <= 0)
		back = each;
	if (strcmp(text, "all") == 0) {
		l.count = 1;
		l.rate_per_s = each;
		l.back_per_s = back;
		for (l.a = 0; l.a < m->devices; l.a++)
			for (l.b = l.a + 1; l.b < m->devices; l.b++)
				machine_link_add(m, &l);
		return 0;
	}
	words = str_list_parse(text, &count);
	if (words == NULL)
		rc = -EINVAL;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = machine_pair_read(m, words[i], &l);
		l.rate_per_s = each * l.count;
		l.back_per_s = back * l.count;
		if (rc == 0)
			machine_link_add(m, &l);
	}
	str_list_free(words);
	if (rc < 0)
		return machine_refuse(rd, section, "pairs",
		    "all, or pairs as d0-d1*2,d0-h0 of the node's d0 to d%u, "
		    "h0 to h%u, s (%u of them) and n (%u)",
		    m->devices - 1, m->hosts - 1, m->switches, m->nics);
	return 0;
}

static int
machine_read(const struct conf *c, const char *path, struct machine **ret,
    struct err *err)
{
	static const char *const bindings[] = { [BINDING_PACKED] = "packed",
		[BINDING_ROUND_ROBIN] = "round-robin",
		[BINDING_ONE] = "one-to-one" };
	struct machine *m = xcalloc(1, sizeof(*m));
	struct reading rd = { c, m, err };
	const char *slash = strrchr(path, '/');
	const char *base = slash == NULL ? path : slash + 1;
	size_t n = strlen(base);
	int rc = 0;

	if (n > 5 && strcmp(base + n - 5, ".conf") == 0)
		n -= 5;
	m->name = xstrndup(base, n);
	m->about = xstrdup(conf_string(c, "machine", "about"));
	m->gpu = xstrdup(conf_string(c, "machine", "gpu"));
	m->fabric = xstrdup(conf_string(c, "machine", "fabric"));
	m->nodes_max = machine_number(c, "node", "nodes");
	m->devices = machine_number(c, "node", "devices");
	m->ranks = machine_number(c, "node", "ranks");
	m->ranks_fit = m->ranks == 0 && m->devices == 1;
	if (m->ranks == 0)
		m->ranks = m->devices;
	m->hosts = machine_number(c, "node", "hosts");
	m->switches = machine_number(c, "node", "switches");
	m->memory_per_s = machine_rate(c, "memory", "rate");
	m->reduce_per_s = machine_rate(c, "memory", "reduce");
	m->host_per_s = machine_rate(c, "memory", "host");
	m->launch_ps = machine_span_ps(c, "memory", "launch");
	m->step_ps = machine_span_ps(c, "step", "overhead");
	for (int i = 0; i < MACHINES_VIA_MAX; i++) {
		const char *via = machines_vias[i];

		m->vias[i] = (struct machine_via){ .usable = conf_bool(c, via,
						       "usable"),
			.latency_ps = machine_span_ps(c, via, "latency"),
			.overhead_ps = machine_span_ps(c, via, "overhead"),
			.across = conf_real(c, via, "across"),
			.within = conf_real(c, via, "within"),
			.self = conf_real(c, via, "self") };
	}
	m->nics = machine_number(c, "nic", "count");
	m->binding = (enum machine_binding)CONF_CHOICE_OF(c, "nic", "binding",
	    bindings);
	m->out_per_s = machine_rate(c, "nic", "out");
	m->in_per_s = machine_rate(c, "nic", "in");
	if (m->in_per_s <= 0)
		m->in_per_s = m->out_per_s;
	m->both_per_s = machine_rate(c, "nic", "both");
	m->network_ps = machine_span_ps(c, "network", "latency");
	m->hop_ps = machine_span_ps(c, "network", "hop");
	m->leaf_nodes = machine_number(c, "network", "leaf");
	m->uplink_per_s = machine_rate(c, "network", "uplink");
	m->vertices = m->devices + m->hosts + m->switches + m->nics;
	if (m->binding == BINDING_ONE && m->nics != m->devices)
		rc = machine_refuse(&rd, "nic", "binding",
		    "one-to-one needs as many NICs as devices; there are %u "
		    "and %u",
		    m->nics, m->devices);
	for (int k = 0; rc == 0 && k < MACHINES_KIND_MAX; k++)
		rc = machine_links_read(&rd, k);
	if (rc < 0) {
		machine_free(m);
		return rc;
	}
	machine_route(m);
	*ret = m; /* handed over */
	return 0;
}

/* folder/NAME.conf into ret when it is there. */
static int
machine_look(const char *folder, const char *name, char *ret, size_t ret_bytes)
{
	size_t n = strlen(name);
	const char *end = n > 5 && strcmp(name + n - 5, ".conf") == 0 ? ""
								      : ".conf";

	return str_format(ret, ret_bytes, "%s/%s%s", folder, name, end) >= 0 &&
	    access(ret, R_OK) == 0;
}

/* The file of a machine: a path, or a name in the folder of $COALMINE_MACHINES,
 * in the installed one, or near the program: from PREFIX/libexec up to
 * PREFIX/etc/coalmine, and from a build tree up to the source's etc. */
static void
machine_find_file(const char *name, char *ret, size_t ret_bytes)
{
	static const char *const tails[] = { "etc/coalmine/machines",
		"etc/machines" };
	const char *given = getenv("COALMINE_MACHINES");
	char at[PATH_MAX], folder[PATH_MAX], *slash = at;
	ssize_t n;

	if (strchr(name, '/') == NULL) {
		if ((given != NULL &&
			machine_look(given, name, ret, ret_bytes)) ||
		    machine_look(COALMINE_MACHINES_DIR, name, ret, ret_bytes))
			return;
		n = readlink("/proc/self/exe", at, sizeof(at) - 1);
		at[n < 0 ? 0 : n] = '\0';
		for (int up = 0; up < FOLDERS_UP && slash != NULL; up++) {
			slash = strrchr(at, '/');
			if (slash != NULL)
				*slash = '\0';
			for (size_t i = 0;
			     slash != NULL && i < ARRAY_LEN(tails); i++)
				if (str_format(folder, sizeof(folder), "%s/%s",
					at, tails[i]) >= 0 &&
				    machine_look(folder, name, ret, ret_bytes))
					return;
		}
	}
	snprintf(ret, ret_bytes, "%s", name);
}

/* The names in the folder where lab is, with blanks between; caller frees. */
static char *
machine_names_of_folder(void)
{
	char pattern[PATH_MAX], *end;
	struct strbuf names = { 0 };
	glob_t found = { 0 };

	machine_find_file("lab", pattern, sizeof(pattern));
	end = strrchr(pattern, '/');
	strbuf_add(&names, "", 0);
	if (end != NULL) {
		snprintf(end, sizeof(pattern) - (size_t)(end - pattern),
		    "/*.conf");
		glob(pattern, 0, NULL, &found);
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;

		strbuf_addf(&names, " %.*s", (int)(strlen(name) - 5), name);
	}
	globfree(&found);
	return names.text;
}

int
machine_load(const char *name, char *const *sets, int count,
    struct machine **ret, struct err *err)
{
	char path[PATH_MAX], *names;
	struct conf *c;
	int rc;

	machine_find_file(name, path, sizeof(path));
	if (strchr(name, '/') == NULL && access(path, R_OK) != 0) {
		names = machine_names_of_folder();
		rc = err_set(err, -ENOENT,
		    "--machine = %.80s: expected a file, or a name of "
		    "%s:%.900s",
		    name, COALMINE_MACHINES_DIR, names);
		free(names);
		return rc;
	}
	rc = conf_load(options_machine, path, &c, err);
	if (rc < 0)
		return rc;
	for (int i = 0; rc == 0 && i < count; i++)
		rc = conf_override(c, sets[i], "command line", err);
	if (rc == 0)
		rc = machine_read(c, path, ret, err);
	conf_free(c);
	return rc;
}

int
machine_parse(const char *path, const char *text, struct machine **ret,
    struct err *err)
{
	struct conf *c;
	int rc = conf_parse(options_machine, path, text, &c, err);

	if (rc < 0)
		return rc;
	rc = machine_read(c, path, ret, err);
	conf_free(c);
	return rc;
}

void
machine_free(struct machine *m)
{
	if (m == NULL)
		return;
	free(m->name);
	free(m->about);
	free(m->gpu);
	free(m->fabric);
	free(m->links);
	free(m->next);
	free(m);
}
