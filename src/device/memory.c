/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Sub-allocator of a device's memory pool.
 *
 * The pool is a row of blocks, used and free, without gaps; no two free blocks
 * are neighbours.  Three structures find a block:
 *	- links to the blocks before and after it, for splitting and coalescing;
 *	- free blocks in a treap ordered by (size, address): best fit, and among
 *	  equals the lowest address, so that the top of the pool stays in one piece;
 *	- used blocks in an open-addressing hash table by address, for gc_pool_free.
 * Blocks are numbered, not pointed to, so that their array can be realloc'd.
 *
 * Only gc_pool_alloc needs room for bookkeeping, and takes it before it changes
 * anything; gc_pool_free cannot fail.
 *
 * Process and threads: the worker's main thread.  No locks, no system calls
 * but those of realloc when a pool has more blocks than ever before.
 *
 *-------------------------------------------------------------------------
 */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define NONE				0	/* block 0 is not used */
#define FIRST_BLOCKS		1024
#define FIRST_SLOTS			1024	/* a power of two */

typedef u32 BlockNo;

typedef struct Block
{
	GcAddr		addr;
	u64			size;
	BlockNo		before;			/* neighbour in the pool */
	BlockNo		after;			/* likewise; list of unused block numbers */
	BlockNo		left;			/* treap of free blocks */
	BlockNo		right;
	u32			priority;		/* of the treap's heap order */
	bool		used;
} Block;

struct GcPool
{
	u64			size;
	u64			used;
	Block	   *blocks;
	BlockNo		nblocks;		/* numbers given out so far, and 0 */
	BlockNo		max_blocks;
	BlockNo		spare;			/* list of numbers that are not in use */
	BlockNo		root;			/* of the treap */
	BlockNo    *slots;			/* hash table of used blocks */
	u32			nslots;
	u32			nused;
	u32			random;
};

/* ---------- block numbers ---------- */

/* Make sure that one more block number can be had. */
static bool
reserve_block(GcPool *pool)
{
	Block	   *blocks;
	BlockNo		max_blocks;

	if (pool->spare != NONE || pool->nblocks < pool->max_blocks)
		return true;
	if (pool->max_blocks > UINT32_MAX / 2)
		return false;
	max_blocks = pool->max_blocks * 2;
	blocks = realloc(pool->blocks, max_blocks * sizeof(Block));
	if (blocks == NULL)
		return false;
	pool->blocks = blocks;
	pool->max_blocks = max_blocks;
	return true;
}

static BlockNo
take_block(GcPool *pool)
{
	BlockNo		no = pool->spare;

	if (no != NONE)
		pool->spare = pool->blocks[no].after;
	else
		no = pool->nblocks++;
	return no;
}

static void
drop_block(GcPool *pool, BlockNo no)
{
	pool->blocks[no].after = pool->spare;
	pool->spare = no;
}

/* ---------- treap of free blocks ---------- */

static u32
next_random(GcPool *pool)
{
	u32			x = pool->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return pool->random = x;
}

static bool
smaller(const Block *a, const Block *b)
{
	return a->size != b->size ? a->size < b->size : a->addr < b->addr;
}

static void
tree_insert(GcPool *pool, BlockNo no)
{
	Block	   *blocks = pool->blocks;
	Block	   *block = &blocks[no];
	BlockNo    *link = &pool->root;
	BlockNo    *left = &block->left;
	BlockNo    *right = &block->right;
	BlockNo		rest;

	block->priority = next_random(pool);
	while (*link != NONE && blocks[*link].priority >= block->priority)
		link = smaller(block, &blocks[*link]) ? &blocks[*link].left : &blocks[*link].right;

	/* Here is its place; divide what was below between its two subtrees. */
	rest = *link;
	*link = no;
	while (rest != NONE)
	{
		if (smaller(&blocks[rest], block))
		{
			*left = rest;
			left = &blocks[rest].right;
		}
		else
		{
			*right = rest;
			right = &blocks[rest].left;
		}
		rest = smaller(&blocks[rest], block) ? blocks[rest].right : blocks[rest].left;
	}
	*left = NONE;
	*right = NONE;
}

