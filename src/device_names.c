/*-------------------------------------------------------------------------
 *
 * device_names.c
 *	  The devices that gpuconc.devices names; each has a worker.
 *
 * The postmaster finds out how many there are, as it registers the workers.  It opens no device: for `all`, it counts
 * the files by which the driver shows its GPUs.  A worker whose GPU is not there says so.
 *
 * Every process has the names, by fork.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <unistd.h>

#include "device_names.h"

/* GPUs of which a file may be there. */
#define MOST_GPU_FILES	64

int			gc_ndevices = 1;
static GcDeviceName names[GC_MAX_DEVICES];

/* At least 1: without a GPU, its worker says why. */
static int
count_gpus(void)
{
	int			n = 0;

	for (int i = 0; i < MOST_GPU_FILES; i++)
	{
		char		path[32];

		snprintf(path, sizeof(path), "/dev/nvidia%d", i);
		n += access(path, F_OK) == 0;
	}
	return Min(Max(n, 1), GC_MAX_DEVICES);
}

/* A number of at most three digits. */
static bool
parse_ordinal(const char *text, int *ordinal)
{
	if (text[0] == '\0' || strlen(text) > 3 || strspn(text, "0123456789") != strlen(text))
		return false;
	*ordinal = atoi(text);
	return true;
}

/* One name: auto, cuda, host, a GPU's ordinal or UUID.  False: it is none of these. */
static bool
parse_name(const char *text, GcDeviceName *name)
{
	memset(name, 0, sizeof(*name));
	name->choice = GC_DEVICE_CUDA;
	if (pg_strcasecmp(text, "auto") == 0)
		name->choice = GC_DEVICE_AUTO;
	else if (pg_strcasecmp(text, "host") == 0)
		name->choice = GC_DEVICE_HOST;
	else if (pg_strncasecmp(text, "host:", 5) == 0)
	{
		name->choice = GC_DEVICE_HOST;
		return parse_ordinal(text + 5, &name->ordinal);
	}
	else if (pg_strncasecmp(text, "GPU-", 4) == 0 || pg_strncasecmp(text, "MIG-", 4) == 0)
	{
		/* The driver tells the digits alone. */
		if (strlen(text + 4) != 36 || strspn(text + 4, "0123456789abcdefABCDEF-") != 36)
			return false;
		for (int i = 0; i < 36; i++)
			name->uuid[i] = tolower((unsigned char) text[4 + i]);
	}
	else if (pg_strcasecmp(text, "cuda") != 0)
		return parse_ordinal(text, &name->ordinal);
	return true;
}

int
gc_device_names_parse(const char *text, GcDeviceName *list, const char **problem)
{
	int			n = 0;

	*problem = "The value must be auto, cuda, host, all, or a list of GPUs' ordinals and UUIDs.";
	while (isspace((unsigned char) *text))
		text++;
	if (pg_strncasecmp(text, "all", 3) == 0 && text[3 + strspn(text + 3, " \t\n")] == '\0')
	{
		for (int count = count_gpus(); n < count; n++)
			list[n] = (GcDeviceName) {.choice = GC_DEVICE_CUDA,.ordinal = n};
		return n;
	}
	for (;;)
	{
		char		word[64];
		size_t		length = strcspn(text, ", \t\n\"");

		if (length >= sizeof(word))
			return 0;
		memcpy(word, text, length);
		word[length] = '\0';
		if (n == GC_MAX_DEVICES)
		{
			*problem = "There may be 8 devices at most.";
			return 0;
		}
		if (!parse_name(word, &list[n++]))
			return 0;
		text += length;
		text += strspn(text, " \t\n");
		if (*text == '\0')
			break;
		if (*text++ != ',')
			return 0;
		text += strspn(text, " \t\n");
	}
	for (int i = 0; i < n; i++)
	{
		if (n > 1 && list[i].choice == GC_DEVICE_AUTO)
		{
			*problem = "auto must be alone.";
			return 0;
		}
	}
	return n;
}

void
gc_device_names_fix(const char *text)
{
	const char *problem;

	gc_ndevices = Max(gc_device_names_parse(text, names, &problem), 1);
}

GcDeviceName
gc_device_name(int number)
{
	return names[number];
}
