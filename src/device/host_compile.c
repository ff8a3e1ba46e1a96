/*-------------------------------------------------------------------------
 *
 * host_compile.c
 *	  Device "host": compiling kernels with the system's C compiler, and loading them from memory.
 *
 * The compiler reads the text from a memfd as its standard input, and writes its
 * messages to another.  The shared object and all temporary files go into a
 * private directory that is removed afterwards.  No shell is
 * involved; the process is made by posix_spawn, which unlike fork copies
 * nothing of a server process that maps gigabytes.
 *
 * Process and threads: the worker process; gc_host_compiler_find and
 * gc_host_compiler_free on the main thread, gc_host_compile on any thread and
 * several at once.  The environment is copied when the compiler is found, so
 * that no thread reads it while the server may change it.  The child has
 * default signal handling and no signal blocked.  It stays in the worker's process group,
 * so that a signal that ends the worker's group ends it too.  It is waited for by its pid
 * only, so that SIGCHLD and other children are left to the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "host_compile.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hash.h"
#include "write_all.h"

/*-------------------------------------------------------------------------
 * The compiler
 *-------------------------------------------------------------------------
 */

extern char **environ;

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define MAX_ARGS 32
#define MAX_LOG 65536

/*
 * fp-contract off: floats must come out as PostgreSQL's do.  strict-aliasing
 * off: kernels read the same memory at several widths.  Bsymbolic: a function
 * of a kernel must not become the server's function of the same name.
 */
static const char *const compiler_options[] = {
	"-x", "c", "-std=gnu11", "-O3", "-fPIC", "-shared", "-pipe",
	"-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-w",
	"-Wl,-Bsymbolic",
};

static const char probe_source[] = "int gc_probe(int x) { return x + 1; }\n";

/* ---------- running the compiler ---------- */

