/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.c - all options of all verbs, as rows, and getopt over them.
 */
#include "ctl/lib/opts.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/meant.h"
#include "schema/names_event.h"

/* getopt_long returns this plus the option's number. */
#define LONG_BASE 1000

const struct opt_row opts_rows[OPT_MAX] = {
	[OPT_URL] = { "url", 'u', "URL", 1,
	    "Address of the collector: unix:PATH, http://HOST:PORT or "
	    "https://HOST:PORT. Default: COALMINE_URL, then "
	    "unix:/run/coalmine/coalmined.sock." },
	[OPT_CA] = { "ca", 0, "FILE", 1,
	    "Certificate of the site's authority, for https. Default: "
	    "COALMINE_CA, then /etc/coalmine/pki/ca.pem." },
	[OPT_CRL] = { "crl", 0, "FILE", 1,
	    "Certificate revocation list, for https: a collector on this list "
	    "is rejected. Default: COALMINE_CRL, then crl.pem in the folder of "
	    "the authority's certificate, if it exists." },
	[OPT_CERT] = { "cert", 0, "FILE", 1,
	    "Own certificate, for https. Default: COALMINE_CERT." },
	[OPT_KEY] = { "key", 0, "FILE", 1,
	    "Key of the own certificate, for https. Default: COALMINE_KEY." },
	[OPT_CLUSTER] = { "cluster", 0, "NAME", 1,
	    "Contact the active collector of this cluster; the collector of "
	    "--url supplies its address. Default: COALMINE_CLUSTER, then the "
	    "collector of --url." },
	[OPT_HELP] = { "help", 'h', NULL, 1,
	    "Show the verbs, or those of one noun." },
	[OPT_VERSION] = { "version", 0, NULL, 1,
	    "Print the version of coalctl, and contact no collector." },
	[OPT_DUMP] = { "dump", 0, "WHAT", 2,
	    "Print the tables: verbs or options." },
	[OPT_COMPLETE] = { "complete", 0, NULL, 2,
	    "Print the completions of the last word after --." },
	[OPT_JSON] = { "json", 'j', NULL, 0, "Print JSON." },
	[OPT_CSV] = { "csv", 0, NULL, 0,
	    "Print comma-separated values, one line a record." },
	[OPT_ASCII] = { "ascii", 0, NULL, 0,
	    "Draw with ASCII only; the default if the locale is not UTF-8." },
	[OPT_ALL] = { "all", 0, NULL, 0,
	    "Include everything: all runs, or nodes that are ok." },
	[OPT_ANY] = { "any", 0, NULL, 0,
	    "For any name that is not connected when the token is used." },
	[OPT_AT] = { "at", 0, "AGO", 0,
	    "Show the state at this time ago: 90m, 12h, 7d." },
	[OPT_BYTES] = { "bytes", 0, "SIZE", 0,
	    "Bytes of a collective, for example 64M; default 1G." },
	[OPT_BY] = { "by", 0, "WHAT", 0,
	    "Print a line for each name, for each job, or for each name and "
	    "week.",
	    "name|job|week" },
	[OPT_CAMPAIGN] = { "campaign", 'c', "NAME", 0,
	    "Only rows of this campaign." },
	[OPT_FAIL_ON] = { "fail-on", 0, "VERDICT", 0,
	    "A verdict better than this is a success; by default a verdict "
	    "better than unknown.",
	    "unknown|warn|bad" },
	[OPT_LOCAL] = { "local", 0, NULL, 0,
	    "Read the agent's file on this node; contact no collector." },
	[OPT_HOURS] = { "hours", 0, "HOURS", 0,
	    "Forecast this many hours, 1 to 336; default 24.", NULL, 1, 336 },
	[OPT_DAYS] = { "days", 0, "DAYS", 0,
	    "Validity of a certificate: 1 to 36500.", NULL, 1, 36500 },
	[OPT_DOWN] = { "down", 0, "PART", 0,
	    "Assume that this part is down: nodes, a leaf, LEAF.uplinkN, "
	    "LEAF.SWITCH or a switch above leaves. Can be repeated." },
	[OPT_DRAIN] = { "drain", 0, "PART", 0,
	    "Assume that these nodes, or the nodes of this leaf, are drained. "
	    "Can be repeated." },
	[OPT_ENROLLED] = { "enrolled", 0, "FILE", 0,
	    "File of the certificates that the collector has issued: enrolled "
	    "in its state_dir. Default: /var/lib/coalmine/enrolled, if it "
	    "exists." },
	[OPT_EVERY] = { "every", 0, "SECONDS", 0,
	    "Refresh interval, 1 to 3600; default 2.", NULL, 1, 3600 },
	[OPT_HTML] = { "html", 0, "FILE", 0,
	    "Write one HTML file with the plots and tables of the run's page; "
	    "it needs no network. Each plot can be saved as PNG, each table as "
	    "CSV. - is the standard output." },
	[OPT_IDENTIFIABLE] = { "identifiable", 0, NULL, 0,
	    "List the links that no measurement distinguishes." },
	[OPT_JOB] = { "job", 0, "JOB", 0, "The nodes of this job." },
	[OPT_FILE] = { "file", 'f', "FILE", 0,
	    "Read the campaign from this file, not from the collector; - is "
	    "the standard input." },
	[OPT_FOLD] = { "fold", 0, NULL, 0,
	    "Print one line for each state, with the nodes as a hostlist." },
	[OPT_FOLLOW] = { "follow", 0, NULL, 0,
	    "Keep printing events as they occur." },
	[OPT_FOR] = { "for", 0, "SPAN", 0,
	    "Validity of a token, for example 30m, up to 30d; default 1h. With "
	    "--drain: time until the repair; default 24h." },
	[OPT_FORMAT] = { "format", 0, "FORMAT", 0,
	    "Print plans by size in the format of nccl-tests, of OSU's "
	    "micro-benchmarks, or as rows of reference values.",
	    "nccl-tests|osu|reference" },
	[OPT_FROM] = { "from", 0, "FORMAT", 0,
	    "Format of the files; default: detected.",
	    "ibnetdiscover|slurm|slurm-yaml|topograph|lldp|table|coalmine" },
	[OPT_GBPS] = { "gbps", 0, "RATE", 0,
	    "Rate of a link in Gbit/s, if no file has it." },
	[OPT_KIND] = { "kind", 0, "KIND", 0, "Only events of this kind.",
	    NAMES_EVENTS },
	[OPT_LIMIT] = { "limit", 'n', "COUNT", 0,
	    "At most this many rows, the newest: 1 to 10000. --where and "
	    "--sort apply to these only.",
	    NULL, 1, 10000 },
	[OPT_MACHINE] = { "machine", 0, "NAME", 0,
	    "Machine: a name or file of coalmine-machine(5)." },
	[OPT_MARGIN] = { "margin", 0, "SHARE", 0,
	    "Differences up to this share count as the same: 0% to 100%, "
	    "default 5%." },
	[OPT_NODE] = { "node", 0, "NAMES", 0,
	    "Nodes of the token, a hostlist; each can use it once." },
	[OPT_NODES] = { "nodes", 0, "NAMES", 0,
	    "Nodes of the job, a hostlist." },
	[OPT_OP] = { "op", 0, "COLLECTIVE", 0,
	    "The collective; default allreduce. gather and scatter are for "
	    "import only, which has no default.",
	    "allreduce|allgather|reduce-scatter|broadcast|reduce|alltoall|"
	    "gather|scatter" },
	[OPT_OUT] = { "out", 0, "FILE", 0, "Write to this file, atomically." },
	[OPT_OVERRIDE] = { "override", 'o', "SECTION.KEY=VALUE", 0,
	    "Override an option of the campaign; can be repeated." },
	[OPT_PLAN] = { "plan", 0, "PROBE OPTION=VALUE ...", 0,
	    "A plan of coalmine-plan(7) in place of a collective, as one "
	    "word." },
	[OPT_RANKS] = { "ranks", 0, "COUNT", 0,
	    "Ranks of tables that do not contain their number: 1 to 10000000.",
	    NULL, 1, 10000000 },
	[OPT_RANKS_PER_NODE] = { "ranks-per-node", 0, "COUNT", 0,
	    "Ranks on each node, 1 to 1024; default 1.", NULL, 1, 1024 },
	[OPT_RAILS] = { "rails", 0, "PORTS", 0,
	    "Patterns of a host's ports, one for each rail, separated by "
	    "commas, for example mlx5_0,mlx5_[34]. Other ports are ignored." },
	[OPT_RAW] = { "raw", 0, NULL, 0,
	    "Include the records of single rounds, with --json." },
	[OPT_REKEY] = { "rekey", 0, NULL, 0, "Create a new key." },
	[OPT_ROLE] = { "role", 0, "ROLE", 0, "Role of the certificate.",
	    "agent|collector|reader|operator" },
	[OPT_SAN] = { "san", 0, "NAME", 0,
	    "An additional DNS name or IP address; can be repeated." },
	[OPT_SINCE] = { "since", 0, "AGO", 0,
	    "Only from this time ago: 90m, 12h, 7d." },
	[OPT_SKIP] = { "skip", 0, "NAMES", 0,
	    "Patterns of hosts, switches and HOST:PORT to ignore, separated by "
	    "commas, for example oss*,mgmt-*,*:eth0." },
	[OPT_SLOW] = { "slow", 0, "PART=SHARE", 0,
	    "Assume that this part has this share of its described rate, "
	    "0.001 to 1, for example n017=0.5; PART as for --down. Can be "
	    "repeated." },
	[OPT_SOFTWARE] = { "software", 0, NULL, 0,
	    "Print one line for each version of the agents, with the nodes as "
	    "a hostlist." },
	[OPT_SORT] = { "sort", 0, "MEMBER", 0,
	    "Sort by this member of the rows as shown by --json; -MEMBER: "
	    "descending." },
	[OPT_STATE] = { "state", 's', "STATE", 0, "Only rows in this state." },
	[OPT_STRICT] = { "strict", 0, NULL, 0,
	    "Reject a file with anything that would be skipped." },
	[OPT_USES] = { "uses", 0, "COUNT", 0,
	    "Nodes that a token may enrol: 1 to 65536; default: the number of "
	    "nodes of --node, 1 with --any.",
	    NULL, 1, HOSTLIST_MAX },
	[OPT_WAIT] = { "wait", 'w', NULL, 0,
	    "Wait for the end of the run and show its progress." },
	[OPT_WHERE] = { "where", 0, "CLAUSE", 0,
	    "Only rows that match: MEMBER=PATTERN, MEMBER!=PATTERN, "
	    "MEMBER<NUMBER, MEMBER>NUMBER, with members as shown by --json, "
	    "for example leaf=rack[12]*, spool_bytes>1e6, inventory.cores<64. "
	    "Can be repeated; all must match." },
	[OPT_WITHIN] = { "within", 0, "SPAN", 0,
	    "Time limit: answer after this time with the results so far: 5s to "
	    "10m; default 20s." },
};

