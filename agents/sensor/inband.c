/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inband.c - jobs' measurements of their own collectives, in files in a folder.
 * Every user may write there: malformed lines are skipped, and the amount read
 * at a time is limited.
 *
 * The suffix shows the kind. PID.log: NCCL's inspector, a growing file with a
 * JSON object per call. *.prom: the same as means of the last half minute, each
 * replaced by the next. *.jsonl: libcoalmine-pmpi.so, sums since the start.
 */
#include "agents/sensor/inband.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clk.h"
#include "common/hostname.h"
#include "common/member.h"
#include "common/queue.h"
#include "common/str.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "schema/names_probe.h"

#define LOOK_EVERY_NS (30 * CLK_NS_PER_S)
#define CALLS_BYTES   (1 << 20)  /* of a look, of files that grow: 30 ms */
#define CALLS_FILE    (8 << 10)  /* of one of them, at least */
#define SUMS_BYTES    (4 << 20)  /* of the others */
#define SUMS_FILE     (64 << 10) /* of one of them */
#define FILES_MAX     512
#define ENTRIES_MAX   10000 /* of a folder */
#define OWNERS_MAX    64    /* of files */
#define KINDS_MAX     64    /* of a file: collective, size, communicator */
#define ROWS_MAX      512
#define JOB_ROWS_MAX  32 /* those that took longest */
/* Rows of a job are repeated for a while: the collector may not know the job
 * yet, or may miss a message. */
#define TOLD_TIMES  6
#define OLD_S       86400 /* no longer written */
#define SECONDS_MAX 1e9
#define BYTES_MAX   1e18

/* Calls of one rank that are alike: their sizes are within a factor of two. */
struct kind {
	char job[64], op[16];
	int source;
	uid_t uid;            /* of its file */
	int64_t ranks, nodes; /* of the communicator; nodes 0: not told */
	int64_t rank;
	int size; /* log2 of a call's bytes */
	double calls, bytes, seconds;
};

struct file {
	TAILQ_ENTRY(file) next;
	char *path;
	uid_t uid;
	ino_t inode;
	int64_t changed_ns, offset;
	struct kind *kinds;
	size_t count;
	int seen;  /* in this look */
	int fresh; /* to be sent in this many looks */
};

/* A user with files here. All have the same share of what there is. */
struct owner {
	uid_t uid;
	size_t files;
	size_t calls_bytes, sums_bytes; /* left of this look */
	size_t rows, jobs;              /* of this answer */
};

struct inband {
	char *dir, *host;
	uint64_t at_ns;
	TAILQ_HEAD(files, file) files;
	size_t file_count, growing; /* those that grew in the last look */
	struct owner owners[OWNERS_MAX];
	size_t owner_count;
	size_t share_bytes; /* of a file that grows */
	int entries_left;   /* of this look */
	char rate[1024];    /* the last line of rates of a *.prom */
};

/* A row of the answer, over the ranks of this node. */
struct row {
	struct kind sum;
	double most_calls, least_s;
};

/* "ReduceScatter" is called reduce-scatter in campaigns. Return 0 for an
 * unknown operation. */
static int
inband_op_find(const char *text, char ret[16])
{
	static const char *const others[] = { "send", "recv", "barrier" };

	text = strcasecmp(text, "All2All") == 0 ? "alltoall" : text;
	for (size_t i = 0; i < NAMES_COLLECTIVES_MAX + ARRAY_LEN(others); i++) {
		const char *name = i < NAMES_COLLECTIVES_MAX
		    ? names_collectives[i]
		    : others[i - NAMES_COLLECTIVES_MAX];
		size_t dash = strcspn(name, "-");

		if (strcasecmp(text, name) != 0 &&
		    (name[dash] == '\0' || strncasecmp(text, name, dash) != 0 ||
			strcasecmp(text + dash, name + dash + 1) != 0))
			continue;
		snprintf(ret, 16, "%s", name);
		return 1;
	}
	return 0;
}

static int
inband_is_like(const struct kind *a, const struct kind *b)
{
	return a->uid == b->uid && a->size == b->size && a->ranks == b->ranks &&
	    a->nodes == b->nodes && a->source == b->source &&
	    strcmp(a->op, b->op) == 0 && strcmp(a->job, b->job) == 0;
}

