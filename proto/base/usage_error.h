// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a command line, in one line for whoever typed it.
//   try { app.parse(argc, argv); } catch (const CLI::ParseError& error) { return UsageError(app, error); }
#ifndef SIDEBAND_PROTO_BASE_USAGE_ERROR_H_
#define SIDEBAND_PROTO_BASE_USAGE_ERROR_H_

#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace sideband {

// INVALID_ARGUMENT that names the unknown word and what may have been meant instead, or else says where help is.
// `app` must have its program's name.
absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_USAGE_ERROR_H_