/* The compiler gets its input and output, no other file, and signals as a fresh process has them. */
static void
prepare_child(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int in, int out)
{
	sigset_t	all;
	sigset_t	none;

	posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(actions, out, STDERR_FILENO);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
	posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
#endif
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/*
 * Run it to its end; its output goes to `out`.  GC_OK says that it ran, and *status how it ended.
 */
static GcCode
run(const HostCompiler *compiler, const char *const *args, char **env, int in, int out,
	int *status, GcError *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t		pid;
	int			result;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory to run the C compiler.");
	if (posix_spawnattr_init(&attr) != 0)
	{
		posix_spawn_file_actions_destroy(&actions);
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory to run the C compiler.");
	}
	prepare_child(&actions, &attr, in, out);
	result = posix_spawn(&pid, compiler->path, &actions, &attr, (char *const *) args, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (result != 0)
	{
		errno = result;
		return gc_fail(err, result == ENOMEM || result == EAGAIN ? GC_HOST_MEMORY : GC_COMPILE_FAILED,
					   "posix_spawn could not run \"%s\": %m.", compiler->path);
	}
	while (waitpid(pid, status, 0) < 0)
	{
		if (errno != EINTR)
			return gc_fail(err, GC_COMPILE_FAILED, "waitpid could not wait for \"%s\": %m.",
						   compiler->path);
	}
	return GC_OK;
}

/* A file without a name that holds this text, to be read from its start; or -1. */
static int
text_file(const char *text)
{
	int			fd = memfd_create("gpuconc compiler", MFD_CLOEXEC);

	if (fd >= 0 && !gc_write_all(fd, text, strlen(text)))
	{
		close(fd);
		return -1;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* All of a file, or its first max bytes, with a NUL behind it; NULL on failure. */
static char *
read_file(int fd, size_t max, size_t *size)
{
	struct stat st;
	char	   *bytes;

	if (fstat(fd, &st) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		return NULL;
	*size = (size_t) st.st_size < max ? (size_t) st.st_size : max;
	bytes = malloc(*size + 1);
	if (bytes != NULL && !gc_read_all(fd, bytes, *size))
	{
		free(bytes);
		return NULL;
	}
	if (bytes != NULL)
		bytes[*size] = '\0';
	return bytes;
}

/* ---------- one compilation ---------- */

/* The first error among the compiler's messages, to the end of them. */
static const char *
first_message(char *log)
{
	char	   *error = strstr(log, "error:");
	size_t		length = strlen(log);

	while (length > 0 && isspace((unsigned char) log[length - 1]))
		log[--length] = '\0';
	if (error == NULL)
		return log;
	while (error > log && error[-1] != '\n')
		error--;
	return error;
}

/*
 * Was a program that it runs killed, or short of memory or of room on the disk?  These are the words of gcc, of its
 * linker, and of clang.  A linker that maps its output gets a bus error on a full disk.  A crash of the compiler looks
 * the same, and is tried again in vain.
 */
static bool
says_interrupted(const char *log)
{
	static const char *const words[] = {
		"signal terminated program", "terminated with signal", "unable to execute command", "out of memory",
		"memory exhausted", "Cannot allocate memory", "No space left on device", "Disk quota exceeded", "Bus error",
	};

	for (int i = 0; i < LENGTH(words); i++)
	{
		if (strstr(log, words[i]) != NULL)
			return true;
	}
	return false;
}

/* Tell a kernel that cannot be compiled from a compiler that was disturbed. */
static GcCode
report_failure(const HostCompiler *compiler, int status, int out, GcError *err)
{
	size_t		size;
	char	   *log = read_file(out, MAX_LOG, &size);
	GcCode		code;

	if (log != NULL && log[0] != '\0')
	{
		code = WIFSIGNALED(status) || says_interrupted(log) ? GC_COMPILE_INTERRUPTED : GC_COMPILE_FAILED;
		gc_fail(err, code, "%s", first_message(log));
	}
	else if (WIFSIGNALED(status))
		code = gc_fail(err, GC_COMPILE_INTERRUPTED, "The compiler \"%s\" was ended by signal %d.",
					   compiler->path, WTERMSIG(status));
	else
		code = gc_fail(err, GC_COMPILE_FAILED, "The compiler \"%s\" ended with exit code %d.",
					   compiler->path, WEXITSTATUS(status));
	free(log);
	return code;
}

/* Read the compiler's output, in memory that the caller frees. */
static GcCode
read_image(const char *path, GcImage *image, GcError *err)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	image->bytes = fd >= 0 ? read_file(fd, SIZE_MAX - 1, &image->size) : NULL;
	if (fd >= 0)
		close(fd);
	if (image->bytes != NULL && image->size > 0)
		return GC_OK;
	free(image->bytes);
	image->bytes = NULL;
	return gc_fail(err, GC_COMPILE_INTERRUPTED, "The compiler's output \"%s\" could not be read.", path);
}

/* Compile into `dir`, which is ours alone. */
static GcCode
compile_into(const HostCompiler *compiler, const char *dir, int in, int out, GcImage *image, GcError *err)
{
	const char *args[MAX_ARGS];
	char		output[PATH_MAX + 16];
	char		tmpdir[PATH_MAX + 16];
	char	  **env;
	int			n = 0;
	int			status = 0;
	GcCode		code;

	snprintf(output, sizeof(output), "%s/kernel.so", dir);
	snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=%s", dir);
	args[n++] = compiler->path;
	for (int i = 0; i < LENGTH(compiler_options); i++)
		args[n++] = compiler_options[i];
	if (compiler->native)
		args[n++] = "-march=native";
	args[n++] = "-o";
	args[n++] = output;
	args[n++] = "-";
	args[n++] = "-lm";
	args[n] = NULL;

	env = malloc(((size_t) compiler->nenv + 2) * sizeof(char *));
	if (env == NULL)
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory to run the C compiler.");
	memcpy(env, compiler->env, (size_t) compiler->nenv * sizeof(char *));
	env[compiler->nenv] = tmpdir;
	env[compiler->nenv + 1] = NULL;
	code = run(compiler, args, env, in, out, &status, err);
	free(env);
	if (code != GC_OK)
		return code;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return report_failure(compiler, status, out, err);
	return read_image(output, image, err);
}

/* Remove the directory with whatever a compiler that was killed has left in it. */
static void
remove_directory(const char *path)
{
	DIR		   *dir = opendir(path);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir != NULL)
		closedir(dir);
	rmdir(path);
}

GcCode
gc_host_compile(const HostCompiler *compiler, const char *source, GcImage *image, GcError *err)
{
	char		dir[PATH_MAX];
	int			n = snprintf(dir, sizeof(dir), "%s/gpuconc-XXXXXX", compiler->tmpdir);
	int			in;
	int			out;
	GcCode		code;

	if (n >= (int) sizeof(dir) || mkdtemp(dir) == NULL)
		return gc_fail(err, GC_COMPILE_INTERRUPTED,
					   "A temporary directory in \"%s\" could not be created: %m.", compiler->tmpdir);
	in = text_file(source);
	out = text_file("");
	if (in < 0 || out < 0)
		code = gc_fail(err, GC_HOST_MEMORY, "memfd_create could not make a file in memory: %m.");
	else
		code = compile_into(compiler, dir, in, out, image, err);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	remove_directory(dir);
	return code;
}

/* ---------- finding a compiler ---------- */

/* Does its output load and run?  Main thread. */
static GcCode
probe(const HostCompiler *compiler, GcError *err)
{
	GcImage		image;
	void	   *handle;
	int			(*function) (int);
	GcCode		code;

	code = gc_host_compile(compiler, probe_source, &image, err);
	if (code != GC_OK)
		return code;
	code = gc_host_dlopen(&image, &handle, err);
	free(image.bytes);
	if (code != GC_OK)
		return code;
	*(void **) &function = dlsym(handle, "gc_probe");
	if (function == NULL || function(41) != 42)
		code = gc_fail(err, GC_COMPILE_FAILED, "The code that \"%s\" produces does not work.",
					   compiler->path);
	dlclose(handle);
	return code;
}

/* Copy the environment without the variables for language and temporary files. */
static bool
copy_environment(HostCompiler *compiler)
{
	int			count = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	compiler->env = calloc((size_t) count + 2, sizeof(char *));
	if (compiler->env == NULL)
		return false;
	for (int i = 0; i < count; i++)
	{
		if (strncmp(environ[i], "TMPDIR=", 7) == 0 || strncmp(environ[i], "LC_ALL=", 7) == 0)
			continue;
		if ((compiler->env[compiler->nenv++] = strdup(environ[i])) == NULL)
			return false;
	}
	return (compiler->env[compiler->nenv++] = strdup("LC_ALL=C")) != NULL;
}

/* The program of this name on the PATH, into compiler->path. */
static bool
find_on_path(HostCompiler *compiler, const char *name)
{
	const char *path = getenv("PATH");

	if (path == NULL || path[0] == '\0')
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*path != '\0')
	{
		int			length = (int) strcspn(path, ":");
		int			n = snprintf(compiler->path, sizeof(compiler->path), "%.*s/%s",
								 length, path, name);
		struct stat st;

		/* A relative entry would depend on where the server happens to be. */
		if (path[0] == '/' && n < (int) sizeof(compiler->path) &&
			stat(compiler->path, &st) == 0 && S_ISREG(st.st_mode) &&
			access(compiler->path, X_OK) == 0)
			return true;
		path += length;
		path += *path == ':';
	}
	return false;
}

/* The compiler's version: the first line of `cc --version`. */
static GcCode
compiler_version(const HostCompiler *compiler, char *version, size_t size, GcError *err)
{
	const char *args[] = {compiler->path, "--version", NULL};
	int			in = text_file("");
	int			out = text_file("");
	int			status = 0;
	size_t		length;
	char	   *log = NULL;
	GcCode		code;

	version[0] = '\0';
	if (in < 0 || out < 0)
		code = gc_fail(err, GC_HOST_MEMORY, "memfd_create could not make a file in memory: %m.");
	else
		code = run(compiler, args, compiler->env, in, out, &status, err);
	if (code == GC_OK && (log = read_file(out, MAX_LOG, &length)) != NULL)
	{
		log[strcspn(log, "\n")] = '\0';
		snprintf(version, size, "%s", log);
	}
	free(log);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return code;
}

/*
 * A hash of all that decides whether compiled code may be used on this machine.  Code for -march=native is for one kind
 * of CPU, as the kernel describes it.
 */
static u64
machine_digest(u64 seed)
{
	static const char *const keys[] = {
		"vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU architecture",
		"CPU variant", "CPU part", "Features", "isa", "cpu",
	};
	FILE	   *file = fopen("/proc/cpuinfo", "re");
	struct utsname name;
	char	   *line = NULL;
	size_t		allocated = 0;

	if (uname(&name) == 0)
		seed = gc_hash64(name.machine, strlen(name.machine), seed);

	/* The first CPU's paragraph; the others are of its kind. */
	while (file != NULL && getline(&line, &allocated, file) > 1)
	{
		size_t		length = strcspn(line, "\t:");

		for (int i = 0; i < LENGTH(keys); i++)
		{
			if (strlen(keys[i]) == length && memcmp(line, keys[i], length) == 0)
				seed = gc_hash64(line, strlen(line), seed);
		}
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return seed;
}

/* A name of compiler, options and machine: images of others are not loaded. */
static GcCode
describe(const HostCompiler *compiler, char *target, size_t size, GcError *err)
{
	char		version[256];
	u64			digest;
	GcCode		code;

	code = compiler_version(compiler, version, sizeof(version), err);
	if (code != GC_OK)
		return code;
	digest = machine_digest(gc_hash64(version, strlen(version), compiler->native));
	for (int i = 0; i < LENGTH(compiler_options); i++)
		digest = gc_hash64(compiler_options[i], strlen(compiler_options[i]), digest);
	snprintf(target, size, "%.40s %016llx", version, digest);
	return GC_OK;
}

/* Try one compiler, first with -march=native, which not every one knows. */
static GcCode
try_compiler(HostCompiler *compiler, char *target, size_t size, GcError *err)
{
	GcCode		code;

	compiler->native = true;
	code = probe(compiler, err);
	if (code != GC_OK)
	{
		compiler->native = false;
		code = probe(compiler, err);
	}
	if (code == GC_OK)
		code = describe(compiler, target, size, err);
	return code;
}

GcCode
gc_host_compiler_find(HostCompiler *compiler, const char *temp_directory, char *target,
					  size_t size, GcError *err)
{
	static const char *const names[] = {"cc", "gcc", "clang"};
	GcError		why = {GC_NO_COMPILER, "none of cc, gcc and clang is on the server's PATH."};

	memset(compiler, 0, sizeof(*compiler));
	if (!copy_environment(compiler))
	{
		gc_host_compiler_free(compiler);
		return gc_fail(err, GC_HOST_MEMORY, "Out of memory for the environment of the C compiler.");
	}
	snprintf(compiler->tmpdir, sizeof(compiler->tmpdir), "%s", temp_directory != NULL ? temp_directory : "/tmp");
	for (int i = 0; i < LENGTH(names); i++)
	{
		if (find_on_path(compiler, names[i]) &&
			try_compiler(compiler, target, size, &why) == GC_OK)
			return GC_OK;
	}
	gc_host_compiler_free(compiler);
	return gc_fail(err, GC_NO_COMPILER, "No C compiler for kernels was found: %s", why.detail);
}

void
gc_host_compiler_free(HostCompiler *compiler)
{
	for (int i = 0; i < compiler->nenv; i++)
		free(compiler->env[i]);
	free(compiler->env);
	memset(compiler, 0, sizeof(*compiler));
}

/*-------------------------------------------------------------------------
 * Loading a compiled kernel's shared object from memory
 *
 * dlopen wants a path.  A memfd has one, in /proc/self/fd.  It needs no room
 * on any disk and no directory where execution is allowed.
 *-------------------------------------------------------------------------
 */

/*
 * A path to the descriptor that was not used before.  dlopen compares paths
 * with those of the objects that are loaded, and a descriptor's number is used
 * again as soon as it is closed.  So the spelling carries a count, in binary.
 * Each digit is "/" or "/." between two components.
 */
static void
unique_path(int fd, char *path, size_t size)
{
	static u32	count;			/* main thread only */
	char		digits[2 * 32 + 1];
	char	   *p = digits;

	for (u32 rest = count++; rest != 0; rest >>= 1)
	{
		*p++ = '/';
		if (rest & 1)
			*p++ = '.';
	}
	*p = '\0';
	snprintf(path, size, "/proc/self/fd%s/%d", digits, fd);
}

GcCode
gc_host_dlopen(const GcImage *image, void **handle, GcError *err)
{
	int			fd = memfd_create("gpuconc kernel", MFD_CLOEXEC);
	char		path[128];

	*handle = NULL;
	if (fd < 0 || !gc_write_all(fd, image->bytes, image->size))
		gc_fail(err, GC_COMPILE_FAILED, "A compiled kernel could not be loaded: %m.");
	else
	{
		unique_path(fd, path, sizeof(path));
		*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (*handle == NULL)
			gc_fail(err, GC_COMPILE_FAILED, "A compiled kernel could not be loaded: %s.", dlerror());
	}
	if (fd >= 0)
		close(fd);
	return *handle != NULL ? GC_OK : GC_COMPILE_FAILED;
}
