#!/bin/sh
# Names that macros of the device library declare, and names that generated statements
# declare: they stand in one scope, so none may be both.  A macro that hides a sink's
# variable compiles everywhere, and may write anywhere.  Nor may two files of the library
# give one name to two macros: compilers only warn, and kernels are compiled without warnings.

cd "$(dirname "$0")/../.." || exit 1

type='(u8|u16|u32|u64|i32|i64|i128|u128|int|float|double|Gc[A-Za-z]+)'

# declared FILE ...: names gc_* that are declared there.
declared()
{
	grep -ohE "\\b$type( \\*+(const )?| )gc_[a-z0-9_]+" "$@" | grep -oE 'gc_[a-z0-9_]+$' | sort -u
}

# In macros alone: what functions declare is their own.
macros()
{
	awk '/^#define/ { on = 1 } on; !/\\$/ { on = 0 }' "$@"
}

directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
macros cuda/gc_target.h cuda/gc_tile.h cuda/gc_selection.h cuda/gc_agg.h >"$directory/macros"
declared "$directory/macros" >"$directory/library"
declared src/codegen/*/*.c >"$directory/generated"
both=$(comm -12 "$directory/library" "$directory/generated")

status=0

# tell NUMBER TEXT: by the status of what came before.
tell()
{
	if [ $? -eq 0 ]
	then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		status=1
	fi
}

[ "$(wc -l <"$directory/library")" -ge 15 ] && [ "$(wc -l <"$directory/generated")" -ge 15 ]
tell 1 "both declare names"
[ -z "$both" ]
tell 2 "none of them the same${both:+:} $both"

# Of each target, and of each number of rows of a vector.
files=$(sed -e '/^#/d' -e 's/^DEVLIB_FILES =//' -e 's/\\$//' cuda/devlib.mk)
number=2
for target in '' '-D__CUDACC_RTC__ -DGC_CUDA_VEC=8' '-D__CUDACC_RTC__ -DGC_CUDA_VEC=16' '-D__CUDACC_RTC__ -DGC_QUICK'
do
	number=$((number + 1))
	(cd cuda && cat $files) | ${CC:-cc} -E -Werror -x c $target - >"$directory/library.i"
	tell $number "no macro of the library is defined twice${target:+, with $target}"
done
echo 1..$number
exit $status
