// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/http/http_message.h"
#include "daemon/page/page_data.h"
#include "daemon/page/status_page.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status UsePageData(Reader& reader, const HistoryReader& history, SelfMetrics& metrics, const Caller& caller) {
  //@ daemon/page/page_data.h
  return absl::OkStatus();
}

void UseStatusPage() {
  //@ daemon/page/status_page.h
}

}  // namespace
}  // namespace sideband::daemon
