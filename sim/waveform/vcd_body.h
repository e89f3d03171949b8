// SPDX-License-Identifier: Apache-2.0
//
// Reads the body of a VCD file, the part after $enddefinitions $end, into a TraceState.
//   VcdBody body(*lexer, codes, state);
//   SIDEBAND_RETURN_IF_ERROR(body.Read());   // as far as a chunk goes
//
// The body has two parsers. Scan() handles nearly all lines: a time, or a change to binary digits of a signal of at
// most 64 bits, in the usual form and completely in the buffer, at a few nanoseconds each. It stops before every other
// item, unusual or malformed. Item() reads that item token by token, and only Item() reports errors. Both parse an item
// identically, wherever Scan() stops.
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/trace_state.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// From $dumpoff to $dumpon all signals are x, so nothing is counted.
struct DumpGap {
  size_t line = 0;    // of the $dumpoff
  CycleRange cycles;  // of the reference clock, possibly empty; without a $dumpon the end is unlimited
};

// All three must outlive the body. Not thread-safe.
class VcdBody {
 public:
  // `codes` maps unwanted signals to VcdHeader::kIgnored.
  VcdBody(VcdLexer& lexer, const CodeTable& codes, TraceState& state) : lexer_(lexer), codes_(codes), state_(state) {}

  // Reads until the chunk is full or the file ends. Every error is "FILE:LINE: description". What is wrong at the end
  // of a last line without a line end is not read and no error: the file is cut off there (VcdLexer::ends_within_line).
  absl::Status Read();

  // The gaps read so far; only the first kGapsMax.
  const std::vector<DumpGap>& gaps() const { return gaps_; }
  static constexpr size_t kGapsMax = 1024;

 private:
  void BeginGap();
  void EndGap();

  // Reads the usual items at the start of the unread part.
  void Scan();
  // Reads an item and the white space before it. Returns the position behind it, or null to leave it to Item().
  // VcdLexer::kSlack bytes of white space must follow `text` from `end` on.
  const char* ScanItem(const char* text, const char* end);
  const char* ScanTime(const char* text, const char* end);
  const char* ScanScalar(const char* text, const char* end);
  const char* ScanVector(const char* text, const char* end);
  const char* ScanChange(const char* code, const char* end, const char* digits, size_t size);

  // Reads an item of any kind, starting with its first token.
  absl::Status Item(absl::string_view token);
  // The same, for the end of the file, which may be cut off within the item.
  absl::Status ItemOrRest(absl::string_view token);
  absl::Status Time(absl::string_view digits);
  absl::Status Scalar(absl::string_view token);
  absl::Status Vector(absl::string_view token);
  absl::Status RealOrString(absl::string_view token);
  absl::Status Port(absl::string_view token);
  // Changes the signal of the next code to value_, which the text is, or is not.
  absl::Status ChangeNext(absl::string_view text, bool is_value);
  absl::Status Keyword(absl::string_view token);
  absl::Status SkipSection(absl::string_view keyword);
  // Moves to the identifier code after a value.
  absl::Status NextIsCode();
  // Changes the signal with this code to value_.
  absl::Status Change(absl::string_view code);

  VcdLexer& lexer_;
  const CodeTable& codes_;
  TraceState& state_;
  VcdValue value_;  // of the current change
  std::vector<DumpGap> gaps_;
  bool is_in_gap_ = false;  // the last gap has no end yet
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_
