/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.c - all options of all verbs, as rows, and getopt over them.
 */
#include "ctl/lib/opts.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clk.h"
#include "common/hostlist.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "ctl/lib/client.h"
#include "ctl/lib/meant.h"
#include "ctl/lib/opts_check.h"
#include "schema/names_event.h"
#include "schema/window.h"

#define S   ((int64_t)CLK_NS_PER_S)
#define OPS "allreduce|allgather|reduce-scatter|broadcast|reduce|alltoall"
/* Values that several options have. */
#define READABLE "a file that can be read"
#define INPUT    .check = opts_check_input, .expected = READABLE
#define OUTPUT                                                                 \
	.check = opts_check_output,                                            \
	.expected = "a file in a folder that can be written"
#define NAME                                                                   \
	.check = opts_check_name,                                              \
	.expected = "a name of letters, digits, -, _ and ."
#define PART                                                                   \
	.check = opts_check_part,                                              \
	.expected = "nodes, a leaf, a switch or an uplink, for example n017"
#define HOSTS                                                                  \
	.check = opts_check_hosts,                                             \
	.expected = "a host list, for example n[017-032]"
#define PATTERNS                                                               \
	.check = opts_check_patterns, .expected = "patterns separated by commas"
#define AGO                                                                    \
	.check = opts_check_ago,                                               \
	.expected = "a duration, for example 90m, 12h or 7d"
#define TOKEN_FOR                                                              \
	{                                                                      \
		.text = "Validity of the token, for example 30m, up to 30d. "  \
			"Default: 1h.",                                        \
		.least = S, .most = 30 * 86400 * S,                            \
		.expected = "a duration from 1s to 30d, for example 8h"        \
	}

#define SEE "; see coalctl --help"
/* getopt_long returns this plus the option's number. */
#define LONG_BASE 1000
/* Two numbers, and the text between them. */
#define RANGE_BYTES 48

