/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_impl.c - what all MPIs have in common: where their files are, which
 * variables a site or a campaign may set, and in which order these settings
 * overrule each other.
 */
#include "agents/launch/mpi_impl.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "schema/mesh.h"
#include "schema/mpi_settings.h"
#include "schema/options.h"
#include "schema/rails.h"

#define SITE_MAX 32 /* MPIs that a site has registered */

/* As the choices of options_probe. */
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
site_add(const char *dir, const char *file)
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
		log_warnx("%s; it is not offered", err.text);
	else if (site_count == SITE_MAX || mpi_impl_find(name) != NULL)
		log_warnx("%s: %s; it is not offered", path,
		    site_count == SITE_MAX ? "allowed are 32 of them"
					   : "this name is taken");
	else {
		const char *version = conf_string(c, "probe", "version");
		size_t family = (size_t)conf_choice(c, "probe", "mpi");
		struct mpi_impl_mpi *site = &sites[site_count++];

		assert(family < ARRAY_LEN(families));
		*site = *families[family];
		site->name = xstrdup(name);
		site->bin = xstrdup(conf_string(c, "probe", "bin"));
		if (conf_string(c, "probe", "slurm")[0] != '\0')
			site->slurm = xstrdup(conf_string(c, "probe", "slurm"));
		site->engine = xstrdup(conf_string(c, "probe", "engine"));
		if (strcmp(version, COALMINE_VERSION) != 0)
			log_warnx("%s: an engine of version %s beside an agent "
				  "of " COALMINE_VERSION
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
		site_add(dir, files[i]->d_name);
	free(files);
}

/* Where the launcher and what it starts are; "" for nowhere. */
static const char *
bin_of(const struct mpi_impl_mpi *mpi, const struct conf *c)
{
	return mpi->bin != NULL ? mpi->bin
				: conf_string(c, "children", mpi->family);
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
	const char *dir = bin_of(mpi, c);
	char engine[4400];
	size_t i;

	if (dir[0] == '\0' && mpi->bin == NULL)
		return err_set(err, -ENOENT, "%s is not offered", mpi->name);
	for (i = 0; mpi->launchers[i] != NULL; i++)
		if (in_dir(dir, mpi->launchers[i], ret_launcher, cap_bytes) ==
		    0)
			break;
	if (dir[0] == '\0')
		ret_launcher[0] = '\0';
	else if (mpi->launchers[i] == NULL)
		return err_set(err, -ENOENT, "%s/%s is missing", dir,
		    mpi->launchers[0]);
	if (mpi->engine != NULL)
		snprintf(engine, sizeof(engine), "%s", mpi->engine);
	else
		snprintf(engine, sizeof(engine), "%s/%s/coalmine-probe",
		    conf_string(c, "children", "libexec"), mpi->name);
	if (str_format(ret_engine, cap_bytes, "%s", engine) < 0 ||
	    access(engine, X_OK) < 0)
		return err_set(err, -ENOENT, "%s is missing", engine);
	return 0;
}

int
mpi_impl_daemon(const struct mpi_impl_mpi *mpi, const struct conf *c, char *ret,
    size_t cap_bytes)
{
	const char *dir = bin_of(mpi, c);

	if (dir[0] == '\0')
		return -ENOENT;
	return in_dir(dir, mpi->daemon, ret, cap_bytes);
}

void
mpi_impl_env(const struct mpi_impl_mpi *mpi, const struct conf *c,
    struct strvec *env)
{
	const char *dir = bin_of(mpi, c);

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

/* Sets what a list has; the caller has checked it. */
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
	int packaged = strcmp(bin_of(job->mpi, job->conf), "/usr/bin") == 0;

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

static void
set_devices(const char *fabric, const char *devices, struct strvec *env,
    struct strvec *names)
{
	char *value;

	if (devices[0] == '\0')
		return;
	for (const struct rail_variable *v = rail_variables; v->name != NULL;
	     v++) {
		value = rail_value(v, "", fabric, devices);
		if (value != NULL)
			set(v->name, value, env, names);
		free(value);
	}
	value = rail_names("", devices);
	set("COALMINE_DEVICES", value, env, names);
	free(value);
}

static const char *
bind_asked(const struct mpi_impl_job *job)
{
	return conf_string(conf_given(job->campaign, "mpi", "bind")
		? job->campaign
		: job->conf,
	    "mpi", "bind");
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
	/* Set before the lists, so that what a site sets itself stays. If that
	 * is another device, the engine reports that these carried nothing. */
	set_devices(fabric, devices, env, names);
	set_list(job->conf, "mca", MPI_SETTINGS_MCA, env, names);
	set_list(job->conf, "env", "", env, names);
	if (late)
		set_fabric(job, fabric, env, names);
	set_list(job->campaign, "mca", MPI_SETTINGS_MCA, env, names);
	set_list(job->campaign, "env", "", env, names);
	/* A rank that no launcher binds keeps to the cores near its NIC. */
	if (strcmp(bind_asked(job), "auto") != 0)
		set("COALMINE_BIND", bind_asked(job), env, names);
	/* The engine compares it with what carried its bytes. */
	set("COALMINE_FABRIC", fabric, env, names);
}

const char *
mpi_impl_bind(const struct mpi_impl_job *job)
{
	const char *bind = bind_asked(job);

	if (strcmp(bind, "none") == 0 || strcmp(bind, "auto") == 0 ||
	    job->ranks_per_node > job->cores)
		return NULL;
	return bind;
}

/* Open MPI knows networks of IPv4 only, and complains of one that a node has no
 * address in. */
static int
is_in(const char *text, const struct ifaddrs *all)
{
	struct mesh_net net;
	struct in6_addr addr;
	char name[INET_ADDRSTRLEN];

	if (strchr(text, ':') != NULL || mesh_net_parse(text, &net) < 0)
		return 0;
	for (; all != NULL; all = all->ifa_next)
		if (all->ifa_addr != NULL &&
		    all->ifa_addr->sa_family == AF_INET &&
		    inet_ntop(AF_INET,
			&((struct sockaddr_in *)all->ifa_addr)->sin_addr, name,
			sizeof(name)) != NULL &&
		    mesh_addr_parse(name, &addr) == 0 &&
		    mesh_net_has(&net, &addr))
			return 1;
	return 0;
}

char *
mpi_impl_control_nets(const struct conf *agent)
{
	const char *net = conf_string(agent, "mpi", "net");
	struct strbuf sb = { 0 };
	struct ifaddrs *all;
	size_t count = 0;
	char **list;

	strbuf_add(&sb, net, strlen(net));
	if (net[0] != '\0' || !conf_given(agent, "mesh", "net") ||
	    getifaddrs(&all) < 0)
		return sb.text;
	list = str_list_parse(conf_string(agent, "mesh", "net"), &count);
	for (size_t i = 0; i < count; i++)
		if (is_in(list[i], all))
			strbuf_addf(&sb, "%s%s", sb.len_bytes > 0 ? "," : "",
			    list[i]);
	str_list_free(list);
	freeifaddrs(all);
	return sb.text;
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
