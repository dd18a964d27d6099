// Buffers of video/x-dct: where their coefficients and tables are, by meta or caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <gst/coef/coef.h>
#include <gst/coef/dct.h>
#include "gst/stream/coef_input.h"
#include "transform/dct8x8/quant_table.h"
#include "transform/device/status.h"

namespace cudatransform {

// The quantization tables of a frame, and the table of each component.
struct DctTables {
  const QuantTable* tables;
  int count;
  const int* table_of;  // component -> table
};

// Remembers the last tables in the caps, to notice new ones.
class WrittenTables {
 public:
  bool same(const DctTables& tables, guint n_components) const;
  // Writes the tables into `caps`, which are writable.
  void write(GstCaps* caps, const DctTables& tables, guint n_components);

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

// The places of the coefficients of `info` in buffers in system memory.
CoefLayout layout_of(const GstDctInfo& info);

// Finds the meta of `buffer`, or its substitute (CapsTables), and the places of the coefficients of
// `info`. Fails if meta, caps and size contradict each other. `*meta` may be null.
Status find_coefficients(const Engine& engine, GstBuffer* buffer, const GstDctInfo& info,
                         const CapsTables& caps_tables, const GstDctMeta** meta,
                         CoefPlaces* places);

// Attaches the GstDctMeta of the coefficients of `info` at `places`.
void add_dct_meta(GstBuffer* buffer, const GstDctInfo& info, const DctTables& tables,
                  const CoefPlaces& places);

}  // namespace cudatransform
