/*-------------------------------------------------------------------------
 *
 * edges_recorded.h
 *	  Pipelines of the Star Schema Benchmark and of TPC-H at scale 10, and what they took on an H100.
 *
 * The main pipelines of bench/results/pipelines-ssb-h100.md, pipelines-h100.md and pipelines-rest-h100.md, without
 * what their builds took, where a main pipeline scans a table.  The worker gives the model such descriptions
 * (worker/kernels/edges.c), with two kinds of counts: `pass` and new_groups are true, counted by PostgreSQL; the
 * planner's estimates are beside them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EDGES_RECORDED_H
#define GC_EDGES_RECORDED_H

#include "../../src/sched/model/edges.h"

#define RECORDED_STEPS	6

typedef struct Recorded
{
	const char *name;
	double		us[GC_EDGE_MATERIALIZE + 1];	/* by edge; 0: not known without its builds */
	GcEdgePipeline pipeline;
	int			vector_halvings[RECORDED_STEPS];	/* the planner's GcPStep.selectivity */
	int			stage_halvings[RECORDED_STEPS];
	double		groups;			/* that it expects, at most; 0: few */
	int			warps;			/* on a multiprocessor, as the kernel was compiled */
} Recorded;

static const Recorded recorded_ssb[] = {
	{"Q1.1", {111, 163, 255, 153}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 3,.vector = {
				{.pass = 0.1505,.column_bytes = 2,.columns = 1,.table_bytes = 7600,.shared = true},
				{.pass = 0.272,.column_bytes = 1,.columns = 1},
				{.pass = 0.478,.column_bytes = 1,.columns = 1}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{2, 1, 1}, {0}, 0, 32},
	{"Q1.2", {73, 133, 265, 165}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.0127,.column_bytes = 2,.columns = 1,.table_bytes = 7600,.shared = true}
			},
			.nstages = 3,.stage = {
				{.step = 0,.edge = true,.pass = 0.27,.column_bytes = 1,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 0.2,.column_bytes = 1,.columns = 1,.packet_bytes = 4},
				{.step = 2,.edge = true,.pass = 1,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{6}, {2, 1, 0}, 0, 32},
	{"Q1.3", {55, 83, 188, 129}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.0027,.column_bytes = 2,.columns = 1,.table_bytes = 7600,.shared = true}
			},
			.nstages = 3,.stage = {
				{.step = 0,.edge = true,.pass = 0.27,.column_bytes = 1,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 0.2,.column_bytes = 1,.columns = 1,.packet_bytes = 4},
				{.step = 2,.edge = true,.pass = 1,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{8}, {3, 1, 0}, 0, 32},
	{"Q2.1", {174, 194, 258, 231}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.04,.column_bytes = 4,.columns = 1,.table_bytes = 100000,.shared = true},
				{.pass = 0.2,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true,.gathered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.6e6,.column_bytes = 6,.columns = 2,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 1,.atomics = 2,.table_bytes = 112000,.packet_bytes = 4}
			}
		},
		{4, 2}, {0, 0}, 0, 32},
	{"Q2.2", {122, 133, 185, 150}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.0077,.column_bytes = 4,.columns = 1,.table_bytes = 100000,.shared = true},
				{.pass = 0.2,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true,.gathered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.6e6,.column_bytes = 6,.columns = 2,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 1,.atomics = 2,.table_bytes = 112000,.packet_bytes = 4}
			}
		},
		{8, 2}, {0, 0}, 0, 32},
	{"Q2.3", {104, 123, 173, 119}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.0011,.column_bytes = 4,.columns = 1,.table_bytes = 100000,.shared = true},
				{.pass = 0.2,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true,.gathered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.6e6,.column_bytes = 6,.columns = 2,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 1,.atomics = 2,.table_bytes = 112000,.packet_bytes = 4}
			}
		},
		{9, 2}, {0, 0}, 0, 32},
	{"Q3.1", {226, 286, 377, 343}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.2,.column_bytes = 4,.columns = 1,.table_bytes = 37500,.shared = true},
				{.pass = 0.2,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.857,.accesses = 2,.chain = 1,.table_bytes = 67244.1,.column_bytes = 2,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 2,.chain = 1,.atomics = 2,.table_bytes = 320000,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{2, 2}, {0, 0}, 0, 32},
	{"Q3.2", {110, 127, 183, 146}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.04,.column_bytes = 4,.columns = 1,.table_bytes = 37500,.shared = true},
				{.pass = 0.04,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true,.gathered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.857,.accesses = 2,.chain = 1,.table_bytes = 67244.1,.column_bytes = 2,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 5,.chain = 3,.atomics = 2,.table_bytes = 320000,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{4, 4}, {0, 0}, 0, 32},
	{"Q3.3", {71, 85, 135, 87}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.008,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true},
				{.pass = 0.008,.column_bytes = 4,.columns = 1,.table_bytes = 37500,.shared = true,.gathered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.857,.accesses = 2,.chain = 1,.table_bytes = 67244.1,.column_bytes = 2,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 5,.chain = 3,.atomics = 2,.table_bytes = 320000,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{7, 6}, {0, 0}, 0, 32},
	{"Q3.4", {64, 84, 128, 79}, {.rows = 6e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 3,.vector = {
				{.pass = 0.008,.column_bytes = 2,.columns = 1,.table_bytes = 2500,.shared = true},
				{.pass = 0.008,.column_bytes = 4,.columns = 1,.table_bytes = 37500,.shared = true,.gathered = true},
				{.pass = 0.0119,.column_bytes = 2,.columns = 1,.table_bytes = 7600,.shared = true,.gathered = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 6,.chain = 3,.atomics = 2,.table_bytes = 320000,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{7, 6, 6}, {0}, 0, 32},
};

static const Recorded recorded_tpch[] = {
	{"Q1", {350, 683, 785, 3202}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.986,.column_bytes = 2,.columns = 1}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.atomics = 6,.column_bytes = 10,.columns = 6,.packet_bytes = 4}
			}
		},
		{0}, {0}, 0, 16},
	{"Q2", {36, 31, 60, 0}, {.rows = 8e6,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.004,.column_bytes = 4,.columns = 1,.table_bytes = 250000,.ordered = true},
				{.pass = 0.2,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.gathered = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 0.05,.accesses = 4.5,.table_bytes = 200000,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{7, 2}, {0}, 0, 32},
	{"Q3", {502, 220, 265, 273}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.0979,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true},
				{.pass = 0.0538,.column_bytes = 2,.columns = 1}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.8e8,.column_bytes = 5,.columns = 2,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 2.5,.chain = 3,.atomics = 2,.table_bytes = 2.88e8,.new_groups = 113000,.packet_bytes = 4}
			}
		},
		{3, 0}, {0, 0}, 6.4e6, 64},
	{"Q4", {43, 44, 74, 96}, {.rows = 1.5e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.0382,.column_bytes = 2,.columns = 1},
				{.pass = 0.917,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.atomics = 1,.column_bytes = 1,.columns = 1,.packet_bytes = 4}
			}
		},
		{4, 1}, {0}, 0, 55},
	{"Q5", {189, 349, 307, 298}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.0311,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true},
				{.pass = 0.2,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.shared = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.2,.accesses = 2,.table_bytes = 6e7,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 1,.atomics = 2,.table_bytes = 300000,.column_bytes = 5,.columns = 2,.packet_bytes = 4}
			}
		},
		{2, 2}, {4, 4}, 0, 48},
	{"Q6", {185, 184, 188, 177}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 3,.vector = {
				{.pass = 0.153,.column_bytes = 2,.columns = 1},
				{.pass = 0.273,.column_bytes = 1,.columns = 1},
				{.pass = 0.46,.column_bytes = 2,.columns = 1}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{2, 1, 1}, {0}, 0, 24},
	{"Q7", {187, 211, 290, 222}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 3,.vector = {
				{.pass = 0.08,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.shared = true},
				{.pass = 0.304,.column_bytes = 2,.columns = 1},
				{.pass = 0.08,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.5,.accesses = 2,.table_bytes = 6e7,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 2,.atomics = 2,.table_bytes = 100000,.column_bytes = 5,.columns = 2,.packet_bytes = 4}
			}
		},
		{3, 1, 3}, {0, 0}, 0, 40},
	{"Q8", {535, 533, 616, 495}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 2,.vector = {
				{.pass = 0.0067,.column_bytes = 4,.columns = 1,.table_bytes = 250000},
				{.pass = 0.06,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.gathered = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 3,.atomics = 3,.table_bytes = 1.2e8,.column_bytes = 9,.columns = 3,.packet_bytes = 4}
			}
		},
		{7, 4}, {0}, 0, 32},
	{"Q9", {1060, 1093, 1210, 0}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 1,.vector = {
				{.pass = 0.0544,.column_bytes = 4,.columns = 1,.table_bytes = 250000}
			},
			.nstages = 4,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 112000,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 4.5,.chain = 4,.table_bytes = 2.56e8,.packet_bytes = 4},
				{.step = 2,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.26e8,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 3,.edge = true,.pass = 1,.atomics = 2,.column_bytes = 7,.columns = 3,.packet_bytes = 4}
			}
		},
		{4}, {0, 0, 0, 0}, 0, 32},
	{"Q10", {1059, 530, 580, 875}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.0382,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true},
				{.pass = 0.495,.column_bytes = 1,.columns = 1}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 3e8,.column_bytes = 5,.columns = 2,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 3.5,.chain = 3,.atomics = 2,.table_bytes = 5.28e7,.new_groups = 381000,.packet_bytes = 4}
			}
		},
		{4, 2}, {0, 0}, 1.1e6, 64},
	{"Q11, sum", {39, 57, 111, 0}, {.rows = 8e6,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.04,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.shared = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.column_bytes = 6,.columns = 2,.packet_bytes = 4}
			}
		},
		{4}, {0}, 0, 32},
	{"Q11", {228, 207, 255, 0}, {.rows = 8e6,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.04,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.shared = true}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2.5,.chain = 3,.atomics = 2,.table_bytes = 2.56e7,.new_groups = 304000,.column_bytes = 10,.columns = 3,.packet_bytes = 4}
			}
		},
		{4}, {0}, 640000, 32},
	{"Q12", {154, 169, 269, 164}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 4,.vector = {
				{.pass = 0.152,.column_bytes = 2,.columns = 1},
				{.pass = 0.2857,.column_bytes = 1,.columns = 1},
				{.pass = 0.63,.column_bytes = 2,.columns = 1},
				{.pass = 0.19,.column_bytes = 2,.columns = 1}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 6e7,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.atomics = 2,.packet_bytes = 4}
			}
		},
		{2, 1, 1, 1}, {0, 0}, 0, 32},
	{"Q14", {100, 127, 219, 145}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.0125,.column_bytes = 2,.columns = 1}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 2.25e6,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.column_bytes = 5,.columns = 2,.packet_bytes = 4}
			}
		},
		{6}, {0, 0}, 0, 48},
	{"Q17", {340, 272, 323, 466}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 0.001,.column_bytes = 4,.columns = 1,.table_bytes = 250000}
			},
			.nstages = 3,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 2.4e7,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 0.09,.column_bytes = 2,.columns = 1,.packet_bytes = 4},
				{.step = 2,.edge = true,.pass = 1,.column_bytes = 4,.columns = 1,.packet_bytes = 4}
			}
		},
		{9}, {0, 1, 0}, 0, 24},
	{"Q18", {184, 107, 175, 159}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 1,.vector = {
				{.pass = 4e-05,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 3,.table_bytes = 8.4e8,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.accesses = 3,.chain = 3,.atomics = 2,.table_bytes = 6e7,.new_groups = 600,.column_bytes = 2,.columns = 1,.packet_bytes = 4}
			}
		},
		{1}, {0, 0}, 1e7, 64},
	{"Q19", {186, 193, 278, 220}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 3,.vector = {
				{.pass = 0.2857,.column_bytes = 1,.columns = 1},
				{.pass = 0.25,.column_bytes = 1,.columns = 1},
				{.pass = 0.0024,.column_bytes = 4,.columns = 1,.table_bytes = 250000}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 6e6,.column_bytes = 2,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 0.2,.column_bytes = 5,.columns = 2,.packet_bytes = 4}
			}
		},
		{2, 2, 8}, {0, 1}, 0, 32},
	{"Q21", {593, 358, 444, 696}, {.rows = 5.9986e7,.vec = 16,.warps = 32,.gathered = true,
			.nvector = 3,.vector = {
				{.pass = 0.04,.column_bytes = 4,.columns = 1,.table_bytes = 12500,.shared = true},
				{.pass = 0.632,.column_bytes = 4,.columns = 2,.gathered = true},
				{.pass = 0.48,.column_bytes = 4,.columns = 1,.table_bytes = 7.5e6,.ordered = true,.gathered = true}
			},
			.nstages = 3,.stage = {
				{.step = 0,.edge = true,.pass = 0.1,.accesses = 3,.table_bytes = 4.8e8,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 0.9,.accesses = 3,.table_bytes = 4.8e8,.packet_bytes = 4},
				{.step = 2,.edge = true,.pass = 1,.accesses = 1,.atomics = 1,.table_bytes = 800000,.packet_bytes = 4}
			}
		},
		{4, 1, 1}, {0, 1, 0}, 0, 64},
	{"Q22", {28, 37, 78, 57}, {.rows = 1.5e6,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.28,.column_bytes = 4,.columns = 1,.table_bytes = 1.5e6},
				{.pass = 0.45,.column_bytes = 4,.columns = 1}
			},
			.nstages = 2,.stage = {
				{.step = 0,.edge = true,.pass = 0.3,.accesses = 1,.table_bytes = 187500,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
				{.step = 1,.edge = true,.pass = 1,.atomics = 2,.packet_bytes = 4}
			}
		},
		{4, 1}, {1, 0}, 0, 32},
	{"Q22, average", {9, 72, 223, 33}, {.rows = 1.5e6,.vec = 16,.warps = 32,.gathered = false,
			.nvector = 2,.vector = {
				{.pass = 0.28,.column_bytes = 4,.columns = 1,.table_bytes = 1.5e6},
				{.pass = 0.91,.column_bytes = 4,.columns = 1}
			},
			.nstages = 1,.stage = {
				{.step = 0,.edge = true,.pass = 1,.packet_bytes = 4}
			}
		},
		{4, 0}, {0}, 0, 32},
};

#endif							/* GC_EDGES_RECORDED_H */
