// The element pages in docs/elements as tests read them: tables under headings, names in backticks.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstcheck.h>

#include <set>
#include <string>
#include <vector>

namespace testing {

using Row = std::vector<std::string>;
using Names = std::set<std::string>;

// The folder of read_page().
void set_pages_folder(const char* path);
std::string read_page(const std::string& name);

// The rows of the first table after the heading `title` of a page, without its header, and after
// them those of the sections that the section's line "Shared: ..." links to. The line may end in
// "without" and the names that it leaves out.
std::vector<Row> rows_under(const std::string& page, const std::string& title);
// The names in `backticks`.
std::vector<std::string> quoted(const std::string& text);

std::string trim(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);
bool contains(const std::string& text, const std::string& part);

// Fails the test with the name that is in only one of the two.
void check_same(const char* what, const Names& documented, const Names& real);

}  // namespace testing

namespace testing {

inline constexpr const char* kElements[] = {
    "cudadct8x8",  "cudaidct8x8",  "cudadwt",     "cudaidwt",     "cudadctconvert",
    "cudadctflip", "cudadctquant", "cudaresize",  "cudadiracdec", "cudaapvdec",
    "cudaapvenc",  "jpegcoefdec",  "jpegcoefenc", "cudajpegdec",  "cudajpegenc",
};
inline constexpr int kTransforms = 4;    // the first
inline constexpr int kCoefFilters = 3;   // behind these
inline constexpr int kResizers = 1;      // behind these
inline constexpr int kJpegElements = 4;  // the last, which a build without libjpeg does not have
inline constexpr int kBins = 2;          // of these the last
inline constexpr int kAllElements = G_N_ELEMENTS(kElements);

// docs_caps.cpp. The JPEG elements are kElements from `jpeg` to `end`.
void add_caps_tests(TCase* tc, int jpeg, int end);

}  // namespace testing
