// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "daemon/board/board_store.h"
#include "daemon/http/http_message.h"
#include "daemon/page/board_json.h"
#include "daemon/page/status_page.h"

namespace sideband::daemon {
namespace {

void UseBoardJson(const BoardStore& store, const Clock& clock, nlohmann::json& boards) {
  //@ daemon/page/board_json.h
}

void UseStatusPage(Reader& reader, const HistoryReader& history, SelfMetrics& metrics, const Caller& caller) {
  //@ daemon/page/status_page.h
}

}  // namespace
}  // namespace sideband::daemon
