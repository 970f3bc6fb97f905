/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.c - the user of the network process writes in these directories, so no
 * link is followed and no file with a second name elsewhere changes its owner.
 * Root may lack CAP_DAC_OVERRIDE: it opens a directory before it gives it away.
 */
#include "agents/process/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"

#define DEPTH_MAX 8

struct own {
	uid_t from; /* previous owner */
	uid_t uid;
	gid_t gid;
};

static int
own_open(int at, const char *name)
{
	return openat(at, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
own_change(const struct own *o, int at, const char *name)
{
	return fchownat(at, name, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) < 0
	    ? -errno
	    : 0;
}

/* Change a directory that belongs to o->from or o->uid, and its entries. */
static int
own_folder(const struct own *o, int at, const char *name, int depth)
{
	int fd = own_open(at, name), rc;
	struct dirent *de;
	struct stat st;
	DIR *dir;

	/* A directory of another user is open to root only as its owner. */
	if (fd < 0 && (rc = own_change(o, at, name)) < 0)
		return rc;
	if (fd < 0)
		fd = own_open(at, name);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (dir == NULL) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while ((de = readdir(dir)) != NULL) {
		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0 ||
		    fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX &&
		    (st.st_uid == o->from || st.st_uid == o->uid))
			(void)own_folder(o, fd, de->d_name, depth + 1);
		else if (st.st_uid == o->from && st.st_nlink == 1 &&
		    !S_ISLNK(st.st_mode))
			(void)own_change(o, fd, de->d_name);
	}
	rc = fstat(fd, &st) == 0 && st.st_uid != o->uid &&
		fchown(fd, o->uid, o->gid) < 0
	    ? -errno
	    : 0;
	closedir(dir);
	return rc;
}

int
own_tree(const char *path, uid_t uid, gid_t gid)
{
	struct own o = { .uid = uid, .gid = gid };
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	o.from = st.st_uid == uid ? 0 : st.st_uid;
	/* Without another owner root has no more to change. */
	if (o.from == uid || !S_ISDIR(st.st_mode))
		return 0;
	return own_folder(&o, AT_FDCWD, path, 0);
}

void
own_file(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid == uid || (st.st_uid != 0 && access(path, R_OK) == 0))
		return;
	if (lchown(path, uid, gid) < 0)
		log_warn("cannot change the owner of %s", path);
}

void
own_end(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data) < 0)
		return;
	data[0].effective &= ~(1u << CAP_CHOWN);
	data[0].permitted &= ~(1u << CAP_CHOWN);
	data[0].inheritable &= ~(1u << CAP_CHOWN);
	if (syscall(SYS_capset, &head, data) < 0)
		log_warn("cannot give up CAP_CHOWN");
}
