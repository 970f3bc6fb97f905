/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the messages between agent and collector.
 *
 * A message is one JSON object in one frame (common/frame.h) over mutual TLS.
 * Its "type" selects a row of wire_messages, which lists all fields that a sent
 * message may have. A received message that violates its row ends the session.
 * Fields that the row does not know are dropped: a newer peer may send more.
 * Which changes need a new version: coalmine-wire(7).
 */
#ifndef SCHEMA_WIRE_H
#define SCHEMA_WIRE_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"
#include "common/str.h"

/* Spoken are these and all between; hello has the agent's. */
#define WIRE_VERSION     1
#define WIRE_VERSION_MIN 1
/* Maximum size of a hello. An inventory of 8 NICs and 8 GPUs is under 8 KiB. */
#define WIRE_HELLO_BYTES_MAX (128 * 1024)
/* Maximum size of an enroll and its answer, and of the lists of a trust: 7000
 * certificates. */
#define WIRE_ENROLL_BYTES_MAX (16 * 1024)
#define WIRE_CRL_BYTES_MAX    (512 * 1024)

/* Jobs of a batch system are named by this prefix and the run. The agent
 * creates them; the collector queries them and cancels leftovers. */
#define WIRE_JOB_PREFIX "coalmine-"

enum wire_from { WIRE_AGENT, WIRE_COLLECTOR, WIRE_BOTH };

enum wire_type {
	/* agent to collector */
	WIRE_HELLO,       /* first message of a session */
	WIRE_RECORDS,     /* spooled record lines of one run */
	WIRE_PROGRESS,    /* an unnumbered line of a run: shown, not stored */
	WIRE_PREPARED,    /* answer to prepare; later: a job has started */
	WIRE_LAUNCHED,    /* answer to launch and start: they run, or why not */
	WIRE_EXITED,      /* a launcher ended, or all ranks of the node */
	WIRE_RANK_LOST,   /* a rank's connection ended without bye */
	WIRE_COUNTERS,    /* answer to sample */
	WIRE_SPOOL_LOST,  /* data that had to be dropped */
	WIRE_MESH_READY,  /* answer to mesh: it answers echoes, or why not */
	WIRE_MESH_REPORT, /* results of the mesh's last epoch */
	WIRE_ENROLL,      /* a certificate is asked for */
	/* collector to agent */
	WIRE_WELCOME,     /* answer to hello */
	WIRE_ACK,         /* records up to seq are committed */
	WIRE_PREPARE,     /* is this node idle, can it run this? */
	WIRE_LAUNCH,      /* to the head: start the launcher */
	WIRE_START,       /* start these ranks of a run */
	WIRE_END,         /* end everything of a run, and forget it */
	WIRE_SAMPLE,      /* read the counters now */
	WIRE_STANDING,    /* the collector's verdict on the node */
	WIRE_MESH,        /* the mesh's next epoch: keys, pace, targets */
	WIRE_CERTIFICATE, /* answer to enroll */
	WIRE_TRUST,       /* renewal, and lists of revoked certificates */
	/* both */
	WIRE_FENCE, /* what ranks give to all others; the union of all nodes */
	WIRE_MODEX, /* data of one rank: request and answer */
	WIRE_HEARTBEAT,
	WIRE_REFUSE, /* last message of a session: why it ends */
	WIRE_TYPE_MAX
};

struct wire_field {
	const char *name;
	char kind; /* 's' string, 'i' integer, 'n' number, 'b' boolean,
		      'o' object, 'a' array */
	int optional;
};

struct wire_message {
	const char *name; /* "mesh-ready" */
	enum wire_from from;
	const struct wire_field *fields; /* ends with a NULL name */
	const char *text;
};

extern const struct wire_message wire_messages[WIRE_TYPE_MAX];

/* Parse one frame's body from a peer of that kind: the type, or -EPROTO with
 * the reason in why. Depth and duplicate keys are limited. The caller
 * decrefs *ret. */
int wire_parse(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct err *err);
/* The same, and of a WIRE_RECORDS its lines, in the order of "records": see
 * strict_object_lines. */
struct strict_lines;
int wire_parse_lines(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct strict_lines *lines, struct err *err);
/* Frame a message that this program built (takes msg): return the length of a
 * malloc'd head and body in *ret_frame. -EINVAL: msg is NULL or violates its
 * row, for example by invalid UTF-8; -EMSGSIZE: the frame would be too long.
 * Messages quote external texts, so neither is an assert. */
long wire_build(enum wire_type type, json_t *msg, char **ret_frame);
/* The same for WIRE_RECORDS and WIRE_PROGRESS of lines that record_parse has
 * taken: they travel as they are, several of them with commas between. */
long wire_build_lines(enum wire_type type, const char *run,
    const struct strbuf *lines, char **ret_frame);

/* A frame for many peers: what waits to be sent to them refers to it. */
struct wire_frame {
	size_t refs, len_bytes;
	char *bytes;
};

/* Frame a message (takes msg), with one reference; NULL where wire_build
 * fails. */
struct wire_frame *wire_frame_new(enum wire_type type, json_t *msg);
/* Drop a reference; the last one frees. NULL is allowed. */
void wire_frame_unref(struct wire_frame *f);

#endif
