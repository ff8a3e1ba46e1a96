/*-------------------------------------------------------------------------
 *
 * disk.c
 *	  Files of chunks' columns, written by loaders and read by loads.
 *
 * Runs in participants of load jobs, and in loader workers that write.  The postmaster decides once which files are
 * believed, and its children inherit that.  A writer holds a guard while it copies a column, but not while it writes.
 * Files are replaced as a whole, by renaming, so a reader needs no lock.  They are never flushed: a torn one fails
 * its checksum.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "catalog/pg_class.h"
#include "catalog/pg_control.h"
#include "common/file_perm.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "../../settings.h"
#include "../encode/encode.h"
#include "../store/arena.h"
#include "../store/epoch.h"
#include "../store/store.h"
#include "background.h"
#include "chunk_internal.h"
#include "disk.h"

/* pg_basebackup leaves out files whose names begin with PG_TEMP_FILE_PREFIX. */
#define DIRECTORY	PG_TEMP_FILE_PREFIX "_gpuconc"
#define CLEAN_END	DIRECTORY "/clean_end"

/* Changes whenever GcDiskHead, or the layout behind it, does. */
#define FORMAT		UINT64CONST(0x6770756b65707404)

/* Values of a dictionary in one file. */
#define PART_VALUES	((uint32) 1 << 16)

/* A dictionary with more values for each row than this is not written: most of them are no row's any more. */
#define MOST_VALUES_A_ROW	2

/* Larger files are not written. */
#define MOST_BYTES	MaxAllocSize

/* Starts in a chain: a file is kept until as many came behind the one that wrote it. */
#define MOST_STARTS	512

/* The server's end, as CLEAN_END has it. */
typedef struct GcCleanEnd
{
	uint64		format;
	int64		library_size;	/* of the library: another build may encode otherwise */
	int64		library_time;
	ControlFileData control;
	uint64		nstarts;
	uint64		starts[MOST_STARTS];
	pg_crc32c	crc;
} GcCleanEnd;

/* Behind it: row_start, present, lsns, first_missing, missing; data, nulls; or a part's hashes, ends and bytes. */
typedef struct GcDiskHead
{
	uint64		format;
	uint64		bytes;			/* of the file */
	uint64		start;			/* the server's, that wrote it */
	GcRelKey	key;
	GcColSpec	spec;
	uint32		chunkno;		/* or number of the part */
	uint32		chunk_pages;	/* gpuconc.debug_chunk_pages */
	uint32		npages;
	uint32		npresent;
	XLogRecPtr	map_lsn;		/* for which the present pages are the unchanged ones */
	FullTransactionId before;	/* as GcChunk's */
	uint64		nmissing;
	GcCol		desc;			/* addresses are void */
	GcSpan		span;
	uint64		data_bytes;
	uint64		null_bytes;
	uint64		dict_id;		/* of the dictionary; 0: it has no values */
	uint64		nknown;			/* a column's codes are below; of a part: values that it had */
	uint64		nvalues;		/* of a part; 0: it is none */
	uint64		first_byte;
	uint64		value_bytes;
	pg_crc32c	rows_crc;		/* from row_start to missing */
	pg_crc32c	crc;			/* of all behind the head */
	pg_crc32c	head_crc;		/* the last field */
} GcDiskHead;

/* A file in local memory. */
typedef struct GcDiskColumn
{
	GcDiskHead *head;
	uint32	   *row_start;
	uint8	   *present;
	XLogRecPtr *lsns;
	uint32	   *first_missing;
	uint16	   *missing;
	char	   *data;
	char	   *nulls;
	uint32	   *hashes;
	uint64	   *ends;			/* of values, from the dictionary's first byte on */
	char	   *bytes;			/* from first_byte on */
} GcDiskColumn;

/* Starts of the server, this one last: each went on from the clean end of the one before.  Set by the postmaster. */
static uint64 starts[MOST_STARTS];
static uint64 nstarts = 0;		/* 0: nothing is kept */

/* Parts of dictionaries have the column's number with a minus. */
static void
file_name(char *path, const GcRelKey *key, uint32 chunkno, int16 attnum)
{
	snprintf(path, MAXPGPATH, DIRECTORY "/%u.%u.%u.%u.%d", key->dbid, key->relid, key->relnumber, chunkno, attnum);
}

