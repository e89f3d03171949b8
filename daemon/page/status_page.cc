// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/status_page.h"

namespace sideband::daemon {
namespace {

#include "daemon/page/status_page.inc"

}  // namespace

absl::string_view StatusPage() { return kPage; }

absl::string_view StatusPagePolicy() { return kPolicy; }

}  // namespace sideband::daemon
