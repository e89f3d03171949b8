// SPDX-License-Identifier: Apache-2.0
//
// A file that only its writer, which keeps it mapped, can write. It appears under its name complete and read-only, and
// replaces an earlier file of that name.
//
//   SIDEBAND_ASSIGN_OR_RETURN(auto file, ViewFile::Create(path, directory, live_words));
//   file->StoreRelease(3, value);
//   SIDEBAND_RETURN_IF_ERROR(file->Show());
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_VIEW_FILE_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_VIEW_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"

namespace sideband::mcu {

// Not thread-safe; other processes may read the file at any time.
class ViewFile {
 public:
  // Creates a file of `head`, whose size must be a multiple of eight, and `words` zero words, under a temporary name
  // beside `path`. Errors are those of the file system, with the path; RESOURCE_EXHAUSTED if it is full.
  static absl::StatusOr<std::unique_ptr<ViewFile>> Create(const std::string& path, ByteSpan head, size_t words);
  // Removes the file.
  ~ViewFile();
  ViewFile(const ViewFile&) = delete;
  ViewFile& operator=(const ViewFile&) = delete;

  // Gives the file its name and read permission for all users.
  absl::Status Show();
  // Removes the name, unless it refers to another file by now. Readers with the file open can continue to read.
  void Remove();
  // Stores a word of the live part. Readers that see it also see all earlier stores.
  void StoreRelease(size_t word, uint64_t value);

 private:
  struct Mapping {
    void* start;
    size_t size;
  };
  ViewFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status Fill(ByteSpan head, size_t words);

  const std::string path_;
  std::string name_now_;  // the temporary one until Show
  Descriptor fd_;
  ino_t inode_ = 0;
  Mapping mapping_{nullptr, 0};
  uint64_t* live_ = nullptr;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_VIEW_FILE_H_
