/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - the table of messages and their fields. Every received message is
 * checked against it before any module processes it.
 */
#include "schema/wire.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/frame.h"
#include "common/xalloc.h"
#include "schema/record.h"
#include "schema/strict.h"

/* A record is an array element in a message. No other message is deeper. */
#define DEPTH_MAX (RECORD_DEPTH_MAX + 2)
/* A batch is shorter than the longest record. */
#define LINES_BYTES_MAX (RECORD_LINE_MAX + 256)
/* Most messages, which are not written twice to learn their length. */
#define SHORT_BYTES 1024

/* One field per line, with its meaning. */
/* clang-format off */

/* Fields by message. Arrays and objects are checked further by who reads
 * them. */
#define FIELDS(name) static const struct wire_field name[]
#define LAST         { NULL, 0, 0 }

FIELDS(hello) = {
	{ "version", 'i', 0 },   /* the newest it speaks: WIRE_VERSION */
	{ "version_min", 'i', 1 }, /* the oldest; absent: no other */
	{ "node", 's', 0 },      /* must be the certificate's common name */
	{ "boot", 's', 0 },      /* changes when the agent's process does */
	{ "software", 's', 0 },
	{ "inventory", 'o', 0 }, /* as in coalmine-output(7), node */
	{ "runs", 'a', 0 },      /* ids of runs that live here */
	{ "spool", 'a', 0 },     /* [{run, seq}]: last seq spooled */
	{ "term", 'i', 1 },      /* the highest that a welcome had */
	LAST
};
FIELDS(records) = {
	{ "run", 's', 0 },
	{ "records", 'a', 0 }, /* record objects, seq ascending */
	LAST
};
FIELDS(progress) = { { "run", 's', 0 }, { "record", 'o', 0 }, LAST };
FIELDS(prepared) = {
	{ "run", 's', 0 },
	{ "ok", 'b', 0 },
	{ "cause", 's', 1 }, /* names_causes; where ok is false */
	{ "text", 's', 1 },
	LAST
};
FIELDS(launched) = {
	{ "run", 's', 0 },
	{ "ok", 'b', 0 },
	{ "pid", 'i', 1 },
	{ "begun", 'b', 1 }, /* the launcher's job has its nodes, for ranks that
	                        agents start */
	{ "text", 's', 1 },
	LAST
};
FIELDS(exited) = {
	{ "run", 's', 0 },
	{ "id", 'i', 0 },     /* 0: the launcher, 1: the node's ranks */
	{ "status", 'i', 0 }, /* exit code, or 128 + signal; of the first that
	                         failed */
	{ "stderr", 's', 0 }, /* its tail, valid UTF-8 */
	LAST
};
FIELDS(rank_lost) = {
	{ "run", 's', 0 },
	{ "rank", 'i', 0 },
	{ "pid", 'i', 0 },
	{ "exited", 'b', 1 },
	{ "status", 'i', 1 }, /* of a rank that the agent started: exit code, or
	                         128 + signal */
	{ "stderr", 's', 1 }, /* its tail */
	{ "abort", 's', 1 },  /* the reason given to MPI_Abort */
	{ "stuck", 'o', 1 }, /* it lives and waits: {rank node what waited_s
	                        at}, as emit.h */
	LAST
};
FIELDS(counters) = {
	{ "run", 's', 0 },
	{ "border", 'i', 0 },
	{ "at_unix_ns", 'i', 0 },
	{ "nics", 'a', 0 }, /* [{nic, counters: {rx_bytes: n, ...}}] */
	LAST
};
FIELDS(spool_lost) = {
	{ "run", 's', 0 },
	{ "records", 'i', 0 },
	{ "bytes", 'i', 0 },
	LAST
};
FIELDS(mesh_ready) = {
	{ "ok", 'b', 0 },
	{ "text", 's', 1 },
	LAST
};
FIELDS(mesh_report) = {
	{ "epoch", 'i', 0 },
	{ "span_ms", 'i', 0 }, /* how long it lasted here */
	{ "classes", 'a', 0 }, /* [{class answered lost unknown unsent n mean
	                          min p50 p90 p99 p999 max hist}], s */
	{ "targets", 'a', 0 }, /* [{node class answered lost unknown p50 large}];
	                          large {bytes answered lost unsent}, where any
	                          were asked for */
	{ "host", 'o', 0 },    /* {turn wait echoes refused limited unsent
	                          drops stretch} */
	LAST
};
FIELDS(enroll) = {
	{ "node", 's', 0 },
	{ "request", 's', 0 }, /* PKCS#10, PEM; of that name alone */
	{ "token", 's', 1 },   /* missing within a session */
	{ "munge", 's', 1 },   /* or a credential with the text
	                          "coalmine-agent1 NODE KEY AUTHORITY" */
	LAST
};
FIELDS(certificate) = {
	{ "cert", 's', 1 }, /* PEM; who signed it behind it, but for the root */
	{ "text", 's', 1 }, /* why it was rejected */
	{ "munge", 's', 1 }, /* for one that was asked for by munge:
	                        "coalmine-collector1 NODE KEY AUTHORITY" */
	LAST
};
FIELDS(trust) = {
	{ "renew", 'b', 0 }, /* whether enroll is answered in a session */
	{ "crl", 's', 1 },   /* PEM, lists of revoked certificates */
	LAST
};
FIELDS(welcome) = {
	{ "version", 'i', 1 }, /* of this session, where hello had several */
	{ "heartbeat_ms", 'i', 0 },
	{ "silence_ms", 'i', 0 },
	{ "links_ms", 'i', 1 },  /* how often heartbeats have links; for
	                            an inventory with links */
	{ "acks", 'a', 0 }, /* [{run, seq}]: committed, for hello's spool */
	{ "keep", 'a', 0 }, /* the runs of hello that continue */
	{ "term", 'i', 1 }, /* of the lease; a takeover increments it; absent:
	                       1 */
	LAST
};
FIELDS(ack) = { { "run", 's', 0 }, { "seq", 'i', 0 }, LAST };
FIELDS(prepare) = {
	{ "run", 's', 0 },
	{ "class", 's', 0 },
	{ "mpi", 's', 0 },
	{ "head", 's', 0 },
	{ "deadline_ms", 'i', 0 },
	{ "program", 's', 1 }, /* that command.run may start here */
	{ "idle", 's', 1 },    /* "scheduler": Slurm says that the node is
	                          idle; "assumed": campaign.idle says so */
	{ "jobs", 'b', 1 },    /* give the node up when a job starts there */
	LAST
};
FIELDS(launch) = {
	{ "run", 's', 0 },
	{ "mpi", 's', 0 },
	{ "launcher", 's', 0 },
	{ "nodes", 'a', 0 }, /* [{node, addr}], the head first */
	{ "ranks_per_node", 'i', 0 },
	{ "campaign", 's', 0 }, /* INI text, defaults filled in */
	{ "deadline_ms", 'i', 0 },
	{ "net", 's', 1 }, /* interfaces for ranks, the same on all nodes, commas
	                        between */
	LAST
};
FIELDS(start) = {
	{ "run", 's', 0 },
	{ "mpi", 's', 0 },
	{ "rank", 'i', 0 },     /* the first of this node */
	{ "ranks", 'i', 0 },    /* on this node, and on every other one */
	{ "size", 'i', 0 },     /* ranks in all */
	{ "campaign", 's', 0 }, /* INI text */
	{ "net", 's', 1 },      /* of this node, for the ranks: interfaces,
	                           commas between */
	{ "networks", 'a', 1 }, /* that the run's nodes share, as texts */
	LAST
};
FIELDS(fence) = {
	{ "run", 's', 0 },
	{ "id", 'i', 0 },   /* of a run, from 1 */
	{ "part", 'i', 0 }, /* of parts, from 0 */
	{ "parts", 'i', 0 }, /* 0, of a node: it has the parts of all nodes */
	{ "data", 's', 0 }, /* packed.h; of a node, or of all nodes */
	LAST
};
FIELDS(modex) = {
	{ "run", 's', 0 },
	{ "rank", 'i', 0 },
	{ "data", 's', 1 }, /* packed.h; absent: it is asked for */
	LAST
};
FIELDS(end) = {
	{ "run", 's', 0 },
	{ "grace_ms", 'i', 0 }, /* between SIGTERM and SIGKILL */
	{ "text", 's', 0 },
	LAST
};
FIELDS(sample) = { { "run", 's', 0 }, { "border", 'i', 0 }, LAST };
FIELDS(standing) = {
	{ "verdict", 's', 0 },  /* names_verdicts */
	{ "text", 's', 0 },
	{ "fresh_ms", 'i', 0 }, /* validity of the verdict */
	LAST
};
FIELDS(mesh) = {
	{ "on", 'b', 0 },          /* false: stop, and nothing else is read */
	{ "epoch", 'i', 1 },
	{ "seed", 'i', 1 },
	{ "addr", 's', 1 },        /* own address, to bind to */
	{ "port", 'i', 1 },        /* where others ask this node */
	{ "key", 's', 1 },         /* hex: tokens for this node are made of it */
	{ "round_ms", 'i', 1 },
	{ "timeout_ms", 'i', 1 },
	{ "burst", 'i', 1 },
	{ "rate", 'n', 1 },        /* datagrams a second, at most */
	{ "target_rate", 'n', 1 }, /* for one target */
	{ "targets", 'a', 1 },     /* [{node class addr port token bytes}]; bytes
	                              of large datagrams, absent: none */
	LAST
};
FIELDS(heartbeat) = {
	{ "at_unix_ns", 'i', 0 },
	{ "load", 'n', 1 },        /* 1-minute load average */
	{ "host", 'o', 1 },        /* {cpu steal wait_s throttled hot net_bps net} */
	{ "links", 'o', 1 },       /* {span_s ports: [{port counters: {name:
	                              more}}]}, every few minutes */
	{ "nics", 'a', 1 },        /* with links: of the inventory, if changed */
	{ "settings", 'o', 1 },    /* with links: of the inventory, if changed */
	{ "spool_bytes", 'i', 1 },
	{ "busy", 's', 1 },        /* why not idle, where it is not */
	{ "alarm", 's', 1 },       /* a fault that an operator should fix: disk full */
	{ "in_band", 'a', 1 },     /* [{job uid rows: [{source op ranks nodes
	                              bytes calls seconds least_s}]}], sums so far of
	                              jobs that have news */
	{ "ras", 'a', 1 },         /* [{job uid addrs, error or version form comms
	                              launched errors list}]: communicators of
	                              jobs, as agents/sensor/ras_read.h */
	LAST
};
FIELDS(refuse) = { { "cause", 's', 0 }, { "text", 's', 0 }, LAST };

