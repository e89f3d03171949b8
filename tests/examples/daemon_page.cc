// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "daemon/board/board_store.h"
#include "daemon/http/http_message.h"
#include "daemon/page/board_json.h"
#include "daemon/page/message_json.h"
#include "daemon/page/page_data.h"
#include "daemon/page/shared_rows.h"
#include "daemon/page/status_page.h"

namespace sideband::daemon {
namespace {

void UseBoardJson(const BoardStore& store, const Clock& clock, nlohmann::json& boards) {
  //@ daemon/page/board_json.h
}

void UseMessageJson(const sideband::v1::GetSnapshotResponse& response) {
  //@ daemon/page/message_json.h
}

void UsePageData(Reader& reader, const HistoryReader& history, SelfMetrics& metrics, const Caller& caller,
                 HttpResponse& response) {
  //@ daemon/page/page_data.h
}

void UseSharedRows(Reader& reader, const Caller& caller) {
  //@ daemon/page/shared_rows.h
}

void UseStatusPage() {
  //@ daemon/page/status_page.h
}

}  // namespace
}  // namespace sideband::daemon
