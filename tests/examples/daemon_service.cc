// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/http/http_server.h"
#include "daemon/service/fake_manager.h"
#include "daemon/service/inherited_sockets.h"
#include "daemon/service/keeper.h"
#include "daemon/service/pulse.h"
#include "daemon/service/service_manager.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void UseFakeManager() {
  //@ daemon/service/fake_manager.h
}

absl::Status UseInheritedSockets(HttpServer::Options& options) {
  //@ daemon/service/inherited_sockets.h
  return absl::OkStatus();
}

void UseKeeper(ServiceManager& manager, Pulse& pulse, const Pulse::Post& post) {
  //@ daemon/service/keeper.h
}

void UsePulse(const Clock& clock, const std::unique_ptr<HttpServer>& http) {
  //@ daemon/service/pulse.h
}

void UseServiceManager() {
  //@ daemon/service/service_manager.h
}

}  // namespace
}  // namespace sideband::daemon