const struct opt_row opts_rows[OPT_MAX] = {
	[OPT_URL] = { "url", 'u', "URL", 1,
	    "Address of the collector: unix:PATH, http://HOST:PORT or "
	    "https://HOST:PORT. Default: COALMINE_URL, then "
	    "unix:/run/coalmine/coalmined.sock.",
	    .check = opts_check_url, .expected = CLIENT_FORMS },
	[OPT_CA] = { "ca", 0, "FILE", 1,
	    "Certificate of the site's authority, for https. Default: "
	    "COALMINE_CA, then /etc/coalmine/pki/ca.pem.",
	    INPUT },
	[OPT_CRL] = { "crl", 0, "FILE", 1,
	    "Certificate revocation list, for https: a collector on this list "
	    "is rejected. Default: COALMINE_CRL, then crl.pem in the folder of "
	    "the authority's certificate, if it exists.",
	    INPUT },
	[OPT_CERT] = { "cert", 0, "FILE", 1,
	    "Certificate that coalctl presents to the collector, for https. "
	    "Default: COALMINE_CERT.",
	    INPUT },
	[OPT_KEY] = { "key", 0, "FILE", 1,
	    "Private key of the certificate of --cert, for https. Default: "
	    "COALMINE_KEY.",
	    INPUT },
	[OPT_CLUSTER] = { "cluster", 0, "NAME", 1,
	    "Contact the active collector of this cluster; the collector of "
	    "--url supplies its address. Default: COALMINE_CLUSTER, then the "
	    "collector of --url.",
	    NAME },
	[OPT_HELP] = { "help", 'h', NULL, 1,
	    "Print the verbs and their options, or only those of a "
	    "noun." },
	[OPT_VERSION] = { "version", 0, NULL, 1,
	    "Print the version of coalctl without contacting a "
	    "collector." },
	[OPT_DUMP] = { "dump", 0, "WHAT", 2,
	    "Print the tables: verbs or options." },
	[OPT_COMPLETE] = { "complete", 0, NULL, 2,
	    "Print the completions of the last word after --." },
	[OPT_JSON] = { "json", 'j', NULL, 0,
	    "Print the result as JSON; see coalmine-output(7)." },
	[OPT_CSV] = { "csv", 0, NULL, 0,
	    "Print comma-separated values, one line for each record." },
	[OPT_ASCII] = { "ascii", 0, NULL, 0,
	    "Draw plots with ASCII characters only. Default if the "
	    "locale is not UTF-8." },
	[OPT_ALL] = { "all", 0, NULL, 0,
	    "Include everything: stop ends all runs; verdict list "
	    "shows nodes that are ok or unknown, too; events prints every "
	    "event; accept prints a row for each part." },
	[OPT_ANY] = { "any", 0, NULL, 0,
	    "The token is valid for any node name that is not "
	    "connected when the token is used." },
	[OPT_AT] = { "at", 0, "AGO", 0,
	    "Show the state of this long ago, for example 90m, 12h or "
	    "7d.",
	    AGO },
	[OPT_BYTES] = { "bytes", 0, "SIZE", 0,
	    "Size of the collective in bytes, for example 64M: the "
	    "buffer with a block for every rank. Default: 1G.",
	    .check = opts_check_bytes,
	    .expected = "a size in bytes, for example 64M" },
	[OPT_BY] = { "by", 0, "WHAT", 0,
	    "Print one line for each job name (default), for each job, "
	    "or for each name and week.",
	    "name|job|week" },
	[OPT_CAMPAIGN] = { "campaign", 'c', "NAME", 0,
	    "Show only runs of this campaign.", NAME },
	[OPT_FAIL_ON] = { "fail-on", 0, "VERDICT", 0,
	    "Lowest verdict for which the exit code is not 0, in the "
	    "order unknown, warn, bad. Default: unknown.",
	    "unknown|warn|bad" },
	[OPT_LOCAL] = { "local", 0, NULL, 0,
	    "Read the file of this node's agent and do not contact a "
	    "collector." },
	[OPT_HOURS] = { "hours", 0, "HOURS", 0,
	    "Hours to forecast, 1 to 336, with all starts. Default: 24, with "
	    "the first start of each campaign.",
	    NULL, 1, 336 },
	[OPT_DAYS] = { "days", 0, "DAYS", 0,
	    "Validity of the certificate in days, 1 to 36500.", NULL, 1,
	    36500 },
	[OPT_DOWN] = { "down", 0, "PART", 0,
	    "Assume that this part has failed: nodes, all nodes of a leaf, an "
	    "uplink (LEAF.uplinkN, LEAF.SWITCH) or a switch above leaves. Can "
	    "be repeated.",
	    PART },
	[OPT_DRAIN] = { "drain", 0, "PART", 0,
	    "Assume that these nodes, or the nodes of this leaf, are drained. "
	    "Can be repeated.",
	    PART },
	[OPT_END] = { "end", 0, NULL, 0, "End the maintenance now." },
	[OPT_ENROLLED] = { "enrolled", 0, "FILE", 0,
	    "File in which the collector lists the certificates that "
	    "it has issued: enrolled in collector.state_dir. Default: "
	    "/var/lib/coalmine/enrolled, if it exists.",
	    INPUT },
	[OPT_EVERY] = { "every", 0, "SECONDS", 0,
	    "Refresh interval in seconds, 1 to 3600. Default: 2.", NULL, 1,
	    3600 },
	[OPT_HTML] = { "html", 0, "FILE", 0,
	    "Write the plots and tables of the run to this HTML file, "
	    "which can be viewed without a network. Each plot can be "
	    "saved as PNG, each table as CSV. - is the standard output.",
	    OUTPUT },
	[OPT_IDENTIFIABLE] = { "identifiable", 0, NULL, 0,
	    "List the links that the measurements cannot distinguish." },
	[OPT_JOB] = { "job", 0, "JOB", 0, "Use the nodes of this job." },
	[OPT_FILE] = { "file", 'f', "FILE", 0,
	    "Read the campaign from this file, not from the collector; - is "
	    "the standard input.",
	    .check = opts_check_stdin, .expected = READABLE },
	[OPT_FOLD] = { "fold", 0, NULL, 0,
	    "Print one line for each state of agents, with the nodes "
	    "as a host list." },
	[OPT_FOLLOW] = { "follow", 0, NULL, 0,
	    "Keep printing events as they occur." },
	[OPT_FOR] = { "for", 0, "SPAN", 0,
	    "Validity of the token, for example 30m, up to 30d. "
	    "Default: 1h. With --drain: time until the repair. Default: 24h. "
	    "For maintenance: its duration, for example 8h, up to 366d.",
	    .least = 1, .most = INT64_MAX, .check = opts_check_span,
	    .expected = "a duration, for example 12h" },
	[OPT_FORMAT] = { "format", 0, "FORMAT", 0,
	    "Print the results by message size in the format of nccl-tests, "
	    "of OSU's micro-benchmarks, or as rows of reference values.",
	    "nccl-tests|osu|reference" },
	[OPT_FROM] = { "from", 0, "FORMAT", 0,
	    "Format of the files. Default: detected from their "
	    "contents.",
	    "ibnetdiscover|slurm|slurm-yaml|topograph|lldp|table|coalmine" },
	[OPT_GBPS] = { "gbps", 0, "RATE", 0,
	    "Rate of a node's link in Gbit/s, if it is not in the "
	    "files.",
	    .check = opts_check_gbps,
	    .expected = "a rate in Gbit/s, 0.001 to 100000" },
	[OPT_KIND] = { "kind", 0, "KIND", 0, "Show only events of this kind.",
	    NAMES_EVENTS },
	[OPT_LIMIT] = { "limit", 'n', "COUNT", 0,
	    "Maximum number of rows, the newest ones, 1 to 10000. "
	    "--where and --sort apply to these rows only.",
	    NULL, 1, 10000 },
	[OPT_MACHINE] = { "machine", 0, "NAME", 0,
	    "Machine for which the time is predicted: a name or file "
	    "of coalmine-machine(5). expect and whatif need it.",
	    .check = opts_check_machine,
	    .expected = "the name of a machine, such as perlmutter, or a file "
			"that can be read" },
	[OPT_MARGIN] = { "margin", 0, "SHARE", 0,
	    "Differences up to this share count as the same, 0% to "
	    "100%. Default: 5%.",
	    .check = opts_check_share,
	    .expected = "a share as 5% or 0.05, at most 100%" },
	[OPT_NODE] = { "node", 0, "NAMES", 0,
	    "Nodes that the token is valid for, a host list; each node can "
	    "use the token once.",
	    HOSTS },
	[OPT_NODES] = { "nodes", 0, "NAMES", 0,
	    "Nodes of the job, a host list, for example n[017-032].", HOSTS },
	[OPT_OP] = { "op", 0, "COLLECTIVE", 0,
	    "Collective operation. Default: allreduce; none for "
	    "import. gather and scatter are valid for import only.",
	    OPS },
	[OPT_OUT] = { "out", 0, "FILE", 0,
	    "Write the output to this file, which is replaced "
	    "atomically. Default: standard output.",
	    OUTPUT },
	[OPT_OVERRIDE] = { "override", 'o', "SECTION.KEY=VALUE", 0,
	    "Set an option of the campaign for this run only. Can be "
	    "repeated.",
	    .check = opts_check_override },
	[OPT_PLAN] = { "plan", 0, "PROBE OPTION=VALUE ...", 0,
	    "Predict this plan of coalmine-plan(7) in place of a collective. "
	    "Quote the plan as one argument, for example 'group "
	    "count=1048576'.",
	    .check = opts_check_plan,
	    .expected =
		"PROBE OPTION=VALUE ..., for example 'group count=1048576'" },
	[OPT_RANKS] = { "ranks", 0, "COUNT", 0,
	    "Number of ranks of a table that does not contain this number, 1 "
	    "to 10000000.",
	    NULL, 1, 10000000 },
	[OPT_RANKS_PER_NODE] = { "ranks-per-node", 0, "COUNT", 0,
	    "Number of ranks on each node, 1 to 1024. Default: 1.", NULL, 1,
	    1024 },
	[OPT_RAILS] = { "rails", 0, "PORTS", 0,
	    "Patterns of port names of hosts, one for each rail, "
	    "separated by commas, for example mlx5_0,mlx5_[34]. Ports "
	    "that match none are ignored.",
	    PATTERNS },
	[OPT_RAW] = { "raw", 0, NULL, 0,
	    "With --json: include the records of single rounds." },
	[OPT_REASON] = { "reason", 0, "TEXT", 0,
	    "Reason of the maintenance, for the event log and other users.",
	    .most = 200, .check = opts_check_text,
	    .expected = "a text of up to 200 bytes in UTF-8" },
	[OPT_REKEY] = { "rekey", 0, NULL, 0, "Create a new key as well." },
	[OPT_ROLE] = { "role", 0, "ROLE", 0,
	    "Role of the certificate's holder.",
	    "agent|collector|reader|operator" },
	[OPT_SAN] = { "san", 0, "NAME", 0,
	    "DNS name or IP address for the certificate, in addition to the "
	    "name of its holder. Can be repeated.",
	    .check = opts_check_san,
	    .expected = "a DNS name or an IP address" },
	[OPT_SINCE] = { "since", 0, "AGO", 0,
	    "Show only what happened within this time, for example "
	    "90m, 12h or 7d.",
	    AGO },
	[OPT_SKIP] = { "skip", 0, "NAMES", 0,
	    "Patterns of hosts, switches and ports (HOST:PORT) to "
	    "ignore, separated by commas, for example "
	    "oss*,mgmt-*,*:eth0.",
	    PATTERNS },
	[OPT_SLOW] = { "slow", 0, "PART=SHARE", 0,
	    "Assume that this part has this share of its described rate, "
	    "0.001 to 1, for example n017=0.5. PART is as for --down, but a "
	    "leaf means its uplinks. Can be repeated.",
	    .check = opts_check_slow,
	    .expected = "PART=SHARE with a share from 0.001 to 1, for example "
			"n017=0.5" },
	[OPT_SOFTWARE] = { "software", 0, NULL, 0,
	    "Print one line for each version of the agents, with the "
	    "nodes as a host list." },
	[OPT_SORT] = { "sort", 0, "MEMBER", 0,
	    "Sort rows by this member, named as shown by --json. "
	    "-MEMBER sorts in descending order.",
	    .check = opts_check_sort,
	    .expected = "the name of a member as shown by --json, with - "
			"before it for descending order" },
	[OPT_STATE] = { "state", 's', "STATE", 0,
	    "Show only rows in this state." },
	[OPT_STRICT] = { "strict", 0, NULL, 0,
	    "Reject a file with lines, keys or members that would "
	    "otherwise be skipped." },
	[OPT_USES] = { "uses", 0, "COUNT", 0,
	    "Number of nodes that the token may enrol, 1 to 65536. "
	    "Default: the number of nodes in --node; with --any 1.",
	    NULL, 1, HOSTLIST_MAX },
	[OPT_WAIT] = { "wait", 'w', NULL, 0,
	    "Wait for the end of the run and show its progress." },
	[OPT_WHERE] = { "where", 0, "CLAUSE", 0,
	    "Show only rows that match: MEMBER=PATTERN, "
	    "MEMBER!=PATTERN, MEMBER<NUMBER or MEMBER>NUMBER. Members "
	    "are named as shown by --json. Examples: leaf=rack[12]*, "
	    "spool_bytes>1e6, inventory.cores<64. Can be repeated; all "
	    "must match.",
	    .check = opts_check_where,
	    .expected = "MEMBER=PATTERN, MEMBER!=PATTERN, MEMBER<NUMBER or "
			"MEMBER>NUMBER" },
	[OPT_WINDOW] = { "window", 0, "HH:MM-HH:MM", 0,
	    "Start runs only in these times of day, UTC, for example "
	    "22:00-06:00; several are separated by commas.",
	    .check = opts_check_window, .expected = WINDOW_SYNTAX ", UTC" },
	[OPT_WITHIN] = { "within", 0, "SPAN", 0,
	    "Time limit, 5s to 10m. When this limit is reached, the results "
	    "so far are printed. Default: 20s.",
	    .least = 5 * S, .most = 600 * S, .check = opts_check_span,
	    .expected = "5s to 10m" },
};

