/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - the verb scan, which is also the program coalmine-scan: options as
 * rows of options_scan, read by rank 0 and checked on every rank.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "probes/job/fabric.h"
#include "probes/job/rank_watch.h"
#include "probes/scan/scan.h"
#include "probes/scan/scan_report.h"
#include "probes/topology/machine.h"
#include "probes/verbs/verbs.h"
#include "schema/options.h"

static void
scan_usage(FILE *to)
{
	fputs("usage: coalmine-scan [--OPTION VALUE]...\nOne rank per node, "
	      "under any MPI launcher: srun -N 64 coalmine-scan\n\n",
	    to);
	for (const struct conf_row *row = options_scan; row->key != NULL; row++)
		fprintf(to, "  --%s%s\n      %s%s%s%s\n", row->key,
		    row->type == CONF_BOOL ? "" : " VALUE", row->text,
		    row->type == CONF_BOOL || row->fallback[0] == '\0'
			? ""
			: " Default: ",
		    row->type == CONF_BOOL ? "" : row->fallback,
		    row->type == CONF_BOOL || row->fallback[0] == '\0' ? ""
								       : ".");
	fputs("\nExit status: 0 nothing is slow, 1 slow nodes or paths were "
	      "found,\n2 undetermined, 3 nothing was measured.\n",
	    to);
}

/* --KEY VALUE, --KEY=VALUE, or --KEY of a flag. */
static int
scan_options_read(int argc, char **argv, struct conf *c, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i] + 2, *value = strchr(argv[i], '=');
		size_t len = value == NULL ? strlen(argv[i])
					   : (size_t)(value - argv[i]);
		const struct conf_row *row = options_scan;

		while (row->key != NULL &&
		    (strncmp(argv[i], "--", 2) != 0 ||
			strlen(row->key) + 2 != len ||
			strncmp(name, row->key, len - 2) != 0))
			row++;
		if (row->key == NULL)
			return err_set(err, -1,
			    "scan: unknown option %.40s; see coalmine-scan "
			    "--help",
			    argv[i]);
		if (value != NULL)
			value++;
		else if (row->type == CONF_BOOL)
			value = "yes";
		else if (++i < argc)
			value = argv[i];
		else
			return err_set(err, -1, "scan: --%s: missing value",
			    row->key);
		if (conf_set(c, "scan", row->key, value, "command line", err) <
		    0)
			return -1;
	}
	return 0;
}

/* "200gbit", "25GB/s", or a machine file; 0 for "". */
static int
scan_promise_read(const char *text, double *ret_per_s, struct err *err)
{
	static const struct {
		const char *unit;
		double per_s;
	} units[] = { { "kbit", 125 }, { "mbit", 125e3 }, { "gbit", 125e6 },
		{ "tbit", 125e9 }, { "MB/s", 1e6 }, { "GB/s", 1e9 } };
	struct machine *m;
	char number[32];
	size_t len;
	double x;
	int rc;

	*ret_per_s = 0;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		len = strlen(text);
		if (len <= strlen(units[i].unit) ||
		    len - strlen(units[i].unit) >= sizeof(number) ||
		    strcmp(text + len - strlen(units[i].unit), units[i].unit) !=
			0)
			continue;
		snprintf(number, sizeof(number), "%.*s",
		    (int)(len - strlen(units[i].unit)), text);
		if (str_to_double(number, 1e-6, 1e6, &x) == 0) {
			*ret_per_s = x * units[i].per_s;
			return 0;
		}
	}
	if (text[0] == '\0')
		return 0;
	rc = machine_load(text, NULL, 0, &m, err);
	if (rc == -ENOENT)
		return err_set(err, -1,
		    "--expect %.80s: expected a rate, for example 200gbit or "
		    "25GB/s, or a machine file",
		    text);
	if (rc < 0)
		return -1;
	x = m->out_per_s < m->in_per_s || m->in_per_s == 0 ? m->out_per_s
							   : m->in_per_s;
	if (m->both_per_s > 0 && m->both_per_s / 2 < x)
		x = m->both_per_s / 2;
	*ret_per_s = m->unrated ? 0 : x * m->nics;
	machine_free(m);
	return *ret_per_s > 0
	    ? 0
	    : err_set(err, -1,
		  "--expect %.80s: the machine file has no NIC rate", text);
}

/* The device of each rank; none for memory of the host. */
static int
scan_team_open(struct world *w, const char *device, struct transport_team **ret,
    struct err *err)
{
	int rc;

	if (strcmp(device, "host") == 0)
		return 0;
	rc = team_open(w, device, "auto", ret, err);
	if (rc == 0 && !(*ret)->mpi_takes)
		rc = err_set(err, -1,
		    "this MPI does not accept pointers to the memory of this "
		    "device");
	w->team = rc == 0 ? *ret : NULL;
	w->via = PLAN_VIA_MPI;
	return rc;
}

static int
scan_measure_all(struct conf *c, double expect_per_s, int *argc, char ***argv)
{
	int status = SCAN_UNKNOWN, is_json = conf_bool(c, "scan", "json");
	struct transport_team *team = NULL;
	json_t *carried = NULL, *result;
	struct world w;
	struct err err = { 0 };

	world_open(&w, argc, argv);
	rank_watch_open(w.rank);
	if (w.nodes < 2) {
		if (w.rank == 0)
			log_warnx("all %d ranks are on one node: a scan needs "
				  "at least 2 nodes; start it by srun -N 2 or "
				  "mpirun --map-by node",
			    w.size);
	} else if (fabric_open(&w, NULL, &carried, &err) < 0) {
		if (w.rank == 0)
			log_warnx("%s", err.text);
	} else if (scan_team_open(&w, conf_string(c, "scan", "device"), &team,
		       &err) < 0) {
		if (w.rank == 0)
			log_warnx("--device %s: %s",
			    conf_string(c, "scan", "device"), err.text);
	} else {
		if (w.rank == 0 && !is_json)
			scan_print_fabric(carried, &w);
		result = scan_run(&w, c, expect_per_s);
		if (w.rank == 0) {
			status = scan_status_of(result);
			json_object_set(result, "carried", carried);
			json_object_set_new(result, "status",
			    json_integer(status));
			if (is_json) {
				json_dumpf(result, stdout, JSON_COMPACT);
				putchar('\n');
			} else {
				scan_print(result);
			}
			fflush(stdout);
			json_decref(result);
		} else {
			status = SCAN_FIT; /* the launcher shows rank 0's */
		}
	}
	json_decref(carried);
	team_close(team);
	rank_watch_bye();
	world_close(&w, status);
	return status;
}

/* The first of all ranks prints the error. */
static int
scan_refuse(const struct err *err)
{
	return verbs_first_rank() ? verbs_complain(err->text) : VERBS_USAGE;
}

int
scan_main(int argc, char **argv)
{
	double expect_per_s = 0;
	struct conf *c;
	struct err err;
	int rc;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		if (verbs_first_rank())
			scan_usage(stdout);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		if (verbs_first_rank())
			puts("coalmine-scan " COALMINE_VERSION);
		return 0;
	}
	if (conf_parse(options_scan, "scan", "", &c, &err) < 0)
		return scan_refuse(&err);
	rc = scan_options_read(argc, argv, c, &err);
	if (rc == 0)
		rc = scan_promise_read(conf_string(c, "scan", "expect"),
		    &expect_per_s, &err);
	rc = rc < 0 ? scan_refuse(&err)
		    : scan_measure_all(c, expect_per_s, &argc, &argv);
	conf_free(c);
	return rc;
}
