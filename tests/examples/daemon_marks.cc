// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/marks/mark_book.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void Show(const Mark& mark);

absl::Status UseMarkBook(MarkBook& book, size_t device, const Uuid& vm, const Mark& mark, const Clock& clock,
                         uint64_t requested_ns, const mailbox::Snapshot& raw, absl::Time host_time,
                         absl::Duration host_time_error, double rate_max) {
  //@ daemon/marks/mark_book.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