/* clang-format on */

const struct wire_message wire_messages[WIRE_TYPE_MAX] = {
	[WIRE_HELLO] = { "hello", WIRE_AGENT, hello,
	    "first message of a session" },
	[WIRE_RECORDS] = { "records", WIRE_AGENT, records,
	    "numbered records, kept in the spool until acknowledged" },
	[WIRE_PROGRESS] = { "progress", WIRE_AGENT, progress,
	    "an unnumbered line, shown and not stored" },
	[WIRE_PREPARED] = { "prepared", WIRE_AGENT, prepared,
	    "the node is idle and able, or why not; in a run: a job has "
	    "started" },
	[WIRE_LAUNCHED] = { "launched", WIRE_AGENT, launched,
	    "the launcher or the ranks run, or why not" },
	[WIRE_EXITED] = { "exited", WIRE_AGENT, exited,
	    "the launcher ended, or all ranks here" },
	[WIRE_RANK_LOST] = { "rank-lost", WIRE_AGENT, rank_lost,
	    "a rank disconnected without bye, or is stuck" },
	[WIRE_COUNTERS] = { "counters", WIRE_AGENT, counters,
	    "network counters at a phase border" },
	[WIRE_SPOOL_LOST] = { "spool-lost", WIRE_AGENT, spool_lost,
	    "records dropped because the spool was full" },
	[WIRE_MESH_READY] = { "mesh-ready", WIRE_AGENT, mesh_ready,
	    "the node answers mesh probes, or why not" },
	[WIRE_MESH_REPORT] = { "mesh-report", WIRE_AGENT, mesh_report,
	    "results of the mesh's last epoch" },
	[WIRE_ENROLL] = { "enroll", WIRE_AGENT, enroll,
	    "request for a certificate, by a token or in a session" },
	[WIRE_WELCOME] = { "welcome", WIRE_COLLECTOR, welcome,
	    "the session is accepted; records already committed" },
	[WIRE_ACK] = { "ack", WIRE_COLLECTOR, ack,
	    "records up to seq are committed" },
	[WIRE_PREPARE] = { "prepare", WIRE_COLLECTOR, prepare,
	    "reserve this node for a run" },
	[WIRE_LAUNCH] = { "launch", WIRE_COLLECTOR, launch,
	    "start the launcher here" },
	[WIRE_START] = { "start", WIRE_COLLECTOR, start,
	    "start these ranks here" },
	[WIRE_END] = { "end", WIRE_COLLECTOR, end,
	    "end everything of a run here and forget it" },
	[WIRE_SAMPLE] = { "sample", WIRE_COLLECTOR, sample,
	    "read the counters now" },
	[WIRE_STANDING] = { "standing", WIRE_COLLECTOR, standing,
	    "the verdict on the node, for its own health checks" },
	[WIRE_MESH] = { "mesh", WIRE_COLLECTOR, mesh,
	    "the mesh's next epoch: keys, pace and targets" },
	[WIRE_CERTIFICATE] = { "certificate", WIRE_COLLECTOR, certificate,
	    "the answer to enroll" },
	[WIRE_TRUST] = { "trust", WIRE_COLLECTOR, trust,
	    "if the inventory has certificates: whether they are renewed, and "
	    "the revocation list" },
	[WIRE_FENCE] = { "fence", WIRE_BOTH, fence,
	    "data of a node's ranks for all others; of all nodes" },
	[WIRE_MODEX] = { "modex", WIRE_BOTH, modex,
	    "data of one rank: requested, or delivered" },
	[WIRE_HEARTBEAT] = { "heartbeat", WIRE_BOTH, heartbeat, "alive" },
	[WIRE_REFUSE] = { "refuse", WIRE_BOTH, refuse, "why a session ends" },
};

