// SPDX-License-Identifier: Apache-2.0
//
// Reads the body of a VCD file, all that follows $enddefinitions $end, into a TraceState.
//   VcdBody body(*lexer, codes, state);
//   SIDEBAND_RETURN_IF_ERROR(body.Read());   // as far as a chunk goes
//
// Two readers for one language. Scan() takes what nearly all lines are (a change to binary digits of a signal with at
// most 64 bits, a time), written without surprises and wholly in the buffer, at a few nanoseconds each, and stops
// before anything else, be it only unusual or wrong. Item() then reads that one item word by word, and alone has
// errors. Both see the same trace, wherever Scan() chooses to stop.
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/code_table.h"
#include "sim/waveform/trace_state.h"
#include "sim/waveform/vcd_lexer.h"
#include "sim/waveform/vcd_value.h"

namespace sideband::sim {

// All three must outlive it. Not thread-safe.
class VcdBody {
 public:
  // `codes` with VcdHeader::kIgnored for signals that nobody wants.
  VcdBody(VcdLexer& lexer, const CodeTable& codes, TraceState& state) : lexer_(lexer), codes_(codes), state_(state) {}

  // Reads on until the chunk is full or the file ends. Every error is "FILE:LINE: what is wrong".
  absl::Status Read();

 private:
  // The items at the start of what is unread that are as usual.
  void Scan();
  // One of them, the white space before it included: what follows it, or null if it is left to Item(). `text` must be
  // followed by VcdLexer::kSlack bytes of white space from `end` on.
  const char* ScanItem(const char* text, const char* end);
  const char* ScanTime(const char* text, const char* end);
  const char* ScanScalar(const char* text, const char* end);
  const char* ScanVector(const char* text, const char* end);
  const char* ScanChange(const char* code, const char* end, const char* digits, size_t size);

  // An item of any kind, from its first word on.
  absl::Status Item(absl::string_view token);
  absl::Status Time(absl::string_view digits);
  absl::Status Scalar(absl::string_view token);
  absl::Status Vector(absl::string_view token);
  absl::Status RealOrString();
  absl::Status Keyword(absl::string_view token);
  absl::Status SkipSection(absl::string_view keyword);
  // Moves to the identifier code that belongs to a value.
  absl::Status NextIsCode();
  // The signal with this code changes to value_.
  absl::Status Change(absl::string_view code);

  VcdLexer& lexer_;
  const CodeTable& codes_;
  TraceState& state_;
  VcdValue value_;  // of the change that is being read
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_BODY_H_
