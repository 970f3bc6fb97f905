/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kpi.h - indicators of whole rounds of an acceptance: how equal the pairs of a
 * round are, and how long a round takes. No promise is judged by them. Pure.
 */
#ifndef CTL_ACCEPT_KPI_H
#define CTL_ACCEPT_KPI_H

#include "ctl/accept/accept_judge.h"

enum kpi {
	/* Jain's index (1984) of the rates of all pairs: 1 if all are equal,
	 * 1/n if one of n pairs has all. */
	KPI_JAIN,
	/* Time of the slowest pair over the expected time. */
	KPI_JCT,
	KPI_MAX
};
extern const char *const kpi_names[KPI_MAX];

/* Mean over rounds, with its confidence interval; lo and hi are NAN with fewer
 * than two rounds, value too without any. */
struct kpi_value {
	double value, lo, hi;
	size_t rounds;
};

#define KPI_LEVEL 0.95

/* Return an indicator of the paths of a class, which are judged. Round k is the
 * kth measurement of each path; a round counts if it has all measured paths. */
struct kpi_value kpi_of(const struct accept_path *paths, size_t path_count,
    size_t class, enum kpi kpi);

#endif
