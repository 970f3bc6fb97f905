/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_verdict.c [TRIALS [ROUNDS]] - how well faults are named in simulated
 * clusters, as Markdown for tests/bench/run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/clk.h"
#include "tests/sim/verdict/echoes.h"
#include "tests/sim/verdict/trial.h"
#include "tests/sim/verdict/defaults.h"

#define SEED         20261121
#define MONTH_ROUNDS 8640 /* of 5 minutes */
#define DRIFT_TRIALS 20
#define DRIFT_ROUNDS 400

struct sums {
	int trials, by[TRIAL_ROUNDS + 1];
	int confirmed, host, guilty, wrong_suspects, wrong_alarms;
	int cleared, cleared_rounds;
};

static void
add(struct sums *s, const struct trial_fault *f, const struct trial_result *r)
{
	s->trials++;
	s->by[r->named_round <= TRIAL_ROUNDS ? r->named_round : 0]++;
	s->confirmed += r->confirmed;
	s->guilty += (int)f->guilty;
	s->host += r->host;
	s->wrong_suspects += r->wrong_suspects;
	s->wrong_alarms += r->wrong_alarms;
	s->cleared += r->cleared_round > 0;
	s->cleared_rounds += r->cleared_round;
}

static double
share(int part, int whole)
{
	return whole == 0 ? 0 : 100.0 * part / whole;
}

static void
row(const struct trial_fault *f, int trials)
{
	struct sums s = { 0 };
	struct trial_result r;
	int within = 0;

	for (int i = 0; i < trials; i++) {
		trial_run(f, SEED + (uint64_t)i, &r);
		add(&s, f, &r);
	}
	for (int k = 1; k <= 3; k++)
		within += s.by[k];
	if (f->guilty == 0)
		printf("| %s | %d | - | - | - |", f->name, s.trials);
	else
		printf("| %s | %d | %.1f %% | %.1f %% | %s: %.1f %% |", f->name,
		    s.trials, share(within, s.trials),
		    share(s.trials - s.by[0], s.trials),
		    f->host ? "host" : confirm_findings[f->finding],
		    share(f->host ? s.host : s.confirmed, s.guilty));
	printf(" %.1f | %.3f | %.3f |\n",
	    s.cleared == 0 ? 0 : (double)s.cleared_rounds / s.cleared,
	    (double)s.wrong_suspects / s.trials,
	    (double)s.wrong_alarms / s.trials);
	fflush(stdout);
}

static void
quiet(uint32_t nodes, uint64_t rounds)
{
	struct world_options o = world_defaults;
	struct trial_quiet q;
	double months;

	o.nodes = nodes;
	trial_quiet(&o, rounds, SEED, &q);
	months = (double)rounds / MONTH_ROUNDS;
	printf("| %u | %llu | %.1f | %.1f | %.1f | %.2f | %.0f |\n", nodes,
	    (unsigned long long)rounds, (double)q.suspects / months,
	    (double)q.alarms / months, (double)q.drifts / months, 3.0 / months,
	    1e9 * q.seconds / (double)q.node_rounds);
}

static int
rounds_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The median, or that it was never noticed in most trials. */
static void
print_rounds(int *rounds, int trials)
{
	for (int i = 0; i < trials; i++)
		rounds[i] = rounds[i] == 0 ? DRIFT_ROUNDS + 1 : rounds[i];
	qsort(rounds, (size_t)trials, sizeof(*rounds), rounds_order);
	if (rounds[trials / 2] > DRIFT_ROUNDS)
		printf(" more than %d |", DRIFT_ROUNDS);
	else
		printf(" %d |", rounds[trials / 2]);
}

static void
drift(uint32_t nodes, double rate, double most, int trials)
{
	struct trial_slow how = { nodes, rate, most, DRIFT_ROUNDS };
	int peers[DRIFT_TRIALS], cusum[DRIFT_TRIALS], wrong = 0;
	struct trial_drift d;

	for (int i = 0; i < trials; i++) {
		trial_drift(&how, SEED + (uint64_t)i, &d);
		peers[i] = d.peers_round;
		cusum[i] = d.cusum_round;
		wrong += d.wrong_cusum;
	}
	printf("| %u | %.2f %% | %.0f %% | %d |", nodes, 100 * rate, 100 * most,
	    trials);
	print_rounds(peers, trials);
	print_rounds(cusum, trials);
	printf(" %d |\n", wrong);
	fflush(stdout);
}

