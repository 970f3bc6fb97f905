/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmi.h - a PMI (process management interface) server for the ranks of one
 * node: MPICH, MVAPICH and Intel MPI.
 *
 * A rank of PMI-1 writes lines "cmd=put kvsname=K key=A value=B" and reads one
 * line for each. A rank of PMI-2 begins with such a line, and then writes
 * messages "    30cmd=kvs-put;key=A;value=B;", where the first six bytes are
 * the length of the rest. What ranks put is kept until the next fence of all
 * ranks of the run (the barrier of PMI-1), which makes it visible to all of
 * them. Attributes of a node, which only PMI-2 has, are visible on the node at
 * once. The functions are pure: the caller moves the bytes.
 */
#ifndef AGENTS_WIREUP_PMI_H
#define AGENTS_WIREUP_PMI_H

#include <stddef.h>

#include "common/str.h"

#define PMI_HEAD_BYTES 6
#define PMI_LINE_MAX   4096 /* a key, a value and the rest of the message */
#define PMI_TEXT_MAX   256

struct pmi;

/* Return the server for this node's part of a run, which the caller frees.
 * first: number of the first rank on this node; local: ranks on this node, and
 * on every other one; size: ranks of the run. */
struct pmi *pmi_new(int first, int local, int size);
void pmi_free(struct pmi *p); /* NULL is allowed */

/* The action that the caller has to take after a message. */
enum pmi_event {
	PMI_REPLY, /* send the reply, if there is one */
	PMI_JOIN,  /* the rank has begun to initialise */
	PMI_FENCE, /* all local ranks wait in a fence: see pmi_puts */
	/* The rank has put an attribute for which others may wait: call
	 * pmi_waited for the other ranks. */
	PMI_ATTR,
	PMI_ABORT, /* the rank ends the run; text is the reason */
	PMI_BAD    /* not a message of PMI, or one that is not supported */
};

/* Return the number of bytes that follow the head of a PMI-2 message; 0 for a
 * line of PMI-1; -1 for anything else. */
long pmi_length(const char head[PMI_HEAD_BYTES]);
/* Process a message of local rank i: a line without its newline, or head and
 * body of PMI-2. The reply is appended to reply. text is set for PMI_ABORT and
 * PMI_BAD. */
enum pmi_event pmi_message(struct pmi *p, int i, const char *message,
    struct strbuf *reply, char text[PMI_TEXT_MAX]);
/* Return the data that the node's ranks have put since the last fence, for all
 * nodes. */
const struct strbuf *pmi_puts(const struct pmi *p);
/* Take the parts of all nodes, one after another, after a fence. Then call
 * pmi_waited for the ranks that wait. */
void pmi_fenced(struct pmi *p, const char *bytes, size_t len_bytes);
/* Append the data that local rank i waits for to reply, if it is available. */
void pmi_waited(struct pmi *p, int i, struct strbuf *reply);

#endif
