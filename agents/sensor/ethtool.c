/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool.c - FEC and pause frames by ethtool's generic netlink, priorities'
 * pause frames by DCB's. A kernel or driver that lacks one answers with an
 * error, which ends that request and nothing else; an attribute that is not
 * whole ends its message.
 */
#include "agents/sensor/ethtool.h"

#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/sensor/sensor.h"
#include "common/member.h"
#include "common/str.h"

#define REPLY_BYTES  (64 * 1024)
#define REPLIES_MAX  4096 /* of one request; a dump has one a device at most */
#define REQUEST_WAIT 1    /* s */

/* The nested attribute of a reply that has a number of that name. The header is
 * the first attribute of all replies. */
static const struct {
	uint8_t command; /* of a reply */
	uint16_t nest, attribute;
	const char *name;
} stat_rows[] = {
	{ ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_STATS,
	    ETHTOOL_A_PAUSE_STAT_RX_FRAMES, "pause_rx_frames" },
	{ ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_STATS,
	    ETHTOOL_A_PAUSE_STAT_TX_FRAMES, "pause_tx_frames" },
	{ ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_STATS,
	    ETHTOOL_A_FEC_STAT_CORRECTED, "fec_corrected_blocks" },
	{ ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_STATS,
	    ETHTOOL_A_FEC_STAT_UNCORR, "fec_uncorrectable_blocks" },
};
static const uint8_t asked[] = { ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_FEC_GET };

/* Attributes in a row. */
struct span {
	const char *at;
	size_t bytes;
};

/* Take the next attribute off s; return 0 at the end or if it is incomplete.
 * ret: its content. */
static int
ethtool_attr_next(struct span *s, uint16_t *ret_type, struct span *ret)
{
	struct nlattr a;
	size_t step;

	if (s->bytes < NLA_HDRLEN)
		return 0;
	memcpy(&a, s->at, sizeof(a));
	if (a.nla_len < NLA_HDRLEN || a.nla_len > s->bytes)
		return 0;
	*ret_type = a.nla_type & NLA_TYPE_MASK;
	*ret = (struct span){ s->at + NLA_HDRLEN, a.nla_len - NLA_HDRLEN };
	step = (size_t)NLA_ALIGN(a.nla_len);
	if (step > s->bytes)
		step = s->bytes;
	s->at += step;
	s->bytes -= step;
	return 1;
}

/* Return the first attribute of a type; bytes 0: none. */
static struct span
ethtool_attr_find(struct span s, uint16_t type)
{
	struct span found;
	uint16_t is;

	while (ethtool_attr_next(&s, &is, &found))
		if (is == type)
			return found;
	return (struct span){ NULL, 0 };
}

/* FEC's are a list, all lanes first. */
static void
ethtool_stats_take(uint8_t command, struct span attrs, json_t *nics)
{
	struct span name, number;
	char nic[IF_NAMESIZE];
	json_t *counters;
	uint64_t value;

	_Static_assert((int)ETHTOOL_A_PAUSE_HEADER == (int)ETHTOOL_A_FEC_HEADER,
	    "one header");
	name = ethtool_attr_find(ethtool_attr_find(attrs,
				     ETHTOOL_A_PAUSE_HEADER),
	    ETHTOOL_A_HEADER_DEV_NAME);
	if (name.bytes == 0 || name.bytes > sizeof(nic))
		return;
	snprintf(nic, sizeof(nic), "%.*s", (int)name.bytes, name.at);
	counters = sensor_counters(nics, nic);
	for (size_t i = 0; counters != NULL && i < ARRAY_LEN(stat_rows); i++) {
		if (stat_rows[i].command != command)
			continue;
		number = ethtool_attr_find(ethtool_attr_find(attrs,
					       stat_rows[i].nest),
		    stat_rows[i].attribute);
		if (number.bytes < sizeof(value))
			continue;
		memcpy(&value, number.at, sizeof(value));
		if (value <= INT64_MAX)
			json_object_set_new(counters, stat_rows[i].name,
			    json_integer((json_int_t)value));
	}
}

static void
ethtool_pfc_take(struct span attrs, json_t *nics)
{
	struct span name = ethtool_attr_find(attrs, DCB_ATTR_IFNAME);
	struct span found = ethtool_attr_find(ethtool_attr_find(attrs,
						  DCB_ATTR_IEEE),
	    DCB_ATTR_IEEE_PFC);
	uint64_t sent = 0, received = 0;
	char nic[IF_NAMESIZE];
	struct ieee_pfc pfc;
	json_t *counters;

	if (name.bytes == 0 || name.bytes > sizeof(nic) ||
	    found.bytes < sizeof(pfc))
		return;
	memcpy(&pfc, found.at, sizeof(pfc));
	snprintf(nic, sizeof(nic), "%.*s", (int)name.bytes, name.at);
	counters = sensor_counters(nics, nic);
	for (int i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		sent += pfc.requests[i];
		received += pfc.indications[i];
	}
	if (counters == NULL || sent > INT64_MAX || received > INT64_MAX)
		return;
	json_object_set_new(counters, "pfc_tx_frames",
	    json_integer((json_int_t)sent));
	json_object_set_new(counters, "pfc_rx_frames",
	    json_integer((json_int_t)received));
	json_object_set_new(counters, "pfc_enabled", json_integer(pfc.pfc_en));
}

