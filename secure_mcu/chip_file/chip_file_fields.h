// SPDX-License-Identifier: Apache-2.0
//
// Values of a chip file. An error names the value, its range and its line: "chip.yaml:4: slices is 65, must be a whole
// number from 1 to 64".
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slices, UintField(root, "slices", 1, {1, 64}));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_FIELDS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"

namespace sideband::mcu {

template <typename T>
struct FieldRange {
  T low, high;  // both inclusive
};

// The value of an existing node. Errors name it `what`.
absl::StatusOr<uint64_t> UintValue(const YamlNode& node, absl::string_view what, FieldRange<uint64_t> range);
absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::string_view what,
                                             FieldRange<absl::Duration> range);

// The value of a key, or `otherwise` if the key is absent.
absl::StatusOr<uint64_t> UintField(const YamlMap& map, const std::string& key, uint64_t otherwise,
                                   FieldRange<uint64_t> range);
// Stores the value in `value`, which keeps its content if the key is absent.
absl::Status Uint32Field(const YamlMap& map, const std::string& key, FieldRange<uint64_t> range, uint32_t& value);
absl::StatusOr<double> NumberField(const YamlMap& map, const std::string& key, double otherwise,
                                   FieldRange<double> range);
absl::StatusOr<absl::Duration> DurationField(const YamlMap& map, const std::string& key, absl::Duration otherwise,
                                             FieldRange<absl::Duration> range);
absl::StatusOr<bool> BoolField(const YamlMap& map, const std::string& key, bool otherwise);

// The required key `uuid`.
absl::StatusOr<Uuid> ReadUuid(const YamlMap& map);
// A required key: 1 to 64 letters, digits, '_', '-' and '.', the characters that are valid both in a label and in a
// path.
absl::StatusOr<std::string> ReadName(const YamlMap& map, const std::string& key = "name");
// 1 to `size_max` printable ASCII characters, or `otherwise` if the key is absent.
absl::StatusOr<std::string> PrintableField(const YamlMap& map, const std::string& key, const std::string& otherwise,
                                           size_t size_max);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_CHIP_FILE_FIELDS_H_