static int
opts_by_letter(int letter)
{
	for (int i = 0; i < OPT_MAX; i++)
		if (letter != 0 && opts_rows[i].letter == letter)
			return i;
	return -1;
}

enum opt
opts_find(const char *word)
{
	int id = OPT_MAX;

	if (strncmp(word, "--", 2) == 0) {
		for (int i = 0; i < OPT_MAX && id == OPT_MAX; i++)
			if (strcmp(opts_rows[i].name, word + 2) == 0)
				id = i;
	} else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0') {
		id = opts_by_letter(word[1]);
	}
	return id < 0 ? OPT_MAX : (enum opt)id;
}

/* "--limt": the option that is most like it. */
static void
opts_unknown(const char *arg, struct err *err)
{
	struct strbuf names = { 0 };
	char *word = xstrndup(arg + 2, strcspn(arg + 2, "=")), *meant;

	strbuf_add(&names, "", 0);
	for (int i = 0; i < OPT_MAX; i++)
		strbuf_addf(&names, "%s%s", i > 0 ? " " : "",
		    opts_rows[i].name);
	meant = meant_find(word, names.text);
	err_say(err, "unknown option %.60s%s%s%s", arg,
	    meant != NULL ? ": did you mean --" : "",
	    meant != NULL ? meant : "", meant != NULL ? "?" : "");
	strbuf_clear(&names);
	free(word);
	free(meant);
}

