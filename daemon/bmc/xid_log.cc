// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/xid_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/bmc/bmc_values.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<std::string> XidLog::TakeHead(absl::string_view target, absl::string_view body) {
  SIDEBAND_ASSIGN_OR_RETURN(const BmcValues head, ParseResource(target, body));
  const auto text = [&](const char* pointer) { return FindText(head, pointer).value_or("").substr(0, kNameMax); };
  next_id_ = text("/Oem/Nvidia/LatestEntryID");
  next_latest_ = absl::StrCat(next_id_, " ", text("/Oem/Nvidia/LatestEntryTimeStamp"));
  // The next reading of a log that could never be read to its end is a first one again.
  if (known_.size() > 2 * kEntriesMax) {
    known_.clear();
    is_read_ = false;
  }
  seen_.clear();
  has_next_ = false;
  pages_ = 0;
  if (is_read_ && next_latest_ == latest_) return "";
  return PathOr(FindText(head, "/Entries/@odata.id"), absl::StrCat(target, "/Entries"));
}

absl::StatusOr<XidLog::Page> XidLog::TakePage(absl::string_view body, absl::Time now) {
  SIDEBAND_ASSIGN_OR_RETURN(const BmcLog log, ParseLog(body));
  if (seen_.size() + log.entries.size() > kEntriesMax) {
    return absl::InvalidArgumentError(absl::StrCat("the log has more than ", kEntriesMax, " entries"));
  }
  Page page{.next = PathOr(log.next_page, "")};
  for (const BmcLogEntry& entry : log.entries) {
    has_next_ |= entry.id == next_id_;
    seen_.push_back(entry.key);
    if (!known_.insert(entry.key).second || !is_read_) continue;
    auto message = ParseXid(entry.text);
    if (!message) {
      ++page.unknown;
      continue;
    }
    if (!absl::SimpleAtoi(entry.id, &message->sequence)) message->sequence = 0;
    // The BMC's clock is not believed.
    message->time_s = static_cast<uint32_t>(absl::ToUnixSeconds(now));
    page.news.push_back(*std::move(message));
  }
  // Some logs begin with the newest entry.
  std::ranges::stable_sort(page.news, {}, &mailbox::DriverEvent::sequence);
  if (!page.next.empty()) {
    page.is_endless = ++pages_ >= kPagesMax;
    if (page.is_endless) page.next.clear();
    return page;
  }
  const bool is_true = seen_.empty() ? !next_id_.empty() : has_next_;
  latest_ = is_true ? next_latest_ : "";
  // Entries that have left the log are forgotten when there is no more room.
  if (known_.size() > kEntriesMax) known_ = {seen_.begin(), seen_.end()};
  is_read_ = true;
  return page;
}

}  // namespace sideband::daemon