/* Options that have another meaning or range with one noun. */
static const struct opt_noun {
	const char *noun;
	enum opt id;
	struct opt_row row; /* members that are 0 are as in opts_rows */
} nouns[] = {
	{ "accept", OPT_HTML,
	    { .text = "Write the report for print to this file at the end." } },
	{ "accept", OPT_OUT,
	    { .text = "File of the report, JSON, written after each run. If it "
		      "exists, its acceptance continues. Default: none." } },
	{ "check", OPT_FILE,
	    { .check = opts_check_text, .expected = "a file" } },
	{ "import", OPT_OP, { .words = OPS "|gather|scatter" } },
	{ "init", OPT_FOR, TOKEN_FOR },
	{ "init", OPT_USES,
	    { .text = "Number of nodes that the token may enrol, 1 to 65536. "
		      "Default: the number of nodes in --node; without --node "
		      "1000." } },
	{ "node", OPT_FOR,
	    { .text = "Duration of the maintenance, for example 8h, up to "
		      "366d.",
		.most = 366 * 86400 * S,
		.expected = "a duration up to 366d, for example 8h" } },
	{ "node", OPT_STATE,
	    { .check = opts_check_agent,
		.expected = "a state of agents, for example lost" } },
	{ "pki", OPT_FOR, TOKEN_FOR },
	{ "promise", OPT_GBPS,
	    { .text = "Rated speed of a NIC in Gbit/s, whatever the topology "
		      "and the nodes report." } },
	{ "promise", OPT_OUT,
	    { .text = "File of the promise, which must not exist. Default: "
		      "standard output." } },
	{ "run", OPT_STATE,
	    { .check = opts_check_run,
		.expected = "a state of runs, for example failed" } },
	{ "whatif", OPT_FOR,
	    { .text = "With --drain: time until the repair. Default: 24h." } },
};

