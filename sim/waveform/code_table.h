// SPDX-License-Identifier: Apache-2.0
//
// The identifier codes of a VCD file (one or more printable characters, ! to ~) and what each stands for.
//   CodeTable codes;
//   codes.Set("I5", slot);
//   codes.Find("I5");        // slot
#ifndef SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_
#define SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace sideband::sim {

// Codes of up to three characters, of which there are 839,514, are looked up by index, longer ones by hash.
class CodeTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;  // the code is not declared

  static bool IsCode(absl::string_view text);

  // `code` must be one by IsCode; `slot` must not be kNone.
  void Set(absl::string_view code, uint32_t slot);
  // kNone for whatever has not been set.
  uint32_t Find(absl::string_view code) const;

 private:
  std::vector<uint32_t> short_;
  absl::flat_hash_map<std::string, uint32_t> long_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_CODE_TABLE_H_
