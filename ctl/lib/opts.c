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
#include "schema/names_event.h"

/* getopt_long returns this plus the option's number. */
#define LONG_BASE 1000

const struct opt_row opts_rows[OPT_MAX] = {
	[OPT_URL] = { "url", 'u', "URL", 1,
	    "The collector: unix:PATH, http://HOST:PORT or https://HOST:PORT. "
	    "Else COALMINE_URL, else unix:/run/coalmine/coalmined.sock." },
	[OPT_CA] = { "ca", 0, "FILE", 1,
	    "Certificate of the site's authority, for https. Else "
	    "COALMINE_CA, else /etc/coalmine/pki/ca.pem." },
	[OPT_CRL] = { "crl", 0, "FILE", 1,
	    "Revoked certificates, for https: a collector on this list is not "
	    "trusted. Else COALMINE_CRL, else crl.pem in the folder of the "
	    "authority's certificate, if it exists." },
	[OPT_CERT] = { "cert", 0, "FILE", 1,
	    "Own certificate, for https. Else COALMINE_CERT." },
	[OPT_KEY] = { "key", 0, "FILE", 1,
	    "Key of the own certificate, for https. Else COALMINE_KEY." },
	[OPT_CLUSTER] = { "cluster", 0, "NAME", 1,
	    "The active collector of this cluster, which the collector of "
	    "--url "
	    "tells. Else COALMINE_CLUSTER, else the collector of --url." },
	[OPT_HELP] = { "help", 'h', NULL, 1,
	    "Show the verbs, or those of one noun." },
	[OPT_DUMP] = { "dump", 0, "WHAT", 2,
	    "Print the tables: verbs or options." },
	[OPT_COMPLETE] = { "complete", 0, NULL, 2,
	    "Print what the last of the words after -- can become." },
	[OPT_JSON] = { "json", 'j', NULL, 0, "Print JSON." },
	[OPT_CSV] = { "csv", 0, NULL, 0,
	    "Print comma-separated values, one line a record." },
	[OPT_ASCII] = { "ascii", 0, NULL, 0,
	    "Draw with ASCII only; the default where the locale is not "
	    "UTF-8." },
	[OPT_ALL] = { "all", 0, NULL, 0,
	    "Everything: all runs, or nodes that are well too." },
	[OPT_ANY] = { "any", 0, NULL, 0,
	    "For any name that is not connected at that moment." },
	[OPT_AT] = { "at", 0, "AGO", 0,
	    "As it was so long ago: 90m, 12h, 7d." },
	[OPT_BYTES] = { "bytes", 0, "SIZE", 0,
	    "Data of a collective, as 64M; 1G by default." },
	[OPT_BY] = { "by", 0, "WHAT", 0,
	    "A statement for each name, for each job, or for each name and "
	    "week.",
	    "name|job|week" },
	[OPT_CAMPAIGN] = { "campaign", 'c', "NAME", 0,
	    "Only those of this campaign." },
	[OPT_FAIL_ON] = { "fail-on", 0, "VERDICT", 0,
	    "Less than this is a success; without it, less than unknown.",
	    "unknown|warn|bad" },
	[OPT_LOCAL] = { "local", 0, NULL, 0,
	    "Read the agent's file on this node; contact no collector." },
	[OPT_HOURS] = { "hours", 0, "HOURS", 0,
	    "Look so far ahead, 1 to 336; 24 by default.", NULL, 1, 336 },
	[OPT_DAYS] = { "days", 0, "DAYS", 0,
	    "Validity of a certificate: 1 to 36500.", NULL, 1, 36500 },
	[OPT_ENROLLED] = { "enrolled", 0, "FILE", 0,
	    "What the collector has issued, the file enrolled of its "
	    "state_dir; /var/lib/coalmine/enrolled where that is." },
	[OPT_EVERY] = { "every", 0, "SECONDS", 0,
	    "Look again after so many, 1 to 3600; 2 by default.", NULL, 1,
	    3600 },
	[OPT_HTML] = { "html", 0, "FILE", 0,
	    "Write one HTML file with the plots and tables of the run's page; "
	    "it needs no network. Each plot can be saved as PNG, each table as "
	    "CSV. - is the standard output." },
	[OPT_IDENTIFIABLE] = { "identifiable", 0, NULL, 0,
	    "Instead, the links that nothing measured tells apart." },
	[OPT_FILE] = { "file", 'f', "FILE", 0,
	    "Take the campaign from this file instead of the collector's; - "
	    "is the standard input." },
	[OPT_FOLD] = { "fold", 0, NULL, 0,
	    "One line a state, the nodes as a hostlist." },
	[OPT_FOLLOW] = { "follow", 0, NULL, 0, "Go on printing what happens." },
	[OPT_FOR] = { "for", 0, "SPAN", 0,
	    "How long a token is good, as 30m, up to 30d; 1h by default." },
	[OPT_FORMAT] = { "format", 0, "FORMAT", 0,
	    "Print plans by size as nccl-tests or as OSU's "
	    "micro-benchmarks do.",
	    "nccl-tests|osu" },
	[OPT_FROM] = { "from", 0, "FORMAT", 0,
	    "What the files are, where it shall not be found out.",
	    "ibnetdiscover|slurm|slurm-yaml|topograph|lldp|table|coalmine" },
	[OPT_GBPS] = { "gbps", 0, "RATE", 0,
	    "Rate of a link in Gbit/s, where no file tells it." },
	[OPT_KIND] = { "kind", 0, "KIND", 0, "Only events of this kind.",
	    NAMES_EVENTS },
	[OPT_LIMIT] = { "limit", 'n', "COUNT", 0,
	    "At most this many, the newest: 1 to 10000. --where and --sort see "
	    "these only.",
	    NULL, 1, 10000 },
	[OPT_MACHINE] = { "machine", 0, "NAME", 0,
	    "The machine, a name or file of coalmine-machine(5)." },
	[OPT_MARGIN] = { "margin", 0, "SHARE", 0,
	    "Differences up to this share are called the same: 0% to 100%, "
	    "else 5%." },
	[OPT_NODE] = { "node", 0, "NAMES", 0,
	    "For these nodes, a hostlist, each of them once." },
	[OPT_NODES] = { "nodes", 0, "NAMES", 0,
	    "The nodes of a job, a hostlist." },
	[OPT_OP] = { "op", 0, "COLLECTIVE", 0,
	    "Which collective; allreduce by default. gather and scatter are "
	    "for import alone, which has no default.",
	    "allreduce|allgather|reduce-scatter|broadcast|reduce|alltoall|"
	    "gather|scatter" },
	[OPT_OUT] = { "out", 0, "FILE", 0,
	    "Write to this file, which changes at once or not at all." },
	[OPT_OVERRIDE] = { "override", 'o', "SECTION.KEY=VALUE", 0,
	    "Run with another value; may be given again." },
	[OPT_PLAN] = { "plan", 0, "PROBE OPTION=VALUE ...", 0,
	    "Instead of a collective: a plan of coalmine-plan(7), as one "
	    "word." },
	[OPT_RANKS] = { "ranks", 0, "COUNT", 0,
	    "Ranks of tables that do not have their number: 1 to 10000000.",
	    NULL, 1, 10000000 },
	[OPT_RANKS_PER_NODE] = { "ranks-per-node", 0, "COUNT", 0,
	    "Ranks on each node, 1 to 1024; 1 by default.", NULL, 1, 1024 },
	[OPT_RAILS] = { "rails", 0, "PORTS", 0,
	    "Patterns of a host's ports, rail by rail, with commas, as "
	    "mlx5_0,mlx5_[34]; ports that match none are left out." },
	[OPT_RAW] = { "raw", 0, NULL, 0,
	    "Keep the records of single rounds, with --json." },
	[OPT_REKEY] = { "rekey", 0, NULL, 0, "With a new key." },
	[OPT_ROLE] = { "role", 0, "ROLE", 0, "What the certificate allows.",
	    "agent|collector|reader|operator" },
	[OPT_SAN] = { "san", 0, "NAME", 0,
	    "A further DNS name or IP address; may be given again." },
	[OPT_SINCE] = { "since", 0, "AGO", 0,
	    "What there was since then: 90m, 12h, 7d." },
	[OPT_SKIP] = { "skip", 0, "NAMES", 0,
	    "Patterns of hosts, switches and HOST:PORT that are left out, "
	    "with commas, as oss*,mgmt-*,*:eth0." },
	[OPT_SOFTWARE] = { "software", 0, NULL, 0,
	    "One line a version of the agents, the nodes as a hostlist." },
	[OPT_SORT] = { "sort", 0, "MEMBER", 0,
	    "In the order of this member of the rows that --json shows; "
	    "-MEMBER: the largest first." },
	[OPT_STATE] = { "state", 's', "STATE", 0, "Only those in this state." },
	[OPT_STRICT] = { "strict", 0, NULL, 0,
	    "Refuse a file with anything that would be skipped." },
	[OPT_USES] = { "uses", 0, "COUNT", 0,
	    "Nodes that a token may enrol: 1 to 65536; as many as --node "
	    "names by default, 1 with --any.",
	    NULL, 1, HOSTLIST_MAX },
	[OPT_WAIT] = { "wait", 'w', NULL, 0,
	    "Wait for the end of the run, and show its progress." },
	[OPT_WHERE] = { "where", 0, "CLAUSE", 0,
	    "Only rows whose member fits: MEMBER=PATTERN, MEMBER!=PATTERN, "
	    "MEMBER<NUMBER, MEMBER>NUMBER, with members as --json shows them, "
	    "as leaf=rack[12]*, spool_bytes>1e6, inventory.cores<64; may be "
	    "given again, and all must fit." },
	[OPT_WITHIN] = { "within", 0, "SPAN", 0,
	    "Answer after so long with what is known then: 5s to 10m; 20s by "
	    "default." },
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
		err_say(err, "unknown option %.60s", arg);
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
		    "--%s %.30s: allowed is %" PRId64 " to %" PRId64, row->name,
		    value, row->least, row->most);
	for (const char *p = row->words; p != NULL;) {
		size_t n = strcspn(p, "|");

		if (n == len && memcmp(p, value, n) == 0)
			return 0;
		p = p[n] == '\0' ? NULL : p + n + 1;
	}
	return row->words == NULL
	    ? 0
	    : err_set(err, -EINVAL, "--%s %.40s: allowed are %s", row->name,
		  value, row->words);
}

int
opts_parse(struct opts *o, int argc, char **argv, int *ret_first,
    struct err *err)
{
	struct option longs[OPT_MAX + 1];
	char letters[3 * OPT_MAX + 2], *at = letters;
	struct opt_values *v;
	int got, id;

	*at++ = ':'; /* a missing value is told from an unknown option */
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
