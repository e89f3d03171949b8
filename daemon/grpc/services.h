// SPDX-License-Identifier: Apache-2.0
//
// The gRPC services as thin translators between calls and the classes that answer them. They take and return bytes
// (grpc::ByteBuffer), so that an answer that waits for its reader is held as it is sent, in a fifth of its message's
// memory. A new method is a row of the tables in services.cc.
//   const std::unique_ptr<grpc::Service> telemetry = NewTelemetryService(context);
//   builder.RegisterService(telemetry.get());
#ifndef SIDEBAND_DAEMON_GRPC_SERVICES_H_
#define SIDEBAND_DAEMON_GRPC_SERVICES_H_

#include <grpcpp/impl/codegen/service_type.h>

#include <memory>

#include "daemon/grpc/service_context.h"

namespace sideband::daemon {

// sideband.v1.Telemetry, Sensors, Confidential, Counting and Admin. Thread-safe; what `context` refers to must outlive
// them.
std::unique_ptr<grpc::Service> NewTelemetryService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewSensorsService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewConfidentialService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewCountingService(const ServiceContext& context);
std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICES_H_
