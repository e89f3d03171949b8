// SPDX-License-Identifier: Apache-2.0
//
// The dependencies that all gRPC services share.
#ifndef SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
#define SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_

#include "daemon/grpc/call_limits.h"
#include "daemon/listen/gate.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/admin.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/rotation_queries.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/telemetry_queries.h"

namespace sideband::daemon {

// The parts of the daemon that answer calls. A null part is one that this daemon does not have: calls that need it are
// FAILED_PRECONDITION. All must outlive the services.
struct Answerers {
  const HistoryReader* history = nullptr;
  SealerSet* sealers = nullptr;  // null: nonces are rejected
  const PeekReader* peeks = nullptr;
  const CountingQueries* counting = nullptr;
  const Admin* admin = nullptr;
  RotationSink* rotation = nullptr;
  const MarkQueries* marks = nullptr;
  ExchangeBook* exchanges = nullptr;
  const ExchangeQueries* exchange_queries = nullptr;
  const SensorQueries* sensors = nullptr;
  const SensorHistoryReader* sensor_history = nullptr;
  WorkQueue* work = nullptr;  // null: gRPC's threads render the answers
};

// All referents must outlive the services.
struct ServiceContext {
  Reader& reader;
  RequestMetrics& metrics;
  StreamRegistry& streams;
  RequestQuota& quota;
  CallsUnderWay& under_way;
  SnapshotBodies& bodies;
  Gate& gate;                            // resolves a call's connection to its credentials
  const ResumeTokens* tokens = nullptr;  // null only where there are no streams
  Answerers parts = {};
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
