/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/rng.h"

struct card card = { .bytes = 2ULL << 30 };

void
card_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what,
	    card.device != NULL ? card.ops->error(card.device) : "");
	exit(1);
}

void
card_must(int rc, const char *what)
{
	if (rc < 0)
		card_die(what);
}

void *
card_alloc(uint64_t size)
{
	void *base;

	card_must(card.ops->alloc(card.device, size, &base), "allocating");
	return base;
}

void *
card_host_alloc(uint64_t size)
{
	void *base;

	card_must(card.ops->host_alloc(card.device, size, &base), "allocating");
	return base;
}

/* A line of the table. */
void
card_report(const char *what, double bytes_per_s)
{
	double share = card.limit > 0 ? bytes_per_s / card.limit : 0;

	printf("%s|%.1f GB/s, verified|", what, bytes_per_s / 1e9);
	if (card.limit > 0)
		printf("%.1f %%|\n", share * 100);
	else
		printf("-|\n");
	if (card.limit > 0 && share < card.share_wanted) {
		fprintf(stderr, "%s: %.1f %% of the limit, wanted %.1f %%\n",
		    what, share * 100, card.share_wanted * 100);
		card.too_slow = 1;
	}
}

/* ---- data ---- */

void
card_randomise(void *to, uint64_t size, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (uint64_t i = 0; i + 8 <= size; i += 8) {
		uint64_t x = rng_next(&r);

		memcpy((char *)to + i, &x, 8);
	}
}

static uint64_t
piece_of(uint64_t size)
{
	return size < CARD_PIECE_BYTES ? size : CARD_PIECE_BYTES;
}

void
card_fill(void *to, uint64_t size, uint64_t seed)
{
	uint64_t piece = piece_of(size);
	void *here = card_host_alloc(piece);

	card_randomise(here, piece, seed);
	for (uint64_t off = 0; off < size; off += piece)
		card_must(card.ops->copy(card.stream, (char *)to + off, here,
			      size - off < piece ? size - off : piece),
		    "filling");
	card_must(card.ops->stream_sync(card.stream), "filling");
	card.ops->host_free(card.device, here);
}

/* Every byte of it, piece by piece. */
void
card_expect_piece(const void *at, uint64_t size, const void *want,
    const char *what)
{
	uint64_t piece = piece_of(size);
	char *here = card_host_alloc(piece);

	for (uint64_t off = 0; off < size; off += piece) {
		uint64_t n = size - off < piece ? size - off : piece, i = 0;

		card_must(card.ops->copy(card.stream, here,
			      (const char *)at + off, n),
		    what);
		card_must(card.ops->stream_sync(card.stream), what);
		if (memcmp(here, want, n) == 0)
			continue;
		while (here[i] == ((const char *)want)[i])
			i++;
		fprintf(stderr, "%s: wrong byte at %llu\n", what,
		    (unsigned long long)(off + i));
		exit(1);
	}
	card.ops->host_free(card.device, here);
}

void
card_expect(const void *at, uint64_t size, uint64_t seed, const char *what)
{
	void *want = card_host_alloc(piece_of(size));

	card_randomise(want, piece_of(size), seed);
	card_expect_piece(at, size, want, what);
	card.ops->host_free(card.device, want);
}

/* ---- two processes ---- */

/* This program again, with another case; a GPU does not survive fork. */
struct card_other
card_other_start(const char *name, const char *hostid)
{
	int to[2], from[2];
	struct card_other o;
	char size[32];

	if (pipe(to) < 0 || pipe(from) < 0)
		card_die("pipe");
	snprintf(size, sizeof(size), "%llu", (unsigned long long)card.bytes);
	o.pid = fork();
	if (o.pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		if (hostid != NULL)
			setenv("NCCL_HOSTID", hostid, 1);
		execl("/proc/self/exe", card.program, card.name, name, size,
		    NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	o.to = to[1];
	o.from = from[0];
	return o;
}

void
card_tell(int fd, const void *what, size_t size)
{
	if (write(fd, what, size) != (ssize_t)size)
		card_die("telling the other process");
}

void
card_hear(int fd, void *what, size_t size)
{
	if (read(fd, what, size) != (ssize_t)size)
		card_die("the other process ended");
}

void
card_other_end(const struct card_other *o)
{
	int status;

	if (waitpid(o->pid, &status, 0) != o->pid || status != 0)
		card_die("the other process failed");
}
