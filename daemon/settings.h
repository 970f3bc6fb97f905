/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - coalmined.conf and -o, as the options that the parts take.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include "daemon/http/http.h"
#include "daemon/collector.h"
#include "daemon/react/react.h"
#include "daemon/run/cost.h"
#include "daemon/slurm/slurm.h"
#include "daemon/store/store.h"

/* Texts live as long as conf. End with topo_free and conf_free. */
struct settings {
	struct conf *conf;
	struct topo *topo;
	struct store_options store;
	char who[300]; /* this collector, for people */
	char url[400]; /* for coalctl; "": it has none */
	struct collector_options collector;
	struct http_options http;
	struct cost_rules costs;
	struct react_options react;
	struct slurm_options slurm;
};

/* path NULL: the default file, which may be absent. sets: SECTION.KEY=VALUE of
 * -o, over it. -EINVAL with file and line in err. */
int settings_load(const char *path, char *const *sets, size_t set_count,
    struct settings *ret, struct err *err);
/* What a start would find beside the values themselves: files that are not
 * there or not ours to read, each with a line in the log. Nothing is made. */
int settings_check_files(const struct settings *s);

#endif
