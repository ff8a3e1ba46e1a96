/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Sub-allocator of a device's memory pool.
 *
 * The pool is a row of blocks, used and free, without gaps; no two free blocks
 * are neighbours.  Three structures find a block:
 *	- links to the blocks before and after it, for splitting and coalescing;
 *	- free blocks in two treaps.  One is ordered by address and knows the largest block
 *	  below each: the lowest block that fits, and the highest.  The other is ordered by
 *	  size: blocks that fit just so;
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

/* Orders of free blocks. */
enum
{
	BY_ADDRESS,
	BY_SIZE,
	ORDERS
};

typedef struct PoolBlock
{
	GcAddr		addr;
	u64			size;
	BlockNo		before;			/* neighbour in the pool */
	BlockNo		after;			/* likewise; list of unused block numbers */
	BlockNo		left[ORDERS];	/* treaps of free blocks */
	BlockNo		right[ORDERS];
	u64			most;			/* of the treap by address: size of the largest block of the subtree; 0 for block 0 */
	u32			priority;		/* of the treaps' heap order */
	bool		used;
	u8			kind;			/* if used: its purpose */
} PoolBlock;

struct GcPool
{
	u64			size;
	u64			used;
	u64			used_for[GC_POOL_KINDS];	/* of it */
	PoolBlock  *blocks;
	BlockNo		nblocks;		/* numbers given out so far, and 0 */
	BlockNo		max_blocks;
	BlockNo		spare;			/* list of numbers that are not in use */
	BlockNo		root[ORDERS];	/* of the treaps */
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
	PoolBlock  *blocks;
	BlockNo		max_blocks;

	if (pool->spare != NONE || pool->nblocks < pool->max_blocks)
		return true;
	if (pool->max_blocks > UINT32_MAX / 2)
		return false;
	max_blocks = pool->max_blocks * 2;
	blocks = realloc(pool->blocks, max_blocks * sizeof(PoolBlock));
	if (blocks == NULL)
		return false;
	pool->blocks = blocks;
	pool->max_blocks = max_blocks;
	return true;
}

/* A number without a block; there is one (reserve_block). */
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

/* The number may be given to another block. */
static void
drop_block(GcPool *pool, BlockNo no)
{
	pool->blocks[no].after = pool->spare;
	pool->spare = no;
}

/* ---------- treaps of free blocks ---------- */

/* A number without meaning (xorshift), for priorities in the trees. */
static u32
next_random(GcPool *pool)
{
	u32			x = pool->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return pool->random = x;
}

/* The order of a tree: by size and then address, or by address alone. */
static bool
comes_before(const PoolBlock *a, const PoolBlock *b, int by)
{
	return by == BY_SIZE && a->size != b->size ? a->size < b->size : a->addr < b->addr;
}

/* Note the largest block of a subtree anew. */
static void
sum_up(GcPool *pool, BlockNo no, int by)
{
	PoolBlock  *block = &pool->blocks[no];
	const u64	left = pool->blocks[block->left[BY_ADDRESS]].most;
	const u64	right = pool->blocks[block->right[BY_ADDRESS]].most;

	if (by != BY_ADDRESS)
		return;
	block->most = block->size;
	if (left > block->most)
		block->most = left;
	if (right > block->most)
		block->most = right;
}

/* Divide a subtree into blocks before a block, and blocks behind it. */
static void
tree_divide(GcPool *pool, BlockNo top, const PoolBlock *at, int by, BlockNo *left, BlockNo *right)
{
	PoolBlock  *block = &pool->blocks[top];

	if (top == NONE)
	{
		*left = *right = NONE;
		return;
	}
	if (comes_before(block, at, by))
	{
		tree_divide(pool, block->right[by], at, by, &block->right[by], right);
		*left = top;
	}
	else
	{
		tree_divide(pool, block->left[by], at, by, left, &block->left[by]);
		*right = top;
	}
	sum_up(pool, top, by);
}

