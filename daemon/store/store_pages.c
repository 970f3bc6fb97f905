/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pages.c - pages, cells and rows of an SQLite file that may be damaged:
 * the position of each byte, and whether it is possible.
 */
#include "daemon/store/store_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"

#define HEADER_BYTES     100
#define LOG_HEADER_BYTES 32
#define FRAME_BYTES      24          /* before each page of the log */
#define LOG_MAGIC        0x377f0682u /* or plus one: big-endian checksums */
#define PAGE_BYTES       4096 /* SQLite's default, without a readable header */
#define TYPE_INTERIOR    0x05
#define TYPE_LEAF        0x0d

static uint32_t
store_pages_u16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t
store_pages_u32(const uint8_t *p)
{
	return store_pages_u16(p) << 16 | store_pages_u16(p + 2);
}

/* Read a varint. Returns its length, or 0 if it does not end before end. */
static size_t
store_pages_varint(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t n = 0; n < 9 && p + n < end; n++) {
		if (n == 8) {
			*ret = v << 8 | p[8];
			return 9;
		}
		v = v << 7 | (p[n] & 0x7f);
		if ((p[n] & 0x80) == 0) {
			*ret = v;
			return n + 1;
		}
	}
	return 0;
}

static int
store_pages_read_at(int fd, uint8_t *to, size_t bytes, uint64_t at)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(fd, to + got, bytes - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		got += (size_t)n;
	}
	return 0;
}

