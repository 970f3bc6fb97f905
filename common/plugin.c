/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c - search shared objects in three folders: $COALMINE_PLUGIN_DIR, the
 * one next to the program, and the installed one. A library is used only if it
 * has all required calls.
 */
#include "common/plugin.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

static void *
plugin_object_open(const char *name)
{
	const char *folders[] = { getenv("COALMINE_PLUGIN_DIR"), NULL,
		COALMINE_PLUGIN_DIR };
	char exe[PATH_MAX], beside[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	void *so = NULL;

	exe[n > 0 ? n : 0] = '\0';
	if (n > 0 &&
	    str_format(beside, sizeof(beside), "%s/../%s", dirname(exe),
		COALMINE_LIBEXECDIR) >= 0)
		folders[1] = beside;
	for (size_t i = 0; so == NULL && i < ARRAY_LEN(folders); i++)
		if (folders[i] != NULL &&
		    str_format(path, sizeof(path), "%s/coalmine-%s.so",
			folders[i], name) >= 0)
			so = dlopen(path,
			    RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return so;
}

const void *
plugin_find(const char *name, const char *entry, int abi, struct err *err)
{
	const void *(*call)(int) = NULL, *ops = NULL;
	void *so = plugin_object_open(name);

	if (so == NULL) {
		err_say(err, "needs the package coalmine-%s: %.200s", name,
		    dlerror());
		return NULL;
	}
	/* POSIX lets dlsym give a function; ISO C has no cast for it. */
	*(void **)&call = dlsym(so, entry);
	if (call != NULL)
		ops = call(abi);
	if (ops == NULL)
		err_say(err,
		    "coalmine-%s.so has a different version; install the same "
		    "version of all Coalmine packages",
		    name);
	return ops;
}

void *
plugin_calls(const char *library, const struct plugin_call *calls, size_t count,
    void *ret, struct err *err)
{
	void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL), *found;

	if (so == NULL) {
		err_say(err, "%.200s", dlerror());
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (calls[i].must && dlsym(so, calls[i].symbol) == NULL) {
			err_say(err,
			    "%.100s is too old: function %s is missing",
			    library, calls[i].symbol);
			dlclose(so);
			return NULL;
		}
	for (size_t i = 0; i < count; i++) {
		found = dlsym(so, calls[i].symbol);
		memcpy((char *)ret + calls[i].at, &found, sizeof(found));
	}
	return so;
}
