// Quantization settings of cudadct8x8: properties, tables of a frame, and quantizer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gst/dct8x8/coefficients.h"
#include "gst/engine/properties.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform {

// The user's settings. Precedence: file, then luma and chroma, then the preset. Not locked: the
// element guards them and takes a copy for each frame.
struct QuantSettings {
  QuantPreset preset;
  int quality;
  QuantTable
      preset_tables[4];  // of these two, by QuantComponent: computed once, not for each frame
  std::optional<QuantTable> luma, chroma;
  std::string file;

  // The fault in the last value of luma-qtable, chroma-qtable or qtable-file; empty: none.
  std::string luma_error, chroma_error, file_error;
  std::vector<QuantTable> file_tables;  // 1 to 4, of `file`

  // As in Dct8x8Job, except for the unit.
  Quantizer quantizer = Quantizer::kRound;
  double dead_zone = 0.6;  // of a divisor
  double rd_lambda = 0.0625;

  QuantSettings() { use_preset(QuantPreset::kAnnexK, 85); }
  void use_preset(QuantPreset wanted, int wanted_quality);
};

// Reads a GstValueArray of 64 integers. An empty array means no table. On failure `table` is empty
// and the message names the fault.
std::string read_table_property(const GValue* array, std::optional<QuantTable>* table);
void write_table_property(const std::optional<QuantTable>& table, GValue* array);

// Sets `file` and reads its tables; a null or empty name forgets them. Touches only the three
// members about the file. Call it on a copy, without a lock, because it reads the file.
void load_table_file(const char* file, QuantSettings* settings);

inline DctTables view_of(const FrameTables& frame) {
  return {frame.tables, frame.count, frame.table_of};
}
// Those in the meta of coefficients; none without a meta or quantization.
FrameTables tables_of(const GstDctInfo& info, const GstDctMeta* meta);

// The tables of a frame of `info`. Y and K, or all of R, G, B or C, M, Y, K use the luma table; a
// chroma-qtable, or a second table in the file, goes to the other components, a third one to the
// last.
Status fill_tables(const QuantSettings& settings, const GstDctInfo& info, FrameTables* frame);

// Of all components but the first.
QuantComponent chroma_kind(GstCoefSampling sampling);

// Refuses settings whose tables have no scale. `property`: the one that needs it.
Status check_scalable(const std::string& property, const QuantSettings& settings);

// The quantizer of a frame.
struct FrameQuantizer {
  Quantizer quantizer = Quantizer::kRound;
  int dead_zone = 0;
  double rd_lambda = 0;

  // `job` has its samples' sampling in `info`.
  void apply(const GstDctInfo& info, Dct8x8Job* job) const;
};

// Refuses what the quantizer of `settings` cannot do, by the names of properties.
Status choose_quantizer(const QuantSettings& settings, const GstDctInfo& info, Method method,
                        const FrameTables& frame, FrameQuantizer* chosen);

// Rows of their properties, and the first of them alone, with a blurb of the element's own.
std::vector<Property> quant_properties(const SettingsOf<QuantSettings>& quant);
Property quality_property(const SettingsOf<QuantSettings>& quant, const char* blurb);

// As the property spells it.
const char* preset_name(QuantPreset preset);

// Whether `settings` have tables, for the way to READY: wrong settings fail it, before any data
// flow.
Status check_quant_settings(const QuantSettings& settings);

}  // namespace cudatransform
