// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/message/scope_message.h"
#include "daemon/message/time_message.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/topology.h"
#include "daemon/view/reader.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

void UseScopeMessage(sideband::v1::ListScopesResponse& response, const VisibleDevice& device, const Topology& topology,
                     const mailbox::BlockHeader& block) {
  //@ daemon/message/scope_message.h
}

absl::Status UseTimeMessage(const DeviceSnapshot& snapshot, sideband::v1::HistoryPoint& point,
                            const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/message/time_message.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
