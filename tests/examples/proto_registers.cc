// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/registers/event_list.h"
#include "proto/registers/guest_port.h"

namespace sideband {
namespace {

absl::Status UseEventList() {
  //@ proto/registers/event_list.h
  return absl::OkStatus();
}

absl::Status UseGuestPort() {
  //@ proto/registers/guest_port.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband
