// Quantisation tables in caps, for files, which keep no metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <gst/coef/dct.h>
#include "transform/dct8x8/quant_table.h"
#include "transform/device/status.h"

namespace cudatransform {

// The quantisation tables of a frame, and the table of each component.
struct DctTables {
  const QuantTable* tables;
  int count;
  const int* table_of;  // component -> table
};

// Remembers the last tables in the caps, to notice new ones.
class ToldTables {
 public:
  bool same(const DctTables& tables, guint n_components) const;
  // Writes the tables into `caps`, which are writable.
  void tell(GstCaps* caps, const DctTables& tables, guint n_components);

 private:
  int count_ = -1;
  guint components_ = 0;
  QuantTable tables_[GST_DCT_MAX_TABLES] = {};
  int table_of_[GST_DCT_MAX_COMPONENTS] = {};
};

// Drops the fields.
void remove_tables(GstCaps* caps);

// Describes buffers without a meta by their caps: coefficients in system memory at the places of
// GstDctInfo, and the tables of the caps.
class CapsTables {
 public:
  void read(const GstCaps* caps, const GstDctInfo& info);
  // The meta of `buffer`, or its substitute, or null if there is neither. Fails if the caps' tables
  // are needed and cannot be used.
  Status find(GstBuffer* buffer, bool in_system_memory, const GstDctMeta** meta) const;

 private:
  GstDctMeta meta_ = {};
  bool usable_ = false;
  std::string wrong_;  // with the tables that are there
};

}  // namespace cudatransform
