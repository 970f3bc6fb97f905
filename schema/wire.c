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

/* One field per line, with its sentence for coalmine-wire(7). */
/* clang-format off */

/* Fields by message. Arrays and objects are checked further by who reads
 * them. */
#define FIELDS(name) static const struct wire_field name[]
#define LAST         { NULL, 0, 0, NULL }
#define RUN          { "run", 's', 0, "id of the run" }

FIELDS(hello) = {
	{ "version", 'i', 0,
	    "newest version of the protocol that the agent supports" },
	{ "version_min", 'i', 1,
	    "oldest version that the agent supports; absent: the newest only" },
	{ "node", 's', 0,
	    "name of the node, the common name of its certificate" },
	{ "boot", 's', 0, "random name of this process of the agent" },
	{ "software", 's', 0, "version of the agent" },
	{ "inventory", 'o', 0,
	    "hardware and software of the node, as in coalmine-output(7), "
	    "GET nodes" },
	{ "runs", 'a', 0, "ids of runs that are active on the node" },
	{ "spool", 'a', 0,
	    "for each run with stored records: run, and seq of its last "
	    "record" },
	{ "term", 'i', 1, "highest term of a welcome so far" },
	LAST
};
FIELDS(records) = {
	RUN,
	{ "records", 'a', 0,
	    "records as in coalmine-output(7), seq ascending" },
	LAST
};
FIELDS(progress) = {
	RUN,
	{ "record", 'o', 0, "a record of kind progress" },
	LAST
};
FIELDS(prepared) = {
	RUN,
	{ "ok", 'b', 0, "whether the node can take part" },
	{ "cause", 's', 1, "if not: a cause of coalmine-output(7)" },
	{ "text", 's', 1, "if not: the reason" },
	LAST
};
FIELDS(launched) = {
	RUN,
	{ "ok", 'b', 0, "whether the processes of the run were started" },
	{ "pid", 'i', 1, "process id of the launcher" },
	{ "begun", 'b', 1,
	    "true: the job of the launcher has its nodes, so their agents "
	    "can start the ranks" },
	{ "text", 's', 1, "the reason, if the processes were not started" },
	LAST
};
FIELDS(exited) = {
	RUN,
	{ "id", 'i', 0, "0: the launcher; 1: the ranks of the node" },
	{ "status", 'i', 0,
	    "exit code, or 128 plus the signal, of the first process that "
	    "failed" },
	{ "stderr", 's', 0,
	    "the end of the standard error of this process" },
	LAST
};
FIELDS(rank_lost) = {
	RUN,
	{ "rank", 'i', 0, "number of the rank" },
	{ "pid", 'i', 0, "process id of the rank" },
	{ "exited", 'b', 1, "whether the process has ended" },
	{ "status", 'i', 1,
	    "of a rank that the agent started: exit code, or 128 plus the "
	    "signal" },
	{ "stderr", 's', 1, "the end of the standard error of the rank" },
	{ "abort", 's', 1, "the reason given to MPI_Abort" },
	{ "stuck", 'o', 1,
	    "of a rank that is alive and waits for another one: rank, node, "
	    "what (the test, or plan), waited_s, at (number of the exchange)" },
	LAST
};
FIELDS(counters) = {
	RUN,
	{ "border", 'i', 0, "number of the phase border, as in sample" },
	{ "at_unix_ns", 'i', 0, "time of the reading" },
	{ "nics", 'a', 0,
	    "for each network device: nic (its name) and counters (an "
	    "object of numbers)" },
	{ "unanswered", 'a', 1,
	    "in the answer to a sample with connects: TCP connections of "
	    "ranks that wait for their first answer, each with addr and port" },
	{ "listening", 'a', 1,
	    "in the answer to a sample with connects: TCP ports on which "
	    "ranks accept connections, each with addr (0.0.0.0 or ::: every "
	    "address) and port" },
	{ "refused", 'a', 1,
	    "after a sample with try: addresses that refused a connection, "
	    "each with addr and port" },
	LAST
};
FIELDS(spool_lost) = {
	RUN,
	{ "records", 'i', 0, "number of dropped records" },
	{ "bytes", 'i', 0, "size of the dropped records" },
	LAST
};
FIELDS(mesh_ready) = {
	{ "ok", 'b', 0, "whether the node answers echo requests" },
	{ "text", 's', 1, "the reason, if not" },
	LAST
};
FIELDS(mesh_report) = {
	{ "epoch", 'i', 0, "number of the epoch" },
	{ "span_ms", 'i', 0, "how long the epoch lasted on this node" },
	{ "classes", 'a', 0,
	    "for targets on the same leaf and on other leaves: class, "
	    "numbers of datagrams (answered, lost, unknown, unsent), and "
	    "statistics of round trips in seconds (n, mean, min, p50, p90, "
	    "p99, p999, max, hist)" },
	{ "targets", 'a', 0,
	    "for each target: node, class, answered, lost, unknown, p50 "
	    "and, if large datagrams were sent, large (bytes, answered, "
	    "lost, unsent)" },
	{ "host", 'o', 0,
	    "delays and counts of this node: turn and wait (quantiles), "
	    "echoes, refused, limited, unsent, drops, stretch" },
	LAST
};
FIELDS(enroll) = {
	{ "node", 's', 0, "name of the node" },
	{ "request", 's', 0,
	    "certificate request (PKCS#10, PEM) for this name only" },
	{ "token", 's', 1, "a token; absent in a session" },
	{ "munge", 's', 1,
	    "or a credential with the text coalmine-agent1 NODE KEY "
	    "AUTHORITY" },
	LAST
};
FIELDS(certificate) = {
	{ "cert", 's', 1,
	    "the certificate (PEM), followed by the certificates of its "
	    "authorities except the root" },
	{ "text", 's', 1, "why the request was rejected" },
	{ "munge", 's', 1,
	    "reply to a credential: a credential with the text coalmine- "
	    "collector1 NODE KEY AUTHORITY" },
	LAST
};
FIELDS(trust) = {
	{ "renew", 'b', 0,
	    "whether the collector renews certificates in a session" },
	{ "crl", 's', 1, "lists of revoked certificates (PEM)" },
	LAST
};
FIELDS(welcome) = {
	{ "version", 'i', 1, "version of this session, if hello had several" },
	{ "heartbeat_ms", 'i', 0, "interval of heartbeats" },
	{ "silence_ms", 'i', 0, "timeout without a message" },
	{ "links_ms", 'i', 1,
	    "interval of links in heartbeats, if the inventory has links" },
	{ "acks", 'a', 0,
	    "for each run in spool of hello: run, and seq of its last "
	    "committed record" },
	{ "keep", 'a', 0, "ids of the runs in hello that continue" },
	{ "term", 'i', 1,
	    "term of the active collector, which each failover increments; "
	    "absent: 1" },
	LAST
};
FIELDS(ack) = {
	RUN,
	{ "seq", 'i', 0, "number of the last committed record" },
	LAST
};
FIELDS(prepare) = {
	RUN,
	{ "class", 's', 0, "background or exclusive" },
	{ "mpi", 's', 0, "name of the MPI" },
	{ "head", 's', 0,
	    "first node of the run, whose agent sends the records" },
	{ "deadline_ms", 'i', 0, "maximum duration of the run" },
	{ "program", 's', 1,
	    "program of command.run, which the node must permit" },
	{ "idle", 's', 1,
	    "why the node counts as idle without a check: scheduler (Slurm "
	    "reports it) or assumed (campaign.idle)" },
	{ "jobs", 'b', 1,
	    "true: end the run on this node when a job starts there" },
	LAST
};
FIELDS(launch) = {
	RUN,
	{ "mpi", 's', 0, "name of the MPI" },
	{ "launcher", 's', 0, "slurm or command" },
	{ "nodes", 'a', 0, "node and addr of each node, the head first" },
	{ "ranks_per_node", 'i', 0, "number of ranks on each node" },
	{ "campaign", 's', 0, "text of the campaign file with all defaults" },
	{ "deadline_ms", 'i', 0, "maximum duration of the run" },
	{ "net", 's', 1,
	    "network interfaces for ranks, the same on all nodes, separated "
	    "by commas" },
	LAST
};
FIELDS(start) = {
	RUN,
	{ "mpi", 's', 0, "name of the MPI" },
	{ "rank", 'i', 0, "number of the first rank on this node" },
	{ "ranks", 'i', 0, "number of ranks on each node" },
	{ "size", 'i', 0, "number of all ranks" },
	{ "campaign", 's', 0, "text of the campaign file" },
	{ "net", 's', 1,
	    "network interfaces of this node for ranks, separated by commas" },
	{ "networks", 'a', 1, "networks that all nodes of the run share" },
	LAST
};
FIELDS(fence) = {
	RUN,
	{ "id", 'i', 0, "number of the fence in the run, from 1" },
	{ "part", 'i', 0, "number of this part of the data, from 0" },
	{ "parts", 'i', 0,
	    "number of parts; 0, from a node: it has received the parts of "
	    "all nodes" },
	{ "data", 's', 0, "the data, compressed by zstd, in base64" },
	LAST
};
FIELDS(modex) = {
	RUN,
	{ "rank", 'i', 0, "number of the rank" },
	{ "data", 's', 1,
	    "data of the rank, compressed by zstd, in base64; absent: a "
	    "request for it" },
	LAST
};
FIELDS(end) = {
	RUN,
	{ "grace_ms", 'i', 0, "time between SIGTERM and SIGKILL" },
	{ "text", 's', 0, "the reason" },
	LAST
};
FIELDS(sample) = {
	RUN,
	{ "border", 'i', 0, "number of the phase border; -1 with connects" },
	{ "connects", 'b', 1,
	    "true: connections without an answer and listening ports are "
	    "reported, and no counters" },
	{ "try", 'a', 1,
	    "addresses to connect to, each with addr and port; only those "
	    "that refuse the connection are reported" },
	LAST
};
FIELDS(standing) = {
	{ "verdict", 's', 0, "ok, warn, bad or unknown" },
	{ "text", 's', 0, "the evidence" },
	{ "fresh_ms", 'i', 0, "time for which the verdict is valid" },
	LAST
};
FIELDS(mesh) = {
	{ "on", 'b', 0, "false: stop; the other fields are then ignored" },
	{ "epoch", 'i', 1, "number of the epoch" },
	{ "seed", 'i', 1, "random seed of the order of targets" },
	{ "addr", 's', 1, "address of this node to bind to" },
	{ "port", 'i', 1, "UDP port on which this node answers" },
	{ "key", 's', 1,
	    "key in hexadecimal digits, from which tokens for this node are "
	    "made" },
	{ "round_ms", 'i', 1, "interval of bursts to one target" },
	{ "timeout_ms", 'i', 1, "time after which an echo is lost" },
	{ "burst", 'i', 1, "datagrams in a burst" },
	{ "rate", 'n', 1,
	    "maximum datagrams a second to all targets together" },
	{ "target_rate", 'n', 1, "maximum datagrams a second to one target" },
	{ "targets", 'a', 1,
	    "for each target: node, class, addr, port, token, and bytes, "
	    "the size of large datagrams; absent: none" },
	LAST
};
FIELDS(heartbeat) = {
	{ "at_unix_ns", 'i', 0, "time of the sender" },
	{ "load", 'n', 1, "1-minute load average" },
	{ "host", 'o', 1,
	    "signs of contention: cpu, steal, wait_s, throttled, hot; "
	    "traffic of the network devices: net_bps, net" },
	{ "links", 'o', 1,
	    "every few minutes, error counters since the last links: "
	    "span_s, and ports (port, counters by name)" },
	{ "nics", 'a', 1, "with links: nics of the inventory, if changed" },
	{ "settings", 'o', 1,
	    "with links: settings of the inventory, if changed" },
	{ "spool_bytes", 'i', 1, "bytes in the spool" },
	{ "busy", 's', 1, "why the node is not idle; absent: it is idle" },
	{ "alarm", 's', 1,
	    "a fault that an operator should fix, for example a full disk" },
	{ "in_band", 'a', 1,
	    "for jobs with new measurements of their own calls: job, uid, "
	    "and rows (source, op, ranks, nodes, bytes, calls, seconds, "
	    "least_s), sums since the start" },
	{ "ras", 'a', 1,
	    "state of NCCL jobs by their RAS port: job, uid, addrs, and "
	    "error or version, form, comms, launched, errors, list" },
	LAST
};
FIELDS(refuse) = {
	{ "cause", 's', 0, "the cause as a word" },
	{ "text", 's', 0, "the cause as a sentence" },
	LAST
};

