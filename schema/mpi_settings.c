/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_settings.c - NAME=value lists for ranks, read and judged.
 */
#include "schema/mpi_settings.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

/* Parts of names, between underscores, of settings that name a file to read,
 * load or run. */
static const char *const never[] = { "COMMAND", "DEST", "DIR", "FILE",
	"FILENAME", "FILES", "GDB", "LIB", "LIBRARY", "PATH", "PLUGIN",
	"PRELOAD" };

static int
mpi_settings_refuse(const char *at, struct err *err)
{
	return err_set(err, -EINVAL,
	    "%.60s: expected NAME=value, several separated by commas "
	    "or blanks, with \"quotes\" around a value that contains "
	    "commas or blanks",
	    at);
}

int
mpi_settings_next(const char **at, struct mpi_setting *ret, struct err *err)
{
	const char *name = *at + strspn(*at, " \t,"), *value;
	size_t name_len = 0, len;

	if (*name == '\0')
		return 0;
	while (isalnum((unsigned char)name[name_len]) || name[name_len] == '_')
		name_len++;
	if (name_len == 0 || isdigit((unsigned char)name[0]) ||
	    name[name_len] != '=' || name_len >= sizeof(ret->name))
		return mpi_settings_refuse(name, err);
	value = name + name_len + 1;
	len = strcspn(value, *value == '"' ? "" : " \t,\"");
	if (*value == '"') {
		len = strcspn(++value, "\"");
		if (value[len] == '\0' ||
		    strchr(" \t,", value[len + 1]) == NULL)
			return mpi_settings_refuse(name, err);
		*at = value + len + 1;
	} else {
		if (len == 0 || value[len] == '"')
			return mpi_settings_refuse(name, err);
		*at = value + len;
	}
	if (len >= sizeof(ret->value))
		return mpi_settings_refuse(name, err);
	memcpy(ret->name, name, name_len);
	ret->name[name_len] = '\0';
	memcpy(ret->value, value, len);
	ret->value[len] = '\0';
	return 1;
}

int
mpi_settings_check(const char *text, struct err *err)
{
	struct mpi_setting s;
	int rc;

	while ((rc = mpi_settings_next(&text, &s, err)) > 0)
		;
	return rc;
}

int
mpi_settings_conf_check(const struct conf *c, struct err *err)
{
	static const char *const lists[] = { "env", "mca" };
	struct err why;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (mpi_settings_check(conf_string(c, "mpi", lists[i]), &why) <
		    0)
			return err_set(err, -EINVAL, "%s: mpi.%s: %s",
			    conf_where(c, "mpi", lists[i]), lists[i], why.text);
	return 0;
}

static int
mpi_settings_names_file(const char *name)
{
	for (size_t len; *name != '\0'; name += len + (name[len] == '_')) {
		len = strcspn(name, "_");
		for (size_t i = 0; i < ARRAY_LEN(never); i++)
			if (strlen(never[i]) == len &&
			    strncasecmp(name, never[i], len) == 0)
				return 1;
	}
	return 0;
}

static int
mpi_settings_is_listed(const char *name, char *const *patterns)
{
	for (; *patterns != NULL; patterns++) {
		size_t len = strcspn(*patterns, "*");

		if (strncmp(name, *patterns, len) == 0 &&
		    ((*patterns)[len] == '*' || name[len] == '\0'))
			return 1;
	}
	return 0;
}

int
mpi_settings_allowed(const char *text, const char *prefix, const char *allow,
    struct err *err)
{
	char full[MPI_SETTING_NAME_BYTES + 16], **patterns;
	struct mpi_setting s;
	size_t count = 0;
	int rc;

	patterns = str_list_parse(allow, &count);
	while ((rc = mpi_settings_next(&text, &s, err)) > 0) {
		if (str_format(full, sizeof(full), "%s%s", prefix, s.name) >=
			0 &&
		    patterns != NULL &&
		    mpi_settings_is_listed(full, patterns) &&
		    !mpi_settings_names_file(full))
			continue;
		rc = err_set(err, -EACCES,
		    "%s%s may not be set by a campaign: expected %.200s%s",
		    prefix, s.name, allow[0] == '\0' ? "none" : allow,
		    mpi_settings_names_file(s.name)
			? "; a variable that names a file is never accepted"
			: "");
		break;
	}
	str_list_free(patterns);
	return rc;
}