/* Whose it is; false if the name is none of file_name(): one that is being written, say. */
static bool
parse_name(const char *name, GcRelKey *key)
{
	uint32		chunkno;
	int			attnum;
	int			end = 0;

	return sscanf(name, "%u.%u.%u.%u.%d%n", &key->dbid, &key->relid, &key->relnumber, &chunkno, &attnum, &end) == 5 &&
		name[end] == '\0';
}

/*-------------------------------------------------------------------------
 * The chain of clean ends
 *-------------------------------------------------------------------------
 */
static bool
read_whole(const char *path, void *to, Size size)
{
	int			fd = open(path, O_RDONLY | PG_BINARY, 0);
	bool		ok = fd >= 0 && read(fd, to, size) == (ssize_t) size;

	if (fd >= 0)
		close(fd);
	return ok;
}

static pg_crc32c
crc_of(const void *data, Size size)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, size);
	FIN_CRC32C(crc);
	return crc;
}

/* The server's state as a clean end leaves it, and the library; false after another end. */
static bool
describe_end(GcCleanEnd *end)
{
	char		library[MAXPGPATH];
	struct stat st;

	memset(end, 0, sizeof(GcCleanEnd));
	snprintf(library, sizeof(library), "%s/gpuconc%s", pkglib_path, DLSUFFIX);
	if (stat(library, &st) != 0 || !read_whole(XLOG_CONTROL_FILE, &end->control, sizeof(ControlFileData)))
		return false;
	end->format = FORMAT;
	end->library_size = st.st_size;
	end->library_time = st.st_mtime;
	return end->control.state == DB_SHUTDOWNED &&
		end->control.crc == crc_of(&end->control, offsetof(ControlFileData, crc));
}

/* The last act of the postmaster: without shared memory, and nothing may fail. */
static void
note_end(int code, Datum arg)
{
	GcCleanEnd	end;
	int			fd;

	if (IsUnderPostmaster || nstarts == 0 || !describe_end(&end))
		return;
	end.nstarts = nstarts;
	memcpy(end.starts, starts, sizeof(starts));
	end.crc = crc_of(&end, offsetof(GcCleanEnd, crc));
	fd = open(CLEAN_END, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY, pg_file_create_mode);
	if (fd < 0)
		return;
	if (write(fd, &end, sizeof(end)) != sizeof(end))
		(void) unlink(CLEAN_END);
	close(fd);
}

/* Does this start of the server begin with the clean end that was noted? */
static bool
continues_chain(void)
{
	GcCleanEnd	noted;
	GcCleanEnd	now;

	if (!describe_end(&now) || !read_whole(CLEAN_END, &noted, sizeof(noted)) ||
		noted.crc != crc_of(&noted, offsetof(GcCleanEnd, crc)) ||
		memcmp(&now, &noted, offsetof(GcCleanEnd, nstarts)) != 0)
		return false;
	nstarts = noted.nstarts;
	memcpy(starts, noted.starts, sizeof(starts));
	return true;
}

/* Was the file written by this server, in this start or in one of those before? */
static bool
is_of_chain(const GcDiskHead *head)
{
	for (uint64 i = nstarts; i > 0; i--)
	{
		if (head->start == starts[i - 1])
			return true;
	}
	return false;
}

/* Remove files of other starts: the directory was put back over a later one, or over a copy that went another way. */
static bool
remove_others(void)
{
	DIR		   *dir = opendir(DIRECTORY);
	struct dirent *de;
	bool		ok = dir != NULL;

	while (ok && (de = readdir(dir)) != NULL)
	{
		char		path[MAXPGPATH];
		GcRelKey	key;
		GcDiskHead	head;

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), DIRECTORY "/%s", de->d_name);
		if (!parse_name(de->d_name, &key) || !read_whole(path, &head, sizeof(head)) || !is_of_chain(&head))
			ok = unlink(path) == 0;
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* The chain ends with this start.  Where it is full, its first start is dropped. */
static void
add_start(void)
{
	if (nstarts == MOST_STARTS)
		memmove(starts, starts + 1, --nstarts * sizeof(uint64));
	if (pg_strong_random(&starts[nstarts], sizeof(uint64)))
		nstarts++;
	else
		nstarts = 0;
}

