// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/history_config.h"

#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Below the least not even one snapshot of a large device fits.
constexpr size_t kMaxBytesLeast = size_t{1} << 20;
constexpr size_t kMaxBytesMost = size_t{16} << 30;

}  // namespace

absl::StatusOr<size_t> ParseByteSize(absl::string_view text) {
  constexpr std::pair<absl::string_view, int> kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (shift == 0 && absl::ConsumeSuffix(&digits, unit)) shift = bits;
  }
  uint64_t number = 0;
  const bool good = !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
                    absl::SimpleAtoi(digits, &number) && number <= std::numeric_limits<uint64_t>::max() >> shift;
  if (good) return number << shift;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no number of bytes, such as 512KiB or 16MiB"));
}

absl::StatusOr<HistoryConfig> ReadHistoryConfig(const YamlMap& root) {
  HistoryConfig config;
  const auto section = root.Find("history");
  if (!section) return config;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, section->Map({"max_bytes"}));
  const auto node = map.Find("max_bytes");
  if (!node) return config;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node->Locate(bytes.status());
  if (*bytes != 0 && (*bytes < kMaxBytesLeast || *bytes > kMaxBytesMost)) {
    return node->Error(absl::StrCat("'", text, "' is neither 0 nor from 1MiB to 16GiB"));
  }
  config.max_bytes = *bytes;
  return config;
}

}  // namespace sideband::daemon