/* Faults that lose echoes, and none at all. */
static void
echoes(const char *name, uint32_t nodes, double lost, int uplink, int trials,
    int epochs)
{
	struct echoes_fault f = { name, nodes, 1e-4, lost, uplink };
	int named = 0, bad = 0, suspects = 0, alarms = 0;
	struct echoes_result r;

	for (int i = 0; i < trials; i++) {
		echoes_run(&f, epochs, SEED + (uint64_t)i, &r);
		named += r.named_epoch > 0 && r.named_epoch <= 3;
		bad += r.bad_epoch > 0;
		suspects += r.wrong_suspects;
		alarms += r.wrong_alarms;
	}
	printf("| %s | %u | %d | %d |", name, nodes, trials, epochs);
	if (uplink < 0)
		printf(" - | - |");
	else
		printf(" %.1f %% | %.1f %% |", share(named, trials),
		    share(bad, trials));
	printf(" %d | %d |\n", suspects, alarms);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	int trials = argc > 1 ? atoi(argv[1]) : 1000;
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : MONTH_ROUNDS;

	printf("A round is one random ring: two pairs a node, noise 5 %%, one "
	       "sample in 20 much slower;\nconfirmation run: 6 nodes, each "
	       "pair %d times. Outlier after %d slow rounds of %d, clear after "
	       "%d\nnormal ones.\n\n",
	    TRIAL_CONFIRM, judge_defaults()->votes, judge_defaults()->window,
	    judge_defaults()->clean);
	printf("| fault | trials | all named within 3 rounds | within %d | "
	       "confirmation run | rounds to clear | false outliers | false "
	       "alarms |\n|---|---:|---:|---:|---|---:|---:|---:|\n",
	    TRIAL_ROUNDS);
	for (const struct trial_fault *f = trial_faults; f->name != NULL; f++)
		row(f, f->nodes * f->rails > 2000 ? trials / 5 : trials);
	printf("\nNo fault at all; a month is %d rounds of 5 minutes:\n\n"
	       "| nodes | rounds | outliers a month | alarms a month | CUSUM "
	       "alarms a month | upper limit were there none | ns a node and "
	       "round |\n|---:|---:|---:|---:|---:|---:|---:|\n",
	    MONTH_ROUNDS);
	quiet(256, rounds);
	quiet(10000, rounds);
	printf(
	    "\nOne node gets slower by a share each round, up to a limit, "
	    "after a day of its own past;\nmedians:\n\n"
	    "| nodes | a round | up to | trials | rounds until seen by peers "
	    "| by CUSUM | false |\n"
	    "|---:|---:|---:|---:|---:|---:|---:|\n");
	drift(256, 0.01, 1, DRIFT_TRIALS);
	drift(256, 0.003, 1, DRIFT_TRIALS);
	drift(256, 0.001, 1, DRIFT_TRIALS);
	drift(256, 0.001, 0.06, DRIFT_TRIALS);
	drift(10000, 0.003, 1, DRIFT_TRIALS / 5);
	drift(10000, 0.001, 0.06, DRIFT_TRIALS / 5);
	printf("\nEchoes of the mesh: every pair loses one in 10,000, four "
	       "pairs a node within leaves and\nfour between them, 120 "
	       "echoes each:\n\n"
	       "| fault | nodes | trials | epochs | named within 3 | "
	       "confirmed within all | false warnings | false "
	       "confirmations |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
	echoes("1 node loses 2 %", 256, 0.02, 0, trials, 12);
	echoes("1 node loses 5 %", 256, 0.05, 0, trials, 12);
	echoes("1 uplink of 8 loses 5 %", 256, 0.05, 1, trials, 12);
	echoes("1 node loses 5 %", 10000, 0.05, 0, trials / 20, 12);
	echoes("none", 256, 0, -1, 1, (int)rounds);
	echoes("none", 10000, 0, -1, 1, (int)rounds);
	return 0;
}
