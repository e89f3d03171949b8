// SPDX-License-Identifier: Apache-2.0
//
// The guest views of all VMs of a device, in one folder. The views follow the catalogue: VMs and contexts may come and
// go. A confidential VM has a view of its sealed records, if the snapshot has such (proto/envelope/sealed_view.h).
//
//   SIDEBAND_ASSIGN_OR_RETURN(const auto views, GuestViews::Create("/run/sideband/views", boot_id));
//   SIDEBAND_RETURN_IF_ERROR(views->Publish(catalog, snapshot));    // after each latch
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_GUEST_VIEWS_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_GUEST_VIEWS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/guest_view/view_file.h"
#include "secure_mcu/guest_view/writer.h"

namespace sideband::mcu {

// Not thread-safe. The destructor removes the files.
class GuestViews {
 public:
  // `dir` must exist: NOT_FOUND, or INVALID_ARGUMENT if it is not a folder. No other process may write views in it.
  static absl::StatusOr<std::unique_ptr<GuestViews>> Create(const std::string& dir, uint64_t boot_id);

  // Publishes to each VM that is not confidential its own blocks of the snapshot, and to each other its records. A view
  // that cannot be written does not affect the other views; the first error is returned.
  absl::Status Publish(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);

 private:
  using VmKey = std::pair<std::string, uint16_t>;  // the VM's name, which names the file, and its id

  GuestViews(std::string dir, uint64_t boot_id) : dir_(std::move(dir)), boot_id_(boot_id) {}

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
