// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_complement.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/firmware/complement.h"

namespace sideband::mcu {
namespace {

absl::StatusOr<Complement> ReadRule(const YamlNode& node, absl::string_view name) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::vector<std::string> words;
  for (const auto& [word, rule] : kComplementWords) {
    if (text == word) return rule;
    words.emplace_back(word);
  }
  return node.Error(absl::StrCat("complement of ", name, ": '", text, "' is unknown", MustBeOneOf(words)));
}

absl::Status UnknownClass(const YamlNode& node, absl::string_view name) {
  std::vector<std::string> names;
  for (const ComplementClass& of : kComplementClasses) names.emplace_back(of.name);
  return node.Error(absl::StrCat("complement: unknown class '", name, "'", MustBeOneOf(names)));
}

}  // namespace

absl::Status ReadComplement(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("complement");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [name, value] : entries) {
    const auto* const found = std::ranges::find(kComplementClasses, name, &ComplementClass::name);
    if (found == kComplementClasses.end()) return UnknownClass(value, name);
    SIDEBAND_ASSIGN_OR_RETURN(file.complement.*found->rule, ReadRule(value, name));
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
