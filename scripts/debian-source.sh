# Shared by what is built of Debian's source of PostgreSQL.  To be sourced by bash after lib.sh.
#
# Settings: CACHE, a directory; SUITES, of Debian, to look into; MAJOR, of PostgreSQL.

# Lists and sources of its own, so that the machine's stay as they are.
apt_options() {
	local dir=$1
	echo "-q -o Dir::Etc::sourcelist=$dir/sources.list -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists=$dir/lists -o Dir::Cache=$dir/cache -o APT::Sandbox::User=root"
}

write_sources() {
	local dir=$1 suite archive
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	for suite in $SUITES; do
		archive=debian
		[[ $suite != *-security ]] || archive=debian-security
		echo "deb-src http://deb.debian.org/$archive $suite main"
	done >"$dir/sources.list"
}

# Versions of the source, the nearest to MINOR first.  The index may name what the archive
# does not have any more, so there can be several to try.
versions() {
	local minor=$1
	shift
	apt-cache "$@" showsrc --only-source "postgresql-$MAJOR" 2>/dev/null |
		awk -v minor="$minor" '/^Version: / {
			split($2, part, /[.-]/); away = part[2] - minor
			print (away < 0 ? -away : away), $2}' | sort -n | cut -d ' ' -f 2 | uniq
}

# get_source MINOR: leave an unpacked source in $CACHE/source-VERSION, and name it.
get_source() {
	local apt=$CACHE/apt options version
	# Not in quotes below, because they are many words.
	options=$(apt_options "$apt")
	write_sources "$apt"
	apt-get $options update >&2 || return 77
	for version in $(versions "$1" $options); do
		rm -rf "$CACHE/download"
		mkdir "$CACHE/download"
		(cd "$CACHE/download" && apt-get $options source --download-only --only-source \
			"postgresql-$MAJOR=$version") >&2 || continue
		rm -rf "$CACHE/source-$version"
		dpkg-source --no-check -x "$CACHE"/download/*.dsc "$CACHE/source-$version" >&2 || continue
		# dpkg-source leaves a copy of what it unpacks.
		rm -rf "$CACHE/download" "$CACHE"/*.orig.tar.*
		echo "$CACHE/source-$version"
		return 0
	done
	return 77
}