void
gc_disk_start(void)
{
	static bool registered = false;
	struct stat st;

	nstarts = 0;
	if (gc_disk_cache_size_mb == 0 || !continues_chain() || unlink(CLEAN_END) != 0 || !remove_others())
	{
		nstarts = 0;
		/* Files of a time before this was off go, too. */
		if (stat(DIRECTORY, &st) == 0)
			(void) rmtree(DIRECTORY, true);
		if (gc_disk_cache_size_mb == 0)
			return;
		if (MakePGDirectory(DIRECTORY) != 0 && errno != EEXIST)
		{
			ereport(LOG, (errmsg("gpuconc keeps no columns: could not create directory \"%s\": %m", DIRECTORY)));
			return;
		}
	}
	add_start();
	if (!registered)
		on_proc_exit(note_end, 0);
	registered = true;
}

bool
gc_disk_usable(Relation rel)
{
	return nstarts != 0 && rel->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT && !RecoveryInProgress();
}

/*-------------------------------------------------------------------------
 * Files
 *-------------------------------------------------------------------------
 */
/* The next n elements of the file. */
#define SECTION(kept, field, n) \
	do { \
		(kept)->field = (void *) ((char *) (kept)->head + at); \
		at += MAXALIGN((n) * sizeof(*(kept)->field)); \
	} while (0)

/* Where everything is in the file; its bytes. */
static uint64
lay_out(GcDiskColumn *kept, const GcDiskHead *head)
{
	uint64		at = MAXALIGN(sizeof(GcDiskHead));

	SECTION(kept, row_start, head->npages + 1);
	SECTION(kept, present, GC_PRESENT_BYTES(head->npages));
	SECTION(kept, lsns, head->npages);
	SECTION(kept, first_missing, head->npages + 1);
	SECTION(kept, missing, head->nmissing);
	SECTION(kept, data, head->data_bytes);
	SECTION(kept, nulls, head->null_bytes);
	SECTION(kept, hashes, head->nvalues);
	SECTION(kept, ends, head->nvalues);
	SECTION(kept, bytes, head->value_bytes);
	return at;
}

static pg_crc32c
rows_crc(const GcDiskColumn *kept)
{
	return crc_of(kept->row_start, kept->data - (char *) kept->row_start);
}

static pg_crc32c
crc_behind(const GcDiskHead *head)
{
	const Size	behind = MAXALIGN(sizeof(GcDiskHead));

	return crc_of((const char *) head + behind, head->bytes - behind);
}

static pg_crc32c
crc_of_head(const GcDiskHead *head)
{
	return crc_of(head, offsetof(GcDiskHead, head_crc));
}

/* Is it a file of this place that is believed?  Its contents are checked later. */
static bool
is_believed(const GcDiskHead *head, const GcRelKey *key, uint32 chunkno, const GcColSpec *spec, bool is_part)
{
	return head->format == FORMAT && head->head_crc == crc_of_head(head) && is_of_chain(head) &&
		memcmp(&head->key, key, sizeof(GcRelKey)) == 0 && memcmp(&head->spec, spec, sizeof(GcColSpec)) == 0 &&
		head->chunkno == chunkno && (head->nvalues > 0) == is_part && head->chunk_pages == (uint32) gc_chunk_pages;
}

static void
name_file(char *path, const GcDiskHead *head)
{
	file_name(path, &head->key, head->chunkno, head->nvalues > 0 ? -head->spec.attnum : head->spec.attnum);
}

/* The identity in files of a dictionary that this server has begun, or that has grown since it was read from files. */
static uint64
own_id(const GcColState *state)
{
	return starts[nstarts - 1] + state->dict_id;
}

