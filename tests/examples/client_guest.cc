// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/guest/counters.h"
#include "client/guest/gate.h"
#include "client/guest/register_page.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

void RunKernel();

absl::Status UseCounters(RegisterPage& page) {
  //@ client/guest/counters.h
  return absl::OkStatus();
}

absl::Status UseGate(RegisterPage& page) {
  //@ client/guest/gate.h
  return absl::OkStatus();
}

absl::Status UseRegisterPage() {
  //@ client/guest/register_page.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
