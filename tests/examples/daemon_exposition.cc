// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/body.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/exposition/device_frame.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/http/http_message.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/view.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

void Write(const std::string& labels);

void UseExposition(Reader& reader, const Caller& caller, const std::vector<VisibleDevice>& devices, TextBuffer& body) {
  //@ daemon/exposition/exposition.h
}

void UseExpositionCache(ExpositionCache& cache, const Caller& caller, const std::vector<VisibleDevice>& devices,
                        const std::string& own_metrics, HttpResponse& response) {
  //@ daemon/exposition/exposition_cache.h
}

void UseFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter) {
  //@ daemon/exposition/device_frame.h
}

void UseTextBuffer(size_t family_bytes_max) {
  //@ daemon/exposition/text_buffer.h
}

}  // namespace
}  // namespace sideband::daemon