static void
tree_remove(GcPool *pool, BlockNo no)
{
	Block	   *blocks = pool->blocks;
	Block	   *block = &blocks[no];
	BlockNo    *link = &pool->root;
	BlockNo		left = block->left;
	BlockNo		right = block->right;

	while (*link != no)
		link = smaller(block, &blocks[*link]) ? &blocks[*link].left : &blocks[*link].right;

	/* Merge its subtrees into its place. */
	while (left != NONE && right != NONE)
	{
		if (blocks[left].priority >= blocks[right].priority)
		{
			*link = left;
			link = &blocks[left].right;
			left = *link;
		}
		else
		{
			*link = right;
			link = &blocks[right].left;
			right = *link;
		}
	}
	*link = left != NONE ? left : right;
}

/* The smallest free block of at least this size. */
static BlockNo
tree_best(const GcPool *pool, u64 size)
{
	BlockNo		best = NONE;
	BlockNo		no = pool->root;

	while (no != NONE)
	{
		const Block *block = &pool->blocks[no];

		if (block->size >= size)
		{
			best = no;
			no = block->left;
		}
		else
			no = block->right;
	}
	return best;
}

/* ---------- hash table of used blocks ---------- */

static u32
home_slot(const GcPool *pool, GcAddr addr)
{
	u64			x = addr / GC_POOL_ALIGN * 0x9e3779b97f4a7c15ULL;

	return (u32) (x >> 32) & (pool->nslots - 1);
}

static void
table_insert(GcPool *pool, BlockNo no)
{
	u32			slot = home_slot(pool, pool->blocks[no].addr);

	while (pool->slots[slot] != NONE)
		slot = (slot + 1) & (pool->nslots - 1);
	pool->slots[slot] = no;
	pool->nused++;
}

/* Keep the table at most half full after one more insertion. */
static bool
reserve_slot(GcPool *pool)
{
	BlockNo    *old = pool->slots;
	u32			nold = pool->nslots;

	if ((pool->nused + 1) * 2 <= nold)
		return true;
	if (nold > UINT32_MAX / 4)
		return false;
	pool->slots = calloc((size_t) nold * 2, sizeof(BlockNo));
	if (pool->slots == NULL)
	{
		pool->slots = old;
		return false;
	}
	pool->nslots = nold * 2;
	pool->nused = 0;
	for (u32 i = 0; i < nold; i++)
	{
		if (old[i] != NONE)
			table_insert(pool, old[i]);
	}
	free(old);
	return true;
}

/* Take the block with this address out of the table; NONE when there is none. */
static BlockNo
table_remove(GcPool *pool, GcAddr addr)
{
	u32			mask = pool->nslots - 1;
	u32			slot = home_slot(pool, addr);
	BlockNo		no;

	while ((no = pool->slots[slot]) != NONE && pool->blocks[no].addr != addr)
		slot = (slot + 1) & mask;
	if (no == NONE)
		return NONE;
	pool->nused--;

	/* Close the gap: move up every entry that could not be found across it. */
	for (u32 next = (slot + 1) & mask; pool->slots[next] != NONE; next = (next + 1) & mask)
	{
		u32			home = home_slot(pool, pool->blocks[pool->slots[next]].addr);

		if (((next - home) & mask) >= ((next - slot) & mask))
		{
			pool->slots[slot] = pool->slots[next];
			slot = next;
		}
	}
	pool->slots[slot] = NONE;
	return no;
}

/* ---------- the pool ---------- */

