/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the messages between agent and collector.
 *
 * A message is one JSON object in one frame (common/frame.h) over mutual TLS.
 * Its member "type" selects a row of wire_messages, which lists all fields that
 * a sent message can have. A received message that violates its row ends the
 * session. Fields that the row does not list are dropped, because a newer peer
 * may send more. coalmine-wire(7) explains which changes need a new version.
 */
#ifndef SCHEMA_WIRE_H
#define SCHEMA_WIRE_H

#include <jansson.h>
#include <stddef.h>

#include "common/err.h"
#include "common/str.h"

/* The newest and the oldest version of the protocol that this program supports.
 * The agent sends both in hello, and the collector chooses. */
#define WIRE_VERSION     1
#define WIRE_VERSION_MIN 1
/* Maximum bytes of a hello. An inventory of 8 NICs and 8 GPUs has less than 8
 * KiB. */
#define WIRE_HELLO_BYTES_MAX (128 * 1024)
/* Maximum bytes of an enroll and of its answer. */
#define WIRE_ENROLL_BYTES_MAX (16 * 1024)
/* Maximum bytes of the revocation lists in a trust: 7000 certificates. */
#define WIRE_CRL_BYTES_MAX (512 * 1024)

/* The name of a job in the batch system: this prefix and the run's id. The
 * agent submits these jobs; the collector queries them and cancels
 * leftovers. */
#define WIRE_JOB_PREFIX "coalmine-"

/* The program that sends a message. */
enum wire_from { WIRE_AGENT, WIRE_COLLECTOR, WIRE_BOTH };

/* The types of messages. The comments state the purpose of each. */
enum wire_type {
	/* agent to collector */
	WIRE_HELLO,     /* first message of a session */
	WIRE_RECORDS,   /* spooled record lines of one run */
	WIRE_PROGRESS,  /* an unnumbered record of a run: shown, not stored */
	WIRE_PREPARED,  /* answer to prepare; later: a job started there */
	WIRE_LAUNCHED,  /* answer to launch and start: running, or the reason */
	WIRE_EXITED,    /* the launcher or all ranks of the node ended */
	WIRE_RANK_LOST, /* a rank's connection ended without bye */
	WIRE_COUNTERS,  /* answer to sample */
	WIRE_SPOOL_LOST,  /* data that had to be dropped */
	WIRE_MESH_READY,  /* it answers echo requests, or why not */
	WIRE_MESH_REPORT, /* results of the mesh's last epoch */
	WIRE_ENROLL,      /* requests a certificate */
	/* collector to agent */
	WIRE_WELCOME,     /* answer to hello */
	WIRE_ACK,         /* records up to seq are committed */
	WIRE_PREPARE,     /* is this node idle, and can it run this campaign? */
	WIRE_LAUNCH,      /* to the head, the first node: start the launcher */
	WIRE_START,       /* start these ranks of a run */
	WIRE_END,         /* end all processes of a run, and forget the run */
	WIRE_SAMPLE,      /* read the network counters now */
	WIRE_STANDING,    /* the collector's verdict on the node */
	WIRE_MESH,        /* the mesh's next epoch: keys, rates, targets */
	WIRE_CERTIFICATE, /* answer to enroll */
	WIRE_TRUST,       /* renewal, and lists of revoked certificates */
	/* both */
	WIRE_FENCE, /* a node's data for all ranks; answer: of all nodes */
	WIRE_MODEX, /* data of one rank: request and answer */
	WIRE_HEARTBEAT,
	WIRE_REFUSE, /* last message of a session: why it ends */
	WIRE_TYPE_MAX
};

/* A field of a message. */
struct wire_field {
	const char *name;
	char kind;        /* 's' string, 'i' integer, 'n' number, 'b' boolean,
			     'o' object, 'a' array */
	int optional;     /* 1: the field may be missing */
	const char *text; /* its meaning, for the manual page */
};

/* A type of messages. */
struct wire_message {
	const char *name; /* "mesh-ready" */
	enum wire_from from;
	const struct wire_field *fields; /* ends with a NULL name */
	const char *text;                /* a sentence for the manual page */
};

extern const struct wire_message wire_messages[WIRE_TYPE_MAX];

/* Parse the body of one frame from a peer. from: the kind of the peer, which
 * limits the types. Return the type of the message and the object, which the
 * caller decrefs, or -EPROTO with the reason in err. Depth is limited, and
 * duplicate keys are rejected. */
int wire_parse(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct err *err);
/* Parse as wire_parse does, and also store the lines of a WIRE_RECORDS message,
 * in the order of its member "records" (see strict_object_lines). */
struct strict_lines;
int wire_parse_lines(const char *body, size_t len_bytes, enum wire_from from,
    json_t **ret, struct strict_lines *lines, struct err *err);
/* Build the frame of a message; takes the reference msg. Return the length in
 * bytes of the frame, head and body, and the frame in *ret_frame, which the
 * caller frees. Return -EINVAL if msg is NULL or violates its row, for example
 * by invalid UTF-8; -EMSGSIZE if the frame would be too long. These are errors
 * and not assertions, because messages quote texts from outside. */
long wire_build(enum wire_type type, json_t *msg, char **ret_frame);
/* Build a frame as wire_build does, for WIRE_RECORDS and WIRE_PROGRESS. lines:
 * the texts of records that record_parse has accepted, separated by commas;
 * they are sent unchanged. */
long wire_build_lines(enum wire_type type, const char *run,
    const struct strbuf *lines, char **ret_frame);

/* A frame that is sent to many peers. Each queue of unsent data that contains
 * it has a reference. */
struct wire_frame {
	size_t refs, len_bytes;
	char *bytes;
};

/* Build the frame of a message; takes the reference msg. Return it with one
 * reference, or NULL if wire_build fails. */
struct wire_frame *wire_frame_new(enum wire_type type, json_t *msg);
/* Drop a reference; the last one frees the frame. f can be NULL. */
void wire_frame_unref(struct wire_frame *f);

#endif
