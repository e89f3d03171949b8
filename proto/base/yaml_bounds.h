// SPDX-License-Identifier: Apache-2.0
//
// Limits the size of a YAML document before it is parsed: yaml-cpp needs about 200 bytes per value, and holds all
// levels of a nested value at once.
//   SIDEBAND_RETURN_IF_ERROR(CheckYamlBounds(text, "jwks.json", {.nodes_max = 1 << 14}));
#ifndef SIDEBAND_PROTO_BASE_YAML_BOUNDS_H_
#define SIDEBAND_PROTO_BASE_YAML_BOUNDS_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband {

struct YamlBounds {
  size_t depth_max = 64;       // nesting of brackets, and number of "- " in one line
  size_t nodes_max = 4 << 20;  // keys, values, list entries; an estimate, accurate within a factor of two for JSON
};

// INVALID_ARGUMENT "PATH:LINE: …" if the text exceeds the bounds. Brackets in quotes and comments are not counted. One
// pass, without allocating memory.
absl::Status CheckYamlBounds(absl::string_view text, const std::string& path, const YamlBounds& bounds);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_YAML_BOUNDS_H_
