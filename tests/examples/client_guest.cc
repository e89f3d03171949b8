// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "client/guest/counters.h"
#include "client/guest/fake_page.h"
#include "client/guest/gate.h"
#include "client/guest/memory_page.h"
#include "client/guest/register_page.h"
#include "client/guest/socket_page.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

void RunKernel();

absl::Status UseCounters(RegisterPage& page) {
  //@ client/guest/counters.h
  return absl::OkStatus();
}

void UseFakePage() {
  //@ client/guest/fake_page.h
}

absl::Status UseGate(RegisterPage& page) {
  //@ client/guest/gate.h
  return absl::OkStatus();
}

absl::Status UseMemoryPage() {
  //@ client/guest/memory_page.h
  return absl::OkStatus();
}

absl::Status UseRegisterPage(RegisterPage& page) {
  //@ client/guest/register_page.h
  return absl::OkStatus();
}

absl::Status UseSocketPage() {
  //@ client/guest/socket_page.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
