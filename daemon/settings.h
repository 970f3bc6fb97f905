/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - convert coalmined.conf and -o to the options of the parts.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include "daemon/http/http.h"
#include "daemon/collector.h"
#include "daemon/objective/promised.h"
#include "daemon/react/react.h"
#include "daemon/run/cost.h"
#include "daemon/slurm/slurm.h"
#include "daemon/store/store.h"

/* Texts live as long as conf. End with topo_free, promised_free
 * and conf_free. */
struct settings {
	struct conf *conf;
	struct topo *topo;
	struct promised *promised; /* of objective.report; NULL: none */
	struct store_options store;
	char who[300]; /* this collector, for messages */
	char url[400]; /* for coalctl; "": none */
	struct collector_options collector;
	struct http_options http;
	struct cost_rules costs;
	struct react_options react;
	struct slurm_options slurm;
};

/* Load a configuration. path NULL: the default file, which may be absent. sets:
 * SECTION.KEY=VALUE of -o, which override the file. Return 0, or -EINVAL with
 * file and line in err. */
int settings_load(const char *path, char *const *sets, size_t set_count,
    struct settings *ret, struct err *err);
/* Check that the configured files exist and are readable; log each failure.
 * Creates nothing. */
int settings_check_files(const struct settings *s);

#endif
