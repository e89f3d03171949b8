// SPDX-License-Identifier: Apache-2.0
//
// Publishes a VM's own memory blocks in a read-only shared-memory file, which the guest reads in microseconds. The
// format is in README.md.
//
//   SIDEBAND_ASSIGN_OR_RETURN(auto view, GuestViewWriter::Create("/run/sideband/views", catalog, vm_id, boot_id));
//   SIDEBAND_RETURN_IF_ERROR(view->Publish(snapshot));             // after each latch
//   SIDEBAND_RETURN_IF_ERROR(view->Replace(catalog, snapshot));    // when the catalogue has changed
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_WRITER_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/guest_view/layout.h"
#include "secure_mcu/guest_view/view_file.h"

namespace sideband::mcu {

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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_WRITER_H_
