/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_verdict.c - the rows: verdicts and their subjects.
 */
#include "schema/names_verdict.h"

const char *const names_whats[WHAT_MAX] = { "node", "leaf", "link", "host",
	"undetermined", "rail", "drift", "prediction", "port", "intermittent",
	"fleet", "link-errors", "mtu", "stuck", "spine" };

const char *const names_verdicts[VERDICT_MAX] = { "ok", "warn", "bad",
	"unknown" };