GcPool *
gc_pool_create(GcAddr base, u64 size)
{
	GcPool	   *pool;
	u64			skip = base == 0 ? GC_POOL_ALIGN : -base % GC_POOL_ALIGN;
	Block	   *first;

	/* Address 0 means none, so it is never given out. */
	if (size < skip + GC_POOL_ALIGN || base + size < base)
		return NULL;
	size = (size - skip) / GC_POOL_ALIGN * GC_POOL_ALIGN;

	pool = calloc(1, sizeof(GcPool));
	if (pool == NULL)
		return NULL;
	pool->blocks = malloc(FIRST_BLOCKS * sizeof(Block));
	pool->slots = calloc(FIRST_SLOTS, sizeof(BlockNo));
	if (pool->blocks == NULL || pool->slots == NULL)
	{
		gc_pool_destroy(pool);
		return NULL;
	}
	pool->size = size;
	pool->nblocks = 2;
	pool->max_blocks = FIRST_BLOCKS;
	pool->nslots = FIRST_SLOTS;
	pool->random = 2463534242u;

	first = &pool->blocks[1];
	memset(first, 0, sizeof(*first));
	first->addr = base + skip;
	first->size = size;
	tree_insert(pool, 1);
	return pool;
}

void
gc_pool_destroy(GcPool *pool)
{
	if (pool == NULL)
		return;
	free(pool->blocks);
	free(pool->slots);
	free(pool);
}

/* Cut a block to this size; what is left becomes a free block behind it. */
static void
split(GcPool *pool, BlockNo no, u64 size)
{
	BlockNo		rest_no = take_block(pool);
	Block	   *block = &pool->blocks[no];
	Block	   *rest = &pool->blocks[rest_no];

	rest->addr = block->addr + size;
	rest->size = block->size - size;
	rest->before = no;
	rest->after = block->after;
	rest->used = false;
	if (rest->after != NONE)
		pool->blocks[rest->after].before = rest_no;
	block->after = rest_no;
	block->size = size;
	tree_insert(pool, rest_no);
}

GcAddr
gc_pool_alloc(GcPool *pool, u64 size)
{
	BlockNo		no;

	if (size == 0 || size > pool->size)
		return 0;
	size = (size + GC_POOL_ALIGN - 1) / GC_POOL_ALIGN * GC_POOL_ALIGN;
	no = tree_best(pool, size);
	if (no == NONE || !reserve_block(pool) || !reserve_slot(pool))
		return 0;

	tree_remove(pool, no);
	if (pool->blocks[no].size > size)
		split(pool, no, size);
	pool->blocks[no].used = true;
	pool->used += size;
	table_insert(pool, no);
	return pool->blocks[no].addr;
}

/* Make block `no` and the one behind it, both free and not in the tree, one. */
static void
merge(GcPool *pool, BlockNo no)
{
	Block	   *block = &pool->blocks[no];
	BlockNo		gone = block->after;

	block->size += pool->blocks[gone].size;
	block->after = pool->blocks[gone].after;
	if (block->after != NONE)
		pool->blocks[block->after].before = no;
	drop_block(pool, gone);
}

void
gc_pool_free(GcPool *pool, GcAddr addr)
{
	BlockNo		no = table_remove(pool, addr);
	BlockNo		before;
	BlockNo		after;

	if (no == NONE)
		return;
	pool->blocks[no].used = false;
	pool->used -= pool->blocks[no].size;

	after = pool->blocks[no].after;
	if (after != NONE && !pool->blocks[after].used)
	{
		tree_remove(pool, after);
		merge(pool, no);
	}
	before = pool->blocks[no].before;
	if (before != NONE && !pool->blocks[before].used)
	{
		tree_remove(pool, before);
		merge(pool, before);
		no = before;
	}
	tree_insert(pool, no);
}

u64
gc_pool_used(const GcPool *pool)
{
	return pool->used;
}

u64
gc_pool_size(const GcPool *pool)
{
	return pool->size;
}

u64
gc_pool_largest_free(const GcPool *pool)
{
	BlockNo		no = pool->root;

	if (no == NONE)
		return 0;
	while (pool->blocks[no].right != NONE)
		no = pool->blocks[no].right;
	return pool->blocks[no].size;
}