/* Skip impossible rows, and rows beyond the limit. */
static void
inband_kind_add(struct file *f, struct kind *k)
{
	/* Job ids: PBS has "12[3].server", Flux letters beyond ASCII. */
	static const char allowed[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789_.+-[]";
	size_t len = strlen(k->job), plain = 0;
	struct kind *have;

	while (plain < len &&
	    (strchr(allowed, k->job[plain]) != NULL ||
		(unsigned char)k->job[plain] >= 0x80))
		plain++;
	if (len == 0 || plain < len || utf8_check(k->job, len) < len ||
	    k->ranks < 2 || k->ranks > INT32_MAX || k->nodes < 0 ||
	    k->nodes > k->ranks || k->rank < 0 ||
	    !(k->calls >= 1 && k->calls < BYTES_MAX) ||
	    !(k->bytes >= 0 && k->bytes < BYTES_MAX) ||
	    !(k->seconds > 0 && k->seconds < SECONDS_MAX))
		return;
	k->uid = f->uid;
	k->size = k->bytes > k->calls ? ilogb(k->bytes / k->calls) : 0;
	for (have = f->kinds; have < f->kinds + f->count; have++)
		if (have->rank == k->rank && inband_is_like(have, k))
			break;
	if (have == f->kinds + f->count) {
		if (f->count == KINDS_MAX)
			return;
		f->kinds = xreallocarray(f->kinds, f->count + 1,
		    sizeof(*f->kinds));
		f->kinds[f->count++] = *k;
		return;
	}
	have->calls += k->calls;
	have->bytes += k->bytes;
	have->seconds += k->seconds;
}

/* NCCL's inspector has the bytes of one rank's part if each rank has one. */
static double
inband_whole_bytes(const char *op, double bytes, int64_t ranks)
{
	return strcmp(op, "allgather") == 0 ||
		strcmp(op, "reduce-scatter") == 0 || strcmp(op, "alltoall") == 0
	    ? bytes * (double)ranks
	    : bytes;
}

/* The job is of the folder's name: nccl-inspector-12, or 12. */
static void
inband_take_call(struct inband *ib, struct file *f, const char *line,
    int source)
{
	static const char prefix[] = "nccl-inspector-";
	const char *end = strrchr(f->path, '/'), *folder = end;
	json_t *all = json_loads(line, 0, NULL);
	const json_t *head = json_object_get(all, "header");
	const json_t *coll = json_object_get(all, "coll_perf");
	const json_t *p2p = json_object_get(all, "p2p_perf");
	struct kind k = { .source = source,
		.ranks = member_int(head, "n_ranks"),
		.nodes = member_int(head, "nnodes"),
		.rank = member_int(head, "rank"),
		.calls = 1 };
	double us = member_number(coll, "coll_exec_time_us");

	if (coll == NULL)
		us = member_number(p2p, "p2p_exec_time_us");
	k.seconds = us / 1e6;
	k.bytes = coll != NULL ? member_number(coll, "coll_msg_size_bytes")
			       : member_number(p2p, "p2p_msg_size_bytes");
	while (folder > f->path && folder[-1] != '/')
		folder--;
	if (strncmp(folder, prefix, strlen(prefix)) == 0)
		folder += strlen(prefix);
	snprintf(k.job, sizeof(k.job), "%.*s", (int)(end - folder), folder);
	if (hostname_is_same(ib->host,
		member_text(json_object_get(all, "metadata"), "hostname")) &&
	    inband_op_find(coll != NULL ? member_text(coll, "coll")
					: member_text(p2p, "p2p"),
		k.op)) {
		k.bytes = inband_whole_bytes(k.op, k.bytes, k.ranks);
		inband_kind_add(f, &k);
	}
	json_decref(all);
}

/* The text of a label, "" without it. */
static void
inband_label(const char *line, const char *name, char *ret, size_t ret_bytes)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof(key), "%s=\"", name);
	for (at = strstr(line, key);
	     at != NULL && (at == line || (at[-1] != '{' && at[-1] != ','));)
		at = strstr(at + 1, key);
	at = at == NULL ? "" : at + strlen(key);
	snprintf(ret, ret_bytes, "%.*s", (int)strcspn(at, "\""), at);
}

/* "name{labels} value": the value, or NAN. */
static double
inband_value_of(const char *line)
{
	const char *end = strrchr(line, '}');
	double x = NAN;

	return end != NULL &&
		str_to_double(end + 1 + strspn(end + 1, " "), 0, 1e18, &x) == 0
	    ? x
	    : NAN;
}