/* Read so many bytes, in pieces that a cancel can come between; false: there are fewer. */
static bool
read_bytes(int fd, char *to, uint64 size)
{
	while (size > 0)
	{
		ssize_t		n = read(fd, to, Min(size, 1 << 26));

		if (n <= 0)
			return false;
		to += n;
		size -= n;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Read a column's file, or a part of its dictionary, into local memory; false if there is none to be believed. */
static bool
read_file(GcDiskColumn *kept, const GcRelKey *key, uint32 chunkno, const GcColSpec *spec, bool is_part)
{
	char		path[MAXPGPATH];
	GcDiskHead	head;
	struct stat st;
	bool		ok,
				spoilt;
	int			fd;

	file_name(path, key, chunkno, is_part ? -spec->attnum : spec->attnum);
	fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0)
		return false;
	ok = read_bytes(fd, (char *) &head, sizeof(head)) && is_believed(&head, key, chunkno, spec, is_part);
	spoilt = ok;
	ok = ok && fstat(fd, &st) == 0 && head.bytes == (uint64) st.st_size && head.bytes <= MOST_BYTES &&
		head.bytes >= MAXALIGN(sizeof(GcDiskHead));
	if (ok)
	{
		kept->head = palloc_extended(head.bytes, MCXT_ALLOC_HUGE);
		memcpy(kept->head, &head, sizeof(head));
		ok = lseek(fd, 0, SEEK_SET) == 0 && read_bytes(fd, (char *) kept->head, head.bytes) &&
			memcmp(kept->head, &head, sizeof(head)) == 0 && kept->head->crc == crc_behind(kept->head) &&
			lay_out(kept, kept->head) == head.bytes;
	}
	CloseTransientFile(fd);
	/* Others are replaced when the column is written again; of this one, a writer would look at the head alone. */
	if (spoilt && !ok)
		(void) unlink(path);
	return ok;
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */

/* Has a dictionary the values of the file's codes, which another one may have, too? */
static bool
has_codes(const GcDiskHead *head, uint64 id, uint64 n)
{
	return head->nknown == 0 || (head->dict_id == id && head->nknown <= n);
}

/* So many chunks' files are looked for. */
#define PROBES			8

double
gc_disk_part(Relation rel, const GcColSpec *spec, BlockNumber npages, double *bytes)
{
	const uint32 nchunks = gc_chunk_count(npages);
	const uint32 nprobes = Min(nchunks, PROBES);
	GcKeptDict	dict;
	GcRelKey	key;
	int			found = 0;
	double		pages = 0;

	*bytes = 0;
	if (nprobes == 0 || !gc_disk_usable(rel))
		return 0;
	dict = gc_disk_dictionary(rel, spec);
	gc_rel_key(rel, &key);
	for (uint32 i = 0; i < nprobes; i++)
	{
		const uint32 chunkno = (uint64) i * nchunks / nprobes;
		char		path[MAXPGPATH];
		GcDiskHead	head;

		file_name(path, &key, chunkno, spec->attnum);
		if (!read_whole(path, &head, sizeof(head)) || !is_believed(&head, &key, chunkno, spec, false) ||
			!has_codes(&head, dict.id, dict.nvalues))
			continue;
		found++;
		pages += head.npages;
		*bytes += gc_arena_bytes(sizeof(GcChunkColumn) + head.data_bytes + head.null_bytes);
	}
	if (found == nprobes)
		*bytes = *bytes / pages * npages + (dict.nvalues > 0 ? gc_dict_attached_size(dict.nvalues, dict.bytes) : 0);
	else
		*bytes = 0;
	return (double) found / nprobes;
}

List *
gc_disk_list(Oid dbid)
{
	List	   *oids = NIL;
	DIR		   *dir = AllocateDir(DIRECTORY);
	struct dirent *de;

	while ((de = ReadDirExtended(dir, DIRECTORY, LOG)) != NULL)
	{
		GcRelKey	key;

		CHECK_FOR_INTERRUPTS();
		if (parse_name(de->d_name, &key) && (!OidIsValid(dbid) || key.dbid == dbid))
			oids = list_append_unique_oid(oids, OidIsValid(dbid) ? key.relid : key.dbid);
	}
	FreeDir(dir);
	return oids;
}

/* Do two files tell of equal rows? */
static bool
same_rows(const GcDiskColumn *a, const GcDiskColumn *b)
{
	return a->head->npages == b->head->npages && a->head->nmissing == b->head->nmissing &&
		a->head->map_lsn == b->head->map_lsn && a->head->desc.nrows == b->head->desc.nrows &&
		memcmp(a->row_start, b->row_start, a->data - (char *) a->row_start) == 0;
}

/* Has the file the rows of the chunk that its column is added to?  Where pages' LSNs are equal, so are their rows. */
static bool
has_rows_of(const GcDiskColumn *kept, const GcReading *reading, const GcChunk *base)
{
	if (kept->head->npages != reading->npages ||
		memcmp(kept->row_start, reading->base_row_start, (reading->npages + 1) * sizeof(uint32)) != 0)
		return false;
	for (uint32 page = 0; page < reading->npages; page++)
	{
		if (reading->present[page / 4] >> (page % 4 * 2) & 1 &&
			(kept->lsns[page] == InvalidXLogRecPtr || kept->lsns[page] != base->lsns[page]))
			return false;
	}
	return true;
}

/* The chunk's pages, as the file has them. */
static void
take_pages(const GcDiskColumn *kept, GcReading *reading)
{
	reading->npages = kept->head->npages;
	reading->npresent = kept->head->npresent;
	reading->lsn = kept->head->map_lsn;
	reading->before = kept->head->before;
	reading->present = kept->present;
	reading->lsns = kept->lsns;
	reading->first_missing = kept->first_missing;
	reading->missing = kept->missing;
	reading->row_start = kept->row_start;
}

/* Has the dictionary the values that the file's codes were of? */
static bool
knows_codes(const GcColState *state, const GcDiskHead *head)
{
	return head->dict_id == own_id(state) || has_codes(head, state->kept_id, state->nkept);
}

/* The column of a chunk that a file has, as the encoder would describe it. */
static GcChunkColumn *
cell_of(const GcDiskColumn *kept)
{
	GcChunkColumn *cell = palloc0(sizeof(GcChunkColumn));

	cell->desc = kept->head->desc;
	cell->desc.data = (uintptr_t) kept->data;
	cell->desc.nulls = kept->head->null_bytes > 0 ? (uintptr_t) kept->nulls : 0;
	cell->span = kept->head->span;
	cell->data_bytes = kept->head->data_bytes;
	cell->null_bytes = kept->head->null_bytes;
	return cell;
}

/* Is there this part, of *last's dictionary if that has one, and is there room up to it?  Then *last is its head. */
static bool
find_part(GcDiskHead *last, const GcRelKey *key, const GcColSpec *spec, uint32 number)
{
	char		path[MAXPGPATH];
	GcDiskHead	head;

	file_name(path, key, number, -spec->attnum);
	if (!read_whole(path, &head, sizeof(head)) || !is_believed(&head, key, number, spec, true) ||
		(last->dict_id != 0 && head.dict_id != last->dict_id) ||
		gc_dict_attached_size(number * PART_VALUES + head.nvalues,
							  head.first_byte + head.value_bytes) > gc_arena_capacity() / 2)
		return false;
	*last = head;
	return true;
}

/* The heads of few parts are read: if one before the last is lacking, reading it fails. */
GcKeptDict
gc_disk_dictionary(Relation rel, const GcColSpec *spec)
{
	GcRelKey	key;
	GcDiskHead	last = {0};
	uint32		step = 1;

	gc_rel_key(rel, &key);
	if (!gc_disk_usable(rel) || !GC_KIND_IS_CODE(spec->kind) || !find_part(&last, &key, spec, 0))
		return (GcKeptDict) {0};
	while (find_part(&last, &key, spec, last.chunkno + step))
		step *= 2;
	while ((step /= 2) > 0)
		(void) find_part(&last, &key, spec, last.chunkno + step);
	return (GcKeptDict) {last.dict_id, last.chunkno * PART_VALUES + last.nvalues, last.chunkno + 1,
						 last.first_byte + last.value_bytes};
}

bool
gc_disk_read_part(const GcRelKey *key, const GcJobColumn *col, uint32 number)
{
	const uint32 first = number * PART_VALUES;
	const uint32 n = Min(col->kept.nvalues - first, PART_VALUES);
	GcDiskColumn file;

	/* The last part may have grown since the job was planned. */
	if (!read_file(&file, key, number, &col->spec, true) || file.head->dict_id != col->kept.id ||
		file.head->nvalues < n || file.ends[n - 1] > col->kept.bytes)
		return false;
	gc_dict_take(col->state, &(GcDictPart) {first, n, file.head->first_byte, file.ends, file.hashes, file.bytes});
	return true;
}

bool
gc_disk_read(GcLoader *loader, GcReading *reading)
{
	const GcJobData *data = loader->job->data;
	const GcColumnSet *set = reading->set;
	GcEncoder  *encoder = gc_reader_encoder(set->reader);
	GcDiskColumn	   *kept = palloc0(Max(set->ncols, 1) * sizeof(GcDiskColumn));
	const GcChunkColumn **cells = palloc0(Max(set->ncols, 1) * sizeof(GcChunkColumn *));
	const GcDiskColumn *first = NULL;

	for (int i = 0; i < set->ncols; i++)
	{
		if (gc_encoder_problem(encoder, i) != GC_COL_OK)
			continue;
		if (!read_file(&kept[i], &loader->job->key, reading->chunkno, &data->cols[set->job_cols[i]].spec, false) ||
			(first && !same_rows(first, &kept[i])) ||
			!knows_codes(data->cols[set->job_cols[i]].state, kept[i].head))
			return false;
		cells[i] = cell_of(&kept[i]);
		first = &kept[i];
	}
	if (first == NULL)
		return false;
	if (reading->full)
	{
		/* A table that has grown or shrunk has another last chunk. */
		if (first->head->npages != gc_chunk_length(reading->chunkno, data->nblocks))
			return false;
		take_pages(first, reading);
	}
	else if (!has_rows_of(first, reading, data->base->chunks[reading->chunkno]))
		return false;
	reading->problem_page = palloc0(Max(set->ncols, 1) * sizeof(uint32));
	gc_encoder_take_cells(encoder, first->head->desc.nrows, cells);
	return true;
}

/*-------------------------------------------------------------------------
 * Writing
 *-------------------------------------------------------------------------
 */
/* Is a dictionary with this number of values worth a file?  Not if most of its values are no row's. */
static bool
is_worth(const GcDirectory *dir, uint64 nvalues)
{
	uint64		rows = 0;

	for (uint32 c = 0; c < dir->nchunks; c++)
		rows += dir->chunks[c] ? dir->chunks[c]->nrows : 0;
	return nvalues / MOST_VALUES_A_ROW <= rows;
}

/* The fields that heads of columns' and parts' files share; false: the dictionary is not to be kept. */
static bool
begin_head(GcDiskHead *head, const GcDirectory *dir, int col, uint32 number)
{
	const GcDirColumn *column = &dir->columns[col];

	memset(head, 0, sizeof(GcDiskHead));
	head->format = FORMAT;
	head->start = starts[nstarts - 1];
	head->key = dir->key;
	head->spec = column->spec;
	head->chunkno = number;
	head->chunk_pages = gc_chunk_pages;
	if (!GC_KIND_IS_CODE(column->spec.kind))
		return true;
	head->nknown = gc_dict_count(gc_dict_view(column->state, column->spec.rtrim));
	if (head->nknown > 0)
		head->dict_id = head->nknown == column->state->nkept ? column->state->kept_id : own_id(column->state);
	return is_worth(dir, head->nknown);
}

/* The head of a column's file, but for checksums; false as above. */
static bool
make_head(GcDiskHead *head, const GcDirectory *dir, GcChunk *chunk, int col)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk->chunkno, col);

	if (!begin_head(head, dir, col, chunk->chunkno))
		return false;
	if (head->nknown > 0)
		head->nknown = cell->span.max + 1;
	head->npages = chunk->npages;
	/* The marks are read behind it: they are complete for it. */
	head->map_lsn = pg_atomic_read_u64(&chunk->proven_lsn);
	pg_read_barrier();
	head->before = chunk->before;
	head->nmissing = chunk->first_missing[chunk->npages];
	head->desc = cell->desc;
	head->span = cell->span;
	head->data_bytes = cell->data_bytes;
	head->null_bytes = cell->null_bytes;
	return true;
}