struct opt_row
opts_row(const char *noun, enum opt id)
{
	struct opt_row row = opts_rows[id];

	for (size_t i = 0; noun != NULL && i < ARRAY_LEN(nouns); i++) {
		const struct opt_row *own = &nouns[i].row;

		if (nouns[i].id != id || strcmp(nouns[i].noun, noun) != 0)
			continue;
		row.text = own->text != NULL ? own->text : row.text;
		row.words = own->words != NULL ? own->words : row.words;
		row.least = own->least != 0 ? own->least : row.least;
		row.most = own->most != 0 ? own->most : row.most;
		row.check = own->check != NULL ? own->check : row.check;
		row.expected = own->expected != NULL ? own->expected
						     : row.expected;
	}
	return row;
}

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

/* "--limt": the option that is most like it. "--no": options that begin so. */
static void
opts_unknown(const char *arg, struct err *err)
{
	struct strbuf names = { 0 }, longer = { 0 };
	size_t n = strcspn(arg + 2, "=");
	char *word = xstrndup(arg + 2, n), *meant;

	strbuf_add(&names, "", 0);
	for (int i = 0; i < OPT_MAX; i++) {
		strbuf_addf(&names, "%s%s", i > 0 ? " " : "",
		    opts_rows[i].name);
		if (strncmp(opts_rows[i].name, word, n) == 0)
			strbuf_addf(&longer, " --%s", opts_rows[i].name);
	}
	meant = meant_find(word, names.text);
	if (longer.text != NULL)
		err_say(err, "ambiguous option --%s: it can be%s", word,
		    longer.text);
	else
		err_say(err, "unknown option %.60s%s%s%s", arg,
		    meant != NULL ? ": did you mean --" : SEE,
		    meant != NULL ? meant : "", meant != NULL ? "?" : "");
	strbuf_clear(&names);
	strbuf_clear(&longer);
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
		err_say(err, "--%s needs a value: %s" SEE, opts_rows[id].name,
		    opts_rows[id].arg);
	else if (id >= 0)
		err_say(err, "--%s takes no value" SEE, opts_rows[id].name);
	else if (optopt != 0)
		err_say(err, "unknown option -%c" SEE, optopt);
	else
		opts_unknown(arg, err);
	return -EINVAL;
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
		v = &o->of[id];
		v->values = xreallocarray(v->values, v->count + 1,
		    sizeof(*v->values));
		v->values[v->count++] = optarg;
	}
	*ret_first = optind;
	return 0;
}

