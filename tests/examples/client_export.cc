// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/sealed_stream.h"
#include "client/export/export_command.h"
#include "client/export/guest_export.h"
#include "client/export/loopback_server.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

void Answer(const std::string& text);

void UseGuestExport(const GuestNames& names, const OpenedRecord& record) {
  //@ client/export/guest_export.h
}

std::string Metrics();

absl::Status UseLoopbackServer() {
  //@ client/export/loopback_server.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
