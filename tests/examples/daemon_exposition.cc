// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/body.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/exposition/board_families.h"
#include "daemon/exposition/device_families.h"
#include "daemon/exposition/device_labels.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/exposition_cache.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/gzip.h"
#include "daemon/exposition/scrape_filter.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/http/http_message.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/reader.h"
#include "daemon/view/view.h"
#include "daemon/view/visible_boards.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

void Write(const std::string& labels);

void UseDeviceFamilies(const DeviceFrame& frame, TextBuffer& out) {
  //@ daemon/exposition/device_families.h
}

void UseDeviceLabels(const DeviceInfo& info, const View* view, const mailbox::BlockHeader& block, std::string& out) {
  //@ daemon/exposition/device_labels.h
}

void UseExposition(Reader& reader, const Caller& caller, const std::vector<VisibleDevice>& devices, TextBuffer& body) {
  //@ daemon/exposition/exposition.h
}

void UseExpositionCache(ExpositionCache& cache, const Caller& caller, const std::vector<VisibleDevice>& devices,
                        const std::string& own_metrics, HttpResponse& response) {
  //@ daemon/exposition/exposition_cache.h
}

void UseFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter) {
  //@ daemon/exposition/frame.h
}

void UseGzip(const std::string& text, const std::string& ages) {
  //@ daemon/exposition/gzip.h
}

void UseTextBuffer(size_t family_bytes_max) {
  //@ daemon/exposition/text_buffer.h
}

void UseBoardFamilies(const BoardStore& store, const Caller& caller, const std::vector<VisibleDevice>& devices,
                      const BoardTime& now, std::string& out) {
  //@ daemon/exposition/board_families.h
}

}  // namespace
}  // namespace sideband::daemon
