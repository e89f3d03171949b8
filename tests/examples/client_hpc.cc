// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output.h"
#include "client/hpc/event_choice.h"
#include "client/hpc/reading_text.h"
#include "proto/base/status_macros.h"
#include "proto/registers/event_list.h"

namespace sideband::client {
namespace {

absl::Status UseEventChoice(const std::string& text) {
  //@ client/hpc/event_choice.h
  return absl::OkStatus();
}

void UseReadingText(const std::vector<hpc::ListedEvent>& chosen, const EventReading& reading, const TableStyle& style,
                    Output& out) {
  //@ client/hpc/reading_text.h
}

}  // namespace
}  // namespace sideband::client
