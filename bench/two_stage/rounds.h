/*-------------------------------------------------------------------------
 *
 * rounds.h
 *	  How well running rounds predict the times of kernels.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ROUNDS_H
#define ROUNDS_H

/* Measure each of the three kernels for `budget` seconds, and say what came of it. */
extern void bench_rounds(double budget);

#endif							/* ROUNDS_H */
