// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "daemon/base/body.h"
#include "daemon/base/clock.h"
#include "daemon/base/replace_file.h"
#include "daemon/base/retry_after.h"
#include "daemon/base/socket_folder.h"
#include "daemon/config/listener_config.h"
#include "daemon/exposition/text_buffer.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void UseBody(const std::string& ages, const std::shared_ptr<const TextBuffer>& text) {
  //@ daemon/base/body.h
}

void UseClock(const Clock& clock) {
  //@ daemon/base/clock.h
}

absl::Status UseReplaceFile(const std::string& text) {
  //@ daemon/base/replace_file.h
  return absl::OkStatus();
}

void TellTheClient(absl::Duration after);

absl::Status UseRetryAfter(const absl::Status& status) {
  //@ daemon/base/retry_after.h
}

void UseSocketFolder(ListenerConfig& options) {
  //@ daemon/base/socket_folder.h
}

}  // namespace
}  // namespace sideband::daemon
