/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/launch/mpi_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/str.h"
#include "schema/mpi_settings.h"

const struct mpi_impl_mpi *const launch_mpis[] = { &launch_openmpi,
	&launch_mpich, NULL };

const struct mpi_impl_mpi *
mpi_impl_find(const char *name)
{
	for (size_t i = 0; launch_mpis[i] != NULL; i++)
		if (strcmp(launch_mpis[i]->name, name) == 0)
			return launch_mpis[i];
	return NULL;
}

static int
in_dir(const char *dir, const char *file, char *ret, size_t cap_bytes)
{
	if (str_format(ret, cap_bytes, "%s/%s", dir, file) < 0 ||
	    access(ret, X_OK) < 0)
		return -ENOENT;
	return 0;
}

int
mpi_impl_path(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret_launcher, char *ret_engine, size_t cap_bytes, struct err *err)
{
	const char *dir = conf_string(c, "children", mpi->name);
	char engine[80];
	size_t i;

	if (dir[0] == '\0')
		return err_set(err, -ENOENT, "%s is not offered", mpi->name);
	for (i = 0; mpi->launchers[i] != NULL; i++)
		if (in_dir(dir, mpi->launchers[i], ret_launcher, cap_bytes) ==
		    0)
			break;
	if (mpi->launchers[i] == NULL)
		return err_set(err, -ENOENT, "%s/%s is missing", dir,
		    mpi->launchers[0]);
	snprintf(engine, sizeof(engine), "%s/coalmine-probe", mpi->name);
	if (in_dir(conf_string(c, "children", "libexec"), engine, ret_engine,
		cap_bytes) < 0)
		return err_set(err, -ENOENT, "%s/%s is missing",
		    conf_string(c, "children", "libexec"), engine);
	return 0;
}

int
mpi_impl_daemon(const struct mpi_impl_mpi *mpi, const struct conf *c, char *ret,
    size_t cap_bytes)
{
	const char *dir = conf_string(c, "children", mpi->name);

	if (dir[0] == '\0')
		return -ENOENT;
	return in_dir(dir, mpi->daemon, ret, cap_bytes);
}

void
mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env)
{
	const char *dir = conf_string(c, "children", mpi->name);

	if (strcmp(dir, "/usr/bin") == 0) {
		strvec_env(env, "PATH", "/usr/bin:/bin");
		return;
	}
	strvec_env(env, "PATH", "%s:/usr/bin:/bin", dir);
	strvec_env(env, "LD_LIBRARY_PATH", "%s/../lib:%s/../lib64", dir, dir);
}

int
mpi_impl_allowed(const struct conf *agent, const struct conf *campaign,
    struct err *err)
{
	static const struct {
		const char *key, *prefix;
	} lists[] = { { "env", "" }, { "mca", MPI_SETTINGS_MCA } };
	struct err why;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		rc = mpi_settings_allowed(conf_string(campaign, "mpi",
					      lists[i].key),
		    lists[i].prefix, conf_string(agent, "mpi", "allow"), &why);
		if (rc < 0)
			return err_set(err, rc, "mpi.%s: %s", lists[i].key,
			    why.text);
	}
	return 0;
}

static void
set(const char *name, const char *value, struct strvec *env,
    struct strvec *names)
{
	strvec_env(env, name, "%s", value);
	if (strncmp(name, MPI_SETTINGS_MCA, strlen(MPI_SETTINGS_MCA)) == 0)
		return;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->list[i], name) == 0)
			return;
	strvec_add(names, "%s", name);
}

/* What a list says; who started us has checked it. */
static void
set_list(const struct conf *c, const char *key, const char *prefix,
    struct strvec *env, struct strvec *names)
{
	const char *at = conf_string(c, "mpi", key);
	char full[MPI_SETTING_NAME_BYTES + 16];
	struct mpi_setting s;
	struct err err;

	while (mpi_settings_next(&at, &s, &err) > 0) {
		snprintf(full, sizeof(full), "%s%s", prefix, s.name);
		set(full, s.value, env, names);
	}
}

static void
set_fabric(const struct mpi_impl_job *job, const char *fabric,
    struct strvec *env, struct strvec *names)
{
	const char *tls = conf_string(job->conf, "mpi", "ucx_tls");
	int packaged = strcmp(conf_string(job->conf, "children",
				  job->mpi->name),
			   "/usr/bin") == 0;

	for (const struct mpi_impl_fabric *f = job->mpi->fabrics;
	     f->name != NULL; f++)
		if (strcmp(f->fabric, fabric) == 0 &&
		    (packaged || !f->packaged))
			set(f->name,
			    f->several != NULL && job->ranks_per_node > 1
				? f->several
				: f->value,
			    env, names);
	if (tls[0] != '\0')
		set("UCX_TLS", tls, env, names);
}

/* In the words of each library: UCX wants the port of an RDMA device. */
static void
set_devices(const char *fabric, const char *devices, struct strvec *env,
    struct strvec *names)
{
	struct strbuf ucx = { 0 };
	size_t count = 0;
	char **list = str_list_parse(devices, &count);
	int tcp = strcmp(fabric, "tcp") == 0;
	char path[500];

	for (size_t i = 0; list != NULL && i < count; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1",
		    list[i]);
		strbuf_addf(&ucx, "%s%s%s", i > 0 ? "," : "", list[i],
		    access(path, F_OK) == 0 ? ":1" : "");
	}
	str_list_free(list);
	if (ucx.text != NULL) {
		set("UCX_NET_DEVICES", ucx.text, env, names);
		set("COALMINE_DEVICES", devices, env, names);
		set(tcp ? "OMPI_MCA_btl_tcp_if_include" : "FI_CXI_DEVICE_NAME",
		    devices, env, names);
	}
	strbuf_clear(&ucx);
}

void
mpi_impl_settings(const struct mpi_impl_job *job, struct strvec *env,
    struct strvec *names)
{
	const struct conf *of = conf_given(job->campaign, "mpi", "fabric")
	    ? job->campaign
	    : job->conf;
	const char *fabric = conf_string(of, "mpi", "fabric");
	const char *devices = conf_string(job->campaign, "mpi", "devices");
	const char *nics = conf_string(job->conf, "mpi", "nics");
	/* A campaign that wants one overrules the agent's settings; one that
	 * leaves the choice to the MPI leaves it to them too. */
	int late = of == job->campaign && strcmp(fabric, "auto") != 0;

	if (!late)
		set_fabric(job, fabric, env, names);
	if (nics[0] != '\0' && devices[0] == '\0')
		set("COALMINE_NICS", nics, env, names);
	set_list(job->conf, "mca", MPI_SETTINGS_MCA, env, names);
	set_list(job->conf, "env", "", env, names);
	if (late)
		set_fabric(job, fabric, env, names);
	set_devices(fabric, devices, env, names);
	set_list(job->campaign, "mca", MPI_SETTINGS_MCA, env, names);
	set_list(job->campaign, "env", "", env, names);
	/* The engine judges by it what carried its bytes. */
	set("COALMINE_FABRIC", fabric, env, names);
}

char *
mpi_impl_join(const struct strvec *names, const char *sep)
{
	struct strbuf sb = { 0 };

	strbuf_add(&sb, "", 0);
	for (size_t i = 0; i < names->count; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? sep : "", names->list[i]);
	return sb.text;
}