/* Return 0 if value is one of words, "a|b|c". */
static int
opts_word_check(const char *words, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = words; p != NULL;) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, value, n) == 0)
			return 0;
		p = p[n] == '\0' ? NULL : p + n + 1;
	}
	return -EINVAL;
}

/* Return the values that a row accepts, for a message. scratch has them if they
 * are a range. */
static const char *
opts_expected(const struct opt_row *row, char scratch[RANGE_BYTES])
{
	if (row->expected != NULL)
		return row->expected;
	if (row->words != NULL)
		return row->words;
	if (row->check != NULL || row->most == 0)
		return row->arg;
	snprintf(scratch, RANGE_BYTES, "%" PRId64 " to %" PRId64, row->least,
	    row->most);
	return scratch;
}

/* Check a value by the check of its row, its words or its range. */
static int
opts_value_check(const struct opt_row *row, const char *value, struct err *err)
{
	char scratch[RANGE_BYTES];
	const char *expected = opts_expected(row, scratch);
	int64_t number;
	int rc = 0;

	if (value[0] == '\0')
		return err_set(err, -EINVAL, "--%s is empty: expected %s",
		    row->name, expected);
	err_say(err, "%s", ""); /* not every check writes a sentence */
	if (row->check != NULL)
		rc = row->check(row, value, err);
	else if (row->words != NULL)
		rc = opts_word_check(row->words, value);
	else if (row->most != 0)
		rc = str_to_int(value, row->least, row->most, &number);
	if (rc < 0 && err->text[0] == '\0')
		err_say(err, "--%s %.80s: expected %s", row->name, value,
		    expected);
	return rc < 0 ? -EINVAL : 0;
}

int
opts_check(const struct opts *o, const char *noun, struct err *err)
{
	for (int i = 0; i < OPT_MAX; i++) {
		struct opt_row row = opts_row(noun, i);

		for (size_t k = 0; row.arg != NULL && k < o->of[i].count; k++)
			if (opts_value_check(&row, o->of[i].values[k], err) < 0)
				return -EINVAL;
	}
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

uint64_t
opts_span_ns(const struct opts *o, enum opt id, uint64_t otherwise)
{
	const char *text = opts_value(o, id);

	if (text != NULL)
		(void)clk_span_parse(text, &otherwise);
	return otherwise;
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