static int
wire_kind_matches(char kind, const json_t *v)
{
	switch (kind) {
	case 's':
		return json_is_string(v);
	case 'i':
		return json_is_integer(v);
	case 'n':
		return json_is_number(v);
	case 'b':
		return json_is_boolean(v);
	case 'o':
		return json_is_object(v);
	case 'a':
		return json_is_array(v);
	default:
		return 0;
	}
}

static const struct wire_field *
wire_field_find(const struct wire_message *m, const char *name)
{
	for (const struct wire_field *f = m->fields; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

/* Everything but type against the row: 0 or -EPROTO. What we say ourselves has
 * no other fields; what others say loses them. */
static int
wire_fields_check(const struct wire_message *m, json_t *msg, int ours,
    struct err *err)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(msg, next, key, v)
	{
		const struct wire_field *f = wire_field_find(m, key);

		if (strcmp(key, "type") == 0)
			continue;
		if (f == NULL && !ours)
			json_object_del(msg, key);
		else if (f == NULL || !wire_kind_matches(f->kind, v))
			return err_set(err, -EPROTO, "%s.%.64s %s", m->name,
			    key,
			    f == NULL ? "is unknown" : "has the wrong type");
	}
	for (const struct wire_field *f = m->fields; f->name != NULL; f++) {
		if (f->optional || json_object_get(msg, f->name) != NULL)
			continue;
		return err_set(err, -EPROTO, "%s.%s is missing", m->name,
		    f->name);
	}
	return 0;
}

/* The type of a message from that kind of peer, or -EPROTO. */
static int
wire_type_of(const json_t *msg, enum wire_from from, struct err *err)
{
	const char *name = json_string_value(json_object_get(msg, "type"));

	if (name == NULL)
		return err_set(err, -EPROTO, "missing message type");
	for (int t = 0; t < WIRE_TYPE_MAX; t++) {
		const struct wire_message *m = &wire_messages[t];

		if (strcmp(m->name, name) != 0)
			continue;
		if (from == WIRE_BOTH || m->from == WIRE_BOTH ||
		    m->from == from)
			return t;
		return err_set(err, -EPROTO, "this peer may not send %s", name);
	}
	return err_set(err, -EPROTO, "unknown message type %.32s", name);
}

int
wire_parse(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct err *err)
{
	return wire_parse_lines(body, len_bytes, from, ret, NULL, err);
}

int
wire_parse_lines(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct strict_lines *lines, struct err *err)
{
	json_t *msg;
	int type;

	if (strict_object_lines(body, len_bytes, DEPTH_MAX, &msg, lines, err) <
	    0)
		return -EPROTO;
	type = wire_type_of(msg, from, err);
	if (type >= 0 &&
	    wire_fields_check(&wire_messages[type], msg, 0, err) < 0)
		type = -EPROTO;
	if ((type == WIRE_RECORDS || type == WIRE_PROGRESS) &&
	    len_bytes > LINES_BYTES_MAX)
		type = err_set(err, -EPROTO, "%s longer than %d bytes",
		    wire_messages[type].name, LINES_BYTES_MAX);
	if (type < 0)
		json_decref(msg);
	else
		*ret = msg; /* handed over */
	return type;
}

long
wire_build(enum wire_type type, json_t *msg, char **ret_frame)
{
	const struct wire_message *m = &wire_messages[type];
	char *frame, few[SHORT_BYTES];
	long len = -EINVAL;
	struct err err;

	if (!json_is_object(msg) ||
	    json_object_set_new(msg, "type", json_string(m->name)) < 0 ||
	    wire_fields_check(m, msg, 1, &err) < 0)
		goto out;
	len = (long)json_dumpb(msg, few, sizeof(few), JSON_COMPACT);
	if (len == 0 || len > FRAME_BODY_MAX) {
		len = len == 0 ? -EINVAL : -EMSGSIZE;
		goto out;
	}
	frame = xcalloc(1, FRAME_HEAD_BYTES + (size_t)len);
	frame_head_put((uint8_t *)frame, (uint32_t)len);
	if ((size_t)len <= sizeof(few))
		memcpy(frame + FRAME_HEAD_BYTES, few, (size_t)len);
	else
		json_dumpb(msg, frame + FRAME_HEAD_BYTES, (size_t)len,
		    JSON_COMPACT);
	len += FRAME_HEAD_BYTES;
	*ret_frame = frame; /* handed over */
out:
	json_decref(msg);
	return len;
}

struct wire_frame *
wire_frame_new(enum wire_type type, json_t *msg)
{
	struct wire_frame *f;
	char *bytes;
	long len = wire_build(type, msg, &bytes);

	if (len < 0)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->refs = 1;
	f->len_bytes = (size_t)len;
	f->bytes = bytes;
	return f;
}

void
wire_frame_unref(struct wire_frame *f)
{
	if (f == NULL || --f->refs > 0)
		return;
	free(f->bytes);
	free(f);
}

long
wire_build_lines(enum wire_type type, const char *run,
    const struct strbuf *lines, char **ret_frame)
{
	const char *tail = type == WIRE_RECORDS ? "]}" : "}";
	struct strbuf all = { 0 };
	size_t body_bytes;

	assert(type == WIRE_RECORDS || type == WIRE_PROGRESS);
	assert(record_run_check(run) == 0);
	strbuf_addf(&all,
	    "%*s{\"type\":\"%s\",\"run\":\"%s\",\"%s\":", FRAME_HEAD_BYTES, "",
	    wire_messages[type].name, run,
	    type == WIRE_RECORDS ? "records" : "record");
	if (type == WIRE_RECORDS)
		strbuf_add(&all, "[", 1);
	strbuf_add(&all, lines->text, lines->len_bytes);
	strbuf_add(&all, tail, strlen(tail));
	body_bytes = all.len_bytes - FRAME_HEAD_BYTES;
	if (body_bytes > LINES_BYTES_MAX) {
		strbuf_clear(&all);
		return -EMSGSIZE;
	}
	frame_head_put((uint8_t *)all.text, (uint32_t)body_bytes);
	*ret_frame = all.text; /* handed over */
	return (long)all.len_bytes;
}
