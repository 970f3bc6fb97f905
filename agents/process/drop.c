/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drop.c - the list of denied system calls is short on purpose: libraries of
 * GPU vendors, OpenSSL and libc use many others, which the user bounds.
 */
#include "agents/process/drop.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/str.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_PPC64LE
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

/* Numbers from here on are of the x32 interface. */
#define X32_BIT 0x40000000

static const int denied[] = {
	/* programs */
	SYS_execve,
	SYS_execveat,
	/* memory and descriptors of other processes */
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_perf_event_open,
	/* files by other means than a path */
	SYS_open_by_handle_at,
	SYS_io_uring_setup,
	/* namespaces and mounts */
	SYS_setns,
	SYS_unshare,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	/* the kernel */
	SYS_bpf,
	SYS_userfaultfd,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
};

static void
drop_calls(void)
{
#ifdef ARCH
	enum { HEAD = 4, COUNT = ARRAY_LEN(denied) };
	struct sock_filter code[HEAD + COUNT + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, COUNT + 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, COUNT + 1, 0),
	};
	struct sock_fprog prog = { .len = ARRAY_LEN(code), .filter = code };

	for (unsigned i = 0; i < COUNT; i++)
		code[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP |
			BPF_JEQ | BPF_K,
		    (unsigned)denied[i], COUNT - i, 0);
	code[HEAD + COUNT] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	code[HEAD + COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ERRNO | EPERM);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0)
		return;
#else
	errno = ENOSYS;
#endif
	/* A kernel without it: the user alone bounds this process. */
	log_warn("cannot deny system calls to the network process");
}

void
drop_privileges(const char *user, uid_t uid, gid_t gid, gid_t children)
{
	if (initgroups(user, gid) < 0 || setresgid(gid, gid, children) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		fatal("cannot change to the user %s", user);
	if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0)
		fatalx("still root after the change to the user %s", user);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0) < 0)
		fatal("cannot give up privileges");
	drop_calls();
}