int
ethtool_take(const void *bytes, size_t len_bytes, json_t *nics)
{
	const char *at = bytes;

	while (len_bytes >= sizeof(struct nlmsghdr)) {
		struct nlmsghdr nh;
		size_t step, head;
		uint8_t command;

		memcpy(&nh, at, sizeof(nh));
		if (nh.nlmsg_len < sizeof(nh) || nh.nlmsg_len > len_bytes ||
		    nh.nlmsg_type == NLMSG_DONE || nh.nlmsg_type == NLMSG_ERROR)
			return 1;
		/* Headers of both kinds of message begin so: struct
		 * genlmsghdr has the command first, struct dcbmsg second. */
		head = NLMSG_HDRLEN + GENL_HDRLEN;
		_Static_assert(GENL_HDRLEN == sizeof(struct dcbmsg), "alike");
		if (nh.nlmsg_len >= head) {
			struct span attrs = { at + head, nh.nlmsg_len - head };

			command = (uint8_t)at[NLMSG_HDRLEN];
			if (nh.nlmsg_type == RTM_GETDCB ||
			    nh.nlmsg_type == RTM_SETDCB)
				ethtool_pfc_take(attrs, nics);
			else
				ethtool_stats_take(command, attrs, nics);
		}
		step = NLMSG_ALIGN(nh.nlmsg_len);
		if ((nh.nlmsg_flags & NLM_F_MULTI) == 0)
			return 1;
		if (step > len_bytes)
			break;
		at += step;
		len_bytes -= step;
	}
	return 0;
}

/* A request: a header of four bytes, and one attribute. */
struct request {
	struct nlmsghdr nh;
	uint8_t head[GENL_HDRLEN];
	char attr[64];
};

static void
ethtool_request_attr(struct request *r, uint16_t type, const void *value,
    size_t bytes)
{
	struct nlattr a = { (uint16_t)(NLA_HDRLEN + bytes), type };

	memcpy(r->attr, &a, sizeof(a));
	memcpy(r->attr + NLA_HDRLEN, value, bytes);
	r->nh.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN +
	    NLA_ALIGN(NLA_HDRLEN + bytes));
}

/* Sends it; bytes of the first answer, or -1. */
static ssize_t
ethtool_request_send(int fd, const struct request *r, char *reply)
{
	if (send(fd, r, r->nh.nlmsg_len, 0) != (ssize_t)r->nh.nlmsg_len)
		return -1;
	return recv(fd, reply, REPLY_BYTES, 0);
}

static void
ethtool_request_read(int fd, const struct request *r, char *reply, json_t *nics)
{
	ssize_t n = ethtool_request_send(fd, r, reply);

	for (int i = 0;
	     n > 0 && i < REPLIES_MAX && !ethtool_take(reply, (size_t)n, nics);
	     i++)
		n = recv(fd, reply, REPLY_BYTES, 0);
}

/* The number by which messages of ethtool go; 0: the kernel has none. */
static uint16_t
ethtool_family_of(int fd, char *reply)
{
	struct request r = { .nh = { .nlmsg_type = GENL_ID_CTRL,
				 .nlmsg_flags = NLM_F_REQUEST },
		.head = { CTRL_CMD_GETFAMILY, 1 } };
	const size_t head = NLMSG_HDRLEN + GENL_HDRLEN;
	struct span id;
	uint16_t family = 0;
	ssize_t n;

	ethtool_request_attr(&r, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME,
	    sizeof(ETHTOOL_GENL_NAME));
	n = ethtool_request_send(fd, &r, reply);
	if (n <= (ssize_t)head)
		return 0;
	id = ethtool_attr_find((struct span){ reply + head, (size_t)n - head },
	    CTRL_ATTR_FAMILY_ID);
	if (id.bytes >= sizeof(family))
		memcpy(&family, id.at, sizeof(family));
	return family;
}

static int
ethtool_socket_open(int protocol)
{
	struct timeval limit = { .tv_sec = REQUEST_WAIT };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

void
ethtool_read(json_t *nics)
{
	static char reply[REPLY_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct {
		struct nlattr attr;
		uint32_t flags;
	} stats = { { sizeof(stats), ETHTOOL_A_HEADER_FLAGS },
		ETHTOOL_FLAG_STATS };
	struct request dump = { .nh = { .nlmsg_flags = NLM_F_REQUEST |
					NLM_F_DUMP } };
	struct request pfc = { .nh = { .nlmsg_type = RTM_GETDCB,
				   .nlmsg_flags = NLM_F_REQUEST },
		.head = { AF_UNSPEC, DCB_CMD_IEEE_GET } };
	int fd = ethtool_socket_open(NETLINK_GENERIC);
	json_t *row;
	size_t i;

	if (fd < 0)
		return;
	dump.nh.nlmsg_type = ethtool_family_of(fd, reply);
	ethtool_request_attr(&dump, ETHTOOL_A_PAUSE_HEADER | NLA_F_NESTED,
	    &stats, sizeof(stats));
	for (i = 0; dump.nh.nlmsg_type != 0 && i < ARRAY_LEN(asked); i++) {
		dump.head[0] = asked[i];
		dump.head[1] = ETHTOOL_GENL_VERSION;
		ethtool_request_read(fd, &dump, reply, nics);
	}
	close(fd);
	fd = ethtool_socket_open(NETLINK_ROUTE);
	json_array_foreach (nics, i, row) {
		const char *nic = member_text(row, "nic");

		/* A device without pause counters is not a network card. */
		if (fd < 0 || strlen(nic) >= IF_NAMESIZE ||
		    json_object_get(json_object_get(row, "counters"),
			"pause_rx_frames") == NULL)
			continue;
		ethtool_request_attr(&pfc, DCB_ATTR_IFNAME, nic,
		    strlen(nic) + 1);
		ethtool_request_read(fd, &pfc, reply, nics);
	}
	if (fd >= 0)
		close(fd);
}
