/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - coalmined.conf and -o as one struct of plain values.
 *
 * Strings live as long as the struct's conf.
 */
#ifndef DAEMON_SETTINGS_H
#define DAEMON_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/log.h"
#include "daemon/run/cost.h"
#include "daemon/mesh/mesh.h"
#include "daemon/diagnosis/diagnosis.h"
#include "daemon/react/react.h"
#include "daemon/slurm/slurm.h"
#include "daemon/cluster/topo.h"

struct settings {
	struct conf *conf;  /* owned */
	const char *listen; /* "host:port" */
	const char *state_dir;
	const char *campaign_dir;
	enum log_level log;
	size_t agents_max;
	uint64_t heartbeat_ns;
	uint64_t silence_ns;
	const char *tls_ca;
	const char *tls_cert;
	const char *tls_key;
	const char *http_listen;     /* "": none */
	const char *http_socket;     /* "": none */
	const char *http_tls_listen; /* "": none */
	size_t http_connections_max;
	const char *alerts_webhook; /* "": none */
	const char *alerts_page;    /* "": no links */
	uint64_t retention_ns;
	uint64_t raw_retention_ns;
	uint64_t free_min_bytes;
	struct diagnosis_options diagnosis;
	struct topo *topo; /* owned */
	struct mesh_options mesh;
	struct cost_rules costs;
	struct react_options react;
	struct slurm_options slurm;
};

/* path NULL: the default file, which may be absent. sets: "section.key=value"
 * each. 0, or -EINVAL or -errno with the message in why. End it with
 * settings_clear. */
int settings_load(const char *path, char *const *sets, size_t set_count,
    struct settings *ret, struct err *err);
void settings_clear(struct settings *s);

#endif
