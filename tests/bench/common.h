// What the benchmark programs share: options of their own, medians, and what is said of the
// machine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cudatransform::bench {

// Offers every argument to `take`, and removes those that it takes. The others are Google
// Benchmark's.
void take_options(int* argc, char** argv, const std::function<bool(std::string_view)>& take);
// Whether `argument` begins with `option`, as in "--seconds="; then `*value` is the rest.
bool has_value(std::string_view argument, std::string_view option, std::string* value);
bool has_value(std::string_view argument, std::string_view option, double* value);

// The value that `share` (0 to below 1) of a list are below. The list is not empty.
double quantile(std::vector<double> list, double share);
double median(std::vector<double> list);

// What is behind `key` in the first line of a file that has it; "unknown" without one.
std::string line_of(const char* path, std::string_view key);
std::string cpu_model();

}  // namespace cudatransform::bench
