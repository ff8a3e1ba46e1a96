/*-------------------------------------------------------------------------
 *
 * compilers.c
 *	  Compiling for device cuda in processes of their own.  See compilers.h.
 *
 * A process has one end of a socket as its standard input and output, and ends when the other end is closed.  So it
 * ends with the worker, in whatever way that ends.  It is in the worker's process group, but signals that end the group
 * do not reach it.  One of another version than the worker's ends at once.  A thread has it for itself from order to
 * answer.  Lock: one, for which of them are free; never held while one is spoken to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "compilers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc.h"
#include "write_all.h"

#define MOST		64

extern char **environ;

typedef struct CompileProcess
{
	pid_t		pid;
	int			fd;				/* -1: it has ended */
	bool		busy;
} CompileProcess;

static CompileProcess compilers[MOST];
static int	ncompilers = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool
spawn_with(CompileProcess *c, const char *program, const char *version, int fd)
{
	char	   *const args[] = {(char *) program, (char *) version, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t	all;
	sigset_t	mask;
	bool		started;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	if (posix_spawnattr_init(&attr) != 0)
	{
		posix_spawn_file_actions_destroy(&actions);
		return false;
	}
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
#endif
	sigfillset(&all);
	/* Signals to the worker come to its whole group.  A compiler ends with its socket. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGQUIT);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	started = posix_spawn(&c->pid, program, &actions, &attr, args, environ) == 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return started;
}

void
gc_compilers_start(const char *program, const char *version, int n)
{
	while (ncompilers < n && ncompilers < MOST)
	{
		CompileProcess   *c = &compilers[ncompilers];
		int			ends[2];
		bool		started;

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
			return;
		started = spawn_with(c, program, version, ends[1]);
		close(ends[1]);
		if (!started)
		{
			close(ends[0]);
			return;
		}
		c->fd = ends[0];
		c->busy = false;
		ncompilers++;
	}
}

/* Wait for a compiling process: it has ended, or does so now that nobody listens.  The signal that ended it, or 0. */
static int
end(int fd, pid_t pid)
{
	int			status = 0;

	close(fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void
gc_compilers_stop(void)
{
	for (int i = 0; i < ncompilers; i++)
	{
		if (compilers[i].fd >= 0)
			(void) end(compilers[i].fd, compilers[i].pid);
	}
	ncompilers = 0;
}

int
gc_compilers_count(void)
{
	int			n = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ncompilers; i++)
		n += compilers[i].fd >= 0;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---------- one compilation ---------- */

static CompileProcess *
take_one(void)
{
	CompileProcess   *found = NULL;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ncompilers && found == NULL; i++)
	{
		if (compilers[i].fd >= 0 && !compilers[i].busy)
			found = &compilers[i];
	}
	if (found)
		found->busy = true;
	pthread_mutex_unlock(&lock);
	return found;
}

/* The signal that has ended a broken one, or 0. */
static int
give_back(CompileProcess *c, bool broken)
{
	const int	fd = c->fd;

	pthread_mutex_lock(&lock);
	if (broken)
		c->fd = -1;
	c->busy = false;
	pthread_mutex_unlock(&lock);
	return broken ? end(fd, c->pid) : 0;
}

static bool
order(CompileProcess *c, int prefer_major, int arch, const char *source, GcCompileEffort effort)
{
	const GcCompileOrder o = {.source_size = strlen(source),.prefer_major = prefer_major,.arch = arch,.effort = effort};

	return gc_write_all(c->fd, &o, sizeof(o)) && gc_write_all(c->fd, source, o.source_size);
}

/* The answer to an order; *code, image and *err as gc_nvrtc_compile() would give them.  False: it is broken. */
static bool
receive(CompileProcess *c, GcImage *image, GcCode *code, GcError *err)
{
	GcCompileAnswer answer;
	char	   *bytes;

	if (!gc_read_all(c->fd, &answer, sizeof(answer)) || answer.code < GC_OK || answer.code >= GC_NCODES)
		return false;
	bytes = malloc(answer.size + 1);
	if (bytes == NULL || !gc_read_all(c->fd, bytes, answer.size))
	{
		free(bytes);
		return false;
	}
	bytes[answer.size] = '\0';
	*code = (GcCode) answer.code;
	if (*code == GC_OK)
	{
		*image = (GcImage) {bytes, answer.size};
		return true;
	}
	(void) gc_fail(err, *code, "%s", bytes);
	free(bytes);
	return true;
}

GcCode
gc_compilers_compile(const GcNvrtc *nvrtc, int prefer_major, int arch, const char *source, GcCompileEffort effort,
					 GcImage *image, GcError *err)
{
	CompileProcess   *c = take_one();
	GcCode		code = GC_OK;
	bool		ordered;
	bool		answered;
	int			signo;

	if (c)
	{
		ordered = order(c, prefer_major, arch, source, effort);
		answered = ordered && receive(c, image, &code, err);
		signo = give_back(c, !answered);
		if (answered && code != GC_NO_COMPILER)
			return code;
		/* Here the text might end the worker likewise, and with it all sessions. */
		if (ordered && signo != 0)
			return gc_fail(err, signo == SIGKILL ? GC_COMPILE_INTERRUPTED : GC_COMPILE_FAILED,
						   "A process that compiled was ended by signal %d.", signo);
	}
	return gc_nvrtc_compile(nvrtc, arch, source, effort, image, NULL, err);
}

void
gc_compilers_warm_up(int prefer_major, int arch, const char *source)
{
	CompileProcess   *taken[MOST];
	bool		ordered[MOST];
	int			n = 0;

	while (n < MOST && (taken[n] = take_one()) != NULL)
	{
		ordered[n] = order(taken[n], prefer_major, arch, source, GC_COMPILE_QUICK);
		n++;
	}
	for (int i = 0; i < n; i++)
	{
		GcImage		image = {NULL, 0};
		GcCode		code;
		const bool	answered = ordered[i] && receive(taken[i], &image, &code, NULL);

		free(image.bytes);
		(void) give_back(taken[i], !answered);
	}
}
