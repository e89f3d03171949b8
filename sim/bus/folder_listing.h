// SPDX-License-Identifier: Apache-2.0
//
// Additional entries at the end of each listing of a folder: the /dev/i2c-N that are virtual buses. Keeps the remaining
// entries of each open DIR.
//   FolderListing listing("/dev", {"i2c-3", "i2c-4"});
//   listing.Opened(dir);                                     // after opendir(), of any folder
//   listing.Saw(dir, entry->d_name);                         // each entry of the folder's own
//   dirent* const more = listing.Next(dir);                  // after the last of them
//   listing.Rewound(dir); listing.Closed(dir);
#ifndef SIDEBAND_SIM_BUS_FOLDER_LISTING_H_
#define SIDEBAND_SIM_BUS_FOLDER_LISTING_H_

#include <dirent.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace sideband::i2cdev {

// Thread-safe; one DIR is used by one thread at a time, as for readdir().
class FolderListing {
 public:
  // Names have at most 255 bytes.
  FolderListing(std::string folder, std::vector<std::string> names)
      : folder_(std::move(folder)), names_(std::move(names)) {}

  // Compares the opened folder with this one by inode, since it may be opened under any path.
  void Opened(DIR* dir);
  // An entry that the folder itself has is not listed again.
  void Saw(DIR* dir, const char* name);
  // The next entry, a character device, valid until the next call or Closed(). nullptr after the last entry, and for
  // all other folders.
  dirent* Next(DIR* dir);
  void Rewound(DIR* dir);
  void Closed(DIR* dir);

 private:
  struct Listing {
    std::vector<std::string> left;  // in reverse order
    dirent entry;
  };

  // nullptr for all other folders.
  Listing* Find(DIR* dir) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::string> All() const { return {names_.rbegin(), names_.rend()}; }

  const std::string folder_;
  const std::vector<std::string> names_;
  std::atomic<size_t> open_ = 0;  // listings_.size(), so that other folders cost nothing
  absl::Mutex mu_;
  absl::flat_hash_map<DIR*, std::unique_ptr<Listing>> listings_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_BUS_FOLDER_LISTING_H_