/* What getopt could not use: an unknown option, or one without its value. */
static int
opts_complain(int got, char *const *argv, struct err *err)
{
	const char *arg = argv[optind - 1];
	int id = optopt >= LONG_BASE ? optopt - LONG_BASE
				     : opts_by_letter(optopt);

	if (got == ':' && id >= 0)
		err_say(err, "--%s needs a value: %s", opts_rows[id].name,
		    opts_rows[id].arg);
	else if (id >= 0)
		err_say(err, "--%s takes no value", opts_rows[id].name);
	else if (optopt != 0)
		err_say(err, "unknown option -%c", optopt);
	else
		opts_unknown(arg, err);
	return -EINVAL;
}

/* A value of an option that has words, or is a number, must be one of them. */
static int
opts_value_check(const struct opt_row *row, const char *value, struct err *err)
{
	size_t len = strlen(value);
	int64_t number;

	if (row->most != 0 &&
	    str_to_int(value, row->least, row->most, &number) < 0)
		return err_set(err, -EINVAL,
		    "--%s %.30s: expected %" PRId64 " to %" PRId64, row->name,
		    value, row->least, row->most);
	for (const char *p = row->words; p != NULL;) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, value, n) == 0)
			return 0;
		p = p[n] == '\0' ? NULL : p + n + 1;
	}
	return row->words == NULL
	    ? 0
	    : err_set(err, -EINVAL, "--%s %.40s: expected %s", row->name, value,
		  row->words);
}

