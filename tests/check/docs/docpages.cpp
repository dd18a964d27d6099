// The element pages in docs/elements as tests read them: tables under headings, names in backticks.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/docs/docpages.h"

#include "tests/check/testing.h"

namespace testing {

static std::string folder;

void set_pages_folder(const char* path) { folder = path; }

std::string trim(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back().push_back(c);
  }
  return parts;
}

std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> names;
  const std::vector<std::string> parts = split(text, '`');
  for (size_t i = 1; i < parts.size(); i += 2) names.push_back(parts[i]);
  return names;
}

std::vector<Row> table_under(const std::string& page, const std::string& title) {
  std::vector<Row> rows;
  bool here = false;
  for (const std::string& line : split(page, '\n')) {
    if (!line.empty() && line[0] == '#') {
      if (here) break;
      here = trim(line.substr(line.find_first_not_of('#'))) == title;
    } else if (here && !line.empty() && line[0] == '|') {
      Row row;
      for (const std::string& cell : split(line.substr(1, line.find_last_of('|') - 1), '|'))
        row.push_back(trim(cell));
      rows.push_back(row);
    } else if (rows.size() > 2) {
      break;
    }
  }
  fail_unless(rows.size() > 2, "no table under '%s'", title.c_str());
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

std::string read_page(const char* element) {
  gchar* text = nullptr;
  const std::string path = folder + "/" + element + ".md";
  fail_unless(g_file_get_contents(path.c_str(), &text, nullptr, nullptr), "%s", path.c_str());
  const std::string page = text;
  g_free(text);
  return page;
}

void check_same(const char* what, const Names& documented, const Names& real) {
  for (const std::string& name : real)
    fail_unless(documented.count(name) == 1, "%s: '%s' is not documented", what, name.c_str());
  for (const std::string& name : documented)
    fail_unless(real.count(name) == 1, "%s: '%s' does not exist", what, name.c_str());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace testing
