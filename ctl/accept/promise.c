/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise.c - the value of most links, leaves and nodes is the promised one;
 * what no source has is a guess.
 */
#include "ctl/accept/promise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"
#include "common/xalloc.h"

/* What no source has, and no guess fits. */
static const char loads[] =
    "\n[collective]\n# compared with a prediction from the values above\n"
    "names = allreduce,allgather,alltoall\n"
    "\n[incast]\nsenders = 2,4,8,16,32,64\n"
    "\n[congestion]\n# limit of the supplier, for example 3; 0: not promised\n"
    "impact = 0\n"
    "\n[soak]\n# for example 8h; 0: not promised\ntime = 0\n";

struct writer {
	struct strbuf text;
	struct strbuf guessed;
};

static int
promise_compare(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

/* The value that most have, of several the smallest; 0: none. Sorts. */
static double
promise_most_common(double *x, size_t n)
{
	size_t best = 0, times;
	double ret = 0;

	qsort(x, n, sizeof(*x), promise_compare);
	for (size_t i = 0; i < n; i += times) {
		times = 1;
		while (i + times < n && !(x[i + times] > x[i]))
			times++;
		if (times > best) {
			best = times;
			ret = x[i];
		}
	}
	return ret;
}

static double
promise_of_nodes(const json_t *nodes, const char *key)
{
	double *x = xcalloc(json_array_size(nodes) + 1, sizeof(*x)), ret;
	const json_t *o;
	size_t i, n = 0;

	json_array_foreach (nodes, i, o)
		if (member_number(o, key) > 0)
			x[n++] = member_number(o, key);
	ret = promise_most_common(x, n);
	free(x);
	return ret;
}

static double
promise_link_gbps(const struct topology *t)
{
	double *x = xcalloc(t->link_count + 1, sizeof(*x)), ret;
	size_t n = 0;

	for (size_t i = 0; i < t->link_count; i++)
		if (t->links[i].gbps > 0)
			x[n++] = t->links[i].gbps;
	ret = promise_most_common(x, n);
	free(x);
	return ret;
}

static int
promise_rails(const struct topology *t)
{
	int rails = 1;

	for (size_t i = 0; i < t->link_count; i++)
		rails = t->links[i].rail >= rails ? t->links[i].rail + 1
						  : rails;
	return rails;
}

/* The rate of the nodes of most leaves over the rate of their uplinks, links of
 * unknown rate being gbps; 0: no uplink is known. */
static double
promise_oversubscription(const struct topology *t, double gbps)
{
	double *down = xcalloc(t->switch_count + 1, sizeof(*down)), ret;
	double *up = xcalloc(t->switch_count + 1, sizeof(*up));
	size_t n = 0;

	for (size_t i = 0; i < t->link_count; i++)
		down[t->links[i].leaf] += t->links[i].gbps > 0
		    ? t->links[i].gbps
		    : gbps;
	for (size_t i = 0; i < t->up_count; i++)
		up[t->ups[i].lower] += t->ups[i].count *
		    (t->ups[i].gbps > 0 ? t->ups[i].gbps : gbps);
	for (size_t i = 0; i < t->switch_count; i++)
		if (down[i] > 0 && up[i] > 0)
			down[n++] = down[i] / up[i];
	ret = promise_most_common(down, n);
	free(down);
	free(up);
	return ret;
}

static void
promise_value(struct writer *w, const char *key, double value,
    const char *source)
{
	const char *dot = strchr(key, '.');

	strbuf_addf(&w->text, "# %s\n%s = %.6g\n", source, dot + 1, value);
}

static void
promise_guess(struct writer *w, const char *key, double value,
    const char *source)
{
	char *text = xasprintf("guessed: %s", source);

	promise_value(w, key, value, text);
	strbuf_addf(&w->guessed, "%s%s", w->guessed.len_bytes > 0 ? "," : "",
	    key);
	free(text);
}

static void
promise_write_nic(struct writer *w, const struct promise_known *known,
    double rate, double linked)
{
	double mtu = promise_of_nodes(known->nodes, "mtu");

	strbuf_addf(&w->text, "\n[nic]\n");
	if (known->topology != NULL)
		promise_value(w, "nic.count", promise_rails(known->topology),
		    "rails of the topology");
	else
		promise_guess(w, "nic.count", 1, "no topology has the rails");
	if (known->gbps > 0)
		promise_value(w, "nic.rate", rate, "given by --gbps");
	else if (linked > 0)
		promise_value(w, "nic.rate", rate,
		    "of most links of nodes in the topology");
	else
		promise_guess(w, "nic.rate", rate,
		    "the negotiated speed of most nodes; a cable may have "
		    "negotiated less than it is rated for");
	if (mtu > 0)
		promise_guess(w, "nic.mtu", mtu,
		    "most nodes have this MTU; compare with the purchase "
		    "order");
}

char *
promise_write(const struct promise_known *known, struct err *err)
{
	const struct topology *t = known->topology;
	double linked = t == NULL ? 0 : promise_link_gbps(t), over = 0;
	double rate = known->gbps > 0 ? known->gbps
	    : linked > 0              ? linked
				      : promise_of_nodes(known->nodes, "gbps");
	struct writer w = { { 0 }, { 0 } };
	struct strbuf all = { 0 };

	if (!(rate > 0)) {
		err_say(err,
		    "no topology and no node has the rate of a NIC: specify "
		    "it with --gbps");
		return NULL;
	}
	promise_write_nic(&w, known, rate, linked);
	strbuf_addf(&w.text, "\n[leaf]\n");
	if (t != NULL)
		over = promise_oversubscription(t, rate);
	if (over > 0)
		promise_value(&w, "leaf.oversubscription", over,
		    "nodes over uplinks of most leaves of the topology");
	else
		promise_guess(&w, "leaf.oversubscription", 1,
		    "no topology has uplinks; 1 is non-blocking");
	strbuf_addf(&w.text, "\n[memory]\n");
	promise_guess(&w, "memory.rate", 0,
	    "0 compares each node with the typical one");
	strbuf_addf(&w.text, "%s", loads);
	strbuf_addf(&all,
	    "# coalctl promise init: check every value, and remove checked "
	    "ones from guessed.\n# Keys: coalmine-promise(5).\n[promise]\n"
	    "about =\nsource =\nguessed = %s\n%s",
	    w.guessed.text == NULL ? "" : w.guessed.text, w.text.text);
	strbuf_clear(&w.text);
	strbuf_clear(&w.guessed);
	return all.text;
}
