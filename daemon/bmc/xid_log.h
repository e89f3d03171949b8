// SPDX-License-Identifier: Apache-2.0
//
// A GPU's log of Xids as its BMC keeps it, which is read in two steps: its head names the newest entry, and the entries
// are read when that is another one. An entry counts once, whatever the log is answered again; entries that are there
// when the log is first read to its end do not count. Heads and entries are hostile, and may contradict each other.
//   XidLog log;
//   SIDEBAND_ASSIGN_OR_RETURN(std::string entries, log.TakeHead(target, body));
//   while (!entries.empty()) {
//     SIDEBAND_ASSIGN_OR_RETURN(const XidLog::Page page, log.TakePage(Ask(entries), clock.Now()));
//     Count(page.news);
//     entries = page.next;
//   }
#ifndef SIDEBAND_DAEMON_BMC_XID_LOG_H_
#define SIDEBAND_DAEMON_BMC_XID_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {

// Not thread-safe.
class XidLog {
 public:
  static constexpr size_t kEntriesMax = 4096;
  static constexpr int kPagesMax = 16;

  struct Page {
    std::vector<mailbox::DriverEvent> news;  // oldest first, with the time at which they were read
    size_t unknown = 0;                      // new entries without an Xid
    std::string next;                        // the page that follows; empty: none
    bool is_endless = false;                 // there were kPagesMax pages, and the log goes on
  };

  // `target` is the path of the log. Returns the path of its entries; empty: they are known. INVALID_ARGUMENT for what
  // is no resource.
  absl::StatusOr<std::string> TakeHead(absl::string_view target, absl::string_view body);
  // A page of the entries, after the head. INVALID_ARGUMENT for what is no log, and for one of more than kEntriesMax
  // entries.
  absl::StatusOr<Page> TakePage(absl::string_view body, absl::Time now);
  // Whether the log was read to its end once.
  bool is_read() const { return is_read_; }
  // The next head is not believed: it may be wrong without a sign of it.
  void DoubtHead() { latest_.clear(); }

 private:
  absl::flat_hash_set<uint64_t> known_;  // keys of entries; they are counted, or were there at the first reading
  bool is_read_ = false;
  std::string latest_;  // what the head said of the newest entry when the log was last read; empty: that was not true
  // These are of the reading that is under way.
  std::string next_id_, next_latest_;
  std::vector<uint64_t> seen_;
  bool has_next_ = false;  // the entry that the head names
  int pages_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_XID_LOG_H_
