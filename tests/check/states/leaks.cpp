// A planted leak: under GStreamer's leaks tracer run() must end a program that leaves an object
// alive with 1, and one that leaves none with 0. The program starts itself for both.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr char kLeft[] = "CUDATRANSFORM_TEST_LEFT";  // how many objects a started program leaves

int left() { return std::stoi(g_getenv(kLeft)); }

CHECK_TEST_IF(test_objects_left, g_getenv(kLeft) != nullptr) {
  for (int i = 0; i < left(); i++) gst_bus_new();
}

struct Ended {
  int status;
  std::string errors;
};

Ended end_of_program_that_leaves(const char* objects) {
  gchar program[] = "/proc/self/exe";
  gchar* command[] = {program, nullptr};
  g_auto(GStrv) env = g_environ_setenv(g_get_environ(), kLeft, objects, TRUE);
  g_autofree gchar* errors = nullptr;
  int status = 0;
  fail_unless(g_spawn_sync(nullptr, command, env, G_SPAWN_DEFAULT, nullptr, nullptr, nullptr,
                           &errors, &status, nullptr));
  return {status, errors};
}

CHECK_TEST_IF(test_leaks_are_found, g_getenv(kLeft) == nullptr) {
  const Ended leaking = end_of_program_that_leaves("2");
  fail_unless_equals_int(WEXITSTATUS(leaking.status), 1);
  fail_unless(leaking.errors.find("2 objects are alive at the end") != std::string::npos,
              "it printed: %s", leaking.errors.c_str());
  const Ended sound = end_of_program_that_leaves("0");
  fail_unless_equals_int(sound.status, 0);
}

}  // namespace
