// SPDX-License-Identifier: Apache-2.0
//
// A file that its writer keeps mapped and that nobody else can write: it appears under its name complete and read-only,
// in place of whatever had that name.
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

namespace sideband::mcu {

// Not thread-safe; other processes may read the file at any time.
class ViewFile {
 public:
  // A file of `head`, whose size is a multiple of eight, and `words` zero words, under a temporary name beside `path`.
  // The file system's error, with the path; RESOURCE_EXHAUSTED where it is full.
  static absl::StatusOr<std::unique_ptr<ViewFile>> Create(const std::string& path, ByteSpan head, size_t words);
  // Removes the file.
  ~ViewFile();
  ViewFile(const ViewFile&) = delete;
  ViewFile& operator=(const ViewFile&) = delete;

  // Gives it its name, and lets everybody read it.
  absl::Status Show();
  // Takes its name away, unless that is another file's by now. Whoever has it open can go on reading.
  void Remove();
  // A word of the live part, seen by readers no earlier than everything stored before.
  void StoreRelease(size_t word, uint64_t value);

 private:
  struct Mapping {
    void* start;
    size_t size;
  };
  ViewFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  absl::Status Fill(ByteSpan head, size_t words);

  const std::string path_;
  std::string name_now_;  // the temporary one until Show
  int fd_;
  ino_t inode_ = 0;
  Mapping mapping_{nullptr, 0};
  uint64_t* live_ = nullptr;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_VIEW_FILE_H_
