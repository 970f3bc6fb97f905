/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sensor_net.c - network devices of the kernel: bytes, packets, drops and
 * errors from sysfs, and what waits or fell off at the queueing disciplines
 * from rtnetlink (in an emulated cluster these are the switches).
 */
#include <dirent.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/sensor/sensor.h"

/* About 400 bytes each in a message. */
#define DEVICES_MAX 1000
#define REPLY_BYTES (32 * 1024) /* the kernel fills at most so much */

/* Of the two dozen that the kernel keeps; absent ones are left out. */
static const char *const names[] = { "rx_bytes", "tx_bytes", "rx_packets",
	"tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors",
	"rx_missed_errors", "rx_over_errors", "rx_crc_errors",
	"rx_frame_errors", "tx_carrier_errors", "collisions", "multicast",
	NULL };

static void
sensor_net_device_read(const char *dir, const char *nic, json_t *nics)
{
	char stats[700];
	json_t *counters = sensor_row(nics, nic);
	int64_t value;

	snprintf(stats, sizeof(stats), "%s/statistics", dir);
	for (size_t i = 0; names[i] != NULL; i++)
		if (sensor_file(stats, names[i], &value) == 0)
			json_object_set_new(counters, names[i],
			    json_integer(value));
	if (sensor_file(dir, "carrier_changes", &value) == 0)
		json_object_set_new(counters, "carrier_changes",
		    json_integer(value));
	/* A card with RDMA counts its slot's errors there. */
	snprintf(stats, sizeof(stats), "%s/device/infiniband", dir);
	if (access(stats, F_OK) == 0)
		return;
	snprintf(stats, sizeof(stats), "%s/device", dir);
	sensor_aer(stats, counters);
}

static void
sensor_net_add(json_t *counters, const char *name, uint64_t value)
{
	json_t *old = json_object_get(counters, name);

	json_object_set_new(counters, name,
	    json_integer(json_integer_value(old) + (json_int_t)value));
}

/* The backlog and drops of one discipline, from TCA_STATS2. Only that at a
 * device's root counts: those inside it would be counted twice. */
static void
sensor_net_qdisc_take(struct nlmsghdr *nh, json_t *nics)
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
			sensor_net_add(counters, "qdisc_backlog_bytes",
			    q.backlog);
			sensor_net_add(counters, "qdisc_backlog_packets",
			    q.qlen);
			sensor_net_add(counters, "qdisc_drops", q.drops);
			sensor_net_add(counters, "qdisc_overlimits",
			    q.overlimits);
		}
	}
}

static void
sensor_net_qdiscs_read(json_t *nics)
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
				sensor_net_qdisc_take(nh, nics);
		}
	}
	close(fd);
}

static void
sensor_net_read(const char *root, json_t *nics)
{
	char top[400], dir[680];
	struct dirent *de;
	DIR *d;

	snprintf(top, sizeof(top), "%s/sys/class/net", root);
	d = opendir(top);
	while (d != NULL && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.' || strcmp(de->d_name, "lo") == 0 ||
		    json_array_size(nics) >= DEVICES_MAX)
			continue;
		snprintf(dir, sizeof(dir), "%s/%s", top, de->d_name);
		sensor_net_device_read(dir, de->d_name, nics);
	}
	if (d != NULL)
		closedir(d);
	if (root[0] == '\0')
		sensor_net_qdiscs_read(nics);
}

const struct sensor sensor_net = { "net", sensor_net_read };
