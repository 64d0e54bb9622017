// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <string.h>
#include "discover.h"
#include "modules.h"

#define MODULES_DIR "/lib/modules"
/* Where patches/README.md has them installed, below MODULES_DIR/RELEASE. */
#define PATCHED_DIR "updates/fs-tuned"

static bool is_installed(const char *release)
{
	char path[PATH_MAX];

	return discover_path(path, sizeof(path), MODULES_DIR "/%s/" PATCHED_DIR, release) ==
		       0 &&
	       access(path, F_OK) == 0;
}

void patched_modules_find(const char *release, struct patched_modules *ret)
{
	_cleanup_(names_done) struct names releases = { 0 };
	int r = names_read(&releases, MODULES_DIR);

	*ret = (struct patched_modules){ .error = r < 0 ? -r : 0 };
	ret->installed = r == 0 && is_installed(release);
	for (size_t i = 0; i < releases.n && !ret->installed && !*ret->other; i++)
		if (is_installed(releases.v[i]))
			(void)snprintf(ret->other, sizeof(ret->other), "%s", releases.v[i]);
}