/* A file with the rows of a chunk and nothing else; false if a page of it has no LSN, or none is present. */
static bool
copy_rows(GcDiskColumn *rows, GcDiskHead *head, const GcChunk *chunk)
{
	const Size	starts = (chunk->npages + 1) * sizeof(uint32);

	rows->head = head;
	(void) lay_out(rows, head);
	rows->head = palloc0(rows->data - (char *) head);
	(void) lay_out(rows, head);
	memcpy(rows->row_start, chunk->row_start, starts);
	memcpy(rows->present, chunk->present, GC_PRESENT_BYTES(chunk->npages));
	memcpy(rows->lsns, chunk->lsns, chunk->npages * sizeof(XLogRecPtr));
	memcpy(rows->first_missing, chunk->first_missing, starts);
	memcpy(rows->missing, chunk->missing, head->nmissing * sizeof(uint16));
	head->rows_crc = rows_crc(rows);
	for (uint32 page = 0; page < chunk->npages; page++)
	{
		if (!(rows->present[page / 4] >> (page % 4 * 2) & 1))
			continue;
		if (rows->lsns[page] == InvalidXLogRecPtr)
			return false;
		head->npresent++;
	}
	return head->map_lsn != InvalidXLogRecPtr && head->npresent > 0;
}

/* Is that in its file already? */
static bool
is_written(const GcDiskHead *head)
{
	char		path[MAXPGPATH];
	GcDiskHead	old;

	name_file(path, head);
	return read_whole(path, &old, sizeof(old)) &&
		is_believed(&old, &head->key, head->chunkno, &head->spec, head->nvalues > 0) &&
		old.map_lsn == head->map_lsn && old.rows_crc == head->rows_crc && old.dict_id == head->dict_id &&
		old.nvalues == head->nvalues;
}

