/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_role.c - the rows: roles in certificates.
 */
#include "schema/names_role.h"

const char *const names_roles[ROLE_MAX] = { "agent", "collector", "reader",
	"operator" };
