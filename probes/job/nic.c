/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nic.c - the interface that COALMINE_NICS gives this rank, and the kernel's
 * counters of this node's interfaces.
 */
#include "probes/job/nic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/str.h"
#include "probes/job/rank_env.h"
#include "schema/rails.h"

#define LOCAL_MAX 65535

int
nic_choose(const char *list, int local, char ret[NIC_NAME_BYTES])
{
	size_t count = 0;
	char **names = str_list_parse(list, &count);
	int rc = 0;

	if (names == NULL)
		rc = -EINVAL;
	else if (count == 0)
		rc = -ENOENT;
	else if (strlen(names[(size_t)local % count]) >= NIC_NAME_BYTES)
		rc = -EINVAL;
	else
		strcpy(ret, names[(size_t)local % count]);
	str_list_free(names);
	return rc;
}

int
nic_set(struct err *err)
{
	const char *list = getenv("COALMINE_NICS");
	const char *fabric = getenv("COALMINE_FABRIC");
	char nic[NIC_NAME_BYTES], *value;
	int64_t local = -1;
	int rc;

	if (list == NULL)
		return 0;
	for (size_t i = 0; local < 0 && i < ARRAY_LEN(rank_envs); i++) {
		const char *name = rank_envs[i].local;

		if (name != NULL && getenv(name) != NULL)
			(void)str_to_int(getenv(name), 0, LOCAL_MAX, &local);
	}
	if (local < 0)
		return err_set(err, -EINVAL,
		    "COALMINE_NICS is set, but the launcher does not provide "
		    "the local rank");
	rc = nic_choose(list, (int)local, nic);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0) {
		err_say(err,
		    "COALMINE_NICS = %.80s: expected interface names separated "
		    "by commas",
		    list);
		return rc;
	}
	/* Keep the variables that a site has set. */
	for (const struct rail_variable *v = rail_variables; v->name != NULL;
	     v++) {
		value = rail_value(v, "", fabric != NULL ? fabric : "auto",
		    nic);
		if (value != NULL)
			setenv(v->name, value, 0);
		free(value);
	}
	return 0;
}

#define HEADING_LINES 2
#define TEXT_BYTES    65536

/* A counter may be read between its two halves. */
static uint64_t
nic_payload(uint64_t bytes, uint64_t packets)
{
	uint64_t headers = packets * NIC_BYTES_HEADER_BYTES;

	return bytes > headers ? bytes - headers : 0;
}

/* "  eth0: 1 2 3 ...": bytes and packets received are the first two numbers,
 * sent the ninth and tenth. */
static int
nic_bytes_parse(const char *text, struct nic_bytes *ret)
{
	struct nic_bytes sum = { 0 };
	int line = 0;

	for (const char *at = text; *at != '\0'; line++) {
		unsigned long long in, in_packets, out, out_packets;
		size_t n = strcspn(at, "\n");
		char copy[512];
		const char *colon;

		if (n >= sizeof(copy))
			return -EPROTO;
		memcpy(copy, at, n);
		copy[n] = '\0';
		at += n + (at[n] == '\n');
		if (line < HEADING_LINES)
			continue;
		colon = strchr(copy, ':');
		if (colon == NULL ||
		    sscanf(colon + 1,
			"%llu %llu %*u %*u %*u %*u %*u %*u %llu %llu", &in,
			&in_packets, &out, &out_packets) != 4)
			return -EPROTO;
		if (strncmp(copy + strspn(copy, " "), "lo:", 3) == 0)
			continue;
		sum.in_bytes += nic_payload(in, in_packets);
		sum.out_bytes += nic_payload(out, out_packets);
	}
	if (line < HEADING_LINES)
		return -EPROTO;
	*ret = sum;
	return 0;
}

void
nic_tcp_read(struct nic_tcp *ret)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	*ret = (struct nic_tcp){ 0 };
	while (d != NULL && (e = readdir(d)) != NULL) {
		struct tcp_info info = { 0 };
		socklen_t info_bytes = sizeof(info);

		if (e->d_name[0] == '.' ||
		    getsockopt(atoi(e->d_name), IPPROTO_TCP, TCP_INFO, &info,
			&info_bytes) < 0)
			continue;
		ret->resent_bytes += info.tcpi_bytes_retrans;
		if (info.tcpi_bytes_sent > info.tcpi_bytes_retrans)
			ret->sent_bytes += info.tcpi_bytes_sent -
			    info.tcpi_bytes_retrans;
	}
	if (d != NULL)
		closedir(d);
}

int
nic_bytes_read(struct nic_bytes *ret)
{
	char text[TEXT_BYTES];
	struct nic_tcp tcp;
	size_t len = 0;
	ssize_t n;
	int fd = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	rc = n < 0 ? -errno : 0;
	close(fd);
	text[len] = '\0';
	if (rc == 0)
		rc = nic_bytes_parse(text, ret);
	if (rc == 0) {
		nic_tcp_read(&tcp);
		ret->resent_bytes = tcp.resent_bytes;
	}
	return rc;
}
