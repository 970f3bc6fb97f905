/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pki_munge.c - credentials of munge(7). The library is loaded at the first
 * use, so that it is optional; the declarations of munge.h are repeated here.
 */
#include "pki/pki_munge.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "common/plugin.h"
#include "common/str.h"
#include "common/xalloc.h"

#define LIBRARY    "libmunge.so.2"
#define OPT_SOCKET 8 /* MUNGE_OPT_SOCKET */

typedef struct munge_ctx *ctx_t;
static struct munge {
	ctx_t (*ctx_create)(void);
	void (*ctx_destroy)(ctx_t ctx);
	int (*ctx_set)(ctx_t ctx, int option, ...);
	const char *(*ctx_strerror)(ctx_t ctx);
	const char *(*strerror)(int rc);
	int (*encode)(char **ret, ctx_t ctx, const void *buf, int len);
	int (*decode)(const char *credential, ctx_t ctx, void **ret, int *len,
	    uid_t *uid, gid_t *gid);
} munge;
static void *library;

#define CALL(member) PLUGIN_CALL(struct munge, member, "munge_" #member, 1)
static const struct plugin_call calls[] = { CALL(ctx_create), CALL(ctx_destroy),
	CALL(ctx_set), CALL(ctx_strerror), CALL(strerror), CALL(encode),
	CALL(decode) };

static void
pki_munge_library_open(void)
{
	library = plugin_calls(LIBRARY, calls, ARRAY_LEN(calls), &munge, NULL);
}

/* The daemon behind that socket. */
static int
pki_munge_ctx_open(const char *socket, ctx_t *ret, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, pki_munge_library_open);
	if (library == NULL)
		return err_set(err, -ENOENT,
		    "munge: cannot load " LIBRARY
		    "; install MUNGE on this host");
	*ret = munge.ctx_create();
	if (*ret == NULL)
		return err_set(err, -ENOMEM, "munge: out of memory");
	if (socket[0] != '\0' && munge.ctx_set(*ret, OPT_SOCKET, socket) != 0) {
		munge.ctx_destroy(*ret);
		return err_set(err, -EINVAL,
		    "munge: cannot use the socket %.100s", socket);
	}
	return 0;
}

static int
pki_munge_refuse(ctx_t ctx, int code, struct err *err)
{
	const char *more = munge.ctx_strerror(ctx);

	return err_set(err, -EACCES, "munge: %.200s",
	    more != NULL ? more : munge.strerror(code));
}

char *
pki_munge_text(enum role by, const char *name, const char *key,
    const char *authority)
{
	return xasprintf("coalmine-%s1 %s %s %s", names_roles[by], name, key,
	    authority);
}

char *
pki_munge_write(const char *socket, const char *text, struct err *err)
{
	char *credential = NULL, *copy = NULL;
	ctx_t ctx;
	int code;

	if (pki_munge_ctx_open(socket, &ctx, err) < 0)
		return NULL;
	code = munge.encode(&credential, ctx, text, (int)strlen(text));
	if (code != 0)
		(void)pki_munge_refuse(ctx, code, err);
	else
		copy = xstrdup(credential);
	free(credential);
	munge.ctx_destroy(ctx);
	return copy;
}

int
pki_munge_is_user(const char *users, uid_t uid)
{
	size_t count = 0;
	char **list = str_list_parse(users, &count), name[4096];
	struct passwd room, *found;
	int64_t number;
	int is = 0;

	for (size_t i = 0; i < count; i++) {
		if (str_to_int(list[i], 0, UINT32_MAX, &number) == 0)
			is |= (uid_t)number == uid;
		else if (getpwnam_r(list[i], &room, name, sizeof(name),
			     &found) == 0 &&
		    found != NULL)
			is |= found->pw_uid == uid;
	}
	str_list_free(list);
	return is;
}

int
pki_munge_check(const char *socket, const char *credential, const char *text,
    const char *users, struct err *err)
{
	void *got = NULL;
	int code, len = 0, rc;
	uid_t uid = 0;
	gid_t gid;
	ctx_t ctx;

	rc = pki_munge_ctx_open(socket, &ctx, err);
	if (rc < 0)
		return rc;
	code = munge.decode(credential, ctx, &got, &len, &uid, &gid);
	if (code != 0)
		rc = pki_munge_refuse(ctx, code, err);
	else if (!pki_munge_is_user(users, uid))
		rc = err_set(err, -EACCES,
		    "munge: credential of user %u: expected one of %.200s",
		    (unsigned)uid, users);
	else if (len < 0 || (size_t)len != strlen(text) ||
	    memcmp(got, text, (size_t)len) != 0)
		rc = err_set(err, -EACCES,
		    "munge: the credential is for another node name, key or "
		    "CA");
	free(got);
	munge.ctx_destroy(ctx);
	return rc;
}
