// A JPEG picture's header, coefficients and tables.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/reader.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "jpeg/bounds.h"
#include "jpeg/coef_arrays.h"
#include "jpeg/scan_decoder.h"
#include "jpeg/stuffing.h"

namespace cudatransform {
namespace {

// Whether an APP0 segment of the header has "AVI1" and the polarity of a field. libjpeg could keep
// such segments, but its list of them takes time that is quadratic in their number.
bool says_polarity(std::span<const uint8_t> file) {
  size_t at = 2;  // after SOI
  while (at + 4 <= file.size() && file[at] == 0xff && file[at + 1] != kSos) {
    if (file[at + 1] == 0xff) {  // a fill byte
      at++;
      continue;
    }
    const size_t length = size_t(file[at + 2]) << 8 | file[at + 3];
    if (length < 2) break;
    if (file[at + 1] == kApp0 && length >= 7 && at + 9 <= file.size() &&
        memcmp(&file[at + 4], "AVI1", 4) == 0)
      return file[at + 8] == 1 || file[at + 8] == 2;
    at += 2 + length;
  }
  return false;
}

// Whether a DNL marker after the first scan has the number of lines (T.81, B.2.5), as it has to
// where the frame header says 0.
bool counts_lines_later(std::span<const uint8_t> file) {
  bool in_scan = false;
  for (size_t at = 2; at + 6 <= file.size();) {  // DNL has six bytes
    const auto* ff = static_cast<const uint8_t*>(memchr(&file[at], 0xff, file.size() - at));
    if (!ff) break;
    at = static_cast<size_t>(ff - file.data());
    if (at + 6 > file.size()) break;
    const uint8_t code = file[at + 1];
    if (code == 0xff) {  // a fill byte
      at++;
    } else if (code == 0 || (code >= kRst0 && code <= kRst7)) {
      at += 2;
    } else if (in_scan) {
      return code == kDnl && (file[at + 4] != 0 || file[at + 5] != 0);
    } else {
      in_scan = code == kSos;
      at += 2 + (size_t(file[at + 2]) << 8 | file[at + 3]);
    }
  }
  return false;
}

// A sequential Huffman-coded block takes two code words, for the DC difference and the end of the
// block, of at least a bit each; in a progressive file one, in the first DC scan. Arithmetic coding
// has no such bound.
size_t min_bytes(const jpeg_decompress_struct& cinfo, const JpegHeader& header) {
  if (cinfo.arith_code) return 0;
  size_t blocks = 0;
  for (int c = 0; c < header.components; c++)
    blocks += size_t(header.blocks_w[c]) * header.blocks_h[c];
  return blocks * (cinfo.progressive_mode ? 1 : 2) / 8;
}

// The structures and tables of libjpeg's for one picture: under 100 KiB.
constexpr size_t kLibjpegBytes = size_t{1} << 17;

void stop_at_many_scans(j_common_ptr common) {
  const auto* cinfo = reinterpret_cast<j_decompress_ptr>(common);
  uint64_t blocks = 0;
  for (int c = 0; c < cinfo->num_components; c++)
    blocks += uint64_t(cinfo->comp_info[c].width_in_blocks) * cinfo->comp_info[c].height_in_blocks;
  const auto scans = static_cast<uint64_t>(cinfo->input_scan_number);
  if (scans > JpegReader::kMaxScans || scans * blocks > JpegReader::kMaxScannedBlocks)
    JpegErrors::fail(common, "too many scans");
}

}  // namespace

JpegReader::JpegReader() = default;
JpegReader::~JpegReader() { close(); }

// libjpeg calls it for each row of MCUs of each scan.
void JpegReader::check_interrupt(j_common_ptr cinfo) {
  const auto* progress = reinterpret_cast<const Progress*>(cinfo->progress);
  if (progress->interrupt && progress->interrupt->load(std::memory_order_relaxed) != 0)
    JpegErrors::cancel(cinfo);
  stop_at_many_scans(cinfo);
}

void JpegReader::close() {
  if (open_) jpeg_destroy_decompress(&cinfo_);
  open_ = false;
}

Status JpegReader::read_header(std::span<const uint8_t> file, JpegHeader* header) {
  // A new object for every picture: an old one would pass its tables to files that have none.
  close();
  file_ = file;
  was_fast_ = false;
  errors_.reset(file);
  cinfo_.err = errors_.manager();
  open_ = true;  // also when creation fails half way: destruction handles that
  const Status status = errors_.guard([&] {
    jpeg_create_decompress(&cinfo_);
    arrays_.install(reinterpret_cast<j_common_ptr>(&cinfo_));
    progress_.base.progress_monitor = check_interrupt;
    progress_.interrupt = nullptr;
    cinfo_.progress = &progress_.base;
    jpeg_mem_src(&cinfo_, file.data(), file.size());
    jpeg_read_header(&cinfo_, TRUE);
  });
  CT_RETURN_IF_ERROR(check_frame(status));
  if (!status.ok() && errors_.code() == JERR_EMPTY_IMAGE && cinfo_.image_height == 0 &&
      cinfo_.image_width > 0 && cinfo_.num_components > 0 && counts_lines_later(file))
    return Status::error(StatusCode::kUnsupported,
                         "image height in a DNL marker after the first scan is not supported");
  CT_RETURN_IF_ERROR(status);
  CT_RETURN_IF_ERROR(describe(header));
  header->has_polarity = says_polarity(file);
  header->irregular = header_irregular_ = errors_.irregular();
  return {};
}

// Refuses frames that libjpeg refuses in some versions, for any result of `read`.
Status JpegReader::check_frame(const Status& read) const {
  if (!read.ok() && errors_.code() != JERR_BAD_PRECISION) return {};
  const std::string bits = std::to_string(errors_.depth());
  if (errors_.frame_marker() == kSof3)
    return Status::error(StatusCode::kUnsupported,
                         "unsupported JPEG process: lossless (SOF type 0xc3)");
  if (!is_jpeg_depth(errors_.depth()))
    return Status::error(StatusCode::kUnsupported,
                         "unsupported precision of " + bits + " bits, expected 8 or 12");
  if (errors_.frame_marker() == kSof0 && errors_.depth() != 8)
    return Status::error(
        StatusCode::kInvalidArgument,
        "invalid precision of " + bits + " bits in a baseline frame (SOF0), expected 8");
  return {};
}

Status JpegReader::describe(JpegHeader* header) {
  const auto unsupported = [](const std::string& what) {
    return Status::error(StatusCode::kUnsupported, what);
  };
  *header = JpegHeader();
  header->width = cinfo_.image_width;
  header->height = cinfo_.image_height;
  header->depth = depth_ = errors_.depth();
  header->components = components_ = cinfo_.num_components;
  switch (cinfo_.jpeg_color_space) {
    case JCS_GRAYSCALE:
      header->color = JpegColor::kGray;
      break;
    case JCS_YCbCr:
      header->color = JpegColor::kYcbcr;
      break;
    case JCS_RGB:
      header->color = JpegColor::kRgb;
      break;
    case JCS_CMYK:
      header->color = JpegColor::kCmyk;
      break;
    case JCS_YCCK:
      header->color = JpegColor::kYcck;
      break;
    default:
      if (cinfo_.num_components != 2)
        return unsupported("unsupported number of components: " +
                           std::to_string(cinfo_.num_components) + ", expected 1 to 4");
      header->color = JpegColor::kTwo;
      break;
  }
  const jpeg_component_info* comps = cinfo_.comp_info;
  for (int c = 0; c < header->components; c++) {
    header->sampling.h[c] = static_cast<uint32_t>(comps[c].h_samp_factor);
    header->sampling.v[c] = static_cast<uint32_t>(comps[c].v_samp_factor);
    header->blocks_w[c] = comps[c].width_in_blocks;
    header->blocks_h[c] = comps[c].height_in_blocks;
    header->extra_bytes += CoefArrays::own_bytes(comps[c]);
  }
  header->sampling.reduce(header->components);
  header->extra_bytes += kLibjpegBytes + sizeof(JpegScanDecoder);
  header->min_bytes = min_bytes(cinfo_, *header);
  return {};
}

bool JpegReader::is_sequential() const { return !cinfo_.progressive_mode && !cinfo_.arith_code; }

bool JpegReader::decode_fast(const JpegQcoefs* qcoefs, JpegTables* tables, const JpegReading& how) {
  if (!decoder_) return false;
  if (how.fast)
    return decoder_->decode(file_, qcoefs, components_, how.rows, how.interrupt, tables);
  return decoder_->check(file_, how.interrupt);
}

Status JpegReader::read_coefficients(const JpegQcoefs* qcoefs, JpegTables* tables,
                                     JpegFindings* found, const JpegReading& how) {
  *found = {errors_.damage(), 0};
  was_fast_ = false;
  if (!how.past_damage && !found->damage.empty()) return {};
  if (!decoder_) decoder_.reset(new (std::nothrow) JpegScanDecoder);
  vouched_ = found->damage.empty() && is_sequential() && decode_fast(qcoefs, tables, how);
  was_fast_ = vouched_ && how.fast;
  if (was_fast_) {
    found->irregular = header_irregular_ | decoder_->irregular();
    return {};
  }
  arrays_.begin_reading(qcoefs, components_, depth_);
  if (!how.past_damage) errors_.leave_at_damage();
  progress_.interrupt = how.interrupt;
  const Status status = errors_.guard([&] { jpeg_read_coefficients(&cinfo_); });
  found->damage = errors_.damage();
  if (!status.ok() && found->damage.empty()) found->damage = status.message;
  const bool cancelled = status.code == StatusCode::kCancelled;
  if (!cancelled && (how.past_damage || found->damage.empty()))
    finish_qcoefs(qcoefs, tables, found, how);
  arrays_.give_back();
  return status;
}

// Checks the results of libjpeg, and completes them.
void JpegReader::finish_qcoefs(const JpegQcoefs* qcoefs, JpegTables* tables, JpegFindings* found,
                               const JpegReading& how) {
  arrays_.finish_reading();
  take_tables(tables, &found->damage);
  if (found->damage.empty() && !arrays_.are_plain()) found->damage = range_damage(qcoefs);
  if (found->damage.empty()) weigh(found);
  // Damaged quantized coefficients must at least be valid in another file.
  if (!found->damage.empty() && how.past_damage)
    for (int c = 0; c < components_; c++) clamp_qcoefs(qcoefs[c], depth_);
}

// Decides about a picture in which libjpeg has found no damage.
void JpegReader::weigh(JpegFindings* found) const {
  if (is_sequential() && !vouched_ && decoder_ && decoder_->goes_beyond_block())
    found->damage = "more than 64 coefficients in a block";
  else if (!errors_.doubt().empty() && !all_blocks_came())
    found->damage = errors_.doubt();
  else
    found->irregular = vouched_ ? header_irregular_ | decoder_->irregular() : errors_.irregular();
}

// Whether extraneous bytes or a missing EOI left the picture complete. JpegScanDecoder counts the
// MCUs of sequential files. A progressive one has a remainder after each of its scans, where its
// header claims fewer MCUs than there are; all of it is there when no scan can add a bit. For
// arithmetic coding that cannot be known: all bits are data to it.
bool JpegReader::all_blocks_came() const {
  if (cinfo_.arith_code) return false;
  if (is_sequential()) return vouched_;
  if (errors_.scans_with_trailing_bytes() > 1) return false;
  if ((errors_.irregular() & kJpegMissingEoi) == 0) return true;
  for (int c = 0; c < components_; c++)
    if (std::any_of(cinfo_.coef_bits[c], cinfo_.coef_bits[c] + DCTSIZE2,
                    [](int bits) { return bits != 0; }))
      return false;
  return true;
}

// Huffman codes can express larger quantized coefficients than samples have, and in damaged files
// they do.
std::string JpegReader::range_damage(const JpegQcoefs* qcoefs) const {
  for (int c = 0; c < components_; c++)
    if (const Status status = check_qcoefs(qcoefs[c], c, depth_); !status.ok())
      return status.message;
  return {};
}

// The tables that the scans used.
void JpegReader::take_tables(JpegTables* tables, std::string* damage) const {
  *tables = JpegTables();
  for (int c = 0; c < components_; c++) {
    const JQUANT_TBL* found = cinfo_.comp_info[c].quant_table;
    if (!found && damage->empty())
      *damage = "truncated before component " + std::to_string(c + 1) + " of " +
                std::to_string(components_);
    QuantTable table;
    for (int i = 0; i < 64; i++) table.q[i] = found ? found->quantval[i] : 1;
    if (table.is_blank()) {
      std::fill(std::begin(table.q), std::end(table.q), uint16_t{1});
      if (damage->empty()) *damage = "quantization table of zeros";
    }
    tables->add(c, table, cinfo_.comp_info[c].quant_tbl_no);
  }
}

}  // namespace cudatransform
