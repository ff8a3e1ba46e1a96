/*-------------------------------------------------------------------------
 *
 * waves.h
 *	  Scans of tables whose columns do not fit into device memory: waves of chunks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVES_H
#define GC_WAVES_H

#include "postgres.h"

#include "../../columns/store/columns.h"
#include "../../device/device.h"
#include "../memory/link_reads.h"
#include "../memory/replacement.h"

/* One pipeline's scan in waves, which takes part in the stream of its table. */
typedef struct GcWaveMember GcWaveMember;

/* A wave's part of a member's scan: to be launched on the member's stream. */
typedef struct GcWavePart
{
	GcAddr		sources;		/* GcSource[nsources] */
	u32			nsources;
	u64			rows;
	const GcAddr *columns;		/* GcCols, of these chunks only, per column of the member */
	bool		last;			/* no other wave serves this scan */
	u64			copied;			/* bytes copied that it reads, and of those which others read, too */
	u64			shared;
	u32			in_place;		/* chunks of columns that it reads in the host's memory */
	u64			in_place_bytes; /* that are estimated to cross the link for those */
	double		in_place_price; /* in bytes of copies that take as long */
	u64			read_bytes;		/* of columns in device memory */
} GcWavePart;

/*
 * Data that is dropped for a column is to be worth less than that by this factor.  Counts of uses vary by a third from
 * one to the next, and data that alternates is copied each time.  For one that kernels can read in the host's memory
 * by the second: its copy is a cost, too.
 */
#define GC_WORTH_A_COPY		2.0
#define GC_WORTH_BOTH		8.0

/* A column that a member reads. */
typedef struct GcWaveColumn
{
	int			column;			/* of the directory */
	u64			displace;		/* for so many bytes of it others may go, if they are worth less */
	GcUses		uses;
	GcLinkRead	link;
} GcWaveColumn;

typedef GcCode (*GcWaveLaunch) (void *arg, const GcWavePart *part, GcError *err);

/*
 * Take part in waves over these sources of a directory, of which `columns` are read.  Gets memory for two waves;
 * NULL: there is none (err set).  The request holds directory and sources until gc_wave_leave.
 */
extern GcWaveMember *gc_wave_join(const GcDirectory *dir, const GcWaveColumn *columns, int ncolumns,
								  const GcSource *sources, u32 nsources, GcWaveLaunch launch, void *arg, GcError *err);

/* The least memory that gc_wave_join gets, where a chunk's columns take so many bytes. */
extern u64	gc_wave_bytes(u64 chunk_bytes, int ncolumns);

/* Begin a scan of all sources, on this stream. */
extern void gc_wave_begin(GcWaveMember *member, GcStream *stream);

/* Sources whose wave is not queued yet; 0: all of the scan is. */
extern u32	gc_wave_left(const GcWaveMember *member);

/* Queue a wave of chunks that this member has left; it serves others that want the same chunks. */
extern GcCode gc_wave_step(GcWaveMember *member, GcError *err);

/* Queue a wave if it is the member's turn and few waves are under way.  *stepped: a wave was queued. */
extern GcCode gc_wave_drive(GcWaveMember *member, bool *stepped, GcError *err);

/* A member queues waves without waiting for its turn: let others, of any table, queue one, too. */
extern void gc_wave_let_others(const GcWaveMember *member);

/* A wave that another member queued has failed for this one: its code, or GC_OK. */
extern GcCode gc_wave_failure(const GcWaveMember *member, GcError *err);

/* The rest of the scan is not wanted any more. */
extern void gc_wave_stop(GcWaveMember *member);

extern void gc_waves_init(void);

/* All that was queued for the member is done. */
extern void gc_wave_leave(GcWaveMember *member);

#endif							/* GC_WAVES_H */
