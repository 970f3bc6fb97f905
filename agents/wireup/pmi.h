/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmi.h - the PMI server of one node: MPICH, MVAPICH and Intel MPI.
 *
 * A rank of PMI-1 writes lines "cmd=put kvsname=K key=A value=B" and reads one
 * line for each. One of PMI-2 begins with such a line, and then writes
 * "    30cmd=kvs-put;key=A;value=B;", where the first six bytes are the length
 * of the rest. What ranks put is kept until the next fence of all ranks of the
 * run (in PMI-1 the barrier), which makes it visible to all of them; attributes
 * of a node, which only PMI-2 has, are visible on it at once. Pure: the caller
 * moves the bytes.
 */
#ifndef AGENTS_WIREUP_PMI_H
#define AGENTS_WIREUP_PMI_H

#include <stddef.h>

#include "common/str.h"

#define PMI_HEAD_BYTES 6
#define PMI_LINE_MAX   4096 /* a key, a value and the rest of the message */
#define PMI_TEXT_MAX   256

struct pmi;

/* The node's part of a run: ranks from first on, as many on every node. */
struct pmi *pmi_new(int first, int local, int size);
void pmi_free(struct pmi *p); /* NULL is allowed */

enum pmi_event {
	PMI_REPLY, /* only the reply, if any */
	PMI_JOIN,  /* the rank has begun to initialise */
	PMI_FENCE, /* all local ranks wait in a fence: see pmi_puts */
	PMI_ATTR, /* other local ranks may have waited for it: see pmi_waited */
	PMI_ABORT, /* the rank ends the run; the text says why */
	PMI_BAD    /* not a message of PMI, or not one that is served */
};

/* Return the bytes that follow the head of a message of PMI-2, 0 for a line of
 * PMI-1, -1 for neither. */
long pmi_length(const char head[PMI_HEAD_BYTES]);
/* Serve a message of local rank i: a line without its newline, or head and body
 * of PMI-2. reply is added to; text is set for PMI_ABORT and PMI_BAD. */
enum pmi_event pmi_message(struct pmi *p, int i, const char *message,
    struct strbuf *reply, char text[PMI_TEXT_MAX]);
/* Return the data that the node's ranks have put since the last fence, for all
 * nodes. */
const struct strbuf *pmi_puts(const struct pmi *p);
/* The parts of all nodes, one behind another. Ranks that wait: pmi_waited. */
void pmi_fenced(struct pmi *p, const char *bytes, size_t len_bytes);
/* Append the data that local rank i waits for to reply, if it is available. */
void pmi_waited(struct pmi *p, int i, struct strbuf *reply);

#endif
