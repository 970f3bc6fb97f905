/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - a campaign's words as the numbers the engine works with.
 */
#include "probes/job/settings.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/clk.h"
#include "common/rng.h"
#include "common/str.h"

/* The time of a test, and of the load before it, in GPCNeT. */
#define EXACT_NS (10 * CLK_NS_PER_S)

void
settings_read(const struct conf *c, struct settings *ret)
{
	static const char *const
	    places[] = { [COMMAND_FIRST] = "first", [COMMAND_EACH] = "each" };
	static const char *const placements[] = { [ROLES_RANDOM] = "random",
		[ROLES_BLOCKS] = "blocks",
		[ROLES_SPREAD] = "spread" };
	size_t count = 0;
	char **names;

	memset(ret, 0, sizeof(*ret));
	ret->seed = (uint64_t)conf_int(c, "campaign", "seed");
	names = str_list_parse(conf_string(c, "canary", "tests"), &count);
	assert(names != NULL && count <= CANARY_MAX); /* conf checked it */
	for (size_t i = 0; i < count; i++)
		ret->tests[i] = (enum canary_test)STR_FIND(names_tests,
		    names[i]);
	ret->test_count = (int)count;
	str_list_free(names);
	ret->share = conf_real(c, "canary", "share");
	ret->precision = conf_real(c, "canary", "precision");
	ret->level = conf_real(c, "canary", "level");
	ret->time_ns = conf_span_ns(c, "canary", "time");
	ret->bytes = conf_bytes(c, "canary", "bytes");
	ret->rounds_min = (int)conf_int(c, "canary", "rounds_min");
	ret->iterations = (int)conf_int(c, "canary", "iterations");
	ret->large_rounds = (int)conf_int(c, "canary", "large_rounds");
	ret->warmup = (int)conf_int(c, "canary", "warmup");
	ret->timeout_ns = conf_span_ns(c, "canary", "timeout");
	ret->stuck_ns = conf_span_ns(c, "canary", "stuck");
	ret->raw = conf_bool(c, "canary", "raw");
	ret->partners = (enum partners)CONF_CHOICE_OF(c, "canary", "partners",
	    names_partners);
	ret->exact = strcmp(conf_string(c, "canary", "exact"), "gpcnet") == 0;

	snprintf(ret->command, sizeof(ret->command), "%s",
	    conf_string(c, "command", "run"));
	ret->command_on = (enum command_on)CONF_CHOICE_OF(c, "command", "on",
	    places);
	ret->command_repetitions = (int)conf_int(c, "command", "repetitions");
	ret->command_interval_ns = conf_span_ns(c, "command", "interval");
	ret->command_timeout_ns = conf_span_ns(c, "command", "timeout");

	names = str_list_parse(conf_string(c, "congestor", "mix"), &count);
	assert(names != NULL && count <= CONGESTOR_MAX);
	for (size_t i = 0; i < count; i++) {
		int kind = STR_FIND(names_congestors, names[i]);

		if (kind != CONGESTOR_NONE)
			ret->kinds[ret->kind_count++] = (enum congestor)kind;
	}
	str_list_free(names);
	names = str_list_parse(conf_string(c, "congestor", "shares"), &count);
	for (size_t i = 0;
	     names != NULL && i < count && i < (size_t)ret->kind_count; i++) {
		int64_t share = 0;

		str_to_int(names[i], 1, 1000, &share); /* conf checked it */
		ret->kind_shares[i] = (int)share;
	}
	str_list_free(names);
	ret->placement = (enum roles_placement)CONF_CHOICE_OF(c, "congestor",
	    "placement", placements);
	snprintf(ret->leaves, sizeof(ret->leaves), "%s",
	    conf_string(c, "congestor", "leaves"));
	ret->congestor_bytes = conf_bytes(c, "congestor", "bytes");
	ret->allreduce_bytes = conf_bytes(c, "congestor", "allreduce_bytes");
	ret->rates = conf_bool(c, "congestor", "rates");
	ret->load_warmup_ns = conf_span_ns(c, "congestor", "warmup");
	ret->burst_ns = conf_span_ns(c, "congestor", "burst");
	ret->pause_ns = conf_span_ns(c, "congestor", "pause");
	ret->strength = conf_real(c, "congestor", "strength");
	if (ret->exact && ret->time_ns < EXACT_NS)
		ret->time_ns = EXACT_NS;
	if (ret->exact && ret->load_warmup_ns < EXACT_NS)
		ret->load_warmup_ns = EXACT_NS;
	/* The reference goes once through each phase, A then B. */
	ret->visits = ret->exact ? 1 : (int)conf_int(c, "phases", "visits");
	snprintf(ret->device, sizeof(ret->device), "%s",
	    conf_string(c, "measure", "device"));
	snprintf(ret->gpu_aware, sizeof(ret->gpu_aware), "%s",
	    conf_string(c, "measure", "gpu_aware"));
	ret->via = (enum plan_via)CONF_CHOICE_OF(c, "measure", "via",
	    plan_vias);
	ret->share_gpu = conf_bool(c, "measure", "share_gpu");
	ret->quiet = strcmp(conf_string(c, "phases", "quiet"), "wild") == 0
	    ? PHASE_PRODUCTION
	    : PHASE_ISOLATED;
}

int
settings_rounds(const struct settings *s, enum canary_test test)
{
	return names_tests[test].unit[0] == 's' || s->exact ? 0
							    : s->large_rounds;
}

int
settings_iterations(const struct settings *s, enum canary_test test)
{
	return settings_rounds(s, test) > 0 ? 1 : s->iterations;
}

int
settings_congested(const struct settings *s)
{
	return s->kind_count > 0;
}

int
settings_stretches(const struct settings *s)
{
	return settings_congested(s) ? 2 * s->visits : s->visits;
}

int
settings_loaded_first(uint64_t seed, int pair)
{
	if (pair == 1)
		return !settings_loaded_first(seed, 0);
	return (int)(rng_mix(seed ^ rng_mix((uint64_t)pair)) & 1);
}

enum phase
settings_phase(const struct settings *s, int i, int *ret_visit)
{
	int first, loaded_first;

	if (!settings_congested(s)) {
		*ret_visit = i;
		return s->quiet;
	}
	*ret_visit = i / 2;
	first = i % 2 == 0;
	loaded_first = s->visits > 1 && settings_loaded_first(s->seed, i / 2);
	return first == loaded_first ? PHASE_CONGESTED : s->quiet;
}
