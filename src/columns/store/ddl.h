/*-------------------------------------------------------------------------
 *
 * ddl.h
 *	  Forgetting the cached columns of dropped tables and databases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DDL_H
#define GC_DDL_H

/* Forget the cached columns of databases, and of tables of this one, that are gone.  In a transaction. */
extern void gc_forget_dropped(void);

/* Forget dropped tables and databases once their transaction has committed. */
extern void gc_columns_install_hooks(void);

/* Has another extension such a hook? */
extern bool gc_others_watch_objects(void);

#endif							/* GC_DDL_H */
