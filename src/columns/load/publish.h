/*-------------------------------------------------------------------------
 *
 * publish.h
 *	  Publishing what a load job has loaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PUBLISH_H
#define GC_PUBLISH_H

extern void gc_job_publish(Relation rel);

#endif							/* GC_PUBLISH_H */
