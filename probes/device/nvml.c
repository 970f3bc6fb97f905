/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - NVML's calls by their names, and what its links are.
 */
#include "probes/device/device.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/plugin.h"
#include "common/str.h"

#define LINKS_MAX     18 /* of one GPU */
#define IS_ACTIVE     1  /* nvmlEnableState_t */
#define REMOTE_SWITCH 2  /* nvmlIntNvLinkDeviceType_t */

/* nvmlPciInfo_t since its second version. */
struct pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct calls {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int code);
	int (*get_by_pci)(const char *pci, void **ret);
	int (*get_name)(void *gpu, char *ret, unsigned cap);
	int (*link_state)(void *gpu, unsigned link, int *ret);
	int (*link_version)(void *gpu, unsigned link, unsigned *ret);
	int (*link_remote)(void *gpu, unsigned link, struct pci_info *ret);
	/* since driver 450; NULL before */
	int (*link_remote_type)(void *gpu, unsigned link, int *ret);
};

#define CALL(member, symbol, must)                                             \
	PLUGIN_CALL(struct calls, member, symbol, must)
static const struct plugin_call rows[] = {
	CALL(init, "nvmlInit_v2", 1),
	CALL(shutdown, "nvmlShutdown", 1),
	CALL(error_string, "nvmlErrorString", 1),
	CALL(get_by_pci, "nvmlDeviceGetHandleByPciBusId_v2", 1),
	CALL(get_name, "nvmlDeviceGetName", 1),
	CALL(link_state, "nvmlDeviceGetNvLinkState", 0),
	CALL(link_version, "nvmlDeviceGetNvLinkVersion", 0),
	CALL(link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2", 0),
	CALL(link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType", 0),
};

/* NVML writes a domain of eight digits, the kernel one of four. */
static int
nvml_is_address(const char *nvml, const char *kernel)
{
	size_t a = strlen(nvml), b = strlen(kernel);

	while (a > b && *nvml == '0') {
		nvml++;
		a--;
	}
	return strcasecmp(nvml, kernel) == 0;
}

static void
nvml_link_read(const struct calls *c, void *gpu, unsigned link,
    const char *const *pci, int count, struct nvml_gpu *ret)
{
	/* Each way, by nvmlNvlinkVersion_t: 1.0, 2.0, 2.2, 3.0, 3.1, 4.0,
	 * 5.0. */
	static const double rates[] = { 0, 20e9, 25e9, 25e9, 25e9, 25e9, 25e9,
		50e9 };
	struct pci_info remote;
	unsigned version;
	int type = -1, state;

	if (c->link_state(gpu, link, &state) != 0 || state != IS_ACTIVE)
		return;
	ret->links++;
	if (c->link_version != NULL &&
	    c->link_version(gpu, link, &version) == 0)
		ret->link_bytes_per_s = version < ARRAY_LEN(rates)
		    ? rates[version]
		    : 0;
	if (c->link_remote_type != NULL &&
	    c->link_remote_type(gpu, link, &type) == 0 &&
	    type == REMOTE_SWITCH) {
		ret->to_switch++;
		return;
	}
	if (c->link_remote == NULL || c->link_remote(gpu, link, &remote) != 0)
		return;
	for (int i = 0; i < count; i++)
		if (nvml_is_address(remote.bus_id, pci[i]))
			ret->to[i]++;
}

int
nvml_read(const char *const *pci, int count, struct nvml_gpu *ret,
    struct err *err)
{
	struct calls c;
	void *so = plugin_calls("libnvidia-ml.so.1", rows, ARRAY_LEN(rows), &c,
	    err);
	int code;

	memset(ret, 0, (size_t)count * sizeof(*ret));
	if (so == NULL)
		return -ENODEV;
	code = c.init();
	if (code != 0)
		err_say(err, "NVML: %s", c.error_string(code));
	for (int i = 0; code == 0 && i < count; i++) {
		void *gpu;

		if (c.get_by_pci(pci[i], &gpu) != 0)
			continue;
		if (c.get_name(gpu, ret[i].name, sizeof(ret[i].name)) != 0)
			ret[i].name[0] = '\0';
		for (unsigned l = 0; c.link_state != NULL && l < LINKS_MAX; l++)
			nvml_link_read(&c, gpu, l, pci, count, &ret[i]);
	}
	if (code == 0)
		c.shutdown();
	dlclose(so);
	return code == 0 ? 0 : -ENODEV;
}
