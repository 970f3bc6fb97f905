/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qdisc.c - asks rtnetlink once for all interfaces.
 */
#include "agents/sensor/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/sensor/sensor.h"

#define REPLY_BYTES (32 * 1024) /* the kernel fills at most this much */

static void
qdisc_add(json_t *counters, const char *name, uint64_t value)
{
	json_t *old = json_object_get(counters, name);

	json_object_set_new(counters, name,
	    json_integer(json_integer_value(old) + (json_int_t)value));
}

/* The backlog and drops of one discipline, from TCA_STATS2. Only that at a
 * device's root counts: those inside it would be counted twice. */
static void
qdisc_take(struct nlmsghdr *nh, json_t *nics)
{
	struct tcmsg *tc = NLMSG_DATA(nh);
	int len = (int)nh->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*tc));
	struct rtattr *a, *b;
	char nic[IF_NAMESIZE];
	json_t *counters;

	if (tc->tcm_parent != TC_H_ROOT ||
	    if_indextoname((unsigned)tc->tcm_ifindex, nic) == NULL)
		return;
	counters = sensor_counters(nics, nic);
	if (counters == NULL)
		return;
	for (a = (struct rtattr *)((char *)tc + NLMSG_ALIGN(sizeof(*tc)));
	     RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		int inner = (int)RTA_PAYLOAD(a);
		struct gnet_stats_queue q;

		if (a->rta_type != TCA_STATS2)
			continue;
		for (b = RTA_DATA(a); RTA_OK(b, inner);
		     b = RTA_NEXT(b, inner)) {
			if (b->rta_type != TCA_STATS_QUEUE ||
			    RTA_PAYLOAD(b) < sizeof(q))
				continue;
			memcpy(&q, RTA_DATA(b), sizeof(q));
			qdisc_add(counters, "qdisc_backlog_bytes", q.backlog);
			qdisc_add(counters, "qdisc_backlog_packets", q.qlen);
			qdisc_add(counters, "qdisc_drops", q.drops);
			qdisc_add(counters, "qdisc_overlimits", q.overlimits);
		}
	}
}

void
qdisc_read(json_t *nics)
{
	static char bytes[REPLY_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct {
		struct nlmsghdr nh;
		struct tcmsg tc;
	} ask = { .nh = { .nlmsg_len = sizeof(ask),
		      .nlmsg_type = RTM_GETQDISC,
		      .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	struct timeval limit = { .tv_sec = 1 };
	struct nlmsghdr *nh;
	int fd, more;
	ssize_t n;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	more = send(fd, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask);
	while (more && (n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		unsigned left = (unsigned)n;

		for (nh = (struct nlmsghdr *)bytes; NLMSG_OK(nh, left);
		     nh = NLMSG_NEXT(nh, left)) {
			more = nh->nlmsg_type != NLMSG_DONE &&
			    nh->nlmsg_type != NLMSG_ERROR;
			if (!more)
				break;
			if (nh->nlmsg_type == RTM_NEWQDISC)
				qdisc_take(nh, nics);
		}
	}
	close(fd);
}
