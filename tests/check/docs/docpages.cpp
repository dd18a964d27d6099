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

// A heading as links name it.
static std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : trim(heading.substr(heading.find_first_not_of('#')))) {
    if (g_ascii_isalnum(c) || c == '-' || c == '_') anchor.push_back(g_ascii_tolower(c));
    if (c == ' ') anchor.push_back('-');
  }
  return anchor;
}

// The lines between a heading and the next one.
static std::vector<std::string> section_of(const std::string& page, const std::string& anchor) {
  std::vector<std::string> lines;
  bool here = false;
  for (const std::string& line : split(read_page(page), '\n')) {
    if (!line.empty() && line[0] == '#')
      here = anchor_of(line) == anchor;
    else if (here)
      lines.push_back(line);
  }
  return lines;
}

static std::vector<Row> table_of(const std::vector<std::string>& section, const std::string& what) {
  std::vector<Row> rows;
  for (const std::string& line : section) {
    if (!line.empty() && line[0] == '|') {
      Row row;
      for (const std::string& cell : split(line.substr(1, line.find_last_of('|') - 1), '|'))
        row.push_back(trim(cell));
      rows.push_back(row);
    } else if (!rows.empty()) {
      break;
    }
  }
  fail_unless(rows.size() > 2, "no table under '%s'", what.c_str());
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

// The names behind "without" in a line "Shared: ...".
static Names left_out(const std::string& line) {
  const size_t at = line.find(" without ");
  if (at == std::string::npos) return {};
  const std::vector<std::string> names = quoted(line.substr(at));
  return Names(names.begin(), names.end());
}

static std::vector<Row> rows_at(const std::string& page, const std::string& anchor) {
  const std::vector<std::string> section = section_of(page, anchor);
  std::vector<Row> rows = table_of(section, page + "#" + anchor);
  for (const std::string& line : section) {
    if (line.rfind("Shared:", 0) != 0) continue;
    for (size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 1)) {
      const std::string target = line.substr(at + 2, line.find(')', at) - at - 2);
      const size_t hash = target.find('#');
      fail_unless(hash != std::string::npos, "'%s' names no heading", target.c_str());
      const std::string other = target.substr(0, target.rfind(".md", hash));
      const auto shared = rows_at(hash == 0 ? page : other, target.substr(hash + 1));
      rows.insert(rows.end(), shared.begin(), shared.end());
    }
    for (const std::string& name : left_out(line))
      std::erase_if(rows, [&](const Row& row) { return contains(row[0], "`" + name + "`"); });
  }
  return rows;
}

std::vector<Row> rows_under(const std::string& page, const std::string& title) {
  return rows_at(page, anchor_of("# " + title));
}

std::string read_page(const std::string& name) {
  gchar* text = nullptr;
  const std::string path = folder + "/" + name + ".md";
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