static int
store_pages_size_is_valid(uint32_t bytes)
{
	return bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

static int
store_pages_is_header(const uint8_t *h)
{
	uint32_t size = store_pages_u16(h + 16);

	return memcmp(h, "SQLite format 3", 16) == 0 && h[20] <= 32 &&
	    store_pages_size_is_valid(size == 1 ? 65536 : size);
}

/* Continue the checksum of the log, over words in the byte order of its
 * magic. */
static void
store_pages_log_sum(const uint8_t *p, size_t bytes, int is_big, uint32_t sum[2])
{
	for (size_t i = 0; i + 8 <= bytes; i += 8)
		for (size_t k = 0; k < 2; k++) {
			const uint8_t *w = p + i + 4 * k;

			sum[k] += (is_big ? store_pages_u32(w)
					  : (uint32_t)w[3] << 24 |
					      (uint32_t)w[2] << 16 |
					      (uint32_t)w[1] << 8 | w[0]) +
			    sum[1 - k];
		}
}

/* Count the commits of the log's current generation from a damaged frame on.
 * After a power failure the last one may be one that was not acknowledged. */
static int64_t
store_pages_log_lost(const struct store_pages *p, const uint8_t *header,
    uint64_t at)
{
	uint8_t frame[FRAME_BYTES];
	int64_t lost = 0;
	struct stat st;

	if (fstat(p->log_fd, &st) < 0)
		return 1;
	for (; at + FRAME_BYTES + p->page_bytes <= (uint64_t)st.st_size;
	     at += FRAME_BYTES + p->page_bytes)
		lost += store_pages_read_at(p->log_fd, frame, sizeof(frame),
			    at) == 0 &&
		    memcmp(frame + 8, header + 16, 8) == 0 &&
		    store_pages_u32(frame + 4) != 0;
	return lost;
}

/* Read the frames up to the last commit of the log's current generation.
 * in_file: pages of the file before. *ret_count: pages after that commit; 0: no
 * commit. */
static void
store_pages_log_read(struct store_pages *p, const uint8_t *header,
    uint64_t in_file, uint32_t *ret_count)
{
	uint32_t sum[2] = { 0, 0 };
	int is_big = (int)(store_pages_u32(header) & 1);
	size_t frame_bytes = FRAME_BYTES + (size_t)p->page_bytes;
	uint8_t *frame = xcalloc(1, frame_bytes);
	uint64_t at = LOG_HEADER_BYTES;
	uint32_t *numbers = NULL;
	size_t n = 0, committed = 0;

	store_pages_log_sum(header, 24, is_big, sum);
	if (sum[0] != store_pages_u32(header + 24) ||
	    sum[1] != store_pages_u32(header + 28)) {
		p->log_lost = -1;
		goto out;
	}
	while (store_pages_read_at(p->log_fd, frame, frame_bytes, at) == 0) {
		store_pages_log_sum(frame, 8, is_big, sum);
		store_pages_log_sum(frame + FRAME_BYTES, p->page_bytes, is_big,
		    sum);
		if (memcmp(frame + 8, header + 16, 8) != 0 ||
		    sum[0] != store_pages_u32(frame + 16) ||
		    sum[1] != store_pages_u32(frame + 20) ||
		    store_pages_u32(frame) == 0)
			break;
		numbers = xmore(numbers, n, sizeof(*numbers));
		numbers[n++] = store_pages_u32(frame);
		if (store_pages_u32(frame + 4) != 0) {
			committed = n;
			*ret_count = store_pages_u32(frame + 4);
		}
		at += frame_bytes;
	}
	p->log_lost = store_pages_log_lost(p, header, at);
	/* The file grows by at most one page per frame. */
	if (*ret_count > in_file + committed)
		*ret_count = (uint32_t)(in_file + committed);
	for (size_t i = 0; i < committed; i++)
		if (numbers[i] <= *ret_count && numbers[i] > p->log_count)
			p->log_count = numbers[i];
	p->log_at = xcalloc((size_t)p->log_count + 1, sizeof(*p->log_at));
	for (size_t i = 0; i < committed; i++)
		if (numbers[i] <= p->log_count)
			p->log_at[numbers[i]] = LOG_HEADER_BYTES +
			    i * frame_bytes + FRAME_BYTES;
out:
	free(numbers);
	free(frame);
}

int
store_pages_open(struct store_pages *p, int db_fd, int log_fd)
{
	uint8_t header[HEADER_BYTES] = { 0 }, log[LOG_HEADER_BYTES] = { 0 };
	uint32_t in_log = 0, said = 0, log_page = 0;
	uint64_t in_file;
	struct stat st;
	int is_header, is_log;

	*p = (struct store_pages){ .db_fd = db_fd, .log_fd = log_fd };
	if (fstat(db_fd, &st) < 0)
		return -errno;
	is_header = store_pages_read_at(db_fd, header, sizeof(header), 0) ==
		0 &&
	    store_pages_is_header(header);
	is_log = log_fd >= 0 &&
	    store_pages_read_at(log_fd, log, sizeof(log), 0) == 0 &&
	    (store_pages_u32(log) & ~1u) == LOG_MAGIC;
	if (is_log)
		log_page = store_pages_u32(log + 8);
	p->page_bytes = is_header                 ? store_pages_u16(header + 16)
	    : store_pages_size_is_valid(log_page) ? log_page
						  : PAGE_BYTES;
	if (p->page_bytes == 1)
		p->page_bytes = 65536;
	p->usable_bytes = p->page_bytes - (is_header ? header[20] : 0);
	if (is_header)
		said = store_pages_u32(header + 28);
	in_file = (uint64_t)st.st_size / p->page_bytes;
	if (is_log && log_page == p->page_bytes)
		store_pages_log_read(p, log, in_file, &in_log);
	else if (log_fd >= 0 &&
	    (fstat(log_fd, &st) < 0 || st.st_size > LOG_HEADER_BYTES))
		p->log_lost = -1;
	/* Pages after the end that the newest commit has set are old. */
	if (said == 0 || said > in_file)
		said = in_file > UINT32_MAX - 1 ? UINT32_MAX - 1
						: (uint32_t)in_file;
	p->count = in_log == 0 ? said : in_log;
	p->page = xcalloc(1, p->page_bytes);
	return 0;
}

void
store_pages_close(struct store_pages *p)
{
	if (p->db_fd >= 0)
		close(p->db_fd);
	if (p->log_fd >= 0)
		close(p->log_fd);
	free(p->log_at);
	free(p->page);
	free(p->payload);
	*p = (struct store_pages){ .db_fd = -1, .log_fd = -1 };
}

static int
store_pages_get(const struct store_pages *p, uint32_t number, uint8_t *to)
{
	if (number == 0 || number > p->count)
		return -EBADMSG;
	if (number <= p->log_count && p->log_at[number] != 0)
		return store_pages_read_at(p->log_fd, to, p->page_bytes,
		    p->log_at[number]);
	return store_pages_read_at(p->db_fd, to, p->page_bytes,
	    (uint64_t)(number - 1) * p->page_bytes);
}

/* On page 1 the page's header is after the header of the file; offsets of cells
 * are nevertheless counted from the start of the page. */
enum store_pages_kind
store_pages_load(struct store_pages *p, uint32_t number, int *ret_cells)
{
	size_t at = number == 1 ? HEADER_BYTES : 0;
	const uint8_t *h = p->page + at;
	uint32_t cells, header_bytes;

	*ret_cells = 0;
	if (store_pages_get(p, number, p->page) < 0)
		return PAGE_DAMAGED;
	if (h[0] != TYPE_LEAF && h[0] != TYPE_INTERIOR)
		return PAGE_OTHER;
	cells = store_pages_u16(h + 3);
	header_bytes = h[0] == TYPE_LEAF ? 8 : 12;
	if (at + header_bytes + 2 * cells > p->usable_bytes)
		return PAGE_DAMAGED;
	*ret_cells = (int)cells;
	p->page_cells_at = (uint32_t)at + header_bytes;
	return h[0] == TYPE_LEAF ? PAGE_LEAF : PAGE_INTERIOR;
}

uint32_t
store_pages_child(const struct store_pages *p, int cells, int at)
{
	uint32_t cell;

	if (at == cells)
		return store_pages_u32(p->page + p->page_cells_at - 4);
	cell = store_pages_u16(p->page + p->page_cells_at + 2 * at);
	return cell + 4 > p->usable_bytes ? 0 : store_pages_u32(p->page + cell);
}

/* Append the overflow pages of a payload; `have` bytes have been read. */
static int
store_pages_overflow_read(struct store_pages *p, uint32_t next, size_t have,
    size_t bytes)
{
	uint8_t *page = xcalloc(1, p->page_bytes);
	int rc = 0;

	/* Each turn reads some of the missing bytes, so the loop ends. */
	while (rc == 0 && have < bytes) {
		size_t n = p->usable_bytes - 4;

		rc = store_pages_get(p, next, page);
		if (n > bytes - have)
			n = bytes - have;
		memcpy(p->payload + have, page + 4, n);
		have += n;
		next = store_pages_u32(page);
	}
	free(page);
	return rc;
}

/* Read the payload of the cell into p->payload. */
static int
store_pages_payload_read(struct store_pages *p, const uint8_t *cell,
    uint64_t bytes)
{
	const uint8_t *end = p->page + p->usable_bytes;
	uint64_t u = p->usable_bytes, most = u - 35, local = bytes;
	uint64_t least = (u - 12) * 32 / 255 - 23;

	/* A damaged length must not allocate more than the file can hold. */
	if (bytes == 0 || bytes > (uint64_t)p->count * u || bytes > INT32_MAX)
		return -EBADMSG;
	if (bytes > most) {
		local = least + (bytes - least) % (u - 4);
		if (local > most)
			local = least;
	}
	if ((uint64_t)(end - cell) < local + (bytes > most ? 4 : 0))
		return -EBADMSG;
	if (bytes > p->payload_cap_bytes) {
		uint8_t *more = realloc(p->payload, bytes);

		/* The length may be damaged, too: only this row is lost. */
		if (more == NULL)
			return -EBADMSG;
		p->payload = more;
		p->payload_cap_bytes = bytes;
	}
	memcpy(p->payload, cell, local);
	return bytes > most ? store_pages_overflow_read(p,
				  store_pages_u32(cell + local), local, bytes)
			    : 0;
}

/* Read one value by its serial type. Returns its length, or -1. */
static int64_t
store_pages_value(uint64_t type, const uint8_t *at, const uint8_t *end,
    struct sql_value *ret)
{
	static const uint8_t lengths[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
	uint64_t bits = 0, len;

	if (type == 10 || type == 11)
		return -1;
	len = type < 10 ? lengths[type] : (type - 12) / 2;
	if (len > (uint64_t)(end - at))
		return -1;
	*ret = (struct sql_value){ 0 };
	if (type >= 12) {
		ret->type = type & 1 ? SQL_TEXT : SQL_BLOB;
		ret->bytes = at;
		ret->len_bytes = len;
	} else if (type == 7) {
		for (int i = 0; i < 8; i++)
			bits = bits << 8 | at[i];
		ret->type = SQL_REAL;
		memcpy(&ret->real, &bits, sizeof(ret->real));
	} else if (type != 0) {
		if (len > 0 && at[0] & 0x80)
			bits = UINT64_MAX;
		for (uint64_t i = 0; i < len; i++)
			bits = bits << 8 | at[i];
		ret->type = SQL_INT;
		ret->integer = type >= 8 ? (int64_t)type - 8 : (int64_t)bits;
	}
	return (int64_t)len;
}

int
store_pages_row(struct store_pages *p, int at, struct store_pages_row *ret)
{
	const uint8_t *end = p->page + p->usable_bytes, *types, *values;
	uint32_t place = store_pages_u16(p->page + p->page_cells_at + 2 * at);
	const uint8_t *cell = p->page + place;
	uint64_t bytes = 0, rowid = 0, header = 0, type = 0;
	size_t n, m;

	if (place < p->page_cells_at || place >= p->usable_bytes)
		return -EBADMSG;
	n = store_pages_varint(cell, end, &bytes);
	m = n > 0 ? store_pages_varint(cell + n, end, &rowid) : 0;
	if (m == 0 || store_pages_payload_read(p, cell + n + m, bytes) < 0)
		return -EBADMSG;
	n = store_pages_varint(p->payload, p->payload + bytes, &header);
	if (n == 0 || header < n || header > bytes)
		return -EBADMSG;
	ret->rowid = (int64_t)rowid;
	ret->count = 0;
	types = p->payload + n;
	values = p->payload + header;
	end = p->payload + bytes;
	while (types < p->payload + header) {
		int64_t len = -1;

		n = store_pages_varint(types, p->payload + header, &type);
		if (n > 0 && ret->count < STORE_PAGES_COLUMNS)
			len = store_pages_value(type, values, end,
			    &ret->columns[ret->count++]);
		if (len < 0)
			return -EBADMSG;
		types += n;
		values += len;
	}
	return values == end ? 0 : -EBADMSG;
}

void
store_pages_free_list(struct store_pages *p, uint8_t *free_pages)
{
	uint8_t header[HEADER_BYTES] = { 0 };
	uint32_t trunk, n;

	if (p->count == 0 || store_pages_get(p, 1, p->page) < 0)
		return;
	memcpy(header, p->page, sizeof(header));
	if (!store_pages_is_header(header))
		return;
	trunk = store_pages_u32(header + 32);
	while (trunk > 1 && trunk <= p->count && !free_pages[trunk] &&
	    store_pages_get(p, trunk, p->page) == 0) {
		n = store_pages_u32(p->page + 4);
		if (n > p->usable_bytes / 4 - 2)
			break; /* not a trunk page of the list */
		free_pages[trunk] = 1;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t leaf = store_pages_u32(p->page + 8 + 4 * i);

			if (leaf > 1 && leaf <= p->count && !free_pages[leaf])
				free_pages[leaf] = 1;
		}
		trunk = store_pages_u32(p->page);
	}
}
