// The parallel decoder's results for a JPEG file, judged by libjpeg-turbo.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/jpeg/scans_judge.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "jpeg/errors.h"

namespace cudatransform::test {
namespace {

constexpr int16_t kUntouched = 0x5a5a;

bool same_tables(const JpegTables& a, const JpegTables& b, int components) {
  for (int c = 0; c < components; ++c)
    if (a.table_of[c] != b.table_of[c] || a.tables[a.table_of[c]] != b.tables[b.table_of[c]])
      return false;
  return a.count == b.count;
}

// Whether the first frame header is one of sequential Huffman coding.
bool is_sequential(const uint8_t* data, size_t size) {
  for (size_t at = 2; at + 4 <= size && data[at] == 0xff;) {
    const uint8_t code = data[at + 1];
    if (code == 0xff) {
      ++at;
      continue;
    }
    if (code == 0xc0 || code == 0xc1) return true;
    at += 2 + (size_t{data[at + 2]} << 8 | data[at + 3]);
  }
  return false;
}

// A file whose first frame header has 8 bits instead of 12, which not every libjpeg reads.
// Coefficients do not depend on it.
std::vector<uint8_t> as_eight_bits(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  for (size_t at = 2; at + 5 <= size;) {
    // As libjpeg searches markers: there may be anything between segments.
    if (file[at] != 0xff || file[at + 1] == 0xff || file[at + 1] == 0) {
      ++at;
      continue;
    }
    const uint8_t code = file[at + 1];
    if (code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc) {
      if (file[at + 4] == 12) file[at + 4] = 8;
      break;
    }
    const bool is_bare = code == 0x01 || (code >= 0xd0 && code <= 0xd7);
    at += is_bare ? 2 : 2 + (size_t{file[at + 2]} << 8 | file[at + 3]);
  }
  return file;
}

// libjpeg's warnings, without any code of ours.
class Warnings {
 public:
  Warnings(const uint8_t* data, size_t size) {
    const std::vector<uint8_t> file = as_eight_bits(data, size);
    jpeg_decompress_struct cinfo = {};
    Errors errors;
    cinfo.err = jpeg_std_error(&errors.base);
    errors.all = &all_;
    errors.base.error_exit = [](j_common_ptr common) { longjmp(of(common)->leave, 1); };
    errors.base.emit_message = [](j_common_ptr common, int qcoef) {
      if (qcoef < 0) of(common)->all->insert(common->err->msg_code);
    };
    if (setjmp(errors.leave) == 0) {
      jpeg_create_decompress(&cinfo);
      jpeg_mem_src(&cinfo, file.data(), file.size());
      jpeg_read_header(&cinfo, TRUE);
      jpeg_read_coefficients(&cinfo);
    } else {
      failed_ = true;
    }
    jpeg_destroy_decompress(&cinfo);
  }
  bool has(std::initializer_list<int> codes) const {
    return std::any_of(codes.begin(), codes.end(),
                       [this](int code) { return all_.count(code) != 0; });
  }
  bool none() const { return all_.empty() && !failed_; }
  // Data is missing, or contradicts itself.
  bool mean_damage() const {
    return failed_ || has({JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC,
                           JWRN_BOGUS_PROGRESSION, JWRN_ARITH_BAD_CODE});
  }

 private:
  struct Errors {
    jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
    std::set<int>* all;
    jmp_buf leave;
  };
  static Errors* of(j_common_ptr common) { return reinterpret_cast<Errors*>(common->err); }

  std::set<int> all_;
  bool failed_ = false;
};

// JpegReader's results for a file.
struct Reading {
  QcoefsMemory qcoefs;
  JpegTables tables;
  JpegFindings found;
  Status status;
  bool was_fast = false;

