// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/plan_word.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::sim {
namespace {

constexpr size_t kListedMax = 5;

}  // namespace

absl::StatusOr<size_t> FindWord(const YamlNode& node, absl::string_view what, std::span<const std::string> words) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  const std::string hint = words.size() <= kListedMax ? MustBeOneOf(words) : DidYouMean(text, words);
  return node.Error(absl::StrCat("unknown ", what, " '", text, "'", hint));
}

}  // namespace sideband::sim
