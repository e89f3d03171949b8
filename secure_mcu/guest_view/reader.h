// SPDX-License-Identifier: Apache-2.0
//
// Reads a VM's own counters from its view file, in microseconds.
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto view, GuestViewReader::Open("/run/sideband/view.sbv"));
//   SIDEBAND_ASSIGN_OR_RETURN(const GuestViewSample sample, view->Read());
//   sample.Counters(0)[2];    // the VM's own block, event view->directory().catalog.events[2]
//
// The file is untrusted, and may be truncated or replaced at any time. It is read with pread and never mapped: an
// access to a mapped page beyond the end of the file raises a signal.
//
// `sideband-mcu peek-shm` prints what is read, as a table or as JSON.
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_READER_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {

// The counts of one trigger.
struct GuestViewSample {
  uint32_t trigger_id = 0;
  uint64_t reference_time_ns = 0;
  uint64_t sequence = 0;  // even; grows with each published trigger
  uint32_t counters_per_block = 0;
  std::vector<mailbox::BlockHeader> blocks;  // the VM's own, then its contexts' in the catalogue's order
  std::vector<uint64_t> counters;            // per block, in the catalogue's order of events

  std::span<const uint64_t> Counters(size_t block) const {
    return std::span(counters).subspan(block * counters_per_block, counters_per_block);
  }
};

// Not thread-safe; any number of readers may open the file.
class GuestViewReader {
 public:
  // The number of attempts of a Read while the writer is active.
  static constexpr int kAttemptsMax = 1000;

  // Errors: those of the file system, those of layout.h about the directory, and DATA_LOSS if the file's size does not
  // match its directory. Each message starts with the path.
  static absl::StatusOr<std::unique_ptr<GuestViewReader>> Open(const std::string& path);
  GuestViewReader(const GuestViewReader&) = delete;
  GuestViewReader& operator=(const GuestViewReader&) = delete;

  const GuestDirectory& directory() const { return directory_; }

  // ABORTED: superseded; open the path again. UNAVAILABLE: nothing has been published yet, or the writer was active at
  // each attempt. DATA_LOSS: the file was truncated, or a block has an invalid state.
  absl::StatusOr<GuestViewSample> Read();

 private:
  GuestViewReader(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status ReadDirectory();
  absl::Status Fetch(uint64_t offset, std::span<uint8_t> to) const;
  absl::Status FetchWords(size_t first, std::span<uint64_t> to) const;
  absl::StatusOr<bool> FetchWhole();
  absl::StatusOr<GuestViewSample> Decode() const;
  absl::Status Error(const absl::Status& status) const;

  const std::string path_;
  const Descriptor fd_;
  GuestDirectory directory_;
  uint64_t live_offset_ = 0;
  GuestLiveLayout layout_;
  std::vector<uint64_t> words_;  // the live part of the last read
};

struct PeekOptions {
  std::string file;
  bool json = false;
  std::optional<absl::Duration> watch;  // repeats at this interval until a stop is requested
  // Waits, and returns false to stop; required with `watch`.
  std::function<bool(absl::Duration)> wait;
  std::function<absl::Status(absl::string_view)> print;
};

// Prints the view, or one view per interval: as a table, or as one line of JSON. Reopens a view that has been replaced.
// Errors are those of GuestViewReader and of `print`.
absl::Status RunPeek(const PeekOptions& options);

// {"device", "boot_id", "vm", "vm_uuid", "trigger_id", "reference_time_ns", "blocks": [{"vm", "context" or null,
// "generation", "state", "trigger_id", "reference_time_ns", "flags", "counters": {event: count}}]} and a line break.
std::string FormatPeekJson(const GuestDirectory& directory, const GuestViewSample& sample);
// One column per block, one row per event.
std::string FormatPeekTable(const GuestDirectory& directory, const GuestViewSample& sample);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_READER_H_