  Reading(const uint8_t* data, size_t size, const JpegReading& how, JpegHeader header)
      : qcoefs(header) {
    JpegReader reader;
    (void)reader.read_header({data, size}, &header);
    status = reader.read_coefficients(qcoefs.qcoefs(), &tables, &found, how);
    was_fast = reader.was_fast();
  }
  bool is_damaged() const { return !status.ok() || !found.damage.empty(); }
};

// The fault of a verdict, by libjpeg's warnings; empty if there is none.
std::string judge_verdict(const Reading& reading, const Warnings& warnings) {
  const JpegFindings& found = reading.found;
  const bool doubt = warnings.has({JWRN_EXTRANEOUS_DATA, JWRN_JPEG_EOF});
  if (reading.is_damaged()) {
    // Faults without a message of libjpeg's have our own messages.
    const bool by_libjpeg = found.damage.find("JPEG") != std::string::npos;
    if (by_libjpeg && !warnings.mean_damage() && !doubt)
      return "no warning says what is called damage: " + found.damage;
    return found.irregular == 0 ? "" : "a damaged picture is called irregular";
  }
  if (warnings.mean_damage()) return "a warning of damage was not heard";
  const auto differs = [&](uint32_t bit, std::initializer_list<int> codes) {
    return ((found.irregular & bit) != 0) != warnings.has(codes);
  };
  if (differs(kJpegScanParameters, {JWRN_NOT_SEQUENTIAL})) return "parameters of a scan";
  if (differs(kJpegMissingEoi, {JWRN_JPEG_EOF})) return "a missing end";
  if (differs(kJpegUnknownHeader, {JWRN_JFIF_MAJOR, JWRN_ADOBE_XFORM})) return "unknown headers";
  if (warnings.has({JWRN_EXTRANEOUS_DATA}) &&
      (found.irregular & (kJpegTrailingBytes | kJpegExtraneousBytes)) == 0)
    return "bytes that are left over";
  // libjpeg does not report bytes in its bit buffer, nor markers.
  if (warnings.none() && (found.irregular & ~(kJpegTrailingBytes | kJpegUnexpectedMarker)) != 0)
    return "irregular without a warning";
  return {};
}

// The fault of JpegReader or JpegScanDecoder; empty if there is none.
std::string judge_fast(const uint8_t* data, size_t size, const JpegHeader& header, bool* was_fast) {
  const Reading slow(data, size, {true, nullptr, false}, header);
  const Reading fast(data, size, {true, nullptr, true}, header);
  *was_fast = fast.was_fast;
  if (slow.was_fast) return "libjpeg was not asked";
  if (fast.was_fast && slow.is_damaged())
    return "libjpeg finds damage that JpegScanDecoder does not: " + slow.found.damage;
  if (slow.status.code != fast.status.code || slow.status.message != fast.status.message ||
      slow.found.damage != fast.found.damage)
    return "another verdict with JpegScanDecoder";
  if (slow.found.irregular != fast.found.irregular)
    return "other irregularities with JpegScanDecoder: " + irregularity_text(fast.found.irregular) +
           ", expected " + irregularity_text(slow.found.irregular);
  if (!same_tables(slow.tables, fast.tables, header.components))
    return "other quantization tables with JpegScanDecoder";
  if (!fast.qcoefs.margins_are_whole()) return "JpegScanDecoder writes outside of the picture";
  const std::string wrong = judge_verdict(slow, Warnings(data, size));
  if (!wrong.empty())
    return wrong + " (damage: '" + slow.found.damage + "', irregular: '" +
           irregularity_text(slow.found.irregular) + "')";
  const std::string difference = fast.qcoefs.difference(slow.qcoefs);
  return difference.empty() ? difference : "with JpegScanDecoder, " + difference;
}

struct Freed {
  void operator()(uint8_t* block) const { std::free(block); }
};

}  // namespace

QcoefsMemory::QcoefsMemory(const JpegHeader& header) : components_(header.components) {
  for (int c = 0; c < components_; ++c) {
    const size_t row = size_t{64} * header.blocks_w[c];
    memory_[c].assign(2 * kMargin + row * header.blocks_h[c], kUntouched);
    qcoefs_[c] = {memory_[c].data() + kMargin, static_cast<ptrdiff_t>(row * sizeof(int16_t)),
                  header.blocks_w[c], header.blocks_h[c]};
  }
}

bool QcoefsMemory::margins_are_whole() const {
  const auto is_whole = [](int16_t qcoef) { return qcoef == kUntouched; };
  for (int c = 0; c < components_; ++c) {
    const auto& memory = memory_[c];
    if (!std::all_of(memory.begin(), memory.begin() + kMargin, is_whole) ||
        !std::all_of(memory.end() - kMargin, memory.end(), is_whole))
      return false;
  }
  return true;
}

std::string QcoefsMemory::difference(const QcoefsMemory& other) const {
  for (int c = 0; c < components_; ++c) {
    if (memory_[c] == other.memory_[c]) continue;
    size_t at = 0;
    while (memory_[c][at] == other.memory_[c][at]) ++at;
    const size_t qcoef = at - kMargin, block = qcoef / 64;
    return "component " + std::to_string(c) + ", block " +
           std::to_string(block % qcoefs_[c].blocks_w) + ", " +
           std::to_string(block / qcoefs_[c].blocks_w) + ", coefficient " +
           std::to_string(qcoef % 64) + ": " + std::to_string(memory_[c][at]) + ", expected " +
           std::to_string(other.memory_[c][at]);
  }
  return {};
}

Status ScansDecoder::run(const JpegScans& scans, const uint8_t* block, QcoefsMemory* qcoefs,
                         JpegDecodeResult* result) {
  Queue& queue = device_.queue(QueueKind::kCompute);
  std::unique_ptr<Memory> planes[kJpegMaxComponents], pinned, reported;
  JpegDecodeJob job;
  job.is_alone = is_alone;
  job.scans = &scans;
  CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kPinned, scans.bytes, &pinned));
  std::memcpy(pinned->data(), block, scans.bytes);
  job.block = static_cast<const uint8_t*>(pinned->data());
  CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kPinned, sizeof *result, &reported));
  std::memset(reported->data(), 0xff, sizeof *result);
  job.result = static_cast<JpegDecodeResult*>(reported->data());
  const auto all = [&](int c) {
    Copy2D copy;
    copy.row_bytes = qcoefs->memory(c).size() * sizeof(int16_t);
    copy.rows = 1;
    copy.dst_pitch = copy.src_pitch = static_cast<ptrdiff_t>(copy.row_bytes);
    return copy;
  };
  for (int c = 0; c < qcoefs->components(); ++c) {
    Copy2D copy = all(c);
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, copy.row_bytes, &planes[c]));
    copy.dst = planes[c]->data();
    copy.src = qcoefs->memory(c).data();
    CT_RETURN_IF_ERROR(device_.upload(queue, copy));
    job.qcoefs[c] = qcoefs->qcoefs()[c];
    job.qcoefs[c].data = static_cast<int16_t*>(planes[c]->data()) + QcoefsMemory::kMargin;
  }
  FencePtr done;
  CT_RETURN_IF_ERROR(ops_.submit(device_, queue, job, &done));
  CT_RETURN_IF_ERROR(done->wait());
  for (int c = 0; c < qcoefs->components(); ++c) {
    Copy2D copy = all(c);
    copy.src = planes[c]->data();
    copy.dst = qcoefs->memory(c).data();
    CT_RETURN_IF_ERROR(device_.download(queue, copy));
  }
  FencePtr fetched;
  CT_RETURN_IF_ERROR(queue.record(&fetched));
  CT_RETURN_IF_ERROR(fetched->wait());
  *result = *job.result;
  return {};
}