/* clang-format on */

const struct wire_message wire_messages[WIRE_TYPE_MAX] = {
	[WIRE_HELLO] = { "hello", WIRE_AGENT, hello,
	    "first message of a session: the agent, its node and its runs" },
	[WIRE_RECORDS] = { "records", WIRE_AGENT, records,
	    "results of a run, kept in the spool of the agent until ack" },
	[WIRE_PROGRESS] = { "progress", WIRE_AGENT, progress,
	    "how far a run is; shown, not stored" },
	[WIRE_PREPARED] = { "prepared", WIRE_AGENT, prepared,
	    "reply to prepare: the node can take part, or why not; later: a "
	    "job has started on the node" },
	[WIRE_LAUNCHED] = { "launched", WIRE_AGENT, launched,
	    "reply to launch or start: the processes run, or why not" },
	[WIRE_EXITED] = { "exited", WIRE_AGENT, exited,
	    "the launcher has ended, or all ranks of this node" },
	[WIRE_RANK_LOST] = { "rank-lost", WIRE_AGENT, rank_lost,
	    "a rank has ended before its last result, or waits for another "
	    "rank without progress" },
	[WIRE_COUNTERS] = { "counters", WIRE_AGENT, counters,
	    "reply to sample: counters of network devices between two phases" },
	[WIRE_SPOOL_LOST] = { "spool-lost", WIRE_AGENT, spool_lost,
	    "records that the agent dropped because its spool was full" },
	[WIRE_MESH_READY] = { "mesh-ready", WIRE_AGENT, mesh_ready,
	    "reply to mesh: the node answers echo requests, or why not" },
	[WIRE_MESH_REPORT] = { "mesh-report", WIRE_AGENT, mesh_report,
	    "echoes of this node in the epoch that has ended" },
	[WIRE_ENROLL] = { "enroll", WIRE_AGENT, enroll,
	    "request for a certificate, by a token or munge, or in a session" },
	[WIRE_WELCOME] = { "welcome", WIRE_COLLECTOR, welcome,
	    "reply to hello: the session is accepted" },
	[WIRE_ACK] = { "ack", WIRE_COLLECTOR, ack,
	    "records of a run up to seq are committed; the agent deletes "
	    "them" },
	[WIRE_PREPARE] = { "prepare", WIRE_COLLECTOR, prepare,
	    "reserve this node for a run, if it is idle and able" },
	[WIRE_LAUNCH] = { "launch", WIRE_COLLECTOR, launch,
	    "to the head, the first node of a run: start the launcher" },
	[WIRE_START] = { "start", WIRE_COLLECTOR, start,
	    "start the ranks of this node" },
	[WIRE_END] = { "end", WIRE_COLLECTOR, end,
	    "end all processes of a run on this node, and forget the run" },
	[WIRE_SAMPLE] = { "sample", WIRE_COLLECTOR, sample,
	    "read the counters of the network devices now" },
	[WIRE_STANDING] = { "standing", WIRE_COLLECTOR, standing,
	    "the verdict on the node, for its own health checks" },
	[WIRE_MESH] = { "mesh", WIRE_COLLECTOR, mesh,
	    "next epoch of the mesh: key, rates and targets of this node" },
	[WIRE_CERTIFICATE] = { "certificate", WIRE_COLLECTOR, certificate,
	    "reply to enroll" },
	[WIRE_TRUST] = { "trust", WIRE_COLLECTOR, trust,
	    "renewal and revocation of certificates; sent if the inventory has "
	    "certificates" },
	[WIRE_FENCE] = { "fence", WIRE_BOTH, fence,
	    "data that the ranks of a node publish for all ranks; from the "
	    "collector: the data of all nodes" },
	[WIRE_MODEX] = { "modex", WIRE_BOTH, modex,
	    "data of one rank: a request, or the reply" },
	[WIRE_HEARTBEAT] = { "heartbeat", WIRE_BOTH, heartbeat,
	    "the sender is alive; from an agent: state of its node" },
	[WIRE_REFUSE] = { "refuse", WIRE_BOTH, refuse,
	    "last message of a session: why it ends" },
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
