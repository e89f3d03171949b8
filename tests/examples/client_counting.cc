// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output.h"
#include "client/counting/counting_change.h"
#include "client/counting/counting_text.h"
#include "client/counting/explain.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

void Print(const std::vector<ExplainedTerm>& terms);

void UseExplain(const v1::GetCountingResponse& response) {
  //@ client/counting/explain.h
}

void UseCountingText(const v1::GetCountingResponse& response, const ExplainQuestion& question,
                     const Explanation& explanation, const TableStyle& style, Output& out) {
  //@ client/counting/counting_text.h
}

absl::Status UseCountingChange(CLI::App& app, const v1::GetCountingResponse& actual) {
  //@ client/counting/counting_change.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