JpegDecodeResult ScansDecoder::operator()(const JpegScans& scans, const uint8_t* block,
                                          QcoefsMemory* qcoefs) {
  JpegDecodeResult result;
  const Status status = run(scans, block, qcoefs, &result);
  failure_ = status.ok() ? std::string() : status.message;
  return result;
}

ScansOutcome judge_scans(const uint8_t* data, size_t size, ScansDecoder& decoder,
                         size_t max_qcoefs) {
  ScansOutcome outcome;
  JpegReader reader;
  JpegHeader header;
  if (!reader.read_header({data, size}, &header).ok()) return outcome;
  size_t qcoefs = 0;
  for (int c = 0; c < header.components; ++c)
    qcoefs += size_t{64} * header.blocks_w[c] * header.blocks_h[c];
  if (qcoefs > max_qcoefs || size < header.min_bytes) return outcome;
  outcome.for_us = is_sequential(data, size);
  QcoefsMemory judged(header);
  JpegTables judged_tables;
  JpegFindings found;
  const Status status =
      reader.read_coefficients(judged.qcoefs(), &judged_tables, &found, {false, nullptr, false});
  outcome.judged_sound = status.ok() && found.damage.empty();
  outcome.irregular = found.irregular;

  outcome.wrong = judge_fast(data, size, header, &outcome.was_fast);
  if (!outcome.wrong.empty()) return outcome;

  outcome.verdict = ScansVerdict::kNo;
  JpegScanReader scan_reader;
  const size_t bytes = scan_reader.measure({data, size});
  if (bytes == 0) return outcome;
  // Exact to the byte, so that sanitizers see reads beyond the end.
  const size_t rounded = (bytes + 15) / 16 * 16;
  const std::unique_ptr<uint8_t, Freed> block(
      static_cast<uint8_t*>(std::aligned_alloc(16, rounded)));
  JpegScans scans;
  if (!scan_reader.read(block.get(), &scans)) return outcome;
  if (scans.bytes > bytes) outcome.wrong = "more bytes than measured";
  for (int c = 0; c < header.components; ++c) {
    if (scans.components != header.components || scans.blocks_w[c] != header.blocks_w[c] ||
        scans.blocks_h[c] != header.blocks_h[c])
      outcome.wrong = "other sizes than libjpeg has";
  }
  if (!outcome.wrong.empty()) return outcome;
  outcome.subsequences = scans.subsequences;

  QcoefsMemory decoded(header);
  const JpegDecodeResult result = decoder(scans, block.get(), &decoded);
  outcome.reported = result.damage;
  outcome.is_whole = result.segments == scans.segments;
  outcome.wrong = decoder.failure();
  if (!decoded.margins_are_whole())
    outcome.wrong = "coefficients were written outside of the picture";
  const bool is_sound = is_decoded(scans, result);
  outcome.verdict = is_sound ? ScansVerdict::kSound : ScansVerdict::kDamaged;
  if (!is_sound || !outcome.wrong.empty()) return outcome;
  if (!outcome.judged_sound)
    outcome.wrong = "libjpeg finds damage: " + (status.ok() ? found.damage : status.message);
  else if ((header.irregular | irregularities(scans, result)) != found.irregular)
    outcome.wrong = "other irregularities";
  else if (!same_tables(scans.tables, judged_tables, header.components))
    outcome.wrong = "other quantization tables";
  else
    outcome.wrong = decoded.difference(judged);
  return outcome;
}

}  // namespace cudatransform::test