int
opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err)
{
	struct option longs[OPT_MAX + 1];
	char letters[3 * OPT_MAX + 2], *at = letters;
	struct opt_values *v;
	int got, id;

	*at++ = ':'; /* distinguishes a missing value from an unknown option */
	for (int i = 0; i < OPT_MAX; i++) {
		const struct opt_row *row = &opts_rows[i];

		longs[i] = (struct option){ row->name,
			row->arg == NULL ? no_argument : required_argument,
			NULL, LONG_BASE + i };
		if (row->letter == 0)
			continue;
		*at++ = row->letter;
		if (row->arg != NULL)
			*at++ = ':';
	}
	longs[OPT_MAX] = (struct option){ 0 };
	*at = '\0';
	opterr = 0;
	while ((got = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (got == '?' || got == ':')
			return opts_complain(got, argv, err);
		id = got >= LONG_BASE ? got - LONG_BASE : opts_by_letter(got);
		if (optarg != NULL &&
		    opts_value_check(&opts_rows[id], optarg, err) < 0)
			return -EINVAL;
		v = &o->of[id];
		v->values = xreallocarray(v->values, v->count + 1,
		    sizeof(*v->values));
		v->values[v->count++] = optarg;
	}
	*ret_first = optind;
	return 0;
}

void
opts_clear(struct opts *o)
{
	for (int i = 0; i < OPT_MAX; i++)
		free(o->of[i].values);
	*o = (struct opts){ 0 };
}

int
opts_given(const struct opts *o, enum opt id)
{
	return o->of[id].count > 0;
}

const char *
opts_value(const struct opts *o, enum opt id)
{
	const struct opt_values *v = &o->of[id];

	return v->count == 0 ? NULL : v->values[v->count - 1];
}

int64_t
opts_number(const struct opts *o, enum opt id, int64_t otherwise)
{
	const char *text = opts_value(o, id);

	return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

int
opts_listed(const char *list, enum opt id)
{
	size_t len = strlen(opts_rows[id].name);

	for (const char *p = list; *p != '\0';) {
		size_t n = strcspn(p, " ");

		if (n == len && memcmp(p, opts_rows[id].name, n) == 0)
			return 1;
		p += n;
		p += strspn(p, " ");
	}
	return 0;
}
