// SPDX-License-Identifier: Apache-2.0
//
// The guest views of all VMs of a device, in one folder. The views follow the catalogue: VMs and contexts may come and
// go. A confidential VM has a view of its sealed records, if the snapshot has such (proto/envelope/record.h).
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto views, GuestViews::Create("/run/sideband/views", boot_id));
//   SIDEBAND_RETURN_IF_ERROR(views->Publish(catalog, snapshot));    // after each latch
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_GUEST_VIEWS_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_GUEST_VIEWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {

class ViewFile;

// Publishes a VM's own memory blocks in a read-only shared-memory file, which the guest reads in microseconds. The
// format is in README.md.
// Not thread-safe. Neither the writer nor the readers in other processes ever wait for each other.
class GuestViewWriter {
 public:
  // Creates the file DIR/<VM's name>.sbv, mode 0444, with nothing published. NOT_FOUND: unknown VM.
  // FAILED_PRECONDITION: confidential VM, whose counters must not exist in plain text. RESOURCE_EXHAUSTED: the view
  // would exceed kGuestViewBytesMax. Otherwise the file system's error.
  static absl::StatusOr<std::unique_ptr<GuestViewWriter>> Create(const std::string& dir,
                                                                 const mailbox::Catalog& catalog, uint16_t vm,
                                                                 uint64_t boot_id);
  // Removes the file and marks it superseded for readers that have it open.
  ~GuestViewWriter();
  GuestViewWriter(const GuestViewWriter&) = delete;
  GuestViewWriter& operator=(const GuestViewWriter&) = delete;

  // Copies only the VM's own blocks from the snapshot. INVALID_ARGUMENT, with nothing written, if the snapshot lacks a
  // block of the catalogue or has other events.
  absl::Status Publish(const mailbox::Snapshot& snapshot);
  // Publishes after a change of the catalogue. If the change concerns this VM, a new file replaces the old file, which
  // is marked superseded for its readers. The VM's name must be unchanged. After an error the old file stays.
  absl::Status Replace(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);

  const std::string& path() const { return path_; }

 private:
  // A block of the view, and its index in the last snapshot.
  struct Block {
    uint16_t context;
    size_t at;
  };

  // A file and its content.
  struct View {
    Bytes directory;
    GuestLiveLayout layout;
    std::vector<size_t> events;  // events of the view, as indices into the catalogue
    size_t catalog_events = 0;
    std::vector<Block> blocks;
    std::unique_ptr<ViewFile> file;
    uint64_t sequence = 0;
  };

  GuestViewWriter(std::string path, uint16_t vm, uint64_t boot_id, View view);

  static absl::StatusOr<View> MakeView(const std::string& path, const mailbox::Catalog& catalog,
                                       const mailbox::Catalog& own, uint64_t boot_id);
  static void Supersede(View& view);
  absl::Status PublishIn(View& view, const mailbox::Snapshot& snapshot) const;
  absl::Status Locate(View& view, const mailbox::Snapshot& snapshot) const;
  static void Store(View& view, const mailbox::Snapshot& snapshot);

  const std::string path_;
  const uint16_t vm_;
  const uint64_t boot_id_;
  View view_;
};

// Not thread-safe. The destructor removes the files.
class GuestViews {
 public:
  // `dir` must exist: NOT_FOUND, or INVALID_ARGUMENT if it is not a folder. No other process may write views in it.
  static absl::StatusOr<std::unique_ptr<GuestViews>> Create(const std::string& dir, uint64_t boot_id);
  ~GuestViews();
  GuestViews(const GuestViews&) = delete;
  GuestViews& operator=(const GuestViews&) = delete;

  // Publishes to each VM that is not confidential its own blocks of the snapshot, and to each other its records. A view
  // that cannot be written does not affect the other views; the first error is returned.
  absl::Status Publish(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);

 private:
  using VmKey = std::pair<std::string, uint16_t>;  // the VM's name, which names the file, and its id

  GuestViews(std::string dir, uint64_t boot_id);

  absl::Status Follow(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);
  absl::Status Add(const mailbox::Catalog& catalog, const mailbox::VmInfo& vm, const mailbox::Snapshot& snapshot);

  absl::Status PublishSealed(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);
  absl::Status ShowSealed(const mailbox::VmInfo& vm, const Bytes& content);

  struct SealedView {
    Bytes content;
    std::unique_ptr<ViewFile> file;
  };

  const std::string dir_;
  const uint64_t boot_id_;
  mailbox::Catalog catalog_;  // followed by all views if is_following_
  bool is_following_ = false;
  std::map<VmKey, std::unique_ptr<GuestViewWriter>> views_;
  std::map<VmKey, SealedView> sealed_views_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_GUEST_VIEWS_H_
