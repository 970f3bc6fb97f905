/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_intermittent.c - a node that is slow again and again, and as fast as
 * its peers whenever a confirmation run measures it.
 */
#include "daemon/diagnosis/fault_intermittent.h"

#include <math.h>
#include <string.h>

#include "common/clk.h"
#include "common/member.h"
#include "daemon/diagnosis/diagnosis_int.h"
#include "daemon/diagnosis/faults.h"
#include "daemon/diagnosis/incident_show.h"

/* DISPELLED_MANY dismissals within this time are not chance: the fault comes
 * and goes. */
#define DISPELLED_SPAN_NS (7 * 86400 * CLK_NS_PER_S)
/* Only effects of at least this many times effect_min count. */
#define DISPELLED_TIMES 3

struct intermittent {
	double effect; /* of the worst suspicion */
};

int
fault_intermittent_note(struct diagnosis *d, struct incident *k, double effect)
{
	struct diagnosis_node *cn = &d->nodes[k->index];
	int was = k->fault == &fault_intermittent;
	struct intermittent *data;

	memmove(&cn->dispelled_ns[1], &cn->dispelled_ns[0],
	    sizeof(cn->dispelled_ns) - sizeof(cn->dispelled_ns[0]));
	cn->dispelled_ns[0] = clk_ns();
	if (!was &&
	    (cn->dispelled_ns[DISPELLED_MANY - 1] == 0 ||
		cn->dispelled_ns[0] - cn->dispelled_ns[DISPELLED_MANY - 1] >
		    DISPELLED_SPAN_NS))
		return 0;
	data =
	    incident_take(d, k, &fault_intermittent, k->kind, k->index)->data;
	data->effect = fmax(data->effect, effect);
	if (was)
		return 1;
	incident_write(d, k);
	incident_tell(d, k);
	return 1;
}

int
fault_intermittent_dispelled(struct diagnosis *d, struct incident *k)
{
	double effect = track_effect(incident_track(k));

	judge_confirm(k->series->judge, k->kind, k->index, 0);
	d->learned = 1; /* the dismissal must be stored */
	return k->kind == JUDGE_NODE &&
	    effect >= DISPELLED_TIMES * d->o.judge.effect_min &&
	    fault_intermittent_note(d, k, effect);
}

static void
fault_intermittent_dispel(struct diagnosis *d, struct incident *k)
{
	(void)fault_intermittent_dispelled(d, k);
}

void
fault_intermittent_again(struct incident *k, struct diagnosis_series *s,
    const struct diagnosis_source *from)
{
	if (!k->confirm.is_done)
		return;
	k->confirm.is_done = 0; /* back again: is it permanent? */
	k->confirm.tries = 0;
	k->confirm.next_ns = 0;
	k->series = s;
	incident_source_set(k, from);
}

static void
fault_intermittent_still(struct diagnosis *d, struct incident *k)
{
	if (clk_ns() - d->nodes[k->index].dispelled_ns[0] > DISPELLED_SPAN_NS)
		incident_end(d, k, VERDICT_OK, "not slow again for a week");
}

static double
fault_intermittent_effect(const struct diagnosis *d, const struct incident *k)
{
	const struct intermittent *data = k->data;

	(void)d;
	return data->effect;
}

static void
fault_intermittent_text(const struct diagnosis *d, const struct incident *k,
    char *text)
{
	struct series_kind sort = series_kind(k->series->sort);
	char slower[FAULT_TEXT_SLOWER];

	fault_text_slower(fault_intermittent_effect(d, k), sort.is_rate,
	    slower);
	fault_text_add(text,
	    "%s: intermittently up to %s slower (%s), %d times or more within "
	    "a week, but as fast as its peers whenever it was measured again",
	    k->subject, slower, sort.name, DISPELLED_MANY);
}

static int
fault_intermittent_restore(struct diagnosis *d, struct incident *k,
    const json_t *o)
{
	struct diagnosis_node *cn = diagnosis_node(d,
	    roster_by_id(d->roster, k->index));
	struct intermittent *data = k->data;

	k->confirm.is_done = 1;
	data->effect = member_number(o, "effect");
	for (int i = 0; i < DISPELLED_MANY; i++)
		cn->dispelled_ns[i] = clk_ns();
	return 0;
}

const struct fault_kind fault_intermittent = {
	.what = WHAT_INTERMITTENT,
	.about = 1 << JUDGE_NODE,
	.severity = VERDICT_WARN,
	.source = FAULT_ROUNDS,
	.bytes = sizeof(struct intermittent),
	.is_confirmable = 1,
	.text = fault_intermittent_text,
	.effect = fault_intermittent_effect,
	.restore = fault_intermittent_restore,
	.still = fault_intermittent_still,
	.dispel = fault_intermittent_dispel,
};
