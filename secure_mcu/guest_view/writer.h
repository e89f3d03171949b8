// SPDX-License-Identifier: Apache-2.0
//
// Shows a VM its own memory blocks in a read-only shared-memory file, so that it reads them in microseconds. The bytes
// are in README.md.
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

// Not thread-safe; readers in other processes never wait for it and it never waits for them.
class GuestViewWriter {
 public:
  // The file DIR/<VM's name>.sbv, mode 0444; nothing is published in it yet. NOT_FOUND for an unknown VM,
  // FAILED_PRECONDITION for a confidential one, whose counters are in plain text nowhere, RESOURCE_EXHAUSTED where the
  // view would be larger than kGuestViewBytesMax, or the file system's error.
  static absl::StatusOr<std::unique_ptr<GuestViewWriter>> Create(const std::string& dir,
                                                                 const mailbox::Catalog& catalog, uint16_t vm,
                                                                 uint64_t boot_id);
  // Removes the file; readers that have it open learn that it is superseded.
  ~GuestViewWriter();
  GuestViewWriter(const GuestViewWriter&) = delete;
  GuestViewWriter& operator=(const GuestViewWriter&) = delete;

  // Copies the VM's blocks, and nothing else, from the snapshot. INVALID_ARGUMENT, and nothing is written, where it has
  // not all of the catalogue's blocks or not its events.
  absl::Status Publish(const mailbox::Snapshot& snapshot);
  // The same after a change of the catalogue. Where that concerns this VM a new file takes the old one's place, and
  // readers of the old one learn that it is superseded. The VM's name must be the same. After an error the old file
  // stays.
  absl::Status Replace(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot);

  const std::string& path() const { return path_; }

 private:
  // A block of the view, and where the last snapshot had it.
  struct Block {
    uint16_t context;
    size_t at;
  };

  // A file and what is in it.
  struct View {
    Bytes directory;
    GuestLiveLayout layout;
    std::vector<size_t> events;  // of the view, as the catalogue counts them
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