/* "4-5MB": return the lower bound. */
static double
inband_range_bytes(const char *text)
{
	static const char units[] = "BKMGT";
	double least;
	char unit;

	return sscanf(text, "%lf-%*u%c", &least, &unit) == 2 && unit != '\0' &&
		strchr(units, unit) != NULL
	    ? ldexp(least, 10 * (int)(strchr(units, unit) - units))
	    : 0;
}

/* A rate comes before the time with the same labels; together they give the
 * bytes more precisely than message_size. A bus rate is a multiple of the
 * algorithm's rate; for an operation that the inspector does not know there is
 * none. */
static void
inband_take_means(struct inband *ib, struct file *f, const char *line,
    int source)
{
	struct kind k = { .source = source, .calls = 1 };
	const char *labels = strchr(line, '{'), *rate = strchr(ib->rate, '{');
	double n, gbs = inband_value_of(ib->rate), per_algorithm = 1;
	char text[256], op[64];
	size_t len;

	if (labels == NULL)
		return;
	if (strstr(line, "bandwidth_gbs{") != NULL) {
		snprintf(ib->rate, sizeof(ib->rate), "%s", line);
		return;
	}
	len = (size_t)(strrchr(line, '}') == NULL
		? 0
		: strrchr(line, '}') - labels);
	if (strstr(line, "exec_time_microseconds{") == NULL || rate == NULL ||
	    len == 0 || strncmp(labels, rate, len + 1) != 0)
		return;
	inband_label(line, "node", text, sizeof(text));
	if (!hostname_is_same(ib->host, text))
		return;
	inband_label(line, "collective", op, sizeof(op));
	if (op[0] == '\0')
		inband_label(line, "p2p_operation", op, sizeof(op));
	inband_label(line, "nranks", text, sizeof(text));
	if (!inband_op_find(op, k.op) ||
	    str_to_int(text, 2, INT32_MAX, &k.ranks) < 0)
		return;
	inband_label(line, "n_nodes", text, sizeof(text));
	(void)str_to_int(text, 0, INT32_MAX, &k.nodes);
	inband_label(line, "gpu", text, sizeof(text));
	(void)str_to_int(text + strspn(text, "GPU"), 0, INT32_MAX, &k.rank);
	inband_label(line, "slurm_job_id", k.job, sizeof(k.job));
	n = (double)k.ranks;
	if (strcmp(k.op, "allreduce") == 0)
		per_algorithm = 2 * (n - 1) / n;
	else if (inband_whole_bytes(k.op, 1, 2) > 1)
		per_algorithm = (n - 1) / n;
	k.seconds = inband_value_of(line) / 1e6;
	inband_label(line, "message_size", text, sizeof(text));
	k.bytes = gbs > 0
	    ? gbs * 1e9 / per_algorithm * k.seconds
	    : inband_whole_bytes(k.op, inband_range_bytes(text), k.ranks);
	inband_kind_add(f, &k);
}

static void
inband_take_sums(struct inband *ib, struct file *f, const char *line,
    int source)
{
	json_t *o = json_loads(line, 0, NULL);
	struct kind k = { .source = source,
		.ranks = member_int(o, "comm_ranks"),
		.nodes = member_int(o, "comm_nodes"),
		.rank = member_int(o, "rank"),
		.calls = member_number(o, "calls"),
		.bytes = member_number(o, "bytes"),
		.seconds = member_number(o, "seconds") };

	snprintf(k.job, sizeof(k.job), "%s", member_text(o, "job"));
	if (hostname_is_same(ib->host, member_text(o, "host")) &&
	    inband_op_find(member_text(o, "op"), k.op))
		inband_kind_add(f, &k);
	json_decref(o);
}

static const struct source {
	const char *suffix, *name;
	int grows, is_sum; /* else new values are added to the old ones */
	void (*take)(struct inband *ib, struct file *f, const char *line,
	    int source);
} sources[] = { { ".log", "nccl", 1, 0, inband_take_call },
	{ ".prom", "nccl-means", 0, 0, inband_take_means },
	{ ".jsonl", "pmpi", 0, 1, inband_take_sums } };

static struct owner *
inband_owner_find(struct inband *ib, uid_t uid)
{
	for (size_t i = 0; i < ib->owner_count; i++)
		if (ib->owners[i].uid == uid)
			return &ib->owners[i];
	return NULL;
}

static void
inband_owner_budget(const struct inband *ib, struct owner *o)
{
	o->calls_bytes = CALLS_BYTES / ib->owner_count;
	o->sums_bytes = SUMS_BYTES / ib->owner_count;
}

