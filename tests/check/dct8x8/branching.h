// Coefficients that several branches of a pipeline read simultaneously, against each branch alone.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

// "... ! tee" with `branches`, each after a queue, against each branch alone on the CPU engine; or,
// on the fake driver, which makes no pictures, with work that is done immediately.
inline void check_branches(const std::string& source, const std::string& head,
                           const std::vector<std::string>& branches) {
  const auto on = [](std::string text, const char* engine) {
    const std::string mark = "ENGINE";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), std::string("backend=") + engine);
    return text;
  };
  std::string line = source + on(head, backend()) + " ! tee name=t";
  std::vector<std::string> sinks;
  const bool is_fake = is_deferred();
  std::map<std::string, Frames> expected;
  for (const std::string& branch : branches) {
    const std::string sink(1, static_cast<char>('a' + sinks.size()));
    const std::string end = branch + " ! appsink name=" + sink + " sync=false";
    {
      const DoneAtOnce order;
      const std::string alone = on(head + " ! " + end, is_fake ? backend() : "cpu");
      expected[sink] = play_sinks(source + alone, {sink})[sink];
    }
    line += " t. ! queue max-size-buffers=3 ! " + on(end, backend());
    sinks.push_back(sink);
  }
  const auto found = play_sinks(line, sinks);
  for (const std::string& sink : sinks) compare(expected[sink], found.at(sink), line + ": " + sink);
}

inline std::string source_of(const std::string& size, const std::string& format = "I420") {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(quick() ? 10 : 60) +
         " ! video/x-raw,format=" + format + "," + size + " ! ";
}

}  // namespace testing