/* Make one subtree of two, of which all of the left one comes before. */
static BlockNo
tree_join(GcPool *pool, BlockNo left, BlockNo right, int by)
{
	PoolBlock  *blocks = pool->blocks;

	if (left == NONE || right == NONE)
		return left != NONE ? left : right;
	if (blocks[left].priority >= blocks[right].priority)
	{
		blocks[left].right[by] = tree_join(pool, blocks[left].right[by], right, by);
		sum_up(pool, left, by);
		return left;
	}
	blocks[right].left[by] = tree_join(pool, left, blocks[right].left[by], by);
	sum_up(pool, right, by);
	return right;
}

/* Insert into the tree below `top`, and return its new top.  Priorities keep it balanced (a treap). */
static BlockNo
insert_below(GcPool *pool, BlockNo top, BlockNo no, int by)
{
	PoolBlock  *block = &pool->blocks[no];
	PoolBlock  *above = &pool->blocks[top];

	if (top == NONE || above->priority < block->priority)
	{
		tree_divide(pool, top, block, by, &block->left[by], &block->right[by]);
		sum_up(pool, no, by);
		return no;
	}
	if (comes_before(block, above, by))
		above->left[by] = insert_below(pool, above->left[by], no, by);
	else
		above->right[by] = insert_below(pool, above->right[by], no, by);
	sum_up(pool, top, by);
	return top;
}

/* Put a free block into both trees. */
static void
tree_insert(GcPool *pool, BlockNo no)
{
	pool->blocks[no].priority = next_random(pool);
	for (int by = 0; by < ORDERS; by++)
		pool->root[by] = insert_below(pool, pool->root[by], no, by);
}

/* Remove from the tree below `top`, and return its new top. */
static BlockNo
remove_below(GcPool *pool, BlockNo top, BlockNo no, int by)
{
	PoolBlock  *above = &pool->blocks[top];

	if (top == no)
		return tree_join(pool, above->left[by], above->right[by], by);
	if (comes_before(&pool->blocks[no], above, by))
		above->left[by] = remove_below(pool, above->left[by], no, by);
	else
		above->right[by] = remove_below(pool, above->right[by], no, by);
	sum_up(pool, top, by);
	return top;
}

/* Take a free block out of both trees. */
static void
tree_remove(GcPool *pool, BlockNo no)
{
	for (int by = 0; by < ORDERS; by++)
		pool->root[by] = remove_below(pool, pool->root[by], no, by);
}

/* The lowest free block of at least this size, or the highest. */
static BlockNo
tree_end(const GcPool *pool, u64 size, bool highest)
{
	const PoolBlock *blocks = pool->blocks;
	BlockNo		no = pool->root[BY_ADDRESS];

	if (blocks[no].most < size)
		return NONE;
	for (;;)
	{
		const BlockNo first = highest ? blocks[no].right[BY_ADDRESS] : blocks[no].left[BY_ADDRESS];

		if (blocks[first].most >= size)
			no = first;
		else if (blocks[no].size >= size)
			return no;
		else
			no = highest ? blocks[no].left[BY_ADDRESS] : blocks[no].right[BY_ADDRESS];
	}
}

/* The highest free block of just this size. */
static BlockNo
tree_exact(const GcPool *pool, u64 size)
{
	const PoolBlock *blocks = pool->blocks;
	BlockNo		found = NONE;
	BlockNo		no = pool->root[BY_SIZE];

	while (no != NONE)
	{
		if (blocks[no].size == size)
			found = no;
		no = blocks[no].size <= size ? blocks[no].right[BY_SIZE] : blocks[no].left[BY_SIZE];
	}
	return found;
}

/* ---------- hash table of used blocks ---------- */

/* The slot at which the search for a block in use begins. */
static u32
home_slot(const GcPool *pool, GcAddr addr)
{
	u64			x = addr / GC_POOL_ALIGN * 0x9e3779b97f4a7c15ULL;

	return (u32) (x >> 32) & (pool->nslots - 1);
}

/* Enter a block in use, by its address.  There is a free slot (reserve_slot). */
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

