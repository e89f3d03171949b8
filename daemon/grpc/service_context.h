// SPDX-License-Identifier: Apache-2.0
//
// What every gRPC service works with.
#ifndef SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
#define SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_

#include <cstdint>
#include <optional>

#include "daemon/api/reader.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/request_quota.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/history/history.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// All of it must outlive the services.
struct ServiceContext {
  Reader& reader;
  SelfMetrics& metrics;
  StreamRegistry& streams;
  RequestQuota& quota;
  CallsUnderWay& under_way;
  const History* history;  // nullptr: none is kept
  // On the Unix socket, whose connections it serves; nullopt: the network's.
  std::optional<uint32_t> local_operator = std::nullopt;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