/* Memory for a file with this head; false if it is too large. */
static bool
make_room_in(GcDiskColumn *kept, GcDiskHead *head)
{
	kept->head = head;
	head->bytes = lay_out(kept, head);
	if (head->bytes > MOST_BYTES)
		return false;
	kept->head = palloc_extended(head->bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	memcpy(kept->head, head, sizeof(GcDiskHead));
	(void) lay_out(kept, head);
	return true;
}

/* A column of the directory as a file; false if there is none to be written.  Needs a guard. */
static bool
make_file(GcDiskColumn *kept, const GcDirectory *dir, uint32 chunkno, int col)
{
	GcChunk    *chunk = dir->chunks[chunkno];
	GcDiskColumn rows;
	GcDiskHead	head;
	const GcChunkColumn *cell;

	if (chunk == NULL || dir->columns[col].problem != GC_COL_OK)
		return false;
	cell = GC_CELL(dir, chunkno, col);
	if (!make_head(&head, dir, chunk, col) || !copy_rows(&rows, &head, chunk) || is_written(&head) ||
		!make_room_in(kept, &head))
		return false;
	memcpy(kept->row_start, rows.row_start, rows.data - (char *) rows.row_start);
	memcpy(kept->data, (void *) (uintptr_t) cell->desc.data, cell->data_bytes);
	if (cell->null_bytes > 0)
		memcpy(kept->nulls, (void *) (uintptr_t) cell->desc.nulls, cell->null_bytes);
	return true;
}

/* A part of a dictionary as a file; false if there is none to be written.  Needs a guard. */
static bool
make_part(GcDiskColumn *kept, const GcDirectory *dir, uint32 number, int col, bool *more)
{
	const GcDirColumn *column = &dir->columns[col];
	const uint32 first = number * PART_VALUES;
	GcDiskHead	head;
	GcDictPart	part;

	*more = false;
	if (column->problem != GC_COL_OK || !GC_KIND_IS_CODE(column->spec.kind))
		return false;
	if (!begin_head(&head, dir, col, number) || first >= head.nknown)
		return false;
	*more = true;
	head.nvalues = Min(head.nknown - first, PART_VALUES);
	part = gc_dict_part(gc_dict_view(column->state, column->spec.rtrim), first, head.nvalues);
	head.first_byte = part.first_byte;
	head.value_bytes = part.ends[part.n - 1] - part.first_byte;
	if (is_written(&head) || !make_room_in(kept, &head))
		return false;
	memcpy(kept->hashes, part.hashes, part.n * sizeof(uint32));
	memcpy(kept->ends, part.ends, part.n * sizeof(uint64));
	memcpy(kept->bytes, part.bytes, head.value_bytes);
	return true;
}

/* A file that may make room. */
typedef struct GcDiskFile
{
	char	   *path;
	uint64		bytes;
	time_t		written;
} GcDiskFile;

/* The folder as it was found: those of other tables may make room, from the oldest on. */
typedef struct GcDiskSpace
{
	GcDiskFile *files;
	int			nfiles;
	int			next;
	uint64		total;			/* bytes */
} GcDiskSpace;

static int
by_age(const void *a, const void *b)
{
	const GcDiskFile *x = a;
	const GcDiskFile *y = b;

	return x->written < y->written ? -1 : x->written > y->written;
}

/* Look at the folder for a table; its files of before it was rewritten are removed. */
static void
survey(GcDiskSpace *space, const GcRelKey *key)
{
	DIR		   *dir = AllocateDir(DIRECTORY);
	int			size = 64;
	struct dirent *de;

	memset(space, 0, sizeof(GcDiskSpace));
	space->files = palloc(size * sizeof(GcDiskFile));
	while ((de = ReadDirExtended(dir, DIRECTORY, LOG)) != NULL)
	{
		GcDiskFile	file = {.path = psprintf(DIRECTORY "/%s", de->d_name)};
		GcRelKey	whose;
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (!parse_name(de->d_name, &whose) || stat(file.path, &st) != 0)
			continue;
		if (whose.dbid == key->dbid && whose.relid == key->relid)
		{
			if (whose.relnumber == key->relnumber || unlink(file.path) != 0)
				space->total += st.st_size;
			continue;
		}
		if (space->nfiles == size)
			space->files = repalloc_huge(space->files, (size *= 2) * sizeof(GcDiskFile));
		file.bytes = st.st_size;
		file.written = st.st_mtime;
		space->files[space->nfiles++] = file;
		space->total += file.bytes;
	}
	FreeDir(dir);
	qsort(space->files, space->nfiles, sizeof(GcDiskFile), by_age);
}

/* Make room for so many bytes; false if there is none but the table's own. */
static bool
make_room(GcDiskSpace *space, uint64 bytes)
{
	const uint64 most = ((uint64) gc_disk_cache_size_mb << 20) / 2;

	while (space->total + bytes > most && space->next < space->nfiles)
	{
		const GcDiskFile *file = &space->files[space->next++];

		if (unlink(file->path) == 0 || errno == ENOENT)
			space->total -= file->bytes;
	}
	return space->total + bytes <= most;
}

/* Write all bytes, in pieces that a cancel can come between; false: it failed. */
static bool
write_bytes(int fd, const char *from, uint64 size)
{
	while (size > 0)
	{
		ssize_t		n = write(fd, from, Min(size, 1 << 26));

		if (n <= 0)
			return false;
		from += n;
		size -= n;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Write a file; false if no more can be written. */
static bool
write_file(GcDiskColumn *kept, GcDiskSpace *space)
{
	GcDiskHead *head = kept->head;
	char		path[MAXPGPATH];
	char		temporary[MAXPGPATH + 32];
	struct stat st;
	bool		ok;
	int			fd;

	name_file(path, head);
	if (stat(path, &st) == 0)
		space->total -= Min(space->total, st.st_size);
	if (!make_room(space, head->bytes))
		return false;
	space->total += head->bytes;
	head->crc = crc_behind(head);
	head->head_crc = crc_of_head(head);
	snprintf(temporary, sizeof(temporary), "%s.%d", path, MyProcPid);
	fd = OpenTransientFile(temporary, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
	ok = fd >= 0 && write_bytes(fd, (char *) head, head->bytes);
	if (fd >= 0 && CloseTransientFile(fd) != 0)
		ok = false;
	if (ok && rename(temporary, path) == 0)
		return true;
	ereport(LOG, (errcode_for_file_access(), errmsg("gpuconc could not write file \"%s\": %m", temporary)));
	(void) unlink(temporary);
	return false;
}

/*
 * Write a column of the chunk of this number, as it is now, or the part of its dictionary.  False: there is no such
 * chunk or part, or no more can be written.
 */
static bool
write_one(Relation rel, GcDiskSpace *space, uint32 number, int attnum, bool is_part)
{
	GcDiskColumn kept = {0};
	GcDirectory *dir;
	bool		there;
	bool		made = false;

	CHECK_FOR_INTERRUPTS();
	if (gc_loader_in_the_way(rel))
		return false;
	gc_guard_enter();
	dir = gc_directory(rel);
	there = dir && !is_part && number < dir->nheap;
	for (uint32 c = 0; dir && c < dir->ncolumns; c++)
	{
		if (dir->columns[c].spec.attnum != attnum)
			continue;
		if (is_part)
			made = make_part(&kept, dir, number, c, &there);
		else
			made = there && make_file(&kept, dir, number, c);
	}
	gc_guard_leave();
	return there && (!made || write_file(&kept, space));
}

void
gc_disk_write(Relation rel)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc kept columns", ALLOCSET_DEFAULT_SIZES);
	GcRelKey	key;
	bool		more = gc_disk_usable(rel);
	GcDiskSpace space;
	MemoryContext old;

	if (!more)
		return;
	gc_rel_key(rel, &key);
	survey(&space, &key);
	old = MemoryContextSwitchTo(context);
	/* A dictionary before the columns that have its codes: of a part of it, the first chunks are believed. */
	for (int attnum = 1; attnum <= RelationGetNumberOfAttributes(rel); attnum++)
	{
		for (uint32 part = 0; write_one(rel, &space, part, attnum, true); part++)
			MemoryContextReset(context);
	}
	for (uint32 chunkno = 0; more; chunkno++)
	{
		for (int attnum = 1; more && attnum <= RelationGetNumberOfAttributes(rel); attnum++)
		{
			more = write_one(rel, &space, chunkno, attnum, false);
			MemoryContextReset(context);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