/* Where the block with this address is in the table; a slot without one when there is none. */
static u32
table_find(const GcPool *pool, GcAddr addr)
{
	u32			slot = home_slot(pool, addr);

	while (pool->slots[slot] != NONE && pool->blocks[pool->slots[slot]].addr != addr)
		slot = (slot + 1) & (pool->nslots - 1);
	return slot;
}

/* Take the block with this address out of the table; NONE when there is none. */
static BlockNo
table_remove(GcPool *pool, GcAddr addr)
{
	u32			mask = pool->nslots - 1;
	u32			slot = table_find(pool, addr);
	BlockNo		no = pool->slots[slot];

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
	PoolBlock  *first;

	/* Address 0 means none, so it is never given out. */
	if (size < skip + GC_POOL_ALIGN || base + size < base)
		return NULL;
	size = (size - skip) / GC_POOL_ALIGN * GC_POOL_ALIGN;

	pool = calloc(1, sizeof(GcPool));
	if (pool == NULL)
		return NULL;
	pool->blocks = malloc(FIRST_BLOCKS * sizeof(PoolBlock));
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

	memset(pool->blocks, 0, 2 * sizeof(PoolBlock));
	first = &pool->blocks[1];
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

/* Cut a block to this size; the rest becomes a block behind it.  Neither is in the tree. */
static void
split(GcPool *pool, BlockNo no, u64 size)
{
	BlockNo		rest_no = take_block(pool);
	PoolBlock  *block = &pool->blocks[no];
	PoolBlock  *rest = &pool->blocks[rest_no];

	rest->addr = block->addr + size;
	rest->size = block->size - size;
	rest->before = no;
	rest->after = block->after;
	rest->used = false;
	if (rest->after != NONE)
		pool->blocks[rest->after].before = rest_no;
	block->after = rest_no;
	block->size = size;
}

/* A piece from one of the pool's ends, or a free one of just its size; 0: there is none. */
static GcAddr
alloc(GcPool *pool, u64 size, bool stays)
{
	BlockNo		no;
	u64			over;

	if (size == 0 || size > pool->size)
		return 0;
	size = (size + GC_POOL_ALIGN - 1) / GC_POOL_ALIGN * GC_POOL_ALIGN;
	no = stays ? tree_exact(pool, size) : NONE;
	if (no == NONE)
		no = tree_end(pool, size, stays);
	if (no == NONE || !reserve_block(pool) || !reserve_slot(pool))
		return 0;

	tree_remove(pool, no);
	over = pool->blocks[no].size - size;
	if (over > 0)
	{
		split(pool, no, stays ? over : size);
		tree_insert(pool, stays ? no : pool->blocks[no].after);
		no = stays ? pool->blocks[no].after : no;
	}
	pool->blocks[no].used = true;
	pool->blocks[no].kind = 0;
	pool->used += size;
	pool->used_for[0] += size;
	table_insert(pool, no);
	return pool->blocks[no].addr;
}

GcAddr
gc_pool_alloc(GcPool *pool, u64 size)
{
	return alloc(pool, size, false);
}

GcAddr
gc_pool_alloc_to_stay(GcPool *pool, u64 size)
{
	return alloc(pool, size, true);
}

/* Make block `no` and the one behind it, both free and not in the tree, one. */
static void
merge(GcPool *pool, BlockNo no)
{
	PoolBlock  *block = &pool->blocks[no];
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
	pool->used_for[pool->blocks[no].kind] -= pool->blocks[no].size;

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
gc_pool_used_for(const GcPool *pool, u32 kind)
{
	return pool->used_for[kind];
}

void
gc_pool_label(GcPool *pool, GcAddr addr, u32 kind)
{
	const BlockNo no = pool->slots[table_find(pool, addr)];
	PoolBlock  *block = &pool->blocks[no];

	if (no == NONE)
		return;
	pool->used_for[block->kind] -= block->size;
	pool->used_for[kind] += block->size;
	block->kind = kind;
}

u64
gc_pool_size(const GcPool *pool)
{
	return pool->size;
}

u64
gc_pool_largest_free(const GcPool *pool)
{
	return pool->blocks[pool->root[BY_ADDRESS]].most;
}
