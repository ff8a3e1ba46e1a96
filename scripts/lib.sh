# Shared by the scripts beside it: set-up of a fresh machine, and private clusters.
# To be sourced by bash; needs root where it installs or runs a server.
#
# Settings: PG_CONFIG (default: the packaged server of PG_MAJOR), PG_MAJOR (15).

PG_MAJOR=${PG_MAJOR:-15}
PG_CONFIG=${PG_CONFIG:-/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}
# pg_ctl and pg_regress would give up a server that starts slowly.
export PGCTLTIMEOUT=3600
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
	printf '==> %s\n' "$*"
}

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# Install packages that are not there yet; names as apt knows them.
need_packages() {
	local missing=()
	local p
	for p in "$@"; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" -eq 0 ] || die "packages are missing (${missing[*]}); run this as root, or install them"
	say "installing ${missing[*]}"
	# No cluster is to be made by the package: we make our own.
	mkdir -p /etc/postgresql-common
	[ -f /etc/postgresql-common/createcluster.conf ] ||
		echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	DEBIAN_FRONTEND=noninteractive apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Server, headers and compiler, unless PG_CONFIG names a server of the caller's.
install_prerequisites() {
	if [ ! -x "$PG_CONFIG" ] || [[ $PG_CONFIG == /usr/lib/postgresql/* ]]; then
		need_packages "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" gcc make libc6-dev "$@"
	else
		need_packages gcc make libc6-dev "$@"
	fi
	BINDIR=$("$PG_CONFIG" --bindir)
	say "using $("$PG_CONFIG" --version)"
}

# copy_tree DIRECTORY EXCLUDE...: a copy of the tree, without objects.
copy_tree() {
	local to=$1
	shift
	mkdir -p "$to"
	(cd "$TOP" && tar -c --exclude=.git --exclude=.carry --exclude=./dist --exclude='*.o' --exclude='*.d' --exclude='*.so' --exclude=gpuconc_compiler "$@" .) |
		tar -x --no-same-owner -C "$to"
}

# Build the extension in a copy of the tree, so that the checkout stays clean.
build_extension() {
	BUILD=$1
	shift
	say "building in $BUILD"
	copy_tree "$BUILD"
	make -C "$BUILD" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" "$@" >"$BUILD/build.log" 2>&1 ||
		{ tail -n 30 "$BUILD/build.log" >&2; die "the build failed"; }
}

install_extension() {
	say "installing the extension into $("$PG_CONFIG" --pkglibdir)"
	make -C "$BUILD" PG_CONFIG="$PG_CONFIG" install >"$BUILD/install.log" 2>&1 ||
		{ tail -n 30 "$BUILD/install.log" >&2; die "the installation failed"; }
}

# Run a command as the user that servers run as: PostgreSQL refuses root.
as_server_user() {
	if [ "$(id -u)" -eq 0 ]; then
		(cd / && runuser -u postgres -- env PATH="$BINDIR:$PATH" HOME=/tmp "$@")
	else
		env PATH="$BINDIR:$PATH" "$@"
	fi
}

# A private cluster in $1, reachable through its own directory only; further
# arguments are lines for postgresql.conf.
start_cluster() {
	CLUSTER=$1
	shift
	mkdir -p "$CLUSTER"
	[ "$(id -u)" -eq 0 ] && chown postgres "$CLUSTER"
	chmod 700 "$CLUSTER"
	as_server_user initdb -D "$CLUSTER/data" -A trust -U postgres --no-sync >/dev/null
	{
		echo "shared_preload_libraries = 'gpuconc'"
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$CLUSTER'"
		printf '%s\n' "$@"
	} | as_server_user tee -a "$CLUSTER/data/postgresql.conf" >/dev/null
	as_server_user pg_ctl -D "$CLUSTER/data" -w -l "$CLUSTER/log" start >/dev/null ||
		{ tail -n 20 "$CLUSTER/log" >&2; die "the server did not start"; }
	export PGHOST=$CLUSTER PGUSER=postgres PGDATABASE=postgres
	unset PGPORT
}

stop_cluster() {
	[ -n "${CLUSTER:-}" ] || return 0
	as_server_user pg_ctl -D "$CLUSTER/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$CLUSTER"
}

# Wait until the worker has its device (or knows that there is none).
wait_for_device() {
	local i
	for i in $(seq 36000); do
		case $(as_server_user psql -XAtqc "select state from gpuconc_devices") in
			ready | 'no device') return 0 ;;
		esac
		as_server_user psql -XAtqc "select pg_sleep(0.1)" >/dev/null
	done
	die "the gpuconc worker did not start"
}
