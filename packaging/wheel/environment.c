// The environment as a wheel's GStreamer sees it: without a registry, and without other plugins.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tools/wheel.py lets libgstreamer call this in place of g_getenv(). The user's variables are those
// of the system's GStreamer, which may be in the same process, so the module cannot set them.
#include <stdlib.h>
#include <string.h>

static int begins_with(const char* name, const char* prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

const char* ct_getenv(const char* name) {
  if (strcmp(name, "GST_REGISTRY_DISABLE") == 0) return "yes";
  if (begins_with(name, "GST_REGISTRY") || begins_with(name, "GST_PLUGIN")) return NULL;
  return getenv(name);
}