/* NULL: there are too many. */
static struct owner *
inband_owner_add(struct inband *ib, uid_t uid)
{
	struct owner *o = inband_owner_find(ib, uid);

	if (o != NULL || ib->owner_count == OWNERS_MAX)
		return o;
	o = &ib->owners[ib->owner_count++];
	*o = (struct owner){ .uid = uid };
	inband_owner_budget(ib, o);
	return o;
}

static void
inband_file_free(struct inband *ib, struct file *f)
{
	inband_owner_find(ib, f->uid)->files--;
	TAILQ_REMOVE(&ib->files, f, next);
	ib->file_count--;
	free(f->path);
	free(f->kinds);
	free(f);
}

/* Drop a file of the user with the most files, if mine has fewer by at least
 * two; else return 0. */
static int
inband_file_make_room(struct inband *ib, const struct owner *mine)
{
	const struct owner *most = mine;
	struct file *f;

	for (size_t i = 0; i < ib->owner_count; i++)
		if (ib->owners[i].files > most->files)
			most = &ib->owners[i];
	if (most->files <= mine->files + 1)
		return 0;
	TAILQ_FOREACH_REVERSE(f, &ib->files, files, next)
	if (f->uid == most->uid)
		break;
	inband_file_free(ib, f);
	return 1;
}

/* Read within the limit of this look; of a file that grows faster, the newest
 * part. Return -1 if its turn comes in another look. */
static int
inband_file_read(struct inband *ib, struct file *f, int source, int fd,
    off_t size)
{
	const struct source *s = &sources[source];
	size_t most = !s->grows ? SUMS_FILE : ib->share_bytes, bytes;
	struct owner *o = inband_owner_find(ib, f->uid);
	size_t *left = s->grows ? &o->calls_bytes : &o->sums_bytes;
	char *text, *line, *end;
	int cut = 0;
	ssize_t n;

	if (most > CALLS_BYTES / ib->owner_count)
		most = CALLS_BYTES / ib->owner_count;
	bytes = most;
	ib->growing += s->grows ? 1 : 0;
	if (!s->grows || size < f->offset)
		f->offset = 0;
	if (s->grows && size - f->offset > (off_t)most)
		cut = 1;
	else if (size - f->offset < (off_t)most)
		bytes = (size_t)(size - f->offset);
	if (*left < bytes)
		return -1;
	if (s->is_sum || (s->grows && f->offset == 0))
		f->count = 0;
	if (cut)
		f->offset = size - (off_t)most;
	text = xcalloc(1, bytes + 1);
	n = pread(fd, text, bytes, f->offset);
	n = n < 0 ? 0 : n;
	*left -= (size_t)n;
	ib->rate[0] = '\0';
	for (line = text;
	     (end = memchr(line, '\n', (size_t)(text + n - line))) != NULL;
	     line = end + 1) {
		*end = '\0';
		if (!cut)
			s->take(ib, f, line, source);
		cut = 0;
	}
	/* Without a newline by then it is not a line. */
	f->offset += line == text && n == (ssize_t)most ? n : line - text;
	free(text);
	return 0;
}

static struct file *
inband_file_find(struct inband *ib, const char *path, const struct stat *st)
{
	struct owner *o;
	struct file *f;

	/* An old one makes room. */
	if (clk_unix_ns() / CLK_NS_PER_S > (uint64_t)st->st_mtime + OLD_S)
		return NULL;
	TAILQ_FOREACH (f, &ib->files, next)
		if (strcmp(f->path, path) == 0 && f->uid == st->st_uid)
			return f;
	o = inband_owner_add(ib, st->st_uid);
	if (o == NULL ||
	    (ib->file_count == FILES_MAX && !inband_file_make_room(ib, o)))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->uid = st->st_uid;
	o->files++;
	TAILQ_INSERT_TAIL(&ib->files, f, next);
	ib->file_count++;
	return f;
}

