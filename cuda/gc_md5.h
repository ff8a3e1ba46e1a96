/*-------------------------------------------------------------------------
 *
 * gc_md5.h
 *	  The MD5 digest (RFC 1321) of a text, as 32 hexadecimal digits: PostgreSQL's md5(text).
 *
 * The text comes byte by byte from a function, since it may be composed of parts (gc_text.h).  All state
 * is in registers; sixteen words of a block have constant indexes, so that none is spilled.
 *
 * The server includes this file as well, from gc_text.h.
 *
 *-------------------------------------------------------------------------
 */
#define GC_MD5_DIGITS	32
#define GC_MD5_BLOCK	64

#define GC_MD5_F(x, y, z)	((z) ^ ((x) & ((y) ^ (z))))
#define GC_MD5_G(x, y, z)	((y) ^ ((z) & ((x) ^ (y))))
#define GC_MD5_H(x, y, z)	((x) ^ (y) ^ (z))
#define GC_MD5_I(x, y, z)	((y) ^ ((x) | ~(z)))

/* One step: s is the rotation, k the constant. */
#define GC_MD5_STEP(f, a, b, c, d, w, s, k) \
	a += f(b, c, d) + (w) + (k); \
	a = (a << (s) | a >> (32 - (s))) + b

/* Four steps; the word of step i of a round is number (from + i * by) % 16. */
#define GC_MD5_FOUR(f, i, from, by, s0, s1, s2, s3, k0, k1, k2, k3) \
	GC_MD5_STEP(f, a, b, c, d, w[((from) + (i) * (by)) % 16], s0, k0); \
	GC_MD5_STEP(f, d, a, b, c, w[((from) + ((i) + 1) * (by)) % 16], s1, k1); \
	GC_MD5_STEP(f, c, d, a, b, w[((from) + ((i) + 2) * (by)) % 16], s2, k2); \
	GC_MD5_STEP(f, b, c, d, a, w[((from) + ((i) + 3) * (by)) % 16], s3, k3)

/* Take one block of sixteen words into the state. */
GC_FN void
gc_md5_block(u32 *state, const u32 *w)
{
	u32			a = state[0];
	u32			b = state[1];
	u32			c = state[2];
	u32			d = state[3];

	GC_MD5_FOUR(GC_MD5_F, 0, 0, 1, 7, 12, 17, 22, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee);
	GC_MD5_FOUR(GC_MD5_F, 4, 0, 1, 7, 12, 17, 22, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501);
	GC_MD5_FOUR(GC_MD5_F, 8, 0, 1, 7, 12, 17, 22, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be);
	GC_MD5_FOUR(GC_MD5_F, 12, 0, 1, 7, 12, 17, 22, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821);
	GC_MD5_FOUR(GC_MD5_G, 0, 1, 5, 5, 9, 14, 20, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa);
	GC_MD5_FOUR(GC_MD5_G, 4, 1, 5, 5, 9, 14, 20, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8);
	GC_MD5_FOUR(GC_MD5_G, 8, 1, 5, 5, 9, 14, 20, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed);
	GC_MD5_FOUR(GC_MD5_G, 12, 1, 5, 5, 9, 14, 20, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a);
	GC_MD5_FOUR(GC_MD5_H, 0, 5, 3, 4, 11, 16, 23, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c);
	GC_MD5_FOUR(GC_MD5_H, 4, 5, 3, 4, 11, 16, 23, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70);
	GC_MD5_FOUR(GC_MD5_H, 8, 5, 3, 4, 11, 16, 23, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05);
	GC_MD5_FOUR(GC_MD5_H, 12, 5, 3, 4, 11, 16, 23, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665);
	GC_MD5_FOUR(GC_MD5_I, 0, 0, 7, 6, 10, 15, 21, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039);
	GC_MD5_FOUR(GC_MD5_I, 4, 0, 7, 6, 10, 15, 21, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1);
	GC_MD5_FOUR(GC_MD5_I, 8, 0, 7, 6, 10, 15, 21, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1);
	GC_MD5_FOUR(GC_MD5_I, 12, 0, 7, 6, 10, 15, 21, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391);
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}
