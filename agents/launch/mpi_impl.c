/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_impl.c - what all MPIs have in common: where their files are, which
 * variables a site or a campaign may set, and in which order these settings
 * overrule each other.
 */
#include "agents/launch/mpi_impl.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/mpi_settings.h"
#include "schema/options.h"
#include "schema/rails.h"

#define SITE_MAX 32 /* MPIs that a site has registered */

/* Their names are the words of probe.mpi. */
static const struct mpi_impl_mpi *const families[] = { &launch_openmpi,
	&launch_mpich };
static struct mpi_impl_mpi sites[SITE_MAX];
static size_t site_count;

const struct mpi_impl_mpi *
mpi_impl_at(size_t i)
{
	if (i < ARRAY_LEN(families))
		return families[i];
	i -= ARRAY_LEN(families);
	return i < site_count ? &sites[i] : NULL;
}

const struct mpi_impl_mpi *
mpi_impl_find(const char *name)
{
	const struct mpi_impl_mpi *mpi;

	for (size_t i = 0; (mpi = mpi_impl_at(i)) != NULL; i++)
		if (strcmp(mpi->name, name) == 0)
			return mpi;
	return NULL;
}

/* Takes NAME.conf of the folder; files of other names are ignored. */
static void
mpi_impl_site_add(const char *dir, const char *file)
{
	const char *end = strrchr(file, '.');
	struct conf *c = NULL;
	char path[4400], name[256];
	struct err err;

	if (file[0] == '.' || end == NULL || strcmp(end, ".conf") != 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	snprintf(name, sizeof(name), "%.*s", (int)(end - file), file);
	if (conf_load(options_probe, path, &c, &err) < 0)
		log_warnx("%s; ignoring this MPI", err.text);
	else if (site_count == SITE_MAX || mpi_impl_find(name) != NULL)
		log_warnx("%s: %s; ignoring this MPI", path,
		    site_count == SITE_MAX ? "more than 32 MPI implementations"
					   : "duplicate name");
	else {
		const char *version = conf_string(c, "probe", "version");
		struct mpi_impl_mpi *site = &sites[site_count++];

		*site = *mpi_impl_find(conf_string(c, "probe", "mpi"));
		site->name = xstrdup(name);
		site->bin = xstrdup(conf_string(c, "probe", "bin"));
		if (conf_string(c, "probe", "slurm")[0] != '\0')
			site->slurm = xstrdup(conf_string(c, "probe", "slurm"));
		if (strcmp(conf_string(c, "probe", "wireup"), "auto") != 0)
			site->wireup = xstrdup(
			    conf_string(c, "probe", "wireup"));
		site->engine = xstrdup(conf_string(c, "probe", "engine"));
		if (strcmp(version, COALMINE_VERSION) != 0)
			log_warnx("%s: the engine has version %s, but the "
				  "agent has " COALMINE_VERSION
				  ": run coalmine-build-probe again",
			    path, version);
	}
	conf_free(c);
}

void
mpi_impl_load(const struct conf *c)
{
	const char *dir = conf_string(c, "children", "probes");
	struct dirent **files = NULL;
	int n = scandir(dir, &files, NULL, versionsort);

	for (int i = 0; i < n; free(files[i++]))
		mpi_impl_site_add(dir, files[i]->d_name);
	free(files);
}

/* Return the folder of the launcher and its programs, or "". */
static const char *
mpi_impl_bin_of(const struct mpi_impl_mpi *mpi, const struct conf *c)
{
	return mpi->bin != NULL ? mpi->bin
				: conf_string(c, "children", mpi->family);
}

static int
mpi_impl_in_dir(const char *dir, const char *file, char *ret, size_t cap_bytes)
{
	if (str_format(ret, cap_bytes, "%s/%s", dir, file) < 0 ||
	    access(ret, X_OK) < 0)
		return -ENOENT;
	return 0;
}

int
mpi_impl_launcher(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret, size_t cap_bytes)
{
	const char *dir = mpi_impl_bin_of(mpi, c);

	for (size_t i = 0; dir[0] != '\0' && mpi->launchers[i] != NULL; i++)
		if (mpi_impl_in_dir(dir, mpi->launchers[i], ret, cap_bytes) ==
		    0)
			return 0;
	return -ENOENT;
}

int
mpi_impl_path(const struct mpi_impl_mpi *mpi, const struct conf *c,
    char *ret_engine, size_t cap_bytes, struct err *err)
{
	char engine[4400];

	if (mpi_impl_bin_of(mpi, c)[0] == '\0' && mpi->bin == NULL)
		return err_set(err, -ENOENT,
		    "%s is not available on this node: children.%s is empty",
		    mpi->name, mpi->family);
	if (mpi->engine != NULL)
		snprintf(engine, sizeof(engine), "%s", mpi->engine);
	else
		snprintf(engine, sizeof(engine), "%s/%s/coalmine-probe",
		    conf_string(c, "children", "libexec"), mpi->name);
	if (str_format(ret_engine, cap_bytes, "%s", engine) < 0 ||
	    access(engine, X_OK) < 0)
		return err_set(err, -ENOENT,
		    "the probe engine %s is missing or not executable", engine);
	return 0;
}

void
mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env)
{
	const char *dir = mpi_impl_bin_of(mpi, c);

	if (strcmp(dir, "/usr/bin") == 0 || dir[0] == '\0') {
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

/* Set the variables of a list, which the caller has checked. */
static void
mpi_impl_set_list(const struct conf *c, const char *key, const char *prefix,
    struct strvec *env)
{
	const char *at = conf_string(c, "mpi", key);
	char full[MPI_SETTING_NAME_BYTES + 16];
	struct mpi_setting s;
	struct err err;

	while (mpi_settings_next(&at, &s, &err) > 0) {
		snprintf(full, sizeof(full), "%s%s", prefix, s.name);
		strvec_env(env, full, "%s", s.value);
	}
}

static void
mpi_impl_set_fabric(const struct mpi_impl_job *job, const char *fabric,
    struct strvec *env)
{
	const char *tls = conf_string(job->conf, "mpi", "ucx_tls");
	int packaged = strcmp(mpi_impl_bin_of(job->mpi, job->conf),
			   "/usr/bin") == 0;

	for (const struct mpi_impl_fabric *f = job->mpi->fabrics;
	     f->name != NULL; f++)
		if (strcmp(f->fabric, fabric) == 0 &&
		    (packaged || !f->packaged))
			strvec_env(env, f->name, "%s",
			    f->several != NULL && job->ranks_per_node > 1
				? f->several
				: f->value);
	if (tls[0] != '\0')
		strvec_env(env, "UCX_TLS", "%s", tls);
}

/* 1 and the range of mpi.ports; 0: it is empty; -EINVAL. */
static int
mpi_impl_ports(const struct conf *c, unsigned *ret_low, unsigned *ret_high)
{
	const char *text = conf_string(c, "mpi", "ports");
	int end = 0;

	if (text[0] == '\0')
		return 0;
	if (sscanf(text, "%5u-%5u%n", ret_low, ret_high, &end) != 2 ||
	    text[end] != '\0' || *ret_low < 1024 || *ret_high > 65535 ||
	    *ret_low >= *ret_high)
		return -EINVAL;
	return 1;
}

int
mpi_impl_ports_check(const struct conf *c, struct err *err)
{
	unsigned low, high;

	if (mpi_impl_ports(c, &low, &high) >= 0)
		return 0;
	return err_set(err, -EINVAL,
	    "%s: invalid value \"%.40s\" for mpi.ports: expected LOW-HIGH from "
	    "1024 to 65535, for example 20000-20100",
	    conf_where(c, "mpi", "ports"), conf_string(c, "mpi", "ports"));
}

/* Of Open MPI, of UCX and of libfabric; NCCL takes the kernel's range. */
static void
mpi_impl_set_ports(const struct conf *c, struct strvec *env)
{
	unsigned low, high;

	if (mpi_impl_ports(c, &low, &high) != 1)
		return;
	for (const char *v = "46"; *v != '\0'; v++) {
		char name[64];

		snprintf(name, sizeof(name), "OMPI_MCA_btl_tcp_port_min_v%c",
		    *v);
		strvec_env(env, name, "%u", low);
		snprintf(name, sizeof(name), "OMPI_MCA_btl_tcp_port_range_v%c",
		    *v);
		strvec_env(env, name, "%u", high - low + 1);
	}
	strvec_env(env, "UCX_TCP_PORT_RANGE", "%u-%u", low, high);
	strvec_env(env, "FI_TCP_PORT_LOW_RANGE", "%u", low);
	strvec_env(env, "FI_TCP_PORT_HIGH_RANGE", "%u", high);
}

static void
mpi_impl_set_devices(const char *fabric, const char *devices,
    struct strvec *env)
{
	char *value;

	if (devices[0] == '\0')
		return;
	for (const struct rail_variable *v = rail_variables; v->name != NULL;
	     v++) {
		value = rail_value(v, "", fabric, devices);
		if (value != NULL)
			strvec_env(env, v->name, "%s", value);
		free(value);
	}
	value = rail_names("", devices);
	strvec_env(env, "COALMINE_DEVICES", "%s", value);
	free(value);
}

static const char *
mpi_impl_bind_asked(const struct mpi_impl_job *job)
{
	return conf_string(conf_given(job->campaign, "mpi", "bind")
		? job->campaign
		: job->conf,
	    "mpi", "bind");
}

void
mpi_impl_rank_env(const struct mpi_impl_job *job, struct strvec *env)
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

	job->mpi->rank_env(job, env);
	mpi_impl_set_ports(job->conf, env);
	mpi_net_env(job, mpi_impl_bin_of(job->mpi, job->conf), fabric, env);
	if (!late)
		mpi_impl_set_fabric(job, fabric, env);
	if (nics[0] != '\0' && devices[0] == '\0')
		strvec_env(env, "COALMINE_NICS", "%s", nics);
	/* Set before the lists, so that a site's own settings override it. If
	 * these select another device, the engine reports that the requested
	 * devices carried nothing. */
	mpi_impl_set_devices(fabric, devices, env);
	mpi_impl_set_list(job->conf, "mca", MPI_SETTINGS_MCA, env);
	mpi_impl_set_list(job->conf, "env", "", env);
	if (late)
		mpi_impl_set_fabric(job, fabric, env);
	mpi_impl_set_list(job->campaign, "mca", MPI_SETTINGS_MCA, env);
	mpi_impl_set_list(job->campaign, "env", "", env);
	/* A rank that no launcher binds keeps to the cores near its NIC. */
	if (strcmp(mpi_impl_bind_asked(job), "auto") != 0)
		strvec_env(env, "COALMINE_BIND", "%s",
		    mpi_impl_bind_asked(job));
	/* The engine compares it with what carried its bytes. */
	strvec_env(env, "COALMINE_FABRIC", "%s", fabric);
}

const char *
mpi_impl_bind(const struct mpi_impl_job *job)
{
	const char *bind = mpi_impl_bind_asked(job);

	if (strcmp(bind, "none") == 0 || strcmp(bind, "auto") == 0 ||
	    job->ranks_per_node > job->cores)
		return NULL;
	return bind;
}