static void
inband_file_look(struct inband *ib, int dir, const char *name, const char *path)
{
	size_t len = strlen(name), suffix, source = 0;
	int64_t changed_ns, at;
	struct file *f;
	struct stat st;
	int fd;

	for (; source < ARRAY_LEN(sources); source++) {
		suffix = strlen(sources[source].suffix);
		if (len > suffix &&
		    strcmp(name + len - suffix, sources[source].suffix) == 0)
			break;
	}
	if (source == ARRAY_LEN(sources))
		return;
	/* Opening a pipe or a device must not block. */
	fd = openat(dir, name,
	    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	f = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
	    ? inband_file_find(ib, path, &st)
	    : NULL;
	if (f != NULL) {
		changed_ns = (int64_t)st.st_mtim.tv_sec *
			(int64_t)CLK_NS_PER_S +
		    st.st_mtim.tv_nsec;
		f->seen = 1;
		if (f->inode != st.st_ino)
			f->offset = 0;
		at = st.st_size < f->offset ? 0 : f->offset;
		if ((f->inode != st.st_ino || f->changed_ns != changed_ns ||
			(sources[source].grows && f->offset != st.st_size)) &&
		    inband_file_read(ib, f, (int)source, fd, st.st_size) == 0) {
			if (!sources[source].grows || f->offset > at)
				f->fresh = TOLD_TIMES;
			f->inode = st.st_ino;
			f->changed_ns = changed_ns;
		}
	}
	close(fd);
}

/* The folder, and those in it: of jobs. Takes fd. */
static void
inband_folder_look(struct inband *ib, int fd, const char *path)
{
	DIR *d = fdopendir(fd);
	int is_top = strcmp(path, ib->dir) == 0, inner;
	struct dirent *de;
	char name[PATH_MAX];

	if (d == NULL) {
		close(fd);
		return;
	}
	while (ib->entries_left-- > 0 && (de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.' ||
		    str_format(name, sizeof(name), "%s/%s", path, de->d_name) <
			0)
			continue;
		inner = is_top
		    ? openat(fd, de->d_name,
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
		    : -1;
		if (inner >= 0)
			inband_folder_look(ib, inner, name);
		else
			inband_file_look(ib, fd, de->d_name, name);
	}
	closedir(d);
}

static int
inband_by_seconds(const void *a, const void *b)
{
	double x = ((const struct row *)a)->sum.seconds;
	double y = ((const struct row *)b)->sum.seconds;

	return (x < y) - (x > y);
}

static struct row *
inband_row_find(struct inband *ib, struct row *rows, size_t *count,
    const struct kind *k)
{
	struct owner *o = inband_owner_find(ib, k->uid);

	for (size_t i = 0; i < *count; i++)
		if (inband_is_like(&rows[i].sum, k))
			return &rows[i];
	if (o->rows >= ROWS_MAX / ib->owner_count)
		return NULL;
	o->rows++;
	rows[*count] = (struct row){ .sum = *k, .least_s = INFINITY };
	rows[*count].sum.calls = 0;
	rows[*count].sum.bytes = 0;
	rows[*count].sum.seconds = 0;
	return &rows[(*count)++];
}

/* A job as one user's files tell of it. */
static json_t *
inband_job_get(const json_t *jobs, const struct kind *k)
{
	char key[100];

	snprintf(key, sizeof(key), "%u %s", k->uid, k->job);
	return json_object_get(jobs, key);
}

/* Jobs with news, of each user with some the same number. */
static json_t *
inband_jobs_fresh(struct inband *ib)
{
	json_t *jobs = json_object();
	size_t owners = 0;
	struct file *f;
	char key[100];

	for (size_t i = 0; i < ib->owner_count; i++)
		ib->owners[i].rows = ib->owners[i].jobs = 0;
	TAILQ_FOREACH (f, &ib->files, next)
		if (f->fresh && f->count > 0 &&
		    inband_owner_find(ib, f->uid)->jobs++ == 0)
			owners++;
	for (size_t i = 0; i < ib->owner_count; i++)
		ib->owners[i].jobs = 0;
	TAILQ_FOREACH (f, &ib->files, next)
		for (size_t i = 0; f->fresh && i < f->count; i++) {
			struct owner *o = inband_owner_find(ib, f->uid);

			if (inband_job_get(jobs, &f->kinds[i]) != NULL ||
			    (o->jobs > 0 &&
				o->jobs >= INBAND_JOBS_MAX / owners))
				continue;
			o->jobs++;
			snprintf(key, sizeof(key), "%u %s", f->uid,
			    f->kinds[i].job);
			json_object_set_new(jobs, key,
			    json_pack("{s:s, s:I, s:[]}", "job",
				f->kinds[i].job, "uid", (json_int_t)f->uid,
				"rows"));
		}
	return jobs;
}

/* The reported time of a call includes waiting for later ranks: the rank that
 * waits least is closest to the time in the network. */
static json_t *
inband_answer(struct inband *ib)
{
	struct row *rows = xcalloc(ROWS_MAX, sizeof(*rows)), *r;
	json_t *jobs = inband_jobs_fresh(ib), *list = json_array(), *of;
	size_t count = 0;
	const char *key;
	struct file *f;

	TAILQ_FOREACH (f, &ib->files, next)
		for (size_t i = 0; i < f->count; i++) {
			const struct kind *k = &f->kinds[i];

			r = inband_job_get(jobs, k) != NULL
			    ? inband_row_find(ib, rows, &count, k)
			    : NULL;
			if (r == NULL)
				continue;
			r->sum.calls += k->calls;
			r->sum.bytes += k->bytes;
			r->sum.seconds += k->seconds;
			r->most_calls = fmax(r->most_calls, k->calls);
		}
	TAILQ_FOREACH (f, &ib->files, next) {
		f->fresh -= f->fresh > 0;
		for (size_t i = 0; i < f->count; i++) {
			r = inband_job_get(jobs, &f->kinds[i]) != NULL
			    ? inband_row_find(ib, rows, &count, &f->kinds[i])
			    : NULL;
			if (r != NULL && 2 * f->kinds[i].calls >= r->most_calls)
				r->least_s = fmin(r->least_s,
				    f->kinds[i].seconds / f->kinds[i].calls);
		}
	}
	qsort(rows, count, sizeof(*rows), inband_by_seconds);
	for (r = rows; r < rows + count; r++) {
		of = json_object_get(inband_job_get(jobs, &r->sum), "rows");
		if (of != NULL && json_array_size(of) < JOB_ROWS_MAX)
			json_array_append_new(of,
			    json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, "
				      "s:f}",
				"source", sources[r->sum.source].name, "op",
				r->sum.op, "ranks", (json_int_t)r->sum.ranks,
				"nodes", (json_int_t)r->sum.nodes, "bytes",
				r->sum.bytes / r->sum.calls, "calls",
				r->sum.calls, "seconds", r->sum.seconds,
				"least_s", r->least_s));
	}
	json_object_foreach (jobs, key, of)
		if (json_array_size(list) < INBAND_JOBS_MAX)
			json_array_append(list, of);
	json_decref(jobs);
	free(rows);
	return list;
}

struct inband *
inband_new(const char *dir, const char *host)
{
	struct inband *ib;

	if (dir[0] == '\0')
		return NULL;
	ib = xcalloc(1, sizeof(*ib));
	ib->dir = xstrdup(dir);
	ib->host = xstrdup(host);
	TAILQ_INIT(&ib->files);
	return ib;
}

void
inband_free(struct inband *ib)
{
	if (ib == NULL)
		return;
	while (!TAILQ_EMPTY(&ib->files))
		inband_file_free(ib, TAILQ_FIRST(&ib->files));
	free(ib->dir);
	free(ib->host);
	free(ib);
}

/* Those who have no file any more are forgotten. */
static void
inband_owners_begin(struct inband *ib)
{
	size_t kept = 0;

	for (size_t i = 0; i < ib->owner_count; i++)
		if (ib->owners[i].files > 0)
			ib->owners[kept++] = ib->owners[i];
	ib->owner_count = kept;
	for (size_t i = 0; i < kept; i++)
		inband_owner_budget(ib, &ib->owners[i]);
}

json_t *
inband_look(struct inband *ib, int again)
{
	uint64_t now_ns = clk_ns();
	struct file *f, *tmp;
	int fd, told = 0;

	if (ib == NULL ||
	    (ib->at_ns != 0 && now_ns - ib->at_ns < LOOK_EVERY_NS && !again))
		return NULL;
	ib->at_ns = now_ns;
	ib->share_bytes = CALLS_BYTES / (ib->growing > 0 ? ib->growing : 1);
	if (ib->share_bytes < CALLS_FILE)
		ib->share_bytes = CALLS_FILE;
	inband_owners_begin(ib);
	ib->entries_left = ENTRIES_MAX;
	ib->growing = 0;
	fd = open(ib->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		inband_folder_look(ib, fd, ib->dir);
	TAILQ_FOREACH_SAFE (f, &ib->files, next, tmp) {
		if (!f->seen) {
			inband_file_free(ib, f);
			continue;
		}
		f->seen = 0;
		f->fresh = again && f->fresh == 0 ? 1 : f->fresh;
		told |= f->fresh && f->count > 0;
	}
	return told ? inband_answer(ib) : NULL;
}
